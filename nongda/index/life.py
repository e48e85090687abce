"""What becomes of a document after it was added: out of use, back in use, described anew."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np
from numpy.typing import NDArray

from nongda.errors import StoreError, UsageError
from nongda.index.extract import FactExtractor
from nongda.index.reword import passage, reworded, write_reworded
from nongda.index.rows import fact_row, meta_row
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.records import DocumentMeta, StoredDocument

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
EDITABLE = ("title", "region", "date", "stage", "authority", "valid_until", "tags")
_NAMES = {"date": "日期", "valid_until": "有效期"}
_DATE = re.compile(r"(\d{4})(?:\s*[-/.年]\s*(\d{1,2})\s*(?:[-/.月]\s*(?:(\d{1,2})\s*日?)?)?|\s*年)?")
_TAGS = re.compile(r"[,，;；、\n]+")
_LONGEST = 200  # characters of one entry


def checked_changes(changes: Mapping[str, str]) -> dict[str, str]:
    """Return changes of a document's description with dates as ISO 8601 (2024, 2024-03, 2024-03-05).

    Raises UsageError for an unknown entry, a date that is none, an empty title.
    """
    found: dict[str, str] = {}
    for key, value in changes.items():
        text = " ".join(value.split())
        if key not in EDITABLE:
            raise UsageError(f"资料没有“{key}”这一项：可改的有 {'、'.join(EDITABLE)}")
        if len(text) > _LONGEST:
            raise UsageError(f"“{text[:20]}…”太长：请写在 {_LONGEST} 字以内")
        if key == "title" and not text:
            raise UsageError("标题不能是空的：请写上标题")
        found[key] = _iso_date(text, _NAMES[key]) if key in _NAMES and text else text
    return found


def _iso_date(text: str, name: str) -> str:
    match = _DATE.fullmatch(text)
    parts = [int(part) for part in match.groups() if part] if match else []
    try:
        date(*(parts + [1, 1])[:3])
    except (ValueError, TypeError) as error:
        raise UsageError(f"{name}“{text}”不是日期：请写成 2024-03-05、2024-03 或 2024") from error
    return "-".join(f"{part:02d}" for part in parts)


def edited(meta: DocumentMeta, edits: Mapping[str, str]) -> DocumentMeta:
    """Return what a document says of itself, with a station's checked changes."""
    changes: dict[str, object] = {key: value for key, value in edits.items() if key != "tags"}
    if "tags" in edits:
        changes["tags"] = tuple(dict.fromkeys(tag.strip() for tag in _TAGS.split(edits["tags"]) if tag.strip()))
    return replace(meta, **changes)  # type: ignore[arg-type]


def edits_of(store: Store, doc_id: str) -> dict[str, str]:
    """Return what the station has changed of a document's description."""
    rows = store.rows("SELECT edits FROM documents WHERE id = ?", (doc_id,))
    return dict(json.loads(rows[0]["edits"])) if rows else {}


def describe(store: Store, doc_id: str, changes: Mapping[str, str], lexicon: Lexicon, embed: Embed,
             facts: FactExtractor | None) -> StoredDocument:
    """Change a document's description; its passages are embedded anew only where its title changes.

    Raises UsageError as `checked_changes`, StoreError where there is no such document.
    """
    checked = checked_changes(changes)
    document = existing(store, doc_id)
    meta = edited(document.meta, checked)
    edits = edits_of(store, doc_id) | checked
    with store.write() as db:
        db.table("documents").update(doc_id, {**meta_row(meta), "edits": json.dumps(edits, ensure_ascii=False)})
        if document.state == "active":
            refresh(store, doc_id, meta, lexicon, embed, facts)
        store.count_revision()
    return existing(store, doc_id)


def restore(store: Store, doc_id: str, lexicon: Lexicon, embed: Embed, facts: FactExtractor | None) -> StoredDocument:
    """Take a document that was out of use into use again, as the words of today see it."""
    document = existing(store, doc_id)
    with store.write():
        store.set_state(doc_id, "active")
        refresh(store, doc_id, document.meta, lexicon, embed, facts)
    return existing(store, doc_id)


def refresh(store: Store, doc_id: str, meta: DocumentMeta, lexicon: Lexicon, embed: Embed, facts: FactExtractor | None) -> None:
    """Make anew, inside a write, what search sees of a document, and its facts."""
    chunks = store.chunks_of(doc_id)
    rows = store.rows("SELECT id, tokens FROM chunks WHERE doc_id = ?", (doc_id,))
    tokens = {row["id"]: tuple(row["tokens"].split("\n")) if row["tokens"] else () for row in rows}
    passages = [(chunk, passage(meta.title, chunk.heading, chunk.text)) for chunk in chunks]
    with store.write() as db:
        write_reworded(db, reworded(passages, tokens, lexicon, embed))
        db.table("facts").delete_where("doc_id = ?", [doc_id])
        found = facts.facts_of_document(store.chunks_of(doc_id), meta) if facts is not None else ()
        db.table("facts").insert_all([fact_row(fact, doc_id) for fact in found])


def existing(store: Store, doc_id: str) -> StoredDocument:
    """Return a document that was not removed; StoreError when there is none of this id."""
    document = store.document(doc_id)
    if document is None or document.state == "removed":
        raise StoreError(f"知识库里没有编号为 {doc_id} 的资料：用 docs 命令查看现有编号")
    return document
