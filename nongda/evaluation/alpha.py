"""How much BM25 should count in the fusion, by question: alpha is its share, 1 - alpha that of dense retrieval.

1. Rank every question once by either; fuse both for every alpha by reciprocal rank.
2. Learn the simplest rule that may pay: questions of at most so many words, or whose words are at most so rare, get an
   alpha of their own, all others 0.5. A rule that gains less than GAIN where it is learned is none.
3. Topics are folds: a question is measured with the rule that the other topics give, against 0.5 for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongda.answer.retrieve import fuse
from nongda.engine import Engine
from nongda.evaluation.beir import RetrievalSet
from nongda.evaluation.dataset import GoldQuestion
from nongda.evaluation.intents import reading
from nongda.evaluation.metrics import evidence_recall, reciprocal_rank
from nongda.evaluation.stats import Floats, Sample, permutation_p
from nongda.index.lexical import LexicalIndex
from nongda.records import Hit

ALPHAS: Floats = np.round(np.linspace(0, 1, 21), 2)
EVEN = 10  # the place of 0.5
METRICS = ("recall@5", "recall@12", "mrr@10", "recall@20")  # 20 candidates are reranked
GAIN = 0.01  # of the mean of all four
DEPTH = 20
FOLDS = 5
_QUANTILES = np.arange(0.1, 0.95, 0.1)
_EMBED_AT_ONCE = 64

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A question ranked by either search; `rarity` is the mean idf of its `words`."""

    topic: str
    words: int
    rarity: float
    bm25: tuple[str, ...]
    dense: tuple[str, ...]
    evidence: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """Questions with a feature of at most `most` get the alpha at `place`; without a feature it is for none."""

    feature: str = ""  # words, rarity
    most: float = 0.0
    place: int = EVEN

    def places(self, table: Table) -> Places:
        """Return each question's place among ALPHAS."""
        if not self.feature:
            return np.full(len(table.gains), EVEN)
        return np.where(table.features[self.feature] <= self.most, self.place, EVEN)

    def __str__(self) -> str:
        if not self.feature:
            return "no rule: 0.5 for all"
        value = f"{self.most:.0f} words" if self.feature == "words" else f"a mean rarity of {self.most:.2f}"
        return f"questions of at most {value}: alpha {ALPHAS[self.place]:.2f}, all others 0.5"


@dataclass(frozen=True)
class Table:
    """All questions measured at all alphas: `gains` is (questions, alphas, METRICS)."""

    gains: Floats
    features: Mapping[str, Floats]
    folds: Places

    @classmethod
    def of(cls, ranked: Sequence[Ranked], rrf_k: int) -> Table:
        """Fuse and measure."""
        topics = sorted({r.topic for r in ranked})
        return cls(
            np.array([swept(r, rrf_k) for r in ranked]),
            {"words": np.array([float(r.words) for r in ranked]), "rarity": np.array([r.rarity for r in ranked])},
            np.array([topics.index(r.topic) % FOLDS for r in ranked]),
        )

    def at(self, places: Places) -> Floats:
        """Return (questions, METRICS) with each question's own alpha."""
        found: Floats = self.gains[np.arange(len(self.gains)), places]
        return found

    def learned(self, rows: NDArray[np.bool_]) -> Rule:
        """Return the rule that is best for some of the questions, none unless it gains GAIN there."""
        worth = self.gains[rows].mean(axis=2)
        best, most = Rule(), float(worth[:, EVEN].mean()) + GAIN
        for name, values in self.features.items():
            own = values[rows]
            for cut in sorted(set(np.quantile(own, _QUANTILES).tolist())):
                inside = own <= cut
                means = (worth[inside].sum(axis=0) + worth[~inside, EVEN].sum()) / len(own)
                place = int(np.argmax(means))
                if means[place] > most + 1e-9:
                    best, most = Rule(name, cut, place), float(means[place])
        return best

    def unseen(self) -> tuple[Places, list[Rule]]:
        """Return each question's place by the rule of the other folds, and these rules."""
        places, rules = np.full(len(self.gains), EVEN), []
        for fold in sorted(set(self.folds.tolist())):
            rules.append(self.learned(self.folds != fold))
            own = self.folds == fold
            places[own] = rules[-1].places(self)[own]
        return places, rules


