"""One question becomes one cited answer. Start reading at `Answerer.answer`.

The reader sees the document's own words, a checked sentence, a figure computed from one, a question back, or a refusal.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Protocol

from nongda.answer.calculate import calculate, calculation_asked
from nongda.answer.cite import marked, resolve
from nongda.answer.clarify import clarification
from nongda.answer.clock import Clock
from nongda.answer.compose import cited, compose
from nongda.answer.compress import compress, score_evidence
from nongda.answer.decide import Judge, chosen_option, verdict
from nongda.answer.domain import Domain
from nongda.answer.evidence import ScoredEvidence, with_heading
from nongda.answer.look import Looked, look
from nongda.answer.notes import named_problem, notes_for, speaks_of_all, without_recipes
from nongda.answer.options import Option, parse_options
from nongda.answer.plan import plan
from nongda.answer.polarity import verdict_words
from nongda.answer.refuse import missing_subject, refusal_text
from nongda.answer.retrieve import Indexes, QueryEmbedder, retrieve
from nongda.answer.select import Chosen, Selection, Selector, select
from nongda.answer.sentences import Passages
from nongda.answer.trust import trusted
from nongda.answer.understand import understand
from nongda.answer.written import Writer
from nongda.models.generate import LockedGenerator
from nongda.models.rerank import Reranker, TokenCache
from nongda.records import Answer, AnswerKind, Candidate, Delta, Event, Note, Query, Stage, Turn
from nongda.settings import Settings

_WRITTEN_FROM = 700  # characters of evidence: about 450 tokens, 4 to 5 s of reading for 1.5B parameters on two cores
_WITHHELD = "资料里查到的用法是禁用或限用农药的，不能照用，这里不显示。请看农药法规提示，改用什么药请问当地植保站。"
_SHOWN = 5  # passages beside the cited ones
_FIGURES = 8  # best sentences among which a figure to compute with is looked for


class NamedEmbedder(QueryEmbedder, Protocol):
    """An embedder that says which file it is."""

    name: str


@dataclass(frozen=True)
class Parts:
    """What an answerer works with; `generator` None means: in the documents' own words, without a model."""

    domain: Domain
    embedder: NamedEmbedder
    tokens: TokenCache
    passages: Passages
    reranker: Reranker | None
    generator: LockedGenerator | None
    settings: Settings


@dataclass
class _Draft:
    """What has been said so far."""

    text: str = ""
    quotes: list[ScoredEvidence] = field(default_factory=list)
    kind: AnswerKind = "quoted"
    notes: list[Note] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    choices: tuple[str, ...] = ()


