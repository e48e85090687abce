"""How well a sentence may answer a question, as numbers: what the selector learns its weights for."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nongda.answer.asked import Asked, Asking
from nongda.answer.fact_features import AskedNames, Facts, fact_features
from nongda.answer.sentences import Names, Passage, Sentence
from nongda.index.families import PROBLEM_KINDS, is_same_crop, is_same_problem
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Query

Matrix = NDArray[np.float64]
Fit = Callable[[str, Candidate], float]
FEATURES = (
    "late", "late_gap", "late_inside", "inside_gap", "cosine", "cosine_gap", "best_in_passage", "neighbour", "words_near", "words_path",
    "words_passage", "words_heading", "bm25_rank", "dense_rank", "rank", "rerank_gap", "document_share", "names_near",
    "names_path", "other_problem", "same_crop", "amounts", "has_amount", "values", "any_value", "table", "length",
    "first", "announces", "caution", "denies", "fact", "fact_named", "fits",
)
RERANK = "rerank"
_NAMED = ("disease", "pest", "product", "variety", "pathogen")
_NO_RANK = 60  # as far down as fusion looks
_UNKNOWN = 0.5  # a feature that does not apply
_FULL_LENGTH = 60  # characters
_CAUTION = re.compile(r"标签|当地农业|示例资料|仅.{0,6}一处|只有一处|单一来源")
_DENIES = re.compile(r"不要|不能|不宜|不应|禁止|切忌|避免|不可|不得|勿")
_ANNOUNCES = re.compile(r"[：:？?]$")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question, or one facet of it, as features see it; `vectors` are its token vectors (tokens, dimension).

    `ranking` names the reranker's scores that count: the question's own, or those of the facet's part. `attributes` are
    keys of facts.toml that it asks for, `facts` those of the candidates' sentences. `fit` tells in [-1, 1] how far a sentence
    is for the place and stage that is named.
    """

    query: Query
    asked: Asked
    text: str
    tokens: frozenset[str]
    vectors: NDArray[np.float32]
    values: frozenset[str]
    ranking: str = RERANK
    attributes: frozenset[str] = frozenset()
    facts: Facts = field(default_factory=dict)
    fit: Fit = lambda text, candidate: 0.0


def describe(wanted: Wanted, candidates: Sequence[Candidate], passages: Sequence[Passage], lexicon: Lexicon, asking: Asking,
             idf: Callable[[str], float]) -> Matrix:
    """Return one row of FEATURES for each sentence of the passages, in order: (sentences, len(FEATURES))."""
    owners = [(c, p, s) for c, p in zip(candidates, passages, strict=True) for s in p.sentences]
    if not owners:
        return np.zeros((0, len(FEATURES)))
    late, cosine = _similarities(wanted.vectors, [s.vectors for _, _, s in owners])
    inside, _ = _similarities(wanted.vectors, [s.inside for _, _, s in owners])
    nearness = late + cosine
    best = _best_of_passage(owners, nearness)
    rerank = {c.chunk.id: c.scores.get(wanted.ranking, c.scores.get(RERANK, c.score)) for c in candidates}
    documents = Counter(c.chunk.doc_id for c in candidates)
    named = AskedNames.of(wanted.query.entities)
    asked, share = _Names.of(wanted, lexicon, asking), _Share(wanted.tokens, idf)
    order = candidates if wanted.ranking == RERANK else sorted(candidates, key=lambda c: -rerank[c.chunk.id])
    places = {c.chunk.id: place for place, c in enumerate(order, start=1)}
    rows = []
    for place, (candidate, passage, sentence) in enumerate(owners):
        neighbours = [nearness[i] for i in (place - 1, place + 1) if 0 <= i < len(owners) and owners[i][0] is candidate]
        rows.append([
            late[place], late[place] - late.max(), inside[place], inside[place] - inside.max(), cosine[place], cosine[place] - cosine.max(),
            best[candidate.chunk.id], max(neighbours, default=0.0),
            share(sentence.tokens), share(sentence.path_tokens), share(passage.tokens), share(sentence.heading),
            1 / candidate.ranks.get("bm25", _NO_RANK), 1 / candidate.ranks.get("dense", _NO_RANK),
            1 / places[candidate.chunk.id], rerank[candidate.chunk.id] - max(rerank.values()),
            documents[candidate.chunk.doc_id] / len(candidates),
            *asked.features(sentence, passage, candidate), *_values(wanted, sentence, asked, asking), *_form(sentence, candidate),
            *fact_features(wanted.facts.get((candidate.chunk.id, sentence.evidence.start), ()), wanted.attributes, named),
            wanted.fit(sentence.evidence.text, candidate),
        ])
    return np.array(rows)


