"""Chosen evidence becomes the answer's text; its form follows what was asked. Every sentence is a verbatim quote, cited.

fact        the value first where there is exactly one that fits, then the quote
how-to      numbered steps
comparison  a table of two columns
yes/no      the verdict, then the quotes that prove it
choice      the letter, then the quotes
diagnosis   the name first, then signs and what to do
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nongda.answer.asked import Asked, Asking, Facet
from nongda.answer.cite import marked
from nongda.answer.evidence import ScoredEvidence, headed_text
from nongda.answer.select import Chosen
from nongda.answer.verify import quoted

_DENIED = re.compile(r"不能|不可|不得|不要|不应|不宜|以外|除外|并非|不是")


@dataclass(frozen=True, slots=True)
class Piece:
    """The next words of the answer and the evidence they quote."""

    text: str
    quotes: tuple[ScoredEvidence, ...] = ()


def compose(asked: Asked, chosen: Sequence[Chosen], asking: Asking, lead: str = "",
            value_first: Callable[[ScoredEvidence], bool] = lambda scored: True) -> Iterator[Piece]:
    """Yield the answer's pieces; `lead` is a verdict or a letter with its words, decided before.

    `value_first` says whether the asked value may stand bold before a sentence: not after a sum or written ones, nor
    where the sentence is not of all that the question names. One that denies or excepts (不能, 以外) has none.
    """
    if lead:
        yield Piece(f"**{lead}**\n")
    if asked.kind == "comparison" and asked.sides and {0, 1} <= {one.facet for one in chosen}:
        yield _table(asked, chosen)
        chosen = [one for one in chosen if one.facet > 1]
    if asked.kind == "how_to" and len(chosen) > 1:
        for number, one in enumerate(chosen, start=1):
            yield Piece(f"{number}. {cited(one.scored)}\n", (one.scored,))
        return
    facet = -1
    for place, one in enumerate(chosen):
        new_line = "\n" if place and one.facet != facet else ""
        leads = _leads(asked, one, chosen, lead, facet) and value_first(one.scored)
        first = value_of(asked.facets[one.facet], one.scored, asking) if leads else ""
        facet = one.facet
        yield Piece(f"{new_line}{f'**{first}**：' if first else ''}{cited(one.scored)}", (one.scored,))


def _leads(asked: Asked, one: Chosen, chosen: Sequence[Chosen], lead: str, facet: int) -> bool:
    """Tell whether the value of a sentence goes first: of the likeliest of its facet, where it stands first."""
    mates = [other.scored.score for other in chosen if other.facet == one.facet]
    plain = not _DENIED.search(one.scored.evidence.text)
    return asked.kind == "fact" and not lead and one.facet != facet and one.scored.score >= max(mates) and plain


def cited(scored: ScoredEvidence) -> str:
    """Return evidence as a sentence with its citation before the full stop."""
    return marked(quoted(scored), scored.evidence.chunk_id)


def value_of(facet: Facet, scored: ScoredEvidence, asking: Asking) -> str:
    """Return the one quantity of the kind that was asked, as written; "" where there is none or more than one."""
    text = headed_text(scored.evidence, scored.candidate)
    found = asking.quantities(text, facet.values)
    return found[0] if len(found) == 1 else ""


def _table(asked: Asked, chosen: Sequence[Chosen]) -> Piece:
    """A table of two columns: the two things compared, under each what the documents say of it alone."""
    columns = [[_cell(one.scored) for one in chosen if one.facet == side] for side in (0, 1)]
    length = max(map(len, columns))
    rows = [[column[i] if i < len(column) else "" for column in columns] for i in range(length)]
    lines = [f"| {asked.sides[0]} | {asked.sides[1]} |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows)]
    return Piece("\n".join(lines) + "\n", tuple(one.scored for one in chosen if one.facet < 2))


def _cell(scored: ScoredEvidence) -> str:
    return cited(scored).replace("|", "｜")
