"""Lines, straight strokes and tables with their places on a page, in points, y upwards, the text upright."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from nongda.documents.grids import GridCell

CELL_GAP = 0.3  # in font sizes: from here on text may be two cells. Chinese columns stand that close
LATIN_CELL_GAP = 0.6  # spaces between words reach 0.5
_SAME_HEIGHT = 0.65  # of the lower of two: how much they share where they stand in one line


class Placed(Protocol):
    """Anything with a box on the page."""

    @property
    def left(self) -> float: ...
    @property
    def right(self) -> float: ...
    @property
    def bottom(self) -> float: ...
    @property
    def top(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Cell:
    """Text between two gaps of a line; edges in points."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page. `upright` is False where it runs across the page's main direction."""

    cells: tuple[Cell, ...]
    page: int
    left: float
    right: float
    bottom: float
    top: float
    size: float
    confidence: float = 1.0  # below 1 where recognition read it
    upright: bool = True

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Segment:
    """A straight stroke, level or upright."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def is_level(self) -> bool:
        return self.right - self.left >= self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Table:
    """A table found on a page. `edges` are the borders of its columns, `header_rows` None where they are not known."""

    cells: tuple[GridCell, ...]
    header_rows: int | None
    edges: tuple[float, ...]
    page: int
    left: float
    right: float
    bottom: float
    top: float
    confidence: float = 1.0
    is_ruled: bool = True


AnyPlaced = TypeVar("AnyPlaced", bound=Placed)


def parts(line: Line) -> Iterator[Line]:
    """Yield the cells of a line as lines of their own."""
    for cell in line.cells:
        yield replace(line, cells=(cell,), left=cell.left, right=cell.right)


def share_height(a: Placed, b: Placed, least: float = _SAME_HEIGHT) -> bool:
    """Tell whether two boxes share at least that part of the lower one's height."""
    lower = min(a.top - a.bottom, b.top - b.bottom)
    return min(a.top, b.top) - max(a.bottom, b.bottom) > least * max(lower, 0.1)


def rows_of(placed: Iterable[AnyPlaced]) -> list[list[AnyPlaced]]:
    """Group boxes that stand side by side; rows from the top down, each from left to right."""
    rows: list[list[AnyPlaced]] = []
    for item in sorted(placed, key=lambda p: (-(p.top + p.bottom), p.left)):
        row = next((row for row in rows[-3:] if _joins(row, item)), None)
        if row is None:
            rows.append([item])
        else:
            row.append(item)
    rows.sort(key=lambda row: -max(item.top + item.bottom for item in row))
    return [sorted(row, key=lambda item: item.left) for row in rows]


def _joins(row: Sequence[Placed], item: Placed) -> bool:
    slack = 0.3 * (item.top - item.bottom)
    return share_height(row[0], item) and all(
        other.right - slack <= item.left or item.right - slack <= other.left for other in row)


def lines_of(pieces: Iterable[Line]) -> list[Line]:
    """Join pieces that stand side by side to lines, from the top down."""
    return [_joined(row) if len(row) > 1 else row[0] for row in rows_of(pieces)]


def _joined(row: Sequence[Line]) -> Line:
    cells: list[Cell] = []
    size = max(row, key=lambda line: len(line.text)).size
    for cell in (cell for line in row for cell in line.cells):
        if cells and cell.left - cells[-1].right <= cell_gap(cells[-1].text, cell.text) * size:
            is_word = cell.left - cells[-1].right < 0.12 * size
            text = cells[-1].text + cell.text if is_word else glued(cells[-1].text, cell.text)
            cells[-1] = Cell(text, cells[-1].left, max(cells[-1].right, cell.right))
        else:
            cells.append(cell)
    return replace(
        row[0], cells=tuple(cells), size=size, left=min(line.left for line in row),
        right=max(line.right for line in row), bottom=min(line.bottom for line in row),
        top=max(line.top for line in row), confidence=min(line.confidence for line in row))


def cell_gap(before: str, after: str) -> float:
    """Return the gap in font sizes from which on two texts of a line are two cells."""
    return LATIN_CELL_GAP if max(before[-1:], after[:1]) < "\u2e80" else CELL_GAP


def glued(before: str, after: str) -> str:
    """Put two neighbouring texts of a line together; Chinese characters need no space."""
    is_latin = before[-1:].isalnum() and after[:1].isalnum() and max(before[-1:], after[:1]) < "\u2e80"
    return f"{before} {after}" if is_latin else before + after
