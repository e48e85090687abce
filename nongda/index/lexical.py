"""BM25 over postings: the formula of rank-bm25 0.2.2 (Okapi), without scanning every chunk for each word.

Okapi's idf, log((N - n + 0.5) / (n + 0.5)), is zero or negative for a word in half of the chunks or more, which
in a corpus of a few chunks is every word. There a small positive weight keeps the order of rarity, so that one
document alone is still found.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nongda.records import Hit

_COMMON_WORD_WEIGHT = 1e-3  # far below any rare word's idf


def okapi_idf(containing: int, total: int) -> float:
    """Return the idf of Robertson and Spärck Jones where positive, else a small positive weight."""
    idf = math.log((total - containing + 0.5) / (containing + 0.5))
    return idf if idf > 0 else _COMMON_WORD_WEIGHT * math.log(1 + (total - containing + 0.5) / (containing + 0.5))


class LexicalIndex:
    """An immutable BM25 index over (chunk id, tokens); made anew from the store when documents change."""

    def __init__(self, chunks: Sequence[tuple[str, Sequence[str]]], k1: float, b: float) -> None:
        self._ids = [chunk_id for chunk_id, _ in chunks]
        self._k1 = k1
        lengths = np.array([len(tokens) for _, tokens in chunks], dtype=np.float64)
        average = float(lengths.mean()) if lengths.size and lengths.any() else 1.0
        self._norm = k1 * (1 - b + b * lengths / average)
        postings: dict[str, list[tuple[int, int]]] = {}
        for row, (_, tokens) in enumerate(chunks):
            for token, count in Counter(t for t in tokens if t).items():
                postings.setdefault(token, []).append((row, count))
        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {
            token: (np.array([r for r, _ in rows]), np.array([float(c) for _, c in rows]))
            for token, rows in postings.items()
        }

    def __len__(self) -> int:
        return len(self._ids)

    def rarity(self, token: str) -> float:
        """Return log(1 + (N - n + 0.5) / (n + 0.5)): an idf that is positive for every word."""
        posting = self._postings.get(token)
        containing = len(posting[0]) if posting else 0
        return math.log(1 + (len(self._ids) - containing + 0.5) / (containing + 0.5))

    def search(self, tokens: Sequence[str], k: int) -> list[Hit]:
        """Return the k best chunks that hold at least one of the tokens; scores as rank-bm25 sums them."""
        scores = np.zeros(len(self._ids))
        for token, weight in Counter(tokens).items():
            posting = self._postings.get(token)
            if posting is None:
                continue
            rows, counts = posting
            idf = okapi_idf(len(rows), len(self._ids))
            scores[rows] += weight * idf * counts * (self._k1 + 1) / (counts + self._norm[rows])
        found = np.flatnonzero(scores > 0)
        hits = [Hit(self._ids[row], float(scores[row])) for row in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]
