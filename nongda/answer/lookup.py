"""Facts looked up become an answer: a small table in which each value is the document's own and cited.

list    one row a subject, the conditions as columns; what fits only in part, and what is not said, stands below
value   the sentences and rows whose condition holds the value; else the nearest ones, told to be so
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nongda.answer.amounts import NAMES
from nongda.answer.cite import marker
from nongda.answer.compose import Piece, cited
from nongda.answer.evidence import ScoredEvidence
from nongda.answer.fact_question import FactForms, FactQuestion, fact_question
from nongda.index.fact_search import (
    Condition,
    Found,
    Row,
    Search,
    conditions,
    same_crop,
    same_subject,
    search,
)
from nongda.index.facts import FactTable
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Evidence, Fact, Hit, Query

CandidateOf = Callable[[str], Candidate | None]
Allowed = Callable[[Fact], bool]
_MOST_ROWS, _MOST_NEAREST, _MOST_NAMES, _MOST_SENTENCES = 12, 3, 8, 4
_MOST_HITS = 50
_MISSING = "资料中没有写"
_BARE = re.compile(r"[\d.,～~—–\-至到约<>≤≥＜＞\s]+")
_WEIGHTS = {"subject": 3.0, "target": 2.0, "attribute": 2.0, "crop": 1.0}


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The answer of a fact question; `fits` says whether anything fits, or only the nearest is told."""

    pieces: tuple[Piece, ...]
    fits: bool


class _Quotes:
    """Facts as evidence; a fact whose passage is gone, or whose words are not there any more, is none."""

    def __init__(self, candidate_of: CandidateOf, lexicon: Lexicon, forms: re.Pattern[str]) -> None:
        self._candidate_of, self._lexicon, self._forms = candidate_of, lexicon, forms
        self._known: dict[Fact, ScoredEvidence | None] = {}

    def of(self, fact: Fact) -> ScoredEvidence | None:
        if fact not in self._known:
            self._known[fact] = _evidence(fact, self._candidate_of(fact.chunk_id))
        return self._known[fact]

    def text(self, fact: Fact) -> str:
        scored = self.of(fact)
        return scored.evidence.text if scored else ""

    def label(self, fact: Fact) -> str:
        """Return the product with its strength and form as the document writes it, "" where it has none."""
        text = self.text(fact)
        at = max(text.find(fact.value), 0)
        found = [m for m in self._forms.finditer(text)
                 if any(e.term == fact.subject for e in self._lexicon.entities(m.group()))]
        nearest = min(found, key=lambda m: (abs(at - m.end()), m.start()), default=None)
        return "".join(nearest.group().split()) if nearest else ""


def _evidence(fact: Fact, candidate: Candidate | None) -> ScoredEvidence | None:
    if candidate is None:
        return None
    text = candidate.chunk.text[fact.start : fact.end]
    if not text.strip():
        return None
    evidence = Evidence(fact.chunk_id, text, fact.start, fact.end)
    return ScoredEvidence(evidence, candidate, frozenset(), np.zeros(0, dtype=np.float32), 1.0)


def looked_up(question: FactQuestion, table: FactTable, candidate_of: CandidateOf, lexicon: Lexicon, forms: FactForms,
              allowed: Allowed = lambda fact: True) -> LookedUp | None:
    """Return the answer to a list or a value question; None where the table has nothing near, and for direct ones.

    `allowed` leaves out facts that must not be shown as advice, such as those of banned products.
    """
    quotes = _Quotes(candidate_of, lexicon, forms.product)

    def shown(fact: Fact) -> bool:
        return allowed(fact) and quotes.of(fact) is not None

    if question.form == "list" and question.wanted is not None:
        wanted = question.wanted
        kinds = {e.term: e.kind for fact in table.select("target <> ''") for e in lexicon.entities(fact.target)} if wanted.target else {}
        asked = Search(wanted.kind, question.constraints, question.targets, question.crops, question.within)
        found = search(asked, table, forms.reader, quotes.label,
                       lambda f: shown(f) and (not wanted.target or kinds.get(f.target) == wanted.target))
        return _listed(question, found, quotes, forms)
    return _at_value(question, table, quotes, forms, shown) if question.form == "value" else None


