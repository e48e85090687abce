"""From a query to ranked candidates: BM25 and dense side by side, fused by reciprocal rank, reranked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from nongda.answer.route import Part, Route
from nongda.index.facts import FactTable
from nongda.index.lexical import LexicalIndex
from nongda.index.subjects import Subjects
from nongda.index.vectors import VectorIndex
from nongda.models.rerank import Reranker
from nongda.records import Candidate, Chunk, Hit, Query, Stage, StoredDocument
from nongda.settings import SearchSettings

_PER_PART = 5  # candidates more for each part
_FACTS_KEPT = 2  # passages of a part that its facts point to
Mode = Literal["hybrid", "bm25", "dense"]


class QueryEmbedder(Protocol):
    """What retrieval needs of an embedding model."""

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dim) float32, L2-normalised."""
        ...


@dataclass(frozen=True, slots=True)
class Indexes:
    """The caches of one revision of the store."""

    revision: int
    lexical: LexicalIndex
    vectors: VectorIndex
    documents: Mapping[str, StoredDocument]
    chunk: Callable[[str], Chunk | None]
    subjects: Subjects
    facts: FactTable = field(default_factory=lambda: FactTable(lambda sql, parameters: []))

    def candidate(self, hit: Hit) -> Candidate | None:
        """Return a hit's chunk with its document; None where either is gone."""
        chunk = self.chunk(hit.chunk_id)
        document = chunk and self.documents.get(chunk.doc_id)
        return Candidate(chunk, document, hit.score) if chunk and document else None


def fuse(rankings: Mapping[str, Sequence[Hit]], k: int, weights: Mapping[str, float] | None = None) -> list[Hit]:
    """Fuse rankings by reciprocal rank: sum of weight / (k + rank) (Cormack, Clarke and Büttcher, 2009)."""
    scores: dict[str, float] = {}
    for name, hits in rankings.items():
        weight = (weights or {}).get(name, 1.0)
        for rank, hit in enumerate(hits, start=1):
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + weight / (k + rank)
    return sorted((Hit(i, s) for i, s in scores.items()), key=lambda hit: (-hit.score, hit.chunk_id))


def retrieve(query: Query, indexes: Indexes, embedder: QueryEmbedder, reranker: Reranker | None,
             settings: SearchSettings, mode: Mode = "hybrid", keep: int | None = None, route: Route | None = None) -> Iterator[Stage]:
    """Yield a stage for each search, then fuse and rerank; the last two carry the candidates, best first.

    All searches of a route run at once. The ranking's first `keep` are the candidates, and the best of each part.
    """
    route = route or Route()
    searches = _searches(query, indexes, embedder, settings, mode, route)
    rankings: dict[str, list[Hit]] = {}
    with ThreadPoolExecutor(max_workers=2) as pool:
        futures = {name: pool.submit(_timed, run) for name, run in searches.items()}
        for name, future in futures.items():
            found, seconds = future.result()
            rankings.update(found)
            yield Stage(name, seconds)
    started = time.perf_counter()
    keep = settings.keep if keep is None else keep
    most = settings.candidates + _PER_PART * len(route.parts)
    fused = candidates(rankings, indexes, settings, _weights(settings, mode, route), most)
    yield Stage("fuse", time.perf_counter() - started, tuple(fused[:keep]), tuple(c.chunk.id for c in fused))
    started = time.perf_counter()
    if reranker is not None:
        fused = rerank(query, fused, reranker, settings)
        fused, keep = _with_parts(fused, rankings, reranker, route, keep)
    yield Stage("rerank", time.perf_counter() - started, tuple(fused[:keep]), tuple(c.chunk.id for c in fused))


Searches = dict[str, Callable[[], dict[str, list[Hit]]]]


def _searches(query: Query, indexes: Indexes, embedder: QueryEmbedder, settings: SearchSettings, mode: Mode,
              route: Route) -> Searches:
    """Return what runs at once; each gives one or more rankings."""
    weights = _weights(settings, mode, route)
    names = ["", *(f"/{place}" for place in range(1, len(route.parts) + 1))]
    asked = [Part(query.canonical, query.tokens), *route.parts]

    def sparse() -> dict[str, list[Hit]]:
        return {f"bm25{name}": indexes.lexical.search(part.tokens, settings.candidates)
                for name, part in zip(names, asked, strict=True)}

    def dense() -> dict[str, list[Hit]]:
        vectors = embedder.embed_queries([part.canonical for part in asked])
        return {f"dense{name}": indexes.vectors.search(vector, settings.candidates)
                for name, vector in zip(names, vectors, strict=True)}

    searches: Searches = {"bm25": sparse, "dense": dense}
    chosen = {name: run for name, run in searches.items() if weights.get(name)}
    others: Searches = {name: _named(name, run) for name, run in route.rankings.items() if weights.get(name, 1.0)}
    return chosen | others


