"""Tables of pages: one that goes on over a page break is one table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from nongda.documents.grids import GridCell
from nongda.documents.lines import ends_sentence, join_lines
from nongda.documents.outline import Item
from nongda.documents.page_lines import Line, Table

PageItem = Item | Table

_SAME_EDGES = 0.03  # of the table's width by which the borders of its parts may differ
_MOST_BETWEEN = 4  # headers, footers, page numbers, 续表
_CONTINUED = re.compile(r"[（(]?续\s*(?:上\s*)?表|(?:附?表\s*[\d一二三四五六七八九十.\-]+.*|.*)[（(](?:续|续表)\s*\d*[）)]$")
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"[-—–·第共页\s\d/|]+|page\s*\d+.*", re.IGNORECASE)


def running_lines(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Return the texts that open or close several pages, digits as #: headers and footers."""
    counts = Counter(text for page in pages if page for text in {
        _key(line.text) for line in (*page[:2], *page[-2:])})
    return frozenset(text for text, count in counts.items() if count >= 2)


def _key(text: str) -> str:
    return _DIGITS.sub("#", text)


def join_tables(items: Sequence[PageItem], running: frozenset[str]) -> list[PageItem]:
    """Return the items with the parts of each table joined at the place of the first one."""
    joined: list[PageItem] = []
    ends: dict[int, int] = {}  # of a joined table by its place: the page where it ends now
    for item in items:
        place = _goes_on(joined, item, ends, running) if isinstance(item, Table) else None
        if place is None or not isinstance(item, Table):
            joined.append(item)
            continue
        first = joined[place]
        assert isinstance(first, Table)
        joined[place] = _with_rows(first, item)
        ends[place] = item.page
        joined[place + 1:] = [other for other in joined[place + 1:]
                              if isinstance(other, Table) or not _CONTINUED.match(other.text)]
    return joined


def _goes_on(items: Sequence[PageItem], table: Table, ends: dict[int, int], running: frozenset[str]) -> int | None:
    """Return the place of the table that this one continues; None where it begins anew."""
    between = 0
    for place in reversed(range(len(items))):
        item = items[place]
        if isinstance(item, Table):
            page = ends.get(place, item.page)
            return place if table.page == page + 1 and _same_columns(item, table) else None
        if item.page is not None and item.page < table.page - 1:
            continue  # between earlier parts of the table
        between += 1
        if between > _MOST_BETWEEN or "\n" in item.text or not _is_furniture(item.text, running):
            return None
    return None


def _is_furniture(text: str, running: frozenset[str]) -> bool:
    return (_key(text) in running or _PAGE_NUMBER.fullmatch(text.strip()) is not None
            or _CONTINUED.match(text) is not None)


def _same_columns(first: Table, second: Table) -> bool:
    if len(first.edges) != len(second.edges):
        return False
    spread = max(6.0, _SAME_EDGES * (first.right - first.left))
    if first.is_ruled and second.is_ruled:  # pages for binding are shifted
        shift = second.edges[0] - first.edges[0]
        return all(abs(b - a - shift) < spread for a, b in zip(first.edges, second.edges, strict=True))
    return first.is_ruled == second.is_ruled and all(
        abs(b - a) < 4 * spread for a, b in zip(first.edges, second.edges, strict=True))


def _with_rows(first: Table, second: Table) -> Table:
    """Append the rows of the second part, without the header that it repeats."""
    height = max(cell.row + cell.rows for cell in first.cells)
    repeated = _repeated_rows(first, second)
    cells = [cell for cell in second.cells if cell.row >= repeated]
    torn = _torn_row(first.cells, [cell for cell in cells if cell.row == repeated], height - 1, len(first.edges) - 1)
    known = list(first.cells)
    if torn:
        known, cells = torn, [cell for cell in cells if cell.row > repeated]
        repeated += 1
    elif cells and not any(cell.column == 0 and cell.row == repeated for cell in cells):
        known = [_down_to(cell, cells, repeated, height) for cell in known]
    moved = [replace(cell, row=cell.row - repeated + height) for cell in cells]
    return replace(first, cells=tuple(known + moved), confidence=min(first.confidence, second.confidence))


def _repeated_rows(first: Table, second: Table) -> int:
    for rows in range(min(4, max(cell.row for cell in second.cells)), 0, -1):
        if _top(second, rows) == _top(first, rows):
            return rows
    return 0


def _top(table: Table, rows: int) -> set[tuple[int, int, str]]:
    return {(cell.row, cell.column, "".join(cell.text.split())) for cell in table.cells
            if cell.row < rows and cell.text.strip()}


def _torn_row(first: Sequence[GridCell], row: Sequence[GridCell], last: int, columns: int) -> list[GridCell] | None:
    """Return the cells of the first part with the rest of its last row; None where the second begins with a row."""
    if not row or len(row) >= columns - 1 and columns > 2 or any(cell.column == 0 for cell in row):
        return None
    rest = {cell.column: cell.text for cell in row}
    above = {cell.column: cell for cell in first if cell.row + cell.rows - 1 == last}
    if not all(column in above and not ends_sentence(above[column].text) for column in rest):
        return None
    return [replace(cell, text=join_lines([cell.text, rest[cell.column]]))
            if above.get(cell.column) is cell and cell.column in rest else cell for cell in first]


def _down_to(cell: GridCell, below: Sequence[GridCell], start: int, height: int) -> GridCell:
    """A cell of the first column merged downwards goes on to the next one over the page break."""
    if cell.column != 0 or cell.row + cell.rows != height:
        return cell
    end = min((other.row for other in below if other.column == 0), default=max(other.row for other in below) + 1)
    return replace(cell, rows=cell.rows + end - start)
