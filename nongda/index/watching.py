"""Watched folders: a thread looks at them every few seconds and brings the knowledge base up to what it finds.

It polls by size and time instead of asking the system for events: sticks and network drives, where stations keep their
notices, send none. A file is read only when two looks found it the same: it may still be copied or written.
"""

from __future__ import annotations

import atexit
import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from nongda.documents.parse import printable
from nongda.errors import NongDaError, UsageError
from nongda.index.file_table import FileTable
from nongda.index.scan_folder import FileStat, Scan, is_text, scan_folder
from nongda.intake import AddEvent, FileReport

logger = logging.getLogger(__name__)
NOTE = "watched_folders"  # the note of the data folder that has the list
_PAUSE = 5.0  # seconds between two looks
_LAST_WAIT = 10.0  # seconds at the program's end: a thread that is cut off inside a model aborts the process
_RESTS = 10  # times as long as a look took: a slow network drive is not to be kept busy
Sync = Callable[[Path, threading.Event, Collection[str]], Iterator[AddEvent]]


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """How a watched folder stands; `files` were taken in from it, `failed` could not be.

    `looked_at` is ISO 8601, UTC, "" before the first look. `error` is a sentence for the reader, "" where all is well.
    `left` are the seconds left while it is `busy` reading.
    """

    path: str
    looked_at: str = ""
    files: int = 0
    failed: int = 0
    error: str = ""
    busy: bool = False
    left: float | None = None


# the list of folders, as a note

def watched_folders(note: str) -> tuple[Path, ...]:
    """Return the folders of a note; none where it is empty or damaged."""
    try:
        found = json.loads(note or "[]")
    except ValueError:
        return ()
    return tuple(Path(path) for path in found if isinstance(path, str)) if isinstance(found, list) else ()


def with_folder(note: str, folder: Path, data_dir: Path) -> str:
    """Return the note with one folder more. UsageError where it cannot be watched, or is watched already."""
    folder = folder.absolute()
    shown = printable(str(folder))
    if not folder.is_dir():
        raise UsageError(f"“{shown}”不是文件夹或打不开：请检查路径")
    if not is_text(str(folder)):
        raise UsageError(f"文件夹名“{shown}”里有乱码：请改名后再试")
    if _holds(data_dir.absolute(), folder):
        raise UsageError(f"“{shown}”是本程序自己的数据文件夹：请另选放资料的文件夹")
    for other in watched_folders(note):
        if _holds(other, folder) or _holds(folder, other):
            raise UsageError(f"“{shown}”与已在关注的“{printable(str(other))}”重叠：不用再加，或先取消那一个")
    return _to_note([*watched_folders(note), folder])


def without_folder(note: str, folder: Path) -> str:
    """Return the note without a folder; its documents stay. UsageError where it is not watched."""
    found = watched_folders(note)
    rest = [other for other in found if other not in (folder, folder.absolute())]
    if len(rest) == len(found):
        raise UsageError(f"没有在关注文件夹“{printable(str(folder))}”：请在列表里核对")
    return _to_note(rest)


def _holds(outer: Path, inner: Path) -> bool:
    try:
        outer, inner = outer.resolve(), inner.resolve()
    except OSError:
        pass
    return inner == outer or outer in inner.parents


def _to_note(folders: Sequence[Path]) -> str:
    return json.dumps([str(folder) for folder in folders], ensure_ascii=False)


def _counted(state: WatchedFolder, table: FileTable) -> WatchedFolder:
    rows = table.of(state.path).values()
    return replace(state, files=sum(bool(row.doc_id) and row.status != "gone" for row in rows),
                   failed=sum(row.status in ("failed", "unread") for row in rows))


# the thread

@dataclass(slots=True)
class _Memory:
    """What is known of one folder from look to look."""

    state: WatchedFolder
    seen: Scan | None = None  # of the look before
    done: tuple[bool, frozenset[str], dict[str, FileStat]] | None = None  # what the last run was about
    open: bool = False  # a file could not be opened, or the run was ended by an error: try again


