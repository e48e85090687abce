"""Plain text: any encoding that Chinese offices use, numbered headings, lists, lines broken by width."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from nongda.documents.encoding import decode as decode  # for the parsers of other text formats
from nongda.documents.encoding import decode_warned
from nongda.documents.lines import ends_sentence, is_list_item, join_lines, numbered_heading, width
from nongda.documents.outline import Heading, Item, assemble
from nongda.errors import DocumentError
from nongda.intake import Block, ParsedDocument
from nongda.records import BlockKind, DocumentMeta

_WRAP_COLUMNS = (40, 120)  # a file whose lines are longer than that was not broken by width
_MAX_TITLE = 40  # characters
MAX_CHARACTERS = 5_000_000  # of a document; a manual of 1,000 pages has a million


def parse_text(data: bytes, name: str) -> ParsedDocument:
    """Parse a text file. Raises DocumentError where the encoding cannot be told."""
    text, warnings = decode_warned(data, name)
    check_length(len(text), name)
    title, lines = _take_title(text.split("\n"))
    blocks = assemble(text_items(lines), title)
    return ParsedDocument(DocumentMeta(title=title or PurePath(name).stem), blocks, warnings=warnings)


def check_length(characters: int, name: str) -> None:
    """Refuse a document that would take hours. Raises DocumentError."""
    if characters > MAX_CHARACTERS:
        raise DocumentError(f"文件“{name}”的文字太多（约 {characters // 10_000} 万字，最多 {MAX_CHARACTERS // 10_000} 万字）："
                            "请拆成几份后再添加")


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
