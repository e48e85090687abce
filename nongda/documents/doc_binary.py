"""The binary Word format of 1997 to 2003, and of WPS Writer: its text as paragraphs with what is needed of their form.

Offsets and codes are those of Microsoft's published description, [MS-DOC]. Steps:
1. The header (FIB) tells where things lie; an encrypted file is refused.
2. The piece table puts the text together, in the order of reading also where a file was saved fast.
3. Character runs that are deleted or hidden go, raised numbers become powers; of a field its result stays.
4. Paragraphs get their style, list and table properties from the pages that list them by place.
"""

from __future__ import annotations

import io
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from nongda.documents.encoding import everyday_share
from nongda.documents.raised import raised
from nongda.errors import DocumentError

_FILLER = "\0"  # keeps the count of characters where one has gone
_WORD_97 = 0xC1  # the first version of the format
_PAGE = 512  # bytes of a page of properties
_CHPX, _PAPX, _CLX = 12, 13, 33  # places in the header's list of where things lie
_DELETED, _HIDDEN, _RAISED = 0x0800, 0x083C, 0x2A48
_OUTLINE, _LIST, _IN_TABLE, _ROW_END, _ROW_FORM = 0x2640, 0x460B, 0x2416, 0x2417, 0xD608
_OPERAND_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)  # by the upper bits of a code; 0: the operand tells
_MAIN, _NOTES, _BOXES = 0x4C, (0x50, 0x54, 0x58, 0x5C, 0x60), 0x64  # lengths of the parts of the text


@dataclass(frozen=True, slots=True)
class DocCell:
    """Where a cell of a table row lies: its edges in twentieths of a point, and how it is merged."""

    left: int
    right: int
    merged: bool = False  # with the cells beside it, of which the first has the words
    below: bool = False  # it goes on the cell above it


@dataclass(frozen=True, slots=True)
class DocParagraph:
    """A paragraph, or what ends a cell or a row of a table. `level` is that of a heading, None where it is none."""

    text: str
    ends_cell: bool = False
    ends_row: bool = False
    in_table: bool = False
    level: int | None = None
    listed: bool = False
    cells: tuple[DocCell, ...] = ()  # of the row that ends here


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int  # in characters of the text
    end: int
    place: int  # in bytes of the stream
    size: int  # bytes of a character


@dataclass(frozen=True, slots=True)
class _Run:
    start: int  # in bytes of the stream
    end: int
    style: int
    properties: dict[int, bytes]


def read_doc(data: bytes, name: str) -> list[DocParagraph]:
    """Return the paragraphs of the main text and the text boxes. Raises DocumentError where it is encrypted or too old."""
    import olefile

    with olefile.OleFileIO(io.BytesIO(data)) as container:
        stream = container.openstream("WordDocument").read()
        flags = _u16(stream, 0x0A)
        if flags & 0x0100:
            raise DocumentError(f"文件“{name}”已加密：请用 WPS 或 Word 打开，去掉密码后再添加")
        if _u16(stream, 0) == 0xA5DC or _u16(stream, 2) < _WORD_97:
            return _read_word_6(stream, flags, name)
        table = container.openstream("1Table" if flags & 0x0200 else "0Table").read()
    pieces = _pieces(_part(stream, table, _CLX), len(stream))
    units = _units(stream, pieces)
    for run in _runs(stream, _part(stream, table, _CHPX), is_paragraph=False):
        _apply(units, run, pieces)
    _keep_results(units)
    forms = list(_runs(stream, _part(stream, table, _PAPX), is_paragraph=True))
    main = _u32(stream, _MAIN)
    boxes = main + sum(_u32(stream, place) for place in _NOTES)
    return [paragraph for start, end in ((0, main), (boxes, boxes + _u32(stream, _BOXES)))
            for paragraph in _paragraphs(units, start, min(end, len(units)), pieces, forms)]


def _read_word_6(stream: bytes, flags: int, name: str) -> list[DocParagraph]:
    if flags & 0x0004:  # saved fast: its pieces are listed in another way
        raise DocumentError(f"文件“{name}”是 Word 95 或更早的格式：请用 WPS 或 Word 打开，另存为 .docx 后再添加")
    start = _u32(stream, 0x18)
    units = list(stream[start:start + _u32(stream, 0x34)].decode("gb18030", "replace").replace("\ufffd", "□"))
    _keep_results(units)
    return list(_paragraphs(units, 0, len(units), [], []))


