"""Tables without rules: lines whose cells stand below each other."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence

from nongda.documents.lines import ends_sentence, is_list_item, numbered_heading
from nongda.documents.page_lines import Cell, Line, Table
from nongda.documents.text_grid import Span, TextGrid, assigned, columns_of, text_grid, touched

_TABLE_LINES = 3
_CAPTIONED_LINES = 2
_ALIGNED = 0.6  # in font sizes, of an edge or the middle of a cell
_MOST_ALIGNED = 0.75  # of the cells of a column
_LABEL = 12  # characters: at least one column of a table has cells no longer
_APART = 1.8  # in font sizes between rows
_SETTLED = 5  # lines after which no line may join columns
_TRIES = 12  # lines that may turn out to stand behind the table
_SIZES = 0.25  # by which the font sizes of one table may differ
_CAPTION = re.compile(r"(?:附|续)?表\s*(?:[\d一二三四五六七八九十]+|[：:\s]|$)")
_NOTE = re.compile(r"(?:注|备注|说明|资料来源|数据来源)\s*\d*[:：]")
_LEADERS = re.compile(r"(?:[.．·…]\s?){5}|…{2}")  # of a table of contents
_MARKER = re.compile(r"[（(]?(?:[A-Za-z]|\d{1,2}|[一二三四五六七八九十]{1,3})[)）.．、]|[①-⑳•●○■□◆◇▪▶➢*–—-]")
_MAX_CAPTION = 60  # characters


def is_caption(text: str) -> bool:
    """Tell whether a line reads as a table's caption (表1 …)."""
    return len(text) <= _MAX_CAPTION and _CAPTION.match(text) is not None and not ends_sentence(text)


def table_at(lines: Sequence[Line], position: int) -> tuple[Table, int] | None:
    """Return the table that begins with that line and how many lines it takes; None where none does."""
    line = lines[position]
    if is_list_item(line.text) or numbered_heading(line.text) or is_caption(line.text) or _LEADERS.search(line.text) or (
            len(line.cells) < 2 and not _stands_over(lines[position:position + 3])):
        return None
    has_caption = position > 0 and is_caption(lines[position - 1].text)
    count = _length(lines, position)
    least = _CAPTIONED_LINES if has_caption else _TABLE_LINES
    for shorter in range(count, max(least, count - _TRIES) - 1, -1):
        run = lines[position:position + shorter]
        grid = text_grid(run)
        if grid is not None and _is_table(run, grid, least):
            return _table(run, grid), shorter
    return None


def _stands_over(lines: Sequence[Line]) -> bool:
    """Tell whether a line is the outer name of columns named below, the first column aside."""
    line = lines[0]
    return any(
        len(below.cells) > 2 and line.left > below.cells[0].right + line.size and line.right < below.right + line.size
        and line.bottom - below.top < line.size for below in lines[1:])


def _length(lines: Sequence[Line], position: int) -> int:
    """Return how many lines from there on keep the gaps between their columns."""
    columns = 0
    count = 1 if len(lines[position].cells) > 1 else 2
    while position + count < len(lines):
        line, above = lines[position + count], lines[position + count - 1]
        if _ends(line, above):
            break
        found = len(columns_of(lines[position:position + count + 1])[0])
        if found < max(2, columns if count > _SETTLED else 2):
            break
        if len(line.cells) == 1 and not _stands_in_column(lines, position, count):
            break
        columns = found
        count += 1
    while count > 1 and len(lines[position + count - 1].cells) == 1 and not _is_rest(
            lines[position + count - 2], lines[position + count - 1], columns_of(lines[position:position + count])[0]):
        count -= 1
    return count


def _ends(line: Line, above: Line) -> bool:
    return (
        above.bottom - line.top > _APART * line.size or abs(line.size - above.size) > _SIZES * above.size
        or is_caption(line.text) or _NOTE.match(line.text) is not None or _LEADERS.search(line.text) is not None
        or (len(line.cells) == 1 and (is_list_item(line.text) or numbered_heading(line.text) is not None))
    )


def _stands_in_column(lines: Sequence[Line], position: int, count: int) -> bool:
    columns = columns_of(lines[position:position + count])[0]
    return len(touched(lines[position + count].cells[0], columns)) == 1 if columns else False


def _is_rest(above: Line, line: Line, columns: Sequence[Span]) -> bool:
    """Tell whether the last line of a table is the rest of a cell and not text that follows."""
    return bool(columns) and touched(line.cells[0], columns) != [0]


def _is_table(run: Sequence[Line], grid: TextGrid, least: int) -> bool:
    if sum(len(line.cells) > 1 for line in run) < least:
        return False
    cells: list[list[Cell]] = [[] for _ in grid.columns]
    for line in run[max(1, grid.header_lines):]:
        for cell, (first, last) in zip(line.cells, assigned(line, grid.columns), strict=True):
            if first == last:
                cells[first].append(cell)
    filled = [column for column in cells if column]
    sentences = sum(ends_sentence(cell.text) for line in run for cell in line.cells)
    labels = any(statistics.median(len(cell.text) for cell in column) <= _LABEL for column in filled)
    markers = sum(_MARKER.fullmatch(cell.text) is not None for cell in cells[0])
    return len(filled) > 1 and labels and sentences <= len(run) and markers <= 0.5 * len(cells[0]) and all(
        _is_aligned(column, run[0].size) for column in filled)


def _is_aligned(cells: Sequence[Cell], size: float) -> bool:
    """Tell whether cells share their left edge, their right edge or their middle."""
    def share(places: Sequence[float]) -> float:
        return max(sum(abs(place - other) < _ALIGNED * size for other in places) for place in places) / len(places)

    return max(share([c.left for c in cells]), share([c.right for c in cells]),
               share([(c.left + c.right) / 2 for c in cells])) >= _MOST_ALIGNED


def _table(run: Sequence[Line], grid: TextGrid) -> Table:
    left, right = min(line.left for line in run), max(line.right for line in run)
    inner = [(a[1] + b[0]) / 2 for a, b in zip(grid.columns, grid.columns[1:], strict=False)]
    return Table(grid.cells, grid.header_rows, (left, *inner, right), run[0].page, left, right,
                 min(line.bottom for line in run), run[0].top, min(line.confidence for line in run), is_ruled=False)
