"""The documents of a knowledge base: taken in, looked at, described, taken out of use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from nongda.documents.parse import printable
from nongda.documents.pictures import page_picture
from nongda.errors import StoreError, UsageError
from nongda.index import life
from nongda.index.file_table import FileTable
from nongda.index.folder import sync
from nongda.index.folder_shelf import FolderShelf
from nongda.index.id_map import read_id_map
from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer
from nongda.index.rebuilding import rebuild, take_over, work_folder
from nongda.index.scan_folder import scan_folder
from nongda.index.store import Store
from nongda.index.watching import NOTE, WatchedFolder, Watcher, watched_folders, with_folder, without_folder
from nongda.intake import AddEvent, FileReport, PageReading
from nongda.records import Chunk, StoredDocument

_WAIT = 0.2  # seconds between two looks whether the reader has stopped


class Library:
    """What the page and the command line do with documents.

    `preparer_of` makes what reads files into a store; `added` hears of each document that has come in.
    """

    def __init__(self, store: Store, preparer_of: Callable[[Store], Preparer], added: Callable[[str], None]) -> None:
        self._store = store
        self._preparer_of = preparer_of
        self._added = added
        self._table = FileTable(store.rows, store.write)
        self._adding = threading.Lock()
        self._watcher = Watcher(lambda: watched_folders(self._note()), self._sync, self._table, store.folder, self._adding)

    def add(self, paths: Sequence[Path], stop: threading.Event | None = None) -> Iterator[AddEvent]:
        """Add files, and all files in folders, with progress and one report each; the next question uses them."""
        with self._turn(stop) as is_mine:
            if is_mine:
                yield from self._told(Ingester(self._preparer_of(self._store)).add(self._files(paths), stop))

    def _files(self, paths: Sequence[Path]) -> list[Path]:
        found: list[Path] = []
        for path in paths:
            inside = scan_folder(path, self._store.folder).files if path.is_dir() else {}
            found += [path / name for name in inside] or [path]
        return found

    @contextmanager
    def _turn(self, stop: threading.Event | None) -> Iterator[bool]:
        """Wait until nobody else adds files; tell whether it is our turn, or the reader has stopped waiting."""
        while not self._adding.acquire(timeout=_WAIT):
            if stop is not None and stop.is_set():
                yield False
                return
        try:
            yield True
        finally:
            self._adding.release()

    # folders

    def sync(self, folder: Path, stop: threading.Event | None = None) -> Iterator[AddEvent]:
        """Bring the knowledge base up to a folder: new, changed, moved and vanished files. Raises UsageError, StoreError."""
        if not folder.is_dir():
            raise UsageError(f"“{printable(str(folder))}”不是文件夹或打不开：请检查路径")
        with self._turn(stop) as is_mine:
            if is_mine:
                yield from self._sync(folder, stop, (), retry=True)

    def _sync(self, folder: Path, stop: threading.Event | None, unsettled: Collection[str], retry: bool = False
              ) -> Iterator[AddEvent]:
        shelf = FolderShelf(self._store, lambda: self._preparer_of(self._store))
        yield from self._told(sync(folder, shelf, self._table, self._store.folder, stop, unsettled, retry))

    def _told(self, events: Iterator[AddEvent]) -> Iterator[AddEvent]:
        for event in events:
            if isinstance(event, FileReport) and event.status == "added":
                self._added(event.doc_id)
            yield event

    def watched(self) -> tuple[WatchedFolder, ...]:
        """Return the folders that are watched, and how they stand."""
        return self._watcher.states()

    def watch(self, folder: Path) -> None:
        """Follow a folder from now on, while the page is open. UsageError where it cannot be watched."""
        self._store.set_note(NOTE, with_folder(self._note(), folder, self._store.folder))
        self._watcher.wake()

    def unwatch(self, folder: Path) -> None:
        """Follow a folder no longer; its documents stay. UsageError where it is not watched."""
        self._store.set_note(NOTE, without_folder(self._note(), folder))
        self._watcher.wake()

    def start_watching(self) -> None:
        """Begin to look at the watched folders; nothing where the knowledge base can only be read."""
        if not self._store.read_only:
            self._watcher.start()

    def stop_watching(self) -> None:
        """End looking at folders; what was read stays read."""
        self._watcher.stop()

    def _note(self) -> str:
        return self._store.meta().get(NOTE, "")

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

    def page_image(self, doc_id: str, page: int, width: int = 1000) -> bytes | None:
        """Return the original page as a JPEG `width` pixels wide; None where there is no picture of it."""
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
        with work_folder(store.folder) as folder:
            fresh = Store(folder / "new")
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
