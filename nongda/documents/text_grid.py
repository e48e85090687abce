"""Lines of a table become its cells: columns from the gaps between them, rows from spacing and wrapped cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nongda.documents.grids import GridCell
from nongda.documents.lines import is_list_item, join_lines
from nongda.documents.page_lines import Cell, Line, lines_of

_HEADER_LINES = 3  # lines of a header that may span columns
_BELOW = 0.9  # in font sizes
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
    header_lines: int


def columns_of(lines: Sequence[Line], header_lines: int | None = None) -> tuple[list[Span], int]:
    """Return the extents of the columns and how many lines at the top do not stand as the columns do.

    Names stand centred over columns or span several: those lines are left out that would make columns of their own, which
    no other line fills, or that would make one column of several.
    """
    best: tuple[list[Span], int] = ([], 0)
    rank = (0, 0)
    most = min(_HEADER_LINES, len(lines) // 2) if header_lines is None else min(header_lines, len(lines) - 1)
    for skipped in range(most + 1):
        columns = _extents(lines[skipped:])
        filled: Counter[int] = Counter()
        for line in lines[max(0, skipped - 1):]:
            filled.update({first for first, last in assigned(line, columns) if first == last})
        thin = sum(filled[column] < 2 for column in range(len(columns)))
        if len(columns) > 1 and (not best[0] or (-thin, len(columns)) > rank):
            best, rank = (columns, skipped), (-thin, len(columns))
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


def assigned(line: Line, columns: Sequence[Span]) -> list[tuple[int, int]]:
    """Return the first and the last column of each cell of a line; one that stands between columns takes a free one."""
    if len(line.cells) == len(columns):
        return [(n, n) for n in range(len(columns))]
    found = [[n for n, (left, right) in enumerate(columns) if cell.left < right and left < cell.right]
             for cell in line.cells] if columns else []
    taken = {n for numbers in found for n in numbers}
    for place, cell in enumerate(line.cells if columns else ()):
        if not found[place]:
            free = [n for n in range(len(columns)) if n not in taken] or list(range(len(columns)))
            found[place] = [min(free, key=lambda n: _distance(cell, columns[n]))]
            taken.update(found[place])
    return [(numbers[0], numbers[-1]) for numbers in found]


def _distance(cell: Cell, column: Span) -> float:
    middle = (cell.left + cell.right) / 2
    return max(column[0] - middle, middle - column[1], 0.0)


def text_grid(lines: Sequence[Line], header_lines: int | None = None,
              starts: Sequence[float] = ()) -> TextGrid | None:
    """Return the cells of lines that are a table; None where they have fewer than two columns.

    `header_lines`: how many lines are the header, where a rule tells. `starts`: heights of rules between rows.
    """
    columns, skipped = columns_of(lines, header_lines)
    if len(columns) < 2:
        return None
    head = header_lines if header_lines is not None else _header_lines(lines, columns, skipped)
    above = head if head > 1 or header_lines else 0
    cells = _header_cells(lines[:above], columns)
    for number, row in enumerate(_rows(lines[above:], columns, starts), start=above):
        cells += _row_cells(row, number, columns)
    header_rows = len({cell.row for cell in cells if cell.row < above}) if above else head  # only where a cell begins
    return TextGrid(tuple(cells), header_rows or None, tuple(columns), max(above, head))


def _header_lines(lines: Sequence[Line], columns: Sequence[Span], skipped: int) -> int:
    """Return how many lines the header has: those that stand otherwise than the columns, and names below them."""
    head = max(1, skipped)
    while head < min(_HEADER_LINES, len(lines) - 1) and _continues_header(lines[:head + 2], columns):
        head += 1
    return head


def _continues_header(lines: Sequence[Line], columns: Sequence[Span]) -> bool:
    """Tell whether the last but one line holds names below those of the lines before, and not the top of a cell."""
    first, second, third = lines[-3:]
    known = {column for line in lines[:-2] for span in assigned(line, columns) for column in span}
    filled = {column for span in assigned(second, columns) for column in span}
    has_number = any(_NUMBER.fullmatch(cell.text) for cell in second.cells)
    gap = first.bottom - second.top
    return (0 not in filled or 0 not in known) and len(filled) < 0.7 * len(columns) and not has_number and (
        gap < 0.6 * first.size and gap < second.bottom - third.top + 0.2 * first.size)


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
        for cell, span in zip(line.cells, assigned(line, columns), strict=True):
            known = next((key for key in texts if key[0] <= span[1] and span[0] <= key[1]), span)
            texts.setdefault(known, []).append(cell.text)
    return [GridCell(cell_text(parts), number, first, 1, last - first + 1) for (first, last), parts in texts.items()]


def _header_cells(lines: Sequence[Line], columns: Sequence[Span]) -> list[GridCell]:
    """Return the cells of a header of several lines: a name spans those columns with names below that it is centred over."""
    middles = [(left + right) / 2 for left, right in columns]
    names: list[tuple[float, int, int]] = []  # the middle of each name, its line and its column
    cells: list[GridCell] = []
    for number, line in reversed(list(enumerate(lines))):
        taken = assigned(line, columns)
        height = (line.bottom + line.top) / 2
        # A name beside two lines, half a line lower, is not below the upper one.
        below = [{n for middle, n, c in names if c == column and height - middle > _BELOW * line.size}
                 for column in range(len(columns))]
        for place, cell in enumerate(line.cells):
            others = {c for n, span in enumerate(taken) if n != place for c in range(span[0], span[1] + 1)}
            own = below[taken[place][0]]
            free = [bool(own) and below[c] == own and c not in others for c in range(len(columns))]
            first, last = _span(cell, taken[place], free, middles)
            cells.append(GridCell(cell.text, number, first, 1, last - first + 1))
            if first == last:
                middles[first] = (cell.left + cell.right) / 2
        names += [(height, number, c) for cell in cells if cell.row == number for c in range(cell.column, cell.column + cell.columns)]
    count = Counter(column for _, _, column in names)
    return [replace(cell, row=0, rows=len(lines)) if cell.columns == count[cell.column] == 1 else cell
            for cell in cells]


def _span(cell: Cell, found: tuple[int, int], free: Sequence[bool], middles: Sequence[float]) -> tuple[int, int]:
    """Return the first and the last column of a name: of the spans about its middle the widest that is centred."""
    middle, size = (cell.left + cell.right) / 2, (cell.right - cell.left) / max(1, len(cell.text))
    fits = [(b - a, a, b) for a in range(found[1] + 1) for b in range(max(a + 1, found[0]), len(middles))
            if all(free[a:b + 1]) and abs((middles[a] + middles[b]) / 2 - middle) < 1.2 * size]
    return max(fits)[1:] if fits else found


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
