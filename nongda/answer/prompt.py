"""The prompt, within the model's context: what goes first when there is no room is the oldest history."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nongda.answer.evidence import ScoredEvidence, headed_text
from nongda.answer.instructions import is_instruction
from nongda.answer.verify import LIST_MARK
from nongda.documents.identify import CITATION
from nongda.models.generate import Message
from nongda.records import Query, Turn
from nongda.settings import AnswerSettings

NO_ANSWER = "根据当前知识库，未找到相关信息"
_MESSAGE_TOKENS = 8
_REFERENCES = re.compile(r"参考资料：.*$", re.DOTALL)


def build_messages(system: str, query: Query, evidence: Sequence[ScoredEvidence], history: Sequence[Turn],
                   settings: AnswerSettings, count_tokens: Callable[[str], int]) -> list[Message]:
    """Build the chat messages: system, as much history as fits (newest kept), evidence and question.

    Evidence is dropped from its least useful end only when it does not fit by itself.
    """
    room = settings.context - settings.max_tokens - _MESSAGE_TOKENS - count_tokens(system)
    kept = list(evidence)
    question = _question(query, kept)
    while len(kept) > 1 and count_tokens(question) + _MESSAGE_TOKENS > room:
        kept.remove(min(kept, key=lambda s: s.score))
        question = _question(query, kept)
    room -= count_tokens(question) + _MESSAGE_TOKENS
    messages: list[Message] = []
    recent = history[len(history) - min(len(history), settings.history_turns) :]
    for turn in reversed(recent):
        text = _plain(turn.content)[: settings.history_characters]
        cost = count_tokens(text) + _MESSAGE_TOKENS
        if cost > room:
            break
        room -= cost
        messages.insert(0, {"role": turn.role, "content": text})
    return [{"role": "system", "content": system}, *messages, {"role": "user", "content": question}]


def _question(query: Query, evidence: Sequence[ScoredEvidence]) -> str:
    """Evidence first and the question last, so that the cached prefix serves the next question too."""
    lines: list[str] = []
    chunk_id = ""
    for scored in evidence:
        if scored.evidence.chunk_id != chunk_id:
            chunk_id = scored.evidence.chunk_id
            path = [scored.candidate.document.meta.title, *scored.candidate.chunk.heading]
            lines.append(f"【{' / '.join(p for p in path if p and not is_instruction(p))}】")
        lines.append("- " + LIST_MARK.sub("", " ".join(headed_text(scored.evidence, scored.candidate).split())))
    return "资料：\n" + "\n".join(lines) + f"\n\n问题：{query.standalone}"


def _plain(text: str) -> str:
    """History without citations: an id in the prompt would be copied into the reply."""
    return CITATION.sub("", _REFERENCES.sub("", text)).strip()