def _u16(data: bytes, place: int) -> int:
    return int(struct.unpack_from("<H", data, place)[0])


def _u32(data: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", data, place)[0])


def _part(stream: bytes, table: bytes, number: int) -> bytes:
    place, size = struct.unpack_from("<II", stream, 0x9A + 8 * number)
    return table[place:place + size]


def _pieces(clx: bytes, size: int) -> list[_Piece]:
    place = 0
    while clx[place] == 1:  # properties that pieces refer to
        place += 3 + _u16(clx, place + 1)
    length = _u32(clx, place + 1)
    count = (length - 4) // 12
    ends = struct.unpack_from(f"<{count + 1}I", clx, place + 5)
    if list(ends) != sorted(ends) or ends[-1] > size:
        raise ValueError("the piece table does not fit the text")
    pieces = []
    for number in range(count):
        where = _u32(clx, place + 5 + 4 * (count + 1) + 8 * number + 2)
        is_narrow = bool(where & 0x40000000)
        where &= 0x3FFFFFFF
        pieces.append(_Piece(ends[number], ends[number + 1], where // 2 if is_narrow else where, 1 if is_narrow else 2))
    return pieces


def _units(stream: bytes, pieces: list[_Piece]) -> list[str]:
    """Return the text as UTF-16 units, one for each character that the format counts."""
    units: list[str] = []
    for piece in pieces:
        length = piece.end - piece.start
        raw = stream[piece.place:piece.place + length * piece.size]
        if piece.size == 2:
            found = list(map(chr, struct.unpack(f"<{len(raw) // 2}H", raw[:len(raw) // 2 * 2])))
        else:
            found = _narrow(raw)
        units.extend((found + [_FILLER] * length)[:length])
    return units


def _narrow(raw: bytes) -> list[str]:
    """Return characters stored in one byte; some programs store Chinese so, two bytes a character."""
    if not raw.isascii():
        try:
            text = raw.decode("gb18030")
        except UnicodeDecodeError:
            text = ""
        if text and everyday_share(text) >= 0.6:
            return [unit for c in text for unit in (c, *[_FILLER] * (len(c.encode("gb18030")) - 1))]
    return list(raw.decode("cp1252", "replace").replace("\ufffd", _FILLER))


def _runs(stream: bytes, bins: bytes, is_paragraph: bool) -> Iterator[_Run]:
    """Yield the runs of characters or paragraphs that have properties, in the order of the stream."""
    count = (len(bins) - 4) // 8
    for number in struct.unpack_from(f"<{max(0, count)}I", bins, 4 * (count + 1)) if count > 0 else ():
        page = stream[(number & 0x3FFFFF) * _PAGE:][:_PAGE]
        if len(page) < _PAGE:
            continue
        runs = page[-1]
        step = 13 if is_paragraph else 1
        for run in range(min(runs, (_PAGE - 5) // (4 + step))):
            start, end = struct.unpack_from("<II", page, 4 * run)
            place = 2 * page[4 * (runs + 1) + step * run]
            style, codes = _form(page, place, is_paragraph) if place else (0, b"")
            yield _Run(start, end, style, dict(_codes(codes)))


def _form(page: bytes, place: int, is_paragraph: bool) -> tuple[int, bytes]:
    if not is_paragraph:
        return 0, page[place + 1:place + 1 + page[place]]
    size, start = (2 * page[place] - 1, place + 1) if page[place] else (2 * page[place + 1], place + 2)
    form = page[start:start + size]
    return (_u16(form, 0), form[2:]) if len(form) >= 2 else (0, b"")


def _codes(codes: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield property codes with their operands."""
    place = 0
    while place + 3 <= len(codes):
        code = _u16(codes, place)
        place += 2
        size = _OPERAND_SIZES[code >> 13]
        if code == _ROW_FORM and place + 2 <= len(codes):
            size = _u16(codes, place) + 1
        elif not size:
            size = codes[place] + 1
        yield code, codes[place:place + size]
        place += size


def _apply(units: list[str], run: _Run, pieces: list[_Piece]) -> None:
    """Take out what is deleted or hidden and turn raised numbers into powers."""
    def is_on(code: int) -> bool:
        return run.properties.get(code, b"\0")[:1] == b"\1"

    if not (is_on(_DELETED) or is_on(_HIDDEN) or is_on(_RAISED)):
        return
    for piece in pieces:
        start = piece.start + max(0, run.start - piece.place) // piece.size
        end = min(piece.end, piece.start + max(0, run.end - piece.place) // piece.size)
        if start >= end:
            continue
        text = units[start:end]
        if is_on(_DELETED) or is_on(_HIDDEN):
            units[start:end] = [c if c in "\r\x07\x0c\x13\x14\x15" else _FILLER for c in text]
        else:
            units[start:end] = list(raised("".join(text)))


def _keep_results(units: list[str]) -> None:
    """Take out the instructions of fields; of a table of contents its result too."""
    fields: list[tuple[str, bool]] = []  # the instruction of each open field, and whether its result is shown
    kept = list(units)
    for place, unit in enumerate(units):
        if unit == "\x13":
            fields.append(("", False))
        elif unit == "\x14" and fields:
            fields[-1] = (fields[-1][0], fields[-1][0].split()[:1] != ["TOC"])
        elif unit == "\x15" and fields:
            fields.pop()
        elif all(shown for _, shown in fields):
            continue
        elif not fields[-1][1]:
            fields[-1] = (fields[-1][0] + unit, False)
        kept[place] = _FILLER
    if not fields:  # else the file is damaged, and too much is better than nothing
        units[:] = kept


def _paragraphs(units: list[str], start: int, end: int, pieces: list[_Piece], forms: list[_Run]) -> Iterator[DocParagraph]:
    forms = sorted(forms, key=lambda run: run.start)
    starts = [run.start for run in forms]
    begin = start
    previous = ""
    for place in range(start, end):
        mark = units[place]
        if mark not in "\r\x07\x0c":
            continue
        text = _words(units[begin:place])
        begin = place + 1
        form = _form_at(_stream_place(place, pieces), forms, starts)
        ends_row = mark == previous == "\x07" and not text  # an empty cell right behind a cell, where no form tells
        yield _paragraph(text, mark, form) if form else DocParagraph(text, mark == "\x07", ends_row, ends_row)
        previous = "" if ends_row else mark
    if text := _words(units[begin:end]):
        yield DocParagraph(text)


def _paragraph(text: str, mark: str, form: _Run) -> DocParagraph:
    said = form.properties
    outline = said.get(_OUTLINE, b"\x09")[0]
    level = form.style if 1 <= form.style <= 9 else outline + 1 if outline < 9 else None
    in_table, ends_row = (said.get(code, b"")[:1] == b"\1" for code in (_IN_TABLE, _ROW_END))
    ends_row = ends_row and mark == "\x07"
    cells = tuple(_cells(said.get(_ROW_FORM, b""))) if ends_row else ()
    return DocParagraph(text, mark == "\x07", ends_row, in_table, level, said.get(_LIST, b"\0\0") != b"\0\0", cells)


def _stream_place(position: int, pieces: list[_Piece]) -> int:
    for piece in pieces:
        if piece.start <= position < piece.end:
            return piece.place + (position - piece.start) * piece.size
    return -1


def _form_at(place: int, forms: list[_Run], starts: list[int]) -> _Run | None:
    number = bisect_right(starts, place) - 1
    return forms[number] if number >= 0 and place < forms[number].end else None


def _cells(form: bytes) -> Iterator[DocCell]:
    """Yield the cells of a row from its definition: a count, the edges, and 20 bytes for each cell."""
    if len(form) < 3:
        return
    count = form[2]
    if len(form) < 3 + 2 * (count + 1):
        return
    edges = struct.unpack_from(f"<{count + 1}h", form, 3)
    for cell in range(count):
        place = 3 + 2 * (count + 1) + 20 * cell
        flags = _u16(form, place) if place + 2 <= len(form) else 0
        yield DocCell(edges[cell], edges[cell + 1], bool(flags & 3), (flags >> 5) & 3 == 1)


def _words(units: list[str]) -> str:
    text = "".join(units).replace("\x0b", "\n").replace("\x1e", "-")
    text = "".join(c for c in text if c >= " " or c in "\n\t")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore").strip(" \t")
