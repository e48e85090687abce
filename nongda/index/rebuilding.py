"""The knowledge base made anew from its original files, under another embedder or other chunks."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from nongda.errors import DocumentError, StoreError
from nongda.index.id_map import moved_ids, write_id_map
from nongda.index.ingest import written_by
from nongda.index.life import edits_of
from nongda.index.prepare import Duplicate, Preparer, Provenance
from nongda.index.refresh import refresh_facts
from nongda.index.store import Store
from nongda.intake import AddEvent, FileReport, Progress
from nongda.records import StoredDocument

_PREFIX, _LOCK = "rebuild-", "lock"
_SURELY_OLD = 60.0  # seconds; a folder younger than this may get its lock any moment
_TABLES = ("facts", "pages", "chunks", "originals")  # each row belongs to a document


def rebuild(old: Store, preparer: Preparer) -> Iterator[AddEvent]:
    """Make every document of `old` anew in the preparer's empty store, then write the id map beside `old`.

    States, editions and changed descriptions stay. Raises DocumentError when a document can no longer be read, so that
    none is lost silently.
    """
    if preparer.facts is not None:
        refresh_facts(preparer.store, preparer.facts)
    documents = old.documents()
    moved: dict[str, str] = {}
    for index, (document, data) in enumerate(old.originals(), start=1):
        yield from _again(old, preparer, document, data, (index, len(documents)))
        texts = [{c.id: c.text for c in store.chunks_of(document.id)} for store in (old, preparer.store)]
        moved.update(moved_ids(texts[0], texts[1]))
    if moved:
        writers = {"from": old.meta(), "to": preparer.store.meta()}
        write_id_map(old.folder, {"rebuilt_at": datetime.now(UTC).isoformat(), **writers, "map": moved})


def _again(old: Store, preparer: Preparer, document: StoredDocument, data: bytes, place: tuple[int, int]
           ) -> Iterator[AddEvent]:
    index, total = place
    steps = preparer.prepare(data, document.source, Provenance(document.origin, edits=edits_of(old, document.id)))
    try:
        while True:
            step = next(steps)
            yield Progress(document.source, step.done, step.total, index, total, step.stage)
    except StopIteration as end:
        prepared = end.value
    except DocumentError as error:
        raise DocumentError(f"重建已停止，知识库保持原样：{document.source}：{error}") from error
    if isinstance(prepared, Duplicate):
        raise DocumentError(f"重建已停止，知识库保持原样：{document.source} 与 {prepared.doc_id} 文字相同，请先移除一份")
    fresh = replace(prepared.document, state=document.state, superseded_by=document.superseded_by, similar=document.similar,
                    warnings=document.warnings, added_at=document.added_at,
                    facts=prepared.document.facts if document.state == "active" else ())
    preparer.store.add(fresh, written_by(preparer.embedder))
    yield FileReport(document.source, "added", f"已添加，共 {len(fresh.chunks)} 段", index, total, fresh.id,
                     len(fresh.chunks), fresh.characters, embedded=prepared.embedded)


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """Have a folder for one rebuild below the data folder; what rebuilds left that were cut short is deleted.

    The lock goes with the process that holds it, however that ends.
    """
    for other in folder.glob(_PREFIX + "*"):
        if _is_left(other):
            shutil.rmtree(other, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=_PREFIX, ignore_cleanup_errors=True) as made:
        with closing(_connect(Path(made))) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield Path(made)


def _connect(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / _LOCK, timeout=0, isolation_level=None)


def _is_left(folder: Path) -> bool:
    """Tell whether the rebuild that made a folder runs no more."""
    try:
        if not (folder / _LOCK).is_file():
            return time.time() - folder.stat().st_mtime > _SURELY_OLD
        with closing(_connect(folder)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
        return True
    except (OSError, sqlite3.Error):
        return False


def take_over(store: Store, fresh: Store) -> None:
    """Put the content of a closed store of the same documents in the place of a store's, in one atomic write.

    The file stays the same one, so that a second process that has it open goes on with the new content; passages of
    removed documents stay as they are. Raises StoreError where documents came or went while the other store was made.
    """
    with store.attached(fresh.path, "fresh"), store.write() as db:
        there = "SELECT id FROM main.documents WHERE state != 'removed'"
        ids = [{row["id"] for row in store.rows(sql)} for sql in (there, "SELECT id FROM fresh.documents")]
        if ids[0] != ids[1]:
            raise StoreError(f"重建期间数据文件夹 {store.folder} 的资料有增减，已保持原样：请再运行一次 rebuild 命令")
        revision = store.revision()
        for table in _TABLES:
            db.execute(f"DELETE FROM main.{table} WHERE doc_id IN ({there})")
        db.execute("DELETE FROM main.documents WHERE state != 'removed'")
        for table in ("documents", *reversed(_TABLES)):
            db.execute(f"INSERT INTO main.{table} ({{0}}) SELECT {{0}} FROM fresh.{table}".format(_columns(store, table)))
        db.execute("INSERT OR REPLACE INTO main.meta SELECT * FROM fresh.meta")  # what meta keeps besides stays
        store.set_meta("revision", str(revision + 1))
        store.set_meta("rebuilt", str(revision + 1))  # the same keys mean other text from here on


def _columns(store: Store, table: str) -> str:
    """Return the columns of a table but `key`, which the database counts itself: removed documents keep theirs."""
    names = [row["name"] for row in store.rows(f"PRAGMA main.table_info({table})")]
    return ", ".join(f'"{name}"' for name in names if name != "key")
