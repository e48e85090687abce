"""Documents and chunks as rows of the database, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongda.documents.identify import sha256_hex
from nongda.intake import PageReading
from nongda.records import BlockKind, Chunk, DocumentMeta, DocumentState, Fact, StoredDocument

CHUNK_COLUMNS = "id, doc_id, position, page, heading, kind, text, search_text, confidence, off_topic"
FACT_COLUMNS = (
    'chunk_id, subject, kind, crop, target, attribute, value, low, high, unit, condition, start, "end"'
)
SELECT_DOCUMENTS = (
    "SELECT d.*, (SELECT COUNT(*) FROM chunks c WHERE c.doc_id = d.id) AS chunk_count, "
    "(SELECT COUNT(*) FROM chunks c WHERE c.doc_id = d.id AND c.off_topic) AS off_topic_count, "
    "(SELECT COUNT(*) FROM pages p WHERE p.doc_id = d.id AND p.note != '') AS doubtful_count FROM documents d"
)
META_COLUMNS = ("title", "region", "date", "stage", "authority", "sample", "sources", "valid_until", "replaces", "tags")


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with what the indexes need: search tokens and its vector, (dim,) float32, L2-normalised."""

    chunk: Chunk
    tokens: tuple[str, ...]
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Reworded:
    """What search sees of a chunk under other words; the vector is None where it stays as it is."""

    id: str
    search_text: str
    tokens: tuple[str, ...]
    vector: NDArray[np.float32] | None


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
    facts: tuple[Fact, ...] = ()
    readings: tuple[PageReading, ...] = ()
    state: DocumentState = "active"
    superseded_by: str = ""
    similar: tuple[str, ...] = ()
    signature: bytes | None = None
    origin: str = ""
    edits: Mapping[str, str] = field(default_factory=dict)  # what the station changed of `meta`; `meta` has it already


def document_row(document: NewDocument) -> dict[str, Any]:
    """Return the row of the table `documents`."""
    return {
        "id": document.id, "sha256": document.sha256, "text_sha256": document.text_sha256, "source": document.source,
        **meta_row(document.meta), "pages": document.pages, "characters": document.characters,
        "warnings": _list(document.warnings), "added_at": document.added_at, "state": document.state,
        "superseded_by": document.superseded_by, "similar": _list(document.similar), "signature": document.signature,
        "origin": document.origin, "edits": json.dumps(dict(document.edits), ensure_ascii=False),
    }


def meta_row(meta: DocumentMeta) -> dict[str, Any]:
    """Return the columns META_COLUMNS of the table `documents`."""
    return {
        "title": meta.title, "region": meta.region, "date": meta.date, "stage": meta.stage, "authority": meta.authority,
        "sample": int(meta.sample), "sources": _list(meta.sources), "valid_until": meta.valid_until,
        "replaces": meta.replaces, "tags": _list(meta.tags),
    }


def page_row(reading: PageReading, doc_id: str) -> dict[str, Any]:
    """Return the row of the table `pages`."""
    return {"doc_id": doc_id, "number": reading.number, "source": reading.source, "confidence": reading.confidence,
            "text": reading.text, "note": reading.note}


def search_sha(search_text: str) -> str:
    """Return what a search text is known by: one that has a vector is not embedded again."""
    return sha256_hex(search_text.encode("utf-8", "surrogatepass"))


def chunk_row(stored: StoredChunk) -> dict[str, Any]:
    """Return the row of the table `chunks`."""
    chunk = stored.chunk
    return {
        "id": chunk.id, "doc_id": chunk.doc_id, "position": chunk.position, "page": chunk.page,
        "heading": json.dumps(chunk.heading, ensure_ascii=False), "kind": chunk.kind, "text": chunk.text,
        "search_text": chunk.search_text, "tokens": "\n".join(stored.tokens), "confidence": chunk.confidence,
        "off_topic": int(chunk.off_topic), "search_sha": search_sha(chunk.search_text),
        "vector": stored.vector.astype("<f4").tobytes(),
    }


def fact_row(fact: Fact, doc_id: str) -> dict[str, Any]:
    """Return the row of the table `facts`."""
    return {
        "doc_id": doc_id, "chunk_id": fact.chunk_id, "subject": fact.subject, "kind": fact.kind, "crop": fact.crop,
        "target": fact.target, "attribute": fact.attribute, "value": fact.value, "low": fact.low, "high": fact.high,
        "unit": fact.unit, "condition": fact.condition, "start": fact.start, "end": fact.end,
    }


def read_document(row: dict[str, Any]) -> StoredDocument:
    """Return the document of a row of SELECT_DOCUMENTS."""
    return StoredDocument(
        row["id"], row["source"], read_meta(row), row["pages"], row["characters"], row["chunk_count"], row["added_at"],
        row["state"], row["superseded_by"], tuple(json.loads(row["warnings"])), tuple(json.loads(row["similar"])),
        row["origin"], row["off_topic_count"], row["doubtful_count"])


def read_meta(row: dict[str, Any]) -> DocumentMeta:
    """Return what the columns META_COLUMNS say."""
    return DocumentMeta(row["title"], row["region"], row["date"], row["stage"], row["authority"], bool(row["sample"]),
                        tuple(json.loads(row["sources"])), row["valid_until"], row["replaces"],
                        tuple(json.loads(row["tags"])))


def read_page(row: dict[str, Any]) -> PageReading:
    """Return the reading of a row of the table `pages`."""
    return PageReading(row["number"], row["source"], row["confidence"], row["text"], row["note"])


def read_chunk(row: dict[str, Any]) -> Chunk:
    """Return the chunk of a row of CHUNK_COLUMNS."""
    kind: BlockKind = row["kind"]
    return Chunk(row["id"], row["doc_id"], row["position"], row["text"], row["search_text"], kind, row["page"],
                 tuple(json.loads(row["heading"])), row["confidence"], bool(row["off_topic"]))


def read_fact(row: dict[str, Any]) -> Fact:
    """Return the fact of a row of FACT_COLUMNS."""
    return Fact(**row)


def _list(values: tuple[str, ...]) -> str:
    return json.dumps(values, ensure_ascii=False)