def _listed(question: FactQuestion, found: Found, quotes: _Quotes, forms: FactForms) -> LookedUp | None:
    if not (found.full or found.part or found.none or found.unknown) or question.wanted is None:
        return None
    name, asked = question.wanted.name, _asked_words(question)
    pieces: list[Piece] = []
    if found.full:
        pieces += [Piece(f"资料里{asked}的{name}有：\n"), _table(question, found.full[:_MOST_ROWS], quotes, forms)]
    else:
        pieces.append(Piece(f"资料里没有查到{asked}的{name}。\n"))
    if found.part:
        pieces.append(Piece("只有一部分符合（资料说法不一，或只在一部分范围里）：\n"))
        pieces.append(_table(question, found.part[:_MOST_ROWS], quotes, forms))
    if not found.full and found.none:
        pieces += [Piece("最接近、但不符合的：\n"), _table(question, found.none[:_MOST_NEAREST], quotes, forms)]
    if found.unknown:
        pieces.append(_unknown(question, found.unknown, quotes, forms))
    return LookedUp(tuple(pieces), bool(found.full))


def _asked_words(question: FactQuestion) -> str:
    parts = [*question.crops, *(f"“{c.words}”" for c in question.constraints), *(f"防{t}" for t in question.targets)]
    return "、".join(parts)


def _table(question: FactQuestion, rows: Sequence[Row], quotes: _Quotes, forms: FactForms) -> Piece:
    """A row a subject: its name, the conditions, the targets; a fact's words with its citation in each cell."""
    wanted = question.wanted.name if question.wanted else ""
    heads = [wanted, *(forms.reader.attributes[c.attribute].name for c in question.constraints)]
    heads += ["防治对象"] if question.targets else []
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    used: list[Fact] = []
    for row in rows:
        name = row.label or row.subject
        cells = [f"{name}（{row.crop}）" if row.crop and row.crop != row.subject else name]
        for facts in row.values:
            cells.append("；".join(dict.fromkeys(_said(f) + marker(f.chunk_id) for f in facts)) or _MISSING)
            used += facts
        if question.targets:
            first = [facts[0] for facts in row.targets]
            cells.append("；".join(dict.fromkeys(f.target + marker(f.chunk_id) for f in first)))
            used += first
        lines.append(f"| {' | '.join(cell.replace('|', '｜') for cell in cells)} |")
    return Piece("\n".join(lines) + "\n", _scored(used, quotes))


def _said(fact: Fact) -> str:
    """A fact's value as written, with its unit where this stands in a table's head, and what it holds for."""
    unit = ""
    if _BARE.fullmatch(fact.value) and fact.unit:
        above, slash, below = fact.unit.partition("/")
        unit = NAMES.get(above, above) + slash + NAMES.get(below, below)
    return fact.value.strip() + unit + (f"（{fact.condition}）" if fact.condition else "")


def _unknown(question: FactQuestion, rows: Sequence[Row], quotes: _Quotes, forms: FactForms) -> Piece:
    """Name what meets the targets and of which a condition is not said."""
    names = "、".join(forms.reader.attributes[c.attribute].name for c in question.constraints)
    facts = list({row.subject: row.targets[0][0] for row in reversed(rows)}.values())[::-1]
    named = "、".join(f.subject + marker(f.chunk_id) for f in facts[:_MOST_NAMES])
    more = "等" if len(facts) > _MOST_NAMES else ""
    return Piece(f"防{'、'.join(question.targets)}、但{_MISSING}{names}的：{named}{more}。\n", _scored(facts[:_MOST_NAMES], quotes))


def _scored(facts: Iterable[Fact], quotes: _Quotes) -> tuple[ScoredEvidence, ...]:
    found = {(s.evidence.chunk_id, s.evidence.start): s for f in facts if (s := quotes.of(f)) is not None}
    return tuple(found.values())


