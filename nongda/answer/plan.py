"""Decides how a question is searched: the stages that are switched on, each with its ranking and weight."""

from __future__ import annotations

import threading
from collections.abc import Callable

from nongda.answer.decompose import Parts, decompose_by_model
from nongda.answer.domain import Domain
from nongda.answer.fact_features import part_hits
from nongda.answer.fusion import fusion_weights
from nongda.answer.lookup import fact_hits
from nongda.answer.retrieve import Indexes, QueryEmbedder
from nongda.answer.rewrite import hypothetical, refined
from nongda.answer.route import Ranking, Route, parts_of
from nongda.models.generate import LockedGenerator
from nongda.records import Hit, Query
from nongda.settings import Settings


def plan(query: Query, indexes: Indexes, embedder: QueryEmbedder, domain: Domain, settings: Settings,
         generator: LockedGenerator | None, stop: threading.Event) -> Route:
    """Return the route of a question. A question of a single hop asks no model, unless an option of that kind is on."""
    search, lexicon = settings.search, domain.lexicon
    texts = _parts(query, domain, settings, generator, stop)
    parts = parts_of(texts, lexicon)
    rankings: dict[str, Ranking] = {}
    weights = {**fusion_weights(query, settings), "facts": search.fact_weight, "specialists": search.specialist_weight}
    if settings.has("facts"):
        rankings["facts"] = lambda: fact_hits(query, indexes.facts, lexicon, domain.fact_forms)
        rankings |= {f"facts/{n}": _by_part(text, indexes, domain) for n, text in enumerate(texts, start=1)}
    if settings.has("specialists") and search.specialist_weight:
        rankings["specialists"] = _by_specialist(query, indexes, domain, search.candidates)
    if generator is not None and settings.has("refine"):
        text = refined(query, generator, domain.rewriting, lexicon, settings.answer, stop)
        parts += parts_of([text] if text else [], lexicon)
    if generator is not None and settings.has("hyde"):
        rankings["hyde"] = _hypothetical(query, indexes, embedder, domain, settings, generator, stop)
    for number in range(1, len(parts) + 1):
        weights |= {f"{name}/{number}": search.part_weight for name in ("bm25", "dense", "facts")}
    return Route(parts, rankings, weights)


def _parts(query: Query, domain: Domain, settings: Settings, generator: LockedGenerator | None,
           stop: threading.Event) -> tuple[str, ...]:
    """Return the parts by rules, or those that the model writes for a question of several hops."""
    if generator is None or not query.parts or settings.answer.decompose != "model":
        return query.parts
    prompt, temperature = domain.asking.triggers.prompt, settings.answer.decompose_temperature
    return decompose_by_model(generator, prompt, query.standalone, Parts(query.parts), domain.lexicon, stop, temperature).parts


def _by_part(text: str, indexes: Indexes, domain: Domain) -> Ranking:
    return lambda: part_hits(indexes.facts, domain.attributes_of(text), domain.lexicon.entities(text))


def _by_specialist(query: Query, indexes: Indexes, domain: Domain, most: int) -> Ranking:
    def run() -> list[Hit]:
        words = domain.specialists.expansion(query, domain.specialists.choose(query), domain.lexicon)
        return indexes.lexical.search((*query.tokens, *words), most) if words else []

    return run


def _hypothetical(query: Query, indexes: Indexes, embedder: QueryEmbedder, domain: Domain, settings: Settings,
                  generator: LockedGenerator, stop: threading.Event) -> Callable[[], list[Hit]]:
    def run() -> list[Hit]:
        text = hypothetical(query, generator, domain.rewriting, settings.answer, stop)
        if not text:
            return []
        vector = embedder.embed_queries([domain.lexicon.canonical(text)])[0]
        return indexes.vectors.search(vector, settings.search.candidates)

    return run
