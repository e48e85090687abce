"""The documents of a knowledge base: taken in, looked at, described, taken out of use."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nongda.errors import StoreError
from nongda.index import life
from nongda.index.id_map import read_id_map
from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer, Provenance
from nongda.index.rebuilding import rebuild, take_over
from nongda.index.store import Store
from nongda.intake import AddEvent, PageReading, Progress
from nongda.records import Chunk, StoredDocument


class Library:
    """What the page and the command line do with documents; `preparer_of` makes what reads files into a store."""

    def __init__(self, store: Store, preparer_of: Callable[[Store], Preparer]) -> None:
        self._store = store
        self._preparer_of = preparer_of

    def add(self, paths: Sequence[Path], stop: threading.Event | None = None) -> Iterator[AddEvent]:
        """Add files, with progress and one report each; the next question uses them."""
        yield from Ingester(self._preparer_of(self._store)).add(paths, stop)

    def add_file(self, path: Path, data: bytes, index: int, total: int, *, replaces: str = "", origin: str = "",
                 stop: threading.Event | None = None) -> Iterator[AddEvent]:
        """Add one file of a folder, whose bytes were read; ends with its report, without one where it was stopped.

        `replaces` is the document that the same file held before; it makes room whatever the dates say.
        """
        ingester = Ingester(self._preparer_of(self._store))
        ingester.check()
        for event in ingester.add_file(path, Provenance(origin, replaces), stop, data):
            if isinstance(event, Progress):
                yield replace(event, index=index, files=total)
            else:
                yield replace(event, index=index, total=total)

    # reading

    def documents(self) -> list[StoredDocument]:
        """Return all documents but removed ones, oldest first."""
        return self._store.documents()

    def document(self, doc_id: str) -> StoredDocument | None:
        """Return one document, a removed one too, or None."""
        return self._store.document(doc_id)

    def pages(self, doc_id: str) -> list[PageReading]:
        """Return how each page of a document was read; none for formats whose pages are not seen."""
        return self._store.pages(doc_id)

    def page_image(self, doc_id: str, page: int, width: int) -> bytes | None:
        """Return the original page as a JPEG `width` pixels wide; None where there is no picture of it."""
        from nongda.documents.pictures import page_picture

        document, data = self._store.document(doc_id), self._store.original(doc_id)
        return None if document is None or data is None else page_picture(data, document.source, page, width)

    def chunks_of(self, doc_id: str) -> list[Chunk]:
        """Return the passages of a document in reading order."""
        return self._store.chunks_of(doc_id)

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return the passage that a citation of any time names; after a rebuild, where its text is now."""
        found = self._store.chunk(chunk_id)
        if found is None:
            for entry in read_id_map(self._store.folder):
                chunk_id = dict(entry["map"]).get(chunk_id, chunk_id)  # type: ignore[call-overload]
            found = self._store.chunk(chunk_id)
        return found

    # changing

    def remove(self, doc_id: str, forget: bool = False) -> StoredDocument:
        """Take a document out; old citations can still be read, unless they shall be forgotten. StoreError for none."""
        return self._store.remove(doc_id, forget)

    def retire(self, doc_id: str) -> StoredDocument:
        """Take a document out of use; it can be restored. StoreError when there is none of this id."""
        document = life.existing(self._store, doc_id)
        if document.state == "active":
            self._store.set_state(doc_id, "retired")
        return life.existing(self._store, doc_id)

    def supersede(self, old: str, new: str) -> None:
        """Let a document make room for another one."""
        self._store.set_state(old, "superseded", new)

    def restore(self, doc_id: str) -> StoredDocument:
        """Take a document into use again that was retired or superseded. StoreError when there is none of this id."""
        part = self._preparer_of(self._store)
        return life.restore(self._store, doc_id, part.lexicon, part.embedder.embed_passages, part.facts)

    def describe(self, doc_id: str, changes: Mapping[str, str]) -> StoredDocument:
        """Change what is known of a document (life.EDITABLE); UsageError names what is wrong, StoreError for none."""
        part = self._preparer_of(self._store)
        return life.describe(self._store, doc_id, changes, part.lexicon, part.embedder.embed_passages, part.facts)

    def rebuild(self) -> Iterator[AddEvent]:
        """Make the knowledge base anew from its original files; until the end the old one stays as it is."""
        store = self._store
        with tempfile.TemporaryDirectory(dir=store.folder, prefix="rebuild-") as folder:
            fresh = Store(Path(folder) / "new")
            try:
                yield from rebuild(store, self._preparer_of(fresh))
            finally:
                fresh.close()
            take_over(store, fresh)


def show(library: Library, any_id: str) -> tuple[StoredDocument, Chunk | None]:
    """Return the document that an id names, and the passage where it is a citation's. StoreError for an unknown id."""
    chunk = library.chunk(any_id) if "#" in any_id else None
    document = library.document(chunk.doc_id if chunk else any_id.split("#")[0])
    if document is None or ("#" in any_id and chunk is None):
        raise StoreError(f"知识库里从来没有编号为 {any_id} 的资料或段落：请核对编号，形如 1a2b3c4d 或 1a2b3c4d#0")
    return document, chunk
