"""An introduction by the specialist's outline: for one who asks to be told of a disease, a pest or a work in general.

1. Only a question that names one thing and asks no special value of it is open; its words are data of the specialist.
2. A sentence counts where it, its heading or its document speak of that thing and of no other of its kind.
3. Each slot takes the sentence that fits it best by the facts in it, the slot's words and its heading; no sentence
   stands twice. A slot without a sentence is said to be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nongda.answer.asked import Asked
from nongda.answer.compose import Piece, cited
from nongda.answer.evidence import UNFINISHED, ScoredEvidence, headed_text, heading_of
from nongda.answer.specialists import Slot, Specialist, Specialists
from nongda.index.families import PROBLEM_KINDS, is_same_crop, is_same_problem
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.records import Entity, Fact, Query

_SUBJECTS = ("disease", "pest", "practice", "processing", "variety", "product", "nutrient")
_NOT_OPEN = ("choice", "comparison", "yes_no")
_MARKS = re.compile(r"[\s，。？！；：、,.?!;:~～“”\"'《》]+")
_PARTICLES = re.compile(r"[的了呀啊吧呗嘛哈啦地得]+")
# Leans on the sentence before it, or was cut in a bracket: says too little alone.
_LEANS = re.compile(r"^(?:其中|前者|后者|这|那|该|它|此|但|不过|另一|另外|两份|两者|上述|按上|同样|因此|所以|也)")
_CUT = re.compile(r"（[^）]*$|^[^（]*）")
_FACT, _WORDS, _AGAIN, _HEADING = 2.0, 2.0, 0.3, 1.0  # what speaks for a sentence in a slot
_MOST_AGAIN = 3
_LONG = 110  # characters; a shorter one of equal worth is better in an outline
_NAMES = 3  # the subject counts so much against a word of a slot
_FEWEST = 3  # slots; with fewer the usual answer says more


@dataclass(frozen=True, slots=True)
class Outline:
    """The slots that have a sentence, in the outline's order, and the names of those that have none."""

    filled: tuple[tuple[str, ScoredEvidence], ...]
    missing: tuple[str, ...]


def subject_of(query: Query) -> Entity | None:
    """Return the one thing beside crops that a question names; None where it names none or several."""
    named = [e for e in query.entities if e.kind in _SUBJECTS]
    problems = [e for e in named if e.kind in PROBLEM_KINDS] or named
    return problems[0] if len(problems) == 1 else None


def is_open(query: Query, asked: Asked, specialist: Specialist, specialists: Specialists) -> bool:
    """Tell whether a question asks to be told of one thing in general: nothing is left of it without names and such words."""
    if subject_of(query) is None or not specialist.outline or asked.kind in _NOT_OPEN or len(asked.facets) > 1:
        return False
    text = search_form(query.standalone)
    for entity in sorted(query.entities, key=lambda e: -len(e.surface)):
        text = text.replace(entity.surface, "，")
    for pattern in (*specialist.open, *specialists.general.open):
        text = pattern.sub("", _MARKS.sub("", text))
    return not _PARTICLES.sub("", _MARKS.sub("", text))


def outlined(specialist: Specialist, query: Query, sentences: Sequence[ScoredEvidence], facts: Sequence[Fact],
             lexicon: Lexicon) -> Outline | None:
    """Fill the outline with sentences (best first) and the facts of their passages; None where too few slots fill."""
    subject = subject_of(query)
    if subject is None:
        return None
    crops = [e.term for e in query.entities if e.kind == "crop"]
    speaking = [(place, s, near) for place, s in enumerate(sentences)
                if (near := _nearness(subject, s, lexicon)) and _of_crop(crops, s, lexicon)]
    worth: list[tuple[float, int, int]] = []
    for number, slot in enumerate(specialist.outline):
        for place, scored, near in speaking:
            fit = _fit(slot, subject, scored, facts)
            if fit:
                worth.append((-round(fit + near - _loss(scored), 6), number, place))
    taken: dict[int, int] = {}
    for _, number, place in sorted(worth):
        if number not in taken and place not in taken.values():
            taken[number] = place
    if len(taken) < _FEWEST:
        return None
    names = [slot.name for slot in specialist.outline]
    return Outline(tuple((names[n], sentences[taken[n]]) for n in sorted(taken)),
                   tuple(name for n, name in enumerate(names) if n not in taken))


