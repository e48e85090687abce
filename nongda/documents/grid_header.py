"""Which rows of a grid of cells are title and header, and what each column is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nongda.documents.lines import join_lines

_MOST_ROWS = 4  # of a header
_MIN_TITLE = 5  # characters of a title that is not merged over the width
_UNIT_LINE = re.compile(r"[（(]?\s*(?:计量)?单位\s*[:：]")
_KEYED = re.compile(r"[^:：|]{1,10}[:：]")  # 制表日期：3月
_TITLE = re.compile(r"附?表|续表")
_NUMBER = re.compile(r"[<>≤≥＜＞约±+\-－]?\s*\d[\d.,]*\s*%?(?:\s*[~～\-－–—至±]\s*\d[\d.,]*)?\s*\D{0,4}$")
_YEAR = re.compile(r"(?:19|20)\d\d\s*年?度?$")
_BARE_NUMBER = re.compile(r"[+\-－]?[\d.,]+$")
_BRACKETED = re.compile(r"[（(][^（）()]*[）)]$")
_UNIT_SHAPE = re.compile(r"[^\d\s（）()/]{1,5}/[^\d\s（）()/]{1,5}$|[%％‰℃]$")


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell at its upper left place (both from 0); its text may have line breaks."""

    text: str
    row: int
    column: int
    rows: int = 1
    columns: int = 1


Grid = list[list[GridCell | None]]
"""Which cell covers each place; None where none does. Every row has the same length."""


def is_title_row(grid: Grid) -> bool:
    """Tell whether the first row stands above the header: one cell over the width, or lines like 单位：克/亩."""
    found = list(_distinct(grid[0]))
    if not found or len(grid[0]) < 2 or len(grid) < 2:
        return False
    first = found[0]
    below = [list(_distinct(row)) for row in grid[1:_MOST_ROWS]]
    if all(is_unit_line(cell.text) for cell in found):
        return True
    if all(_is_keyed(cell) for cell in found):  # a form is nothing but such lines
        return any(len(cells) > 1 and not any(_is_keyed(cell) for cell in cells) for cells in below)
    if len(found) > 1 or first.rows >= len(grid):
        return False
    if first.columns == len(grid[0]) or _TITLE.match(first.text.strip()):
        return True
    is_wide = first.columns == 1 or first.columns > len(grid[0]) / 2  # else it is the outer name of a few columns
    is_long = first.column == 0 and len(first.text.strip()) >= _MIN_TITLE
    return is_wide and is_long and any(len(cells) > 1 for cells in below)


def _is_keyed(cell: GridCell) -> bool:
    return _KEYED.match(cell.text.strip()) is not None


def is_unit_line(text: str) -> bool:
    """Tell whether a cell says no more than the unit of a whole table."""
    return _UNIT_LINE.match(text.strip()) is not None and len(text.strip()) <= 20


def header_depth(grid: Grid, given: int | None) -> int:
    """Return how many rows are the header: told by merged cells and by where numbers begin, at least `given`."""
    limit = min(_MOST_ROWS, len(grid) - 1)
    depth = min(max(1, given or 1), max(1, limit))
    while depth < limit:
        reach = max((cell.row + cell.rows - _offset(grid) for cell in _distinct(grid[depth - 1])), default=depth)
        if depth < reach <= limit and _has_outer_name(grid[depth - 1]) and not _has_bare_number(grid, 0):
            depth = reach
        elif _is_under_spans(grid, depth) or (depth == 1 and _fills_gaps(grid)) or _is_unit_row(grid, depth):
            depth += 1
        else:
            break
    return depth


def header_names(rows: Grid) -> list[str]:
    """Return one name per column, the rows joined from the outermost in; a bracket of an outer name goes last."""
    filled = [_filled(row, rows[number + 1] if number + 1 < len(rows) else None) for number, row in enumerate(rows)]
    return [_joined([join_lines(row[column].split("\n")) for row in filled]) for column in range(len(rows[0]))]


def _offset(grid: Grid) -> int:
    """Return the number that the cells of the first row bear; not 0 where title rows were taken off."""
    return min((cell.row for cell in grid[0] if cell is not None), default=0)


