"""Blocks as units that are never cut: sentences, pieces of over-long sentences, list items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nongda.documents.bonds import concludes, is_heading_like, is_item_title, is_later_step, needs
from nongda.intake import Block, ChunkDraft
from nongda.language.text import clause_spans, sentence_spans
from nongda.records import BlockKind

_WORD_PART = re.compile(r"[0-9A-Za-z.%]")
_LONGEST_WORD = 20  # characters looked back for the beginning of a word or number


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of text; `glue` is the white space before it, `bound` says that it needs its predecessor.

    `step` says that it goes on with steps that stand before it: rather together, but not at all costs.
    """

    text: str
    glue: str
    page: int | None
    kind: BlockKind
    bound: bool
    confidence: float = 1.0
    step: bool = False


def units_of(blocks: Sequence[Block], max_sentence: int) -> list[Unit]:
    """Split blocks into units of at most `max_sentence` characters; nothing but white space is left out."""
    units: list[Unit] = []
    for block in blocks:
        end = None
        for start, stop in _spans(block.text, max_sentence):
            glue = "\n" if end is None else block.text[end:start]
            text = block.text[start:stop]
            begins_line = "\n" in glue
            bound = bool(units) and (needs(units[-1].text, text) or _is_title(units[-1], begins_line))
            step = bool(units) and begins_line and is_later_step(text)
            units.append(Unit(text, glue, block.page, block.kind, bound, block.confidence, step))
            end = stop
    return units


def _is_title(unit: Unit, line_ends: bool) -> bool:
    """Tell whether a unit says only what the next one is about: a heading above it or a title in its line."""
    if not line_ends:
        return is_item_title(unit.text)
    return unit.kind == "paragraph" and "\n" in unit.glue and is_heading_like(unit.text)


def text_of(units: Sequence[Unit]) -> str:
    """Return the units as the document has them, without the white space before the first."""
    return "".join(unit.glue + unit.text for unit in units)[len(units[0].glue):] if units else ""


def draft(text: str, units: Sequence[Unit], heading: tuple[str, ...]) -> ChunkDraft:
    """Return a chunk of these units: it begins on the page of the first and is as sure as the least sure of them."""
    kind: BlockKind = "list" if all(unit.kind == "list" for unit in units) else "paragraph"
    return ChunkDraft(text, kind, units[0].page, heading, min(unit.confidence for unit in units))


def _spans(text: str, limit: int) -> Iterator[tuple[int, int]]:
    for start, end in sentence_spans(text):
        if end - start <= limit:
            yield start, end
        else:
            yield from _clauses(text, start, end, limit)


def _clauses(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the clauses of a sentence, as many together as the limit allows."""
    first = last = start
    for left, right in _whole_clauses(text, start, end, limit):
        if right - first > limit and last > first:
            yield first, last
            first = left
        while right - first > limit:
            cut = _word_boundary(text, first, first + limit)
            yield first, cut
            first = cut
        last = right
    if last > first:
        yield first, last


def _whole_clauses(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Return the clauses of a sentence, what follows from something together with it where the limit allows."""
    found: list[tuple[int, int]] = []
    for left, right in ((start + a, start + b) for a, b in clause_spans(text[start:end])):
        if found and concludes(text[left:right]) and right - found[-1][0] <= limit:
            left = found.pop()[0]
        found.append((left, right))
    return found


def _word_boundary(text: str, first: int, cut: int) -> int:
    """Move a cut back out of a word or a number, unless that is longer than any word."""
    for place in range(cut, max(first, cut - _LONGEST_WORD), -1):
        if not (_WORD_PART.match(text[place - 1]) and _WORD_PART.match(text[place])):
            return place
    return cut