def _named(name: str, run: Callable[[], list[Hit]]) -> Callable[[], dict[str, list[Hit]]]:
    return lambda: {name: run()}


def _weights(settings: SearchSettings, mode: Mode, route: Route) -> dict[str, float]:
    if mode != "hybrid":
        return {mode: 1.0}
    return {"bm25": settings.bm25_weight, "dense": settings.dense_weight, **route.weights}


def _timed(run: Callable[[], dict[str, list[Hit]]]) -> tuple[dict[str, list[Hit]], float]:
    started = time.perf_counter()
    return run(), time.perf_counter() - started


def candidates(rankings: Mapping[str, Sequence[Hit]], indexes: Indexes, settings: SearchSettings,
               weights: Mapping[str, float] | None = None, most: int | None = None) -> list[Candidate]:
    """Fuse rankings into at most `most` candidates (None: `settings.candidates`), the same text of one source only once.

    The fused score of a passage off topic counts `settings.off_topic_weight`.
    """
    ranks: dict[str, dict[str, int]] = {}
    scores: dict[str, dict[str, float]] = {}
    for name, hits in rankings.items():
        for rank, hit in enumerate(hits, start=1):
            ranks.setdefault(hit.chunk_id, {})[name] = rank
            scores.setdefault(hit.chunk_id, {})[name] = hit.score
    found: list[Candidate] = []
    seen: set[tuple[str, str]] = set()
    for hit in fuse(rankings, settings.rrf_k, weights):
        candidate = indexes.candidate(hit)
        if candidate is None or (key := (candidate.document.source, candidate.chunk.text)) in seen:
            continue
        seen.add(key)
        score = _lowered(candidate, candidate.score, settings)
        found.append(replace(candidate, score=score, ranks=ranks[hit.chunk_id], scores=scores[hit.chunk_id]))
    found.sort(key=lambda c: (-c.score, c.chunk.id))
    return found[: settings.candidates if most is None else most]


def _lowered(candidate: Candidate, score: float, settings: SearchSettings, least: float = 0.0) -> float:
    """Return the score of a passage; one off topic keeps a part of what it has over the least."""
    return least + settings.off_topic_weight * (score - least) if candidate.chunk.off_topic else score


def rerank(query: Query, found: Sequence[Candidate], reranker: Reranker,
           settings: SearchSettings) -> list[Candidate]:
    """Order candidates by the reranker's score, those off topic lowered; ties keep the fused order."""
    scores = [float(score) for score in reranker.score(query.canonical, [c.chunk.search_text for c in found])]
    least = min(scores, default=0.0)
    scored = [
        replace(c, score=_lowered(c, score, settings, least), scores={**c.scores, "rerank": score})
        for c, score in zip(found, scores, strict=True)
    ]
    return sorted(scored, key=lambda c: -c.score)


def _with_parts(found: Sequence[Candidate], rankings: Mapping[str, Sequence[Hit]], reranker: Reranker, route: Route,
                keep: int) -> tuple[list[Candidate], int]:
    """Move the best passages of each part behind the first `keep`; return the order and how many now count as kept.

    The best are those by reranking and those by facts. A candidate's score for part n is "rerank/n".
    """
    places = {c.chunk.id: place for place, c in enumerate(found)}
    texts = [c.chunk.search_text for c in found]
    by_part = {f"rerank/{n}": reranker.score(part.canonical, texts) for n, part in enumerate(route.parts, start=1)}
    kept = list(range(min(keep, len(found))))
    for scores in by_part.values():
        order = sorted(range(len(found)), key=lambda place: -scores[place])[: route.part_keep]
        kept += [place for place in order if place not in kept]
    for n in range(1, len(route.parts) + 1):
        facts = [places[hit.chunk_id] for hit in rankings.get(f"facts/{n}", ()) if hit.chunk_id in places][:_FACTS_KEPT]
        kept += [place for place in facts if place not in kept]
    scored = [replace(c, scores={**c.scores, **{name: float(scores[place]) for name, scores in by_part.items()}})
              for place, c in enumerate(found)]
    return [scored[i] for i in [*kept, *(i for i in range(len(found)) if i not in kept)]], len(kept)
