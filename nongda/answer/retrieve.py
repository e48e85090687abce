"""From a query to ranked candidates: BM25 and dense side by side, fused by reciprocal rank, reranked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from nongda.index.lexical import LexicalIndex
from nongda.index.subjects import Subjects
from nongda.index.vectors import VectorIndex
from nongda.models.rerank import Reranker
from nongda.records import Candidate, Chunk, Hit, Query, Stage, StoredDocument
from nongda.settings import SearchSettings

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
             settings: SearchSettings, mode: Mode = "hybrid", keep: int | None = None) -> Iterator[Stage]:
    """Yield a stage each for bm25, dense, fuse and rerank; the last two carry the candidates, best first."""
    searches: dict[str, Callable[[], list[Hit]]] = {
        "bm25": lambda: indexes.lexical.search(query.tokens, settings.candidates),
        "dense": lambda: indexes.vectors.search(
            embedder.embed_queries([query.canonical])[0], settings.candidates),
    }
    weights: dict[str, float] = {mode: 1.0}
    if mode == "hybrid":
        weights = {"bm25": settings.bm25_weight, "dense": settings.dense_weight}
    chosen = {name: run for name, run in searches.items() if weights.get(name)}
    rankings: dict[str, list[Hit]] = {}
    with ThreadPoolExecutor(max_workers=2) as pool:
        futures = {name: pool.submit(_timed, run) for name, run in chosen.items()}
        for name, future in futures.items():
            rankings[name], seconds = future.result()
            yield Stage(name, seconds)
    started = time.perf_counter()
    fused = candidates(rankings, indexes, settings, weights)
    keep = settings.keep if keep is None else keep
    yield Stage("fuse", time.perf_counter() - started, tuple(fused[:keep]), tuple(c.chunk.id for c in fused))
    started = time.perf_counter()
    if reranker is not None:
        fused = rerank(query, fused, reranker)
    yield Stage("rerank", time.perf_counter() - started, tuple(fused[:keep]), tuple(c.chunk.id for c in fused))


def _timed(run: Callable[[], list[Hit]]) -> tuple[list[Hit], float]:
    started = time.perf_counter()
    return run(), time.perf_counter() - started


def candidates(rankings: Mapping[str, Sequence[Hit]], indexes: Indexes, settings: SearchSettings,
               weights: Mapping[str, float] | None = None) -> list[Candidate]:
    """Fuse rankings into at most `settings.candidates` candidates, the same text of one source only once."""
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
        found.append(replace(candidate, ranks=ranks[hit.chunk_id], scores=scores[hit.chunk_id]))
    return found[: settings.candidates]


def rerank(query: Query, found: Sequence[Candidate], reranker: Reranker) -> list[Candidate]:
    """Order candidates by the reranker's score; ties keep the fused order."""
    scores = reranker.score(query.canonical, [c.chunk.search_text for c in found])
    scored = [
        replace(c, score=float(score), scores={**c.scores, "rerank": float(score)})
        for c, score in zip(found, scores, strict=True)
    ]
    return sorted(scored, key=lambda c: -c.score)
