"""The database's schema, as numbered migrations. A released migration is never edited."""

from __future__ import annotations

from typing import Any

from sqlite_utils import Database, Migrations

migrations = Migrations("nongda")


@migrations()
def m001_documents_and_chunks(db: Database) -> None:
    """Documents with their original bytes, chunks with tokens and vectors, and what wrote them."""
    db.table("meta").create({"key": str, "value": str}, pk="key")
    db.table("documents").create(
        {
            "id": str, "sha256": str, "text_sha256": str, "source": str, "title": str, "region": str, "date": str,
            "stage": str, "authority": str, "sample": int, "sources": str, "pages": int, "characters": int,
            "warnings": str, "added_at": str,
        },
        pk="id",
        not_null={"sha256", "text_sha256", "source"},
    )
    db.table("documents").create_index(["sha256"], unique=True)
    db.table("documents").create_index(["text_sha256"], unique=True)
    _create_content_tables(db)


def _create_content_tables(db: Database) -> None:
    owner: Any = [("doc_id", "documents", "id")]
    db.table("originals").create({"doc_id": str, "data": bytes}, pk="doc_id", foreign_keys=owner)
    db.table("chunks").create(
        {
            "key": int, "id": str, "doc_id": str, "position": int, "page": int, "heading": str, "kind": str,
            "text": str, "search_text": str, "tokens": str, "vector": bytes,
        },
        pk="key",
        foreign_keys=owner,
        not_null={"id", "doc_id", "text", "tokens", "vector"},
    )
    db.table("chunks").create_index(["id"], unique=True)
    db.table("chunks").create_index(["doc_id"])


@migrations()
def m002_facts(db: Database) -> None:
    """What single sentences, items and rows say; open ends of a range are infinite REALs, which SQLite compares."""
    facts = db.table("facts")
    facts.create(
        {
            "key": int, "doc_id": str, "chunk_id": str, "subject": str, "kind": str, "crop": str, "target": str,
            "attribute": str, "value": str, "low": float, "high": float, "unit": str, "condition": str, "start": int,
            "end": int,
        },
        pk="key",
        foreign_keys=[("doc_id", "documents", "id")],
        not_null={"doc_id", "chunk_id", "attribute", "value", "start", "end"},
    )
    for column in ("doc_id", "chunk_id", "attribute", "subject", "target"):
        facts.create_index([column])


@migrations()
def m003_own_words(db: Database) -> None:
    """A station's own words, in the reader's order: in the knowledge base, so that they outlive the program."""
    db.table("own_words").create({"position": int, "alias": str, "term": str, "kind": str}, pk="position",
                                 not_null={"alias", "term", "kind"})


@migrations()
def m004_editions_pages_folders_packs(db: Database) -> None:
    """The life of a document, how its pages were read, watched folders, packs; search texts are found by their hash."""
    documents = db.table("documents")
    for column, default in (("state", "active"), ("superseded_by", ""), ("valid_until", ""), ("replaces", ""), ("tags", "[]"),
                            ("edits", "{}"), ("similar", "[]"), ("origin", "")):
        documents.add_column(column, str, not_null_default=default)
    documents.add_column("signature", bytes)  # MinHash of the text; NULL until it is made
    documents.create_index(["state"])
    chunks = db.table("chunks")
    chunks.add_column("confidence", float, not_null_default=1.0)
    chunks.add_column("off_topic", int, not_null_default=0)
    chunks.add_column("search_sha", str, not_null_default="")
    chunks.create_index(["search_sha"])
    chunks.create_index(["doc_id", "off_topic"])  # counted for the list of documents without reading any text
    _create_intake_tables(db)


def _create_intake_tables(db: Database) -> None:
    owner: Any = [("doc_id", "documents", "id")]
    db.table("pages").create(
        {"doc_id": str, "number": int, "source": str, "confidence": float, "text": str, "note": str},
        pk=("doc_id", "number"), foreign_keys=owner, not_null={"source", "text", "note"})
    # What recognition read, by the file's hash: a stopped scan goes on, a rebuild reads nothing twice.
    db.table("scans").create({"sha256": str, "number": int, "reader": str, "lines": str}, pk=("sha256", "number", "reader"))
    db.table("files").create(
        {"folder": str, "path": str, "size": int, "mtime_ns": int, "sha256": str, "doc_id": str, "status": str, "message": str},
        pk=("folder", "path"))
    db.table("packs").create({"id": str, "name": str, "made_at": str, "added_at": str, "signer": str, "undo": str}, pk="id")


KNOWN_MIGRATIONS = frozenset(m.name for m in migrations._migrations)
