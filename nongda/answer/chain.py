"""The chain from symptom to interval: a question that asks several of its links is answered by a small table.

Each link that the question asks is filled with the sentences chosen for it, word for word and cited. A link that is asked
and not found is said to be missing; nothing is put in its place.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nongda.answer.asked import Asked, Asking
from nongda.answer.compose import Piece, cited
from nongda.answer.evidence import headed_text, heading_of
from nongda.answer.select import Chosen
from nongda.errors import SettingsError
from nongda.index.families import PROBLEM_KINDS, is_same_problem
from nongda.language.lexicon import Lexicon
from nongda.language.text import any_of
from nongda.records import Entity, Fact, Query

_LEAST_LINKS = 2  # asked links that make a chain
CAUSE, _METHOD = "cause", "method"
_CLAUSE = re.compile(r"[，；。：;]")


@dataclass(frozen=True, slots=True)
class Link:
    """One step of the chain: how questions ask it, which attributes of facts fill it, and what a filling must name.

    `kinds` are kinds of the lexicon of which the sentence or its heading names one, unless it `says` one by its class.
    """

    key: str
    name: str
    asks: re.Pattern[str]
    attributes: frozenset[str]
    kinds: frozenset[str] = frozenset()
    says: re.Pattern[str] | None = None


def _link(table: Mapping[str, Any]) -> Link:
    says = any_of(table["says"]) if "says" in table else None
    return Link(str(table["key"]), str(table["name"]), any_of(table["asks"]), frozenset(map(str, table["attributes"])),
                frozenset(map(str, table.get("kinds", ()))), says)


@dataclass(frozen=True, slots=True)
class Schema:
    """The chain's links in order, with the words of its table."""

    links: tuple[Link, ...]
    head: tuple[str, str]
    missing: str

    @classmethod
    def load(cls, path: Path) -> Schema:
        """Read chain.toml. Raises SettingsError that names the file."""
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            links = tuple(_link(table) for table in data["links"])
            first, second = map(str, data["head"])
            return cls(links, (first, second), str(data["missing"]))
        except (OSError, ValueError, KeyError, TypeError, re.error) as error:
            raise SettingsError(f"诊治链文件 {path} 无法读取（{error}）：请恢复该文件") from error

    def links_of(self, asked: Asked, about_problem: bool) -> tuple[Link | None, ...]:
        """Return the link that each facet asks, in the facets' order; () where the question asks no chain.

        A chain has at least two different links (做法 alone counts for none) and a disease or pest: one that is asked
        for, or one the question names (`about_problem`).
        """
        found = tuple(self._link(facet.text) for facet in asked.facets)
        keys = {link.key for link in found if link}
        if len(keys - {_METHOD}) < 1 or len(keys) < _LEAST_LINKS or not (about_problem or CAUSE in keys):
            return ()
        return found

    def attributes_of(self, text: str) -> frozenset[str]:
        """Return the attributes of facts that fill the link a text asks; none where it asks no link."""
        link = self._link(text)
        return link.attributes if link else frozenset()

    def _link(self, text: str) -> Link | None:
        return next((link for link in self.links if link.asks.search(text)), None)


def cause_of(links: Sequence[Link | None], chosen: Sequence[Chosen], query: Query, lexicon: Lexicon) -> Entity | None:
    """Return the disease or pest that the likeliest sentence for the cause names; None where it is not one alone.

    Of several in one sentence (条锈病沿叶脉排成行，叶锈病乱散) that of the clause which shares most words with the question.
    Where the question names a disease or pest itself, only a kind of it (条锈病 for 锈病) is news.
    """
    causes = [place for place, link in enumerate(links) if link and link.key == CAUSE]
    own = [one for one in chosen if one.facet in causes]
    if not own:
        return None
    best = max(own, key=lambda one: one.scored.score).scored
    text = headed_text(best.evidence, best.candidate)
    named = _problems(text, lexicon)
    if len(named) > 1:
        asked = frozenset(query.tokens)
        shares = sorted(((len(asked & set(lexicon.tokens(clause))), clause) for clause in _CLAUSE.split(text)), reverse=True)
        first, second = (*shares, (0, ""))[:2]
        named = _problems(first[1], lexicon) if first[0] > second[0] else named
    if not named:
        named = _problems(heading_of(best.evidence, best.candidate), lexicon)
    cause = named[0] if len(named) == 1 else None
    given = [e.term for e in query.entities if e.kind in PROBLEM_KINDS]
    is_news = cause and cause.term not in given and (not given or any(is_same_problem(cause.term, term) for term in given))
    return cause if is_news else None


