"""What learning is worth on questions it has not seen: folds by topic, before and after, and the cuts of composition.

1. Every fold's weights come from the questions of the other topics.
2. The cuts that say what else counts for a facet and which sentences come along are tried one after the other: citation
   F1 plus the share of right answers, each question by the weights that have not seen its topic. A fold's own figure
   uses the cuts that are best for the other folds.
3. The gate is learned and measured on the scores of those weights, so that it meets them as strange questions do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nongda.answer.compose import cited
from nongda.answer.features import FEATURES, Matrix
from nongda.answer.select import Selector, select
from nongda.errors import UsageError
from nongda.evaluation.labels import Example
from nongda.evaluation.learn import NOTHING_LEARNED, Vector, gate_cut, gate_rows, learn_gate, learn_sentences
from nongda.evaluation.scoring import Outcome, score
from nongda.evaluation.values import Values

FOLDS = 5
Cuts = Mapping[str, float]
START: Cuts = {
    "facet_share": 1.0, "value": 1.0, "side": 6.0, "subject": 3.0, "repeat": 2.0, "same_passage": 0.02, "another": 0.15,
}
GRID: Mapping[str, Sequence[float]] = {
    "facet_share": (0.3, 0.5, 0.7, 1.0), "value": (0.0, 0.5, 1.0, 2.0), "side": (0.0, 3.0, 6.0, 9.0),
    "subject": (0.0, 1.5, 3.0, 4.5), "repeat": (0.0, 1.0, 2.0, 4.0), "same_passage": (0.01, 0.02, 0.05, 0.1),
    "another": (0.1, 0.15, 0.2, 0.4),
}
MEASURES = ("citation_precision", "citation_recall", "citation_f1", "correct")
_GAIN = 0.02  # of F1 plus right answers: what is less does not last on other questions, so nothing moves for it
_ROUNDS = 2  # through all cuts, one after the other: all settings together would be thousands
_FIRST = 3


def folds(examples: Sequence[Example], count: int = FOLDS) -> list[int]:
    """Return each question's fold; a topic is never in two. Raises UsageError when there is one topic only."""
    topics = sorted({example.question.topic for example in examples})
    if len(topics) < 2:
        raise UsageError("交叉验证至少需要两个主题的 dev 题：请补充题目")
    return [topics.index(example.question.topic) % count for example in examples]


def held_out_weights(examples: Sequence[Example], fold_of: Sequence[int]) -> list[Vector]:
    """Return for each question the weights learned from the questions of the other folds."""
    learned = {
        fold: learn_sentences([one for e, f in zip(examples, fold_of, strict=True) if f != fold for one in e.lists])
        for fold in sorted(set(fold_of))
    }
    return [learned[fold] for fold in fold_of]


def plain_weights(examples: Sequence[Example], names: Sequence[str] = FEATURES) -> Vector:
    """Return equal weights of some features, each per standard deviation: what there is without learning."""
    deviation = np.concatenate([example.matrix for example in examples]).std(axis=0)
    chosen = np.array([name in names for name in FEATURES]) & (deviation > 0)
    return np.where(chosen, 1 / np.where(deviation > 0, deviation, 1.0), 0.0)


