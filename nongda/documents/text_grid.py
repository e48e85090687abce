"""Lines of a table become its cells: columns from the gaps between them, rows from spacing and wrapped cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nongda.documents.grids import GridCell
from nongda.documents.lines import is_list_item, join_lines
from nongda.documents.page_lines import Cell, Line, lines_of

_HEADER_LINES = 3  # lines of a header that may span columns
_JUMP = 0.25  # in font sizes: what parts the spacing of rows from that of lines within a cell
_WRAPPED = 0.75  # of a column's width: a line of a cell that goes on is about full
_NARROW = 4.0  # in font sizes; a cell of a narrower column is always full
_NUMBER = re.compile(r"[\d.,，±~～\-—－/%％≤≥<>＜＞]+")

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class TextGrid:
    """Cells of a table without rules; `columns` are the extents of its columns."""

    cells: tuple[GridCell, ...]
    header_rows: int | None
    columns: tuple[Span, ...]


def columns_of(lines: Sequence[Line], most_header: int = 2) -> tuple[list[Span], int]:
    """Return the extents of the columns and how many lines at the top span several of them."""
    best: tuple[list[Span], int] = ([], 0)
    for skipped in range(min(most_header, max(0, len(lines) - 2)) + 1):
        columns = _extents(lines[skipped:])
        if len(columns) > len(best[0]):
            best = columns, skipped
    return best


def _extents(lines: Sequence[Line]) -> list[Span]:
    cells = [cell for line in lines for cell in line.cells if len(line.cells) > 1]
    extents: list[Span] = []
    for cell in sorted(cells, key=lambda cell: cell.left):
        if extents and cell.left < extents[-1][1]:
            extents[-1] = extents[-1][0], max(extents[-1][1], cell.right)
        else:
            extents.append((cell.left, cell.right))
    return extents


def touched(cell: Cell, columns: Sequence[Span]) -> list[int]:
    """Return the numbers of the columns that a cell stands in; the nearest where it stands between two."""
    found = [n for n, (left, right) in enumerate(columns) if cell.left < right and left < cell.right]
    middle = (cell.left + cell.right) / 2
    return found or [min(range(len(columns)), key=lambda n: max(columns[n][0] - middle, middle - columns[n][1]))]


def text_grid(lines: Sequence[Line], header_lines: int | None = None,
              starts: Sequence[float] = ()) -> TextGrid | None:
    """Return the cells of lines that are a table; None where they have fewer than two columns.

    `header_lines`: how many lines are the header, where a rule tells. `starts`: heights of rules between rows.
    """
    columns, spanning = columns_of(lines, _HEADER_LINES if header_lines is None else header_lines)
    if len(columns) < 2:
        return None
    head = header_lines if header_lines is not None else _header_lines(lines, columns, spanning)
    rows = [[line] for line in lines[:head]] if head > 1 or header_lines else []
    body = lines[len(rows):]
    rows += _rows(body, columns, starts)
    cells: list[GridCell] = []
    for number, row in enumerate(rows):
        below = rows[number + 1] if number + 1 < head else None
        cells += _header_cells(row[0], number, columns, below) if below else _row_cells(row, number, columns)
    return TextGrid(tuple(cells), head or None, tuple(columns))


def _header_lines(lines: Sequence[Line], columns: Sequence[Span], spanning: int) -> int:
    """Return how many lines the header has: those that span, and the names below them."""
    if spanning:
        return min(spanning + 1, len(lines) - 1)
    if len(lines) > 3 and _continues_header(lines[0], lines[1], columns):
        return 2
    return 1


def _continues_header(first: Line, second: Line, columns: Sequence[Span]) -> bool:
    filled = {column for cell in second.cells for column in touched(cell, columns)}
    has_number = any(_NUMBER.fullmatch(cell.text) for cell in second.cells)
    return 0 not in filled and len(filled) < 0.7 * len(columns) and not has_number and (
        first.bottom - second.top < 0.6 * first.size)


def _rows(lines: Sequence[Line], columns: Sequence[Span], starts: Sequence[float]) -> list[list[Line]]:
    gaps = [min(a.bottom for a in lines[:n]) - lines[n].top for n in range(1, len(lines))]
    at_rule = [any(lines[n].top <= y + 1 and y - 1 <= lines[n - 1].bottom for y in starts) for n in range(1, len(lines))]
    spaced = _by_spacing(lines, gaps, columns)
    rows: list[list[Line]] = [[lines[0]]] if lines else []
    for number, line in enumerate(lines[1:]):
        if at_rule[number]:
            goes_on = False
        elif spaced is not None:
            goes_on = gaps[number] <= spaced
        else:
            goes_on = _wraps(rows[-1], line, columns)
        if goes_on:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _by_spacing(lines: Sequence[Line], gaps: Sequence[float], columns: Sequence[Span]) -> float | None:
    """Return the gap up to which lines are of one row; None where the spacing does not tell."""
    known = sorted(gaps)
    jumps = [(b - a, (a + b) / 2) for a, b in zip(known, known[1:], strict=False)]
    if not jumps or max(jumps)[0] < _JUMP * lines[0].size:
        return None
    limit = max(jumps)[1]
    inner = [n for n, gap in enumerate(gaps) if gap <= limit]
    explained = sum(_may_go_on(lines[n], lines[n + 1], columns) for n in inner)
    return limit if inner and explained >= 0.8 * len(inner) else None


def _may_go_on(above: Line, line: Line, columns: Sequence[Span]) -> bool:
    """Tell whether a line may hold the rest of cells above it, or stands half a line lower."""
    filled = {column for cell in line.cells for column in touched(cell, columns)}
    overlap = above.bottom < line.top
    return overlap or len(filled) < len(columns) or all(
        _is_full(cell, columns) for cell in above.cells if set(touched(cell, columns)) & filled)


def _wraps(row: Sequence[Line], line: Line, columns: Sequence[Span]) -> bool:
    """Tell whether a line holds nothing but the rest of full cells of the row above."""
    for cell in line.cells:
        column = touched(cell, columns)
        above = [other for other in row[-1].cells if touched(other, columns) == column]
        if not above or not _is_full(above[0], columns):
            return False
    filled = {column for cell in line.cells for column in touched(cell, columns)}
    return len(filled) < len(columns) and (0 not in filled or len(filled) == 1)


def _is_full(cell: Cell, columns: Sequence[Span]) -> bool:
    numbers = touched(cell, columns)
    width = columns[numbers[-1]][1] - columns[numbers[0]][0]
    size = (cell.right - cell.left) / max(1, len(cell.text))
    return cell.right - cell.left > _WRAPPED * width and width > _NARROW * size


def _row_cells(row: Sequence[Line], number: int, columns: Sequence[Span]) -> list[GridCell]:
    texts: dict[tuple[int, int], list[str]] = {}
    for line in row:
        for cell in line.cells:
            found = touched(cell, columns)
            known = next((key for key in texts if key[0] <= found[-1] and found[0] <= key[1]), None)
            texts.setdefault(known or (found[0], found[-1]), []).append(cell.text)
    return [GridCell(cell_text(parts), number, first, 1, last - first + 1) for (first, last), parts in texts.items()]


def _header_cells(line: Line, number: int, columns: Sequence[Span], below: Sequence[Line]) -> list[GridCell]:
    """A name that stands over several columns spans those that have names of their own below."""
    named = {column for part in below for cell in part.cells for column in touched(cell, columns)}
    taken = [touched(cell, columns) for cell in line.cells]
    result = []
    for place, cell in enumerate(line.cells):
        others = {column for n, found in enumerate(taken) if n != place for column in found}
        first, last = _span(cell, taken[place], [c in named and c not in others for c in range(len(columns))], columns)
        result.append(GridCell(cell.text, number, first, 1, last - first + 1))
    return result


def _span(cell: Cell, found: Sequence[int], free: Sequence[bool], columns: Sequence[Span]) -> tuple[int, int]:
    """Return the first and the last column of a name: of the spans about its middle the widest that is centred."""
    middle, size = (cell.left + cell.right) / 2, (cell.right - cell.left) / max(1, len(cell.text))
    spans = [(a, b) for a in range(len(columns)) for b in range(a + 1, len(columns))
             if a <= found[0] and found[-1] <= b and all(free[a:b + 1])]
    fits = [(b - a, a, b) for a, b in spans if abs((columns[a][0] + columns[b][1]) / 2 - middle) < 1.2 * size]
    if fits and not (len(found) == 1 and abs(columns[found[0]][0] + columns[found[0]][1] - 2 * middle) < size):
        _, first, last = max(fits)
        return first, last
    return found[0], found[-1]


def cell_text(texts: Sequence[str]) -> str:
    """Join the lines of a cell; items keep lines of their own."""
    items: list[list[str]] = []
    for text in texts:
        if not items or is_list_item(text):
            items.append([])
        items[-1].append(text)
    return "\n".join(join_lines(item) for item in items)


def lines_text(lines: Sequence[Line]) -> str:
    """Return the text of a cell whose lines these are; text that was turned comes last."""
    upright = [line.text for line in lines_of(line for line in lines if line.upright)]
    return cell_text(upright + [line.text for line in lines if not line.upright])
