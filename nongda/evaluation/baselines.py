"""Weaker parts to measure against: what the full system has to beat."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Iterator, Sequence
from threading import Event as StopEvent

import numpy as np
from numpy.typing import NDArray

from nongda.answer.cite import resolve, whole_passage
from nongda.answer.compose import cited
from nongda.answer.compress import score_evidence
from nongda.answer.prompt import NO_ANSWER
from nongda.answer.understand import understand
from nongda.engine import Engine
from nongda.language.lexicon import Lexicon
from nongda.models.generate import Generator, Message
from nongda.records import Answer, Candidate, Event, Stage, Turn

_PAIR_DIMENSION = 256
_PASSAGES = 5  # what a plain product hands on, and what the context of a small model holds
_SIMPLE_PROMPT = "请只根据下面编号的资料回答问题，每句话后面用方括号注明所依据资料的编号，如[1]。资料里没有答案就说“资料中没有”。"
_CITED = re.compile(r"[\[【](\d+)[\]】]")
_REFUSES = re.compile(r"资料中?里?[，,]?(?:都|并)?(?:没有|未)|没有相关(?:信息|内容|资料)|无法回答|没有找到")


class PairEmbedder:
    """A deliberately weak embedder: hashed character pairs, no meaning at all."""

    name = "character-pairs"
    dimension = _PAIR_DIMENSION

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 256) float32, L2-normalised."""
        vectors = np.zeros((len(texts), _PAIR_DIMENSION), np.float32)
        for row, text in enumerate(texts):
            letters = "".join(text.split()) + " "
            for start in range(len(letters) - 1):
                vectors[row, zlib.crc32(letters[start : start + 2].encode()) % _PAIR_DIMENSION] += 1
        norms: NDArray[np.float32] = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return vectors / norms


class WordReranker:
    """A light reranker: the share of the question's words that a passage holds."""

    name = "shared words"

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return one share per passage, (n,) float32."""
        words = set(self._lexicon.tokens(question))
        held = [len(words & set(self._lexicon.tokens(passage))) / max(1, len(words)) for passage in passages]
        return np.array(held, np.float32)


class SimpleRag:
    """What most products do: the nearest passages by embedding, handed to the model with a request to cite.

    The passages the model names are its citations; where it names none, all it was given, as such products list
    their sources. Nothing is checked.
    """

    def __init__(self, engine: Engine, generator: Generator | None) -> None:
        self._engine = engine
        self._generator = generator

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Iterator[Event]:
        """Yield the retrieval's stage and the answer."""
        started = time.perf_counter()
        depth = self._engine.settings.search.candidates
        found = self._engine.search(question, "dense", rerank=False, k=depth).candidates
        yield Stage("dense", time.perf_counter() - started, found, tuple(c.chunk.id for c in found))
        passages = found[:_PASSAGES]
        written = time.perf_counter()
        text = self._write(question, history, passages)
        timings = {"dense": written - started, "generate": time.perf_counter() - written,
                   "total": time.perf_counter() - started}
        refused = not text or self._refuses(text)
        named = {int(number) for number in _CITED.findall(text)} & set(range(1, len(passages) + 1))
        cited = [passages[number - 1] for number in sorted(named)] or list(passages)
        yield Answer(
            question=question, standalone=question, text=text or NO_ANSWER, refused=refused,
            citations=() if refused else tuple(whole_passage(c) for c in cited), evidence=passages, timings=timings,
        )

    def _refuses(self, text: str) -> bool:
        """A reply that says the sources hold nothing, and gives no value after all."""
        plain = _CITED.sub("", text)
        return bool(_REFUSES.search(plain)) and not self._engine.lexicon.units.quantities(plain)

    def _write(self, question: str, history: Sequence[Turn], passages: Sequence[Candidate]) -> str:
        """Return the model's text; without a model the passages themselves."""
        if self._generator is None:
            return "\n".join(candidate.chunk.text for candidate in passages)
        answer = self._engine.settings.answer
        sources = "\n\n".join(f"[{n}] {c.chunk.text}" for n, c in enumerate(passages, start=1))
        messages: list[Message] = [{"role": "system", "content": _SIMPLE_PROMPT}]
        messages += [{"role": turn.role, "content": turn.content} for turn in history]
        messages.append({"role": "user", "content": f"{sources}\n\n问题：{question}"})
        return "".join(self._generator.generate(messages, answer.max_tokens, answer.temperature, StopEvent())).strip()


class NearestSentences:
    """The sentences nearest to the question by embedding and shared words, out of the five best passages.

    Retrieval and the reading of a conversation are the product's own. Nothing is ever refused.
    """

    def __init__(self, engine: Engine, count: int) -> None:
        self._engine = engine
        self._count = count

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Iterator[Event]:
        """Yield the retrieval's stage and the answer."""
        engine, started = self._engine, time.perf_counter()
        query = understand(question, history, engine.lexicon, engine.settings.answer)
        found = engine.search(query.standalone, k=engine.settings.search.candidates).candidates
        searched = time.perf_counter()
        yield Stage("search", searched - started, found, tuple(c.chunk.id for c in found))
        scored = score_evidence(query, found[:_PASSAGES], engine.embedder, engine.lexicon)
        best = sorted(scored, key=lambda s: -s.score)[: self._count]
        ended = time.perf_counter()
        yield Answer(
            question=question, standalone=query.standalone, text="".join(map(cited, best)) or NO_ANSWER, refused=not best,
            citations=tuple(resolve(s.evidence, s.candidate) for s in best), evidence=found[:_PASSAGES],
            timings={"search": searched - started, "select": ended - searched, "total": ended - started},
        )
