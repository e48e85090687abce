"""The knowledge base: one SQLite file that is the truth; indexes are caches made from it."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from nongda.errors import StoreError
from nongda.index.migrations import KNOWN_MIGRATIONS, migrations
from nongda.records import BlockKind, Chunk, DocumentMeta, StoredDocument

FILE_NAME = "corpus.db"
_BUSY_SECONDS = 30
_READ_ONLY = "数据文件夹 {} 是只读的，不能改动：请先复制到硬盘，再用 --data 指向它"


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with what the indexes need: search tokens and its vector, (dim,) float32, L2-normalised."""

    chunk: Chunk
    tokens: tuple[str, ...]
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class NewDocument:
    """Everything of one document that one atomic write stores."""

    id: str
    sha256: str
    text_sha256: str
    source: str
    meta: DocumentMeta
    pages: int | None
    characters: int
    warnings: tuple[str, ...]
    added_at: str
    data: bytes
    chunks: tuple[StoredChunk, ...]


class Store:
    """Opens, reads and writes the knowledge base; safe from several threads and beside a second process.

    Opening raises StoreError for a folder that cannot be used or was written by a newer version. A folder on a
    read-only medium opens for reading.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self._lock = threading.RLock()
        with self._failures():
            self._db, self.read_only = _open(self.path)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        with self._lock:
            self._db.close()

    def _prepare(self) -> None:
        applied = {m.name for m in migrations.applied(self._db)}
        if applied - KNOWN_MIGRATIONS:
            raise StoreError(f"数据文件夹 {self.folder} 由更新版本的程序写成：请升级本程序，或用 --data 换一个文件夹")
        if KNOWN_MIGRATIONS - applied:
            if self.read_only:
                raise StoreError(f"数据文件夹 {self.folder} 是旧版本且只读：请先复制到硬盘，再用 --data 指向它")
            with self._lock:
                migrations.apply(self._db)

    def replace_with(self, fresh: Store) -> None:
        """Take over the content of a closed store, in one rename; readers see the old or the new one, whole."""
        if self.read_only:
            raise StoreError(_READ_ONLY.format(self.folder))
        with self._lock, self._failures():
            revision = self.revision()
            self._db.close()
            try:
                os.replace(fresh.path, self.path)
            finally:
                self._db, self.read_only = _open(self.path)
        with self._write():
            self._set_meta("revision", str(revision + 1))

    # meta

    def meta(self) -> dict[str, str]:
        """Return what wrote this knowledge base: embedder, dimension, chunker version."""
        return {row["key"]: row["value"] for row in self._rows("SELECT key, value FROM meta")}

    def set_note(self, name: str, value: str) -> None:
        """Keep one value beside what wrote this knowledge base."""
        with self._write():
            self._set_meta(name, value)

    def _set_meta(self, key: str, value: str) -> None:
        self._db.table("meta").upsert({"key": key, "value": value}, pk="key")

    def revision(self) -> int:
        """Return a number that grows with every change of the documents, by whatever process."""
        rows = self._rows("SELECT value FROM meta WHERE key = 'revision'")
        return int(rows[0]["value"]) if rows else 0

    def _count_revision(self) -> None:
        self._set_meta("revision", str(self.revision() + 1))

    # documents

    def find_duplicate(self, sha256: str, text_sha256: str = "") -> tuple[Literal["bytes", "text"], str] | None:
        """Return how a document with these hashes is already there, and its id."""
        for how, column, value in (("bytes", "sha256", sha256), ("text", "text_sha256", text_sha256)):
            rows = self._rows(f"SELECT id FROM documents WHERE {column} = ?", (value,))
            if value and rows:
                return ("bytes" if how == "bytes" else "text"), str(rows[0]["id"])
        return None

    def add(self, document: NewDocument, writer: dict[str, str]) -> None:
        """Store one document and who wrote it in one atomic write; StoreError leaves everything as it was."""
        with self._write():
            for key, value in writer.items():
                self._set_meta(key, value)
            if self._rows("SELECT 1 FROM documents WHERE id = ?", (document.id,)):
                raise StoreError(f"编号 {document.id} 已被另一份文件占用：请在 {document.source} 末尾加一行字再添加")
            self._db.table("documents").insert(_document_row(document))
            self._db.table("originals").insert({"doc_id": document.id, "data": document.data})
            self._db.table("chunks").insert_all([_chunk_row(c) for c in document.chunks])
            self._count_revision()

    def remove(self, doc_id: str) -> StoredDocument:
        """Remove a document with its chunks; StoreError when there is none of this id."""
        with self._write():
            document = self.document(doc_id)
            if document is None:
                raise StoreError(f"知识库里没有编号为 {doc_id} 的资料：用 docs 命令查看现有编号")
            for table, column in (("chunks", "doc_id"), ("originals", "doc_id"), ("documents", "id")):
                self._db.table(table).delete_where(f"{column} = ?", [doc_id])
            self._count_revision()
        return document

    def documents(self) -> list[StoredDocument]:
        """Return all documents, oldest first."""
        return [_document(row) for row in self._rows(_DOCUMENTS + " GROUP BY d.id ORDER BY d.added_at, d.rowid")]

    def document(self, doc_id: str) -> StoredDocument | None:
        """Return one document, or None."""
        rows = self._rows(_DOCUMENTS + " WHERE d.id = ? GROUP BY d.id", (doc_id,))
        return _document(rows[0]) if rows else None

    def originals(self) -> Iterator[tuple[StoredDocument, bytes]]:
        """Yield each document with the bytes it was made from."""
        for document in self.documents():
            rows = self._rows("SELECT data FROM originals WHERE doc_id = ?", (document.id,))
            yield document, bytes(rows[0]["data"])

    # chunks

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one chunk, or None."""
        rows = self._rows(f"SELECT {_CHUNK} FROM chunks WHERE id = ?", (chunk_id,))
        return _chunk(rows[0]) if rows else None

    def chunks_of(self, doc_id: str) -> list[Chunk]:
        """Return a document's chunks in reading order."""
        return [_chunk(r) for r in self._rows(f"SELECT {_CHUNK} FROM chunks WHERE doc_id = ? ORDER BY position",
                                              (doc_id,))]

    def tokens(self) -> list[tuple[str, list[str]]]:
        """Return (chunk id, search tokens) of all chunks, in the order of their keys."""
        return [(r["id"], r["tokens"].split("\n")) for r in self._rows("SELECT id, tokens FROM chunks ORDER BY key")]

    def vectors(self, dimension: int) -> tuple[list[int], list[str], NDArray[np.float32]]:
        """Return keys, chunk ids and vectors (n, dimension) float32 of all chunks, in the order of their keys.

        Raises StoreError when a stored vector has another dimension.
        """
        rows = self._rows("SELECT key, id, vector FROM chunks ORDER BY key")
        if any(len(r["vector"]) != 4 * dimension for r in rows):
            raise StoreError(f"数据文件夹 {self.folder} 的向量维数与当前模型（{dimension} 维）不符：请运行 rebuild 命令")
        data = b"".join(r["vector"] for r in rows)
        matrix = np.frombuffer(data, dtype="<f4").reshape(len(rows), dimension)
        return [int(r["key"]) for r in rows], [str(r["id"]) for r in rows], matrix.astype(np.float32)

    # plumbing

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        with self._lock, self._failures():
            return list(self._db.query(sql, tuple(parameters)))

    @contextmanager
    def _write(self) -> Iterator[None]:
        if self.read_only:
            raise StoreError(_READ_ONLY.format(self.folder))
        with self._lock, self._failures(), self._db.atomic():
            # Take the write lock before reading, so that a second process waits instead of failing.
            self._db.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('revision', '0')")
            yield

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(_explain(error, self.folder)) from error
        except OSError as error:
            raise StoreError(f"数据文件夹 {self.folder} 不能使用（{error.strerror or error}）：请检查路径和权限") from error


