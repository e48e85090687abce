"""Lines on pages become headings, paragraphs, lists and tables.

Steps:
1. The body size is the one most characters have; short lines clearly larger are headings, ranked by size.
   Lines that open or close many pages are running headers, not headings.
2. Three or more lines with the same number of cells, each below its like, are a table.
3. Other lines form paragraphs; a new one begins at an indent, a wide gap, a new size, after a short line.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nongda.documents.lines import ends_sentence, is_list_item, join_lines, numbered_heading
from nongda.documents.outline import Heading, Item
from nongda.documents.tables import table_text
from nongda.intake import Block

_HEADING_RATIO = 1.15  # of the body size; emphasis within text stays under it
_MAX_HEADING = 60  # characters
_MAX_HEADING_SHARE = 0.3  # of all characters; beyond it sizes tell nothing
_HEADING_LEVELS = 3  # sizes kept apart
_INDENT = 1.2  # in font sizes; a Chinese paragraph is indented by two
_SHORT = 3.0  # in font sizes short of the right margin
_GAP = 1.6  # of the usual distance between lines
_TABLE_LINES = 3
_ALIGNED = 0.5  # in font sizes, of an edge or the middle of a cell


@dataclass(frozen=True, slots=True)
class Cell:
    """Text between two gaps of a line; edges in points."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page in points, y upwards."""

    cells: tuple[Cell, ...]
    page: int
    left: float
    right: float
    bottom: float
    top: float
    size: float

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)


def layout(pages: Sequence[Sequence[Line]]) -> list[Item]:
    """Return headings and blocks in reading order; lines of a paragraph are parted by `\\n`."""
    lines = [line for page in pages for line in page]
    levels = _heading_levels(lines, _running_lines(pages))
    pitch = _pitch(pages)
    items: list[Item] = []
    for page in pages:
        for segment in _segments(page):
            items.extend(_segment_items(segment, levels, pitch))
    return _join_heading_lines(items)


