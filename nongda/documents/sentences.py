"""Blocks as units that are never cut: sentences, pieces of over-long sentences, list items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nongda.intake import Block
from nongda.language.text import clause_spans, sentence_spans
from nongda.records import BlockKind

# A sentence that begins so cannot be understood without the one before it.
_CONNECTOR = re.compile(
    r"(?:其(?![他它余])|该|上述|以上|但|不过|然而|否则|此时|此后|因此|因而|所以|于是|这[些种样是一类]|这时|此[种类法]|"
    r"它|同时|而且|并且|前者|后者|反之)"
)
_WORD_PART = re.compile(r"[0-9A-Za-z.%]")
_LONGEST_WORD = 20  # characters looked back for the beginning of a word or number


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of text; `glue` is the white space before it, `bound` says that it needs its predecessor."""

    text: str
    glue: str
    page: int | None
    kind: BlockKind
    bound: bool


def units_of(blocks: Sequence[Block], max_sentence: int) -> list[Unit]:
    """Split blocks into units of at most `max_sentence` characters; nothing but white space is left out."""
    units: list[Unit] = []
    for block in blocks:
        end = None
        for start, stop in _spans(block.text, max_sentence):
            glue = "\n" if end is None else block.text[end:start]
            text = block.text[start:stop]
            leads_in = end is None and block.kind == "list" and units and units[-1].text.endswith(("：", ":"))
            bound = bool(units) and (bool(leads_in) or _CONNECTOR.match(text) is not None)
            units.append(Unit(text, glue, block.page, block.kind, bound))
            end = stop
    return units


def text_of(units: Sequence[Unit]) -> str:
    """Return the units as the document has them, without the white space before the first."""
    return "".join(unit.glue + unit.text for unit in units)[len(units[0].glue):] if units else ""


def _spans(text: str, limit: int) -> Iterator[tuple[int, int]]:
    for start, end in sentence_spans(text):
        if end - start <= limit:
            yield start, end
        else:
            yield from _clauses(text, start, end, limit)


def _clauses(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the clauses of a sentence, as many together as the limit allows."""
    first = last = start
    for left, right in ((start + a, start + b) for a, b in clause_spans(text[start:end])):
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


def _word_boundary(text: str, first: int, cut: int) -> int:
    """Move a cut back out of a word or a number, unless that is longer than any word."""
    for place in range(cut, max(first, cut - _LONGEST_WORD), -1):
        if not (_WORD_PART.match(text[place - 1]) and _WORD_PART.match(text[place])):
            return place
    return cut
