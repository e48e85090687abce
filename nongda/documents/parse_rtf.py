"""Rich text (.rtf): paragraphs, headings by outline level, and tables, in the code page that the file declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePath

from nongda.documents.encoding import everyday_share
from nongda.documents.flow import grouped, line_block, outlined, titled
from nongda.documents.grid_header import GridCell
from nongda.documents.grids import grid_blocks
from nongda.documents.outline import Heading, Item, assemble
from nongda.documents.raised import raised
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

# Marks of our own for what the library would turn into signs that a text may hold as well.
_ROW_BEGINS, _CELL_ENDS, _ROW_ENDS, _HEADING, _PLAIN = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004"
_WORDS = {"trowd": _ROW_BEGINS, "cell": _CELL_ENDS, "row": _ROW_ENDS, "nestcell": " ", "nestrow": " ", "pard": _PLAIN}
_CONTROL = re.compile(r"\\(trowd|cell|row|nestcell|nestrow|pard)(?![a-z])-?\d* ?", re.IGNORECASE)
_OUTLINE = re.compile(r"\\outlinelevel([0-8])(?!\d) ?")
_RAISED = re.compile(r"(\\super(?![a-z0-9])(?:\\(?!u-?\d)[a-z]+-?\d* ?)* ?)([0-9n+\-]{1,4})(?=[\\}])")
_PAGE = re.compile(r"\\ansicpg(\d+)")
_BINARY = re.compile(rb"\\bin(\d{1,9}) ?")
_DIGITS = re.compile(rb"[0-9a-fA-F\r\n]{400,}")  # a picture
_ROW = re.compile(f"({_ROW_BEGINS}[^{_ROW_ENDS}]*{_ROW_ENDS})")
_MARK = re.compile(f"{_HEADING}[0-8]|[{_ROW_BEGINS}{_ROW_ENDS}-{_PLAIN}]")
_MAX_HEADING = 80  # characters


def parse_rtf(data: bytes, name: str) -> ParsedDocument:
    """Parse a rich text file; characters that the code page does not have become `□`, with a warning."""
    text = _text(data)
    broken = text.count("\ufffd")
    items = outlined(list(grouped(_items(text.replace("\ufffd", "□")))))
    title, items = titled(items)
    title = title or PurePath(name).stem
    warnings = (f"有 {broken} 处字节已损坏，读不出的字记作“□”：请对照原文件",) if broken else ()
    return ParsedDocument(DocumentMeta(title=title), assemble(items, title), warnings=warnings)


def _text(data: bytes) -> str:
    from striprtf import striprtf

    convert: Callable[..., str] = striprtf.rtf_to_text

    # Bytes above ASCII, which some programs write as they are, in the form that the format has for them.
    bare = _DIGITS.sub(b"", _without_binary(data))
    source = re.sub(rb"[\x80-\xff]", lambda m: b"\\'%02x" % m[0][0], bare).decode("ascii")
    page = _PAGE.search(source)
    is_chinese = page is None or page[1] in ("936", "54936", "0")
    encoding = "gb18030" if is_chinese else f"cp{page[1]}" if page else "gb18030"
    source = _RAISED.sub(lambda m: m[1] + "".join(f"\\u{ord(c)}?" for c in raised(m[2])), source)
    source = _OUTLINE.sub(lambda m: f"{{}}{_HEADING}{m[1]}", source)
    # An empty group ends what a character before it makes the library skip.
    source = _CONTROL.sub(lambda m: f"{{}}{_WORDS[m[1].lower()]}", source).replace("HYPERLINK", "LINK")
    read = convert(source, encoding=encoding, errors="replace")
    if is_chinese and "\\fcharset0" in source and "\\'" in source:  # fonts said to be Western often carry Chinese
        other = convert(re.sub(r"\\fcharset0(?!\d)", r"\\fcharset134", source), encoding=encoding, errors="replace")
        read = max((read, other), key=lambda text: (everyday_share(text) - text.count("\ufffd") / (len(text) or 1)))
    return read.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore").replace("\0", "")


def _without_binary(data: bytes) -> bytes:
    """Return the text without the bytes of pictures that stand in it as they are."""
    pieces, place = [], 0
    for match in _BINARY.finditer(data):
        if match.start() >= place:
            pieces.append(data[place:match.start()])
            place = match.end() + int(match[1])
    return b"".join([*pieces, data[place:]])


def _items(text: str) -> Iterator[Item]:
    rows: list[list[str]] = []
    for part in _ROW.split(text):
        if part.startswith(_ROW_BEGINS):
            rows.append([_MARK.sub("", cell).strip() for cell in part.split(_CELL_ENDS)[:-1]])
        elif lines := list(_lines(part)):
            yield from _table(rows)
            yield from lines
            rows = []
    yield from _table(rows)


def _lines(text: str) -> Iterator[Item]:
    level: int | None = None  # of a heading; it holds until the next paragraph says otherwise
    for line in re.split(f"[\n{_CELL_ENDS}]", text):
        for mark in _MARK.findall(line):
            level = int(mark[1]) + 1 if len(mark) > 1 else None
        if words := _MARK.sub("", line).strip():
            yield _line(words, level)


def _line(text: str, level: int | None) -> Item:
    return Heading(level, text) if level is not None and len(text) <= _MAX_HEADING else line_block(text)


def _table(rows: list[list[str]]) -> Iterator[Block]:
    cells = [GridCell(text, number, column) for number, row in enumerate(rows) for column, text in enumerate(row)]
    if any(cell.text for cell in cells):
        yield from grid_blocks(cells)