def _at_value(question: FactQuestion, table: FactTable, quotes: _Quotes, forms: FactForms, shown: Allowed) -> LookedUp | None:
    """Quote what the documents say of the value; where nothing does, the nearest, told to be so."""
    constraint = question.constraints[0]
    found = [c for c in conditions(constraint, table, forms.reader, quotes.text) if shown(c.fact) and _concerns(c.fact, question)]
    found = _of_material(found, question, quotes)
    full, near = _each_sentence(c for c in found if c.fit == "full"), _each_sentence(c for c in found if c.fit != "full")
    if full:
        lead = f"资料里说到“{constraint.words}”这种情况的：\n"
        return LookedUp((Piece(lead), *_sentences(full[:_MOST_SENTENCES], quotes)), True)
    if not near:
        return None
    lead = f"资料里没有正好说到“{constraint.words}”的，最接近的是：\n"
    return LookedUp((Piece(lead), *_sentences(near[:_MOST_NEAREST], quotes)), False)


def _concerns(fact: Fact, question: FactQuestion) -> bool:
    """Tell whether a fact is on the question's crop; without one, whether it is on no special crop."""
    if fact.kind in ("disease", "pest", "pathogen"):
        return False
    about = {name for name in (fact.crop, fact.subject if fact.kind == "crop" else "") if name}
    if not question.crops:
        return not about
    return not about or any(same_crop(name, crop) for name in about for crop in question.crops)


def _of_material(found: Sequence[Condition], question: FactQuestion, quotes: _Quotes) -> list[Condition]:
    """Keep what names the asked material (石灰), where anything does; else what is on the crop, where anything is."""
    named = [c for c in found if any(subject in quotes.text(c.fact) for subject in question.subjects)]
    on_crop = [c for c in found if c.fact.crop or c.fact.kind == "crop"]
    return named or (on_crop if question.crops else []) or list(found)


def _each_sentence(found: Iterable[Condition]) -> list[Condition]:
    return list({(c.fact.chunk_id, c.fact.start): c for c in reversed(list(found))}.values())[::-1]


def _sentences(found: Sequence[Condition], quotes: _Quotes) -> list[Piece]:
    scored = [s for c in found if (s := quotes.of(c.fact)) is not None]
    return [Piece(f"- {cited(s)}\n", (s,)) for s in scored]


def fact_hits(query: Query, table: FactTable, lexicon: Lexicon, forms: FactForms) -> list[Hit]:
    """Rank passages by how well their facts match the question's subject, target, crop and asked attributes.

    A fact counts that has an asked attribute and names the question's product, variety, disease or pest, or its crop
    where it names none of these. Empty where the question asks for no attribute or names nothing the table knows.
    """
    question = fact_question(query, lexicon, forms)
    attributes = forms.attributes(query.standalone)
    if question is None or not attributes:
        return []
    marks = ", ".join("?" * len(attributes))
    best: dict[str, float] = {}
    counts: Counter[str] = Counter()
    for fact in table.select(f"attribute IN ({marks})", list(attributes)):
        score = _match(fact, question)
        if score > 0:
            best[fact.chunk_id] = max(best.get(fact.chunk_id, 0.0), score)
            counts[fact.chunk_id] += 1
    ranked = sorted(best, key=lambda i: (-best[i], -counts[i], i))
    return [Hit(i, best[i]) for i in ranked[:_MOST_HITS]]


def _match(fact: Fact, question: FactQuestion) -> float:
    """Return how much of the question a fact matches, 0 where it is on another crop or on nothing that is named."""
    score = _WEIGHTS["attribute"]
    if question.crops and fact.crop:
        if not any(same_crop(fact.crop, crop) for crop in question.crops):
            return 0.0
        score += _WEIGHTS["crop"]
    subject = any(same_subject(fact.subject, name) for name in question.subjects)
    target = any(same_subject(name, asked) for name in (fact.target, fact.subject) for asked in question.targets)
    if question.subjects or question.targets:
        return score + _WEIGHTS["subject"] * subject + _WEIGHTS["target"] * target if subject or target else 0.0
    return score if question.crops and fact.crop else 0.0
