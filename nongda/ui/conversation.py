"""What one browser tab has asked so far, and how an answer grows on it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from nongda.records import Answer, Delta, Event, Reading, Stage, Turn
from nongda.ui.prose import strip_citations
from nongda.ui.render import AS_WRITTEN, UNDERSTOOD, Exchange

T = TypeVar("T")
EARLY_CARDS = 5  # passages shown before reranking has chosen


@dataclass(slots=True, eq=False)
class Session:
    """One conversation; `stop` belongs to the question being answered.

    `written` are the readings that the reader has undone, by surface: those words are searched for as written.
    """

    exchanges: list[Exchange] = field(default_factory=list)
    written: dict[str, Reading] = field(default_factory=dict)
    stop: threading.Event | None = None

    def begin(self, question: str, again: Again | None) -> list[Turn]:
        """Append an exchange for a question, asked again with a reading changed or not; returns its history."""
        if again is not None:
            self.written.pop(again.reading.surface, None)
            if again.as_written:
                self.written[again.reading.surface] = again.reading
        number = self.exchanges[-1].number + 1 if self.exchanges else 1
        before = [e for e in self.exchanges if again is None or (e.again or e.number) < again.number]
        self.exchanges.append(Exchange(number, question, written=tuple(self.written.values()),
                                       again=again.number if again else 0))
        return history(before)


@dataclass(frozen=True, slots=True)
class Again:
    """A question to ask again, from its first exchange on, with one of its readings undone or taken up again."""

    number: int
    question: str
    reading: Reading
    as_written: bool


def chosen_reading(session: Session, choice: str) -> Again | None:
    """Return what a button of the page stands for (see `render.readings`); None where the page is not up to date."""
    number, _, rest = choice.partition("/")
    place, _, which = rest.partition("/")
    exchange = next((e for e in session.exchanges if str(e.number) == number), None)
    if exchange is None or which not in (AS_WRITTEN, UNDERSTOOD):
        return None
    answered = exchange.answer.readings if exchange.answer else ()
    offered = answered if which == AS_WRITTEN else exchange.written
    reading = next((one for index, one in enumerate(offered) if str(index) == place), None)
    if reading is None:
        return None
    return Again(exchange.again or exchange.number, exchange.question, reading, which == AS_WRITTEN)


def in_thread(work: Callable[[], Iterator[T]]) -> Iterator[list[T]]:
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


def history(exchanges: Sequence[Exchange]) -> list[Turn]:
    """Return the turns of a conversation without citations; of a question asked again only the last answer."""
    last = {exchange.again or exchange.number: exchange for exchange in exchanges}
    turns: list[Turn] = []
    for exchange in last.values():
        reply = strip_citations(exchange.text)
        if reply and not exchange.error:
            turns += [Turn("user", exchange.question), Turn("assistant", reply)]
    return turns


def grow(exchange: Exchange, event: Event) -> Exchange:
    """Return an exchange with what an event adds to it."""
    if isinstance(event, Stage):
        candidates = event.candidates[:EARLY_CARDS] or exchange.candidates
        return replace(exchange, stage=event.name, candidates=candidates)
    if isinstance(event, Delta):
        return replace(exchange, text=exchange.text + event.text)
    return _finish(exchange, event)


def _finish(exchange: Exchange, answer: Answer) -> Exchange:
    candidates = answer.evidence or exchange.candidates
    return replace(exchange, text=answer.text, answer=answer, candidates=candidates)
