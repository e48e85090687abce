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


KNOWN_MIGRATIONS = frozenset(m.name for m in migrations._migrations)
