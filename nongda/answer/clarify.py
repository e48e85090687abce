"""A question back: one name for several things, or a disease of several crops, and the answers differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nongda.index.families import PROBLEM_KINDS
from nongda.index.subjects import Mention, Subjects, named
from nongda.language.lexicon import Lexicon
from nongda.language.matching import Match
from nongda.language.text import search_form
from nongda.records import Query

_MOST_CHOICES = 4
_GENERIC = re.compile(r"药|治|防|办|什么|怎|多少|几|[0-9]|亩|时候|需要|可以|不能|情况|问题|严重|发生|害|管理|管用|有效|好用")
_HEADED = ("title", "heading")


@dataclass(frozen=True, slots=True)
class Clarification:
    """One sentence to ask, and whole questions to choose from."""

    text: str
    choices: tuple[str, ...]


def clarification(query: Query, subjects: Subjects, lexicon: Lexicon) -> Clarification | None:
    """Return a question back where the question has several readings that lead to different passages, else None.

    1. A name with several standard terms: those that the corpus has, for the crop that is asked where one is.
    2. A disease or pest without a crop that has sections of its own for several crops.
    Another word of the question (a sign, a part, the other name) that only one reading's passages hold decides.
    """
    return _ambiguous_name(query, subjects, lexicon) or _open_crop(query, subjects, lexicon)


def _ambiguous_name(query: Query, subjects: Subjects, lexicon: Lexicon) -> Clarification | None:
    form = search_form(query.standalone)
    crops = [e.term for e in named(query.standalone, lexicon) if e.kind == "crop"]
    for match in lexicon.find(form):
        if len(match.terms) < 2:
            continue
        terms = [t for t in match.terms if _is_open(t, match, form)]
        own = set(match.terms) & set(crops)
        places = {t: _passages(t, [c for c in crops if c not in own], subjects) for t in terms}
        places = {t: p for t, p in places.items() if p and sum(p == q for q in places.values()) == 1}
        readings = _undecided(places, form[: match.start] + "，" + form[match.end :], subjects, lexicon)
        if len(readings) > 1 and len(terms) == len(match.terms):
            word = form[match.start : match.end]
            crop = next((subjects.plain(e.term) for e in named(word, lexicon) if e.kind == "crop" and e.term not in own), "")
            names = [t if t.startswith(crop) else crop + t for t in readings]
            return _asked(f"“{word}”在各地说的不是同一样东西", names, [
                form[: match.start] + name + form[match.end :] for name in names])
    return None


def _is_open(term: str, match: Match, form: str) -> bool:
    """The question may say itself which it means: 土蚕（小地老虎）."""
    return term not in form[: match.start] + form[match.end :]


def _passages(term: str, crops: Sequence[str], subjects: Subjects) -> frozenset[str]:
    """The chunks a reading leads to: those with a heading or title of it, else those that name it."""
    found: list[Mention] = [m for c in crops for m in subjects.pair(term, c)] if crops else subjects.mentions(term)
    return frozenset(m.chunk_id for m in found if m.place == "text")


def _undecided(places: Mapping[str, frozenset[str]], rest: str, subjects: Subjects, lexicon: Lexicon) -> list[str]:
    """Readings between which no other word of the question decides: a word that only one reading's passages hold."""
    words = {t for t in lexicon.tokens(rest) if len(t) > 1 and not _GENERIC.search(t)}
    texts = {reading: subjects.text_of(chunks) for reading, chunks in places.items()}
    held = {reading: {w for w in words if w in text} for reading, text in texts.items()}
    alone = {r: len(own - set().union(*(o for other, o in held.items() if other != r))) for r, own in held.items()}
    order = sorted(alone, key=lambda r: -alone[r])
    if len(order) > 1 and alone[order[0]] > 0 and (not alone[order[1]] or alone[order[0]] >= 2 + alone[order[1]]):
        return order[:1]
    return list(places)


def _open_crop(query: Query, subjects: Subjects, lexicon: Lexicon) -> Clarification | None:
    entities = named(query.standalone, lexicon)
    problems = [e for e in entities if e.kind in PROBLEM_KINDS]
    if len(problems) != 1 or any(e.kind in ("crop", "variety", "product") for e in entities):
        return None
    problem = problems[0]
    sections: dict[str, set[str]] = {}
    for mention in subjects.mentions(problem.term):
        if mention.place in _HEADED and len(mention.crops) == 1:
            sections.setdefault(subjects.plain(*mention.crops), set()).add(mention.chunk_id)
    form = search_form(query.standalone)
    if any(crop in problem.surface or crop in problem.term for crop in sections):
        return None
    places = {crop: frozenset(chunks) for crop, chunks in sections.items()}
    crops = _undecided(places, form.replace(problem.surface, "，"), subjects, lexicon)
    if len(crops) < 2:
        return None
    names = [crop + problem.term for crop in crops]
    return _asked(f"资料里几种作物都有{problem.term}，做法不同", names, [form.replace(problem.surface, n, 1) for n in names])


def _asked(why: str, readings: Sequence[str], choices: Sequence[str]) -> Clarification:
    kept = list(readings)[:_MOST_CHOICES]
    return Clarification(f"{why}，请先选一下：您问的是{'、'.join(kept[:-1])}还是{kept[-1]}？", tuple(choices[:_MOST_CHOICES]))

