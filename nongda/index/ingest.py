"""A file becomes part of the knowledge base. Start reading at `Ingester.add`."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nongda.documents.chunk import CHUNKER_VERSION, chunk_blocks
from nongda.documents.clean import clean
from nongda.documents.identify import chunk_id, document_id, sha256_hex, text_fingerprint
from nongda.documents.parse import parse_bytes, read_file
from nongda.errors import DocumentError, StoreError
from nongda.index.extract import FactExtractor
from nongda.index.refresh import refresh_facts
from nongda.index.reword import passage, search_tokens
from nongda.index.rows import NewDocument, StoredChunk
from nongda.index.store import Store
from nongda.intake import AddEvent, ChunkDraft, FileReport, ParsedDocument, Progress
from nongda.language.lexicon import Lexicon
from nongda.language.text import has_words
from nongda.records import Chunk
from nongda.settings import ChunkSettings

_EMBED_AT_ONCE = 16  # chunks between two progress reports
_SHINGLE = 8  # characters; runs of this length are seldom in two passages
ID_MAP_NAME = "id_map.json"


class PassageEmbedder(Protocol):
    """What ingestion needs of an embedding model."""

    name: str
    dimension: int

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32, L2-normalised."""
        ...


@dataclass(frozen=True, slots=True)
class _Place:
    path: Path
    index: int
    total: int


def written_by(embedder: PassageEmbedder) -> dict[str, str]:
    """Return what the store records of its writer; a difference means that `rebuild` is due."""
    return {"embedder": embedder.name, "dimension": str(embedder.dimension), "chunker": str(CHUNKER_VERSION)}


def check_writer(store: Store, embedder: PassageEmbedder) -> None:
    """Raise StoreError when the store was written with another embedder or chunker version."""
    stored = store.meta()
    for key, value in written_by(embedder).items():
        if key in stored and stored[key] != value:
            names = {"embedder": "向量模型", "dimension": "向量维数", "chunker": "分段规则"}
            raise StoreError(
                f"数据文件夹 {store.folder} 由{names[key]} {stored[key]} 写成，本程序是 {value}：请运行 rebuild 命令重建"
            )


class Ingester:
    """Adds files to a store: each one atomically, a bad one never stops the rest.

    `splitter` says where a text changes its subject; None means windows of fixed length. Without `facts` no facts
    are taken from the files.
    """

    def __init__(self, store: Store, lexicon: Lexicon, embedder: PassageEmbedder, splitter: PassageEmbedder | None,
                 settings: ChunkSettings, facts: FactExtractor | None = None) -> None:
        self._store = store
        self._lexicon = lexicon
        self._embedder = embedder
        self._splitter = splitter
        self._settings = settings
        self._facts = facts

    def add(self, paths: Sequence[Path], stop: threading.Event | None = None) -> Iterator[AddEvent]:
        """Add files one after another, with progress; StoreError (disk full, read-only) ends the run."""
        check_writer(self._store, self._embedder)
        if self._facts is not None and paths:
            refresh_facts(self._store, self._facts)
        for index, path in enumerate(paths, start=1):
            if stop is not None and stop.is_set():
                return
            place = _Place(path, index, len(paths))
            try:
                yield from self._add_file(place, stop)
            except DocumentError as error:
                yield FileReport(str(path), "failed", str(error), index, len(paths))

    def _add_file(self, place: _Place, stop: threading.Event | None) -> Iterator[AddEvent]:
        started = time.perf_counter()
        data = read_file(place.path)
        duplicate = self._store.find_duplicate(sha256_hex(data))
        if duplicate:
            yield _skipped(place, "已在知识库中，内容没有变化", duplicate[1])
            return
        document = clean(parse_bytes(data, place.path.name))
        text_sha256 = text_fingerprint(document.blocks)
        if not any(has_words(block.text) for block in document.blocks):
            raise DocumentError(f"{place.path.name} 里没有文字：请检查文件内容")
        duplicate = self._store.find_duplicate("", text_sha256)
        if duplicate:
            yield _skipped(place, f"与已有资料 {duplicate[1]} 文字相同", duplicate[1])
            return
        embed = None if self._splitter is None else self._splitter.embed_passages
        drafts = chunk_blocks(document.blocks, self._settings, embed)
        doc_id = document_id(data)
        chunks = [self._chunk(doc_id, position, draft, document.meta.title) for position, draft in enumerate(drafts)]
        vectors: list[NDArray[np.float32]] = []
        for start in range(0, len(chunks), _EMBED_AT_ONCE):
            if stop is not None and stop.is_set():
                return
            yield Progress(str(place.path), start, len(chunks), place.index, place.total)
            batch = [c.search_text for c in chunks[start : start + _EMBED_AT_ONCE]]
            vectors.extend(self._embedder.embed_passages(batch))
        self._write(place, document, data, text_sha256, chunks, vectors)
        yield FileReport(
            str(place.path), "added", f"已添加，共 {len(chunks)} 段", place.index, place.total, doc_id, len(chunks),
            sum(len(c.text) for c in chunks), time.perf_counter() - started, document.warnings,
        )

    def _chunk(self, doc_id: str, position: int, draft: ChunkDraft, title: str) -> Chunk:
        search_text = self._lexicon.canonical(passage(title, draft.heading, draft.text))
        return Chunk(chunk_id(doc_id, position), doc_id, position, draft.text, search_text, draft.kind, draft.page,
                     draft.heading)

    def _tokens(self, chunk: Chunk, title: str) -> tuple[str, ...]:
        return search_tokens(passage(title, chunk.heading, chunk.text), chunk.search_text, self._lexicon)

    def _write(self, place: _Place, document: ParsedDocument, data: bytes, text_sha256: str,
               chunks: Sequence[Chunk], vectors: Sequence[NDArray[np.float32]]) -> None:
        stored = tuple(
            StoredChunk(chunk, self._tokens(chunk, document.meta.title), vector)
            for chunk, vector in zip(chunks, vectors, strict=True)
        )
        self._store.add(NewDocument(
            id=document_id(data), sha256=sha256_hex(data), text_sha256=text_sha256, source=place.path.name,
            meta=document.meta, pages=document.pages, characters=sum(len(c.text) for c in chunks),
            warnings=document.warnings, added_at=datetime.now(UTC).isoformat(), data=data, chunks=stored,
            facts=tuple(self._facts.facts_of_document(chunks, document.meta)) if self._facts else (),
        ), written_by(self._embedder))


