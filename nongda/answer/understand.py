"""A question becomes a Query: it stands alone, and search sees standard terms.

A follow-up without a subject of its own (那多久打一次) takes the subject of the turns before it, by the lexicon: no
model call, nothing invented.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nongda.errors import UsageError
from nongda.language.lexicon import Lexicon
from nongda.language.text import has_words
from nongda.records import Entity, Query, Turn
from nongda.settings import AnswerSettings

SUBJECT_KINDS = frozenset({"crop", "disease", "pest", "product", "variety", "practice", "processing"})
_PROBLEM_KINDS = frozenset({"disease", "pest"})
_REFERRING = re.compile(r"它|这种|这个|该病|该虫|此病|那种|那个|上面|前面|刚才")
_CONTINUING = re.compile(r"^(那|那么|还|还有|另外|然后|接着|又|再|呢)|呢[？?]?$")
_LONG_ENOUGH = 14  # characters; a longer question usually names its own subject


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
    own = [e for e in lexicon.entities(question) if e.kind in SUBJECT_KINDS]
    if not asked or not _depends(question, own):
        return question
    kinds = {e.kind for e in own}
    carried = _carried(asked, lexicon, kinds)
    return f"{''.join(e.surface for e in carried)}：{question}" if carried else f"{asked[-1]}；{question}"


def _depends(question: str, own: Sequence[Entity]) -> bool:
    if _REFERRING.search(question) or _CONTINUING.search(question):
        return True
    return not own and len(question) < _LONG_ENOUGH


def _carried(asked: Sequence[str], lexicon: Lexicon, own_kinds: set[str]) -> list[Entity]:
    """Return the latest crop and the latest other subject of the turns before, unless the question has its own."""
    if "crop" in own_kinds and own_kinds & _PROBLEM_KINDS:
        return []
    chosen: dict[str, Entity] = {}
    for turn in asked:  # later turns overwrite earlier ones
        for entity in lexicon.entities(turn):
            if entity.kind not in SUBJECT_KINDS:
                continue
            slot = "crop" if entity.kind in {"crop", "variety"} else "subject"
            chosen[slot] = entity
    if "crop" in own_kinds:
        chosen.pop("crop", None)
    if own_kinds - {"crop"}:
        chosen.pop("subject", None)
    return [chosen[slot] for slot in ("crop", "subject") if slot in chosen]
