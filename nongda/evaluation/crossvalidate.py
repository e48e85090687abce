"""What learning is worth on questions it has not seen: folds by topic, before and after, and the cuts of composition.

1. Every fold's weights come from the questions of the other topics.
2. The cuts that say which sentences come along with the best are tried on a small grid: citation F1 plus the share of
   right answers, each question by the weights that have not seen its topic. A fold's own figure uses the cuts that are
   best for the other folds.
3. The gate is learned and measured on the scores of those weights, so that it meets them as strange questions do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from nongda.answer.compose import cited
from nongda.answer.features import FEATURES
from nongda.answer.select import GATE, Selector, select
from nongda.evaluation.labels import Example
from nongda.evaluation.learn import Vector, gate_cut, gate_rows, learn_gate, learn_sentences
from nongda.evaluation.scoring import Outcome, score
from nongda.evaluation.values import Values

FOLDS = 5
Cuts = tuple[float, float, float]  # facet_share, same_passage, another
NAMES = ("facet_share", "same_passage", "another")
GRID: list[Cuts] = list(product((0.3, 0.5, 0.7), (0.01, 0.02, 0.05, 0.1), (0.1, 0.2, 0.4, 0.6)))
MEASURES = ("citation_precision", "citation_recall", "citation_f1", "correct")
_FIRST = 3


def folds(examples: Sequence[Example], count: int = FOLDS) -> list[int]:
    """Return each question's fold; a topic is never in two."""
    topics = sorted({example.question.topic for example in examples})
    return [topics.index(example.question.topic) % count for example in examples]


def held_out_weights(examples: Sequence[Example], fold_of: Sequence[int]) -> list[Vector]:
    """Return for each question the weights learned from the questions of the other folds."""
    learned = {
        fold: learn_sentences([(e.matrix, e.proof) for e, f in zip(examples, fold_of, strict=True) if f != fold])
        for fold in sorted(set(fold_of))
    }
    return [learned[fold] for fold in fold_of]


def plain_weights(examples: Sequence[Example], names: Sequence[str] = FEATURES) -> Vector:
    """Return equal weights of some features, each per standard deviation: what there is without learning."""
    deviation = np.concatenate([example.matrix for example in examples]).std(axis=0)
    chosen = np.array([name in names for name in FEATURES]) & (deviation > 0)
    return np.where(chosen, 1 / np.where(deviation > 0, deviation, 1.0), 0.0)


@dataclass
class Composer:
    """Scores the quotes that would be chosen for a question; the same quotes are scored once."""

    values: Values
    _known: dict[tuple[str, str], Vector] = field(default_factory=dict)

    def measure(self, example: Example, weights: Vector, cuts: Cuts) -> Vector:
        """Return MEASURES of an answerable question's quotes, the gate open."""
        selector = Selector(weights, np.zeros(len(GATE)), 0.0, 0.0, *cuts)
        quotes = [one.scored for one in select(example.looked.described, selector).chosen]
        text = "".join(map(cited, quotes))
        key = (example.question.id, text)
        if key not in self._known:
            chunks = tuple(dict.fromkeys(quote.evidence.chunk_id for quote in quotes))
            found = score(example.question, Outcome(text, False, chunks, (), {}), example.chunks, {}, self.values).metrics
            self._known[key] = np.array([found[name][0] for name in MEASURES])
        return self._known[key]


@dataclass(frozen=True, slots=True)
class Composed:
    """The mean MEASURES of every setting of the grid, the best one, and what its choice brings a fold it has not seen."""

    curve: Mapping[Cuts, Vector]
    best: Cuts
    unseen: Vector


def compose_cuts(examples: Sequence[Example], weights: Sequence[Vector], fold_of: Sequence[int],
                 composer: Composer) -> Composed:
    """Try the grid on the answerable questions. The first of equals is kept."""
    asked = [i for i, example in enumerate(examples) if example.question.answerable]
    fold = np.array([fold_of[i] for i in asked])
    found = {cuts: np.array([composer.measure(examples[i], weights[i], cuts) for i in asked]) for cuts in GRID}

    def best_of(kept: np.ndarray) -> Cuts:
        return max(found, key=lambda cuts: float(found[cuts][kept][:, 2:].mean(axis=0).sum()))

    unseen = np.concatenate([found[best_of(fold != f)][fold == f] for f in sorted(set(fold))])
    curve = {cuts: measures.mean(axis=0) for cuts, measures in found.items()}
    return Composed(curve, best_of(np.ones(len(asked), dtype=np.bool_)), unseen.mean(axis=0))


