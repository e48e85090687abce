"""A file becomes part of the knowledge base. Start reading at `Ingester.add_file`."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nongda.documents.chunk import CHUNKER_VERSION
from nongda.documents.identify import sha256_hex
from nongda.documents.parse import printable, read_file
from nongda.errors import DocumentError, StoreError
from nongda.index.life import restore
from nongda.index.prepare import Duplicate, PassageEmbedder, Prepared, Preparer, Preparing, Provenance
from nongda.index.refresh import refresh_facts
from nongda.index.store import Store
from nongda.index.time_left import FileShare, TimeLeft
from nongda.intake import AddEvent, FileReport, Progress


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
    """Adds files to a store: each one atomically, a bad one never stops the rest."""

    def __init__(self, preparer: Preparer) -> None:
        self.preparer = preparer
        self._store = preparer.store

    def add(self, paths: Sequence[Path], stop: threading.Event | None = None,
            provenances: Mapping[Path, Provenance] | None = None) -> Iterator[AddEvent]:
        """Add files one after another, with progress; StoreError (disk full, read-only) ends the run."""
        self.check()
        left = TimeLeft([_size(path) for path in paths])
        for number, path in enumerate(paths):
            if stop is not None and stop.is_set():
                return
            work = _Work(path, number, len(paths), left)
            try:
                yield from self._add(work, (provenances or {}).get(path, Provenance()), stop)
            except DocumentError as error:
                yield work.report("failed", str(error))

    def check(self) -> None:
        """Raise StoreError where this store cannot take documents of this program; bring its facts up to date."""
        check_writer(self._store, self.preparer.embedder)
        if self.preparer.facts is not None:
            refresh_facts(self._store, self.preparer.facts)

    def add_file(self, path: Path, provenance: Provenance, stop: threading.Event | None = None,
                 data: bytes | None = None) -> Iterator[AddEvent]:
        """Add one file, whose bytes may be at hand; a bad one is a report too. Call `check` first."""
        work = _Work(path, 0, 1, TimeLeft([_size(path)]))
        try:
            yield from self._add(work, provenance, stop, data)
        except DocumentError as error:
            yield work.report("failed", str(error))

    def _add(self, work: _Work, provenance: Provenance, stop: threading.Event | None, data: bytes | None = None
             ) -> Iterator[AddEvent]:
        data = read_file(work.path) if data is None else data
        known = self._store.find_duplicate(sha256_hex(data))
        if known:
            yield self._known(work, known[1], provenance, "内容没有变化")
            return
        prepared = yield from self._prepare(work, self.preparer.prepare(data, printable(work.path.name), provenance), stop)
        if isinstance(prepared, Duplicate):
            yield self._known(work, prepared.doc_id, provenance, f"与资料 {prepared.doc_id} 文字相同")
        elif prepared is not None:
            yield self._write(work, prepared, provenance)

    def _write(self, work: _Work, prepared: Prepared, provenance: Provenance) -> FileReport:
        """Store a document as it stands to those of this moment: another process may add at the same time."""
        document = prepared.document
        try:
            with self._store.write():
                prepared = self.preparer.placed(prepared, provenance.replaces)
                self._store.add(prepared.document, written_by(self.preparer.embedder), prepared.supersedes)
        except DocumentError:
            faster = self._store.find_duplicate(document.sha256, document.text_sha256)
            if faster is None:
                raise
            return self._known(work, faster[1], provenance, "另一个程序刚刚添加了它")
        return work.added(prepared)

    def _prepare(self, work: _Work, steps: Preparing, stop: threading.Event | None
                 ) -> Generator[AddEvent, None, Prepared | Duplicate | None]:
        """Yield progress; return what came out, None where the reader stopped it."""
        try:
            while True:
                step = next(steps)
                if stop is not None and stop.is_set():
                    return None
                yield work.progress(step.stage, step.done, step.total)
        except StopIteration as end:
            result: Prepared | Duplicate = end.value
            return result
        finally:
            steps.close()

    def _known(self, work: _Work, doc_id: str, provenance: Provenance, how: str) -> FileReport:
        """What the file says is there already: in use, out of use, or as an older edition."""
        document = self._store.document(doc_id)
        if document is None or document.state == "active":
            return work.skipped(f"已在知识库中，{how}", doc_id)
        newer = self._store.document(document.superseded_by)
        if document.state == "superseded" and newer and newer.state == "active" and not provenance.replaces:
            return work.skipped(f"是旧版，已有较新的一版（{document.superseded_by}）：没有再添加", doc_id)
        part = self.preparer
        with self._store.write():
            restore(self._store, doc_id, part.lexicon, part.embedder.embed_passages, part.facts)
            if provenance.replaces and provenance.replaces != doc_id:
                self._store.set_state(provenance.replaces, "superseded", doc_id)
        return work.report("added", "已恢复使用", doc_id, chunks=document.chunks)


@dataclass(frozen=True, slots=True)
class _Work:
    """One file of a run: its place in the order and what is said of it."""

    path: Path
    number: int  # from 0
    total: int
    left: TimeLeft
    started: float = field(default_factory=time.perf_counter)
    share: FileShare = field(default_factory=FileShare)

    def progress(self, stage: Literal["reading", "embedding"], done: int, total: int) -> Progress:
        left = self.left.after(self.number, self.share.after(stage, done, total))
        return Progress(str(self.path), done, total, self.number + 1, self.total, stage, left)

    def report(self, status: Literal["added", "skipped", "failed"], message: str, doc_id: str = "", chunks: int = 0,
               characters: int = 0, warnings: tuple[str, ...] = (), embedded: int = 0) -> FileReport:
        if status != "added":
            self.left.skip(self.number)
        return FileReport(str(self.path), status, message, self.number + 1, self.total, doc_id, chunks, characters,
                          time.perf_counter() - self.started, warnings, embedded, self.left.after(self.number + 1))

    def skipped(self, message: str, doc_id: str) -> FileReport:
        return self.report("skipped", message, doc_id)

    def added(self, prepared: Prepared) -> FileReport:
        document = prepared.document
        message = f"已添加，共 {len(document.chunks)} 段"
        if prepared.supersedes:
            message += f"，代替旧版 {'、'.join(prepared.supersedes)}"
        return self.report("added", message, document.id, len(document.chunks), document.characters,
                           document.warnings, prepared.embedded)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):  # ValueError: a path with a zero character
        return 0
