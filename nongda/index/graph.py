"""The HNSW graph of a set of vectors (Malkov and Yashunin, 2018) and its file.

The file is a cache of the vectors in the store. It is loaded only when the note beside it (count, dimension, settings,
sha256 of the file) is right, since hnswlib reads past a damaged file. The note has the key and a mark of each vector, so
that the graph of yesterday still serves the vectors that are the same today.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hnswlib
import numpy as np
from numpy.typing import NDArray

from nongda.documents.identify import file_sha256

logger = logging.getLogger(__name__)
FILE_NAME = "vectors.hnsw"
_AT_ONCE = 1000  # vectors marked at once
_ADDED_AT_ONCE = 100  # vectors between two looks at the stop: less than half a second


class Graph:
    """A searchable graph; a vector is known by its key, and the same while its mark is the same."""

    def __init__(self, index: hnswlib.Index, keys: NDArray[np.int64], marks: NDArray[np.uint64]) -> None:
        self._index = index
        self._lock = threading.Lock()  # set_ef and knn_query belong together
        order = np.argsort(keys)
        self._keys, self._marks = keys[order], marks[order]
        self._hidden: set[int] = set()

    def __len__(self) -> int:
        return len(self._keys)

    def covers(self, keys: NDArray[np.int64], vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Tell for each key (n,) whether the graph has the very same vector under it."""
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        same: NDArray[np.bool_] = (self._keys[places] == keys) & (self._marks[places] == marks_of(vectors))
        return same

    def show(self, keys: NDArray[np.int64]) -> None:
        """Let searches find these keys and no others."""
        with self._lock:
            hidden = set(self._keys.tolist()) - set(keys.tolist())
            for key in hidden - self._hidden:
                self._index.mark_deleted(key)
            for key in self._hidden - hidden:
                self._index.unmark_deleted(key)
            self._hidden = hidden

    def nearest(self, query: NDArray[np.float32], k: int) -> list[int] | None:
        """Return the keys of at most k nearest vectors; None where the graph does not reach as many."""
        with self._lock:
            k = min(k, len(self._keys) - len(self._hidden))
            if k == 0:
                return []
            self._index.set_ef(min(max(64, 2 * k), len(self._keys)))
            try:
                labels, _ = self._index.knn_query(query, k=k)
            except RuntimeError:
                return None
        return [int(label) for label in labels[0]]

    def save(self, folder: Path, m: int, ef_construction: int) -> None:
        """Write the graph and its note into a folder; where that fails, the graph stays in memory."""
        try:
            self._save(folder, _note(len(self), self._index.dim, m, ef_construction))
        except (OSError, RuntimeError) as error:  # a read-only or full medium
            logger.warning("HNSW cache not saved in %s: %s", folder, error)

    def _save(self, folder: Path, note: dict[str, Any]) -> None:
        path, note_path = folder / FILE_NAME, folder / (FILE_NAME + ".json")
        temporary, note_temporary = path.with_suffix(".tmp"), note_path.with_suffix(".tmp")
        self._index.save_index(str(temporary))
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        note |= {"sha256": file_sha256(temporary), "keys": self._keys.tolist(), "marks": self._marks.tolist()}
        note_temporary.write_text(json.dumps(note), encoding="utf-8")
        os.replace(temporary, path)
        os.replace(note_temporary, note_path)


def marks_of(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return a number for each vector (n, dim) that tells other vectors apart from it."""
    factors = np.random.default_rng(7).integers(1, 2**63, vectors.shape[1], dtype=np.uint64) | np.uint64(1)
    bits = np.ascontiguousarray(vectors, dtype="<f4").view("<u4")
    parts = [(bits[i : i + _AT_ONCE].astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)
             for i in range(0, len(bits), _AT_ONCE)]
    return np.concatenate([np.zeros(0, dtype=np.uint64), *parts])


def load_graph(folder: Path, dimension: int, m: int, ef_construction: int) -> Graph | None:
    """Return the graph of a folder's file; None where there is none that is right and of these settings."""
    path, note_path = folder / FILE_NAME, folder / (FILE_NAME + ".json")
    try:
        note = json.loads(note_path.read_text(encoding="utf-8"))
        keys, marks = np.array(note["keys"], dtype=np.int64), np.array(note["marks"], dtype=np.uint64)
        wanted = _note(len(keys), dimension, m, ef_construction) | {"sha256": file_sha256(path)}
        if any(note.get(name) != value for name, value in wanted.items()) or len(marks) != len(keys) or not len(keys):
            return None
        index = hnswlib.Index(space="ip", dim=dimension)
        index.load_index(str(path), max_elements=len(keys))
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RuntimeError) as error:
        logger.info("HNSW cache not usable (%s)", error)
        return None
    return Graph(index, keys, marks)


def build_graph(keys: NDArray[np.int64], vectors: NDArray[np.float32], m: int, ef_construction: int, threads: int = -1,
                stopped: Callable[[], bool] = lambda: False) -> Graph | None:
    """Build the graph of vectors (n, dim), about 1 to 2 s for a thousand on one core; None where it was stopped."""
    index = hnswlib.Index(space="ip", dim=vectors.shape[1])
    index.init_index(max_elements=len(keys), M=m, ef_construction=ef_construction, random_seed=7)
    for start in range(0, len(keys), _ADDED_AT_ONCE):
        if stopped():
            return None
        part = slice(start, start + _ADDED_AT_ONCE)
        index.add_items(vectors[part], keys[part], num_threads=threads)
    return Graph(index, keys, marks_of(vectors))


def _note(count: int, dimension: int, m: int, ef_construction: int) -> dict[str, Any]:
    return {"count": count, "dimension": dimension, "m": m, "ef_construction": ef_construction}
