"""The schema is what released migrations made, and applying them twice changes nothing."""

import sqlite3

import pytest
from sqlite_utils import Database

from nongda.index.migrations import KNOWN_MIGRATIONS, migrations

RELEASED = {
    "meta": ["key", "value"],
    "documents": ["id", "sha256", "text_sha256", "source", "title", "region", "date", "stage", "authority", "sample",
                  "sources", "pages", "characters", "warnings", "added_at", "state", "superseded_by", "valid_until", "replaces",
                  "tags", "edits", "similar", "origin", "signature"],
    "originals": ["doc_id", "data"],
    "chunks": ["key", "id", "doc_id", "position", "page", "heading", "kind", "text", "search_text", "tokens", "vector",
               "confidence", "off_topic", "search_sha"],
    "facts": ["key", "doc_id", "chunk_id", "subject", "kind", "crop", "target", "attribute", "value", "low", "high",
              "unit", "condition", "start", "end"],
    "own_words": ["position", "alias", "term", "kind"],
    "pages": ["doc_id", "number", "source", "confidence", "text", "note"],
    "scans": ["sha256", "number", "reader", "lines"],
    "files": ["folder", "path", "size", "mtime_ns", "sha256", "doc_id", "status", "message"],
    "packs": ["id", "name", "made_at", "added_at", "signer", "undo"],
}


@pytest.fixture
def db():
    database = Database(memory=True)
    migrations.apply(database)
    yield database
    database.close()


def schema(db):
    return {row["name"]: row["sql"] for row in db.query("SELECT name, sql FROM sqlite_master")}


def test_the_schema_is_the_released_one(db):
    assert {t: [c.name for c in db.table(t).columns] for t in RELEASED} == RELEASED
    assert {m.name for m in migrations.applied(db)} == KNOWN_MIGRATIONS == {
        "m001_documents_and_chunks", "m002_facts", "m003_own_words", "m004_editions_pages_folders_packs"}


def test_applying_again_changes_nothing(db):
    before = schema(db)
    migrations.apply(db)
    assert schema(db) == before


def row(doc_id: str) -> dict:
    return {"id": doc_id, "sha256": "s" + doc_id, "text_sha256": "t" + doc_id, "source": "a.md"}


@pytest.mark.parametrize("change", [{"id": "b"}, {"sha256": "sb"}, {"text_sha256": "tb"}])
def test_a_document_is_unique_by_id_by_bytes_and_by_text(db, change):
    db.table("documents").insert(row("b"))
    with pytest.raises(sqlite3.IntegrityError):
        db.table("documents").insert({**row("c"), **change})


def test_chunk_keys_are_counted_by_the_database_and_ids_are_unique(db):
    db.table("documents").insert(row("b"))
    chunk = {"doc_id": "b", "text": "", "tokens": "", "vector": b""}
    db.table("chunks").insert_all([{**chunk, "id": "b#0"}, {**chunk, "id": "b#1"}])
    assert [r["key"] for r in db.query("SELECT key FROM chunks ORDER BY id")] == [1, 2]
    with pytest.raises(sqlite3.IntegrityError):
        db.table("chunks").insert({**chunk, "id": "b#1"})


@pytest.mark.parametrize("missing", ["id", "doc_id", "text", "tokens", "vector"])
def test_a_chunk_without_what_search_needs_is_refused(db, missing):
    db.table("documents").insert(row("b"))
    chunk = {"id": "b#0", "doc_id": "b", "text": "", "tokens": "", "vector": b""}
    with pytest.raises(sqlite3.IntegrityError):
        db.table("chunks").insert({**chunk, missing: None})


def test_a_chunk_belongs_to_a_document(db):
    db.execute("PRAGMA foreign_keys = ON")
    with pytest.raises(sqlite3.IntegrityError):
        db.table("chunks").insert({"id": "x#0", "doc_id": "x", "text": "", "tokens": "", "vector": b""})


def test_open_ends_of_facts_are_infinite_and_compare_as_numbers(db):
    db.table("documents").insert(row("b"))
    fact = {"doc_id": "b", "chunk_id": "b#0", "attribute": "ph", "value": "低于5.5", "start": 0, "end": 5}
    db.table("facts").insert({**fact, "low": float("-inf"), "high": 5.5})
    db.table("facts").insert({**fact, "low": 7.0, "high": float("inf")})
    assert [r["low"] for r in db.query("SELECT low FROM facts WHERE high > 1e300")] == [7.0]
    assert [r["high"] for r in db.query("SELECT high FROM facts WHERE low < -1e300")] == [5.5]
