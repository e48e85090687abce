"""The knowledge base: one SQLite file that is the truth; indexes are caches made from it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from nongda.errors import DocumentError, StoreError
from nongda.index.database import explain, open_database
from nongda.index.facts import FactTable
from nongda.index.migrations import KNOWN_MIGRATIONS, migrations
from nongda.index.removal import delete, hide, removed_hash
from nongda.index.rows import (
    CHUNK_COLUMNS,
    SELECT_DOCUMENTS,
    NewDocument,
    chunk_row,
    document_row,
    fact_row,
    page_row,
    read_chunk,
    read_document,
    read_page,
)
from nongda.intake import PageReading
from nongda.language.own_words import OwnWord
from nongda.records import Chunk, DocumentState, StoredDocument

FILE_NAME = "corpus.db"
_ACTIVE = "doc_id IN (SELECT id FROM documents WHERE state = 'active')"
_UNKNOWN = "知识库里没有编号为 {} 的资料：用 docs 命令查看现有编号"
_READ_ONLY = "数据文件夹 {} 是只读的，不能改动：请先复制到硬盘，再用 --data 指向它"


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
            self._db, self.read_only = open_database(self.path)
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
            self._migrate()

    def _migrate(self) -> None:
        """Apply what is missing in one transaction that begins with the write lock: two may open a new folder."""
        connection = self._db.conn
        connection.execute("BEGIN IMMEDIATE")
        try:
            migrations.apply(self._db)
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise

    @contextmanager
    def attached(self, path: Path, name: str) -> Iterator[None]:
        """Have the tables of another database at hand under a name, for the time of a `with`."""
        with self._lock, self._failures():
            self._db.execute(f"ATTACH DATABASE ? AS {name}", [str(path)])
            try:
                yield
            finally:
                self._db.execute(f"DETACH DATABASE {name}")

    # meta

    def meta(self) -> dict[str, str]:
        """Return what wrote this knowledge base: embedder, dimension, chunker version."""
        return {row["key"]: row["value"] for row in self.rows("SELECT key, value FROM meta")}

    def set_note(self, name: str, value: str) -> None:
        """Keep one value beside what wrote this knowledge base."""
        with self.write():
            self.set_meta(name, value)

    def set_meta(self, key: str, value: str) -> None:
        """Set one value inside a write."""
        self._db.table("meta").upsert({"key": key, "value": value}, pk="key")

    def revision(self) -> int:
        """Return a number that grows with every change of the documents, by whatever process."""
        rows = self.rows("SELECT value FROM meta WHERE key = 'revision'")
        return int(rows[0]["value"]) if rows else 0

    def count_revision(self) -> None:
        """Say inside a write that documents or words change."""
        self.set_meta("revision", str(self.revision() + 1))

    # documents

    def find_duplicate(self, sha256: str, text_sha256: str = "") -> tuple[Literal["bytes", "text"], str] | None:
        """Return how a document with these hashes is already there, and its id; a removed one is not there."""
        for how, column, value in (("bytes", "sha256", sha256), ("text", "text_sha256", text_sha256)):
            rows = self.rows(f"SELECT id FROM documents WHERE {column} = ?", (value,))
            if value and rows:
                return ("bytes" if how == "bytes" else "text"), str(rows[0]["id"])
        return None

    def add(self, document: NewDocument, writer: Mapping[str, str], supersedes: Sequence[str] = ()) -> None:
        """Store one document and who wrote it in one atomic write, older editions retreat behind it.

        An error leaves everything as it was. Raises DocumentError where it is there already or another file has its id,
        StoreError for the rest.
        """
        with self.write():
            if self.find_duplicate(document.sha256, document.text_sha256):  # a second process was faster
                raise DocumentError(f"{document.source} 已在知识库中：不用再添加")
            self._clear_removed(document)
            for key, value in writer.items():
                self.set_meta(key, value)
            self._db.table("documents").insert(document_row(document))
            self._db.table("originals").insert({"doc_id": document.id, "data": document.data})
            self._db.table("chunks").insert_all([chunk_row(c) for c in document.chunks])
            self._db.table("pages").insert_all([page_row(r, document.id) for r in document.readings])
            if document.state == "active":
                self._db.table("facts").insert_all([fact_row(f, document.id) for f in document.facts])
            for doc_id in supersedes:
                self.set_state(doc_id, "superseded", document.id)
            self.count_revision()

    def _clear_removed(self, document: NewDocument) -> None:
        """Make room where a removed document of the same file has left its passages; they come back as they were."""
        rows = self.rows("SELECT state, sha256 FROM documents WHERE id = ?", (document.id,))
        if not rows:
            return
        if rows[0]["state"] != "removed" or rows[0]["sha256"] != removed_hash(document.sha256):
            raise DocumentError(f"编号 {document.id} 已被另一份文件占用：请在 {document.source} 末尾加一行字再添加")
        delete(self._db, document.id)

    def set_state(self, doc_id: str, state: DocumentState, superseded_by: str = "") -> None:
        """Set whether a document is searched; facts of one that is not are dropped. StoreError when there is none."""
        with self.write():
            self._existing(doc_id)
            self._db.table("documents").update(doc_id, {"state": state, "superseded_by": superseded_by})
            if state != "active":
                self._db.table("facts").delete_where("doc_id = ?", [doc_id])
            self.count_revision()

    def remove(self, doc_id: str, forget: bool = False) -> StoredDocument:
        """Take a document out; its passages can still be read by their old citations, unless they shall be forgotten.

        Returns the document as it was. StoreError when there is none of this id.
        """
        with self.write():
            document = self._existing(doc_id)
            if forget:
                delete(self._db, doc_id)
            elif document.state == "removed":
                raise StoreError(_UNKNOWN.format(doc_id))
            else:
                hide(self._db, doc_id)
            self.count_revision()
        return document

    def _existing(self, doc_id: str) -> StoredDocument:
        document = self.document(doc_id)
        if document is None:
            raise StoreError(_UNKNOWN.format(doc_id))
        return document

    def documents(self) -> list[StoredDocument]:
        """Return all documents but removed ones, oldest first."""
        rows = self.rows(SELECT_DOCUMENTS + " WHERE d.state != 'removed' ORDER BY d.added_at, d.rowid")
        return [read_document(row) for row in rows]

    def active(self) -> list[StoredDocument]:
        """Return the documents that are searched, oldest first."""
        return [document for document in self.documents() if document.state == "active"]

    def document(self, doc_id: str) -> StoredDocument | None:
        """Return one document, a removed one too, or None."""
        rows = self.rows(SELECT_DOCUMENTS + " WHERE d.id = ?", (doc_id,))
        return read_document(rows[0]) if rows else None

    def original(self, doc_id: str) -> bytes | None:
        """Return the bytes a document was made from; None where it was removed or never there."""
        rows = self.rows("SELECT data FROM originals WHERE doc_id = ?", (doc_id,))
        return bytes(rows[0]["data"]) if rows else None

    def originals(self) -> Iterator[tuple[StoredDocument, bytes]]:
        """Yield each document with the bytes it was made from."""
        for document in self.documents():
            data = self.original(document.id)
            if data is not None:
                yield document, data

    def pages(self, doc_id: str) -> list[PageReading]:
        """Return how each page of a document was read; none for formats whose pages are not seen."""
        return [read_page(row) for row in self.rows("SELECT * FROM pages WHERE doc_id = ? ORDER BY number", (doc_id,))]

    # chunks

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one chunk, or None."""
        rows = self.rows(f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE id = ?", (chunk_id,))
        return read_chunk(rows[0]) if rows else None

    def chunks_of(self, doc_id: str) -> list[Chunk]:
        """Return a document's chunks in reading order."""
        rows = self.rows(f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE doc_id = ? ORDER BY position", (doc_id,))
        return [read_chunk(row) for row in rows]

    def tokens(self) -> list[tuple[str, list[str]]]:
        """Return (chunk id, search tokens) of all chunks that are searched, in the order of their keys."""
        rows = self.rows(f"SELECT id, tokens FROM chunks WHERE {_ACTIVE} ORDER BY key")
        return [(row["id"], row["tokens"].split("\n") if row["tokens"] else []) for row in rows]

    def vectors(self, dimension: int) -> tuple[list[int], list[str], NDArray[np.float32]]:
        """Return keys, chunk ids and vectors (n, dimension) float32 of all chunks that are searched, in the order of keys.

        Raises StoreError when a stored vector has another dimension.
        """
        rows = self.rows(f"SELECT key, id, vector FROM chunks WHERE {_ACTIVE} ORDER BY key")
        if any(len(r["vector"]) != 4 * dimension for r in rows):
            raise StoreError(f"数据文件夹 {self.folder} 的向量维数与当前模型（{dimension} 维）不符：请运行 rebuild 命令")
        data = b"".join(r["vector"] for r in rows)
        matrix = np.frombuffer(data, dtype="<f4").reshape(len(rows), dimension)
        return [int(r["key"]) for r in rows], [str(r["id"]) for r in rows], matrix.astype(np.float32)

    # facts

    def facts(self) -> FactTable:
        """Return the table of facts, to read."""
        return FactTable(self.rows)

    # a station's own words

    def own_words(self) -> list[OwnWord]:
        """Return the station's own words in the reader's order."""
        rows = self.rows("SELECT alias, term, kind FROM own_words ORDER BY position")
        return [OwnWord(row["alias"], row["term"], row["kind"]) for row in rows]

    def check_writable(self) -> None:
        """Raise StoreError where this folder can only be read."""
        if self.read_only:
            raise StoreError(_READ_ONLY.format(self.folder))

    # plumbing

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Run a query and return its rows as dictionaries."""
        with self._lock, self._failures():
            return list(self._db.query(sql, tuple(parameters)))

    @contextmanager
    def write(self) -> Iterator[Database]:
        """Make all changes inside one atomic write, which begins with the write lock; writes inside it join it.

        Raises StoreError, and then nothing has changed.
        """
        self.check_writable()
        with self._lock, self._failures(), self._db.atomic():
            # Take the write lock before reading, so that a second process waits instead of failing.
            self._db.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('revision', '0')")
            yield self._db

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(explain(error, self.path)) from error
        except OSError as error:
            raise StoreError(f"数据文件夹 {self.folder} 不能使用（{error.strerror or error}）：请检查路径和权限") from error
