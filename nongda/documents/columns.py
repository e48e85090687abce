"""Reading order of a page: full-width text and columns, found by their gutters.

A gutter is a strip that most lines leave free. What crosses it (a title, a wide table, a caption) cuts the page into
bands; a band is read column by column where both of its sides are text that fills its column. Gaps between the cells
of a table are no gutters: its cells are short, and its rows stand level on both sides.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nongda.documents.page_lines import Line, Placed, Table, lines_of, parts, rows_of, share_height

_GUTTER = 0.8  # in font sizes
_CANDIDATES = 8
_COLUMN = 7.0  # in font sizes: the narrowest column of text
_FULL = 0.35  # share of a column's lines that reach its right edge: the others end paragraphs
_FEW = 5  # rows; a page with fewer has no header or footer
_EDGE_GAP = 1.2  # in line heights, between the text and a header or footer
_MAX_EDGE = 45  # characters
_WIDE_GAP = 1.35  # of the distance between lines: rows of a table with cells of several lines
_DEPTH = 4  # columns within columns
_MOST = 3000  # pieces; a page with more keeps the order of its heights

Item = Line | Table


@dataclass(frozen=True, slots=True)
class Region:
    """Lines and tables of one column from the top down; `follows`: the column continues the one before."""

    items: tuple[Item, ...]
    follows: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    item: Item
    place: int  # in the order given
    left: float
    right: float
    bottom: float
    top: float


@dataclass(frozen=True, slots=True)
class _Band:
    plain: list[_Piece]  # what crosses the gutter, above the columns
    left: list[_Piece]
    right: list[_Piece]
    is_split: bool


def reading_order(lines: Sequence[Line], tables: Sequence[Table] = ()) -> list[Region]:
    """Return the regions of a page in reading order. Every piece of every line stands in just one region."""
    pieces = [_piece(part, number) for number, line in enumerate(lines) for part in parts(line)]
    pieces += [_piece(table, len(lines) + number) for number, table in enumerate(tables)]
    fixed = _edge_rows(pieces)
    return list(_regions(pieces, fixed, _DEPTH if len(pieces) <= _MOST else 0)) if pieces else []


def _piece(item: Item, place: int) -> _Piece:
    return _Piece(item, place, item.left, item.right, item.bottom, item.top)


def _regions(pieces: list[_Piece], fixed: set[_Piece], depth: int) -> Iterator[Region]:
    bands = _split(pieces, fixed) if depth > 0 else None
    if bands is None:
        yield _region(pieces)
        return
    plain: list[_Piece] = []
    for band in bands:
        if not band.is_split:
            plain += band.plain + band.left + band.right
            continue
        plain += band.plain
        if plain:
            yield _region(plain)
            plain = []
        yield from _regions(band.left, set(), depth - 1)
        following = list(_regions(band.right, set(), depth - 1))
        yield Region(following[0].items, follows=True)
        yield from following[1:]
    if plain:
        yield _region(plain)


def _region(pieces: Sequence[_Piece]) -> Region:
    items: list[Item] = [piece.item for piece in pieces if isinstance(piece.item, Table)]
    items += lines_of(piece.item for piece in pieces if isinstance(piece.item, Line))
    return Region(tuple(sorted(items, key=lambda item: -(item.top + item.bottom))))


def _edge_rows(pieces: Sequence[_Piece]) -> set[_Piece]:
    """Return what stands apart above or below the text: it belongs to no column."""
    rows = rows_of(pieces)
    found: set[_Piece] = set()
    if len(rows) < _FEW:
        return found
    for row, inner in ((rows[0], rows[1]), (rows[-1], rows[-2])):
        if any(isinstance(piece.item, Table) for piece in row):
            continue
        height = max(piece.top - piece.bottom for piece in row)
        gap = max(min(p.bottom for p in row) - max(p.top for p in inner),
                  min(p.bottom for p in inner) - max(p.top for p in row))
        length = sum(len(piece.item.text) for piece in row if isinstance(piece.item, Line))
        if gap > _EDGE_GAP * height and length <= _MAX_EDGE:
            found.update(row)
    return found


def _split(pieces: list[_Piece], fixed: set[_Piece]) -> list[_Band] | None:
    """Return the bands of the best gutter; None where there is none."""
    for at in _gutters([piece for piece in pieces if piece not in fixed]):
        bands = list(_bands(pieces, fixed, at))
        if any(band.is_split for band in bands):
            return bands
    return None


def _gutters(pieces: Sequence[_Piece]) -> list[float]:
    """Return the places of possible gutters, those that the most lines leave free first."""
    events: list[tuple[float, int]] = []
    for row in rows_of(pieces):
        for a, b in zip(row, row[1:], strict=False):
            if b.left - a.right >= _GUTTER * _size([a, b]):
                events += [(a.right, 1), (b.left, -1)]
    events.sort(key=lambda event: (event[0], -event[1]))
    free, found = 0, []
    for number, (at, change) in enumerate(events):
        free += change
        if change > 0 and events[number + 1][1] < 0:  # fewest before and behind
            found.append((free, (at + events[number + 1][0]) / 2))
    found.sort(key=lambda entry: -entry[0])
    return [at for free, at in found[:_CANDIDATES] if free > 1 or len(found) == 1]


def _size(pieces: Sequence[_Piece]) -> float:
    sizes = [piece.item.size for piece in pieces if isinstance(piece.item, Line)]
    return statistics.median(sizes) if sizes else 10.0


def _bands(pieces: Sequence[_Piece], fixed: set[_Piece], at: float) -> Iterator[_Band]:
    """Cut the page at what crosses the gutter."""
    crossing = [piece for piece in pieces if piece in fixed or piece.left < at < piece.right]
    free = [piece for piece in pieces if piece not in fixed and not piece.left < at < piece.right]
    beside = [piece for piece in free if any(share_height(piece, other) for other in crossing)]
    inside = {*beside}
    waiting = sorted((p for p in free if p not in inside), key=_height)
    plain: list[_Piece] = []
    for cut in [*sorted(crossing + beside, key=_height), None]:
        above = [piece for piece in waiting if cut is None or _height(piece) <= _height(cut)]
        if above:
            waiting = waiting[len(above):]
            rest = _last_line(plain, above, at)
            plain += rest
            left = [piece for piece in above if piece.right <= at and piece not in rest]
            right = [piece for piece in above if piece.right > at]
            yield _Band(plain, left, right, _are_columns(left, right))
            plain = []
        if cut is not None:
            plain.append(cut)
    if plain:
        yield _Band(plain, [], [], False)


def _last_line(plain: Sequence[_Piece], below: Sequence[_Piece], at: float) -> list[_Piece]:
    """Return the short line that ends a paragraph as wide as the page: it stands over the left column alone."""
    right = [piece for piece in below if piece.right > at]
    if not plain or not right or isinstance(plain[-1].item, Table):
        return []
    last, row = plain[-1], rows_of(below)[0]
    size = _size(row)
    is_full = last.right > max(piece.right for piece in right) - 2 * size
    is_close = last.bottom - row[0].top < 0.8 * size and row[0].left <= last.left + 0.5 * size
    is_alone = max(piece.top for piece in right) < min(piece.bottom for piece in row) + 0.3 * size
    return row if is_full and is_close and is_alone else []


def _height(piece: Placed) -> float:
    return -(piece.top + piece.bottom) / 2


def _are_columns(left: list[_Piece], right: list[_Piece]) -> bool:
    if not left or not right or min(p.bottom for p in left) >= max(p.top for p in right) or (
            min(p.bottom for p in right) >= max(p.top for p in left)):
        return False
    tables = [any(isinstance(piece.item, Table) for piece in side) for side in (left, right)]
    if all(tables) or _written_in_turn(left, right):
        return True
    if _rows_are_level(left, right):
        return False
    texts = [is_table or _is_text(side) for is_table, side in zip(tables, (left, right), strict=True)]
    return all(texts) or (any(texts) and _is_short_column(*((left, right) if texts[0] else (right, left))))


def _written_in_turn(left: Sequence[_Piece], right: Sequence[_Piece]) -> bool:
    """Tell whether the file has all of one column before the other although they stand side by side."""
    if not (max(p.place for p in left) < min(p.place for p in right)):
        return False
    rows = [len(rows_of(side)) for side in (left, right)]
    last, first = min(p.bottom for p in left), max(p.top for p in right)
    return min(rows) > 1 and first > last


def _rows_are_level(left: Sequence[_Piece], right: Sequence[_Piece]) -> bool:
    """Tell whether wider gaps between lines stand level on both sides, as between the rows of a table."""
    gaps = [_wide_gaps(side) for side in (left, right)]
    few, many = sorted(gaps, key=len)
    level = sum(any(min(a[1], b[1]) > max(a[0], b[0]) for b in many) for a in few)
    return len(few) > 1 and level > 0.6 * len(many)


def _wide_gaps(side: Sequence[_Piece]) -> list[tuple[float, float]]:
    rows = rows_of(side)
    edges = [(max(p.top for p in below), min(p.bottom for p in above))
             for above, below in zip(rows, rows[1:], strict=False)]
    pitches = [max(p.top for p in above) - max(p.top for p in below)
               for above, below in zip(rows, rows[1:], strict=False)]
    usual = statistics.quantiles(pitches, n=4)[0] if len(pitches) > 1 else 0.0
    wide = max(_WIDE_GAP * usual, usual + 0.35 * _size(side))
    return [edge for edge, pitch in zip(edges, pitches, strict=True) if usual and pitch > wide]


def _is_text(side: list[_Piece]) -> bool:
    """Tell whether lines fill their column, or columns within it do."""
    rows = rows_of(side)
    if len(rows) < 3:
        return False
    size = _size(side)
    left, right = min(p.left for p in side), max(p.right for p in side)
    margin = max(1.5 * size, 0.12 * (right - left))
    full = sum(row[-1].right > right - margin and row[-1].right - row[0].left > 0.6 * (right - left) for row in rows)
    if len(side) < 1.5 * len(rows) and right - left > _COLUMN * size and full >= _FULL * len(rows):
        return True
    return _split(side, set()) is not None


def _is_short_column(text: Sequence[_Piece], other: Sequence[_Piece]) -> bool:
    """Tell whether lines beside a column of text may be a column too: its last lines, or a list."""
    widths = [max(p.right for p in side) - min(p.left for p in side) for side in (text, other)]
    rows = rows_of(other)
    lengths = [sum(len(p.item.text) for p in row if isinstance(p.item, Line)) for row in rows]
    return (widths[1] > 0.5 * widths[0] and len(other) < 1.5 * len(rows) and statistics.mean(lengths) >= 8
            and len(rows_of(text)) >= 4)
