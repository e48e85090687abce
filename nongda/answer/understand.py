"""A question becomes a Query: its own words corrected, standing alone, in standard terms, with its intent and its parts.

A follow-up (那多久打一次) is completed from the conversation by the lexicon: no model call, nothing invented.
1. What it names takes the place of a thing of its kind in the question before: another crop, disease, product, place.
2. Where it asks nothing of its own (那炭疽病呢), that changed question is the question.
3. Where it asks of a problem, a practice or a product that it names itself, it takes only the crop (of a product also
   the problem) from before; else it stands behind what was asked.
4. A crop, problem or product that only an earlier question names comes along.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nongda.answer.asked import Asking
from nongda.answer.decompose import hops_of, parts_of
from nongda.errors import UsageError
from nongda.index.subjects import named as named_subjects
from nongda.language.lexicon import Lexicon
from nongda.language.spelling import Spelling
from nongda.language.text import has_words
from nongda.records import Entity, Query, Turn
from nongda.settings import AnswerSettings

# What may take another's place: of one kind, or of kinds that are asked of alike.
_SLOTS = {
    "crop": "crop", "variety": "variety", "disease": "problem", "pest": "problem", "pathogen": "problem", "product": "product",
    "nutrient": "nutrient", "practice": "practice", "processing": "practice", "place": "place", "stage": "stage", "soil": "soil",
}
_END = "。？?！!；;，, "
_LONGEST = 200  # characters of a question before that are carried over
_REFERRING = re.compile(r"它|这种|这个|这些|这药|这病|这虫|该病|该虫|该药|此病|那种|那个|上面|前面|刚才|同样|一样的")
_CONTINUING = re.compile(r"^(?:那|那么|还|还有|另外|然后|接着|又|再|呢|要是|如果|万一|假如|不然|换成|改成|换)|呢[？?]?$")
_EMPTY = re.compile(
    r"^(?:那|那么|要是|如果|换成|改成|换|还有|另外|是)+|(?:的话|怎么样|咋样|怎样|又|也|呢|吗|呀|啊|是|在|上|[，。？?！!\s])+$"
)


@dataclass(frozen=True, slots=True)
class _Turns:
    """A question with the one before it: `text` stands alone, `before` is what it leans on ("" for nothing)."""

    text: str
    before: str = ""


def check_question(question: str, settings: AnswerSettings) -> str:
    """Return the question stripped; UsageError when it has no words or is too long."""
    question = question.strip()
    if not has_words(question):
        raise UsageError("问题里没有文字：请写出作物和遇到的情况，例如“咖啡叶子背面有黄粉怎么办”")
    if len(question) > settings.max_question:
        raise UsageError(f"问题有 {len(question)} 个字，最多 {settings.max_question} 个字：请缩短，一次只问一件事")
    return question


def understand(question: str, history: Sequence[Turn], lexicon: Lexicon, settings: AnswerSettings,
               asking: Asking | None = None, spelling: Spelling | None = None,
               as_written: frozenset[str] = frozenset()) -> Query:
    """Build the query from a question and the conversation before it (oldest first).

    Without `asking` it has no intent and no parts, without `spelling` no corrections; words in `as_written` are read as
    they stand. Raises UsageError for a question without words or too long.
    """
    original = check_question(question, settings)
    lexicon = lexicon.without(as_written) if as_written else lexicon
    corrected = spelling.correct(original, as_written) if spelling else None
    own = corrected.text if corrected else original
    asked_before = [turn.content for turn in history if turn.role == "user"]
    recent = asked_before[len(asked_before) - min(len(asked_before), settings.rewrite_turns) :]
    if spelling:
        recent = [spelling.correct(text, as_written).text for text in recent]
    turns = _stand_alone(own, recent, lexicon)
    readings = dict.fromkeys((*(corrected.readings if corrected else ()), *lexicon.readings(turns.text)))
    entities = lexicon.entities(turns.text)
    query = Query(
        original, turns.text, lexicon.canonical(turns.text), tuple(lexicon.question_tokens(turns.text)), entities,
        corrected=own, readings=tuple(readings), quantities=tuple(lexicon.units.quantities(turns.text)),
    )
    return _parted(query, turns, lexicon, asking) if asking else query


def asked_text(query: Query, asking: Asking) -> str:
    """Return the words that ask: the question's own, or all of it where these only name something (那炭疽病呢)."""
    own = query.corrected or query.original
    asks = asking.triggers.asks(own) and not asking.triggers.only_names(own)
    return own if asks and query.standalone.endswith(own) else query.standalone



