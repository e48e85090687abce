"""What the page does: plain values in, plain values out, one `Session` per browser tab.

Each question runs to its end in a thread of its own: a page that goes away must not leave a generator suspended
that still holds the models. `stop` sets the session's event, which the engine looks
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
from nongda.records import Event, Turn
from nongda.ui import render, sheets
from nongda.ui.adding import AddingLibrary
from nongda.ui.conversation import Again, Session, chosen_reading, grow, in_thread
from nongda.ui.documents_desk import DocumentsLibrary
from nongda.ui.render import Exchange
from nongda.ui.texts import STATUS_ZH, TEXTS, Language
from nongda.ui.words import WordsEngine

logger = logging.getLogger(__name__)


class DeskLibrary(DocumentsLibrary, AddingLibrary, Protocol):
    """What the page needs of the library."""


class DeskEngine(WordsEngine, Protocol):
    """What the page needs of the engine."""

    @property
    def library(self) -> DeskLibrary: ...

    @property
    def data_dir(self) -> Path: ...
    def ask(
        self, question: str, history: Sequence[Turn] = (), stop: threading.Event | None = None,
        as_written: frozenset[str] = frozenset(),
    ) -> Iterator[Event]: ...
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


class Desk:
    """The page's actions over one engine, for any number of browser tabs."""

    def __init__(self, engine: DeskEngine) -> None:
        self.engine = engine
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()  # guards the dictionary and the start of a question

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
        if session is not None and session.stop is not None:
            session.stop.set()

    def close_all(self) -> None:
        """End all work, because the program ends."""
        for session_id in list(self._sessions):
            self.close(session_id)

    def view(self, session_id: str, language: Language) -> ChatView:
        """Return the question tab as it stands."""
        session = self._sessions.get(session_id, Session())
        return self._view(session, TEXTS[language], evidence=True, busy=session.stop is not None)

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