class Answerer:
    """Answers questions over one set of models; keeps no state between questions but what it knows of passages."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._domain = parts.domain

    def answer(self, question: str, history: Sequence[Turn], indexes: Indexes, stop: threading.Event) -> Iterator[Event]:
        """Yield stages as they end, checked words, and last the answer.

        Raises UsageError for a question without words or too long, GenerationError when the model fails.
        """
        clock, draft = Clock(), _Draft()
        query = self.understand(question, history)
        yield clock.stage("understand")
        found: tuple[Candidate, ...] = ()
        if not self._ask_back(query, indexes, draft):
            for stage in self.retrieve(query, indexes, stop):
                found = stage.candidates or found
                yield shown_stage(clock.record(stage))
            looked = self.look(query, found, indexes)
            chosen = select(looked.described, self._domain.selector)
            yield clock.stage("select")
            for text in self._said(query, history, looked, chosen, indexes, draft, clock, stop):
                draft.text += text
                yield Delta(text)
        else:
            yield Delta(draft.text)
        yield self._finished(query, draft, found, clock, stop)

    @property
    def selector(self) -> Selector:
        """The learned weights in use."""
        return self._domain.selector

    def taking_as_written(self, surfaces: frozenset[str]) -> Answerer:
        """Return an answerer that gives these words no standard term; it shares all models and caches."""
        domain = replace(self._domain, lexicon=self._domain.lexicon.without(surfaces))
        return Answerer(replace(self._parts, domain=domain))

    def understand(self, question: str, history: Sequence[Turn]) -> Query:
        """Build the query; without the stage decompose it has no parts. Raises UsageError as `answer` does."""
        query = understand(question, history, self._domain.lexicon, self._parts.settings.answer)
        return query if self._parts.settings.has("decompose") else replace(query, parts=())

    def retrieve(self, query: Query, indexes: Indexes, stop: threading.Event) -> Iterator[Stage]:
        """Yield the stages of retrieval by the query's route; the last carries the candidates, best first."""
        parts = self._parts
        route = plan(query, indexes, parts.embedder, self._domain, parts.settings, parts.generator, stop)
        reranker = parts.reranker if parts.settings.has("rerank") else None
        yield from retrieve(query, indexes, parts.embedder, reranker, parts.settings.search, route=route)

    def look(self, query: Query, found: Sequence[Candidate], indexes: Indexes) -> Looked:
        """Describe the sentences that may answer the query."""
        return look(query, found, indexes, self._parts.passages, self._parts.tokens, self._domain, self._parts.settings.has("facts"))

    def _ask_back(self, query: Query, indexes: Indexes, draft: _Draft) -> bool:
        """Ask which of several things an ambiguous name means, where the documents differ on them."""
        asked = clarification(query, indexes.subjects, self._domain.lexicon) if self._parts.settings.has("ask_back") else None
        if asked is None:
            return False
        draft.kind, draft.text, draft.choices = "question", asked.text, asked.choices
        return True

    def _said(self, query: Query, history: Sequence[Turn], looked: Looked, selection: Selection, indexes: Indexes,
              draft: _Draft, clock: Clock, stop: threading.Event) -> Iterator[str]:
        """Yield the answer's words: a refusal, or cited ones."""
        missing = missing_subject(query, indexes.subjects, self._domain.lexicon)
        if missing or not self._passes(selection) or not selection.chosen:
            draft.kind = "refused"
            draft.notes = self._domain.law.notes(query.standalone, {e.term for e in query.entities if e.kind == "crop"})
            yield refusal_text(query, missing, looked.candidates, indexes.subjects)
            return
        quotes = [one.scored for one in selection.chosen]
        draft.notes = notes_for(query, quotes, selection.ranked, indexes, self._domain)
        allowed = without_recipes(quotes, query, self._domain)
        selection = replace(selection, chosen=tuple(one for one in selection.chosen if one.scored in allowed))
        if not allowed:
            draft.kind = "refused"
            yield _WITHHELD
            return
        if self._parts.settings.answer.style == "write" and self._parts.generator is not None:
            yield from self._written(query, history, allowed, draft, clock, stop)
        if not stop.is_set():
            yield from self._quoted(query, looked, selection, draft, clock, stop)

    def _passes(self, selection: Selection) -> bool:
        return not self._parts.settings.has("gate") or selection.gate >= self._parts.settings.answer.gate

    def _quoted(self, query: Query, looked: Looked, selection: Selection, draft: _Draft, clock: Clock,
                stop: threading.Event) -> Iterator[str]:
        """Yield the chosen sentences in the form the question asks for; after written ones only what these left out."""
        known = {s.evidence.text for s in draft.quotes}
        left = [one for one in _each_once(selection.chosen) if one.scored.evidence.text not in known]
        if draft.text and left:
            yield "\n\n资料原文：\n"
        lead = ""
        if not draft.text:
            yield from self._computed(query, selection, draft)
            lead = "" if draft.kind == "computed" else self._decided(query, looked, selection, stop)
            clock.stage("decide")
        for piece in compose(looked.asked, left, self._domain.asking, lead, value_first=draft.kind == "quoted"):
            draft.quotes += piece.quotes
            yield piece.text

    def _computed(self, query: Query, selection: Selection, draft: _Draft) -> Iterator[str]:
        """Yield a figure computed from the first sentence that has one which fits, with its formula."""
        units = self._domain.lexicon.units
        task = calculation_asked(query.corrected or query.original, units)
        if task is None:
            return
        chosen = [one.scored for one in selection.chosen]
        sources = [*chosen, *(s for s in selection.ranked[:_FIGURES] if s not in chosen)]
        allowed = without_recipes(sources, query, self._domain)
        fitting = [s for s in allowed if speaks_of_all(query, s, self._domain.lexicon)]
        own = calculate(task, task.question, units)
        computed = ((calculate(task, with_heading(s.evidence, s.candidate), units), s) for s in fitting)
        result, source = (own, None) if own else next(((c, s) for c, s in computed if c), (None, None))
        if result is None:
            return
        draft.kind = "computed"
        if result.note:
            draft.notes.append(Note("arithmetic", result.note))
        yield f"**{result.result}**。算式：{result.formula}。\n"
        if source is not None and source not in chosen:
            draft.quotes.append(source)
            yield f"依据：{cited(source)}\n"

    def _decided(self, query: Query, looked: Looked, selection: Selection, stop: threading.Event) -> str:
        """Return the verdict of a yes/no question, the letter of a choice, the name of a diagnosis; "" where unsure."""
        domain, generator = self._domain, self._parts.generator
        judge = Judge(generator, domain.prompts, stop) if generator is not None else None
        texts = [with_heading(one.scored.evidence, one.scored.candidate) for one in selection.chosen]
        stem, options = parse_options(query.corrected or query.original)
        if options:
            option: Option | None = chosen_option(stem, options, texts, domain.lexicon, domain.units, judge)
            return f"{option.letter}. {option.text}" if option else ""
        if looked.asked.kind == "diagnosis":
            return named_problem(query, [one.scored for one in selection.chosen], domain.lexicon)
        if looked.asked.kind != "yes_no":
            return ""
        asked = query.corrected or query.original
        found = verdict(asked, texts, domain.lexicon, domain.units, judge)
        return "" if found.reply == "unclear" else verdict_words(asked, found.reply)

    def _written(self, query: Query, history: Sequence[Turn], quotes: Sequence[ScoredEvidence], draft: _Draft, clock: Clock,
                 stop: threading.Event) -> Iterator[str]:
        """Yield the model's sentences, each held against one piece of evidence; what fails is quoted or dropped."""
        generator, settings = self._parts.generator, self._parts.settings.answer
        if generator is None:
            return
        passages = list({s.candidate.chunk.id: s.candidate for s in quotes}.values())
        scored = score_evidence(query, passages, self._parts.embedder, self._domain.lexicon)
        allowed = without_recipes(scored, query, self._domain)
        writer = Writer(self._domain.lexicon, self._parts.embedder, generator, settings, self._domain.writing, self._domain.units)
        for sentence in writer.write(query, history, compress(allowed, _WRITTEN_FROM), stop, clock.first_token):
            draft.kind = "checked"
            draft.quotes.append(sentence.scored)
            if sentence.reason:
                draft.notes.append(Note("checked", sentence.reason))
            yield marked(sentence.text, sentence.scored.evidence.chunk_id)
        draft.warnings += writer.warnings
        clock.stage("generate")

    def _finished(self, query: Query, draft: _Draft, found: Sequence[Candidate], clock: Clock, stop: threading.Event) -> Answer:
        parts, today = self._parts, date.today()
        citations = {(s.evidence.chunk_id, s.evidence.start): trusted(
            resolve(s.evidence, s.candidate), query, s.candidate, today, self._domain.lexicon, self._domain.fitting)
            for s in draft.quotes}
        cited_ids = {chunk_id for chunk_id, _ in citations}
        shown = [c for place, c in enumerate(found) if place < _SHOWN or c.chunk.id in cited_ids]
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


def _each_once(chosen: Sequence[Chosen]) -> list[Chosen]:
    """Return the chosen sentences, the same words of one passage only once."""
    return list({(one.scored.evidence.chunk_id, one.scored.evidence.text): one for one in reversed(chosen)}.values())[::-1]


def shown_stage(stage: Stage, keep: int = _SHOWN) -> Stage:
    """Return a stage with as many candidates as a page shows."""
    return replace(stage, candidates=stage.candidates[:keep])
