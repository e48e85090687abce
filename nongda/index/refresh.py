"""Facts made anew from the stored passages, where other rules or words made those that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nongda.index.extract import FactExtractor
from nongda.index.rows import fact_row
from nongda.index.store import Store
from nongda.records import Fact


def refresh_facts(store: Store, extractor: FactExtractor) -> bool:
    """Make all facts anew unless this extractor made them; tell whether it was done.

    Seconds for a thousand passages, no model. A knowledge base that is read-only keeps the facts it has.
    """
    if store.read_only or store.meta().get("facts") == extractor.version:
        return False
    documents = store.active()
    facts = {d.id: extractor.facts_of_document(store.chunks_of(d.id), d.meta) for d in documents}
    replace_facts(store, facts, extractor.version)
    return True


def replace_facts(store: Store, facts: Mapping[str, Sequence[Fact]], version: str) -> None:
    """Put these facts, by document id, in the place of all, with what made them, in one atomic write.

    Facts of a document that is not searched by now are left out.
    """
    with store.write() as db:
        db.execute("DELETE FROM facts")
        known = {document.id for document in store.active()}
        rows = [fact_row(fact, doc_id) for doc_id, found in facts.items() if doc_id in known for fact in found]
        db.table("facts").insert_all(rows)
        store.set_meta("facts", version)
