"""A file's bytes become everything the store keeps of it; nothing is written. Start reading at `Preparer.prepare`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from nongda.documents.adaptive import counter
from nongda.documents.chunk import chunk_blocks
from nongda.documents.clean import clean
from nongda.documents.describe import described
from nongda.documents.identify import chunk_id, document_id, sha256_hex, text_fingerprint
from nongda.documents.parse import reading
from nongda.errors import DocumentError
from nongda.index.editions import Known, Standing, known_documents, signature_of, standing
from nongda.index.extract import FactExtractor
from nongda.index.life import edited
from nongda.index.reword import passage, search_tokens
from nongda.index.rows import NewDocument, StoredChunk, search_sha
from nongda.index.store import Store
from nongda.intake import ChunkDraft, ParsedDocument
from nongda.language.lexicon import Lexicon
from nongda.language.text import has_words
from nongda.records import Chunk
from nongda.settings import ChunkSettings

if TYPE_CHECKING:
    from nongda.documents.ocr import PageReader

_AT_ONCE = 500  # SQLite takes a limited number of parameters
_EMBED_AT_ONCE = 16  # chunks between two progress reports
OffTopic = Callable[[str, Sequence[str], str], bool]  # title, heading path, text
ReaderOf = Callable[[str], "PageReader | None"]  # by the file's SHA-256, which recognised pages are kept under


class PassageEmbedder(Protocol):
    """What ingestion needs of an embedding model."""

    name: str
    dimension: int

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32, L2-normalised."""
        ...


def known_vectors(store: Store, shas: Iterable[str]) -> dict[str, NDArray[np.float32]]:
    """Return the vectors of those search texts, by their hash, that were embedded before."""
    wanted = list(dict.fromkeys(shas))
    found: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(part))
        for row in store.rows(f"SELECT search_sha, vector FROM chunks WHERE search_sha IN ({marks})", part):
            found[row["search_sha"]] = np.frombuffer(row["vector"], dtype="<f4").astype(np.float32)
    return found