def outline_pieces(outline: Outline) -> Iterator[Piece]:
    """Yield a short labelled line with its citation for each slot, last what the documents do not say."""
    for name, scored in outline.filled:
        yield Piece(f"**{name}**：{cited(scored).rstrip('；;。')}。\n", (scored,))
    if outline.missing:
        yield Piece(f"查到的段落里没有：{'、'.join(outline.missing)}。想知道这些请单独问。\n")


def outline_words(specialist: Specialist, query: Query, lexicon: Lexicon) -> tuple[str, ...]:
    """Return search tokens for the passages an outline is filled from: what the question names first, then the slots."""
    subject = subject_of(query)
    names = lexicon.tokens(" ".join(e.term for e in query.entities if e.kind == "crop" or e == subject))
    return (*names * _NAMES, *(token for slot in specialist.outline for token in lexicon.tokens(slot.name)))


def _fit(slot: Slot, subject: Entity, scored: ScoredEvidence, facts: Sequence[Fact]) -> float:
    """Return what speaks for a sentence in a slot: a fact or a word of the slot must; a heading alone does not."""
    text = headed_text(scored.evidence, scored.candidate)
    found = len(set(slot.words.findall(text))) if slot.words else 0
    held = any(f.attribute in slot.attributes and _of(f, subject) and _inside(f, scored) for f in facts)
    if not found and not held:
        return 0.0
    heading = " ".join((*scored.candidate.chunk.heading[-1:], heading_of(scored.evidence, scored.candidate)))
    return (_FACT * held + (_WORDS + _AGAIN * min(found - 1, _MOST_AGAIN)) * bool(found)
            + _HEADING * bool(slot.heading and slot.heading.search(heading)))


def _of(fact: Fact, subject: Entity) -> bool:
    return any(name and _same(name, subject) for name in (fact.subject, fact.target))


def _inside(fact: Fact, scored: ScoredEvidence) -> bool:
    one = scored.evidence
    return fact.chunk_id == one.chunk_id and fact.start < one.end and one.start < fact.end


def _nearness(subject: Entity, scored: ScoredEvidence, lexicon: Lexicon) -> float:
    """Return how surely a sentence speaks of the subject: 2.5 by itself, 2 by a heading, 1 by its title, 0 not at all.

    The nearest level that names anything of the subject's kind decides; another one named with it leaves a doubt.
    """
    text = scored.evidence.text.strip()
    if text.endswith(UNFINISHED) or _CUT.search(text):
        return 0.0
    chunk = scored.candidate.chunk
    levels = (headed_text(scored.evidence, scored.candidate), heading_of(scored.evidence, scored.candidate),
              *reversed(chunk.heading), scored.candidate.document.meta.title)
    for place, level in enumerate(levels):
        named = [e.term for e in lexicon.entities(level) if e.kind == subject.kind]
        same = [term for term in named if _same(term, subject)]
        if named and not same:
            return 0.0 if subject.kind in PROBLEM_KINDS or place else _under(subject, levels[1:], lexicon)
        if named and place == len(levels) - 1:
            return 1.0 if len(same) == len(named) else 0.0
        if named and len(same) < len(named):  # whose dose a sentence gives that names two pests, no rule can tell
            return 0.0 if place == 0 and subject.kind in PROBLEM_KINDS else 1.0
        if named:
            return 2.0 if place else 2.5
    return 0.0


def _of_crop(crops: Sequence[str], scored: ScoredEvidence, lexicon: Lexicon) -> bool:
    titled = [e.term for e in lexicon.entities(scored.candidate.document.meta.title) if e.kind == "crop"]
    return not crops or not titled or any(is_same_crop(one, other) for one in crops for other in titled)


def _under(subject: Entity, levels: Sequence[str], lexicon: Lexicon) -> float:
    """A step of a work names other works (修剪后施肥): its headings say which one it belongs to."""
    return 1.5 if any(_same(e.term, subject) for text in levels for e in lexicon.entities(text)) else 0.0


def _same(term: str, subject: Entity) -> bool:
    if subject.kind in PROBLEM_KINDS:
        return is_same_problem(term, subject.term)
    return term == subject.term


def _loss(scored: ScoredEvidence) -> float:
    """Return what a long sentence, a row of a table and one that leans on another lose."""
    text = scored.evidence.text
    return float(len(text) > _LONG) + float(scored.candidate.chunk.kind == "table") + float(bool(_LEANS.search(text)))