def _skipped(place: _Place, message: str, doc_id: str) -> FileReport:
    return FileReport(str(place.path), "skipped", message, place.index, place.total, doc_id)


def moved_ids(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Map each old chunk id (id -> text) whose text moved to the new id that holds most of its text.

    The same text comes first, then a chunk that holds all of it, then the most shared runs of characters; text
    that is nowhere any more is left out.
    """
    letters = {new_id: _letters(text) for new_id, text in new.items()}
    shingles = {new_id: _shingles(found) for new_id, found in letters.items()}
    moved: dict[str, str] = {}
    for old_id, text in old.items():
        if new.get(old_id) == text:
            continue
        own = _letters(text)
        wanted = _shingles(own)
        scores = {new_id: (found == own, own in found, len(wanted & shingles[new_id]))
                  for new_id, found in letters.items()}
        best = max(scores, key=lambda new_id: scores[new_id], default=None)
        if best is not None and any(scores[best]):
            moved[old_id] = best
    return moved


def _letters(text: str) -> str:
    return "".join(text.split())


def _shingles(letters: str) -> set[str]:
    return {letters[i : i + _SHINGLE] for i in range(max(1, len(letters) - _SHINGLE + 1))}


def write_id_map(folder: Path, entry: Mapping[str, object]) -> None:
    """Append one rebuild's map to id_map.json, atomically; old citations are resolved with it.

    The same map again is that of a rebuild that was cut short after writing it; it must not count twice.
    """
    path = folder / ID_MAP_NAME
    entries = read_id_map(folder)
    if entries and entries[-1]["map"] == entry["map"]:
        entries.pop()
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump([*entries, entry], file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_id_map(folder: Path) -> list[dict[str, object]]:
    """Return all rebuilds' maps, oldest first; each has `map` from old to new ids."""
    path = folder / ID_MAP_NAME
    if not path.exists():
        return []
    try:
        return [{**entry, "map": dict(entry["map"])} for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{path} 已损坏（{error}）：请改名或删除该文件，旧引用将不能再查") from error


def rebuild(old: Store, ingester: Ingester, fresh: Store, folder: Path) -> Iterator[AddEvent]:
    """Add every original of `old` through an ingester of `fresh`, then write the id map beside `old`.

    Raises DocumentError when a document can no longer be read, so that none is lost silently.
    """
    documents = old.documents()
    moved: dict[str, str] = {}
    for index, (document, data) in enumerate(old.originals(), start=1):
        path = folder / document.id / document.source
        path.parent.mkdir()
        path.write_bytes(data)
        for event in ingester.add([path]):
            event = _numbered(event, index, len(documents))
            if isinstance(event, FileReport) and event.status != "added":
                raise DocumentError(f"重建已停止，知识库保持原样：{document.source}：{event.message}")
            yield event
        path.unlink()
        texts = [{c.id: c.text for c in store.chunks_of(document.id)} for store in (old, fresh)]
        moved.update(moved_ids(texts[0], texts[1]))
    if moved:
        writers = {"from": old.meta(), "to": fresh.meta()}
        write_id_map(old.folder, {"rebuilt_at": datetime.now(UTC).isoformat(), **writers, "map": moved})


def _numbered(event: AddEvent, index: int, total: int) -> AddEvent:
    """Each document is added alone; the reader counts them all."""
    if isinstance(event, Progress):
        return replace(event, index=index, files=total)
    return replace(event, index=index, total=total)
