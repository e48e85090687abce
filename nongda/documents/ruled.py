"""Ruled tables: strokes that meet make a grid, the text whose middle lies in a cell fills it.

A net of strokes with a single cell is a frame, one with a single row or column no table. Where only level rules are
drawn (three-line tables) the text between them tells the columns, see level_rules.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nongda.documents.grids import GridCell
from nongda.documents.level_rules import level_tables
from nongda.documents.lines import width
from nongda.documents.page_lines import Cell, Line, Segment, Table, lines_of, parts
from nongda.documents.text_grid import lines_text

_TOUCH = 3.5  # points between strokes that meet
_OPEN = 6.0  # points by which rules reach past the outermost stroke of a table without side borders
_COVERED = 0.6  # share of a cell's edge that a stroke must draw
_ROWS_IN_CELL = 3  # lines that stand level in several cells and are rows without rules


_Square = tuple[int, int, int, int]  # first row, first column, last row, last column


@dataclass(frozen=True, slots=True)
class _Place:
    row: int
    column: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class _Grid:
    xs: tuple[float, ...]  # from left to right
    ys: tuple[float, ...]  # from the top down
    places: tuple[_Place, ...]


def ruled_tables(lines: Sequence[Line], segments: Sequence[Segment]) -> tuple[list[Table], list[Line]]:
    """Return the tables that strokes draw on a page, and what text of the lines stands outside of them."""
    tables: list[Table] = []
    rest = list(lines)
    used: set[Segment] = set()
    for net in _nets(segments):
        grid = _grid(net)
        filled = _filled(grid, rest) if grid else None
        if filled:
            tables.append(filled[0])
            rest = filled[1]
            used.update(net)
    level = [s for s in segments if s.is_level and s not in used]
    found, rest = level_tables(rest, level)
    return tables + found, rest


def _nets(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Return the groups of strokes that meet, the smallest first: it may stand within a cell of another."""
    level = [s for s in segments if s.is_level]
    upright = sorted((s for s in segments if not s.is_level), key=lambda s: s.left)
    at = [s.left for s in upright]
    parent = list(range(len(level) + len(upright)))
    for number, stroke in enumerate(level):
        for other in range(bisect_left(at, stroke.left - _TOUCH), bisect_left(at, stroke.right + _TOUCH)):
            if upright[other].bottom - _TOUCH <= stroke.bottom <= upright[other].top + _TOUCH:
                parent[_root(parent, number)] = _root(parent, len(level) + other)
    nets: dict[int, list[Segment]] = {}
    for number, stroke in enumerate([*level, *upright]):
        nets.setdefault(_root(parent, number), []).append(stroke)
    return sorted((net for net in nets.values() if len(net) > 4), key=_area)


def _root(parent: list[int], number: int) -> int:
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number


def _area(net: Sequence[Segment]) -> float:
    return (max(s.right for s in net) - min(s.left for s in net)) * (max(s.top for s in net) - min(s.bottom for s in net))


def _grid(net: Sequence[Segment]) -> _Grid | None:
    """Return the cells that a net draws; None where there are not two columns."""
    level, upright = [s for s in net if s.is_level], [s for s in net if not s.is_level]
    xs, ys = _clusters([s.left for s in upright]), _clusters([s.bottom for s in level])
    xs = _opened(xs, [s.left for s in level], [s.right for s in level])
    ys = _opened(ys, [s.bottom for s in upright], [s.top for s in upright])[::-1]
    if len(xs) < 3 or len(ys) < 2:
        return None
    groups = _groups(xs, ys, level, upright)
    return _Grid(tuple(xs), tuple(ys), tuple(groups)) if len(groups) > 1 else None


def _clusters(places: Sequence[float]) -> list[float]:
    clusters: list[list[float]] = []
    for place in sorted(places):
        if clusters and place - clusters[-1][-1] <= _TOUCH:
            clusters[-1].append(place)
        else:
            clusters.append([place])
    return [statistics.fmean(cluster) for cluster in clusters]


def _opened(edges: list[float], starts: Sequence[float], ends: Sequence[float]) -> list[float]:
    """Add the borders that are not drawn: two strokes end there beyond the outermost one drawn."""
    if not edges:
        return edges
    before = [place for place in starts if place < edges[0] - _OPEN]
    behind = [place for place in ends if place > edges[-1] + _OPEN]
    first = [min(before)] if len(before) > 1 else []
    return [*first, *edges, *([max(behind)] if len(behind) > 1 else [])]


def _groups(xs: Sequence[float], ys: Sequence[float], level: Sequence[Segment], upright: Sequence[Segment]
            ) -> list[_Place]:
    """Join the squares between which no stroke stands; a group is as large as the box around it."""
    rows, columns = len(ys) - 1, len(xs) - 1
    group = {(r, c): (r, c, r, c) for r in range(rows) for c in range(columns)}
    for r, c in list(group):
        if c + 1 < columns and not _is_drawn(upright, xs[c + 1], ys[r + 1], ys[r], is_level=False):
            _join(group, (r, c), (r, c + 1))
        if r + 1 < rows and not _is_drawn(level, ys[r + 1], xs[c], xs[c + 1], is_level=True):
            _join(group, (r, c), (r + 1, c))
    return [_Place(r0, c0, r1 - r0 + 1, c1 - c0 + 1) for r0, c0, r1, c1 in sorted(set(group.values()))]


def _join(group: dict[tuple[int, int], _Square], a: tuple[int, int], b: tuple[int, int]) -> None:
    box, wider = None, _around(group[a], group[b])
    while box != wider:
        box = wider
        for place in _squares(box):
            wider = _around(wider, group[place])
    for place in _squares(wider):
        group[place] = wider


