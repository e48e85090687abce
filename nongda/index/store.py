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

from nongda.errors import DocumentError, StoreError
from nongda.index.database import explain, open_database
from nongda.index.facts import FactTable
from nongda.index.migrations import KNOWN_MIGRATIONS, migrations
from nongda.index.rows import (
    CHUNK_COLUMNS,
    SELECT_DOCUMENTS,
    NewDocument,
    Reworded,
    chunk_row,
    document_row,
    fact_row,
    read_chunk,
    read_document,
)
from nongda.language.own_words import OwnWord
from nongda.records import Chunk, Fact, StoredDocument

FILE_NAME = "corpus.db"
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

    def replace_with(self, fresh: Store) -> None:
        """Take over the content of a closed store of the same documents, in one atomic write.

        The file stays the same one, so that a second process that has it open goes on with the new content.
        Raises StoreError where documents came or went while the other store was made.
        """
        with self._lock, self._failures():
            self._db.execute("ATTACH DATABASE ? AS fresh", [str(fresh.path)])
            try:
                self._copy_fresh()
            finally:
                self._db.execute("DETACH DATABASE fresh")

    def _copy_fresh(self) -> None:
        with self._write():
            revision = self.revision()
            ids = ({row["id"] for row in self._rows(f"SELECT id FROM {schema}.documents")}
                   for schema in ("main", "fresh"))
            if next(ids) != next(ids):
                raise StoreError(f"重建期间数据文件夹 {self.folder} 的资料有增减，已保持原样：请再运行一次 rebuild 命令")
            for table in ("facts", "chunks", "originals", "documents"):
                self._db.execute(f"DELETE FROM main.{table}")
            for table in ("meta", "documents", "originals", "chunks", "facts"):  # what meta keeps besides stays
                self._db.execute(f"INSERT OR REPLACE INTO main.{table} SELECT * FROM fresh.{table}")
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
        """Store one document and who wrote it in one atomic write; an error leaves everything as it was.

        Raises DocumentError where it is there already or another file has its id, StoreError for the rest.
        """
        with self._write():
            if self.find_duplicate(document.sha256, document.text_sha256):  # a second process was faster
                raise DocumentError(f"{document.source} 已在知识库中：不用再添加")
            if self._rows("SELECT 1 FROM documents WHERE id = ?", (document.id,)):
                raise DocumentError(f"编号 {document.id} 已被另一份文件占用：请在 {document.source} 末尾加一行字再添加")
            for key, value in writer.items():
                self._set_meta(key, value)
            self._db.table("documents").insert(document_row(document))
            self._db.table("originals").insert({"doc_id": document.id, "data": document.data})
            self._db.table("chunks").insert_all([chunk_row(c) for c in document.chunks])
            self._db.table("facts").insert_all([fact_row(f, document.id) for f in document.facts])
            self._count_revision()

    def remove(self, doc_id: str) -> StoredDocument:
        """Remove a document with its chunks; StoreError when there is none of this id."""
        with self._write():
            document = self.document(doc_id)
            if document is None:
                raise StoreError(f"知识库里没有编号为 {doc_id} 的资料：用 docs 命令查看现有编号")
            for table, column in (("facts", "doc_id"), ("chunks", "doc_id"), ("originals", "doc_id"), ("documents", "id")):
                self._db.table(table).delete_where(f"{column} = ?", [doc_id])
            self._count_revision()
        return document

    def documents(self) -> list[StoredDocument]:
        """Return all documents, oldest first."""
        rows = self._rows(SELECT_DOCUMENTS + " GROUP BY d.id ORDER BY d.added_at, d.rowid")
        return [read_document(row) for row in rows]

    def document(self, doc_id: str) -> StoredDocument | None:
        """Return one document, or None."""
        rows = self._rows(SELECT_DOCUMENTS + " WHERE d.id = ? GROUP BY d.id", (doc_id,))
        return read_document(rows[0]) if rows else None

    def originals(self) -> Iterator[tuple[StoredDocument, bytes]]:
        """Yield each document with the bytes it was made from."""
        for document in self.documents():
            rows = self._rows("SELECT data FROM originals WHERE doc_id = ?", (document.id,))
            yield document, bytes(rows[0]["data"])

    # chunks

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return one chunk, or None."""
        rows = self._rows(f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE id = ?", (chunk_id,))
        return read_chunk(rows[0]) if rows else None

    def chunks_of(self, doc_id: str) -> list[Chunk]:
        """Return a document's chunks in reading order."""
        rows = self._rows(f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE doc_id = ? ORDER BY position", (doc_id,))
        return [read_chunk(row) for row in rows]

    def tokens(self) -> list[tuple[str, list[str]]]:
        """Return (chunk id, search tokens) of all chunks, in the order of their keys."""
        rows = self._rows("SELECT id, tokens FROM chunks ORDER BY key")
        return [(row["id"], row["tokens"].split("\n") if row["tokens"] else []) for row in rows]

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

    # facts

    def facts(self) -> FactTable:
        """Return the table of facts, to read."""
        return FactTable(self._rows)

    def replace_facts(self, facts: Mapping[str, Sequence[Fact]], version: str) -> None:
        """Put these facts, by document id, in the place of all, with what made them, in one atomic write.

        Facts of a document that is gone by now are left out.
        """
        with self._write():
            self._db.execute("DELETE FROM facts")
            known = {row["id"] for row in self._rows("SELECT id FROM documents")}
            rows = [fact_row(f, doc_id) for doc_id, found in facts.items() if doc_id in known for f in found]
            self._db.table("facts").insert_all(rows)
            self._set_meta("facts", version)

    # a station's own words

    def own_words(self) -> list[OwnWord]:
        """Return the station's own words in the reader's order."""
        rows = self._rows("SELECT alias, term, kind FROM own_words ORDER BY position")
        return [OwnWord(row["alias"], row["term"], row["kind"]) for row in rows]

    def set_own_words(self, words: Sequence[OwnWord], chunks: Sequence[Reworded], revision: int) -> bool:
        """Put these words in the place of all, and what search sees of the chunks they change, in one atomic write.

        Returns False, and writes nothing, where documents or words have changed since this revision.
        """
        with self._write():
            if self.revision() != revision:
                return False
            self._db.execute("DELETE FROM own_words")
            self._db.table("own_words").insert_all(
                {"position": n, "alias": w.alias, "term": w.term, "kind": w.kind} for n, w in enumerate(words))
            for chunk in chunks:
                self._db.execute("UPDATE chunks SET search_text = ?, tokens = ? WHERE id = ?",
                                 [chunk.search_text, "\n".join(chunk.tokens), chunk.id])
                if chunk.vector is not None:
                    self._db.execute("UPDATE chunks SET vector = ? WHERE id = ?",
                                     [chunk.vector.astype("<f4").tobytes(), chunk.id])
            self._count_revision()
        return True

    def check_writable(self) -> None:
        """Raise StoreError where this folder can only be read."""
        if self.read_only:
            raise StoreError(_READ_ONLY.format(self.folder))

    # plumbing

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        with self._lock, self._failures():
            return list(self._db.query(sql, tuple(parameters)))

    @contextmanager
    def _write(self) -> Iterator[None]:
        self.check_writable()
        with self._lock, self._failures(), self._db.atomic():
            # Take the write lock before reading, so that a second process waits instead of failing.
            self._db.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('revision', '0')")
            yield

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(explain(error, self.path)) from error
        except OSError as error:
            raise StoreError(f"数据文件夹 {self.folder} 不能使用（{error.strerror or error}）：请检查路径和权限") from error