def _running_lines(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    counts = Counter(text for page in pages if page for text in {page[0].text, page[-1].text})
    return frozenset(text for text, count in counts.items() if count >= max(3, 0.4 * len(pages)))


def _heading_levels(lines: Sequence[Line], running: frozenset[str]) -> dict[float, int]:
    """Return the heading level of each size that is one; empty where sizes are not clear."""
    weights: Counter[float] = Counter()
    for line in lines:
        weights[_rounded(line.size)] += len(line.text)
    if not weights:
        return {}
    body = weights.most_common(1)[0][0]
    large = [line for line in lines if _rounded(line.size) > body * _HEADING_RATIO]
    short = [line for line in large if _reads_as_heading(line) and line.text not in running]
    if sum(len(line.text) for line in short) > _MAX_HEADING_SHARE * weights.total():
        return {}
    sizes = sorted({_rounded(line.size) for line in short}, reverse=True)
    return {size: min(rank, _HEADING_LEVELS) for rank, size in enumerate(sizes, start=1)}


def _reads_as_heading(line: Line) -> bool:
    return (
        len(line.text) <= _MAX_HEADING
        and line.text.rstrip()[-1:] not in "。；，、,;" and any(c.isalpha() for c in line.text)
    )


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _pitch(pages: Sequence[Sequence[Line]]) -> float:
    """Return the usual distance between neighbouring lines, in points."""
    pairs = ((a, b) for page in pages for a, b in zip(page, page[1:], strict=False))
    steps = [above.bottom - below.bottom for above, below in pairs if above.bottom > below.top - 1]
    return statistics.median(steps) if steps else 0.0


def _segments(page: Sequence[Line]) -> Iterator[list[Line]]:
    """Part a page where the text jumps upwards: the next column begins."""
    segment: list[Line] = []
    for line in page:
        if segment and line.bottom > segment[-1].top:
            yield segment
            segment = []
        segment.append(line)
    if segment:
        yield segment


def _segment_items(lines: list[Line], levels: dict[float, int], pitch: float) -> Iterator[Item]:
    margins = _Margins(lines, pitch)
    paragraph: list[Line] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        table = _table_length(lines[position:])
        level = levels.get(_rounded(line.size)) if _reads_as_heading(line) else None
        numbered = numbered_heading(line.text) if margins.stands_alone(paragraph, line) else None
        if table or level is not None or numbered:
            yield from _blocks(paragraph)
            paragraph = []
        if table:
            rows = [[cell.text for cell in row.cells] for row in lines[position:position + table]]
            yield Block(table_text(rows), "table", line.page)
        elif level is not None:
            yield Heading(level, line.text, line.page)
        elif numbered:
            yield Heading(numbered[0] + _HEADING_LEVELS, numbered[1], line.page, numbered=True)
        else:
            if paragraph and not is_list_item(line.text) and margins.starts(paragraph, line):
                yield from _blocks(paragraph)
                paragraph = []
            paragraph.append(line)
        position += table or 1
    yield from _blocks(paragraph)


class _Margins:
    """The edges of a column, to tell where its paragraphs begin and end."""

    def __init__(self, lines: Sequence[Line], pitch: float) -> None:
        self._left = min(line.left for line in lines)
        if len(lines) > 3:  # a stray mark in the margin does not move the text's edge
            self._left = float(Counter(round(line.left) for line in lines).most_common(1)[0][0])
        self._right = max(line.right for line in lines)
        self._pitch = pitch
        # Quoted text is narrower on both sides: lines with the same left edge have their own right edge.
        edges: dict[int, list[float]] = {}
        for line in (line for line in lines if not is_list_item(line.text)):
            edges.setdefault(round(line.left), []).append(line.right)
        self._rights = {left: max(rights) for left, rights in edges.items() if len(rights) > 1}

    def starts(self, paragraph: Sequence[Line], line: Line) -> bool:
        """Tell whether a line begins a new paragraph after the lines gathered so far."""
        if not paragraph:
            return True
        last = paragraph[-1]
        if (
            self._is_short(last)
            or (self._pitch > 0 and last.bottom - line.bottom > _GAP * max(self._pitch, line.size))
            or abs(line.size - last.size) > 0.12 * last.size
        ):
            return True
        item = next((entry for entry in reversed(paragraph) if is_list_item(entry.text)), None)
        if item is not None and line.left > item.left + 0.5 * line.size:
            return False  # a hanging indent continues the item
        is_indented = line.left > self._left + _INDENT * line.size
        return is_indented and (line.left > last.left + 0.5 * line.size or ends_sentence(last.text))

    def stands_alone(self, paragraph: Sequence[Line], line: Line) -> bool:
        """Tell whether a line is a short one with a paragraph's or a sentence's end before it."""
        begins = self.starts(paragraph, line) or ends_sentence(paragraph[-1].text)
        return begins and line.right < self._right - _SHORT * line.size

    def _is_short(self, line: Line) -> bool:
        right = self._right if is_list_item(line.text) else self._rights.get(round(line.left), self._right)
        ragged = 0.1 * (right - self._left) if line.text[-1:].isascii() else 0.0
        return line.right < right - _SHORT * line.size - ragged


def _blocks(lines: Sequence[Line]) -> Iterator[Block]:
    """Yield a paragraph, or a list where item numbers begin its lines, or both."""
    first_item = next((i for i, line in enumerate(lines) if is_list_item(line.text)), len(lines))
    if first_item:
        yield Block("\n".join(line.text for line in lines[:first_item]), "paragraph", lines[0].page)
    entries: list[list[str]] = []
    for line in lines[first_item:]:
        if is_list_item(line.text):
            entries.append([])
        entries[-1].append(line.text)
    if entries:
        yield Block("\n".join(join_lines(entry) for entry in entries), "list", lines[first_item].page)


def _table_length(lines: Sequence[Line]) -> int:
    """Return how many of the first lines form a table; 0 where they are none."""
    columns = len(lines[0].cells)
    if columns < 2 or is_list_item(lines[0].text):
        return 0
    count = 1
    while count < len(lines) and _is_row_below(lines[count - 1], lines[count], is_header=count == 1):
        count += 1
    sentences = sum(ends_sentence(cell.text) for line in lines[:count] for cell in line.cells)
    return count if count >= _TABLE_LINES and sentences <= count else 0


def _is_row_below(above: Line, line: Line, is_header: bool) -> bool:
    if len(above.cells) != len(line.cells):
        return False
    pairs = zip(above.cells, line.cells, strict=True)
    if is_header:  # its names may stand centred over columns that begin at the left
        return all(a.left < b.right and b.left < a.right for a, b in pairs)
    near = _ALIGNED * line.size
    return all(
        min(abs(a.left - b.left), abs(a.right - b.right), abs(a.left + a.right - b.left - b.right) / 2) < near
        for a, b in pairs
    )


def _join_heading_lines(items: Sequence[Item]) -> list[Item]:
    """A title broken into two lines is one heading."""
    joined: list[Item] = []
    for item in items:
        last = joined[-1] if joined else None
        if (
            isinstance(item, Heading) and isinstance(last, Heading)
            and not item.numbered and not last.numbered
            and (item.level, item.page) == (last.level, last.page) and numbered_heading(item.text) is None
        ):
            joined[-1] = replace(last, text=join_lines([last.text, item.text]))
        else:
            joined.append(item)
    return joined
