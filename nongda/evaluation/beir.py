"""Public retrieval sets in BEIR form: corpus.jsonl, queries.jsonl, qrels.tsv (Thakur et al., 2021).

The four systems rank the same passages: BM25, dense, both fused by reciprocal rank, and the fused ones reranked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongda.answer.retrieve import fuse
from nongda.errors import UsageError
from nongda.evaluation.metrics import ndcg, recall, reciprocal_rank
from nongda.index.lexical import LexicalIndex
from nongda.language.lexicon import Lexicon
from nongda.loading import TextEmbedder
from nongda.models.rerank import Reranker
from nongda.records import Hit
from nongda.settings import SearchSettings

SYSTEMS = ("bm25", "dense", "hybrid", "hybrid+rerank")
METRICS = ("ndcg@10", "mrr@10", "recall@5", "recall@20")
EMBED_AT_ONCE = 64
_DEPTH = 20


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """A public set: passages, queries, and which passages are relevant to each query."""

    name: str
    passages: Mapping[str, str]
    queries: Mapping[str, str]
    relevant: Mapping[str, Mapping[str, int]]


def load_beir(folder: Path) -> RetrievalSet:
    """Read a set. Raises UsageError that names the file; queries without a relevant passage are left out."""
    try:
        passages = {row["_id"]: f"{row.get('title', '')} {row['text']}".strip() for row in _rows(folder / "corpus.jsonl")}
        queries = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
        relevant: dict[str, dict[str, int]] = {}
        for line in (folder / "qrels.tsv").read_text(encoding="utf-8").split("\n")[1:]:
            if not line.strip():
                continue
            query, passage, gain = line.split("\t")
            if int(gain) > 0:
                relevant.setdefault(query, {})[passage] = int(gain)
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"检索测试集 {folder} 无法读取（{error}）：需要 corpus.jsonl、queries.jsonl 和 qrels.tsv") from error
    asked = {query: text for query, text in queries.items() if query in relevant}
    if not passages or not asked:
        raise UsageError(f"检索测试集 {folder} 里没有段落，或没有一个问题有相关段落：请检查文件")
    return RetrievalSet(folder.resolve().name, passages, asked, relevant)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            yield json.loads(line)


class BeirRetriever:
    """All passages of a set, indexed in memory."""

    def __init__(self, data: RetrievalSet, lexicon: Lexicon, embedder: TextEmbedder, reranker: Reranker,
                 settings: SearchSettings) -> None:
        self._lexicon, self._embedder, self._reranker, self._settings = lexicon, embedder, reranker, settings
        self._ids = list(data.passages)
        self._texts = {i: lexicon.canonical(text) for i, text in data.passages.items()}
        self._lexical = LexicalIndex([(i, lexicon.tokens(text)) for i, text in data.passages.items()],
                                     settings.bm25_k1, settings.bm25_b)
        self._vectors = np.zeros((0, embedder.dimension), np.float32)

    def embed(self) -> Iterator[int]:
        """Embed the passages, yielding how many are done."""
        parts: list[NDArray[np.float32]] = []
        texts = [self._texts[i] for i in self._ids]
        for start in range(0, len(texts), EMBED_AT_ONCE):
            parts.append(self._embedder.embed_passages(texts[start : start + EMBED_AT_ONCE]))
            yield min(start + EMBED_AT_ONCE, len(texts))
        self._vectors = np.concatenate(parts)

    def rankings(self, question: str) -> dict[str, list[str]]:
        """Return the first 20 passage ids of every system."""
        canonical = self._lexicon.canonical(question)
        similarities = self._vectors @ self._embedder.embed_queries([canonical])[0]
        nearest = np.argsort(-similarities, kind="stable")[:_DEPTH]
        lists = {
            "bm25": self._lexical.search(self._lexicon.tokens(question), _DEPTH),
            "dense": [Hit(self._ids[row], float(similarities[row])) for row in nearest],
        }
        weights = {"bm25": self._settings.bm25_weight, "dense": self._settings.dense_weight}
        fused = [hit.chunk_id for hit in fuse(lists, self._settings.rrf_k, weights)][:_DEPTH]
        scores = self._reranker.score(canonical, [self._texts[i] for i in fused])
        order = sorted(range(len(fused)), key=lambda place: -scores[place])
        found = {name: [hit.chunk_id for hit in hits] for name, hits in lists.items()}
        return found | {"hybrid": fused, "hybrid+rerank": [fused[place] for place in order]}


def evaluate_beir(data: RetrievalSet, retriever: BeirRetriever) -> Iterator[dict[str, Any]]:
    """Yield a record per query: its id and, per system, the metrics by name."""
    for query, text in data.queries.items():
        gains = data.relevant[query]
        found = {name: _measured(ranking, gains) for name, ranking in retriever.rankings(text).items()}
        yield {"id": query, "systems": found}


def _measured(ranking: list[str], gains: Mapping[str, int]) -> dict[str, float]:
    return {
        "ndcg@10": ndcg(ranking, gains, 10), "mrr@10": reciprocal_rank(ranking, gains, 10),
        "recall@5": recall(ranking, gains, 5), "recall@20": recall(ranking, gains, 20),
    }
