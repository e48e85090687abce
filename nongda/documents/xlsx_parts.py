"""The parts of an Excel file (.xlsx): its sheets in order, its shared words, its number formats, its cells.

Read part by part as a stream: a sheet that claims a million rows costs no more than the cells it has, and a formula whose
result was never stored is told from an empty cell.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any
from urllib.parse import unquote

from lxml import etree
from openpyxl.utils.cell import column_index_from_string, range_boundaries

from nongda.documents.containers import check_marks
from nongda.documents.grids import GridCell
from nongda.documents.raised import raised
from nongda.documents.sheet_values import builtin_format, shown

_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})$")
_LARGE_PICTURE = 50_000  # bytes; a smaller one is a logo or a signature
_CELLS_HELD = 20_000  # in memory at a time, and rows
_MAX_GAP = 32 * 2**20  # bytes of a sheet without the end of a row: one row of 16,384 cells has 2 MB
_MAX_MERGED = 200_000  # areas of a sheet
_MAX_HIDDEN = 256  # columns


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A sheet in the workbook's list; `path` is its part in the archive."""

    name: str
    hidden: bool
    path: str


@dataclass(slots=True)
class RawSheet:
    """What a sheet holds: cells by (row, column) from 0, its merged areas, and what could not be read."""

    texts: dict[tuple[int, int], str] = field(default_factory=dict)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)  # first row, first column, rows, columns
    unknown: list[str] = field(default_factory=list)  # cells whose formula has no stored result
    errors: list[str] = field(default_factory=list)  # cells that hold #N/A and the like
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    is_filtered: bool = False
    last_row: int = 0  # the number (from 1) of the last row with words
    kept_rows: int = 0  # the last row that was read, where the limit cut; else 0
    kept_columns: int = 0

    def cells(self) -> Iterator[GridCell]:
        """Yield what the reader sees; rows that a filter hides are only out of sight for now, and count."""
        rows = set() if self.is_filtered else self.hidden_rows
        spans = {(row, column): (height, width) for row, column, height, width in self.merged}
        for (row, column), text in self.texts.items():
            if row not in rows and column not in self.hidden_columns:
                yield GridCell(text, row, column, *spans.get((row, column), (1, 1)))


