"""Lines on pages become headings, paragraphs, lists and tables: those of text PDFs, of scans and of photos alike.

`layout` is the one way in. Steps:
1. Strokes that make a grid, or level rules with cells between them, are tables (ruled, level_rules).
2. The other lines come in reading order, column by column (columns).
3. The body size is the one most characters have; short lines clearly larger are headings, ranked by size.
   Lines that open or close many pages are running headers, not headings.
4. Lines whose cells stand below each other are a table (unruled); other lines form paragraphs and lists (paragraphs).
5. A table that goes on over a page break becomes one, a paragraph torn by a column's end as well (page_tables).
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nongda.documents.columns import Region, reading_order
from nongda.documents.grids import grid_blocks
from nongda.documents.lines import ends_sentence, is_list_item, join_lines, numbered_heading
from nongda.documents.outline import Heading, Item
from nongda.documents.page_lines import Cell, Line, Segment, Table
from nongda.documents.page_tables import PageItem, join_tables, running_lines
from nongda.documents.paragraphs import Margins, blocks
from nongda.documents.ruled import ruled_tables
from nongda.documents.unruled import is_caption, table_at
from nongda.intake import Block

__all__ = ["Cell", "Line", "Segment", "layout"]

_HEADING_RATIO = 1.15  # of the body size; emphasis within text stays under it
_READ_RATIO = 1.3  # sizes that recognition tells are rough
_MAX_HEADING = 60  # characters
_MAX_HEADING_SHARE = 0.3  # of all characters; beyond it sizes tell nothing
_HEADING_LEVELS = 3  # sizes kept apart
_TORN = 40  # characters of a paragraph that may go on in the next column


def layout(pages: Sequence[Sequence[Line]], segments: Sequence[Sequence[Segment]] = ()) -> list[Item]:
    """Return headings and blocks in reading order; lines of a paragraph are parted by `\\n`.

    `segments` are the strokes of each page, as many as there are pages, or none. The lines of a page may come in any order.
    A block's confidence is the least of its lines.
    """
    regions = [_regions(page, segments[number] if segments else ()) for number, page in enumerate(_steady(pages))]
    ordered = [[item for region in page for item in region.items if isinstance(item, Line)] for page in regions]
    levels = _heading_levels([line for page in ordered for line in page], _often_at_edges(ordered))
    pitch = _pitch(regions)
    items: list[PageItem] = []
    for page in regions:
        for region in page:
            found = list(_region_items(region, levels, pitch))
            _append(items, found, region)
    joined = join_tables(items, running_lines(ordered))
    return _join_heading_lines([part for item in joined for part in _blocks(item)])


def _blocks(item: PageItem) -> Sequence[Item]:
    if isinstance(item, Table):
        return grid_blocks(item.cells, item.header_rows, item.page, item.confidence)
    return [item]


def _regions(lines: Sequence[Line], segments: Sequence[Segment]) -> list[Region]:
    """Return a page's regions; text across the page's direction that stands in no cell comes last."""
    tables, rest = ruled_tables(lines, segments)
    regions = reading_order([line for line in rest if line.upright], tables)
    return regions + [Region((line,)) for line in rest if not line.upright]


def _steady(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Give lines that recognition read the usual size unless they are clearly larger or smaller."""
    read = [line.size for page in pages for line in page if line.confidence < 1]
    if not read:
        return [list(page) for page in pages]
    usual = statistics.median(read)
    return [[replace(line, size=usual) if line.confidence < 1 and usual / _READ_RATIO < line.size < usual * _READ_RATIO
             else line for line in page] for page in pages]


def _often_at_edges(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
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
        len(line.text) <= _MAX_HEADING and line.upright
        and line.text.rstrip()[-1:] not in "。；，、,;" and any(c.isalpha() for c in line.text)
    )


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _pitch(pages: Sequence[Sequence[Region]]) -> float:
    """Return the usual distance between neighbouring lines, in points."""
    columns = [[item for item in region.items if isinstance(item, Line)] for page in pages for region in page]
    pairs = ((a, b) for column in columns for a, b in zip(column, column[1:], strict=False))
    steps = [above.bottom - below.bottom for above, below in pairs if above.bottom > below.top - 1]
    return statistics.median(steps) if steps else 0.0


def _region_items(region: Region, levels: dict[float, int], pitch: float) -> Iterator[PageItem]:
    lines: list[Line] = []
    all_lines = [item for item in region.items if isinstance(item, Line)]
    margins = Margins(all_lines, pitch) if all_lines else None
    for item in region.items:
        if isinstance(item, Line):
            lines.append(item)
            continue
        if lines and margins:
            yield from _line_items(lines, margins, levels, has_table_below=True)
        lines = []
        yield item
    if lines and margins:
        yield from _line_items(lines, margins, levels, has_table_below=False)


def _line_items(lines: Sequence[Line], margins: Margins, levels: dict[float, int], has_table_below: bool
                ) -> Iterator[PageItem]:
    paragraph: list[Line] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        table = table_at(lines, position)
        is_last = position + 1 == len(lines)
        over_table = is_caption(line.text) and (
            has_table_below if is_last else table_at(lines, position + 1) is not None)
        special = table[0] if table else _heading(line, paragraph, margins, levels, over_table)
        if special is not None:
            yield from blocks(paragraph)
            paragraph = []
            yield special
        else:
            if paragraph and not is_list_item(line.text) and margins.starts(paragraph, line):
                yield from blocks(paragraph)
                paragraph = []
            paragraph.append(line)
        position += table[1] if table else 1
    yield from blocks(paragraph)


def _heading(line: Line, paragraph: Sequence[Line], margins: Margins, levels: dict[float, int], over_table: bool
             ) -> Item | None:
    """Return a line that stands for itself: a table's caption or a heading."""
    if over_table:
        return Block(line.text, "paragraph", line.page, confidence=line.confidence)
    if _reads_as_heading(line) and (level := levels.get(_rounded(line.size))) is not None:
        return Heading(level, line.text, line.page)
    numbered = numbered_heading(line.text) if margins.stands_alone(paragraph, line) else None
    return Heading(numbered[0] + _HEADING_LEVELS, numbered[1], line.page, numbered=True) if numbered else None


def _append(items: list[PageItem], found: Sequence[PageItem], region: Region) -> None:
    """Append a region's items; a paragraph that breaks off at a column's end goes on in the next one."""
    last, first = (items[-1] if items else None), (found[0] if found else None)
    if region.follows and _is_torn(last, first):
        assert isinstance(last, Block) and isinstance(first, Block)
        items[-1] = replace(last, text=f"{last.text}\n{first.text}", confidence=min(last.confidence, first.confidence))
        found = found[1:]
    items.extend(found)


def _is_torn(last: PageItem | None, first: PageItem | None) -> bool:
    return (
        isinstance(last, Block) and isinstance(first, Block) and last.kind == first.kind == "paragraph"
        and last.page == first.page and len(last.text) >= _TORN and not ends_sentence(last.text)
        and (len(first.text) >= _TORN or ends_sentence(first.text))
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
