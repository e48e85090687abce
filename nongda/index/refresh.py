"""Facts made anew from the stored passages, where other rules or words made those that are there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from nongda.index.extract import FactExtractor
from nongda.index.reword import writes
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


def follow_words(store: Store, before: str, extractor: FactExtractor, forms: Collection[str]) -> None:
    """Make anew the facts of documents that write one of these forms, after a change of words alone.

    `before` is the version of the extractor with the words of before; facts that another one made are left to
    `refresh_facts`.
    """
    if store.meta().get("facts") != before:
        return
    facts: dict[str, list[Fact]] = {}
    for document in store.active():
        chunks = store.chunks_of(document.id)
        if any(writes(chunk, document.meta.title, forms) for chunk in chunks):
            facts[document.id] = extractor.facts_of_document(chunks, document.meta)
    with store.write() as db:
        for doc_id, found in facts.items():
            db.table("facts").delete_where("doc_id = ?", [doc_id])
            db.table("facts").insert_all([fact_row(fact, doc_id) for fact in found])
        store.set_meta("facts", extractor.version)


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
