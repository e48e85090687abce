"""Semantic chunks: passages of a document that speak of one thing, in the document's own words.

Steps:
1. Blocks under the same headings are a section. A section too short to stand alone joins the next one under
   the same parent; both heading lines then stand in the text.
2. A table is a chunk of its own, under its caption; a long one is sliced by rows, the header repeated.
3. The rest of a section is split into sentences, over-long ones into clauses. Sentences that need their
   predecessor (其, 但, 因此; 则 after 若; a dose after its product; a list after its lead-in) form a group with it.
4. The sentences of the whole document are embedded in one call.
5. Walking over the groups, a new chunk starts where neighbouring sentences are less alike than the cut and
   the chunk is long enough, or where it would grow too long. A short tail joins its predecessor.
"adaptive" lets the density of numbers and names say in step 5 what is too long, and how much is repeated.
Without an embedder, windows of fixed length that end at sentence ends replace steps 4 and 5; "fixed" and "sliding"
are windows over the whole document instead of all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from nongda.documents.adaptive import Count, Limits, density, limits
from nongda.documents.sentences import Unit, draft, text_of, units_of
from nongda.documents.tables import slice_table
from nongda.documents.windows import document_windows, windows
from nongda.intake import Block, ChunkDraft
from nongda.settings import ChunkSettings

CHUNKER_VERSION = 2

Embed = Callable[[list[str]], NDArray[np.float32]]
_Fit = Callable[[int, int], Limits]  # of a run's units from the first to the one before the last
_TAIL_STRETCH = 1.25  # of max_length: what a chunk may reach when it takes in a short tail
_TABLE_WHOLE = 2  # of max_length: a table is more useful whole
_MAX_CAPTION = 100  # characters


@dataclass(frozen=True, slots=True)
class _Section:
    heading: tuple[str, ...]
    blocks: tuple[Block, ...]
    merged: bool = False

    @property
    def length(self) -> int:
        return sum(len(block.text) + 1 for block in self.blocks) - 1

    @property
    def has_table(self) -> bool:
        return any(block.kind == "table" for block in self.blocks)


@dataclass(frozen=True, slots=True)
class _Run:
    """Units between two tables or section borders; `whole` where there is nothing to cut."""

    heading: tuple[str, ...]
    units: list[Unit]
    fit: _Fit
    whole: bool


def chunk_blocks(blocks: Sequence[Block], settings: ChunkSettings, embed: Embed | None,
                 count: Count | None = None) -> list[ChunkDraft]:
    """Return the chunks of a document in reading order.

    `embed` maps n sentences to (n, dim) float32, L2-normalised; None means sliding windows. `count` says how many
    quantities and names a text holds, for "adaptive"; without it all text counts as thin.
    """
    if settings.splitter in ("fixed", "sliding"):
        return document_windows(blocks, settings)
    parts = [part for section in _sections(blocks, settings) for part in _parts(section, settings, count)]
    similarities = _similarities(parts, embed) if embed is not None else {}
    chunks: list[ChunkDraft] = []
    for number, part in enumerate(parts):
        if isinstance(part, ChunkDraft):
            chunks.append(part)
        elif part.whole:
            chunks.append(draft(text_of(part.units), part.units, part.heading))
        elif embed is None:
            chunks.extend(windows(part.units, part.heading, settings.window, settings.window_overlap,
                                  settings.window_snap))
        else:
            chunks.extend(_semantic(part, similarities[number], settings))
    return chunks


def _sections(blocks: Sequence[Block], settings: ChunkSettings) -> list[_Section]:
    sections: list[_Section] = []
    for heading, group in groupby((b for b in blocks if b.text.strip()), key=lambda block: block.heading):
        section = _Section(heading, tuple(group))
        if not sections or sections[-1].length >= settings.min_length:
            sections.append(section)
        elif joined := _joined(sections[-1], section, settings.max_length):
            sections[-1] = joined
        else:
            _join_backwards(sections, settings)
            sections.append(section)
    _join_backwards(sections, settings)
    return sections


def _join_backwards(sections: list[_Section], settings: ChunkSettings) -> None:
    """Let a last section that is short and found no successor join its predecessor, if that was joined too."""
    if len(sections) > 1 and sections[-1].length < settings.min_length and sections[-2].merged:
        joined = _joined(sections[-2], sections[-1], settings.max_length)
        if joined is not None:
            sections[-2:] = [joined]


def _joined(last: _Section, section: _Section, max_length: int) -> _Section | None:
    """Return both sections as one, or None where they do not belong together or grow too long."""
    if last.has_table or section.has_table or section.merged or not section.heading:
        return None
    parent = section.heading[:-1]
    # The text before a document's first heading stays apart: it speaks of the whole document.
    is_intro = last.heading == parent and (last.merged or parent != ())
    if not is_intro and (last.merged or not last.heading or last.heading[:-1] != parent):
        return None
    first = last.blocks if is_intro else (_heading_line(last), *last.blocks)
    joined = _Section(parent, (*first, _heading_line(section), *section.blocks), merged=True)
    return joined if joined.length <= max_length else None


def _heading_line(section: _Section) -> Block:
    return Block(section.heading[-1], "paragraph", section.blocks[0].page)


def _parts(section: _Section, settings: ChunkSettings, count: Count | None) -> Iterator[_Run | ChunkDraft]:
    """Yield the tables of a section as chunks and the text between them as runs."""
    text: list[Block] = []
    for block in section.blocks:
        if block.kind != "table":
            text.append(block)
            continue
        caption = text.pop() if text and _is_caption(text[-1]) else None
        yield from _run(section, text, settings, count)
        text = []
        whole = _TABLE_WHOLE * settings.max_length
        page = caption.page if caption is not None else block.page
        confidence = min(block.confidence, caption.confidence if caption is not None else 1.0)
        for piece in slice_table(block.text, caption.text if caption else "", whole, settings.max_length):
            yield ChunkDraft(piece, "table", page, section.heading, confidence)
    yield from _run(section, text, settings, count)


def _is_caption(block: Block) -> bool:
    text = block.text.strip()
    return (
        block.kind == "paragraph" and len(text) <= _MAX_CAPTION and "\n" not in text
        and (text.startswith(("表", "附表", "续表")) or text.endswith(("：", ":")) or "下表" in text)
    )


def _run(section: _Section, blocks: Sequence[Block], settings: ChunkSettings, count: Count | None) -> Iterator[_Run]:
    units = units_of(blocks, settings.max_sentence)
    if units:
        fit = _fit(units, settings, count)
        length = len(text_of(units))
        # Under two minimum lengths any cut would leave a tail that joins again.
        is_short = length < 2 * fit(0, len(units)).min_length
        yield _Run(section.heading, units, fit, length <= settings.max_length and (section.merged or is_short))


def _similarities(parts: Sequence[_Run | ChunkDraft], embed: Embed) -> dict[int, NDArray[np.float32]]:
    """Return per part (by its number) the cosine of each unit with the next one, shape (n - 1,)."""
    runs = {n: part for n, part in enumerate(parts) if isinstance(part, _Run) and not part.whole}
    if not runs:
        return {}
    vectors = embed([unit.text for run in runs.values() for unit in run.units])
    ends = list(accumulate(len(run.units) for run in runs.values()))
    result = {}
    for (number, run), end in zip(runs.items(), ends, strict=True):
        own = vectors[end - len(run.units):end]
        result[number] = np.einsum("ij,ij->i", own[:-1], own[1:])
    return result


def _fit(units: Sequence[Unit], settings: ChunkSettings, count: Count | None) -> _Fit:
    """Return what tells the limits of a chunk of some of the units."""
    if settings.splitter != "adaptive":
        same = Limits(settings.min_length, settings.max_length, settings.overlap)
        return lambda first, end: same
    counts = [count(unit.text) if count is not None else 0 for unit in units]
    return lambda first, end: limits(density(sum(counts[first:end]), len(text_of(units[first:end]))), settings)


def _semantic(run: _Run, similarity: NDArray[np.float32], settings: ChunkSettings) -> Iterator[ChunkDraft]:
    for start, end in pairwise(_borders(run, similarity, settings)):
        units = run.units[_overlap_start(run.units, start, run.fit(start, end).overlap):end]
        yield draft(text_of(units), units, run.heading)


def _borders(run: _Run, similarity: NDArray[np.float32], settings: ChunkSettings) -> list[int]:
    """Return the unit numbers at which chunks begin, and the end of the last one."""
    units, fit = run.units, run.fit
    whole = fit(0, len(units))
    borders = [0]
    for first, end in pairwise(_groups(units, whole.max_length - whole.min_length)):
        if first == 0:
            continue
        is_long_enough = len(text_of(units[borders[-1]:first])) >= fit(borders[-1], first).min_length
        is_full = len(text_of(units[borders[-1]:end])) > fit(borders[-1], end).max_length
        if is_full or (is_long_enough and similarity[first - 1] < settings.similarity_cut):
            borders.append(first)
    if len(borders) > 1:
        tail = len(text_of(units[borders[-1]:]))
        stretched = len(text_of(units[borders[-2]:]))
        both = fit(borders[-2], len(units))
        if tail < both.min_length and stretched <= _TAIL_STRETCH * both.max_length:
            borders.pop()
    return [*borders, len(units)]


def _groups(units: Sequence[Unit], limit: int) -> list[int]:
    """Return where groups of sentences that need each other begin, and the number of units.

    A group that would be too long ends before the last of its units that does not need its predecessor.
    """
    starts, loose = [0], 0
    for number in range(1, len(units)):
        needed = units[number].bound or units[number].step
        if not units[number].bound:
            loose = number
        if needed and loose > starts[-1] and len(text_of(units[starts[-1]:number + 1])) > limit:
            starts.append(loose)
        if number > starts[-1] and not (needed and len(text_of(units[starts[-1]:number + 1])) <= limit):
            starts.append(number)
    return [*starts, len(units)]


def _overlap_start(units: Sequence[Unit], start: int, overlap: int) -> int:
    """Return the first unit that is repeated: whole sentences, none that needs one which is not."""
    first = start
    while first > 0 and len(text_of(units[first - 1:start])) <= overlap:
        first -= 1
    while 0 < first < start and (units[first].bound or units[first].step):
        first += 1
    return first
