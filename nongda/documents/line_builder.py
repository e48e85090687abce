"""Characters of a page become lines, parted into cells at wide gaps and at strokes."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from nongda.documents.page_lines import Cell, Line, cell_gap

Box = tuple[float, float, float, float]
"""Left, right, bottom, top in points."""

_OTHER_LINE = 0.45  # in font sizes: cells centred beside two lines stand half a line off
_NEAR = 8  # strokes looked at for one gap


class LineBuilder:
    """Gathers the characters of one line and parts it into cells at wide gaps."""

    def __init__(self, page: int, rules: Sequence[tuple[float, float, float]]) -> None:
        """`rules` are the upright strokes (x, bottom, top) from left to right: each parts cells."""
        self._page = page
        self._rules = rules
        self._clear()

    def _clear(self) -> None:
        self._cells: list[Cell] = []
        self._sizes: Counter[float] = Counter()
        self._bottom = self._top = self._middle = self._size = 0.0
        self._space = self._typed_space = False

    def is_elsewhere(self, box: Box, size: float) -> bool:
        """Tell whether a character in this box cannot belong to the line; raised and lowered ones can."""
        return bool(self._cells) and abs((box[2] + box[3]) / 2 - self._middle) > _OTHER_LINE * max(size, self._size)

    def add_space(self, generated: bool) -> None:
        """Note a space; a generated one is PDFium's reading of a gap."""
        self._space = True
        self._typed_space = self._typed_space or not generated

    def add(self, character: str, box: Box, size: float) -> None:
        """Add a character in its box (left, right, bottom, top) in points."""
        if character.isspace():
            self.add_space(generated=False)
            return
        left, right, bottom, top = box
        last = self._cells[-1] if self._cells else None
        if last is None:
            self._bottom, self._top = bottom, top
        if last is None or _is_apart(last, character, left, size) or self._has_rule(last.right, box, size):
            self._cells.append(Cell(character, left, right))
        else:
            space = " " if self._has_space(last.text[-1], character) else ""
            self._cells[-1] = Cell(last.text + space + character, last.left, right)
        self._space = self._typed_space = False
        self._sizes[round(size, 1)] += 1
        self._bottom, self._top = min(self._bottom, bottom), max(self._top, top)
        self._middle, self._size = (bottom + top) / 2, size

    def _has_rule(self, before: float, box: Box, size: float) -> bool:
        """Tell whether a stroke stands between a cell's end and the character's box."""
        left, _, bottom, top = box
        slack = 0.3 * size
        first = bisect_left(self._rules, (before - slack,))
        middle = (bottom + top) / 2
        return any(x <= left + slack and low <= middle <= high for x, low, high in self._rules[first:first + _NEAR])

    def _has_space(self, before: str, after: str) -> bool:
        """A gap between Chinese characters comes from justified lines, unless a space was typed."""
        return self._space and (self._typed_space or min(before, after) < "\u2e80")

    def flush(self) -> Iterator[Line]:
        """Yield the line gathered so far, if there is one, and begin another."""
        cells = tuple(Cell(_repair(cell.text), cell.left, cell.right) for cell in self._cells)
        cells = tuple(cell for cell in cells if cell.text)
        if cells:
            size = self._sizes.most_common(1)[0][0]
            yield Line(cells, self._page, min(cell.left for cell in cells), cells[-1].right,
                       self._bottom, self._top, size)
        self._clear()


def _is_apart(cell: Cell, character: str, left: float, size: float) -> bool:
    return left - cell.right > cell_gap(cell.text, character) * size or left < cell.right - 20 * size


def _repair(text: str) -> str:
    """Join halves of a character outside the basic plane, as PDFium gives them on Windows."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore").strip()