@dataclass(frozen=True, slots=True)
class Step:
    """Work inside one file: `done` of `total` pages read, or passages embedded."""

    stage: Literal["reading", "embedding"]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a file comes from, besides its bytes.

    `replaces` is the id of the document that the same file held before. `edits` are a station's changes of what the file
    says of itself. `vectors` are known ones by the hash of their search text, of the embedder in use.
    """

    origin: str = ""
    replaces: str = ""
    edits: Mapping[str, str] = field(default_factory=dict)
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be written, the older editions it takes the place of, how many passages were embedded.

    `warnings` are those of the file alone; `revision` is that of the store it was compared with.
    """

    document: NewDocument
    supersedes: tuple[str, ...] = ()
    embedded: int = 0
    warnings: tuple[str, ...] = ()
    revision: int = -1


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same text is there already."""

    doc_id: str


Preparing = Generator[Step, None, "Prepared | Duplicate"]


@dataclass(frozen=True, slots=True)
class Preparer:
    """Makes documents of files, by one lexicon and one embedder.

    `splitter` says where a text changes its subject; None means windows of fixed length. Without `facts` no facts are
    taken, without `reader_of` no page is recognised, without `off_topic` every passage counts as on topic.
    """

    store: Store
    lexicon: Lexicon
    embedder: PassageEmbedder
    splitter: PassageEmbedder | None
    settings: ChunkSettings
    facts: FactExtractor | None = None
    reader_of: ReaderOf | None = None
    off_topic: OffTopic | None = None
    places: frozenset[str] = frozenset()  # names by which a document's region is known

    def prepare(self, data: bytes, name: str, provenance: Provenance) -> Preparing:
        """Read, clean, compare, chunk and embed a file; yields its steps. Raises DocumentError."""
        document = yield from self._read(data, name)
        meta = edited(document.meta, provenance.edits)
        text_sha256 = text_fingerprint(document.blocks)
        duplicate = self.store.find_duplicate("", text_sha256)
        if duplicate:
            return Duplicate(duplicate[1])
        chunks = self._chunks(document, document_id(data), meta.title)
        vectors, embedded = yield from self._embed(chunks, provenance.vectors)
        stored = tuple(StoredChunk(chunk, self._tokens(chunk, meta.title), vectors[search_sha(chunk.search_text)])
                       for chunk in chunks)
        return self.placed(Prepared(NewDocument(
            id=document_id(data), sha256=sha256_hex(data), text_sha256=text_sha256, source=name, meta=meta,
            pages=document.pages, characters=sum(len(c.text) for c in chunks), warnings=document.warnings,
            added_at=datetime.now(UTC).isoformat(), data=data, chunks=stored, readings=document.readings,
            facts=tuple(self.facts.facts_of_document(chunks, meta)) if self.facts else (),
            signature=signature_of("".join(block.text for block in document.blocks)), origin=provenance.origin,
            edits=dict(provenance.edits),
        ), embedded=embedded, warnings=document.warnings), provenance.replaces)

    def placed(self, prepared: Prepared, replaces: str) -> Prepared:
        """Return a document as it stands to those that are there by now; `replaces` as in Provenance."""
        revision = self.store.revision()
        if revision == prepared.revision:
            return prepared
        document = prepared.document
        known = known_documents(self.store)
        place = standing(document.meta, document.signature or b"", known, replaces)
        document = replace(document, warnings=(*prepared.warnings, *_warnings(place, known)),
                           state="superseded" if place.superseded_by else "active", superseded_by=place.superseded_by,
                           similar=tuple(doc_id for doc_id, _ in place.similar))
        return replace(prepared, document=document, supersedes=place.supersedes, revision=revision)

    def _read(self, data: bytes, name: str) -> Generator[Step, None, ParsedDocument]:
        pages = reading(data, name, self.reader_of(sha256_hex(data)) if self.reader_of else None)
        try:
            while True:
                turned = next(pages)
                yield Step("reading", turned.done, turned.total)
        except StopIteration as end:
            parsed: ParsedDocument = end.value
        finally:
            pages.close()
        document = clean(parsed)
        if not any(has_words(block.text) for block in document.blocks):
            why = next((page.note for page in document.readings if page.note), "")
            raise DocumentError(f"{name} 里没有认得出的文字（{why}）：请重新扫描或拍照，摆正、光线均匀、200 dpi 以上，再添加" if why
                                else f"{name} 里没有文字：请检查文件内容")
        return replace(document, meta=described(document, name, self.places))

    def _chunks(self, document: ParsedDocument, doc_id: str, title: str) -> list[Chunk]:
        embed = None if self.splitter is None else self.splitter.embed_passages
        names = counter(self.lexicon.units, lambda text: len(self.lexicon.entities(text)))
        drafts = chunk_blocks(document.blocks, self.settings, embed, names)
        return [self._chunk(doc_id, position, draft, title) for position, draft in enumerate(drafts)]

    def _chunk(self, doc_id: str, position: int, draft: ChunkDraft, title: str) -> Chunk:
        search_text = self.lexicon.canonical(passage(title, draft.heading, draft.text))
        off_topic = self.off_topic is not None and self.off_topic(title, draft.heading, draft.text)
        return Chunk(chunk_id(doc_id, position), doc_id, position, draft.text, search_text, draft.kind, draft.page,
                     draft.heading, draft.confidence, off_topic)

    def _tokens(self, chunk: Chunk, title: str) -> tuple[str, ...]:
        return search_tokens(passage(title, chunk.heading, chunk.text), chunk.search_text, self.lexicon)

    def _embed(self, chunks: Sequence[Chunk], given: Mapping[str, NDArray[np.float32]]
               ) -> Generator[Step, None, tuple[dict[str, NDArray[np.float32]], int]]:
        """Return the vectors of all search texts by their hash, and how many went through the model."""
        texts = {search_sha(chunk.search_text): chunk.search_text for chunk in chunks}
        vectors = known_vectors(self.store, texts)
        vectors |= {sha: vector for sha, vector in given.items() if sha in texts}
        missing = [sha for sha in texts if sha not in vectors]
        for start in range(0, len(missing), _EMBED_AT_ONCE):
            yield Step("embedding", len(chunks) - len(missing) + start, len(chunks))
            part = missing[start : start + _EMBED_AT_ONCE]
            vectors.update(zip(part, self.embedder.embed_passages([texts[sha] for sha in part]), strict=True))
        return vectors, len(missing)


def _warnings(place: Standing, known: Sequence[Known]) -> list[str]:
    titles = {other.id: other.meta.title for other in known}
    found = [f"与已有资料《{titles[doc_id]}》（{doc_id}）的文字约 {likeness:.0%} 相同，两份都在使用：请核对后停用一份"
             for doc_id, likeness in place.similar]
    if place.superseded_by:
        found.append(f"知识库里已有较新的一版（{place.superseded_by}），本版只供查阅，不用来回答")
    return found