def _has_outer_name(row: Sequence[GridCell | None]) -> bool:
    """Tell whether a header row needs one below it: a name over several columns, or a gap."""
    return any(cell is None or 1 < cell.columns < len(row) for cell in row)


def _distinct(row: Sequence[GridCell | None]) -> Iterator[GridCell]:
    last: GridCell | None = None
    for cell in row:
        if cell is not None and cell is not last:
            yield cell
        last = cell


def _begins(grid: Grid, row: int, column: int) -> GridCell | None:
    """Return the cell of a place if it begins in that row."""
    cell = grid[row][column]
    return cell if cell is not None and (row == 0 or grid[row - 1][column] is not cell) else None


def _is_number(text: str) -> bool:
    text = text.strip()
    return _NUMBER.match(text) is not None and _YEAR.match(text) is None


def _has_bare_number(grid: Grid, row: int) -> bool:
    texts = (cell.text.strip() for column in range(len(grid[row])) if (cell := _begins(grid, row, column)))
    return any(_BARE_NUMBER.match(text) and not _YEAR.match(text) for text in texts)


def _is_under_spans(grid: Grid, row: int) -> bool:
    """Tell whether a row names the columns under the merged cells of the row above it."""
    width = len(grid[row])
    under: set[int] = set()
    for cell in _distinct(grid[row - 1]):
        columns = range(cell.column, min(width, cell.column + cell.columns))
        if not 1 < len(columns) < width or grid[row][cell.column] is cell:
            continue
        below = [_begins(grid, row, column) for column in columns]
        if any(b is None or b.column < columns[0] or b.column + b.columns > columns[-1] + 1 for b in below):
            return False
        if len({id(b) for b in below}) < 2:
            return False
        under.update(columns)
    cells = [begun for column in range(width) if (begun := _begins(grid, row, column))]
    if not under or _has_bare_number(grid, row):
        return False
    is_alone = all(begun.column in under for begun in cells)
    return is_alone or (not any(_is_number(begun.text) for begun in cells) and _numbers_below(grid, row, under))


def _numbers_below(grid: Grid, row: int, columns: set[int]) -> bool:
    below = grid[row + 1 : row + 21]
    return any((cell := line[column]) is not None and _is_number(cell.text) for line in below for column in columns)


def _fills_gaps(grid: Grid) -> bool:
    """Tell whether the second row names the columns that the first leaves empty, as where merged cells were lost."""
    first, second = grid[0], grid[1]
    gaps = {column for column, cell in enumerate(first) if cell is None and column}
    if not gaps or any(_begins(grid, 1, column) is None for column in gaps) or not _numbers_below(grid, 1, gaps):
        return False
    cells = [cell for cell in second if cell is not None and cell is not first[cell.column]]
    return not any(_is_number(cell.text) for cell in cells)


def _is_unit_row(grid: Grid, row: int) -> bool:
    """Tell whether a row holds nothing but units, below the names of their columns."""
    cells = [cell for column in range(len(grid[row])) if (cell := _begins(grid, row, column))]
    texts = [cell.text.strip() for cell in cells if not (cell.column == 0 and cell.text.strip().startswith("单位"))]
    return bool(texts) and all(_BRACKETED.fullmatch(text) or _UNIT_SHAPE.match(text) for text in texts)


def _filled(row: Sequence[GridCell | None], below: Sequence[GridCell | None] | None) -> list[str]:
    """Return the names of a header row; a gap with a name below it goes on with the name to its left."""
    names: list[str] = []
    for column, cell in enumerate(row):
        if cell is not None:
            names.append(cell.text)
            continue
        under, left = below[column] if below else None, below[column - 1] if below and column else None
        is_open = under is not None and left is not None and left is not row[column - 1]
        names.append(names[-1] if is_open and names else "")
    return names


def _joined(parts: Sequence[str]) -> str:
    """Join the names above a column, outermost first, none twice."""
    names: list[str] = []
    unit = ""
    for part in dict.fromkeys(filter(None, parts)):
        if _UNIT_SHAPE.match(part) and names:
            part = f"（{part}）"
        bracket = _BRACKETED.search(part)
        if bracket:
            unit, part = bracket.group(), part[: bracket.start()].rstrip()
        names = [name for name in names if name not in part]
        if part:
            names.append(part)
    return " ".join(names) + unit
