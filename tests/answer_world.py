"""A small world for the answer layer's tests: candidates made by hand, indexes over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nongda.answer.retrieve import Indexes
from nongda.index.lexical import LexicalIndex
from nongda.index.vectors import VectorIndex
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Chunk, DocumentMeta, StoredDocument


def make_candidate(lexicon: Lexicon, text: str, chunk_id: str = "aaaaaaaa#0", title: str = "咖啡叶锈病",
                   heading: tuple[str, ...] = (), kind: str = "paragraph", score: float = 1.0,
                   dense: float = 1.0) -> Candidate:
    """Return a candidate whose search text is made as ingestion makes it."""
    doc_id = chunk_id.split("#")[0]
    search_text = lexicon.canonical(" ".join((title, *heading)) + "\n" + text)
    chunk = Chunk(chunk_id, doc_id, int(chunk_id.split("#")[1]), text, search_text, kind, None, heading)
    document = StoredDocument(doc_id, f"{title}.md", DocumentMeta(title=title), None, len(text), 1, "2026-01-01")
    return Candidate(chunk, document, score, {"dense": 1}, {"dense": dense})


def make_indexes(candidates: Sequence[Candidate], lexicon: Lexicon, embedder) -> Indexes:
    """Return indexes over the candidates' chunks."""
    chunks = {c.chunk.id: c.chunk for c in candidates}
    texts = [c.search_text for c in chunks.values()]
    vectors = embedder.embed_passages(texts) if texts else np.zeros((0, embedder.dimension), dtype=np.float32)
    tokens = [(c.id, lexicon.tokens(c.search_text)) for c in chunks.values()]
    return Indexes(1, LexicalIndex(tokens, 1.5, 0.75),
                   VectorIndex(None, list(chunks), list(range(len(chunks))), vectors, 1000),
                   {c.document.id: c.document for c in candidates}, chunks.get)
