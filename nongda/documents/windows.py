"""Windows of a fixed length over text, whatever it says: what chunks that keep meaning are compared with."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from nongda.documents.sentences import Unit, draft, text_of, units_of
from nongda.intake import Block, ChunkDraft
from nongda.settings import ChunkSettings


def windows(units: Sequence[Unit], heading: tuple[str, ...], length: int, overlap: int, reach: int) -> Iterator[ChunkDraft]:
    """Yield windows over the text; they begin and end at sentences where one is at most `reach` characters away."""
    text = text_of(units)
    ends = [end - len(units[0].glue) for end in accumulate(len(u.glue) + len(u.text) for u in units)]
    starts = [end - len(unit.text) for end, unit in zip(ends, units, strict=True)]
    start = 0
    while start < len(text):
        end = len(text)
        if start + length < len(text):
            end = max(start + 1, _snap(start + length, ends, reach))
        first = max(0, bisect_right(starts, start) - 1)
        last = bisect_right(starts, end - 1)
        if words := text[start:end].strip():
            yield draft(words, units[first:last], heading)
        following = _snap(end - overlap, starts, reach)
        start = following if end < len(text) and following > start else end


def document_windows(blocks: Sequence[Block], settings: ChunkSettings) -> list[ChunkDraft]:
    """Return windows over a whole document, its headings as lines of the text: "fixed" ones neither overlap nor snap."""
    units = units_of(list(_with_headings(blocks)), settings.max_sentence)
    fixed = settings.splitter == "fixed"
    overlap, reach = (0, 0) if fixed else (settings.window_overlap, settings.window_snap)
    return list(windows(units, (), settings.window, overlap, reach)) if units else []


def _with_headings(blocks: Iterable[Block]) -> Iterator[Block]:
    above: tuple[str, ...] = ()
    for block in blocks:
        same = 0
        while block.heading[: same + 1] == above[: same + 1] and same < min(len(above), len(block.heading)):
            same += 1
        yield from (Block(line, "paragraph", block.page) for line in block.heading[same:])
        above = block.heading
        yield block


def _snap(place: int, boundaries: Sequence[int], reach: int) -> int:
    """Return the boundary nearest to the place, or the place itself where none is within reach."""
    number = bisect_right(boundaries, place)
    nearest = min(boundaries[max(0, number - 1):number + 1], key=lambda boundary: abs(boundary - place))
    return nearest if abs(nearest - place) <= reach else place
