"""Documents and chunks as rows of the database, and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nongda.records import BlockKind, Chunk, DocumentMeta, Fact, StoredDocument

CHUNK_COLUMNS = "id, doc_id, position, page, heading, kind, text, search_text"
FACT_COLUMNS = (
    'chunk_id, subject, kind, crop, target, attribute, value, low, high, unit, condition, start, "end"'
)
SELECT_DOCUMENTS = "SELECT d.*, COUNT(c.key) AS chunk_count FROM documents d LEFT JOIN chunks c ON c.doc_id = d.id"


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


def document_row(document: NewDocument) -> dict[str, Any]:
    """Return the row of the table `documents`."""
    meta = document.meta
    return {
        "id": document.id, "sha256": document.sha256, "text_sha256": document.text_sha256,
        "source": document.source, "title": meta.title, "region": meta.region, "date": meta.date,
        "stage": meta.stage, "authority": meta.authority, "sample": int(meta.sample),
        "sources": json.dumps(meta.sources, ensure_ascii=False), "pages": document.pages,
        "characters": document.characters, "warnings": json.dumps(document.warnings, ensure_ascii=False),
        "added_at": document.added_at,
    }


def chunk_row(stored: StoredChunk) -> dict[str, Any]:
    """Return the row of the table `chunks`."""
    chunk = stored.chunk
    return {
        "id": chunk.id, "doc_id": chunk.doc_id, "position": chunk.position, "page": chunk.page,
        "heading": json.dumps(chunk.heading, ensure_ascii=False), "kind": chunk.kind, "text": chunk.text,
        "search_text": chunk.search_text, "tokens": "\n".join(stored.tokens),
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
    meta = DocumentMeta(row["title"], row["region"], row["date"], row["stage"], row["authority"],
                        bool(row["sample"]), tuple(json.loads(row["sources"])))
    return StoredDocument(row["id"], row["source"], meta, row["pages"], row["characters"], row["chunk_count"],
                          row["added_at"])


def read_chunk(row: dict[str, Any]) -> Chunk:
    """Return the chunk of a row of CHUNK_COLUMNS."""
    kind: BlockKind = row["kind"]
    return Chunk(row["id"], row["doc_id"], row["position"], row["text"], row["search_text"], kind, row["page"],
                 tuple(json.loads(row["heading"])))


def read_fact(row: dict[str, Any]) -> Fact:
    """Return the fact of a row of FACT_COLUMNS."""
    return Fact(**row)
