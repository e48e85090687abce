"""Learns what assets/domain/selector.toml holds: the weights of the sentences' features and those of the gate.

1. Sentences: a listwise softmax over a question's sentences; the loss is -log of the probability that falls on those
   which prove something, so that a question with several proofs asks for any of them (Cao et al., 2007).
2. Gate: logistic regression; can the passages answer at all? Beside the unanswerable questions, of which there are
   few, the answerable ones teach it with their proving passages taken out.

Features are standardised while learning; the weights come back for features as they are. Everything is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongda.answer.features import FEATURES, Matrix
from nongda.answer.select import GATE, Selector, gate_features
from nongda.errors import UsageError
from nongda.evaluation.labels import Example, without_proof

Vector = NDArray[np.float64]
SENTENCE_L2 = 10.0  # for the sum over all questions
GATE_L2 = 10.0
# Likeness never speaks against an answer; of correlated features one would, and a strange question pay for it.
AGAINST = ("other_problem",)
LOST = 0.02  # of the answerable questions fall under the cut: one in fifty refused wrongly is what readers bear
_STEPS = 1000  # the gradient is under 1e-6 then
_RATE = 0.05
_CUTS = tuple(part.name for part in fields(Selector) if part.name not in ("weights", "gate"))
NOTHING_LEARNED = Selector(np.zeros(len(FEATURES)), np.zeros(len(GATE)), **dict.fromkeys(_CUTS, 0.0))


GATE_SIGNS: Vector = np.array([-1.0 if name in AGAINST else 1.0 for name in GATE])


@dataclass(frozen=True, slots=True)
class Listed:
    """Sentences of several questions below each other; those of question i begin at `starts[i]`."""

    matrix: Matrix
    proof: NDArray[np.bool_]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, lists: Sequence[tuple[Matrix, NDArray[np.bool_]]]) -> Listed:
        """Stack the lists that have a proof; the others teach nothing. Raises UsageError when none has."""
        kept = [(matrix, proof) for matrix, proof in lists if proof.any()]
        if not kept:
            raise UsageError("没有一道题找到能证明答案的句子，无法学习：请检查 dev 题的引文和资料")
        starts = np.cumsum([0, *(len(proof) for _, proof in kept[:-1])])
        return cls(np.concatenate([m for m, _ in kept]), np.concatenate([p for _, p in kept]), starts)


def learn_sentences(lists: Sequence[tuple[Matrix, NDArray[np.bool_]]]) -> Vector:
    """Return a weight for each feature, 0 where it is the same everywhere."""
    listed = Listed.of(lists)
    scale = _Scale.of(listed.matrix)
    standard = Listed(scale.apply(listed.matrix), listed.proof, listed.starts)
    return scale.raw(descend(lambda weights: sentence_gradient(weights, standard, SENTENCE_L2), listed.matrix.shape[1]))


def sentence_gradient(weights: Vector, listed: Listed, l2: float) -> Vector:
    """Return the gradient of the mean over questions of -log P(proof), plus l2 / (2 n) |weights|²."""
    count = len(listed.starts)
    lengths = np.diff([*listed.starts, len(listed.proof)])
    scores = listed.matrix @ weights
    powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, listed.starts), lengths))
    proving = powers * listed.proof
    total = np.add.reduceat(powers, listed.starts)
    proved = np.maximum(np.add.reduceat(proving, listed.starts), np.finfo(np.float64).tiny)
    pull = powers / np.repeat(total, lengths) - proving / np.repeat(proved, lengths)
    gradient: Vector = (listed.matrix.T @ pull + l2 * weights) / count
    return gradient


@dataclass(frozen=True, slots=True)
class GateRow:
    """The gate's features of a question; `whole` is False where its proof was taken out."""

    features: Vector
    answerable: bool
    whole: bool = True


def learn_gate(rows: Sequence[GateRow], signs: Vector = GATE_SIGNS) -> tuple[Vector, float]:
    """Return a weight for each gate feature, of the sign given, and the bias; over 0 is more likely answerable.

    Questions that nobody can answer and those without their proof count alike, whichever are more.
    Raises UsageError when all rows are of one kind.
    """
    answerable = np.array([row.answerable for row in rows], dtype=np.bool_)
    if answerable.all() or not answerable.any():
        raise UsageError("学习能否回答需要能回答的和不能回答的 dev 题：请补充题目")
    matrix, counts = np.array([row.features for row in rows]), _counts(rows)
    scale = _Scale.of(matrix)
    standard = np.column_stack([scale.apply(matrix), np.ones(len(matrix))])
    penalty = np.append(np.full(matrix.shape[1], GATE_L2), 0.0)

    def gradient(weights: Vector) -> Vector:
        chance = 1 / (1 + np.exp(-standard @ weights))
        found: Vector = (standard.T @ (counts * (chance - answerable)) + penalty * weights) / len(matrix)
        return found

    learned = descend(gradient, standard.shape[1], np.append(signs, 0.0))
    weights = scale.raw(learned[:-1])
    return weights, float(learned[-1] - weights @ scale.mean)


