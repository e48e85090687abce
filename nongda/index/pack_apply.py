"""A pack becomes part of a knowledge base, wholly or not at all. Start reading at `add_pack`."""

from __future__ import annotations

import json
import pickle
import shutil
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO

import numpy as np
from numpy.typing import NDArray

from nongda.documents.ocr import Scan, scan_from_json
from nongda.errors import DocumentError, StoreError
from nongda.index import pack_record
from nongda.index.ingest import check_writer, written_by
from nongda.index.life import edited, existing, refresh, restore
from nongda.index.pack import Pack
from nongda.index.pack_make import packed_scans, packed_vectors, packed_words
from nongda.index.pack_manifest import PackedDocument
from nongda.index.pack_plan import Plan, plan
from nongda.index.pack_record import Description, Life, LifeChange, Record
from nongda.index.prepare import Duplicate, PassageEmbedder, Prepared, Preparer, Provenance
from nongda.index.reword import changed_passages, keep_own_words
from nongda.index.rows import NewDocument, meta_row
from nongda.index.store import Store
from nongda.intake import Progress
from nongda.language.lexicon import Lexicon

_ROOM = 2  # times a pack's size: its files, passages and vectors, and the database's journal
_SPARE = 50 << 20  # bytes
PreparerWith = Callable[[Lexicon], Preparer]


@dataclass(frozen=True, slots=True)
class PackAdded:
    """What adding a pack has changed, and how many passages had to be embedded here."""

    plan: Plan
    embedded: int = 0


