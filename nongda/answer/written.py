"""Free writing, sentence by sentence: checked against one piece of evidence each, quoted instead, or dropped.

Steps of `write`:
1. The model's reply is cut into sentences as it comes; ids, list marks and 根据资料 at its beginning are taken off.
2. A sentence is checked against the evidence that supports it, best first, above the citation threshold.
3. The first evidence that holds all of it is its citation. If none does, the nearest is quoted in its place.
4. A sentence that nothing supports is dropped. Nothing leaves without evidence.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nongda.answer.cite import supports
from nongda.answer.evidence import UNFINISHED, ScoredEvidence
from nongda.answer.prompt import NO_ANSWER, build_messages
from nongda.answer.retrieve import QueryEmbedder
from nongda.answer.sanity import implausible
from nongda.answer.verify import LIST_MARK, failures, quoted
from nongda.documents.identify import CITATION
from nongda.language.lexicon import Lexicon
from nongda.language.text import has_words, sentence_spans
from nongda.language.units import Units
from nongda.models.generate import Generator
from nongda.records import Query, Turn
from nongda.settings import AnswerSettings

_MOST_SENTENCES = 6  # a small model that writes more has left the evidence
_MOST_CHECKED = 3  # pieces of evidence a sentence is held against; further ones are about something else
_REPEATS = 2  # a small model that repeats itself twice has nothing more to say
_PREAMBLE = re.compile(r"^(?:根据|依据|按照)(?:以上|上述|所给|提供的|给出的)*资料[，,：:]?\s*")
_ID = re.compile(r"[\[［【]?\s*[0-9a-f]{8}#\d+\s*[\]］】]?")
_ID_LIKE = re.compile(r"[\[［【][^\]］】\n]{0,40}[\]］】]|[（(]资料\d*[）)]|\*\*")
DROPPED = "有的句子没有资料支持，已删去"


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence for the reader, without its citation, and the evidence it is cited with.

    `how` tells the model's own words from the document's; `reason`, in Chinese, is why it was replaced or what to
    beware of, "" for nothing.
    """

    text: str
    scored: ScoredEvidence
    how: Literal["written", "quoted"]
    reason: str = ""


class Writer:
    """Writes one answer; `warnings` tells afterwards what was replaced or dropped. Not for two threads."""

    def __init__(self, lexicon: Lexicon, embedder: QueryEmbedder, generator: Generator, settings: AnswerSettings,
                 system_prompt: str, units: Units | None = None) -> None:
        """`units` should know counters too (次, 天, 株), so that 三次 is 3次 and no 3天."""
        self._lexicon = lexicon
        self._embedder = embedder
        self._generator = generator
        self._settings = settings
        self._system_prompt = system_prompt.strip()
        self._units = units or lexicon.units
        self.warnings: list[str] = []

    def write(self, query: Query, history: Sequence[Turn], evidence: Sequence[ScoredEvidence], stop: threading.Event,
              on_first_token: Callable[[], None] = lambda: None) -> Iterator[Checked]:
        """Yield checked sentences as the model finishes them; ends early once `stop` is set.

        Raises GenerationError when the model fails. Without evidence nothing is written.
        """
        self.warnings = []
        seen: set[str] = set()
        shown: set[str] = set()
        repeats = 0
        for sentence in self._sentences(query, history, evidence, stop, on_first_token) if evidence else ():
            sentence = cleaned(sentence)
            if NO_ANSWER[-7:] in sentence:  # whether to refuse was decided before: small models refuse at random
                break
            key = "".join(sentence.split())
            if not has_words(sentence) or sentence.endswith(UNFINISHED) or key in seen:
                repeats += key in seen
            else:
                seen.add(key)
                checked = self._checked(sentence, query, evidence)
                if checked and checked.text not in shown:
                    shown.add(checked.text)
                    yield checked
            if repeats >= _REPEATS or len(seen) >= _MOST_SENTENCES:
                break

    def _sentences(self, query: Query, history: Sequence[Turn], evidence: Sequence[ScoredEvidence],
                   stop: threading.Event, on_first_token: Callable[[], None]) -> Iterator[str]:
        answer, generator = self._settings, self._generator
        messages = build_messages(self._system_prompt, query, evidence, history, answer, generator.count_tokens)
        buffer, begun = "", False
        for piece in generator.generate(messages, answer.max_tokens, answer.temperature, stop):
            if not begun:
                begun = True
                on_first_token()
            buffer += piece
            spans = sentence_spans(buffer)
            for start, end in spans[:-1]:
                yield buffer[start:end]
            if len(spans) > 1:
                buffer = buffer[spans[-1][0] :]
        if not stop.is_set() and has_words(buffer):
            yield buffer.strip()

    def _checked(self, sentence: str, query: Query, evidence: Sequence[ScoredEvidence]) -> Checked | None:
        """Return the sentence with its evidence, or the quote that replaces it, or nothing."""
        tokens = frozenset(self._lexicon.tokens(sentence))
        vector = self._embedder.embed_queries([self._lexicon.canonical(sentence)])[0]
        near = [s.scored for s in supports(tokens, vector, evidence) if s.score >= self._settings.cite_threshold]
        near = [s for s in near if not s.evidence.text.endswith(UNFINISHED)]
        if not near:
            self._warn(DROPPED)
            return None
        reasons: list[str] = []
        for scored in near[:_MOST_CHECKED]:
            found = failures(sentence, scored, self._lexicon, self._units, query)
            if not found:
                return Checked(sentence, scored, "written")
            reasons = reasons or found
        return self._replaced(near[0], reasons)

    def _replaced(self, scored: ScoredEvidence, reasons: Sequence[str]) -> Checked | None:
        text = _ID.sub("", CITATION.sub("", quoted(scored))).strip()
        if not has_words(text):
            return None
        reason = f"{'；'.join(reasons)}，该句已换成原文"
        strange = implausible(text, self._units, self._lexicon)
        if strange:
            reason += f"；原文里的数也要当心：{'；'.join(strange)}"
        self._warn(reason)
        return Checked(text, scored, "quoted", reason)

    def _warn(self, reason: str) -> None:
        if reason not in self.warnings:
            self.warnings.append(reason)


def cleaned(sentence: str) -> str:
    """Return a sentence without ids, list marks, emphasis and 根据资料 at its beginning."""
    return _PREAMBLE.sub("", _ID.sub("", _ID_LIKE.sub("", CITATION.sub("", LIST_MARK.sub("", sentence))))).strip()