def _parted(query: Query, turns: _Turns, lexicon: Lexicon, asking: Asking) -> Query:
    """Return the query with its intent, its hops and its parts."""
    asked = asking.of(asked_text(query, asking), lexicon)
    before = asking.of(turns.before, lexicon) if turns.before else None
    parts = parts_of(asked, lexicon, asking.triggers, before)
    return replace(query, intent=asked.intent, hops=hops_of(asked, parts), parts=parts.parts, left=parts.left)


def _stand_alone(question: str, asked: Sequence[str], lexicon: Lexicon) -> _Turns:
    """Complete a question from those asked before it, oldest first, where it leans on them."""
    own, leans = _slots(question, lexicon), bool(_REFERRING.search(question) or _CONTINUING.search(question))
    if not asked or (own.keys() & {"crop", "problem"} and not leans):
        return _Turns(question)
    last = asked[-1].strip(_END)
    named = _slots(last, lexicon)
    only_names = not _besides(question, own)
    before = last if len(last) <= _LONGEST else "，".join(e.surface for e in named.values())
    if not (only_names and named.keys() & own.keys()) and (slots := _needed(own, leans)):
        before = "".join(named[slot].surface for slot in slots if slot in named and slot not in own)
    changed = _with_own(before, named, own, lexicon)
    is_asked_anew = only_names and before == last != changed
    before = "".join(e.surface for e in _missing(asked[:-1], named, own, lexicon)) + _CONTINUING.sub("", changed)
    if is_asked_anew:
        return _Turns(before)
    return _Turns(f"{before}；{question}", before) if before else _Turns(question)


def _needed(own: Mapping[str, Entity], leans: bool) -> tuple[str, ...]:
    """Return what a question of its own subject takes from the one before; () for all of that question."""
    if own.keys() & {"problem", "practice"} or (own.keys() & {"nutrient"} and not leans):
        return ("crop",)
    return ("crop", "problem") if "product" in own and not leans else ()


def _with_own(before: str, named: Mapping[str, Entity], own: Mapping[str, Entity], lexicon: Lexicon) -> str:
    """Return the question before with what the new one names in place of what it names of the same slot."""
    for slot, entity in own.items():
        if slot in named and named[slot].surface in before:
            before = before.replace(named[slot].surface, entity.surface)
        elif slot == "crop" and before and "problem" in named:
            inner = _crop_in(named["problem"], lexicon)
            before = before.replace(inner, entity.surface, 1) if inner else before
    return before


def _crop_in(problem: Entity, lexicon: Lexicon) -> str:
    """Return the crop that a name begins with, where the rest is a name too: 小麦 of 小麦蚜虫; "" for 玉米螟."""
    for end in range(2, len(problem.surface) - 1):
        crop, rest = problem.surface[:end], problem.surface[end:]
        if any(e.kind == "crop" and e.surface == crop for e in lexicon.entities(crop)) and any(
                e.surface == rest for e in lexicon.entities(rest)):
            return crop
    return ""


def _missing(earlier: Sequence[str], named: Mapping[str, Entity], own: Mapping[str, Entity], lexicon: Lexicon) -> list[Entity]:
    """Return the crop, the problem and the product that only questions further back name."""
    known = {slot: entity for text in earlier for slot, entity in _slots(text, lexicon).items()}
    wanted = ("crop",) if own.keys() & {"problem", "practice"} or named.keys() & {"problem", "practice"} else ("crop", "problem", "product")
    return [known[slot] for slot in wanted if slot in known and slot not in named and slot not in own]


def _slots(text: str, lexicon: Lexicon) -> dict[str, Entity]:
    """Return the last name of each slot in a text, as the text writes it; 稻叶 and 麦田 name their crop too."""
    crops = [e for e in named_subjects(text, lexicon) if e.kind == "crop"]
    return {_SLOTS[e.kind]: e for e in (*crops, *lexicon.entities(text)) if e.kind in _SLOTS}


def _besides(question: str, own: Mapping[str, Entity]) -> str:
    """Return what a question says besides names and the words that continue a conversation: nothing in 那炭疽病呢."""
    rest = question
    for entity in own.values():
        rest = rest.replace(entity.surface, "")
    return _EMPTY.sub("", rest)
