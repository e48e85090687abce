"""A pack's content, taken from a knowledge base."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongda import __version__
from nongda.errors import DocumentError, UsageError
from nongda.index.life import edits_of
from nongda.index.pack import Pack, Report, write_pack
from nongda.index.pack_manifest import WORDS, Manifest, PackedDocument, Retired
from nongda.index.pack_sign import SecretKey
from nongda.index.store import Store
from nongda.language.own_words import OwnWord
from nongda.records import StoredDocument

_SHA_BYTES = 32
Sources = dict[str, Callable[[], bytes]]
ScanRow = tuple[int, str, str]  # number from 1, reader, lines as documents.ocr writes them


def make_pack(store: Store, path: Path, key: SecretKey, name: str, made_at: str, documents: Sequence[str] | None = None,
              words: bool = True, retire: Sequence[Retired] = (), report: Report = lambda done, total: None) -> Manifest:
    """Write a pack of a knowledge base; returns what it says of itself.

    `documents` are ids, None all that are in use and their older editions. Raises UsageError for an id that is unknown or
    also withdrawn, for nothing to pack, for a pack too large or a file that is there; DocumentError for a bad medium.
    """
    chosen = _chosen(store, documents, {one.id for one in retire})
    own = tuple(store.own_words()) if words else ()
    if not (chosen or own or retire):
        raise UsageError("没有可以打包的资料、叫法或停用名单：请先添加资料，或用 --documents 选择")
    sources: Sources = {}
    packed = tuple(_pack_document(store, document, sources) for document in chosen)
    if own:
        sources[WORDS] = lambda: _words_bytes(own)
    meta = store.meta()
    draft = Manifest(name, made_at, "", __version__, meta.get("embedder", ""), int(meta.get("dimension", "0")),
                     meta.get("chunker", ""), packed, tuple(retire), len(own))
    return write_pack(path, draft, sources, key, report)


def _chosen(store: Store, ids: Sequence[str] | None, retire: set[str]) -> list[StoredDocument]:
    there = {document.id: document for document in store.documents()}
    if ids is None:
        return [d for d in sorted(there.values(), key=lambda d: d.id) if d.state != "retired" and d.id not in retire]
    for doc_id in ids:
        if doc_id not in there:
            raise UsageError(f"知识库里没有编号为 {doc_id} 的资料：用 docs 命令查看现有编号")
        if doc_id in retire:
            raise UsageError(f"资料 {doc_id} 同时在 --documents 和 --retire 里：请只留一处")
    return [there[doc_id] for doc_id in sorted(set(ids))]


def _pack_document(store: Store, document: StoredDocument, sources: Sources) -> PackedDocument:
    doc_id = document.id
    row = store.rows("SELECT sha256, text_sha256 FROM documents WHERE id = ?", (doc_id,))[0]
    sha256 = str(row["sha256"])
    sources[f"documents/{sha256}"] = lambda: store.original(doc_id) or b""
    vectors = _vector_bytes(store, doc_id)
    if vectors:
        sources[f"vectors/{doc_id}"] = lambda: _vector_bytes(store, doc_id)
    if store.rows("SELECT 1 FROM scans WHERE sha256 = ? LIMIT 1", (sha256,)):
        sources[f"scans/{sha256}.json"] = lambda: _scan_bytes(store, sha256)
    return PackedDocument(doc_id, document.source, sha256, str(row["text_sha256"]), document.meta, edits_of(store, doc_id),
                          document.state, document.superseded_by)


def _vector_bytes(store: Store, doc_id: str) -> bytes:
    """Return each search text's hash (32 bytes) with its vector (float32, little-endian), in the order of the hashes."""
    rows = store.rows("SELECT search_sha, MIN(vector) AS vector FROM chunks WHERE doc_id = ? AND search_sha != '' "
                      "GROUP BY search_sha ORDER BY search_sha", (doc_id,))
    return b"".join(bytes.fromhex(row["search_sha"]) + bytes(row["vector"]) for row in rows)


def _scan_bytes(store: Store, sha256: str) -> bytes:
    rows = store.rows("SELECT number, reader, lines FROM scans WHERE sha256 = ? ORDER BY number, reader", (sha256,))
    return json.dumps([[row["number"], row["reader"], row["lines"]] for row in rows], ensure_ascii=False).encode()


def _words_bytes(words: Sequence[OwnWord]) -> bytes:
    return json.dumps([[word.alias, word.term, word.kind] for word in words], ensure_ascii=False, indent=0).encode()


# reading what was written above

def packed_vectors(pack: Pack, doc_id: str, dimension: int) -> dict[str, NDArray[np.float32]]:
    """Return the vectors of a packed document, (dimension,) float32, by the hash of their search text.

    Those that are no unit vectors are left out: their text is then embedded again.
    """
    path = f"vectors/{doc_id}"
    size = _SHA_BYTES + 4 * dimension
    data = pack.read(path) if pack.has(path) else b""
    if len(data) % size:
        return {}
    rows = np.frombuffer(data, np.uint8).reshape(-1, size)
    vectors = np.ascontiguousarray(rows[:, _SHA_BYTES:]).view("<f4").astype(np.float32)
    with np.errstate(all="ignore"):
        good = np.abs(np.linalg.norm(vectors, axis=1) - 1) < 1e-3
    return {row[:_SHA_BYTES].tobytes().hex(): vector for row, vector, fit in zip(rows, vectors, good, strict=True) if fit}


def packed_scans(pack: Pack, sha256: str) -> list[ScanRow]:
    """Return the recognised pages of a packed file. Raises DocumentError where they cannot be read."""
    path = f"scans/{sha256}.json"
    rows = _rows(pack, path) if pack.has(path) else []
    try:
        return [(int(number), _text(reader), _text(lines)) for number, reader, lines in rows]
    except (TypeError, ValueError) as error:
        raise _unreadable(pack, path) from error


def packed_words(pack: Pack) -> list[OwnWord]:
    """Return the own words of a pack. Raises DocumentError where they cannot be read."""
    rows = _rows(pack, WORDS) if pack.has(WORDS) else []
    try:
        words = [OwnWord(_text(alias), _text(term), _text(kind)) for alias, term, kind in rows]
    except (TypeError, ValueError) as error:
        raise _unreadable(pack, WORDS) from error
    if len(words) != pack.manifest.words:
        raise _unreadable(pack, WORDS)
    return words


def _rows(pack: Pack, path: str) -> list[Any]:
    try:
        rows = json.loads(pack.read(path))
    except (ValueError, RecursionError) as error:
        raise _unreadable(pack, path) from error
    if not isinstance(rows, list):
        raise _unreadable(pack, path)
    return rows


def _text(cell: object) -> str:
    if not isinstance(cell, str):
        raise TypeError
    return cell


def _unreadable(pack: Pack, path: str) -> DocumentError:
    return DocumentError(f"知识包 {pack.path.name} 里的 {path} 无法读取，没有添加：请省站用本程序重新制作知识包")
