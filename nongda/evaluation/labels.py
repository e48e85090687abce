"""Dev questions as the selector learns from them: the sentences that may answer each, and which of them prove it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from nongda.answer.features import FEATURES, Matrix
from nongda.answer.look import Looked
from nongda.engine import Engine
from nongda.evaluation.dataset import GoldQuestion, squeeze
from nongda.evaluation.runner import GoldScorer

_LEAST_INSIDE = 6  # characters of a text that stands whole in the other
_LEAST_COMMON = 8  # characters of a run that both have
_LEAST_SHARE = 0.5  # of the shorter text that such a run makes up
_NO_VECTORS = np.zeros((0, 0), dtype=np.float16)


@dataclass(frozen=True, slots=True)
class Example:
    """A question looked at.

    `pieces` are the places of the sentences that prove each piece of evidence, `chunks` the ids of the passages that do.
    """

    question: GoldQuestion
    looked: Looked
    pieces: tuple[frozenset[int], ...]
    chunks: tuple[frozenset[str], ...]

    @property
    def matrix(self) -> Matrix:
        """The features for the whole question: (sentences, len(FEATURES))."""
        return self.looked.described.matrices[0]

    @property
    def proof(self) -> NDArray[np.bool_]:
        """Which sentences prove something: (sentences,)."""
        found = np.zeros(len(self.matrix), dtype=np.bool_)
        found[sorted(frozenset().union(*self.pieces))] = True
        return found

    @property
    def passages(self) -> tuple[str, ...]:
        """The id of the passage of each sentence."""
        return tuple(sentence.evidence.chunk_id for _, sentence in self.looked.described.sentences)


def look_at(questions: Sequence[GoldQuestion], engine: Engine, scorer: GoldScorer) -> Iterator[Example]:
    """Look at every question as an answer would; about a second each."""
    for question in questions:
        looked = engine.look(question.question, question.history)
        yield label(question, looked, scorer.evidence(question))


def label(question: GoldQuestion, looked: Looked, chunks: Sequence[frozenset[str]]) -> Example:
    """Find the proving sentences; they stand in a passage that proves the same piece of evidence.

    Token vectors, which nothing here needs any more, are let go: a thousand passages of them fill a laptop's memory.
    """
    sentences = looked.described.sentences
    texts = [squeeze(sentence.evidence.text) for _, sentence in sentences]
    pieces = []
    for piece, ids in zip(question.evidence, chunks, strict=True):
        quotes = [squeeze(passage.quote) for passage in piece.passages]
        pieces.append(frozenset(
            place for place, (_, sentence) in enumerate(sentences)
            if sentence.evidence.chunk_id in ids and any(proves(texts[place], quote) for quote in quotes)
        ))
    light = tuple((c, replace(s, vectors=_NO_VECTORS, inside=_NO_VECTORS)) for c, s in sentences)
    described = replace(looked.described, sentences=light)
    return Example(question, replace(looked, described=described), tuple(pieces), tuple(chunks))


def proves(sentence: str, quote: str) -> bool:
    """Tell whether a sentence and a quote, both squeezed, are about the same words: one holds the other, or a long run."""
    if sentence in quote or quote in sentence:
        return min(len(sentence), len(quote)) >= _LEAST_INSIDE
    common = SequenceMatcher(None, sentence, quote, autojunk=False).find_longest_match().size
    return common >= max(_LEAST_COMMON, _LEAST_SHARE * min(len(sentence), len(quote)))


def without_proof(example: Example) -> Matrix:
    """Return the features of the sentences that are left when the proving passages are not found.

    A distance to the best sentence is one to the best that is left; the rank of a passage stays what it was.
    """
    proving = frozenset().union(*example.chunks)
    left = example.matrix[[passage not in proving for passage in example.passages]]
    gaps = [place for place, name in enumerate(FEATURES) if name.endswith("_gap")]
    if len(left):
        left[:, gaps] -= left[:, gaps].max(axis=0)
    return left