def swept(ranked: Ranked, rrf_k: int) -> Floats:
    """Return (alphas, METRICS) of one question; a ranking of weight 0 is not asked for."""
    relevant = frozenset().union(*ranked.evidence)
    rows = []
    for alpha in ALPHAS:
        weights = {"bm25": float(alpha), "dense": 1 - float(alpha)}
        lists = {name: [Hit(i, 0.0) for i in ids] for name, ids in (("bm25", ranked.bm25), ("dense", ranked.dense))
                 if weights[name]}
        found = [hit.chunk_id for hit in fuse(lists, rrf_k, weights)]
        recalls = {k: evidence_recall(found, ranked.evidence, k) for k in (5, 12, 20)}
        rows.append([recalls[5], recalls[12], reciprocal_rank(found, relevant, 10), recalls[20]])
    return np.array(rows)


def rank_questions(questions: Iterable[GoldQuestion], engine: Engine,
                   evidence: Callable[[GoldQuestion], Sequence[frozenset[str]]]) -> Iterator[Ranked]:
    """Rank the answerable questions, without fusion, reranking or sub-questions."""
    chunks = [chunk for document in engine.documents() for chunk in engine.chunks_of(document.id)]
    index = LexicalIndex([(c.id, engine.lexicon.tokens(c.search_text)) for c in chunks], 1.0, 1.0)
    understood = reading(engine)
    for question in questions:
        if question.answerable:
            query = understood(question)
            found = {mode: tuple(c.chunk.id for c in engine.search(query.standalone, mode, rerank=False, k=DEPTH).candidates)
                     for mode in ("bm25", "dense")}
            yield Ranked(question.topic, len(query.tokens), _rarity(index, query.tokens), found["bm25"], found["dense"],
                         tuple(evidence(question)))


def rank_set(data: RetrievalSet, engine: Engine) -> Iterator[Ranked]:
    """Rank a public set's queries; every fifteenth query is of the same topic."""
    lexicon, search, ids = engine.lexicon, engine.settings.search, list(data.passages)
    texts = [lexicon.canonical(text) for text in data.passages.values()]
    index = LexicalIndex([(i, lexicon.tokens(text)) for i, text in data.passages.items()], search.bm25_k1, search.bm25_b)
    starts = range(0, len(texts), _EMBED_AT_ONCE)
    vectors = np.concatenate([engine.embedder.embed_passages(texts[s : s + _EMBED_AT_ONCE]) for s in starts])
    for number, (query, text) in enumerate(data.queries.items()):
        tokens = lexicon.tokens(text)
        likeness = vectors @ engine.embedder.embed_queries([lexicon.canonical(text)])[0]
        dense = tuple(ids[row] for row in np.argsort(-likeness, kind="stable")[:DEPTH])
        bm25 = tuple(hit.chunk_id for hit in index.search(tokens, DEPTH))
        yield Ranked(str(number % 15), len(tokens), _rarity(index, tokens), bm25, dense, (frozenset(data.relevant[query]),))


def _rarity(index: LexicalIndex, tokens: Sequence[str]) -> float:
    return float(np.mean([index.rarity(token) for token in tokens])) if tokens else 0.0


def p_values(one: Floats, other: Floats, seed: int) -> list[float]:
    """Return the p of each metric of two measurements (questions, METRICS) of the same questions."""
    samples = [[Sample(side[:, m], np.ones(len(side))) for m in range(len(METRICS))] for side in (one, other)]
    return [permutation_p(a, b, np.random.default_rng(seed)) for a, b in zip(*samples, strict=True)]
