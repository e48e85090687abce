"""No number and no name reaches the reader unless the cited sentence says it of the same thing.

`failures` asks of a written sentence and the one piece of evidence it will be cited with:
1. Each number stands there as the same quantity, with the same 每亩, 以上 or 不超过.
2. It is said of the same thing: the product, disease, crop or stage beside it, and the words beside it, are those of
   that number there; where the evidence has several such numbers, the sentence says which one it means.
3. Each product, disease, pest, crop, variety and stage is named there, in its headings or its title, and those named
   together there are named together here.
4. It is made of the evidence's words, denied where they are denied there and only there.
5. No number is beyond what a field can have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nongda.answer.claims import (
    GROUPS,
    Claim,
    Names,
    held,
    merged,
    names_of,
    pieces_of,
    read_claims,
    same_claim,
)
from nongda.answer.evidence import SENTENCE_ENDS, ScoredEvidence, headed_text, heading_of
from nongda.answer.sanity import implausible
from nongda.answer.wording import atoms_of, displaced, foreign, mixed, overstated, turned, unconditional
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units
from nongda.records import Query

# A list's number is no quantity: 1. 2) 3、 but not 1.5 or 10~20.
LIST_MARK = re.compile(r"^(?:\s*(?:\d{1,2}(?:[.)）](?!\d)|、)\s*|[-*•]\s+|【[^】]*】\s*|#+\s*))+")
_MIN_GROUNDED = 0.7  # of a sentence's words; small models add connecting words of their own
_SPACE_AND_END = re.compile(r"\s+|[。！？!?；;]+$")
_HEADER_UNIT = re.compile(r"[（(]([^（()）]{1,8})[）)]：([-−]?\d[\d.,]*(?:\s*[～~—–-]+\s*\d[\d.,]*)?)(?=；|$)")


def unsupported(sentence: str, scored: ScoredEvidence, lexicon: Lexicon, units: Units | None = None) -> list[str]:
    """Return the numbers and names of a sentence that its evidence does not hold, as written.

    A number must stand in the evidence sentence itself, the same with the same unit; a name may also stand in
    the headings and the title. `units` may know counters (次, 天) that the lexicon's do not.
    """
    units = units or lexicon.units
    known, _ = read_claims(said_by(scored), lexicon, units)
    claims, _ = read_claims(sentence, lexicon, units)
    wrong = [c.surface for c in claims if not any(same_claim(c, k, units) for k in known)]
    return wrong + _strangers(sentence, merged([names_of(said_by(scored), lexicon), context_names(scored, lexicon)]), lexicon)


def failures(sentence: str, scored: ScoredEvidence, lexicon: Lexicon, units: Units | None = None,
             query: Query | None = None) -> list[str]:
    """Return, in Chinese, all that a sentence says and its evidence does not; empty where it may be shown.

    With a query, a number whose crop or product the sentence leaves out must be about those of the question.
    """
    units = units or lexicon.units
    evidence = said_by(scored)
    reasons = implausible(sentence, units, lexicon)
    if _squeezed(sentence) == _squeezed(evidence):
        return reasons
    if wrong := unsupported(sentence, scored, lexicon, units):
        return [*reasons, f"“{'、'.join(dict.fromkeys(wrong))}”在资料原文中核对不上"]
    context = context_names(scored, lexicon)
    reasons += _pairing(sentence, evidence, context, lexicon, units, query)
    reasons += _company(sentence, evidence, lexicon, units)
    mine, its = atoms_of(sentence, lexicon, units), atoms_of(evidence, lexicon, units)
    if strange := foreign(mine, its, atoms_of(_headings(scored), lexicon, units)):
        reasons.append(f"“{strange}”不是资料原文的话")
    if denied := turned(mine, its):
        reasons.append(f"“{denied}”在资料原文中的肯定和否定与此不同")
    if condition := unconditional(mine, its):
        reasons.append(f"资料原文是在“{condition}”的条件下说的")
    if stitched := mixed(mine, its):
        reasons.append(f"“{stitched}”把资料原文里不同的话并到了一起")
    if beside := displaced(mine, its):
        reasons.append(f"“{beside}”旁边的数在资料原文里不在这里")
    if strong := overstated(sentence, evidence):
        reasons.append(f"“{strong}”比资料原文说得重")
    return reasons


def said_by(scored: ScoredEvidence) -> str:
    """Return evidence as it is compared: a table cell gets the unit of its header."""
    text = LIST_MARK.sub("", " ".join(headed_text(scored.evidence, scored.candidate).split()))
    return _HEADER_UNIT.sub(lambda m: f"：{m[2]}{m[1]}", text) if "：" in text else text


def context_names(scored: ScoredEvidence, lexicon: Lexicon) -> Names:
    """Return the names in the headings and the title of a piece of evidence."""
    return names_of(_headings(scored), lexicon)


def _headings(scored: ScoredEvidence) -> str:
    candidate = scored.candidate
    return "\n".join((candidate.document.meta.title, *candidate.chunk.heading, heading_of(scored.evidence, candidate)))


def _squeezed(text: str) -> str:
    return _SPACE_AND_END.sub("", text)


def _strangers(sentence: str, known: Names, lexicon: Lexicon) -> list[str]:
    return [e.surface for e in lexicon.entities(sentence)
            if e.kind in GROUPS and not held(e.term, GROUPS[e.kind], known)]


def _pairing(sentence: str, evidence: str, context: Names, lexicon: Lexicon, units: Units,
             query: Query | None) -> list[str]:
    known, shared = read_claims(evidence, lexicon, units)
    asked = names_of(query.standalone, lexicon) if query else {}
    claims, _ = read_claims(sentence, lexicon, units)
    return [f"“{claim.surface}”在资料原文中说的是别的" for claim in claims
            if not any(same_claim(claim, k, units) and _is_of_same(claim, k, known, shared, context, asked, units) for k in known)]


def _is_of_same(claim: Claim, source: Claim, known: Sequence[Claim], shared: frozenset[str], context: Names,
                asked: Names, units: Units) -> bool:
    others = [k for k in known if k is not source and not same_claim(k, source, units)]
    if not _names_agree(claim, source, others, context, asked):
        return False
    elsewhere = frozenset().union(*(k.words for k in others)) - source.words - shared
    if claim.words & elsewhere:
        return False
    rivals = [k for k in others if k.quantity.unit == source.quantity.unit]
    return all(_is_told_apart(claim, source, rival) for rival in rivals)


def _names_agree(claim: Claim, source: Claim, others: Sequence[Claim], context: Names, asked: Names) -> bool:
    for group in {*GROUPS.values()}:
        mine, its = claim.names.get(group, ()), source.names.get(group, ())
        around = context if not its else {**context, group: its}
        if not all(held(term, group, around) for term in mine):
            return False
        differs = any(k.names.get(group, ()) != its for k in others if k.names.get(group))
        if not mine and its and differs:
            return False
        wanted, there = asked.get(group, ()), its or context.get(group, ())
        if not mine and wanted and there and not any(_same_name(w, t) for w in wanted for t in there):
            return False
    return True


def _same_name(one: str, other: str) -> bool:
    return one in other or other in one


def _is_told_apart(claim: Claim, source: Claim, rival: Claim) -> bool:
    """Tell whether the sentence says which of two numbers of one unit it means."""
    if source.base != rival.base or source.bound != rival.bound:
        return True
    names = {(g, t) for g, terms in source.names.items() for t in terms}
    names -= {(g, t) for g, terms in rival.names.items() for t in terms}
    said = {(g, t) for g, terms in claim.names.items() for t in terms}
    return bool(names & said) or bool(claim.words & (source.words - rival.words))


def _company(sentence: str, evidence: str, lexicon: Lexicon, units: Units) -> list[str]:
    """A product and a disease named together must stand together in one piece of the evidence."""
    rows = [names_of(piece, lexicon) for piece in pieces_of(evidence, units)]
    carried: list[Names] = []
    for row in rows:
        carried.append({**(carried[-1] if carried else {}), **row})
    everywhere = merged(rows)
    for piece in pieces_of(sentence, units):
        mine = names_of(piece, lexicon)
        inside = {g: terms for g, terms in mine.items() if any(held(t, g, everywhere) for t in terms)}
        if len(inside) > 1 and not any(_fits(inside, row) for row in carried):
            return [f"“{'、'.join(t for terms in inside.values() for t in terms)}”在资料原文中不是一起说的"]
    return []


def _fits(mine: Names, row: Names) -> bool:
    """Tell whether a piece of the evidence names all of these; of several in each group, those at the same places."""
    if not all(held(t, g, row) for g, terms in mine.items() for t in terms):
        return False
    crossed = [g for g in mine if len(row.get(g, ())) > 1]
    if len(crossed) < 2:
        return True
    places = [[row[g].index(t) if t in row[g] else -1 for t in mine[g]] for g in crossed]
    return all(place == places[0] for place in places)


def grounded(tokens: frozenset[str], scored: ScoredEvidence, query: Query) -> bool:
    """Tell whether nearly all words of a sentence are the evidence's or the question's: the rest is invention."""
    known = scored.tokens | set(query.tokens)
    return len(tokens & known) >= _MIN_GROUNDED * len(tokens)


def quoted(scored: ScoredEvidence) -> str:
    """Return evidence as a sentence of the answer: the document's own words; a table row named by its header."""
    text = LIST_MARK.sub("", " ".join(headed_text(scored.evidence, scored.candidate).split()))
    return text if text[-1] in SENTENCE_ENDS else text + "。"
