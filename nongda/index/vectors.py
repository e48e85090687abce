"""Dense search: exact while the set is small, by a graph above; what the graph does not know is always compared."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongda.index.graph import Graph, build_graph, load_graph
from nongda.records import Hit

logger = logging.getLogger(__name__)


class VectorIndex:
    """An index over chunk vectors, (n, dim) float32, L2-normalised; scores are cosines.

    From `exact_below` vectors on, the graph of the folder is used, or built at once where it is not there.
    """

    def __init__(self, folder: Path | None, ids: Sequence[str], keys: Sequence[int], vectors: NDArray[np.float32],
                 exact_below: int, m: int = 32, ef_construction: int = 128) -> None:
        self._set(ids, np.array(keys, dtype=np.int64), vectors)
        if len(self._ids) >= max(exact_below, 1):
            graph = load_graph(folder, vectors.shape[1], m, ef_construction) if folder else None
            if graph is None or self.unknown_to(graph) >= max(exact_below, 1):
                graph = build_graph(self._keys, vectors, m, ef_construction)
                if graph and folder:
                    graph.save(folder, m, ef_construction)
            self.use(graph)

    @classmethod
    def of(cls, ids: Sequence[str], keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> VectorIndex:
        """Return an index that compares every vector until it is given a graph to use."""
        index = object.__new__(cls)
        index._set(ids, keys, vectors)
        return index

    def _set(self, ids: Sequence[str], keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        self._ids = list(ids)
        self._keys = keys
        self._vectors = vectors
        self._graph: tuple[Graph, dict[int, int], NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def exact(self) -> bool:
        """Tell whether every vector is compared."""
        return self._graph is None

    def unknown_to(self, graph: Graph) -> int:
        """Return how many vectors a graph lacks; all of them where it mostly has others."""
        covered = int(graph.covers(self._keys, self._vectors).sum())
        return len(self._ids) - covered if covered > len(graph) // 2 else len(self._ids)

    def use(self, graph: Graph | None) -> None:
        """Search with this graph from now on, and exactly among the vectors that it lacks."""
        if graph is None:
            self._graph = None
            return
        covered = graph.covers(self._keys, self._vectors)
        rows = {int(self._keys[row]): int(row) for row in np.flatnonzero(covered)}
        graph.show(self._keys[covered])
        self._graph = graph, rows, np.flatnonzero(~covered)

    def search(self, query: NDArray[np.float32], k: int) -> list[Hit]:
        """Return the k nearest chunks to a query vector (dim,), by cosine."""
        k = min(k, len(self._ids))
        if k <= 0:
            return []
        rows = self._candidates(query, k)
        scores = self._vectors @ query if rows is None else self._vectors[rows] @ query
        best = np.argpartition(scores, -k)[-k:]
        best = np.flatnonzero(scores >= scores[best].min())
        hits = [Hit(self._ids[row if rows is None else rows[row]], float(scores[row])) for row in best]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def _candidates(self, query: NDArray[np.float32], k: int) -> NDArray[np.int64] | None:
        """Return the rows to compare; None for all."""
        if self._graph is None:
            return None
        graph, known, others = self._graph
        keys = graph.nearest(query, k)
        if keys is None:
            logger.warning("HNSW found too few neighbours; searching exactly")
            return None
        near = [known[key] for key in keys if key in known]  # another revision may have changed what the graph shows
        rows = np.concatenate([np.array(near, dtype=np.int64), others])
        return rows if len(rows) >= k else None
