"""Dev questions as the selector learns from them: the sentences that may answer each, and which of them prove it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nongda.answer.features import FEATURES, Matrix
from nongda.answer.look import Looked
from nongda.engine import Engine
from nongda.evaluation.causes import proves
from nongda.evaluation.dataset import GoldQuestion
from nongda.evaluation.runner import GoldScorer

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
        return self._places(frozenset().union(*self.pieces))

    @property
    def lists(self) -> list[tuple[Matrix, NDArray[np.bool_]]]:
        """What the weights are learned from: the whole question's sentences with their proof, and those of each facet.

        A facet's proof is known where there is one piece of evidence for each, in the order of the question.
        """
        facets = self.looked.described.matrices[1:]
        found = [(self.matrix, self.proof)]
        if len(facets) == len(self.pieces) > 1:
            found += [(matrix, self._places(piece)) for matrix, piece in zip(facets, self.pieces, strict=True)]
        return found

    def _places(self, proving: Iterable[int]) -> NDArray[np.bool_]:
        found = np.zeros(len(self.matrix), dtype=np.bool_)
        found[sorted(proving)] = True
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
    pieces = tuple(
        frozenset(place for place, (_, sentence) in enumerate(sentences) if sentence.evidence.chunk_id in ids
                  and any(proves(sentence.evidence.text, passage.quote) for passage in piece.passages))
        for piece, ids in zip(question.evidence, chunks, strict=True)
    )
    light = tuple((c, replace(s, vectors=_NO_VECTORS, inside=_NO_VECTORS)) for c, s in sentences)
    described = replace(looked.described, sentences=light)
    return Example(question, replace(looked, described=described), pieces, tuple(chunks))


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
