"""What the answer is chosen from: the best passages that may speak of the question's crop, taken apart and described."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nongda.answer.asked import Asked
from nongda.answer.chain import CAUSE, Link
from nongda.answer.domain import Domain
from nongda.answer.fact_features import Facts, by_sentence
from nongda.answer.features import Fit
from nongda.answer.place_and_stage import Circumstances
from nongda.answer.retrieve import Indexes
from nongda.answer.select import Described, described
from nongda.answer.sentences import Passage, Passages
from nongda.answer.understand import asked_text
from nongda.index.families import PROBLEM_KINDS, is_same_crop
from nongda.models.rerank import TokenCache
from nongda.records import Candidate, Entity, Query
from nongda.settings import Settings

_MOST_PROBLEMS = 1  # independent questions about several are no chain


@dataclass(frozen=True, slots=True)
class Looked:
    """A question taken apart, and the sentences that may answer it.

    `links` are what its facets ask of the chain from symptom to interval, () where it asks no chain.
    """

    asked: Asked
    candidates: tuple[Candidate, ...]
    described: Described
    facts: Facts = field(default_factory=dict)
    links: tuple[Link | None, ...] = ()


def look(query: Query, found: Sequence[Candidate], indexes: Indexes, passages: Passages, tokens: TokenCache,
         domain: Domain, settings: Settings, cause: Entity | None = None) -> Looked:
    """Describe the sentences of the candidates, with their facts; passages of other crops only are left out.

    `cause`: the disease or pest that the links of the chain behind the first are about.
    """
    with_facts = settings.has("facts")
    asked = domain.asking.of(asked_text(query, domain.asking), domain.lexicon)
    apart = passages.of(found)
    crops = frozenset(e.term for e in query.entities if e.kind == "crop")
    kept = [(c, p) for c, p in zip(found, apart, strict=True) if may_speak_of(crops, c, p, domain)]
    candidates, parts = [c for c, _ in kept], [p for _, p in kept]
    facts = by_sentence(indexes.facts.in_chunks(c.chunk.id for c in candidates)) if with_facts else {}
    problems = {e.term for e in query.entities if e.kind in PROBLEM_KINDS}
    links = domain.chain.links_of(asked, bool(problems)) if settings.has("chain") and len(problems) <= _MOST_PROBLEMS else ()
    about = tuple(cause if cause and not (link and link.key == CAUSE) else None for link in links)
    found_here = described(query, asked, candidates, parts, tokens, domain.lexicon, domain.asking, indexes.lexical.rarity, facts,
                           domain.attributes_of if with_facts else lambda text: (), about,
                           fit_of(query, domain))
    return Looked(asked, tuple(candidates), found_here, facts, links)


def may_speak_of(crops: frozenset[str], candidate: Candidate, passage: Passage, domain: Domain) -> bool:
    """Tell whether a passage may be about one of the crops: its title names one of them or none, or its text does."""
    titled = {term for kind, term in passage.title if kind == "crop"}
    if not crops or not titled or any(is_same_crop(a, b) for a in crops for b in titled):
        return True
    return any(domain.lexicon.canonical(crop) in candidate.chunk.search_text for crop in crops)


def fit_of(query: Query, domain: Domain) -> Fit:
    """Return what tells how far a sentence is for the place and stage that a question names; the same 0 where it names none."""
    named = Circumstances.of(query, domain.lexicon, domain.fitting)
    if not (named.places or named.stages):
        return lambda text, candidate: 0.0
    return lambda text, candidate: named.fit(text, candidate, domain.lexicon, domain.fitting)