@dataclass(frozen=True)
class Composer:
    """Scores the quotes that would be chosen for each answerable question; the same settings are scored once.

    `weights` and `fold_of` are those of each question.
    """

    examples: Sequence[Example]
    weights: Sequence[Vector]
    fold_of: Sequence[int]
    values: Values
    _known: dict[tuple[float, ...], Matrix] = field(default_factory=dict)
    _scored: dict[tuple[str, str], Vector] = field(default_factory=dict)

    def measure(self, cuts: Cuts) -> Matrix:
        """Return MEASURES of the quotes, the gate open: (answerable questions, len(MEASURES))."""
        key = tuple(cuts.values())
        if key not in self._known:
            answerable = [(e, w) for e, w in zip(self.examples, self.weights, strict=True) if e.question.answerable]
            self._known[key] = np.array([self._measure(example, weights, cuts) for example, weights in answerable])
        return self._known[key]

    def _measure(self, example: Example, weights: Vector, cuts: Cuts) -> Vector:
        selector = Selector(weights, NOTHING_LEARNED.gate, 0.0, 0.0, **cuts)
        quotes = [one.scored for one in select(example.looked.described, selector).chosen]
        text = "".join(map(cited, quotes))
        key = (example.question.id, text)
        if key not in self._scored:
            chunks = tuple(dict.fromkeys(quote.evidence.chunk_id for quote in quotes))
            found = score(example.question, Outcome(text, False, chunks, (), {}), example.chunks, {}, self.values).metrics
            self._scored[key] = np.array([found[name][0] for name in MEASURES])
        return self._scored[key]

    def best(self, left_out: int | None = None) -> Cuts:
        """Return the cuts with most citation F1 and right answers, without the questions of one fold.

        One cut after the other takes its best value when that is worth it; else it stays as it is.
        """
        kept = np.array([f != left_out for e, f in zip(self.examples, self.fold_of, strict=True) if e.question.answerable])

        def worth(cuts: Cuts) -> float:
            return float(self.measure(cuts)[kept][:, 2:].mean(axis=0).sum())

        best = START
        for _ in range(_ROUNDS):
            for name, values in GRID.items():
                other = max(({**best, name: value} for value in values), key=worth)
                best = other if worth(other) >= worth(best) + _GAIN else best
        return best

    def unseen(self) -> Vector:
        """Return mean MEASURES, every fold with the cuts that are best for the others."""
        folds_here = np.array([f for e, f in zip(self.examples, self.fold_of, strict=True) if e.question.answerable])
        parts = [self.measure(self.best(fold))[folds_here == fold] for fold in sorted(set(folds_here.tolist()))]
        found: Vector = np.concatenate(parts).mean(axis=0)
        return found


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
    """Learn the gate of each fold from the others, and choose the cut on the scores of all.

    A question for which there is no sentence is refused without a gate: it counts as under the cut.
    """
    rows = [gate_rows(example, own) for example, own in zip(examples, weights, strict=True)]
    scores: dict[tuple[bool, bool], list[float]] = {(True, True): [], (True, False): [], (False, False): []}
    for fold in sorted(set(fold_of)):
        gate, bias = learn_gate([row for own, f in zip(rows, fold_of, strict=True) if f != fold for row in own])
        for example, own, f in zip(examples, rows, fold_of, strict=True):
            if f == fold:
                answerable = example.question.answerable
                for row in own:
                    scores[answerable, row.answerable].append(float(row.features @ gate + bias))
                if not own:
                    scores[answerable, answerable].append(-np.inf)
    cut = gate_cut(scores[True, True])
    kinds = tuple(scores.values())
    under = [float(np.mean(np.array(kind) < cut)) if kind else 0.0 for kind in kinds]
    return GateReport(cut, under[0], under[1], under[2], (len(kinds[0]), len(kinds[1]), len(kinds[2])))


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
    weights, bias = learn_gate([row for example, own in zip(examples, held, strict=True) for row in gate_rows(example, own)])
    composer = Composer(examples, held, fold_of, values)
    best = composer.best()
    sentence = learn_sentences([one for e in examples for one in e.lists])
    selector = Selector(sentence, weights, bias, gate.cut, **best)
    lines = [f"按主题 {len(set(fold_of))} 折交叉验证，{len(examples)} 题：", *_before(examples, fold_of, values),
             _line("学得的权重", ranking_measures(examples, held), composer.unseen()), *_curve(composer, best), *_gate_lines(gate)]
    return Learned(selector, tuple(lines))


def _before(examples: Sequence[Example], fold_of: Sequence[int], values: Values) -> list[str]:
    """What there is without learning: late interaction alone, all features alike; the cuts as they are to begin with."""
    lines = []
    for name, features in (("只用迟交互", ("late",)), ("各特征同权", FEATURES)):
        weights = [plain_weights(examples, features)] * len(examples)
        composed = Composer(examples, weights, fold_of, values).measure(START).mean(axis=0)
        lines.append(_line(name, ranking_measures(examples, weights), composed))
    return lines


def _line(way: str, ranking: Vector, composed: Vector) -> str:
    names = ("首句是证据", "首段是证据", "前三句含证据", "引用精确率", "引用召回率", "引用F1", "回答正确")
    return f"{way}：" + "  ".join(f"{name} {value:.3f}" for name, value in zip(names, (*ranking, *composed), strict=True))


def _curve(composer: Composer, best: Cuts) -> list[str]:
    """One line for every value of a cut, the others as they are best."""
    lines = []
    for name, values in GRID.items():
        for value in values:
            precision, recall, f1, right = composer.measure({**best, name: value}).mean(axis=0)
            lines.append(f"{name} = {value:<5} 引用精确率 {precision:.3f}  引用召回率 {recall:.3f}"
                         f"  引用F1 {f1:.3f}  回答正确 {right:.3f}{' *' if value == best[name] else ''}")
    return lines


def _gate_lines(gate: GateReport) -> list[str]:
    answerable, taken_out, unanswerable = gate.counts
    return [
        f"能否回答的分数线 {gate.cut:.3f}：能回答的 {answerable} 题中 {gate.answerable:.1%} 在线下，",
        f"  取走证据段落后的 {taken_out} 题中 {gate.without_proof:.1%} 在线下，"
        f"资料里没有的 {unanswerable} 题中 {gate.unanswerable:.1%} 在线下",
    ]
