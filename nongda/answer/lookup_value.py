"""A question about a value (pH低于5.5怎么办, 海拔2300米能种咖啡吗): the sentences and rows that speak of it.

1. Facts on other crops, diseases and pests are left out, and bounds too far from the value.
2. Whether a crop will grow is told by the ranges that suit it; where they differ, both sides are shown.
3. What to do is told by what speaks of the value, first that which says to do something.
4. Where nothing does, the nearest is told to be the nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from nongda.answer.compose import Piece, cited
from nongda.answer.fact_question import FactForms, FactQuestion
from nongda.answer.fact_quotes import FactQuotes
from nongda.index.fact_ranges import Constraint
from nongda.index.fact_search import Condition, conditions, same_crop
from nongda.index.facts import FactTable
from nongda.language.text import clause_spans
from nongda.records import Fact

_MOST_SENTENCES, _MOST_NEAREST, _MOST_BESIDE = 4, 3, 2
_NO_CASE = frozenset({"disease", "pest", "pathogen", "processing"})  # whose own ranges say nothing of a field


def at_value(question: FactQuestion, table: FactTable, quotes: FactQuotes, forms: FactForms,
             shown: Callable[[Fact], bool]) -> tuple[tuple[Piece, ...], bool] | None:
    """Return the pieces and whether anything speaks of the value itself; None where the table has nothing near."""
    constraint = question.constraints[0]
    found = [c for c in conditions(constraint, table, forms.reader, quotes.text) if shown(c.fact) and _concerns(c.fact, question)]
    if question.fitness and question.crops:
        return _suited(question, constraint, found, quotes, forms)
    found = [c for c in _of_material(found, question, quotes) if not _is_suit(c, quotes, forms)]
    full = _ranked([c for c in found if _speaks(c, constraint, forms)], constraint, question, quotes, forms)
    if full:
        return (Piece(f"资料里说到“{constraint.words}”这种情况的：\n\n"), *_sentences(full[:_MOST_SENTENCES], quotes)), True
    near = _each_sentence(found)
    if not near:
        return None
    wide = near[0].fit == "full"
    lead = f"资料里范围包括“{constraint.words}”的：\n\n" if wide else f"资料里没有正好说到“{constraint.words}”的，最接近的是：\n\n"
    near = [c for c in near if c.fit == "full"] if wide else near
    return (Piece(lead), *_sentences(near[:_MOST_NEAREST], quotes)), wide


def _suited(question: FactQuestion, constraint: Constraint, found: Sequence[Condition], quotes: FactQuotes,
            forms: FactForms) -> tuple[tuple[Piece, ...], bool] | None:
    """Tell the suitable ranges that hold the value and those that do not, then what else is said of it."""
    suits = [c for c in found if _on_crop(c.fact, question) and _is_suit(c, quotes, forms) and not c.stated]
    holding = _each_sentence(c for c in suits if c.fit == "full")
    known = {(c.fact.chunk_id, c.fact.start) for c in holding}
    outside = [c for c in _each_sentence(c for c in suits if c.fit != "full") if (c.fact.chunk_id, c.fact.start) not in known]
    words, pieces = constraint.words, []
    if holding:
        pieces = [Piece(f"资料写的适宜范围里有“{words}”的：\n\n"), *_sentences(holding[:_MOST_NEAREST], quotes)]
    if outside:
        lead = f"也有资料的适宜范围不到“{words}”：\n\n" if holding else f"“{words}”不在资料写的适宜范围里，最接近的是：\n\n"
        pieces += [Piece(lead), *_sentences(outside[: _MOST_BESIDE if holding else _MOST_NEAREST], quotes)]
    known |= {(c.fact.chunk_id, c.fact.start) for c in outside}
    others = [c for c in found if _on_crop(c.fact, question) and _speaks(c, constraint, forms)
              and (c.fact.chunk_id, c.fact.start) not in known]
    beside = [c for c in _ranked(others, constraint, question, quotes, forms) if forms.acts.search(quotes.text(c.fact))]
    if beside:
        lead = f"资料里{'另外' if pieces else ''}说到“{words}”这种情况的：\n\n"
        pieces += [Piece(lead), *_sentences(beside[:_MOST_BESIDE], quotes)]
    return (tuple(pieces), bool(holding or beside)) if pieces else None


def _speaks(found: Condition, constraint: Constraint, forms: FactForms) -> bool:
    near = forms.reader.attributes[constraint.attribute].near
    return found.fit == "full" and found.range.off(constraint.range) <= near


def _is_suit(found: Condition, quotes: FactQuotes, forms: FactForms) -> bool:
    """Tell whether a range is what a crop wants; a single number is an example."""
    return found.range.low < found.range.high and suits(found.fact, quotes, forms)


def suits(fact: Fact, quotes: FactQuotes, forms: FactForms) -> bool:
    """Tell whether a fact says what a crop wants: the crop has a row or column of its own, or it is said to suit."""
    if quotes.is_row(fact):
        return quotes.has_own_cell(fact) or bool(forms.suits.search(fact.condition))
    text = quotes.text(fact)
    clause = next((text[a:b] for a, b in clause_spans(text) if fact.value in text[a:b]), text)
    return bool(forms.suits.search(clause))


def _concerns(fact: Fact, question: FactQuestion) -> bool:
    """Tell whether a fact is on the question's crop; without one, whether it is on no special crop."""
    about = {name for name in (fact.crop, fact.subject if fact.kind == "crop" else "") if name}
    if fact.kind in _NO_CASE:
        return False
    return _on_crop(fact, question) or not about if question.crops else not about


def _on_crop(fact: Fact, question: FactQuestion) -> bool:
    names = [name for name in (fact.crop, fact.subject if fact.kind == "crop" else "") if name]
    return any(same_crop(name, crop) for name in names for crop in question.crops)


def _of_material(found: Sequence[Condition], question: FactQuestion, quotes: FactQuotes) -> list[Condition]:
    """Keep what is on the crop, where one is named (tea wants no lime), and of this what names the material (石灰)."""
    kept = [c for c in found if _on_crop(c.fact, question)] if question.crops else list(found)
    return [c for c in kept if any(subject in quotes.headed(c.fact) for subject in question.subjects)] or kept


def _ranked(found: Sequence[Condition], constraint: Constraint, question: FactQuestion, quotes: FactQuotes,
            forms: FactForms) -> list[Condition]:
    """Order by: an amount where one is asked, something to do, a range rather than an example, nearness of bounds."""
    asks_amount = "dose" in forms.attributes(question.text)
    is_range = constraint.range.low < constraint.range.high

    def key(c: Condition) -> tuple[bool, bool, bool, float, str, int]:
        text = quotes.text(c.fact)
        return (asks_amount and c.fact.attribute != "dose", not forms.acts.search(text),
                is_range and c.range.low == c.range.high, c.range.off(constraint.range), c.fact.chunk_id, c.fact.start)

    return _each_sentence(sorted(found, key=key))


def _each_sentence(found: Iterable[Condition]) -> list[Condition]:
    """Return the best condition of each sentence or row, in order."""
    first: dict[tuple[str, int], Condition] = {}
    for c in found:
        first.setdefault((c.fact.chunk_id, c.fact.start), c)
    return list(first.values())


def _sentences(found: Sequence[Condition], quotes: FactQuotes) -> list[Piece]:
    scored = [s for c in found if (s := quotes.of(c.fact)) is not None]
    return [Piece(f"- {cited(s)}\n" + "\n" * (s is scored[-1]), (s,)) for s in scored]
