"""Answer-sentence selection: which sentences, list items and table rows answer the question, and whether any does.

1. Every sentence of the best passages is scored for the whole question and for each of its facets (features.py), by
   weights learned on the dev questions and stored in assets/domain/selector.toml.
2. Each facet takes its best sentence, the whole question counted in.
3. What is nearly as likely comes along: from the same passage readily, from another one only close to the best.
4. A sentence that takes back or limits the chosen one (但, 否则, 除外) comes along with it.
5. The gate says how likely the passages answer this question at all, from the same features.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongda.answer.asked import Asked, Asking
from nongda.answer.evidence import ScoredEvidence
from nongda.answer.features import FEATURES, Matrix, Wanted, describe
from nongda.answer.sentences import Passage, Sentence
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.models.rerank import TokenCache
from nongda.records import Candidate, Query

GATE = (
    "late_most", "late", "inside_most", "cosine", "path_most", "path", "passage", "passage_most", "names_near",
    "names_path", "other_problem", "same_crop", "amounts", "values", "amounts_most", "chance", "score", "near",
)
_CUTS = ("bias", "cut", "facet_share", "same_passage", "another")
_LIMITS = re.compile(r"^(?:但|但是|不过|然而|否则|除非|例外|只有|如果不|没有.{0,12}的，不)")
_MOST = 6  # sentences of an answer
_LOOKED_AT = 8  # best sentences that may come along


@dataclass(frozen=True, slots=True)
class Selector:
    """Learned weights and cuts: `weights` of FEATURES, `gate` of GATE with its `bias`; the gate opens at `cut`."""

    weights: NDArray[np.float64]
    gate: NDArray[np.float64]
    bias: float
    cut: float
    facet_share: float  # of a facet's own score beside the whole question's
    same_passage: float  # probability from which a sentence of a chosen passage comes along
    another: float  # share of the best one's probability from which one of another passage does

    @classmethod
    def load(cls, path: Path) -> Selector:
        """Read selector.toml. Raises SettingsError that names the file, also for weights of other features than these."""
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            tables = [(FEATURES, dict(data["sentence"])), (GATE, dict(data["gate"])), (_CUTS, dict(data["cuts"]))]
            changed = [name for names, table in tables for name in sorted(set(names) ^ set(table))]
            if changed:
                raise SettingsError(f"选句参数文件 {path} 与这一版程序不符（{'、'.join(changed)}）：请运行 learn 命令重新学习")
            sentence, gate, cuts = ({name: float(table[name]) for name in names} for names, table in tables)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SettingsError(f"选句参数文件 {path} 无法读取（{error}）：请恢复该文件，或运行 learn 命令重新学习") from error
        return cls(np.array(list(sentence.values())), np.array(list(gate.values())), **cuts)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A piece of evidence that stands in the answer; `facet` is the place of what it answers."""

    scored: ScoredEvidence
    facet: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What was chosen, in the answer's order; all evidence, best first; `gate` at or over 0 means: answerable."""

    chosen: tuple[Chosen, ...]
    ranked: tuple[ScoredEvidence, ...]
    gate: float


@dataclass(frozen=True, slots=True)
class Described:
    """The candidates' sentences with their features: for the whole question first, then for each facet."""

    sentences: tuple[tuple[Candidate, Sentence], ...]
    matrices: tuple[Matrix, ...]


def described(query: Query, asked: Asked, candidates: Sequence[Candidate], passages: Sequence[Passage], tokens: TokenCache,
              lexicon: Lexicon, asking: Asking, idf: Callable[[str], float]) -> Described:
    """Compute the features of all sentences."""
    texts = [query.standalone, *(facet.text for facet in asked.facets)]
    vectors = tokens.questions([lexicon.canonical(text) for text in texts])
    words = [frozenset(query.tokens), *(frozenset(lexicon.tokens(facet.text)) for facet in asked.facets)]
    values = [asked.values, *(facet.values for facet in asked.facets)]
    wanted = [Wanted(query, asked, *parts) for parts in zip(texts, words, vectors, values, strict=True)]
    sentences = tuple((c, s) for c, p in zip(candidates, passages, strict=True) for s in p.sentences)
    return Described(sentences, tuple(describe(w, candidates, passages, lexicon, asking, idf) for w in wanted))


