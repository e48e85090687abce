"""One question becomes one cited answer. Start reading at `Answerer.answer`.

The reader sees the document's own words, a checked sentence, a figure computed from one, a question back, or a refusal.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from datetime import date

from nongda.answer.chain import cause_of, second_hop
from nongda.answer.cite import resolve
from nongda.answer.clarify import clarification
from nongda.answer.clock import Clock
from nongda.answer.decompose import MOST
from nongda.answer.look import Looked, look
from nongda.answer.plan import plan
from nongda.answer.retrieve import Indexes, retrieve
from nongda.answer.say import Draft, Parts, Speaker
from nongda.answer.select import Selection, Selector, select
from nongda.answer.trust import trusted
from nongda.answer.understand import understand
from nongda.records import Answer, Candidate, Delta, Entity, Event, Query, Stage, Turn

_SHOWN = 5  # passages beside the cited ones


class Answerer:
    """Answers questions over one set of models; keeps no state between questions but what it knows of passages."""

    def __init__(self, parts: Parts, as_written: frozenset[str] = frozenset()) -> None:
        self._parts = parts
        self._as_written = as_written
        self._domain = parts.domain
        self._speaker = Speaker(parts)

    def answer(self, question: str, history: Sequence[Turn], indexes: Indexes, stop: threading.Event) -> Iterator[Event]:
        """Yield stages as they end, checked words, and last the answer.

        Raises UsageError for a question without words or too long, GenerationError when the model fails.
        """
        clock, draft = Clock(), Draft()
        query = self.understand(question, history)
        yield clock.stage("understand")
        if query.left:
            draft.warnings.append(f"一次最多回答 {MOST} 件事，下面这些没有回答，请另外再问：{''.join(query.left)}")
        found: list[Candidate] = []
        if self._ask_back(query, indexes, draft):
            yield Delta(draft.text)
        else:
            yield from self._retrieved(query, indexes, found, clock, stop)
            words = self._speaker.looked_up(query, indexes, draft)
            if words is None:
                yield from self._selected(query, history, found, indexes, draft, clock, stop)
            else:
                yield clock.stage("lookup")
                for text in words:
                    draft.text += text
                    yield Delta(text)
        yield self._finished(query, draft, found, clock, stop)

    def _retrieved(self, query: Query, indexes: Indexes, found: list[Candidate], clock: Clock, stop: threading.Event) -> Iterator[Event]:
        """Yield the stages of retrieval and leave the candidates in `found`."""
        for stage in self.retrieve(query, indexes, stop):
            found[:] = stage.candidates or found
            yield shown_stage(clock.record(stage))

    def _selected(self, query: Query, history: Sequence[Turn], found: list[Candidate], indexes: Indexes, draft: Draft,
                  clock: Clock, stop: threading.Event) -> Iterator[Event]:
        """Yield the words of an answer from selected sentences."""
        query, looked, selection = yield from self._looked(query, found, indexes, clock, stop)
        yield clock.stage("select")
        for text in self._speaker.said(query, history, looked, selection, indexes, draft, clock, stop):
            draft.text += text
            yield Delta(text)

    def _looked(self, query: Query, found: list[Candidate], indexes: Indexes, clock: Clock,
                stop: threading.Event) -> Generator[Event, None, tuple[Query, Looked, Selection]]:
        """Look at the candidates; where the question's first part finds a cause, once more after a second hop with it."""
        looked = self.look(query, found, indexes)
        selection = select(looked.described, self._domain.selector)
        cause = self._cause(query, looked, selection)
        if cause is not None:
            query = second_hop(query, looked.links, cause)
            yield from self._retrieved(query, indexes, found, clock, stop)
            looked = self.look(query, found, indexes, cause)
            selection = select(looked.described, self._domain.selector)
        return query, looked, selection

    def look_at(self, question: str, history: Sequence[Turn], indexes: Indexes) -> Looked:
        """Return the sentences that may answer a question, after all hops, without an answer."""
        query, found, clock, stop = self.understand(question, history), list[Candidate](), Clock(), threading.Event()
        for _ in self._retrieved(query, indexes, found, clock, stop):
            pass
        hops = self._looked(query, found, indexes, clock, stop)
        while True:
            try:
                next(hops)
            except StopIteration as end:
                looked: Looked = end.value[1]
                return looked

    @property
    def selector(self) -> Selector:
        """The learned weights in use."""
        return self._domain.selector

    def taking_as_written(self, surfaces: frozenset[str]) -> Answerer:
        """Return an answerer that gives these words no standard term; it shares all models and caches."""
        domain = replace(self._domain, lexicon=self._domain.lexicon.without(surfaces))
        return Answerer(replace(self._parts, domain=domain), surfaces)

    def understand(self, question: str, history: Sequence[Turn]) -> Query:
        """Build the query; without the stage decompose it has no parts. Raises UsageError as `answer` does."""
        settings, domain = self._parts.settings, self._domain
        spelling = domain.spelling if settings.has("spelling") else None
        query = understand(question, history, domain.lexicon, settings.answer, domain.asking, spelling, self._as_written)
        return query if settings.has("decompose") else replace(query, parts=())

    def retrieve(self, query: Query, indexes: Indexes, stop: threading.Event) -> Iterator[Stage]:
        """Yield the stages of retrieval by the query's route; the last carries the candidates, best first."""
        parts = self._parts
        route = plan(query, indexes, parts.embedder, self._domain, parts.settings, parts.generator, stop)
        reranker = parts.reranker if parts.settings.has("rerank") else None
        yield from retrieve(query, indexes, parts.embedder, reranker, parts.settings.search, route=route)

    def look(self, query: Query, found: Sequence[Candidate], indexes: Indexes, cause: Entity | None = None) -> Looked:
        """Describe the sentences that may answer the query; `cause` is what its other parts are about."""
        parts = self._parts
        return look(query, found, indexes, parts.passages, parts.tokens, self._domain, parts.settings, cause)

    def _cause(self, query: Query, looked: Looked, selection: Selection) -> Entity | None:
        """Return the disease or pest that the first hop has found, where other parts of the question hang on it."""
        if not self._parts.settings.has("chain") or len(query.parts) != len(looked.links):
            return None
        return cause_of(looked.links, selection.chosen, query, self._domain.lexicon)

    def _ask_back(self, query: Query, indexes: Indexes, draft: Draft) -> bool:
        """Ask which of several things an ambiguous name means, where the documents differ on them."""
        asked = clarification(query, indexes.subjects, self._domain.lexicon) if self._parts.settings.has("ask_back") else None
        if asked is None:
            return False
        draft.kind, draft.text, draft.choices = "question", asked.text, asked.choices
        return True

    def _finished(self, query: Query, draft: Draft, found: Sequence[Candidate], clock: Clock, stop: threading.Event) -> Answer:
        parts, today = self._parts, date.today()
        citations = {(s.evidence.chunk_id, s.evidence.start): trusted(
            resolve(s.evidence, s.candidate), query, s.candidate, today, self._domain.lexicon, self._domain.fitting)
            for s in draft.quotes}
        cited_ids = {chunk_id for chunk_id, _ in citations}
        known = {c.chunk.id for c in found}
        from_facts = {s.candidate.chunk.id: s.candidate for s in draft.quotes if s.candidate.chunk.id not in known}
        shown = [c for place, c in enumerate(found) if place < _SHOWN or c.chunk.id in cited_ids]
        shown += from_facts.values()
        models = {
            "generator": parts.generator.name if parts.generator else "", "embedder": parts.embedder.name,
            "reranker": parts.reranker.name if parts.reranker else "",
        }
        return Answer(
            question=query.original, standalone=query.standalone, text=draft.text, refused=draft.kind == "refused",
            citations=tuple(citations.values()), evidence=tuple(shown), warnings=tuple(dict.fromkeys(draft.warnings)),
            timings=clock.finish(), models=models, stopped=stop.is_set(), kind=draft.kind, notes=tuple(draft.notes),
            choices=draft.choices, readings=query.readings,
        )


def shown_stage(stage: Stage, keep: int = _SHOWN) -> Stage:
    """Return a stage with as many candidates as a page shows."""
    return replace(stage, candidates=stage.candidates[:keep])
