"""What the page does to take files and folders in: plain values in, plain values out, one import per browser tab.

An import runs to its end in a thread of its own: a page that goes away must not leave a generator suspended.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from nongda.errors import NongDaError
from nongda.intake import AddEvent
from nongda.ui import adding_view
from nongda.ui.adding_view import FileState, Watched, Work, advance
from nongda.ui.conversation import in_thread
from nongda.ui.render import notice
from nongda.ui.texts import TEXTS, Language

logger = logging.getLogger(__name__)
UPDATE_SECONDS = 0.5  # between two updates of the page: a thousand files must not flood it


class AddingLibrary(Protocol):
    """What adding needs of the library."""

    def add(self, paths: Sequence[Path], stop: threading.Event | None = None) -> Iterator[AddEvent]: ...
    def sync(self, folder: Path, stop: threading.Event | None = None) -> Iterator[AddEvent]: ...
    def watched(self) -> Sequence[Watched]: ...
    def watch(self, folder: Path) -> object: ...
    def unwatch(self, folder: Path) -> object: ...


@dataclass(frozen=True, slots=True)
class AddView:
    """The adding part of the page at one moment."""

    progress: str
    busy: bool
    done: bool = False  # the work that was asked for has come to an end


@dataclass(slots=True, eq=False)
class _Import:
    """What one browser tab is adding, or added last."""

    work: Work = field(default_factory=Work)
    only_failed: bool = False
    error: str = ""
    stop: threading.Event | None = None


class AddingDesk:
    """The page's ways to take files in over one engine, for any number of browser tabs."""

    def __init__(self, library: AddingLibrary) -> None:
        self.library = library
        self._imports: dict[str, _Import] = {}
        self._lock = threading.Lock()  # guards the dictionary and the start of an import

    def add(self, session_id: str, paths: Sequence[Path], language: Language) -> Iterator[AddView]:
        """Add files; yields the work as it goes on. The files handed in are left in place."""
        if not paths:
            yield AddView(notice(TEXTS[language]["add_nothing"], "error"), busy=False)
            return
        files = {number: FileState(path.name) for number, path in enumerate(paths, start=1)}
        yield from self._import(session_id, Work(files, len(paths)), lambda stop: self.library.add(paths, stop), language)

    def sync(self, session_id: str, folder: str, language: Language) -> Iterator[AddView]:
        """Take a whole folder in, once; yields the work as it goes on."""
        problem = _folder_problem(folder, TEXTS[language])
        if problem:
            yield AddView(notice(problem, "error"), busy=False)
            return
        path = Path(_tidy(folder))
        yield from self._import(session_id, Work(folder=str(path)), lambda stop: self.library.sync(path, stop), language)

    def stop(self, session_id: str) -> None:
        """Ask the import of this tab to end after the piece in hand."""
        running = self._imports.get(session_id)
        event = running.stop if running else None
        if event is not None:
            event.set()

    def close(self, session_id: str) -> None:
        """Forget a browser tab that was closed, and end its import."""
        self.stop(session_id)
        with self._lock:
            self._imports.pop(session_id, None)

    def close_all(self) -> None:
        """End all imports, because the program ends."""
        for session_id in list(self._imports):
            self.close(session_id)

    def show(self, session_id: str, only_failed: bool, language: Language) -> str:
        """Return the work of this tab with all its files, or only with those that failed, from now on."""
        found = self._imports.get(session_id)
        if found is None:
            return ""
        found.only_failed = only_failed
        return _shown(found, language)

    def watched(self, language: Language) -> str:
        """Return the watched folders."""
        try:
            return adding_view.watched(self.library.watched(), TEXTS[language])
        except NongDaError as failure:
            return notice(str(failure), "error")

    def watch(self, folder: str, language: Language) -> str:
        """Watch a folder from now on; returns the sentence about it."""
        texts = TEXTS[language]
        problem = _folder_problem(folder, texts)
        if problem:
            return notice(problem, "error")
        return _said(lambda: self.library.watch(Path(_tidy(folder))), texts["folder_watched"].format(folder=_tidy(folder)))

    def unwatch(self, folder: str, language: Language) -> str:
        """Watch a folder no longer; returns the sentence about it."""
        said = TEXTS[language]["folder_unwatched"].format(folder=folder)
        return _said(lambda: self.library.unwatch(Path(folder)), said)

    def _import(self, session_id: str, work: Work, events: Callable[[threading.Event], Iterator[AddEvent]],
                language: Language) -> Iterator[AddView]:
        mine = self._begin(session_id, work)
        if mine is None:
            yield AddView(notice(TEXTS[language]["add_busy"], "error") + self._running(session_id, language), busy=True)
            return
        stop = mine.stop or threading.Event()
        try:
            yield AddView(_shown(mine, language) or notice(TEXTS[language]["adding"], "ask"), busy=True)
            for batch in in_thread(lambda: events(stop)):
                mine.work = advance(mine.work, batch)
                yield AddView(_shown(mine, language), busy=True)
                time.sleep(UPDATE_SECONDS)  # what comes meanwhile is shown together
        except NongDaError as failure:
            mine.error = str(failure)
        except Exception:  # the last line before the reader: a sentence here, the traceback in the log
            logger.exception("adding files failed")
            mine.error = TEXTS[language]["unexpected"]
        finally:
            stop.set()
            mine.stop, mine.work = None, adding_view.end(mine.work)
        yield AddView(_shown(mine, language), busy=False, done=True)

    def _begin(self, session_id: str, work: Work) -> _Import | None:
        """Return the new import of this tab, None while one runs."""
        with self._lock:
            before = self._imports.get(session_id, _Import())
            if before.stop is not None:
                return None
            mine = self._imports[session_id] = _Import(work, before.only_failed, stop=threading.Event())
            return mine

    def _running(self, session_id: str, language: Language) -> str:
        found = self._imports.get(session_id)
        return _shown(found, language) if found else ""


def _shown(found: _Import, language: Language) -> str:
    texts = TEXTS[language]
    if found.work.ended and not found.work.total and not found.error:
        return notice(texts["adding_none"], "done")
    return notice(found.error, "error") + adding_view.adding(found.work, found.only_failed, texts)


def _said(act: Callable[[], object], said: str) -> str:
    try:
        act()
    except NongDaError as failure:
        return notice(str(failure), "error")
    return notice(said, "done")


def _tidy(folder: str) -> str:
    """Return a path as typed or pasted, without the quotes that Explorer's "copy as path" puts around it."""
    return folder.strip().strip("\"“”'").strip()


def _folder_problem(folder: str, texts: dict[str, str]) -> str:
    """Return why a folder cannot be meant, "" where it can; whether it is there is the engine's to say."""
    name = _tidy(folder)
    if not name:
        return texts["folder_nothing"]
    return "" if Path(name).is_absolute() else texts["folder_relative"].format(folder=name)
