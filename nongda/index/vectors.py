"""Dense search: exact while the set is small, HNSW (Malkov and Yashunin, 2018) above.

The HNSW file is a cache of the vectors in the store. It is loaded only when the note beside it (count, dimension,
sha256 of the file, keys' fingerprint) is right, since hnswlib reads past a damaged file; otherwise it is built anew.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import hnswlib
import numpy as np
from numpy.typing import NDArray

from nongda.documents.identify import file_sha256
from nongda.records import Hit

logger = logging.getLogger(__name__)
FILE_NAME = "vectors.hnsw"


@dataclass(frozen=True, slots=True)
class _Note:
    count: int
    dimension: int
    fingerprint: str
    m: int
    ef_construction: int
    sha256: str = ""


class VectorIndex:
    """An immutable index over chunk vectors, (n, dim) float32, L2-normalised; scores are cosines."""

    def __init__(self, folder: Path | None, ids: Sequence[str], keys: Sequence[int], vectors: NDArray[np.float32],
                 exact_below: int, m: int = 32, ef_construction: int = 128) -> None:
        self._ids = list(ids)
        self._keys = np.array(keys, dtype=np.int64)
        self._vectors = vectors
        self._rows = {int(key): row for row, key in enumerate(keys)}
        self._lock = threading.Lock()  # set_ef and knn_query belong together
        self._graph: hnswlib.Index | None = None
        if len(self._ids) >= max(exact_below, 1):
            note = _Note(len(self._ids), vectors.shape[1], _fingerprint(self._keys, vectors), m, ef_construction)
            self._graph = _load(folder, note) or _build(folder, note, self._keys, vectors)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def exact(self) -> bool:
        """Tell whether every vector is compared."""
        return self._graph is None

    def search(self, query: NDArray[np.float32], k: int) -> list[Hit]:
        """Return the k nearest chunks to a query vector (dim,), by cosine."""
        k = min(k, len(self._ids))
        if k == 0:
            return []
        rows = np.arange(len(self._ids)) if self._graph is None else self._nearest(self._graph, query, k)
        scores = self._vectors[rows] @ query
        hits = [Hit(self._ids[row], float(score)) for row, score in zip(rows, scores, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def _nearest(self, graph: hnswlib.Index, query: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        with self._lock:
            graph.set_ef(min(max(64, 2 * k), len(self._ids)))
            try:
                labels, _ = graph.knn_query(query, k=k)
            except RuntimeError:  # the graph reached fewer than k elements
                logger.warning("HNSW found too few neighbours; searching exactly")
                return np.arange(len(self._ids))
        return np.array([self._rows[int(label)] for label in labels[0]], dtype=np.int64)


def _fingerprint(keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> str:
    digest = hashlib.sha256(keys.astype("<i8").tobytes())
    digest.update(vectors.astype("<f4").tobytes())
    return digest.hexdigest()


def _load(folder: Path | None, note: _Note) -> hnswlib.Index | None:
    if folder is None:
        return None
    path, note_path = folder / FILE_NAME, folder / (FILE_NAME + ".json")
    try:
        stored = _Note(**json.loads(note_path.read_text(encoding="utf-8")))
        if stored != _Note(**{**asdict(note), "sha256": file_sha256(path)}):
            return None
        graph = hnswlib.Index(space="ip", dim=note.dimension)
        graph.load_index(str(path), max_elements=note.count)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        logger.info("HNSW cache not usable (%s); building it anew", error)
        return None
    return graph


def _build(folder: Path | None, note: _Note, keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> hnswlib.Index:
    graph = hnswlib.Index(space="ip", dim=note.dimension)
    graph.init_index(max_elements=note.count, M=note.m, ef_construction=note.ef_construction, random_seed=7)
    graph.add_items(vectors, keys)
    if folder is not None:
        try:
            _save(graph, folder, note)
        except (OSError, RuntimeError) as error:  # a read-only or full medium: the cache stays in memory
            logger.warning("HNSW cache not saved in %s: %s", folder, error)
    return graph


def _save(graph: hnswlib.Index, folder: Path, note: _Note) -> None:
    path, note_path = folder / FILE_NAME, folder / (FILE_NAME + ".json")
    temporary, note_temporary = path.with_suffix(".tmp"), note_path.with_suffix(".tmp")
    graph.save_index(str(temporary))
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    record = {**asdict(note), "sha256": file_sha256(temporary)}
    note_temporary.write_text(json.dumps(record), encoding="utf-8")
    os.replace(temporary, path)
    os.replace(note_temporary, note_path)
