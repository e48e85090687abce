"""Answer-sentence selection: which sentences, list items and table rows answer the question, and whether any does.

1. Every sentence of the best passages is scored for the whole question and for each of its facets (features.py), by
   weights learned on the dev questions and stored in assets/domain/selector.toml.
2. Each facet takes its best sentence, the whole question counted in. It should hold the kind of value asked for,
   speak of the facet's side of a comparison, and of the disease or pest that an earlier facet has named.
3. What is nearly as likely comes along: from the same passage readily, unless it gives another amount of what is asked,
   from another one only close to the best.
4. A sentence that takes back or limits the chosen one (但, 否则, 除外) comes along with it.
5. The gate says how likely the passages answer this question at all, from the same features.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongda.answer.asked import Asked, Asking
from nongda.answer.evidence import ScoredEvidence
from nongda.answer.fact_features import NO_FACTS, Facts
from nongda.answer.features import FEATURES, RERANK, Fit, Matrix, Wanted, describe, unit
from nongda.answer.sentences import Passage, Sentence
from nongda.errors import SettingsError
from nongda.index.families import PROBLEM_KINDS
from nongda.language.lexicon import Lexicon
from nongda.models.rerank import PassageTokens, TokenCache
from nongda.records import Candidate, Entity, Query

GATE = (
    "late_most", "late", "inside_most", "cosine", "path_most", "path", "passage", "passage_most", "names_near",
    "names_path", "other_problem", "same_crop", "amounts", "values", "amounts_most", "chance", "score", "near",
)
CUTS: tuple[str, ...] = ("bias", "cut", "facet_share", "value", "side", "subject", "repeat", "same_passage", "another")
_LIMITS = re.compile(r"^(?:但|但是|不过|然而|否则|除非|例外|只有|如果不|没有.{0,12}的，不)")
_MOST = 6  # sentences of an answer
_OTHER = 100.0  # what a sentence loses that stands under another disease or pest than the one asked: it never answers
_LOOKED_AT = 8  # best sentences that may come along


@dataclass(frozen=True, slots=True)
class Selector:
    """Learned weights and cuts: `weights` of FEATURES, `gate` of GATE with its `bias`; the gate opens at `cut`."""

    weights: NDArray[np.float64]
    gate: NDArray[np.float64]
    bias: float
    cut: float
    facet_share: float  # of a facet's own score beside the whole question's
    value: float  # what the asked kind of value adds to a facet's score
    side: float  # what the side of a comparison adds
    subject: float  # what the disease or pest found by an earlier facet adds
    repeat: float  # what a facet's score loses for a sentence that answers an earlier facet
    same_passage: float  # probability from which a sentence of a chosen passage comes along
    another: float  # share of the best one's probability from which one of another passage does

    @classmethod
    def load(cls, path: Path) -> Selector:
        """Read selector.toml. Raises SettingsError that names the file, also for weights of other features than these."""
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            tables = [(FEATURES, dict(data["sentence"])), (GATE, dict(data["gate"])), (CUTS, dict(data["cuts"]))]
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
    """The candidates' sentences with their features: for the whole question first, then for each facet.

    `sides` are the words of each of two things compared that the other has not, () where nothing is compared;
    `names_problem`: the question itself says which disease or pest it means.
    """

    sentences: tuple[tuple[Candidate, Sentence], ...]
    matrices: tuple[Matrix, ...]
    sides: tuple[frozenset[str], ...] = ()
    names_problem: bool = False


def described(query: Query, asked: Asked, candidates: Sequence[Candidate], passages: Sequence[Passage], tokens: TokenCache,
              lexicon: Lexicon, asking: Asking, idf: Callable[[str], float], facts: Facts = NO_FACTS,
              attributes: Callable[[str], Iterable[str]] = lambda text: (),
              about: Sequence[Entity | None] = (), fit: Fit = lambda text, candidate: 0.0) -> Described:
    """Compute the features of all sentences; `attributes` says which keys of facts.toml a text asks for.

    `about` is by facet the disease or pest that it is about though the question does not name it; `fit` tells in [-1, 1] how
    far a sentence is for the place and stage that the question names.
    """
    whole = tokens.question(lexicon.canonical(query.standalone))
    about = about or [None] * len(asked.facets)
    vectors = [whole.vectors.astype(np.float32), *_facet_vectors(query, asked, whole, tokens, lexicon, about)]
    texts = [query.standalone, *(facet.text for facet in asked.facets)]
    abouts = [None, *about]
    queries = [replace(query, entities=(*query.entities, one)) if one else query for one in abouts]
    words = [frozenset(query.tokens), *(frozenset(lexicon.tokens(f"{one.term}，{text}" if one else text))
                                        for text, one in zip(texts[1:], abouts[1:], strict=True))]
    values = [asked.values, *(facet.values for facet in asked.facets)]
    by_part = len(query.parts) == len(asked.facets)
    rankings = [RERANK, *(f"{RERANK}/{n}" if by_part else RERANK for n in range(1, len(asked.facets) + 1))]
    sought = [frozenset(attributes(text)) for text in texts]
    wanted = [Wanted(one, asked, text, own, vectors_of, kinds, ranking, keys, facts, fit)
              for one, text, own, vectors_of, kinds, ranking, keys
              in zip(queries, texts, words, vectors, values, rankings, sought, strict=True)]
    sentences = tuple((c, s) for c, p in zip(candidates, passages, strict=True) for s in p.sentences)
    matrices = tuple(describe(w, candidates, passages, lexicon, asking, idf) for w in wanted)
    sides = [frozenset(lexicon.tokens(side)) for side in asked.sides]
    parted = tuple(side - sides[1 - place] for place, side in enumerate(sides))
    return Described(sentences, matrices, parted, any(e.kind in PROBLEM_KINDS for e in query.entities))


def _facet_vectors(query: Query, asked: Asked, whole: PassageTokens, tokens: TokenCache, lexicon: Lexicon,
                   about: Sequence[Entity | None]) -> list[NDArray[np.float32]]:
    """Return each facet's token vectors as they are within the whole question: there they have met its subject.

    A facet about something that the question does not name is taken by itself, behind that name.
    """
    text = lexicon.canonical(query.standalone)
    found: list[NDArray[np.float32]] = []
    for facet, one in zip(asked.facets, about, strict=True):
        form = lexicon.canonical(facet.text)
        start = text.rfind(form)
        inside = [i for i, (a, b) in enumerate(whole.spans) if start <= a and b <= start + len(form)] if start >= 0 else []
        if one is not None:
            found.append(tokens.questions([lexicon.canonical(f"{one.term}，{facet.text.removeprefix(facet.told)}")])[0])
        else:
            found.append(whole.vectors[inside].astype(np.float32) if inside else tokens.questions([form])[0])
    return found


def select(found: Described, selector: Selector) -> Selection:
    """Choose the sentences of the answer."""
    if not found.sentences:
        return Selection((), (), -1.0)
    scores = [matrix @ selector.weights - _OTHER * matrix[:, FEATURES.index("other_problem")] for matrix in found.matrices]
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
    facets: dict[int, int] = {}
    for facet, own in enumerate(scores[1:]):
        mixed = (1 - selector.facet_share) * scores[0] + selector.facet_share * own
        mixed = mixed + _fitting(facet, list(facets), found, selector)
        mixed[list(facets)] -= selector.repeat
        facets.setdefault(int(np.argmax(mixed)), facet)
    order = [int(i) for i in np.argsort(-chances, kind="stable")[:_LOOKED_AT]]
    most = float(chances.max())
    for i in order:
        chunk = found.sentences[i][1].evidence.chunk_id
        mates = [j for j in facets if found.sentences[j][1].evidence.chunk_id == chunk]
        least = selector.same_passage if mates else selector.another * most
        if i not in facets and len(facets) < _MOST and chances[i] >= least and not _rivals(i, facets, mates, found):
            facets[i] = facets[mates[0]] if mates else _facet_of(i, scores)
    for i in list(facets):
        if _limits(i, found) and i + 1 not in facets:
            facets[i + 1] = facets[i]
    if found.sides:
        facets = {i: _side_of(found.sentences[i][1], found) for i in facets}
    return sorted(facets.items(), key=lambda item: (item[1], item[0]))


def _side_of(sentence: Sentence, found: Described) -> int:
    """Return which of two things compared a sentence speaks of: 0 or 1; 2 for both or neither."""
    one, other = (_share(side, sentence.path_tokens) for side in found.sides)
    return 2 if one == other else int(other > one)


def _rivals(place: int, facets: Mapping[int, int], mates: Sequence[int], found: Described) -> bool:
    """Tell whether a sentence gives another amount of what one of its passage has answered: of something else there."""
    column = FEATURES.index("values")
    own = found.sentences[place][1].amounts
    for mate in mates:
        values = found.matrices[facets[mate] + 1][:, column]
        theirs = found.sentences[mate][1].amounts
        units = {unit for _, _, unit in own if unit} & {unit for _, _, unit in theirs if unit}
        shared = {amount for amount in own & theirs if amount[2] in units}
        if units and not shared and values[place] > 0 and values[mate] > 0:
            return True
    return False


def _fitting(facet: int, before: Sequence[int], found: Described, selector: Selector) -> Matrix:
    """Return what else speaks for each sentence as the answer to a facet, given the sentences chosen before."""
    fitting = selector.value * found.matrices[facet + 1][:, FEATURES.index("values")]
    if len(found.sides) == len(found.matrices) - 1:
        own, other = found.sides[facet], found.sides[1 - facet]
        held = [(_share(own, s.path_tokens), _share(other, s.path_tokens)) for _, s in found.sentences]
        fitting = fitting + selector.side * np.array([mine - its * (mine < 1) for mine, its in held])
    subject = {n for i in before for n in found.sentences[i][1].names if n[0] in PROBLEM_KINDS}
    if subject and not found.names_problem:
        known = [s.problems or frozenset(n for n in s.names if n[0] in PROBLEM_KINDS) for _, s in found.sentences]
        fitting = fitting + selector.subject * np.array([0.0 if not names else (1.0 if names & subject else -1.0) for names in known])
    return np.asarray(fitting)


def _share(words: frozenset[str], held: frozenset[str]) -> float:
    return len(words & held) / len(words) if words else 0.0


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
    return ScoredEvidence(sentence.evidence, candidate, sentence.tokens, unit(mean), chance)
