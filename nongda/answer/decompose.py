"""A question of several hops becomes whole questions, each to be searched by itself: by rules over its clauses.

Steps of `parts_of`:
1. A comparison is one part a side.
2. Otherwise every facet is a part, but for one that asks only why of the one before it, or what decides a yes or no.
3. A cure asked of signs without a name (叶背有黄粉，打什么药) is two: what it is, and the question itself.
4. Each part is told what was told before it: the clauses that ask nothing, and the crop, problem or product that an
   earlier part names. A part that names another crop is told nothing, one with a problem of its own only the crop.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from nongda.answer.asked import Asked, Facet
from nongda.answer.intent import Triggers
from nongda.language.lexicon import Lexicon
from nongda.models.generate import Message
from nongda.records import Entity

MOST = 4  # parts; what is asked beyond is left
_TOLD = 90  # characters of what was told before
_NAMES = 4  # names carried over
_THINGS = frozenset({"disease", "pest", "pathogen", "product", "variety", "nutrient"})
_PROBLEMS = frozenset({"disease", "pest", "pathogen"})
_DOING = frozenset({"practice", "processing"})  # what is done says little (打药) where a thing is named
_END = "，。？；！、,?;! \n"
_SENTENCE_END = ("。", "？", "?", "！", "!", "；", ";")
_CLAUSE = re.compile(r"[^，。；！？!?;\n]+[，。；！？!?;\n]*")
_NUMBERED = re.compile(r"^\s*(?:[-*•·]|\(?\d+[.、)）]|[①-⑩])\s*")
_LINE_TOKENS = 48
_SHARED = 0.6  # of a written part's words that the question must have
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Parts:
    """Whole questions, at most MOST; `left` are those beyond. Both () for a question that is not taken apart."""

    parts: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Writes(Protocol):
    """What parting by a model needs of it."""

    def generate(self, messages: Sequence[Message], max_tokens: int, temperature: float,
                 stop: threading.Event) -> Iterator[str]:
        """Yield pieces of the reply."""
        ...


def hops_of(asked: Asked, parts: Parts) -> int:
    """Return the number of things that must be found: 1 for one value of one subject, 2 or more for a comparison."""
    return max(len(parts.parts) + len(parts.left), 2 if asked.kind == "comparison" else 1)


def parts_of(asked: Asked, lexicon: Lexicon, triggers: Triggers, before: Asked | None = None) -> Parts:
    """Return the parts of a question of several hops; `before` is the question that a follow-up leans on."""
    told = before.facets if before else ()
    if asked.sides:
        found = [_closed(_background(told, lexicon, facet.text) + facet.text) for facet in asked.facets]
        return Parts(tuple(found))
    facets = _different(asked, triggers)
    if len(facets) == 1:
        return Parts() if asked.options else _by_cause(asked.facets[0], told, lexicon, triggers)
    known = [*told, *facets]
    whole = (_whole(known[max(0, place - MOST) : place + 1], lexicon, triggers) for place in range(len(told), len(known)))
    found = list(dict.fromkeys(whole))
    return Parts(tuple(found[:MOST]), tuple(found[MOST:])) if len(found) > 1 else Parts()


def _different(asked: Asked, triggers: Triggers) -> list[Facet]:
    """Return the facets but for those that ask no other thing: why, and what decides a question of yes or no."""
    first, *more = asked.facets
    is_verdict = asked.kind == "yes_no"
    return [first, *(f for f in more if not triggers.asks_why(_ask(f)) and not (is_verdict and triggers.asks_what_decides(_ask(f))))]


def _by_cause(facet: Facet, told: Sequence[Facet], lexicon: Lexicon, triggers: Triggers) -> Parts:
    """Part a cure asked of signs: first what they are the signs of."""
    ask = _ask(facet)
    signs = facet.told or ask
    if _named((*told, facet), _PROBLEMS, lexicon) or not triggers.asks_cure(ask) or not triggers.tells_signs(signs, lexicon):
        return Parts()
    first = facet.told if facet.told else triggers.without_cure(ask)
    if not first.strip(_END):
        return Parts()
    lead = _background(told, lexicon, facet.text)
    return Parts((_closed(f"{lead}{first.rstrip(_END)}，{triggers.cause}"), _closed(lead + facet.text)))


def _whole(facets: Sequence[Facet], lexicon: Lexicon, triggers: Triggers) -> str:
    """Return the last facet as a question that stands alone, told what the ones before it tell and name."""
    *earlier, facet = facets
    asked_for = (triggers.carried(_ask(f)).strip(_END) for f in reversed(earlier))
    speaks_of = "" if _named([facet], _THINGS | _DOING, lexicon) else next((text for text in asked_for if text), "")
    text = (f"{speaks_of}，" if speaks_of else "") + facet.text
    return _closed(_background(earlier, lexicon, text) + text)


def _background(earlier: Sequence[Facet], lexicon: Lexicon, text: str) -> str:
    """Return what a text must be told to stand alone, ending in a comma; "" for nothing."""
    own = lexicon.entities(text)
    crops = _named(earlier, frozenset({"crop"}), lexicon)[-1:]
    own_crops = {e.term for e in own if e.kind == "crop"}
    if crops and own_crops and not own_crops & {e.term for e in crops}:
        return ""
    kept, told = _named(earlier, _THINGS, lexicon), "".join(f"{f.told.rstrip(_END)}，" for f in earlier if f.told.strip(_END))
    problems = {e.term for e in own if e.kind in _PROBLEMS}
    if problems and {e.term for e in kept if e.kind in _PROBLEMS} - problems:
        kept, told = [], ""
    elif not kept and earlier and not earlier[-1].text.endswith(_SENTENCE_END):
        kept = _named(earlier[-1:], _DOING, lexicon)
    told = _last(told)
    missing = [e for e in (*crops, *kept) if e not in own and e.surface not in told + text][:_NAMES]
    crop = "".join(e.surface for e in missing if e.kind == "crop")
    things = "、".join(e.surface for e in missing if e.kind != "crop")
    if told or not things:
        return (f"{crop}，" if crop else "") + told + (f"{things}，" if things else "")
    return f"{crop}{things}，"


def _named(facets: Sequence[Facet], kinds: frozenset[str], lexicon: Lexicon) -> list[Entity]:
    found = (e for facet in facets for e in lexicon.entities(facet.text) if e.kind in kinds)
    return list({e.term: e for e in found}.values())


def _last(told: str) -> str:
    """Return the last clauses of what was told, as many as are of use."""
    kept = ""
    for clause in reversed(_CLAUSE.findall(told)):
        if len(kept) + len(clause) > _TOLD:
            break
        kept = clause + kept
    return kept


def _ask(facet: Facet) -> str:
    return facet.text.removeprefix(facet.told)


def _closed(text: str) -> str:
    return text.strip(_END) + "？"


def decompose_by_model(generator: Writes, prompt: str, question: str, parts: Parts, lexicon: Lexicon,
                       stop: threading.Event, temperature: float = 0.5) -> Parts:
    """Return the parts that a model writes, one a line; the rules' `parts` where a line brings in anything new.

    A line must have most of its words from the question, no other number and no other name; two to MOST lines count. A
    question of a single hop (no `parts`) is not shown to the model.
    """
    if not parts.parts:
        return parts
    messages: list[Message] = [{"role": "system", "content": prompt}, {"role": "user", "content": question}]
    written = "".join(generator.generate(messages, MOST * _LINE_TOKENS, temperature, stop))
    lines = [line for raw in written.splitlines() if (line := _NUMBERED.sub("", raw).strip())]
    if stop.is_set() or not 2 <= len(lines) <= MOST or not all(_keeps_to(line, question, lexicon) for line in lines):
        return parts
    return Parts(tuple(dict.fromkeys(_closed(line) for line in lines)), parts.left)


def _keeps_to(line: str, question: str, lexicon: Lexicon) -> bool:
    words, given = set(lexicon.tokens(line)), set(lexicon.tokens(question))
    names = {e.term for e in lexicon.entities(line)} <= {e.term for e in lexicon.entities(question)}
    numbers = set(_NUMBER.findall(line)) <= set(_NUMBER.findall(question))
    return bool(words) and names and numbers and len(words & given) >= _SHARED * len(words)