_CHUNK = "id, doc_id, position, page, heading, kind, text, search_text"
_DOCUMENTS = "SELECT d.*, COUNT(c.key) AS chunk_count FROM documents d LEFT JOIN chunks c ON c.doc_id = d.id"


def _open(path: Path) -> tuple[Database, bool]:
    """Open for writing where possible, else read-only; returns the database and whether it is read-only."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(str(path), uri=False)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)")
            connection.execute("ROLLBACK")
            return Database(connection), False
        except sqlite3.OperationalError:
            connection.close()
            raise
    except (sqlite3.OperationalError, OSError) as error:
        if not path.exists() or "locked" in str(error):
            raise
    # immutable: a read-only medium cannot hold the lock files that even a reader would need
    return Database(_connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)), True


def _connect(target: str, uri: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        target, uri=uri, timeout=_BUSY_SECONDS, check_same_thread=False, isolation_level=None
    )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _explain(error: sqlite3.Error, folder: Path) -> str:
    text = str(error)
    if "full" in text or "disk I/O" in text:
        return f"磁盘已满或无法写入，数据文件夹 {folder} 保持原样：请腾出空间后再试"
    if "locked" in text or "busy" in text:
        return f"数据文件夹 {folder} 正被另一个程序写入：请稍后再试"
    if "not a database" in text or "malformed" in text:
        return f"数据文件夹 {folder} 的 {FILE_NAME} 已损坏：请换用备份，或改名后重新添加资料"
    return f"数据文件夹 {folder} 读写失败（{text}）：请检查磁盘，必要时换用备份"


def _document_row(document: NewDocument) -> dict[str, Any]:
    meta = document.meta
    return {
        "id": document.id, "sha256": document.sha256, "text_sha256": document.text_sha256,
        "source": document.source, "title": meta.title, "region": meta.region, "date": meta.date,
        "stage": meta.stage, "authority": meta.authority, "sample": int(meta.sample),
        "sources": json.dumps(meta.sources, ensure_ascii=False), "pages": document.pages,
        "characters": document.characters, "warnings": json.dumps(document.warnings, ensure_ascii=False),
        "added_at": document.added_at,
    }


def _chunk_row(stored: StoredChunk) -> dict[str, Any]:
    chunk = stored.chunk
    return {
        "id": chunk.id, "doc_id": chunk.doc_id, "position": chunk.position, "page": chunk.page,
        "heading": json.dumps(chunk.heading, ensure_ascii=False), "kind": chunk.kind, "text": chunk.text,
        "search_text": chunk.search_text, "tokens": "\n".join(stored.tokens),
        "vector": stored.vector.astype("<f4").tobytes(),
    }


def _document(row: dict[str, Any]) -> StoredDocument:
    meta = DocumentMeta(row["title"], row["region"], row["date"], row["stage"], row["authority"],
                        bool(row["sample"]), tuple(json.loads(row["sources"])))
    return StoredDocument(row["id"], row["source"], meta, row["pages"], row["characters"], row["chunk_count"],
                          row["added_at"])


def _chunk(row: dict[str, Any]) -> Chunk:
    kind: BlockKind = row["kind"]
    return Chunk(row["id"], row["doc_id"], row["position"], row["text"], row["search_text"], kind, row["page"],
                 tuple(json.loads(row["heading"])))
