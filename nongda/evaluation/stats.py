"""Intervals and tests over questions. Randomness comes from the generator that is passed in.

Every metric here is a ratio of sums over questions, sum(numerator) / sum(denominator): a mean has denominators of
1, a share of some questions (refusals that were right) has 1 for those and 0 for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROUNDS = 5000
_LEVEL = 0.95
_ROUNDS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Sample:
    """A metric's numerators and denominators, one each per question."""

    numerators: Floats
    denominators: Floats

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> Sample:
        """Build a sample from (numerator, denominator) pairs."""
        array = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        return cls(array[:, 0], array[:, 1])

    @property
    def value(self) -> float:
        """The metric; NaN where no question counts."""
        return float(_ratio(self.numerators.sum(), self.denominators.sum()))


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


def bootstrap(sample: Sample, rng: np.random.Generator, rounds: int = ROUNDS) -> Floats:
    """Return the metric on `rounds` resamples of the questions, drawn with replacement (Efron, 1979)."""
    size = len(sample.numerators)
    if not size:
        return np.full(rounds, np.nan)
    parts = []
    for start in range(0, rounds, _ROUNDS_AT_ONCE):
        drawn = rng.integers(0, size, (min(_ROUNDS_AT_ONCE, rounds - start), size))
        parts.append(_ratio(sample.numerators[drawn].sum(axis=1), sample.denominators[drawn].sum(axis=1)))
    return np.concatenate(parts)


def interval(sample: Sample, rng: np.random.Generator, rounds: int = ROUNDS) -> Interval:
    """Return the metric with its 95 % percentile interval."""
    values = bootstrap(sample, rng, rounds)
    values = values[~np.isnan(values)]
    if not values.size:
        return Interval(sample.value, float("nan"), float("nan"))
    low, high = np.quantile(values, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Interval(sample.value, float(low), float(high))


def permutation_p(one: Sample, other: Sample, rng: np.random.Generator, rounds: int = ROUNDS) -> float:
    """Return the two-sided p of a paired permutation test: both systems' results are swapped at random per question.

    p = (c + 1) / (n + 1), c of n shuffles with a difference as large as the observed one (Phipson and Smyth, 2010).
    Raises ValueError when the samples are not of the same questions.
    """
    if len(one.numerators) != len(other.numerators):
        raise ValueError("a paired test needs the same questions on both sides")
    observed = abs(one.value - other.value)
    if np.isnan(observed):
        return 1.0
    count = 0
    for start in range(0, rounds, _ROUNDS_AT_ONCE):
        keep = rng.integers(0, 2, (min(_ROUNDS_AT_ONCE, rounds - start), len(one.numerators))).astype(bool)
        first = _ratio(_mixed(one.numerators, other.numerators, keep), _mixed(one.denominators, other.denominators, keep))
        second = _ratio(_mixed(other.numerators, one.numerators, keep), _mixed(other.denominators, one.denominators, keep))
        differences = np.abs(first - second)  # not a number where a shuffle leaves a side without any case: extreme
        count += int(np.sum(np.isnan(differences) | (differences >= observed - 1e-12)))
    return (count + 1) / (rounds + 1)


def _mixed(one: Floats, other: Floats, keep: NDArray[np.bool_]) -> Floats:
    mixed: Floats = np.where(keep, one, other).sum(axis=1)
    return mixed


def _ratio(numerator: Floats | np.float64, denominator: Floats | np.float64) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(np.asarray(denominator) > 0, np.divide(numerator, denominator), np.nan))


def cohen_kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Return Cohen's kappa (1960) of two judges; 1 where both always gave the same single label."""
    labels = sorted(set(one) | set(other))
    agreed = float(np.mean([a == b for a, b in zip(one, other, strict=True)]))
    chance = sum((list(one).count(x) / len(one)) * (list(other).count(x) / len(other)) for x in labels)
    return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for their number (Holm, 1979), in the order given."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted
