"""Facts looked up become an answer: a small table in which each value is the document's own and cited.

list    one row a subject, the conditions as columns; what fits only in part, and what is not said, stands below
value   see `lookup_value`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nongda.answer.cite import marker
from nongda.answer.compose import Piece
from nongda.answer.fact_question import FactForms, FactQuestion, fact_question
from nongda.answer.fact_quotes import CandidateOf, FactQuotes
from nongda.answer.lookup_value import at_value, suits
from nongda.index.fact_search import Found, Row, Search, fit_of, same_crop, same_subject, search
from nongda.index.facts import FactTable
from nongda.language.lexicon import Lexicon
from nongda.records import Fact, Hit, Query

Allowed = Callable[[Fact], bool]
_MOST_ROWS, _MOST_PARTLY, _MOST_NEAREST, _MOST_NAMES = 12, 5, 3, 8
_MOST_HITS = 50
_MISSING = "资料里没有查到"
_PARTLY = "只有一部分符合（资料说法不一，或只在一部分范围里）：\n\n"
_WEIGHTS = {"subject": 3.0, "value": 2.0, "target": 2.0, "attribute": 2.0, "crop": 1.0}


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The answer of a fact question; `fits` says whether anything fits, or only the nearest is told."""

    pieces: tuple[Piece, ...]
    fits: bool


def looked_up(question: FactQuestion, table: FactTable, candidate_of: CandidateOf, lexicon: Lexicon, forms: FactForms,
              allowed: Allowed = lambda fact: True) -> LookedUp | None:
    """Return the answer to a list or a value question; None where the table has nothing near, and for direct ones.

    `allowed` leaves out facts that must not be shown as advice, such as those of banned products.
    """
    quotes = FactQuotes(candidate_of, lexicon, forms.product)

    def shown(fact: Fact) -> bool:
        return allowed(fact) and quotes.of(fact) is not None

    if question.form == "list":
        return _list(question, table, quotes, lexicon, forms, shown)
    told = at_value(question, table, quotes, forms, shown) if question.form == "value" else None
    return LookedUp(*told) if told else None


def _list(question: FactQuestion, table: FactTable, quotes: FactQuotes, lexicon: Lexicon, forms: FactForms,
          shown: Allowed) -> LookedUp | None:
    wanted = question.wanted
    if wanted is None:
        return None
    against = _against(table, wanted.target, lexicon) if wanted.target else None

    def serves(fact: Fact) -> bool:
        return shown(fact) and (against is None or fact.subject in against) and (
            wanted.kind == "product" or suits(fact, quotes, forms))

    asked = Search(wanted.kind, question.constraints, question.targets, question.crops, question.within)
    found = search(asked, table, forms.reader, quotes.label, serves)
    if found.is_empty and wanted.kind == "variety" and question.crops:  # what is said of the kinds of a crop
        found = search(replace(asked, kind="crop"), table, forms.reader, quotes.label, serves)
        told = _listed(question, "种类", found, quotes, forms)
        return told and LookedUp((Piece(f"{_MISSING}各品种的数，下面是按作物种类写的。\n\n"), *told.pieces), told.fits)
    return _listed(question, wanted.name, found, quotes, forms)