def _squares(box: _Square) -> Iterator[tuple[int, int]]:
    return ((r, c) for r in range(box[0], box[2] + 1) for c in range(box[1], box[3] + 1))


def _around(a: _Square, b: _Square) -> _Square:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _is_drawn(strokes: Sequence[Segment], at: float, start: float, end: float, is_level: bool) -> bool:
    covered = 0.0
    for s in strokes:
        place, first, last = (s.bottom, s.left, s.right) if is_level else (s.left, s.bottom, s.top)
        if abs(place - at) <= _TOUCH:
            covered += max(0.0, min(last, end) - max(first, start))
    return covered > _COVERED * (end - start)


def _filled(grid: _Grid, lines: Sequence[Line]) -> tuple[Table, list[Line]] | None:
    """Put the lines into the cells; None where the grid holds no table, so that the lines stay as they are."""
    box = (grid.xs[0], grid.xs[-1], grid.ys[-1], grid.ys[0])
    inside: dict[_Place, list[Line]] = {}
    rest: list[Line] = []
    for line in lines:
        if line.right < box[0] or line.left > box[1] or line.top < box[2] or line.bottom > box[3]:
            rest.append(line)
            continue
        for part in _cut(line, grid):
            place = _place_at(grid, (part.left + part.right) / 2, (part.bottom + part.top) / 2)
            if place is None:
                rest.append(part)
            else:
                inside.setdefault(place, []).append(part)
    cells = list(_cells(grid, inside))
    if len({cell.row for cell in cells}) < 2 or len({cell.column for cell in cells}) < 2:
        return None
    texts = [line for group in inside.values() for line in group]
    return Table(tuple(cells), None, grid.xs, texts[0].page, *box,
                 confidence=min(line.confidence for line in texts)), rest


def _place_at(grid: _Grid, x: float, y: float) -> _Place | None:
    return next((p for p in grid.places
                 if grid.xs[p.column] <= x < grid.xs[p.column + p.columns]
                 and grid.ys[p.row + p.rows] <= y < grid.ys[p.row]), None)


def _cut(line: Line, grid: _Grid) -> Iterator[Line]:
    """Yield the cells of a line, cut where a border of the grid runs through them."""
    for part in parts(line):
        if not part.upright:
            yield part
            continue
        y, slack = (part.bottom + part.top) / 2, 0.4 * part.size
        places = {p for x in (part.left, *grid.xs, part.right) if (p := _place_at(grid, x, y))}
        borders = {grid.xs[p.column] for p in places} | {grid.xs[p.column + p.columns] for p in places}
        yield from _cut_at(part, sorted(x for x in borders if part.left + slack < x < part.right - slack))


def _cut_at(line: Line, borders: Sequence[float]) -> Iterator[Line]:
    """Cut the text of a line in proportion to the widths of its characters."""
    text, left = line.text, line.left
    scale = (line.right - line.left) / max(1, width(text))
    start = used = 0
    for border in [*borders, float("inf")]:
        end = start
        while end < len(text) and left + scale * (used + width(text[end]) / 2) < border:
            used += width(text[end])
            end += 1
        end = _whole_word(text, start, end)
        used = width(text[:end])
        piece = text[start:end].strip()
        if piece:
            right = min(left + scale * used, line.right)
            begin = left + scale * width(text[:start])
            yield replace(line, cells=(Cell(piece, begin, right),), left=begin, right=right)
        start = end


def _whole_word(text: str, start: int, end: int) -> int:
    """Move a cut out of a number or a Latin word, to its nearer end."""
    def within(place: int) -> bool:
        return start < place < len(text) and text[place - 1:place + 1].isascii() and text[place - 1:place + 1].isalnum()

    for step in range(4):
        for place in (end - step, end + step):
            if start <= place <= len(text) and not within(place):
                return place
    return end


def _cells(grid: _Grid, inside: dict[_Place, list[Line]]) -> Iterator[GridCell]:
    """Yield the cells; a row in which lines stand level without rules between them becomes several."""
    row = 0
    for number in range(len(grid.ys) - 1):
        own = {p: inside[p] for p in grid.places if p.row == number and p.rows == 1 and p in inside}
        levels = _levels(own, len(grid.xs) - 1) if len(grid.ys) <= 4 else []
        for place in (p for p in grid.places if p.row == number and p in inside):
            if place in own and levels:
                for offset, lines in enumerate(_by_level(own[place], levels)):
                    if lines:
                        yield GridCell(lines_text(lines), row + offset, place.column, 1, place.columns)
            else:
                yield GridCell(lines_text(inside[place]), row, place.column, place.rows, place.columns)
        row += max(1, len(levels))


def _levels(own: dict[_Place, list[Line]], columns: int) -> list[float]:
    """Return the heights of rows that no rule parts: lines stand there in most of the cells."""
    if len(own) < 2 or len(own) < 0.6 * columns:
        return []
    counts = [lines_of(lines) for lines in own.values()]
    first = counts[0]
    if len(first) < _ROWS_IN_CELL:
        return []
    heights = [(line.bottom + line.top) / 2 for line in first]
    level = [sum(any(abs((o.bottom + o.top) / 2 - y) < 0.4 * o.size for o in lines) for lines in counts) for y in heights]
    is_level = all(count >= 0.6 * len(counts) for count in level) and all(
        len(lines) <= len(first) for lines in counts)
    return heights if is_level else []


def _by_level(lines: Sequence[Line], levels: Sequence[float]) -> list[list[Line]]:
    result: list[list[Line]] = [[] for _ in levels]
    for line in lines:
        y = (line.bottom + line.top) / 2
        result[min(range(len(levels)), key=lambda n: abs(levels[n] - y))].append(line)
    return result
