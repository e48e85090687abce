"""A question becomes a Query: it stands alone, and search sees standard terms.

A follow-up without a subject of its own (那多久打一次) stands behind the question before it, by the lexicon: no model
call, nothing invented.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nongda.errors import UsageError
from nongda.language.lexicon import Lexicon
from nongda.language.text import has_words
from nongda.records import Entity, Query, Turn
from nongda.settings import AnswerSettings

SUBJECT_KINDS = frozenset({"crop", "disease", "pest", "product", "variety", "practice", "processing"})
_SLOTS = ("crop", "subject")
_END = "。？?！!；; "
_REFERRING = re.compile(r"它|这种|这个|该病|该虫|此病|那种|那个|上面|前面|刚才")
_CONTINUING = re.compile(r"^(那|那么|还|还有|另外|然后|接着|又|再|呢|要是|如果|万一|假如|不然)|呢[？?]?$")


def check_question(question: str, settings: AnswerSettings) -> str:
    """Return the question stripped; UsageError when it has no words or is too long."""
    question = question.strip()
    if not has_words(question):
        raise UsageError("问题里没有文字：请写出作物和遇到的情况，例如“咖啡叶子背面有黄粉怎么办”")
    if len(question) > settings.max_question:
        raise UsageError(f"问题有 {len(question)} 个字，最多 {settings.max_question} 个字：请缩短，一次只问一件事")
    return question


def understand(question: str, history: Sequence[Turn], lexicon: Lexicon, settings: AnswerSettings) -> Query:
    """Build the query from a question and the conversation before it (oldest first)."""
    original = check_question(question, settings)
    asked = [turn.content for turn in history if turn.role == "user"]
    recent = asked[len(asked) - min(len(asked), settings.rewrite_turns) :]
    standalone = _stand_alone(original, recent, lexicon)
    canonical = lexicon.canonical(standalone)
    return Query(original, standalone, canonical, tuple(lexicon.tokens(standalone)), lexicon.entities(standalone))


def _stand_alone(question: str, asked: Sequence[str], lexicon: Lexicon) -> str:
    """Put the last question before one that leans on it, with the new one's crop or problem in place of the old."""
    own = _subjects(question, lexicon)
    if not asked or not _depends(question, own):
        return question
    before = asked[-1].rstrip(_END)
    named = _subjects(before, lexicon)
    for slot, entity in own.items():
        if slot in named and named[slot].surface in before:
            before = before.replace(named[slot].surface, entity.surface)
    earlier = {slot: e for turn in asked[:-1] for slot, e in _subjects(turn, lexicon).items()}
    missing = [earlier[slot].surface for slot in _SLOTS if slot in earlier and slot not in named and slot not in own]
    return f"{''.join(missing)}{before}；{question}"


def _depends(question: str, own: Mapping[str, Entity]) -> bool:
    return not own or bool(_REFERRING.search(question) or _CONTINUING.search(question))


def _subjects(text: str, lexicon: Lexicon) -> dict[str, Entity]:
    """Return the last crop and the last other subject that a text names."""
    found: dict[str, Entity] = {}
    for entity in lexicon.entities(text):
        if entity.kind in SUBJECT_KINDS:
            found["crop" if entity.kind in {"crop", "variety"} else "subject"] = entity
    return found
