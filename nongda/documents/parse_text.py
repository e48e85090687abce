"""Plain text: any encoding that Chinese offices use, numbered headings, lists, lines broken by width."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import PurePath

from charset_normalizer import from_bytes

from nongda.documents.lines import ends_sentence, is_list_item, join_lines, numbered_heading, width
from nongda.documents.outline import Heading, Item, assemble
from nongda.errors import DocumentError
from nongda.intake import Block, ParsedDocument
from nongda.records import BlockKind, DocumentMeta

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CANDIDATES = ("gb18030", "utf-16-le", "utf-16-be", "big5")  # on a draw the first wins
_PLAUSIBLE = 0.6  # share of everyday characters among the non-ASCII ones; mojibake stays under 0.4
_SAMPLE = 20_000  # characters looked at to judge an encoding
_LINE_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_WRAP_COLUMNS = (40, 120)  # a file whose lines are longer than that was not broken by width
_MAX_TITLE = 40  # characters


def parse_text(data: bytes, name: str) -> ParsedDocument:
    """Parse a text file. Raises DocumentError where the encoding cannot be told."""
    lines = decode(data, name).split("\n")
    title, lines = _take_title(lines)
    blocks = assemble(text_items(lines), title)
    return ParsedDocument(DocumentMeta(title=title or PurePath(name).stem), blocks)


def decode(data: bytes, name: str) -> str:
    """Return the text with `\\n` line ends. Raises DocumentError where the bytes are no text."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = _try(data[len(mark):], encoding)
            break
    else:
        text = _guess(data)
    if text is None or "\0" in text:
        raise DocumentError(f"文件“{name}”的编码无法识别或内容已损坏：请用记事本打开，另存为 UTF-8 后再添加")
    return _LINE_BREAK.sub("\n", text)


def text_items(lines: list[str]) -> list[Item]:
    """Return headings, lists and paragraphs of lines; broken lines of one paragraph stay parted by `\\n`."""
    full = _wrap_width(lines)
    found: list[Heading | _Piece] = []
    is_open = False  # whether the next line may belong to the last piece
    after_blank = True
    for line in lines:
        text = line.strip()
        if not text:
            is_open, after_blank = False, True
            continue
        last = found[-1] if found else None
        listed = last if isinstance(last, _Piece) and last.kind == "list" and not after_blank else None
        heading = None if is_open else numbered_heading(text)
        if heading is not None:
            found.append(Heading(*heading, numbered=True))
        elif is_list_item(text):
            if listed is None:
                found.append(listed := _Piece("list", []))
            listed.lines.append(text)
        elif is_open and isinstance(last, _Piece) and not _is_indented(line):
            last.add(text)
        else:
            found.append(_Piece("paragraph", [text]))
        is_open, after_blank = heading is None and _is_broken(text, full), False
    return [p if isinstance(p, Heading) else Block("\n".join(p.lines), p.kind) for p in found]


@dataclass
class _Piece:
    """A block in the making."""

    kind: BlockKind
    lines: list[str]

    def add(self, line: str) -> None:
        """Add a line that goes on where the last one broke off."""
        if self.kind == "list":
            self.lines[-1] = join_lines([self.lines[-1], line])
        else:
            self.lines.append(line)


def _try(data: bytes, encoding: str) -> str | None:
    try:
        # Not final: a file cut off in the middle of its last character is still read.
        return codecs.getincrementaldecoder(encoding)("strict").decode(data)
    except UnicodeDecodeError:
        return None


def _guess(data: bytes) -> str | None:
    zeros = b"\0" in data  # no text but UTF-16 holds zero bytes
    if not zeros and (text := _try(data, "utf-8")) is not None:
        return text
    best, best_share = None, 0.0
    for encoding in _CANDIDATES[1:3] if zeros else _CANDIDATES:
        text = _try(data, encoding)
        share = _everyday_share(text) if text is not None else 0.0
        if share > best_share:
            best, best_share = text, share
    if best_share >= _PLAUSIBLE or zeros:
        return best if best_share >= _PLAUSIBLE else None
    match = from_bytes(data).best()
    return best if match is None else str(match)


def _everyday_share(text: str) -> float:
    """Return the share of everyday characters among those that tell something about the encoding."""
    sample = text[:_SAMPLE]
    foreign = [c for c in sample if not c.isascii()]
    if not foreign:
        return 1.0 if all(c.isprintable() or c in "\n\r\t\f" for c in sample) else 0.0
    return sum(_is_everyday(c) for c in foreign) / len(foreign)


def _is_everyday(character: str) -> bool:
    if character in "\u3000\ufeff":
        return True
    for encoding, last in (("gb2312", 0xD7), ("big5", 0xC6)):  # both lists put their common characters first
        try:
            raw = character.encode(encoding)
        except UnicodeEncodeError:
            continue
        if len(raw) == 2 and 0xA1 <= raw[0] <= last:
            return True
    return False


def _take_title(lines: list[str]) -> tuple[str, list[str]]:
    """Part off a first line that reads as a title: short, without a stop, followed by more text."""
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None or not any(line.strip() for line in lines[first + 1:]):
        return "", lines
    text = lines[first].strip()
    is_sentence = ends_sentence(text) or re.search(r"[，,、。；]", text) is not None
    if len(text) > _MAX_TITLE or is_sentence or is_list_item(text) or numbered_heading(text):
        return "", lines
    if lines[first + 1].strip() and _is_broken(text, _wrap_width(lines)):
        return "", lines
    return text, lines[first + 1:]


def _wrap_width(lines: list[str]) -> int:
    """Return the width in columns at which the lines were broken; 0 where they were not."""
    widths = sorted(width(line.strip()) for line in lines if line.strip())
    if len(widths) < 3 or not _WRAP_COLUMNS[0] <= widths[-1] <= _WRAP_COLUMNS[1]:
        return 0
    return widths[int(len(widths) * 0.9)]


def _is_broken(text: str, full: int) -> bool:
    return full > 0 and width(text) >= 0.85 * full and not ends_sentence(text)


def _is_indented(line: str) -> bool:
    return line.startswith(("\u3000", "  ", "\t"))