def ranking_measures(examples: Sequence[Example], weights: Sequence[Vector]) -> Vector:
    """Return means over the answerable questions.

    How often the first sentence proves something, its passage does, and the share of the pieces of evidence that
    one of the first three sentences proves.
    """
    rows = []
    for example, own in zip(examples, weights, strict=True):
        if not example.question.answerable:
            continue
        order = [int(i) for i in np.argsort(-(example.matrix @ own), kind="stable")[:_FIRST]]
        if not order:
            rows.append([0.0, 0.0, 0.0])
            continue
        proving = frozenset().union(*example.chunks)
        pieces = [bool(piece & set(order)) for piece in example.pieces]
        rows.append([float(example.proof[order[0]]), float(example.passages[order[0]] in proving), float(np.mean(pieces))])
    found: Vector = np.array(rows).mean(axis=0)
    return found


@dataclass(frozen=True, slots=True)
class GateReport:
    """The gate on questions it has not seen: the cut, and the shares of each kind that fall under it."""

    cut: float
    answerable: float
    without_proof: float
    unanswerable: float
    counts: tuple[int, int, int]  # of the three kinds


def measure_gate(examples: Sequence[Example], weights: Sequence[Vector], fold_of: Sequence[int]) -> GateReport:
    """Learn the gate of each fold from the others, and choose the cut on the scores of all."""
    rows = [(fold, example.question.answerable, row, right)
            for example, own, fold in zip(examples, weights, fold_of, strict=True)
            for row, right in gate_rows(example, own)]
    scores: dict[tuple[bool, bool], list[float]] = {(True, True): [], (True, False): [], (False, False): []}
    for fold in sorted(set(fold_of)):
        others = [(row, right) for f, _, row, right in rows if f != fold]
        gate, bias = learn_gate(np.array([row for row, _ in others]), np.array([right for _, right in others]))
        for f, answerable, row, right in rows:
            if f == fold:
                scores[answerable, right].append(float(row @ gate + bias))
    cut = gate_cut(scores[True, True])
    under = [float(np.mean(np.array(kind) < cut)) if kind else 0.0 for kind in scores.values()]
    return GateReport(cut, under[0], under[1], under[2], (len(scores[True, True]), len(scores[True, False]), len(scores[False, False])))


@dataclass(frozen=True, slots=True)
class Learned:
    """A selector learned from all questions, and what cross-validation says of it, in lines to print."""

    selector: Selector
    lines: tuple[str, ...]


def learn(examples: Sequence[Example], values: Values) -> Learned:
    """Learn everything and say what it is worth. Raises UsageError when the questions cannot teach it."""
    fold_of = folds(examples)
    held = held_out_weights(examples, fold_of)
    gate = measure_gate(examples, held, fold_of)
    composer = Composer(values)
    before = {"只用迟交互": plain_weights(examples, ("late",)), "各特征同权": plain_weights(examples)}
    ways = {**{name: [weights] * len(examples) for name, weights in before.items()}, "学得的权重": held}
    composed = {name: compose_cuts(examples, weights, fold_of, composer) for name, weights in ways.items()}
    rows = [row for example, own in zip(examples, held, strict=True) for row in gate_rows(example, own)]
    weights, bias = learn_gate(np.array([row for row, _ in rows]), np.array([right for _, right in rows]))
    best = composed["学得的权重"]
    selector = Selector(learn_sentences([(e.matrix, e.proof) for e in examples]), weights, bias, gate.cut, *best.best)
    table = [f"{name}：" + _words(ranking_measures(examples, ways[name]), composed[name].unseen) for name in ways]
    return Learned(selector, (f"按主题 {len(set(fold_of))} 折交叉验证，{len(examples)} 题：", *table, *_curve(best), *_gate_lines(gate)))


def _words(ranking: Vector, composed: Vector) -> str:
    names = ("首句是证据", "首段是证据", "前三句含证据", "引用精确率", "引用召回率", "引用F1", "回答正确")
    return "  ".join(f"{name} {value:.3f}" for name, value in zip(names, (*ranking, *composed), strict=True))


def _curve(composed: Composed) -> list[str]:
    """One line for every value of a cut, the two others as they are best."""
    lines = []
    for place, name in enumerate(NAMES):
        for cuts in GRID:
            if all(cuts[i] == composed.best[i] for i in range(len(NAMES)) if i != place):
                precision, recall, f1, right = composed.curve[cuts]
                chosen = " *" if cuts == composed.best else ""
                lines.append(f"{name} = {cuts[place]:<5} 引用精确率 {precision:.3f}  引用召回率 {recall:.3f}"
                             f"  引用F1 {f1:.3f}  回答正确 {right:.3f}{chosen}")
    return lines


def _gate_lines(gate: GateReport) -> list[str]:
    answerable, taken_out, unanswerable = gate.counts
    return [
        f"能否回答的分数线 {gate.cut:.3f}：能回答的 {answerable} 题中 {gate.answerable:.1%} 在线下，",
        f"  取走证据段落后的 {taken_out} 题中 {gate.without_proof:.1%} 在线下，"
        f"资料里没有的 {unanswerable} 题中 {gate.unanswerable:.1%} 在线下",
    ]