def _against(table: FactTable, kind: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the products that more facts name against diseases, or pests, than against anything else."""
    facts = table.select("target <> '' AND kind = 'product'")
    kinds = {target: {e.kind for e in lexicon.entities(target)} for target in {f.target for f in facts}}
    named = Counter(f.subject for f in facts)
    against = Counter(f.subject for f in facts if kind in kinds[f.target])
    return frozenset(subject for subject, count in against.items() if 2 * count > named[subject])


def _listed(question: FactQuestion, name: str, found: Found, quotes: FactQuotes, forms: FactForms) -> LookedUp | None:
    if found.is_empty:
        return None
    asked = _asked_words(question)
    pieces = [Piece(f"资料里{asked}的{name}有：\n\n") if found.full else Piece(f"资料里没有查到{asked}的{name}。\n\n")]
    nearest = () if found.full else found.none
    for lead, rows, most in (("", found.full, _MOST_ROWS), (_PARTLY, found.part, _MOST_PARTLY),
                             ("最接近、但不符合的：\n\n", nearest, _MOST_NEAREST),
                             ("单位不同、不能比较的：\n\n", found.other, _MOST_NEAREST)):
        if rows:
            pieces += [Piece(lead), _table(question, name, rows[:most], quotes, forms)]
            if len(rows) > most and rows is not nearest:
                pieces.append(Piece(f"另有{len(rows) - most}行没有列出。\n\n"))
    if found.unknown:
        pieces.append(_unknown(question, found.unknown, quotes, forms))
    return LookedUp(tuple(p for p in pieces if p.text), bool(found.full))


def _asked_words(question: FactQuestion) -> str:
    crop = f"{'、'.join(question.crops)}上" if question.crops and question.wanted and question.wanted.kind == "product" else ""
    targets = f"能防{'、'.join(question.targets)}、" if question.targets else ""
    return f"{crop}{targets}符合{'、'.join(f'“{c.words}”' for c in question.constraints)}"


def _table(question: FactQuestion, wanted: str, rows: Sequence[Row], quotes: FactQuotes, forms: FactForms) -> Piece:
    """A row a subject: its name, the conditions, the targets; a fact's words with its citation in each cell."""
    heads = [wanted, *(forms.reader.attributes[c.attribute].name for c in question.constraints)]
    heads += ["防治对象"] if question.targets else []
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    used: list[Fact] = []
    for row in rows:
        name = row.label or row.subject
        cells = [f"{name}（{row.crop}）" if row.crop and row.crop != row.subject else name]
        for constraint, facts in zip(question.constraints, row.values, strict=True):
            called = forms.reader.attributes[constraint.attribute].words
            cells.append("；".join(dict.fromkeys(quotes.said(f, called) + marker(f.chunk_id) for f in facts)) or _MISSING)
            used += facts
        if question.targets:
            first = [facts[0] for facts in row.targets]
            cells.append("；".join(dict.fromkeys(f.target + marker(f.chunk_id) for f in first)))
            used += first
        lines.append(f"| {' | '.join(cell.replace('|', '｜') for cell in cells)} |")
    return Piece("\n".join(lines) + "\n\n", quotes.scored(used))


def _unknown(question: FactQuestion, rows: Sequence[Row], quotes: FactQuotes, forms: FactForms) -> Piece:
    """Name what meets the targets and of which a condition is not said."""
    names = "、".join(forms.reader.attributes[c.attribute].name for c in question.constraints)
    facts = [row.targets[0][0] for place, row in enumerate(rows) if row.subject not in {r.subject for r in rows[:place]}]
    named = "、".join(f.subject + marker(f.chunk_id) for f in facts[:_MOST_NAMES])
    more = "等" if len(facts) > _MOST_NAMES else ""
    return Piece(f"防{'、'.join(question.targets)}、但{_MISSING}{names}的：{named}{more}。\n\n", quotes.scored(facts[:_MOST_NAMES]))


def fact_hits(query: Query, table: FactTable, lexicon: Lexicon, forms: FactForms) -> list[Hit]:
    """Rank passages by how well their facts match the question's subject, target, crop and asked attributes.

    A fact counts that has an asked attribute and is on the question's product or variety, else on its disease or pest;
    the crop alone says too little. Empty where the question asks for no attribute or names nothing the table knows.
    """
    question = fact_question(query, lexicon, forms)
    if question is None:
        return []
    attributes = list(dict.fromkeys((*forms.attributes(query.standalone), *(c.attribute for c in question.constraints))))
    marks = ", ".join("?" * len(attributes))
    best: dict[str, float] = {}
    counts: Counter[str] = Counter()
    for fact in table.select(f"attribute IN ({marks})", attributes):
        score = _match(fact, question, forms)
        if score > 0:
            best[fact.chunk_id] = max(best.get(fact.chunk_id, 0.0), score)
            counts[fact.chunk_id] += 1
    ranked = sorted(best, key=lambda i: (-best[i], -counts[i], i))
    return [Hit(i, best[i]) for i in ranked[:_MOST_HITS]]


def _match(fact: Fact, question: FactQuestion, forms: FactForms) -> float:
    """Return how much of the question a fact matches, 0 where it is on another crop or on nothing that is named.

    A value against another disease or pest than the asked one is none.
    """
    score = _WEIGHTS["attribute"]
    if question.crops and fact.crop:
        if not any(same_crop(fact.crop, crop) for crop in question.crops):
            return 0.0
        score += _WEIGHTS["crop"]
    if question.form == "value":
        holds = fit_of(fact, question.constraints[0], "contains", forms.reader) == "full"
        return score + _WEIGHTS["value"] * holds if holds or (question.crops and fact.crop) else 0.0
    subject = any(same_subject(fact.subject, name) for name in question.subjects)
    target = any(same_subject(name, asked) for name in (fact.target, fact.subject) for asked in question.targets)
    if (question.subjects and not subject) or (question.targets and fact.target and not target):
        return 0.0
    return score + _WEIGHTS["subject"] * subject + _WEIGHTS["target"] * target if subject or target else 0.0
