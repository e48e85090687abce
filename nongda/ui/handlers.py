"""What the page does: plain values in, plain values out, one `Session` per browser tab.

Each question and each import runs to its end in a thread of its own: a page that goes away must not leave
a generator suspended that still holds the models. `stop` sets the session's event, which the engine looks
at. Clearing a conversation gives the tab a new session, so that what the old question still sends is dropped.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from nongda.errors import NongDaError
from nongda.records import AddEvent, Answer, Delta, Event, Progress, Stage, StoredDocument, Turn
from nongda.ui import render, sheets
from nongda.ui.prose import strip_citations, title_of
from nongda.ui.render import Exchange
from nongda.ui.sheets import FileState
from nongda.ui.texts import STATUS_ZH, TEXTS, Language

logger = logging.getLogger(__name__)

T = TypeVar("T")
EARLY_CARDS = 5  # passages shown before reranking has chosen


class DeskEngine(Protocol):
    """What the page needs of the engine."""

    @property
    def data_dir(self) -> Path: ...
    def ask(
        self, question: str, history: Sequence[Turn] = (), stop: threading.Event | None = None
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


@dataclass(slots=True, eq=False)
class Session:
    """One conversation; `stop` belongs to the question being answered, `stop_adding` to the files."""

    exchanges: list[Exchange] = field(default_factory=list)
    stop: threading.Event | None = None
    stop_adding: threading.Event | None = None


class Desk:
    """The page's actions over one engine, for any number of browser tabs."""

    def __init__(self, engine: DeskEngine) -> None:
        self.engine = engine
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()  # guards the dictionary and the start of a question or an import

    def ask(self, session_id: str, question: str, language: Language) -> Iterator[ChatView]:
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
        history = _history(session.exchanges)
        number = session.exchanges[-1].number + 1 if session.exchanges else 1
        session.exchanges.append(Exchange(number=number, question=question))
        try:
            yield self._view(session, texts, evidence=True, question="", busy=True)
            for step in self._answering(session.exchanges[-1], history, stop, texts):
                shown = step.candidates != session.exchanges[-1].candidates
                session.exchanges[-1] = step
                if step.running and self._current(session_id, session):
                    yield self._view(session, texts, evidence=shown, busy=True)
        finally:
            stop.set()  # also ends an answer whose page went away
            session.stop = None
        if self._current(session_id, session):
            unusable = question if session.exchanges[-1].error else None
            yield self._view(session, texts, evidence=True, question=unusable)

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
            for events in _in_thread(lambda: self.engine.add(paths, stop)):
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
        question = exchange.question
        try:
            for events in _in_thread(lambda: self.engine.ask(question, history, stop)):
                for event in events:
                    exchange = _grow(exchange, event)
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


def _in_thread(work: Callable[[], Iterator[T]]) -> Iterator[list[T]]:
    """Run `work` to its end in a thread; yields what has come since the last time, raises what it raised."""
    pipe: queue.SimpleQueue[tuple[T | None, Exception | None]] = queue.SimpleQueue()

    def run() -> None:
        failure: Exception | None = None
        try:
            for item in work():
                pipe.put((item, None))
        except Exception as error:  # handed to the reader's thread, which raises it
            failure = error
        pipe.put((None, failure or StopIteration()))

    threading.Thread(target=run, name="nongda-page", daemon=True).start()
    while True:
        received = [pipe.get()]
        while not pipe.empty():
            received.append(pipe.get())
        items = [item for item, _ in received if item is not None]
        if items:
            yield items
        if (failure := received[-1][1]) is not None:
            if isinstance(failure, StopIteration):
                return
            raise failure


def _history(exchanges: Sequence[Exchange]) -> list[Turn]:
    turns: list[Turn] = []
    for exchange in exchanges:
        reply = strip_citations(exchange.text)
        if reply and not exchange.error:
            turns += [Turn("user", exchange.question), Turn("assistant", reply)]
    return turns


def _grow(exchange: Exchange, event: Event) -> Exchange:
    if isinstance(event, Stage):
        candidates = event.candidates[:EARLY_CARDS] or exchange.candidates
        return replace(exchange, stage=event.name, candidates=candidates)
    if isinstance(event, Delta):
        return replace(exchange, text=exchange.text + event.text)
    return _finish(exchange, event)


def _finish(exchange: Exchange, answer: Answer) -> Exchange:
    candidates = answer.evidence or exchange.candidates
    return replace(exchange, text=answer.text, answer=answer, candidates=candidates)


def _advance(state: FileState, event: AddEvent) -> FileState:
    if isinstance(event, Progress):
        return replace(state, status="adding", done=event.done, total=event.total)
    return replace(state, status=event.status, message=event.message, warnings=event.warnings)
