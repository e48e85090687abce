"""Facts made anew from the stored passages, where other rules or words made those that are there."""

from __future__ import annotations

from nongda.index.extract import FactExtractor
from nongda.index.store import Store


def refresh_facts(store: Store, extractor: FactExtractor) -> bool:
    """Make all facts anew unless this extractor made them; tell whether it was done.

    Seconds for a thousand passages, no model. A knowledge base that is read-only keeps the facts it has.
    """
    if store.read_only or store.meta().get("facts") == extractor.version:
        return False
    documents = store.documents()
    facts = {d.id: extractor.facts_of_document(store.chunks_of(d.id), d.meta) for d in documents}
    store.replace_facts(facts, extractor.version)
    return True