class CachedEmbedder:
    """An embedder that remembers: what was embedded before a write is not embedded again inside it."""

    def __init__(self, embedder: PassageEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32, L2-normalised."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, self._embedder.embed_passages(missing), strict=True))
        return np.array([self._known[text] for text in texts], np.float32).reshape(-1, self._embedder.dimension)


class _PackedScans:
    """The recognised pages of a packed file, by number from 1."""

    def __init__(self, pages: Mapping[int, str]) -> None:
        self._pages = pages

    def get(self, number: int) -> Scan | None:
        """Return what was read on a page; None where it was not read or cannot be understood."""
        try:
            return scan_from_json(self._pages[number])
        except (ValueError, TypeError, KeyError):
            return None

    def put(self, number: int, scan: Scan) -> None:
        """Forget it: a page that the pack lacks is read again when the knowledge base is made anew."""


def add_pack(store: Store, pack: Pack, shipped: Lexicon, preparer_with: PreparerWith, stop: threading.Event | None = None,
             ) -> Generator[Progress, None, PackAdded | None]:
    """Add a checked pack in one atomic write, with progress before it; returns None where the reader stopped it.

    Files are read and texts without a vector embedded before the write. Raises DocumentError where a document cannot be
    read here, StoreError for the rest; then nothing has changed.
    """
    store.check_writable()
    planned = plan(store, pack.manifest, packed_words(pack), shipped)
    if planned.added_before:
        return PackAdded(planned)
    _check_room(store, pack)
    preparer = preparer_with(shipped.with_own(planned.words_after))
    check_writer(store, preparer.embedder)
    with tempfile.TemporaryFile(dir=store.folder) as file:
        spool = _Spool(file)
        for number, one in enumerate(planned.new):
            if (yield from _prepare(pack, one.document, preparer, spool, (number, len(planned.new)), stop)):
                return None
        return _write(store, pack, shipped, preparer, spool, planned)


def _check_room(store: Store, pack: Pack) -> None:
    needed = _ROOM * sum(entry.size for entry in pack.manifest.entries) + _SPARE
    free = shutil.disk_usage(store.folder).free
    if free < needed:
        raise StoreError(f"{store.folder} 所在的磁盘只剩 {free / 2**20:.0f} MiB，添加 {pack.path.name} 要 {needed / 2**20:.0f} MiB，"
                         "没有添加：请先腾出空间")


@dataclass
class _Spool:
    """Prepared documents put aside on disk: a pack may hold more than fits in memory."""

    file: IO[bytes]
    seen: set[str] = field(default_factory=set)
    embedded: int = 0

    def put(self, doc_id: str, prepared: Prepared | Duplicate) -> None:
        """Keep a document but for its bytes, which the pack has; one whose text is there already is only noted."""
        self.seen.add(doc_id)
        if isinstance(prepared, Prepared):
            pickle.dump(replace(prepared.document, data=b""), self.file, pickle.HIGHEST_PROTOCOL)
            self.embedded += prepared.embedded

    def documents(self) -> Iterator[NewDocument]:
        """Yield what was kept."""
        end = self.file.tell()
        self.file.seek(0)
        while self.file.tell() < end:
            yield pickle.load(self.file)


def _prepare(pack: Pack, document: PackedDocument, preparer: Preparer, spool: _Spool, place: tuple[int, int],
             stop: threading.Event | None) -> Generator[Progress, None, bool]:
    """Prepare a document and put it aside; tell whether the reader stopped it."""
    steps = _reading_scans(pack, document, preparer).prepare(
        pack.read(f"documents/{document.sha256}"), document.source, _provenance(pack, document, preparer.embedder))
    try:
        while True:
            step = next(steps)
            if stop is not None and stop.is_set():
                return True
            yield Progress(document.source, step.done, step.total, place[0] + 1, place[1], step.stage)
    except StopIteration as end:
        spool.put(document.id, end.value)
    except DocumentError as error:
        raise DocumentError(f"知识包 {pack.path.name} 没有添加，知识库保持原样：{error}；如果省站能打开它，请升级本程序") from error
    finally:
        steps.close()
    return stop is not None and stop.is_set()


def _provenance(pack: Pack, document: PackedDocument, embedder: PassageEmbedder) -> Provenance:
    fits = (pack.manifest.embedder, pack.manifest.dimension) == (embedder.name, embedder.dimension)
    vectors = packed_vectors(pack, document.id, embedder.dimension) if fits else {}
    return Provenance(pack.manifest.name, edits=document.edits, vectors=vectors)


def _reading_scans(pack: Pack, document: PackedDocument, preparer: Preparer) -> Preparer:
    """Return the preparer with a reader that knows the pack's recognised pages, where its own reader made them."""
    rows, reader_of = packed_scans(pack, document.sha256), preparer.reader_of
    reader = reader_of(document.sha256) if reader_of and rows else None
    pages = {number: lines for number, name, lines in rows if reader and name == reader.name}
    if reader is None or not pages:
        return preparer
    known = reader.with_cache(_PackedScans(pages))
    return replace(preparer, reader_of=lambda sha256: known)


def _write(store: Store, pack: Pack, shipped: Lexicon, preparer: Preparer, spool: _Spool, expected: Plan) -> PackAdded:
    embed, manifest = CachedEmbedder(preparer.embedder), pack.manifest
    changed_passages(store, {change.form for change in expected.words}, preparer.lexicon, embed)  # embeds before the write
    with store.write():
        planned = plan(store, manifest, packed_words(pack), shipped)  # others may have changed something meanwhile
        if planned.added_before:
            return PackAdded(planned)
        if planned.words_after != expected.words_after or not {one.document.id for one in planned.new} <= spool.seen:
            raise StoreError(f"数据文件夹 {store.folder} 在添加期间被改动，{pack.path.name} 没有添加：请再添加一次")
        if planned.words:
            keep_own_words(store, planned.words_after, preparer.lexicon, embed)
        added = _add_documents(store, pack, planned, preparer, spool)
        lives = _change_lives(store, planned, preparer, embed)
        for change in planned.descriptions:
            redescribe(store, change.id, change.after, preparer, embed)
        pack_record.keep(store, manifest.id, manifest.name, manifest.made_at, pack.signer.name, Record(
            {d.id: d.state for d in manifest.documents}, {d.id: d.edits for d in manifest.documents if d.edits},
            tuple(one.id for one in manifest.retire), added, lives, planned.descriptions,
            planned.words, planned.words_before, planned.words_after))
        store.count_revision()
    return PackAdded(planned, spool.embedded)


def _add_documents(store: Store, pack: Pack, planned: Plan, preparer: Preparer, spool: _Spool) -> tuple[str, ...]:
    """Store the prepared documents and their recognised pages; return their ids."""
    new = {one.document.id: one for one in planned.new}
    added = []
    for document in spool.documents():
        if document.id not in new:
            continue
        life = new[document.id].life
        data = pack.read(f"documents/{document.sha256}")
        store.add(replace(document, data=data, state=life.state, superseded_by=life.superseded_by), written_by(preparer.embedder))
        with store.write() as db:
            db.table("scans").insert_all(
                ({"sha256": document.sha256, "number": number, "reader": reader, "lines": lines}
                 for number, reader, lines in packed_scans(pack, document.sha256)), ignore=True)
        added.append(document.id)
    return tuple(added)


def _change_lives(store: Store, planned: Plan, preparer: Preparer, embed: CachedEmbedder) -> tuple[LifeChange, ...]:
    """Let older editions retreat, withdraw and restore documents; return what changed."""
    wanted = {**{old: Life("superseded", new) for old, new in planned.replaced.items()},
              **{doc_id: Life("retired") for doc_id in planned.retired},
              **{doc_id: Life("active") for doc_id in planned.restored}}
    changes = []
    for doc_id, after in wanted.items():
        document = store.document(doc_id)
        if document is None or (after.superseded_by and store.document(after.superseded_by) is None):
            continue
        change_life(store, doc_id, after, preparer, embed)
        changes.append(LifeChange(doc_id, Life(document.state, document.superseded_by), after))
    return tuple(changes)


def change_life(store: Store, doc_id: str, life: Life, preparer: Preparer, embed: CachedEmbedder) -> None:
    """Set inside a write whether a document is searched; what search sees of one in use again is of today's words."""
    if life.state == "active":
        restore(store, doc_id, preparer.lexicon, embed, preparer.facts)
    else:
        store.set_state(doc_id, life.state, life.superseded_by)


def redescribe(store: Store, doc_id: str, description: Description, preparer: Preparer, embed: CachedEmbedder) -> None:
    """Set inside a write what is known of a document."""
    document = existing(store, doc_id)
    meta = edited(document.meta, description.values)
    edits = json.dumps(dict(description.edits), ensure_ascii=False)
    with store.write() as db:
        db.table("documents").update(doc_id, {**meta_row(meta), "edits": edits})
        if document.state == "active":
            refresh(store, doc_id, meta, preparer.lexicon, embed, preparer.facts)
