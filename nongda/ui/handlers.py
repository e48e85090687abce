"""What the page does: plain values in, plain values out, one `Session` per browser tab.

Each question and each import runs to its end in a thread of its own: a page that goes away must not leave
a generator suspended that still holds the models. `stop` sets the session's event, which the engine looks
at. Clearing a conversation gives the tab a new session, so that what the old question still sends is dropped.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from nongda.errors import NongDaError
from nongda.intake import AddEvent, Progress
from nongda.records import Event, StoredDocument, Turn
from nongda.ui import render, sheets
from nongda.ui.conversation import Again, Session, chosen_reading, grow, in_thread
from nongda.ui.prose import title_of
from nongda.ui.render import Exchange
from nongda.ui.sheets import FileState
from nongda.ui.texts import STATUS_ZH, TEXTS, Language
from nongda.ui.words import WordsEngine

logger = logging.getLogger(__name__)


class DeskEngine(WordsEngine, Protocol):
    """What the page needs of the engine."""

    @property
    def data_dir(self) -> Path: ...
    def ask(
        self, question: str, history: Sequence[Turn] = (), stop: threading.Event | None = None,
        as_written: frozenset[str] = frozenset(),
    ) -> Iterator[Event]: ...
    def add(self, paths: Sequence[Path], stop: threading.Event | None = None) -> Iterator[AddEvent]: ...
    def remove(self, doc_id: str) -> StoredDocument: ...
    def documents(self) -> list[StoredDocument]: ...
    def doctor(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class ChatView:
    """The question tab at one moment; None leaves that part of the page, or without a transcript all of it."""

    transcript: str | None
    evidence: str | None = None
    question: str | None = None
    busy: bool = False
    started: bool = True
    note: str = ""  # one sentence to show in passing


@dataclass(frozen=True, slots=True)
class AddView:
    """The documents tab while files are being added."""

    progress: str
    busy: bool


class Desk:
    """The page's actions over one engine, for any number of browser tabs."""

    def __init__(self, engine: DeskEngine) -> None:
        self.engine = engine
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()  # guards the dictionary and the start of a question or an import

    def ask(
        self, session_id: str, question: str, language: Language, again: Again | None = None
    ) -> Iterator[ChatView]:
        """Answer a question; yields the page as it grows. A second question while one runs is refused."""
        texts, stop = TEXTS[language], threading.Event()
        with self._lock:
            session = self._sessions.setdefault(session_id, Session())
            busy = session.stop is not None
            if not busy:
                session.stop = stop
        if busy:
            yield ChatView(None, note=texts["busy"])  # the running answer alone writes the page
            return
        history = session.begin(question, again)
        try:
            yield self._view(session, texts, evidence=True, question=None if again else "", busy=True)
            for step in self._answering(session.exchanges[-1], history, stop, texts):
                shown = step.candidates != session.exchanges[-1].candidates
                session.exchanges[-1] = step
                if step.running and self._current(session_id, session):
                    yield self._view(session, texts, evidence=shown, busy=True)
        finally:
            stop.set()  # also ends an answer whose page went away
            session.stop = None
        if self._current(session_id, session):
            unusable = question if session.exchanges[-1].error and not again else None
            yield self._view(session, texts, evidence=True, question=unusable)

    def reread(self, session_id: str, choice: str, language: Language) -> Iterator[ChatView]:
        """Ask a question again with one of its readings undone or taken up again, as a button of the page says."""
        again = chosen_reading(self._sessions.get(session_id, Session()), choice)
        if again is None:
            yield self.view(session_id, language)
        else:
            yield from self.ask(session_id, again.question, language, again)

    def stop(self, session_id: str) -> None:
        """Ask the running answer of this session to end."""
        session = self._sessions.get(session_id)
        event = session.stop if session else None
        if event is not None:
            event.set()

    def clear(self, session_id: str, language: Language) -> ChatView:
        """Stop what runs and begin a new conversation."""
        self.stop(session_id)
        with self._lock:
            self._sessions[session_id] = Session()
        return self.view(session_id, language)

    def close(self, session_id: str) -> None:
        """Forget a session whose browser tab was closed, and end its work."""
        with self._lock:
            session = self._sessions.pop(session_id, None)
        for event in (session.stop, session.stop_adding) if session else ():
            if event is not None:
                event.set()

    def close_all(self) -> None:
        """End all work, because the program ends."""
        for session_id in list(self._sessions):
            self.close(session_id)

    def view(self, session_id: str, language: Language) -> ChatView:
        """Return the question tab as it stands."""
        session = self._sessions.get(session_id, Session())
        return self._view(session, TEXTS[language], evidence=True, busy=session.stop is not None)

    def add(self, session_id: str, paths: Sequence[Path], language: Language) -> Iterator[AddView]:
        """Add files; yields the list of them with their progress. The files handed in are left in place."""
        texts, stop = TEXTS[language], threading.Event()
        if not paths:
            yield AddView(render.notice(texts["add_nothing"], "error"), busy=False)
            return
        files = [FileState(name=path.name) for path in paths]
        with self._lock:
            self._sessions.setdefault(session_id, Session()).stop_adding = stop
        error = ""
        yield AddView(sheets.adding(files, texts), busy=True)
        try:
            for events in in_thread(lambda: self.engine.add(paths, stop)):
                for event in events:
                    files[event.index - 1] = _advance(files[event.index - 1], event)
                yield AddView(sheets.adding(files, texts), busy=True)
        except NongDaError as failure:
            error = str(failure)
        except Exception:  # the last line before the reader: a sentence here, the traceback in the log
            logger.exception("adding files failed")
            error = texts["unexpected"]
        finally:
            stop.set()
        files = [replace(state, status="not_done") if state.status in ("waiting", "adding") else state
                 for state in files]
        yield AddView(sheets.adding(files, texts) + render.notice(error, "error"), busy=False)

    def stop_adding(self, session_id: str) -> None:
        """Ask the import of this session to end after the chunk in hand."""
        session = self._sessions.get(session_id)
        event = session.stop_adding if session else None
        if event is not None:
            event.set()

    def documents(self, language: Language) -> tuple[str, list[tuple[str, str]]]:
        """Return the table of documents and the (label, id) choices for removing one."""
        texts = TEXTS[language]
        try:
            stored = self.engine.documents()
        except NongDaError as failure:
            return render.notice(str(failure), "error"), []
        choices = [(f"{title_of(document)}（{document.source}）", document.id)
                   for document in stored]
        return sheets.documents(stored, texts), choices

    def confirm(self, doc_id: str | None, language: Language) -> tuple[str, bool]:
        """Return the question to put before removing, and whether there is one to put."""
        texts = TEXTS[language]
        try:
            document = next((d for d in self.engine.documents() if d.id == doc_id), None)
        except NongDaError as failure:
            return render.notice(str(failure), "error"), False
        if document is None:
            return render.notice(texts["remove_nothing"], "error"), False
        return render.notice(texts["remove_question"].format(title=title_of(document)), "ask"), True

    def remove(self, doc_id: str, language: Language) -> str:
        """Remove a document; returns the sentence about it."""
        texts = TEXTS[language]
        try:
            document = self.engine.remove(doc_id)
        except NongDaError as failure:
            return render.notice(str(failure), "error")
        return render.notice(texts["removed"].format(title=title_of(document)), "done")

    def status(self, language: Language) -> Iterator[str]:
        """Yield a word of patience, then the doctor's report as a table."""
        yield render.notice(TEXTS[language]["checking"], "ask")
        try:
            report = self.engine.doctor()
        except NongDaError as failure:
            yield render.notice(str(failure), "error")
            return
        yield sheets.status(report, TEXTS[language], STATUS_ZH if language == "zh" else {})

    def _answering(
        self, exchange: Exchange, history: Sequence[Turn], stop: threading.Event, texts: render.Texts
    ) -> Iterator[Exchange]:
        question, as_written = exchange.question, frozenset(reading.surface for reading in exchange.written)
        try:
            for events in in_thread(lambda: self.engine.ask(question, history, stop, as_written)):
                for event in events:
                    exchange = grow(exchange, event)
                yield exchange
        except NongDaError as failure:
            yield replace(exchange, error=str(failure))
        except Exception:  # the last line before the reader: a sentence here, the traceback in the log
            logger.exception("answering failed")
            yield replace(exchange, error=texts["unexpected"])

    def _current(self, session_id: str, session: Session) -> bool:
        return self._sessions.get(session_id) is session

    @staticmethod
    def _view(
        session: Session, texts: render.Texts, evidence: bool, question: str | None = None, busy: bool = False
    ) -> ChatView:
        shown = render.evidence(session.exchanges, texts) if evidence else None
        return ChatView(render.transcript(session.exchanges, texts), shown, question, busy,
                        started=bool(session.exchanges))


def _advance(state: FileState, event: AddEvent) -> FileState:
    if isinstance(event, Progress):
        return replace(state, status="adding", done=event.done, total=event.total)
    return replace(state, status=event.status, message=event.message, warnings=event.warnings)