class Workbook:
    """An opened file. Raises KeyError, BadZipFile or XMLSyntaxError where it is damaged, DocumentError where too large."""

    def __init__(self, data: bytes, file: str) -> None:
        self._file = file
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        names = self._archive.namelist()
        self._names = {name.lower().lstrip("/"): name for name in names}
        root = self._related("")
        self._path = next((path for kind, path in root.values() if kind == "officeDocument"), "xl/workbook.xml")
        book, self._relations = self._tree(self._path), self._related(self._path)
        self.has_macros = any("vbaproject" in name or "/macrosheets/" in name for name in self._names)
        self.pictures = sum(1 for entry in self._archive.infolist()
                            if "/media/" in entry.filename and entry.file_size >= _LARGE_PICTURE)
        self._epoch_1904 = any(p.get("date1904") in ("1", "true") for p in book.iter("{*}workbookPr"))
        self.sheets = list(self._entries(book))
        self._strings = self._shared_strings()
        self._formats = self._number_formats()

    def read(self, entry: SheetEntry, max_rows: int, max_columns: int, max_cells: int) -> RawSheet:
        """Return the cells of a sheet, as far as the limits go."""
        sheet = RawSheet()
        tags = ("{*}row", "{*}mergeCell", "{*}col", "{*}autoFilter")
        with self._archive.open(self._names[entry.path.lower()]) as opened:
            number = pending = 0
            part = _Watched(opened)
            for _, element in etree.iterparse(part, events=("end",), tag=tags, resolve_entities=False, huge_tree=True):
                part.gap = 0
                if not element.tag.endswith("}row"):
                    _read_layout(element, sheet)
                    continue
                stated = element.get("r", "")
                number = int(stated) if stated.isdigit() else number + 1
                is_over = bool(sheet.kept_rows) or number > max_rows or len(sheet.texts) >= max_cells
                if len(element):
                    self._read_row(element, number, sheet, max_columns, is_over)
                if element.get("hidden") in ("1", "true") and not is_over:
                    sheet.hidden_rows.add(number - 1)
                pending += 1 + len(element)
                if pending > _CELLS_HELD:
                    parent = element.getparent()
                    del parent[: parent.index(element)]  # the rows after it may have been parsed already
                    pending = 0
        return sheet

    def _read_row(self, row: Any, number: int, sheet: RawSheet, max_columns: int, is_over: bool) -> None:  # noqa: ANN401
        column = -1
        for cell in row:
            place = _PLACE.match(cell.get("r", ""))
            column = column_index_from_string(place[1]) - 1 if place else column + 1
            value = cell.find("{*}v")
            formula = cell.find("{*}f")
            text = self._text(cell, cell.get("t", "n"), value)
            where = f"{place[0] if place else f'第 {number} 行'}"
            if formula is not None and not is_over and (value is None or (not value.text and cell.get("t") != "str")):
                sheet.unknown.append(where)
            if cell.get("t") == "e":
                if not is_over:
                    sheet.errors.append(where)
                continue
            if not text.strip():
                continue
            sheet.last_row = max(sheet.last_row, number)
            if is_over:
                sheet.kept_rows = sheet.kept_rows or number - 1
                return
            if column >= max_columns:
                sheet.kept_columns = max_columns
                return
            sheet.texts[number - 1, column] = text

    def _text(self, cell: Any, kind: str, value: Any) -> str:  # noqa: ANN401
        if kind == "inlineStr":
            inline = cell.find("{*}is")
            return _words(inline) if inline is not None else ""
        raw = (value.text or "") if value is not None else ""
        if kind == "s":
            return self._strings[int(raw)] if raw.isdigit() and int(raw) < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(raw, "")
        if kind == "d":
            return raw.removesuffix("T00:00:00").replace("T", " ")
        if kind != "n":
            return _unescaped(raw)
        try:
            return shown(float(raw), self._formats.get(cell.get("s", "0"), "General"), self._epoch_1904) if raw.strip() else ""
        except ValueError:
            return raw

    def _entries(self, book: Any) -> Iterator[SheetEntry]:  # noqa: ANN401
        for sheet in book.iter("{*}sheet"):
            relation = next((value for key, value in sheet.attrib.items() if key.endswith("}id")), "")
            kind, path = self._relations.get(relation, ("", ""))
            if kind == "worksheet" and path.lower() in self._names:
                yield SheetEntry(sheet.get("name", ""), sheet.get("state", "visible") != "visible", path)

    def _part(self, kind: str) -> Any:  # noqa: ANN401
        path = next((path for found, path in self._relations.values() if found == kind), "")
        return self._tree(path) if path.lower() in self._names else None

    def _shared_strings(self) -> list[str]:
        root = self._part("sharedStrings")
        return [] if root is None else [_words(item) for item in root.iterfind("{*}si")]

    def _number_formats(self) -> dict[str, str]:
        """Return the number format of each cell style; a damaged part of styles costs only the formats."""
        try:
            root = self._part("styles")
        except etree.XMLSyntaxError:
            return {}
        if root is None:
            return {}
        own = {element.get("numFmtId"): element.get("formatCode", "") for element in root.iter("{*}numFmt")}
        styles = root.find("{*}cellXfs")
        numbers = [style.get("numFmtId", "0") for style in styles.iterfind("{*}xf")] if styles is not None else []
        return {str(i): own.get(number) or builtin_format(int(number) if number.isdigit() else 0) for i, number in enumerate(numbers)}

    def _related(self, path: str) -> dict[str, tuple[str, str]]:
        """Return the (kind, path) of each part that a part refers to, by the name it uses."""
        folder, file = posixpath.split(path)
        rels = posixpath.join(folder, "_rels", file + ".rels")
        if rels.lower() not in self._names:
            return {}
        found = {}
        for relation in self._tree(rels).iter("{*}Relationship"):
            target = unquote(relation.get("Target", ""))
            full = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            found[relation.get("Id", "")] = relation.get("Type", "").rpartition("/")[2], full
        return found

    def _tree(self, path: str) -> Any:  # noqa: ANN401
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        data = self._archive.read(self._names[path.lower()])
        check_marks(data, self._file)
        return etree.fromstring(data, parser)


class _Watched:
    """The stream of a sheet, which ends where no row does: such a row would fill the memory."""

    def __init__(self, part: IO[bytes]) -> None:
        self._part = part
        self.gap = 0  # bytes since the last row

    def read(self, size: int) -> bytes:
        self.gap += size
        if self.gap > _MAX_GAP:
            raise ValueError("a row without end")
        return self._part.read(size)


def _read_layout(element: Any, sheet: RawSheet) -> None:  # noqa: ANN401
    kind = etree.QName(element).localname
    if kind == "autoFilter":
        sheet.is_filtered = True
    elif kind == "mergeCell":
        try:
            left, top, right, bottom = range_boundaries(element.get("ref", ""))
        except (ValueError, TypeError):
            return
        if None not in (left, top, right, bottom) and len(sheet.merged) < _MAX_MERGED:
            sheet.merged.append((top - 1, left - 1, bottom - top + 1, right - left + 1))
    elif element.get("hidden") in ("1", "true"):
        first, last = element.get("min", "0"), element.get("max", "0")
        if first.isdigit() and last.isdigit():
            sheet.hidden_columns.update(range(int(first) - 1, min(int(last), _MAX_HIDDEN)))


def _words(element: Any) -> str:  # noqa: ANN401
    """Return the words of a rich text, raised numbers as powers, without the readings that stand above them."""
    texts: list[str] = []
    for piece in element.iter("{*}t"):
        run = piece.getparent()
        if run.tag.endswith("}rPh"):
            continue
        place = run.find("{*}rPr/{*}vertAlign")
        is_raised = place is not None and place.get("val") == "superscript"
        texts.append(raised(piece.text or "") if is_raised else piece.text or "")
    return _unescaped("".join(texts))


def _unescaped(text: str) -> str:
    if "_x" in text:
        text = _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if not 0xD800 <= int(m[1], 16) < 0xE000 else "", text)
    return text.replace("\r\n", "\n").replace("\r", "\n")