def select(found: Described, selector: Selector) -> Selection:
    """Choose the sentences of the answer."""
    if not found.sentences:
        return Selection((), (), -1.0)
    scores = [matrix @ selector.weights for matrix in found.matrices]
    chances = softmax(scores[0])
    places = _places(scores, chances, found, selector)
    evidence = [_scored(c, s, float(p)) for (c, s), p in zip(found.sentences, chances, strict=True)]
    ranked = tuple(evidence[i] for i in np.argsort(-chances, kind="stable"))
    gate = float(gate_features(found.matrices[0], scores[0]) @ selector.gate + selector.bias - selector.cut)
    return Selection(tuple(Chosen(evidence[i], facet) for i, facet in places), ranked, gate)


def softmax(scores: Matrix) -> Matrix:
    """Return probabilities that sum to 1."""
    powers: Matrix = np.exp(scores - scores.max())
    return powers / float(powers.sum())


def _places(scores: Sequence[Matrix], chances: Matrix, found: Described, selector: Selector) -> list[tuple[int, int]]:
    """Return (sentence, facet), by facet and then in reading order."""
    share = selector.facet_share
    facets: dict[int, int] = {}
    for facet, own in enumerate(scores[1:]):
        facets.setdefault(int(np.argmax((1 - share) * scores[0] + share * own)), facet)
    order = [int(i) for i in np.argsort(-chances, kind="stable")[:_LOOKED_AT]]
    most = float(chances.max())
    for i in order:
        chunk = found.sentences[i][1].evidence.chunk_id
        mates = [j for j in facets if found.sentences[j][1].evidence.chunk_id == chunk]
        least = selector.same_passage if mates else selector.another * most
        if i not in facets and len(facets) < _MOST and chances[i] >= least:
            facets[i] = facets[mates[0]] if mates else _facet_of(i, scores)
    for i in list(facets):
        if _limits(i, found) and i + 1 not in facets:
            facets[i + 1] = facets[i]
    return sorted(facets.items(), key=lambda item: (item[1], item[0]))


def _facet_of(place: int, scores: Sequence[Matrix]) -> int:
    """Return the facet that a sentence answers best."""
    own = [score[place] - score.max() for score in scores[1:]]
    return int(np.argmax(own)) if own else 0


def _limits(place: int, found: Described) -> bool:
    """Tell whether the next sentence of the passage limits this one."""
    if place + 1 >= len(found.sentences):
        return False
    one, following = found.sentences[place][1].evidence, found.sentences[place + 1][1].evidence
    return one.chunk_id == following.chunk_id and bool(_LIMITS.search(following.text))


def gate_features(matrix: Matrix, scores: Matrix) -> NDArray[np.float64]:
    """Return the features of GATE: those of the best sentence, and the most of all sentences."""
    best = matrix[int(np.argmax(scores))]

    def of(name: str) -> float:
        return float(best[FEATURES.index(name)])

    def most(name: str) -> float:
        return float(matrix[:, FEATURES.index(name)].max())

    return np.array([
        most("late"), of("late"), most("late_inside"), of("cosine"), most("words_path"), of("words_path"),
        of("words_passage"), most("words_passage"), of("names_near"), of("names_path"), of("other_problem"), of("same_crop"),
        of("amounts"), of("values"), most("amounts"), float(softmax(scores).max()), float(scores.max()), of("words_near"),
    ])


def _scored(candidate: Candidate, sentence: Sentence, chance: float) -> ScoredEvidence:
    mean = sentence.vectors.astype(np.float32).mean(axis=0) if len(sentence.vectors) else np.zeros(1, np.float32)
    vector: NDArray[np.float32] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return ScoredEvidence(sentence.evidence, candidate, sentence.tokens, vector, chance)