class Watcher:
    """Looks at the folders of `folders()`, again and again, until it is stopped.

    `turn` is held while a folder is read; who adds files by hand holds it too, so that one waits for the other. `sync`
    is called as (folder, stop, unsettled). Errors are kept as the folder's state; the next look tries again.
    """

    def __init__(self, folders: Callable[[], Sequence[Path]], sync: Sync, table: FileTable, data_dir: Path,
                 turn: threading.Lock, pause: float = _PAUSE) -> None:
        self._folders, self._sync, self._table, self._data_dir = folders, sync, table, data_dir
        self._turn = turn
        self._pause = pause
        self._memories: dict[Path, _Memory] = {}
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look."""
        if self._thread is None:
            self._stop.clear()
            atexit.register(self.stop, _LAST_WAIT)
            self._thread = threading.Thread(target=self._run, name="folders", daemon=True)
            self._thread.start()

    def stop(self, timeout: float = 2.0) -> bool:
        """End it; tell whether it has ended within the timeout (seconds). What was read stays read."""
        self._stop.set()
        self._wake.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(timeout)
            atexit.unregister(self.stop)
        return thread is None or not thread.is_alive()

    def wake(self) -> None:
        """Look now: the list of folders has changed."""
        self._wake.set()

    def states(self) -> tuple[WatchedFolder, ...]:
        """Return how each folder stands, in the order of the list, by the table of files before any look. Raises StoreError."""
        known = dict(self._memories)
        return tuple(known[f].state if f in known else _counted(WatchedFolder(str(f)), self._table) for f in self._folders())

    def _run(self) -> None:
        while not self._stop.is_set():
            started = time.monotonic()
            self.look()
            took = time.monotonic() - started
            self._wake.wait(max(self._pause, _RESTS * took))
            self._wake.clear()

    def look(self) -> None:
        """Look at every folder once; read what has settled since the last look."""
        try:
            folders = self._folders()
        except NongDaError as error:  # another program writes: the next look
            logger.warning("watched folders: %s", error)
            return
        self._memories = {f: self._memories.get(f) or _Memory(WatchedFolder(str(f))) for f in folders}
        for folder, memory in self._memories.items():
            if self._stop.is_set():
                return
            try:
                self._look_at(folder, memory)
            except NongDaError as error:
                self._fail(memory, str(error))
            except Exception as error:  # the thread must outlive whatever one folder brings
                logger.exception("watched folder %s", folder)
                self._fail(memory, f"读文件夹时出了意外（{type(error).__name__}）：稍后会再试")

    def _look_at(self, folder: Path, memory: _Memory) -> None:
        scan, before = scan_folder(folder, self._data_dir), memory.seen
        memory.seen = scan
        memory.state = replace(_counted(memory.state, self._table), looked_at=datetime.now(UTC).isoformat(timespec="seconds"))
        if before is None:
            return
        unsettled = frozenset(path for path in scan.files.keys() | before.files.keys()
                              if scan.files.get(path) != before.files.get(path))
        view = _view(scan, unsettled, memory)
        if view == memory.done and not memory.open:
            return
        if not self._turn.acquire(blocking=False):
            return  # files are being added by hand
        try:
            self._bring_up(folder, memory, unsettled)
            if not self._stop.is_set():
                memory.done = view
        finally:
            self._turn.release()

    def _bring_up(self, folder: Path, memory: _Memory, unsettled: Collection[str]) -> None:
        error, memory.open = "", True
        memory.state = replace(memory.state, busy=True)
        for event in self._sync(folder, self._stop, unsettled):
            if isinstance(event, FileReport) and event.path == str(folder):
                error = event.message
            memory.state = replace(memory.state, left=event.left)
        state = replace(memory.state, busy=False, left=None, error=error)
        memory.state = _counted(state, self._table)
        memory.open = any(row.status == "unread" for row in self._table.of(str(folder)).values())

    def _fail(self, memory: _Memory, sentence: str) -> None:
        memory.state = replace(memory.state, busy=False, left=None, error=sentence)


def _view(scan: Scan, unsettled: frozenset[str], memory: _Memory) -> tuple[bool, frozenset[str], dict[str, FileStat]]:
    """Return what a run would be about: an unsettled file counts as it was in the run before."""
    files = {path: found for path, found in scan.files.items() if path not in unsettled}
    before = memory.done[2] if memory.done else {}
    files |= {path: before[path] for path in unsettled if path in before}
    return scan.there, frozenset(scan.unreadable), files