def _problems(text: str, lexicon: Lexicon) -> list[Entity]:
    return [e for e in lexicon.entities(text) if e.kind in PROBLEM_KINDS]


def second_hop(query: Query, links: Sequence[Link | None], cause: Entity) -> Query:
    """Return the query with the cause put before each part that asks something else."""
    parts = tuple(part if link and link.key == CAUSE or cause.term in part else f"{cause.term}，{part}"
                  for part, link in zip(query.parts, links, strict=True))
    return replace(query, parts=parts)


@dataclass(frozen=True, slots=True)
class Row:
    """A link of the chain with the sentences that fill it; none: the documents do not say it."""

    link: Link
    chosen: tuple[Chosen, ...]


def rows_of(schema: Schema, links: Sequence[Link | None], asked: Asked, chosen: Sequence[Chosen], asking: Asking,
            facts: Mapping[tuple[str, int], Sequence[Fact]], lexicon: Lexicon) -> tuple[list[Row], list[Chosen]]:
    """Return the chain's rows in its order, and the sentences that stand outside it.

    A sentence fills a link when it holds the kind of value that its facet asks, or a fact of the link's attributes; where
    none of a facet's does, the link is missing. `facts` are by chunk id and start of the sentence.
    """
    rows: dict[str, Row] = {}
    outside = [one for one in chosen if one.facet >= len(links) or links[one.facet] is None]
    for facet, link in enumerate(links):
        if link is None:
            continue
        own = tuple(one for one in chosen if one.facet == facet)
        filled = any(_fills(one, link, asked.facets[facet].values, asking, facts, lexicon) for one in own)
        before = rows[link.key].chosen if link.key in rows else ()
        rows[link.key] = Row(link, (*before, *own) if filled else before)
    return [rows[link.key] for link in schema.links if link.key in rows], outside


def _fills(one: Chosen, link: Link, values: frozenset[str], asking: Asking,
           facts: Mapping[tuple[str, int], Sequence[Fact]], lexicon: Lexicon) -> bool:
    evidence = one.scored.evidence
    near = f"{heading_of(evidence, one.scored.candidate)}：{headed_text(evidence, one.scored.candidate)}"
    by_class = link.says is not None and link.says.search(near)
    if link.kinds and not by_class and not any(e.kind in link.kinds for e in lexicon.entities(near)):
        return False
    held = {fact.attribute for fact in facts.get((evidence.chunk_id, evidence.start), ())}
    if not values or held & link.attributes or link.key in (CAUSE, _METHOD):
        return True
    text = headed_text(evidence, one.scored.candidate)
    units = frozenset(q.unit for q in asking.units_of(text) if q.unit)
    return bool(asking.held(text, values, units, frozenset())) or "name" in values


def table(schema: Schema, rows: Sequence[Row], cause: str) -> Piece:
    """Return the chain as a table of two columns; `cause` is the name of the disease or pest, "" where unsure."""
    lines = [f"| {schema.head[0]} | {schema.head[1]} |", "| --- | --- |"]
    for row in rows:
        cells = [cited(one.scored).replace("|", "｜") for one in row.chosen]
        if cells and row.link.key == CAUSE and cause:
            cells[0] = f"**{cause}**：{cells[0]}"
        lines.append(f"| {row.link.name} | {''.join(cells) or schema.missing} |")
    return Piece("\n".join(lines) + "\n", tuple(one.scored for row in rows for one in row.chosen))
