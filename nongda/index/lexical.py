"""BM25 over postings: the formula of rank-bm25 0.2.2 (Okapi), without scanning every chunk for each word.

Okapi's idf, log((N - n + 0.5) / (n + 0.5)), is zero or negative for a word in half of the chunks or more, which
in a corpus of a few chunks is every word. There a small positive weight keeps the order of rarity, so that one
document alone is still found.

The postings of each document are counted once. An index joins them by sorting all postings by word, which takes less
than 0.1 s for 20,000 chunks, so that it can be made anew whenever a document comes or goes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nongda.records import Hit

_Number = TypeVar("_Number", bound=np.generic)
_COMMON_WORD_WEIGHT = 1e-3  # far below any rare word's idf


class Vocabulary(dict[str, int]):
    """The number of each word; a new word is given the next one, none is ever taken back."""

    def __missing__(self, word: str) -> int:
        """Number a new word."""
        number = self[word] = len(self)
        return number


@dataclass(frozen=True, slots=True)
class Postings:
    """Which word stands how often in which chunk of a few: parallel arrays, and the length of each chunk in words."""

    ids: tuple[str, ...]
    lengths: NDArray[np.float64]
    words: NDArray[np.int32]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]


def okapi_idf(containing: int, total: int) -> float:
    """Return the idf of Robertson and Spärck Jones where positive, else a small positive weight."""
    idf = math.log((total - containing + 0.5) / (containing + 0.5))
    return idf if idf > 0 else _COMMON_WORD_WEIGHT * math.log(1 + (total - containing + 0.5) / (containing + 0.5))


def count_words(chunks: Sequence[tuple[str, Sequence[str]]], vocabulary: Vocabulary) -> Postings:
    """Count the tokens of (chunk id, tokens); new words are added to the vocabulary."""
    size, kept = len(chunks), [[t for t in tokens if t] for _, tokens in chunks]
    numbers = np.fromiter(map(vocabulary.__getitem__, chain.from_iterable(kept)), dtype=np.int64)
    places, counts = np.unique(numbers * size + np.repeat(np.arange(size), [len(k) for k in kept]), return_counts=True)
    words, rows = np.divmod(places, max(size, 1))
    return Postings(tuple(i for i, _ in chunks), np.array([len(t) for _, t in chunks], dtype=np.float64),
                    words.astype(np.int32), rows.astype(np.int32), counts.astype(np.int32))


class LexicalIndex:
    """An immutable BM25 index over (chunk id, tokens)."""

    def __init__(self, chunks: Sequence[tuple[str, Sequence[str]]], k1: float, b: float) -> None:
        vocabulary = Vocabulary()
        self._join([count_words(chunks, vocabulary)], vocabulary, k1, b)

    @classmethod
    def of(cls, pieces: Sequence[Postings], vocabulary: Vocabulary, k1: float, b: float) -> LexicalIndex:
        """Join pieces that were counted with this vocabulary."""
        index = object.__new__(cls)
        index._join(pieces, vocabulary, k1, b)
        return index

    def _join(self, pieces: Sequence[Postings], vocabulary: Vocabulary, k1: float, b: float) -> None:
        self._ids = [i for piece in pieces for i in piece.ids]
        self._vocabulary = vocabulary
        self._k1 = k1
        lengths = _joined([p.lengths for p in pieces], np.float64)
        average = float(lengths.mean()) if lengths.size and lengths.any() else 1.0
        self._norm = k1 * (1 - b + b * lengths / average)
        firsts = np.cumsum([0, *(len(p.ids) for p in pieces)])
        words = _joined([p.words for p in pieces], np.int32)
        order = _order(words)
        self._rows = _joined([p.rows + first for p, first in zip(pieces, firsts, strict=False)], np.int32)[order]
        self._counts = _joined([p.counts for p in pieces], np.int32)[order]
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(words, minlength=1))))

    def __len__(self) -> int:
        return len(self._ids)

    def _posting(self, token: str) -> slice:
        number = self._vocabulary.get(token, -1)
        if not 0 <= number < len(self._starts) - 1:  # a word that came later with another document
            return slice(0, 0)
        return slice(int(self._starts[number]), int(self._starts[number + 1]))

    def rarity(self, token: str) -> float:
        """Return log(1 + (N - n + 0.5) / (n + 0.5)): an idf that is positive for every word."""
        posting = self._posting(token)
        containing = posting.stop - posting.start
        return math.log(1 + (len(self._ids) - containing + 0.5) / (containing + 0.5))

    def search(self, tokens: Sequence[str], k: int) -> list[Hit]:
        """Return the k best chunks that hold at least one of the tokens; scores as rank-bm25 sums them."""
        scores = np.zeros(len(self._ids))
        for token, weight in Counter(tokens).items():
            posting = self._posting(token)
            rows, counts = self._rows[posting], self._counts[posting].astype(np.float64)
            if not rows.size:
                continue
            idf = okapi_idf(len(rows), len(self._ids))
            scores[rows] += weight * idf * counts * (self._k1 + 1) / (counts + self._norm[rows])
        found = np.flatnonzero(scores > 0)
        if 0 < k < found.size:
            found = found[scores[found] >= np.partition(scores[found], -k)[-k]]
        hits = [Hit(self._ids[row], float(scores[row])) for row in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]


def _joined(arrays: Sequence[NDArray[Any]], kind: type[_Number]) -> NDArray[_Number]:
    return np.concatenate([np.zeros(0, dtype=kind), *arrays]).astype(kind)


def _order(words: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the stable order of word numbers: two passes over 16 bits, which numpy sorts by radix."""
    order = np.argsort((words & 0xFFFF).astype(np.uint16), kind="stable")
    return order[np.argsort((words[order] >> 16).astype(np.uint16), kind="stable")]