def _similarities(question: NDArray[np.float32], sentences: Sequence[NDArray[np.float16]]) -> tuple[Matrix, Matrix]:
    """Return late interaction (mean over the question's tokens of the best cosine) and the cosine of the means."""
    mean = unit(question.mean(axis=0)) if len(question) else np.zeros(1)
    late, cosine = np.zeros(len(sentences)), np.zeros(len(sentences))
    for place, tokens in enumerate(sentences):
        if len(question) and len(tokens):
            vectors = tokens.astype(np.float32)
            late[place] = (question @ vectors.T).max(axis=1).mean()
            cosine[place] = mean @ unit(vectors.mean(axis=0))
    return late, cosine


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vector with length 1; a vector of zeros stays one."""
    scaled: NDArray[np.float32] = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return scaled


def _best_of_passage(owners: Sequence[tuple[Candidate, Passage, Sentence]], nearness: Matrix) -> dict[str, float]:
    best: dict[str, float] = {}
    for (candidate, _, _), near in zip(owners, nearness, strict=True):
        best[candidate.chunk.id] = max(best.get(candidate.chunk.id, -math.inf), float(near))
    return best


class _Share:
    """The share of a question's words that a text holds, each word by its rarity."""

    def __init__(self, tokens: frozenset[str], idf: Callable[[str], float]) -> None:
        self._weights = {token: idf(token) for token in tokens}
        self._total = sum(self._weights.values()) or 1.0

    def __call__(self, held: frozenset[str]) -> float:
        return sum(weight for token, weight in self._weights.items() if token in held) / self._total


@dataclass(frozen=True)
class _Names:
    """What a question names: terms, crops, amounts."""

    lexicon: Lexicon
    given: frozenset[str]
    forms: tuple[str, ...]  # of what is named, as search sees it
    problems: Names
    crops: frozenset[str]
    amounts: frozenset[tuple[float, float, str]]

    @classmethod
    def of(cls, wanted: Wanted, lexicon: Lexicon, asking: Asking) -> _Names:
        names = frozenset((e.kind, e.term) for e in wanted.query.entities)
        amounts = frozenset((q.low, q.high, q.unit) for q in asking.units_of(wanted.query.standalone) if q.unit)
        forms = tuple(lexicon.canonical(term) for kind, term in names if kind in _NAMED)
        problems = frozenset(n for n in names if n[0] in PROBLEM_KINDS)
        return cls(lexicon, frozenset(term for _, term in names), forms, problems,
                   frozenset(term for kind, term in names if kind == "crop"), amounts)

    def features(self, sentence: Sentence, passage: Passage, candidate: Candidate) -> list[float]:
        forms, problems = self.forms, self.problems
        near = self.lexicon.canonical(sentence.near) if forms else ""
        held = [sum(form in text for form in forms) / len(forms) if forms else _UNKNOWN
                for text in (near, candidate.chunk.search_text)]
        other = bool(problems) and _of_another(sentence, problems)
        crops = {term for kind, term in passage.title if kind == "crop"}
        same = any(is_same_crop(a, b) for a in self.crops for b in crops) if self.crops and crops else _UNKNOWN
        amounts = len(self.amounts & sentence.amounts) / len(self.amounts) if self.amounts else _UNKNOWN
        return [*held, float(other), float(same), amounts, float(bool(sentence.amounts))]


def _of_another(sentence: Sentence, problems: Names) -> bool:
    """Tell whether a sentence stands under another disease or pest than those asked and names none of them itself."""
    own = {term for _, term in sentence.problems}
    named = own | {term for kind, term in sentence.names if kind in PROBLEM_KINDS}
    return bool(own) and not any(is_same_problem(one, other) or is_same_problem(other, one) for one in named for _, other in problems)


def _values(wanted: Wanted, sentence: Sentence, asked: _Names, asking: Asking) -> list[float]:
    units = frozenset(unit for _, _, unit in sentence.amounts)
    names = frozenset(kind for kind, term in sentence.names if term not in asked.given)
    held = asking.held(sentence.text, wanted.values, units, names)
    return [len(held) / len(wanted.values) if wanted.values else _UNKNOWN, float(bool(held))]


def _form(sentence: Sentence, candidate: Candidate) -> list[float]:
    text = sentence.evidence.text
    return [
        float(candidate.chunk.kind == "table"), min(2.0, len(text) / _FULL_LENGTH), float(sentence.evidence.start == 0),
        float(bool(_ANNOUNCES.search(text))), float(bool(_CAUTION.search(text))), float(bool(_DENIES.search(text))),
    ]
