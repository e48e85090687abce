"""Facts as evidence: the words of the passage that a fact points to, and how a fact is said in a cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from nongda.answer.amounts import NAMES
from nongda.answer.evidence import ScoredEvidence
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Evidence, Fact

CandidateOf = Callable[[str], Candidate | None]
_BARE = re.compile(r"[\d.,～~—–\-至到约<>≤≥＜＞\s]+")
_UNITS = {**NAMES, "m": "米", "cm": "厘米", "mm": "毫米", "km": "公里", "h": "小时", "min": "分钟"}
_MOST_CONDITION = 12  # characters; longer ones are remarks, which the quote shows


class FactQuotes:
    """Facts as evidence; a fact whose passage is gone is none."""

    def __init__(self, candidate_of: CandidateOf, lexicon: Lexicon, product_form: re.Pattern[str]) -> None:
        self._candidate_of, self._lexicon, self._form = candidate_of, lexicon, product_form
        self._candidates: dict[str, Candidate | None] = {}

    def of(self, fact: Fact) -> ScoredEvidence | None:
        """Return the sentence or row that a fact points to."""
        candidate = self.candidate(fact)
        text = candidate.chunk.text[fact.start : fact.end] if candidate else ""
        if candidate is None or not text.strip():
            return None
        evidence = Evidence(fact.chunk_id, text, fact.start, fact.end)
        return ScoredEvidence(evidence, candidate, frozenset(), np.zeros(0, dtype=np.float32), 1.0)

    def candidate(self, fact: Fact) -> Candidate | None:
        """Return the fact's passage."""
        if fact.chunk_id not in self._candidates:
            self._candidates[fact.chunk_id] = self._candidate_of(fact.chunk_id)
        return self._candidates[fact.chunk_id]

    def text(self, fact: Fact) -> str:
        """Return the words that a fact points to, "" where they are gone."""
        candidate = self.candidate(fact)
        return candidate.chunk.text[fact.start : fact.end] if candidate else ""

    def headed(self, fact: Fact) -> str:
        """Return the words with the title and headings they stand under."""
        candidate = self.candidate(fact)
        return " ".join((candidate.document.meta.title, *candidate.chunk.heading, self.text(fact))) if candidate else ""

    def is_row(self, fact: Fact) -> bool:
        """Tell whether a fact comes from a table."""
        candidate = self.candidate(fact)
        return candidate is not None and candidate.chunk.kind == "table"

    def has_own_cell(self, fact: Fact) -> bool:
        """Tell whether the subject of a table's fact is a whole cell of its row or of the table's head."""
        candidate = self.candidate(fact)
        if candidate is None or fact.kind not in ("crop", "variety"):
            return False
        head = candidate.chunk.text.splitlines()[0]
        cells = [cell.strip() for cell in f"{head}|{self.text(fact)}".split("|")]
        return any(len(e.surface) == len(cell) and e.term == fact.subject for cell in cells if cell
                   for e in self._lexicon.entities(cell))

    def label(self, fact: Fact) -> str:
        """Return the product with its strength and form as the document writes it, "" where it has none."""
        text = self.text(fact)
        at = max(text.find(fact.value), 0)
        found = [(abs(at - m.end()), m.start(), name) for m in self._form.finditer(text) if (name := self._name(m, fact.subject))]
        return min(found)[2] if found else ""

    def _name(self, match: re.Match[str], subject: str) -> str:
        """Return a product as written, up to its form, or up to its name where no form follows; "" for another product."""
        words = match.group()
        entity = next((e for e in self._lexicon.entities(words) if e.term == subject), None)
        if entity is None:
            return ""
        name_end = words.lower().find(entity.surface) + len(entity.surface)
        return "".join((words if match["form"] else words[:name_end]).split())

    def scored(self, facts: Iterable[Fact]) -> tuple[ScoredEvidence, ...]:
        """Return what the facts point to, each sentence once."""
        found = {(s.evidence.chunk_id, s.evidence.start): s for f in facts if (s := self.of(f)) is not None}
        return tuple(found.values())

    def said(self, fact: Fact, name: re.Pattern[str]) -> str:
        """Return a fact's value as written, with its unit where that stands in a table's head, and what it holds for.

        `name` is how the attribute is called, which is nothing that the value holds for.
        """
        unit = ""
        if _BARE.fullmatch(fact.value) and fact.unit:
            above, slash, below = fact.unit.partition("/")
            unit = _UNITS.get(above, above) + slash + _UNITS.get(below, below)
        held = [held for part in fact.condition.split("；") if not name.search(part) and (held := self._held(fact, part))]
        return fact.value.strip() + unit + (f"（{'，'.join(dict.fromkeys(held))}）" if held else "")

    def _held(self, fact: Fact, part: str) -> str:
        """Return a part of a condition that is a short cell of the fact's own row and no name of product or crop."""
        row = self.text(fact)
        if not self.is_row(fact) or part not in row or len(part) > _MOST_CONDITION or part == fact.crop:
            return ""
        if any(e.term in (fact.subject, fact.target) for e in self._lexicon.entities(part)) or fact.value in part:
            return ""
        kind = re.fullmatch(r"[^（(]+[（(]([^（()）]+)[)）]", part)
        return kind[1] if kind and any(e.term == fact.crop for e in self._lexicon.entities(part)) else part