def _counts(rows: Sequence[GateRow]) -> Vector:
    """How much each row counts: 1, or so that both kinds that cannot be answered have the same sum."""
    whole = sum(not row.answerable and row.whole for row in rows)
    taken_out = sum(not row.answerable and not row.whole for row in rows)
    if not whole or not taken_out:
        return np.ones(len(rows))
    half = (whole + taken_out) / 2
    return np.array([1.0 if row.answerable else half / (whole if row.whole else taken_out) for row in rows])


@dataclass(frozen=True, slots=True)
class _Scale:
    """Makes every feature one of mean 0 and deviation 1; one that never changes becomes 0."""

    mean: Vector
    deviation: Vector  # infinite for a constant, whose weight is 0 then

    @classmethod
    def of(cls, matrix: Matrix) -> _Scale:
        """Measure the columns."""
        return cls(matrix.mean(axis=0), np.where(np.ptp(matrix, axis=0) > 0, matrix.std(axis=0), np.inf))

    def apply(self, matrix: Matrix) -> Matrix:
        """Return the standardised features."""
        standard: Matrix = (matrix - self.mean) / self.deviation
        return standard

    def raw(self, weights: Vector) -> Vector:
        """Return the weights that do for the features as they are what these do for standardised ones."""
        found: Vector = weights / self.deviation
        return found


def descend(gradient: Callable[[Vector], Vector], size: int, signs: Vector | None = None) -> Vector:
    """Minimise from 0 with Adam (Kingma and Ba, 2015), the rate falling to 0: no step size to search, always the same.

    With `signs` a weight stays at 0 or on the side of its sign; 0 leaves it free.
    """
    weights, mean, square = np.zeros(size), np.zeros(size), np.zeros(size)
    for step in range(1, _STEPS + 1):
        slope = gradient(weights)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        rate = _RATE * (1 - (step - 1) / _STEPS)
        weights = weights - rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        if signs is not None:
            weights = np.where(weights * signs < 0, 0.0, weights)
    return weights


def gate_rows(example: Example, weights: Vector) -> list[GateRow]:
    """Return gate features of the question as it is, and without its proof.

    A question whose proof was not found is only taken as it is; one without any sentence teaches nothing.
    """
    if not len(example.matrix):
        return []
    rows = [GateRow(gate_features(example.matrix, example.matrix @ weights), example.question.answerable)]
    left = without_proof(example)
    if 0 < len(left) < len(example.matrix):
        rows.append(GateRow(gate_features(left, left @ weights), False, whole=False))
    return rows


def gate_cut(scores: Sequence[float]) -> float:
    """Return the score that the share LOST of the answerable questions falls under; -inf counts for none."""
    finite = [score for score in scores if np.isfinite(score)]
    return float(np.quantile(finite, LOST)) if finite else 0.0


def selector_text(selector: Selector, questions: int) -> str:
    """Return selector.toml: one weight a line, the same bytes for the same weights."""
    lines = [
        "# How a sentence's features count for the choice of an answer, and when the passages answer a question at all.",
        f"# Learned from {questions} dev questions by: python app.py learn. Do not edit: run it again after a change of",
        "# features (nongda/answer/features.py, select.py), documents, embedder or dev questions.",
        "", "[sentence]", *_lines(FEATURES, selector.weights), "", "[gate]", *_lines(GATE, selector.gate),
        "", "[cuts]", *_lines(_CUTS, [getattr(selector, name) for name in _CUTS]),
    ]
    return "\n".join(lines) + "\n"


def _lines(names: Sequence[str], values: Sequence[float] | Vector) -> list[str]:
    return [f"{name} = {value + 0.0:.4f}".replace("= -0.0000", "= 0.0000") for name, value in zip(names, values, strict=True)]


def write_selector(path: Path, selector: Selector, questions: int) -> None:
    """Write selector.toml. Raises UsageError when the file cannot be written."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_text(selector_text(selector, questions), encoding="utf-8", newline="\n")
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"选句参数文件 {path} 无法写入（{error}）：请检查路径和权限") from error
