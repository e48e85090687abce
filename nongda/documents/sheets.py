"""The sheets of a workbook as a document: each sheet a page, each island of cells a table or text.

An island is what blank rows or columns surround. A line of its own above a table is the table's title. Rows that go on with
the numbers of the table above, under the same columns, belong to it though a blank row parts them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from nongda.documents.grids import GridCell, flowing, grid_blocks, read_grid
from nongda.documents.lines import ends_sentence
from nongda.documents.outline import Heading, Item, assemble
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

MAX_ROWS = 20_000  # of a sheet
MAX_COLUMNS = 200
MAX_CELLS = 400_000  # of a file
_DEFAULT_NAME = re.compile(r"(?:sheet|工作表|表)\s*\d*(?:\s*[(（]\d+[)）])?$", re.IGNORECASE)
_NUMBER = re.compile(r"[<>≤≥约]?\s*\d[\d.]*\s*(?:[~～\-–—至]\s*\d[\d.]*)?\s*%?$")
_MAX_TITLE = 60  # characters
_MOST_TITLES = 3  # lines
_TITLE_ROWS = 10  # rows at the top in which a title is looked for
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet as read: `warnings` say what of it was left out."""

    name: str
    cells: tuple[GridCell, ...]
    warnings: tuple[str, ...] = ()
    hidden: bool = False


def sheets_document(sheets: Sequence[Sheet], name: str, warnings: Sequence[str] = ()) -> ParsedDocument:
    """Return a workbook as a document; its pages are its sheets, those that are hidden counted but left out."""
    items: list[Item] = []
    said = list(warnings)
    for number, sheet in enumerate(sheets, 1):
        if sheet.hidden or not sheet.cells:
            continue
        if not _DEFAULT_NAME.match(sheet.name):
            items.append(Heading(1, sheet.name, number))
        items.extend(sheet_blocks(sheet.cells, number))
        said.extend(sheet.warnings)
    if hidden := [sheet.name for sheet in sheets if sheet.hidden]:
        said.append(f"隐藏的工作表没有读取：{named(hidden)}；需要的话请取消隐藏后重新添加")
    shown = [sheet for sheet in sheets if sheet.cells and not sheet.hidden]
    title = sheet_title(shown[0].cells) if len(shown) == 1 else ""
    title = title or PurePath(name).stem
    return ParsedDocument(DocumentMeta(title=title), assemble(items, title), max(1, len(sheets)), tuple(said),
                          printed=False)


def sheet_blocks(cells: Sequence[GridCell], page: int | None = None) -> list[Block]:
    """Return the tables and texts of a sheet, from top to bottom and from left to right."""
    blocks: list[Block] = []
    above: list[GridCell] = []  # a title whose table may follow
    for island in _joined(_islands([cell for cell in cells if cell.text.strip()])):
        if not _is_table(island):
            blocks.extend(grid_blocks(above, page=page))
            blocks.extend([] if _is_title(island) else grid_blocks(island, page=page))
            above = island if _is_title(island) else []
            continue
        title = " ".join(flowing(cell.text) for cell in above)
        blocks.extend(grid_blocks(island, page=page, title=title))
        above = []
    return [*blocks, *grid_blocks(above, page=page)]


def named(names: Sequence[str]) -> str:
    """Return names for a warning, the first few of many."""
    text = "、".join(f"“{name}”" for name in names[:_MOST_NAMED])
    return text if len(names) <= _MOST_NAMED else f"{text} 等 {len(names)} 个"


def limit_warning(sheet: str, last: int, kept: int) -> str:
    """Return what to tell of a sheet (or file) that was too long: rows after `kept` of `last` were left out."""
    where = f"工作表“{sheet}”" if sheet else "这个文件"
    return f"{where}太长：第 {kept + 1} 行到第 {last} 行没有读取；请拆成几份后再添加"


def sheet_title(cells: Sequence[GridCell]) -> str:
    """Return the first title row of a file's only sheet; "" where it has none."""
    top = min((cell.row for cell in cells), default=0)
    islands = _islands([cell for cell in cells if cell.row < top + _TITLE_ROWS])
    if not islands:
        return ""
    titles = [flowing(islands[0][0].text)] if _is_title(islands[0]) else list(read_grid(islands[0]).titles)
    return titles[0] if titles and len(titles[0]) <= _MAX_TITLE and not ends_sentence(titles[0]) else ""


def _islands(cells: list[GridCell]) -> list[list[GridCell]]:
    """Part cells at blank rows, then at blank columns, until none is left; in reading order."""
    pending, found = [cells] if cells else [], []
    while pending:
        region = pending.pop()
        bands = _parted(region, lambda c: (c.row, c.rows))
        if len(bands) == 1 and len({cell.row for cell in region}) > 1:
            head, body = _title_rows(region)
            columns = _parted(body, lambda c: (c.column, c.columns))
            bands = [*([head] if head else []), *columns] if _are_apart(columns) else bands
        if len(bands) == 1:
            found.append(region)
        else:
            pending.extend(reversed(bands))
    return found


def _parted(cells: Sequence[GridCell], extent: Callable[[GridCell], tuple[int, int]]) -> list[list[GridCell]]:
    parts: list[list[GridCell]] = []
    end = -1
    for cell in sorted(cells, key=extent):
        start, length = extent(cell)
        if not parts or start > end:
            parts.append([])
        parts[-1].append(cell)
        end = max(end, start + length)
    return parts


def _title_rows(cells: list[GridCell]) -> tuple[list[GridCell], list[GridCell]]:
    """Part off the first row where it is one cell: a title may lie over two tables side by side."""
    first = min(cell.row for cell in cells)
    head = [cell for cell in cells if cell.row == first]
    body = [cell for cell in cells if cell.row != first]
    return (head, body) if len(head) == 1 and body else ([], cells)


def _are_apart(parts: Sequence[Sequence[GridCell]]) -> bool:
    """Tell whether blank columns part tables; a blank column inside one table leaves a single column on a side."""
    return len(parts) > 1 and all(len(part) == 1 or len({cell.column for cell in part}) > 1 for part in parts)


def _joined(islands: Sequence[list[GridCell]]) -> list[list[GridCell]]:
    joined: list[list[GridCell]] = []
    for island in islands:
        if joined and _goes_on(joined[-1], island):
            joined[-1] = joined[-1] + island
        else:
            joined.append(island)
    return joined


def _goes_on(table: Sequence[GridCell], rows: Sequence[GridCell]) -> bool:
    """Tell whether rows continue a table above: under the same columns, and their first one holds numbers."""
    if not _is_table(table) or min(c.row for c in rows) <= max(c.row for c in table):
        return False
    if {cell.column for cell in rows} - {cell.column for cell in table} or len({cell.column for cell in rows}) < 2:
        return False
    top = min(cell.row for cell in rows)
    return any(cell.row == top and _NUMBER.match(cell.text.strip()) for cell in rows)


def _is_table(cells: Sequence[GridCell]) -> bool:
    return len({cell.row for cell in cells}) > 1 and len({cell.column for cell in cells}) > 1


def _is_title(cells: Sequence[GridCell]) -> bool:
    """Tell whether an island is no more than a title and perhaps a line with the unit or the date."""
    texts = [flowing(cell.text) for cell in cells]
    is_line = len(cells) <= _MOST_TITLES and len({cell.column for cell in cells}) == 1
    return is_line and sum(map(len, texts)) <= _MAX_TITLE and not any(re.search("[。；！？]$", text) for text in texts)
