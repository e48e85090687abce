"""Taking a document out of the database, inside a write: hidden, so that old citations can be read, or for good."""

from __future__ import annotations

from sqlite_utils import Database


def hide(db: Database, doc_id: str) -> None:
    """Keep what a document's passages say; drop its file, its facts and all that search uses."""
    for table in ("facts", "originals"):
        db.table(table).delete_where("doc_id = ?", [doc_id])
    db.execute("UPDATE chunks SET vector = x'', tokens = '', search_sha = '' WHERE doc_id = ?", [doc_id])
    row = db.table("documents").get(doc_id)
    db.table("documents").update(doc_id, {
        "state": "removed", "sha256": removed_hash(row["sha256"]), "text_sha256": removed_hash(row["text_sha256"] + doc_id)})


def delete(db: Database, doc_id: str) -> None:
    """Drop all of a document."""
    for table in ("facts", "chunks", "pages", "originals"):
        db.table(table).delete_where("doc_id = ?", [doc_id])
    db.table("documents").delete(doc_id)


def removed_hash(sha256: str) -> str:
    """Return what stands for a hash of a removed document, so that the file may be added again."""
    return f"removed {sha256}"
