"""One question becomes one cited answer. Start reading at `Answerer.answer`.

The reader never sees a sentence before it has been checked: the stream's unit is the sentence.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nongda.answer.cite import marker, references, resolve, supports
from nongda.answer.compress import compress, score_evidence
from nongda.answer.evidence import ScoredEvidence
from nongda.answer.prompt import NO_ANSWER, build_messages
from nongda.answer.retrieve import Indexes, QueryEmbedder, retrieve
from nongda.answer.select import UNFINISHED, best_quotes, relevant
from nongda.answer.understand import understand
from nongda.answer.verify import LIST_MARK, grounded, quoted, unsupported
from nongda.language.lexicon import Lexicon
from nongda.language.text import has_words, sentence_spans
from nongda.models.generate import Generator
from nongda.models.rerank import Reranker
from nongda.records import Answer, Candidate, Citation, Delta, Event, Evidence, Query, Stage, Turn
from nongda.settings import Settings

_EVIDENCE_CHARACTERS = 700  # about 450 tokens: 4 to 5 s of reading for 1.5B parameters on two cores
_QUOTES = 3  # three sentences hold every asked value in half of the measured questions
_MOST_SENTENCES = 6  # a small model that writes more has left the evidence
_REPEATS = 2  # a small model that repeats itself twice has nothing more to say
_PREAMBLE = re.compile(r"^(?:根据|依据|按照)(?:以上|上述|所给|提供的|给出的)*资料[，,：:]?\s*")
_ID_LIKE = re.compile(r"\[[^\]\n]{0,40}\]|（资料\d*）|\*\*")


class NamedEmbedder(QueryEmbedder, Protocol):
    """An embedder that says which file it is."""

    name: str


@dataclass
class _Draft:
    """What has been written so far."""

    sentences: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    citations: dict[tuple[str, str], Citation] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)  # harmless, but nothing to cite
    warnings: list[str] = field(default_factory=list)
    repeats: int = 0
    refused: bool = False


class Answerer:
    """Answers questions over one set of models; keeps no state between questions."""

    def __init__(self, lexicon: Lexicon, embedder: NamedEmbedder, reranker: Reranker | None,
                 generator: Generator | None, settings: Settings, system_prompt: str) -> None:
        self._lexicon = lexicon
        self._embedder = embedder
        self._reranker = reranker
        self._generator = generator
        self._settings = settings
        self._system_prompt = system_prompt.strip()

    def answer(self, question: str, history: Sequence[Turn], indexes: Indexes,
               stop: threading.Event) -> Iterator[Event]:
        """Yield stages as they end, checked sentences, and last the answer.

        Raises UsageError for a question without words or too long, GenerationError when the model fails.
        """
        clock = _Clock()
        query = understand(question, history, self._lexicon, self._settings.answer)
        yield clock.stage("understand")
        found: tuple[Candidate, ...] = ()
        for stage in retrieve(query, indexes, self._embedder, self._reranker, self._settings.search):
            found = stage.candidates or found
            yield clock.record(stage)
        usable = relevant(query, found, self._lexicon, self._settings.answer.relevance_cut)
        draft = _Draft()
        scored = score_evidence(query, usable, self._embedder, self._lexicon)
        yield clock.stage("select")
        if scored:
            for text in self._sentences(query, history, scored, draft, clock, stop):
                draft.sentences.append(text)
                yield Delta(text)
        yield from self._close(draft, usable if scored else [], stop)
        yield self._finished(query, draft, usable if scored else found, clock, stop)

    def _sentences(self, query: Query, history: Sequence[Turn], scored: Sequence[ScoredEvidence], draft: _Draft,
                   clock: _Clock, stop: threading.Event) -> Iterator[str]:
        """Yield checked, cited sentences: written by the model where there is one, else quoted."""
        evidence = compress(scored, _EVIDENCE_CHARACTERS)
        if self._generator is not None:
            for sentence in self._written(query, history, evidence, clock, stop):
                text = self._checked(sentence, query, evidence, draft)
                if text:
                    yield text
                if draft.repeats >= _REPEATS or len(draft.seen) >= _MOST_SENTENCES:
                    break
            clock.stage("generate")
        if stop.is_set():
            return
        if self._generator is not None and not draft.sentences:
            draft.warnings.append("模型没有写出能核对的回答，以下是最相近的资料原文")
        yield from self._completed(scored, draft)
        if not draft.sentences:
            yield from draft.unsupported

    def _completed(self, scored: Sequence[ScoredEvidence], draft: _Draft) -> Iterator[str]:
        """Yield the document's own words around what was written, or the best ones: small models say half of it."""
        written = bool(draft.sentences)
        cited = next((chunk_id for chunk_id, _ in draft.citations), "")
        for quote in best_quotes(scored, _QUOTES, cited):
            text = self._quote(quote, draft)
            if text:
                yield ("\n\n资料原文：" if written else "") + text
                written = False

    def _written(self, query: Query, history: Sequence[Turn], evidence: Sequence[ScoredEvidence], clock: _Clock,
                 stop: threading.Event) -> Iterator[str]:
        """Yield the model's sentences as they are finished."""
        generator, answer = self._generator, self._settings.answer
        if generator is None:
            return
        messages = build_messages(self._system_prompt, query, evidence, history, answer, generator.count_tokens)
        buffer = ""
        for piece in generator.generate(messages, answer.max_tokens, answer.temperature, stop):
            clock.first_token()
            buffer += piece
            spans = sentence_spans(buffer)
            for start, end in spans[:-1]:
                yield buffer[start:end]
            if len(spans) > 1:
                buffer = buffer[spans[-1][0] :]
        if not stop.is_set() and has_words(buffer):
            yield buffer.strip()

    def _checked(self, sentence: str, query: Query, evidence: Sequence[ScoredEvidence], draft: _Draft) -> str:
        """Return the sentence cited, or the quote that replaces it, or nothing."""
        sentence = _PREAMBLE.sub("", _ID_LIKE.sub("", LIST_MARK.sub("", sentence))).strip()
        key = "".join(sentence.split())
        if NO_ANSWER[-7:] in sentence:  # whether to refuse was decided before: small models refuse at random
            draft.repeats = _REPEATS
            return ""
        if not has_words(sentence) or sentence.endswith(UNFINISHED) or key in draft.seen:
            draft.repeats += key in draft.seen
            return ""
        draft.seen.add(key)
        tokens = frozenset(self._lexicon.tokens(sentence))
        vector = self._embedder.embed_queries([self._lexicon.canonical(sentence)])[0]
        threshold = self._settings.answer.cite_threshold
        near = [s.scored for s in supports(tokens, vector, evidence) if s.score >= threshold]
        for scored in near:
            if grounded(tokens, scored, query) and not unsupported(sentence, scored, self._lexicon):
                return self._cited(sentence, scored, draft)
        if near and (wrong := unsupported(sentence, near[0], self._lexicon)):
            draft.warnings.append(f"“{'、'.join(dict.fromkeys(wrong))}”在资料原文中核对不上，该句已换成原文")
            return self._quote(near[0], draft)
        self._set_aside(sentence, draft)
        return ""

    def _set_aside(self, sentence: str, draft: _Draft) -> None:
        """Keep a sentence nothing supports for an answer without any citation, if it claims nothing to go wrong."""
        if self._lexicon.units.quantities(sentence) or self._lexicon.entities(sentence):
            draft.warnings.append("有的句子没有资料支持，已删去")
        else:
            draft.unsupported.append(sentence)

    def _cited(self, sentence: str, scored: ScoredEvidence, draft: _Draft) -> str:
        citation = resolve(scored.evidence, scored.candidate)
        draft.citations.setdefault((citation.id, citation.quote), citation)
        end = sentence[-1] if sentence[-1] in "。！？!?；;" else ""
        return f"{sentence[: len(sentence) - len(end)]}{marker(citation.id)}{end or '。'}"

    def _quote(self, scored: ScoredEvidence, draft: _Draft) -> str:
        citation = resolve(scored.evidence, scored.candidate)
        if (citation.id, citation.quote) in draft.citations:
            return ""
        return self._cited(quoted(scored), scored, draft)

    def _close(self, draft: _Draft, usable: Sequence[Candidate], stop: threading.Event) -> Iterator[Delta]:
        """Yield what ends the text: the refusal, or the references when no sentence could be cited."""
        if stop.is_set():
            return
        if not draft.sentences:
            draft.refused = True
            draft.sentences = [NO_ANSWER]
            yield Delta(NO_ANSWER)
        elif not draft.citations:
            line = "\n\n" + references(usable)
            draft.sentences.append(line)
            for candidate in usable:
                whole = whole_passage(candidate)
                draft.citations[(whole.id, whole.quote)] = whole
            yield Delta(line)

    def _finished(self, query: Query, draft: _Draft, found: Sequence[Candidate], clock: _Clock,
                  stop: threading.Event) -> Answer:
        models = {
            "generator": self._generator.name if self._generator else "",
            "embedder": self._embedder.name,
            "reranker": self._reranker.name if self._reranker else "",
        }
        return Answer(
            question=query.original, standalone=query.standalone, text="".join(draft.sentences),
            refused=draft.refused, citations=tuple(draft.citations.values()), evidence=tuple(found),
            warnings=tuple(dict.fromkeys(draft.warnings)), timings=clock.finish(), models=models,
            stopped=stop.is_set(),
        )


def whole_passage(candidate: Candidate) -> Citation:
    """Return the whole passage as a citation, for an answer whose sentences could not be cited."""
    text = candidate.chunk.text
    return resolve(Evidence(candidate.chunk.id, text, 0, len(text)), candidate)


class _Clock:
    """Seconds per stage, from one start."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._timings: dict[str, float] = {}

    def stage(self, name: str) -> Stage:
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return self._keep(Stage(name, seconds))

    def record(self, stage: Stage) -> Stage:
        self._last = time.perf_counter()
        return self._keep(stage)

    def _keep(self, stage: Stage) -> Stage:
        self._timings[stage.name] = stage.seconds
        return stage

    def first_token(self) -> None:
        if "first_token" not in self._timings:
            self._timings["first_token"] = time.perf_counter() - self._start

    def finish(self) -> Mapping[str, float]:
        names = ("understand", "bm25", "dense", "fuse", "rerank", "select", "first_token", "generate")
        timings = {name: self._timings.get(name, 0.0) for name in names}
        return {name: round(s, 4) for name, s in {**timings, "total": time.perf_counter() - self._start}.items()}
