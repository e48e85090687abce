"""Where the files of a folder go: the knowledge base, behind the few calls that following a folder needs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from nongda.index import life
from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer, Provenance
from nongda.index.store import Store
from nongda.intake import AddEvent
from nongda.records import StoredDocument


class FolderShelf:
    """Adds, retires and restores documents; `make_preparer`, which may load models, is called at the first new file."""

    def __init__(self, store: Store, make_preparer: Callable[[], Preparer]) -> None:
        self._store = store
        self._make_preparer = make_preparer
        self._ingester: Ingester | None = None

    def _checked(self) -> Ingester:
        if self._ingester is None:
            ingester = Ingester(self._make_preparer())
            ingester.check()
            self._ingester = ingester
        return self._ingester

    def document(self, doc_id: str) -> StoredDocument | None:
        """Return a document that was not removed, or None."""
        document = self._store.document(doc_id)
        return None if document is None or document.state == "removed" else document

    def known(self, sha256: str) -> str:
        """Return the id of the document with these bytes, or ""."""
        found = self._store.find_duplicate(sha256)
        return found[1] if found else ""

    def add_file(self, path: Path, origin: str, replaces: str, stop: threading.Event | None) -> Iterator[AddEvent]:
        """Add one file; a bad one is a report. No report where it was stopped. StoreError ends the run."""
        yield from self._checked().add_file(path, Provenance(origin=origin, replaces=replaces), stop)

    def retire(self, doc_id: str) -> None:
        """Take a document out of use."""
        self._store.set_state(doc_id, "retired")

    def supersede(self, doc_id: str, newer: str) -> None:
        """Let a document retreat behind a newer one."""
        self._store.set_state(doc_id, "superseded", newer)

    def restore(self, doc_id: str) -> None:
        """Take a document into use again."""
        part = self._checked().preparer
        life.restore(self._store, doc_id, part.lexicon, part.embedder.embed_passages, part.facts)
