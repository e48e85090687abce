"""From chosen sentences to the answer's words: a refusal, quotes in the form that was asked for, a sum, checked sentences."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from nongda.answer.calculate import calculate, calculation_asked
from nongda.answer.chain import rows_of, table
from nongda.answer.cite import marked
from nongda.answer.clock import Clock
from nongda.answer.compose import Piece, cited, compose
from nongda.answer.compress import compress, score_evidence
from nongda.answer.decide import Judge, chosen_option, verdict
from nongda.answer.domain import Domain
from nongda.answer.evidence import ScoredEvidence, split_evidence, with_heading
from nongda.answer.fact_question import fact_question
from nongda.answer.instructions import quotable
from nongda.answer.look import Looked
from nongda.answer.lookup import looked_up
from nongda.answer.notes import named_problem, notes_for, speaks_of_all, without_recipes
from nongda.answer.options import Option, parse_options
from nongda.answer.outline import Outline, is_open, outline_pieces, outline_words, outlined
from nongda.answer.place_and_stage import fit_note, stage_is_held
from nongda.answer.polarity import verdict_words
from nongda.answer.refuse import missing_subject, refusal_text
from nongda.answer.retrieve import Indexes, QueryEmbedder
from nongda.answer.select import Chosen, Selection
from nongda.answer.sentences import Passages
from nongda.answer.written import Writer
from nongda.models.generate import LockedGenerator
from nongda.models.rerank import Reranker, TokenCache
from nongda.records import AnswerKind, Fact, Hit, Note, Query, Turn
from nongda.settings import Settings

_WRITTEN_FROM = 700  # characters of evidence: about 450 tokens, 4 to 5 s of reading for 1.5B parameters on two cores
_WITHHELD = "资料里查到的用法是禁用或限用农药的，不能照用，这里不显示。请看农药法规提示，改用什么药请问当地植保站。"
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
class Draft:
    """What has been said so far."""

    text: str = ""
    quotes: list[ScoredEvidence] = field(default_factory=list)
    kind: AnswerKind = "quoted"
    notes: list[Note] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    choices: tuple[str, ...] = ()


class Speaker:
    """Says answers over one set of models and one domain."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._domain = parts.domain

    def looked_up(self, query: Query, indexes: Indexes, draft: Draft) -> Iterator[str] | None:
        """Return the words of a list or of what holds at a value, from the fact table; None for another question."""
        domain = self._domain
        question = fact_question(query, domain.lexicon, domain.fact_forms) if self._parts.settings.has("lookup") else None
        if question is None or missing_subject(query, indexes.subjects, domain.lexicon):
            return None
        crops = {e.term for e in query.entities if e.kind == "crop"}

        def allowed(fact: Fact) -> bool:
            own = crops or ({fact.crop} - {""})
            return all(domain.law.applies(entry, own) is False for entry in domain.law.find(fact.subject))

        found = looked_up(question, indexes.facts, lambda i: indexes.candidate(Hit(i, 1.0)), domain.lexicon, domain.fact_forms, allowed)
        if found is None:
            return None
        quotes = [quote for piece in found.pieces for quote in piece.quotes]
        draft.quotes += quotes
        draft.notes = notes_for(query, quotes, (), indexes, domain)
        return (piece.text for piece in found.pieces)

    def said(self, query: Query, history: Sequence[Turn], looked: Looked, selection: Selection, indexes: Indexes,
              draft: Draft, clock: Clock, stop: threading.Event) -> Iterator[str]:
        """Yield the answer's words: a refusal, or cited ones."""
        missing = missing_subject(query, indexes.subjects, self._domain.lexicon)
        if missing or not self._passes(selection) or not selection.chosen:
            draft.kind = "refused"
            draft.notes = self._domain.law.notes(query.standalone, {e.term for e in query.entities if e.kind == "crop"})
            draft.notes += self._unfit(query, selection) if not missing else []
            yield refusal_text(query, missing, looked.candidates, indexes.subjects)
            return
        outline = self._outline(query, looked, indexes)
        quotes = [scored for _, scored in outline.filled] if outline else [one.scored for one in selection.chosen]
        draft.notes = notes_for(query, quotes, selection.ranked, indexes, self._domain)
        unfit = fit_note(query, quotes, self._domain.lexicon, self._domain.fitting)
        draft.notes += [unfit] if unfit else []
        allowed = without_recipes(quotes, query, self._domain)
        selection = replace(selection, chosen=tuple(one for one in selection.chosen if one.scored in allowed))
        if not allowed:
            draft.kind = "refused"
            yield _WITHHELD
            return
        if outline:
            yield from self._told(outline, draft)
            return
        if self._parts.settings.answer.style == "write" and self._parts.generator is not None:
            yield from self._written(query, history, allowed, draft, clock, stop)
        if not stop.is_set():
            yield from self._quoted(query, looked, selection, draft, clock, stop)

    def _unfit(self, query: Query, selection: Selection) -> list[Note]:
        """Say of a refused question for which other place or stage the documents have what it asks of."""
        quotes = [one.scored for one in selection.chosen if speaks_of_all(query, one.scored, self._domain.lexicon)]
        note = fit_note(query, quotes, self._domain.lexicon, self._domain.fitting) if quotes else None
        return [note] if note else []

    def _passes(self, selection: Selection) -> bool:
        return not self._parts.settings.has("gate") or selection.gate >= self._parts.settings.answer.gate

    def _outline(self, query: Query, looked: Looked, indexes: Indexes) -> Outline | None:
        """Return the introduction by the specialist's outline, for a question that asks to be told of one thing in general."""
        domain, settings = self._domain, self._parts.settings
        specialist = domain.specialists.choose(query)
        if not settings.has("specialists") or not is_open(query, looked.asked, specialist, domain.specialists):
            return None
        hits = indexes.lexical.search(outline_words(specialist, query, domain.lexicon), settings.search.candidates)
        found = {c.chunk.id: c for c in (*looked.candidates, *filter(None, map(indexes.candidate, hits)))}
        sentences = [ScoredEvidence(e, c, frozenset(), np.zeros(0, np.float32), 1.0)
                     for c in found.values() for e in quotable(split_evidence(c), c.chunk.text)]
        allowed = without_recipes(sentences, query, domain)
        return outlined(specialist, query, allowed, indexes.facts.in_chunks(found), domain.lexicon)

    def _told(self, outline: Outline, draft: Draft) -> Iterator[str]:
        for piece in outline_pieces(outline):
            draft.quotes += piece.quotes
            yield piece.text

    def _quoted(self, query: Query, looked: Looked, selection: Selection, draft: Draft, clock: Clock,
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
        for piece in self._composed(query, looked, left, lead, draft):
            draft.quotes += piece.quotes
            yield piece.text

    def _composed(self, query: Query, looked: Looked, chosen: Sequence[Chosen], lead: str, draft: Draft) -> Iterator[Piece]:
        """Yield the chosen sentences as the chain's table where the question asks one, else in the form it asks for."""
        asking, schema = self._domain.asking, self._domain.chain
        if looked.links and draft.kind == "quoted" and not draft.text:
            rows, chosen = rows_of(schema, looked.links, looked.asked, chosen, asking, looked.facts, self._domain.lexicon)
            quotes = [one.scored for row in rows for one in row.chosen]
            cause = named_problem(query, quotes, self._domain.lexicon) if quotes else ""
            if lead and lead != cause:
                yield Piece(f"**{lead}**\n")
            yield table(schema, rows, cause)
            lead = ""
        yield from compose(looked.asked, chosen, asking, lead,
                           lambda scored: draft.kind == "quoted" and speaks_of_all(query, scored, self._domain.lexicon))

    def _computed(self, query: Query, selection: Selection, draft: Draft) -> Iterator[str]:
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
        quotes = [one.scored for one in selection.chosen]
        if looked.asked.kind != "yes_no" or fit_note(query, quotes, domain.lexicon, domain.fitting):
            return ""
        if not stage_is_held(query, quotes, domain.lexicon, domain.fitting):
            return ""
        asked = query.corrected or query.original
        found = verdict(asked, texts, domain.lexicon, domain.units, judge)
        return "" if found.reply == "unclear" else verdict_words(asked, found.reply)

    def _written(self, query: Query, history: Sequence[Turn], quotes: Sequence[ScoredEvidence], draft: Draft, clock: Clock,
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


def _each_once(chosen: Sequence[Chosen]) -> list[Chosen]:
    """Return the chosen sentences, the same words of one passage only once."""
    return list({(one.scored.evidence.chunk_id, one.scored.evidence.text): one for one in reversed(chosen)}.values())[::-1]
