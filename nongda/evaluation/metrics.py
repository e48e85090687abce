"""Formulas of retrieval and citation quality, one question at a time; means over questions are macro averages."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PRF:
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Return 2PR / (P + R), 0 where both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def citation_prf(cited: Collection[str], evidence: Sequence[Collection[str]]) -> PRF:
    """Compare cited ids with the evidence; each piece of evidence is a set of ids that prove the same.

    Precision: the share of cited ids that prove something. Recall: the share of the pieces that are proved.
    Citing nothing scores 0.
    """
    if not cited or not evidence:
        return PRF(0.0, 0.0)
    proving = frozenset().union(*map(frozenset, evidence))
    right = sum(chunk_id in proving for chunk_id in set(cited))
    proved = sum(any(chunk_id in piece for chunk_id in cited) for piece in evidence)
    return PRF(right / len(set(cited)), proved / len(evidence))


def evidence_recall(ranking: Sequence[str], evidence: Sequence[Collection[str]], k: int) -> float:
    """Return the share of the pieces of evidence that one of the first k ids proves."""
    first = set(ranking[:k])
    return sum(not first.isdisjoint(piece) for piece in evidence) / len(evidence)


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1 / the rank of the first relevant id among the first k, 0 where there is none."""
    return next((1 / rank for rank, found in enumerate(ranking[:k], start=1) if found in relevant), 0.0)


def recall(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of the relevant ids among the first k."""
    return len(set(ranking[:k]) & set(relevant)) / len(relevant)


def ndcg(ranking: Sequence[str], gains: Mapping[str, int], k: int) -> float:
    """Return nDCG@k with linear gains and a log2(rank + 1) discount (Järvelin and Kekäläinen, 2002)."""
    found = [gains.get(i, 0) for i in ranking[:k]]
    best = sorted(gains.values(), reverse=True)[:k]
    ideal = _dcg(best)
    return _dcg(found) / ideal if ideal else 0.0


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
