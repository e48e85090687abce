"""Documents are added, taken out, put back and forgotten in any order: what is searched and what can be read stays right."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path

import pytest
from conftest import HashEmbedder
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from nongda.errors import StoreError
from nongda.index.caches import Caches
from nongda.index.prepare import Preparer
from nongda.index.store import Store
from nongda.intake import FileReport
from nongda.language.lexicon import Lexicon
from nongda.library import Library, show
from nongda.settings import Settings

WORKS = [f"---\ntitle: {year}年{work}\ndate: {year}-03\nauthority: {county}农技站\n---\n\n{work}每亩施尿素{dose}公斤，拔节期浇水。\n"
         for (work, county), year, dose in itertools.product(
             [("小麦施肥方案", "甲县"), ("小麦施肥方案", "乙县"), ("水稻用药意见", "甲县")], (2022, 2023, 2024), (10, 15))]
SUFFIXES = (".md", ".txt")


class Orders(RuleBasedStateMachine):
    """A knowledge base, and beside it every passage that was ever there."""

    lexicon: Lexicon

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = Store(self.folder / "知识 库")
        self.embedder = HashEmbedder()
        self.caches = Caches(self.lexicon, Settings().search, self.store.folder)
        self.library = Library(self.store, self._preparer, lambda doc_id: None)
        self.cited: dict[str, str] = {}
        self.forgotten: set[str] = set()

    def _preparer(self, store: Store) -> Preparer:
        return Preparer(store, self.lexicon, self.embedder, None, Settings().chunk)

    def teardown(self) -> None:
        self.caches.close()
        self.store.close()
        shutil.rmtree(self.folder)

    def _known(self) -> list[str]:
        return sorted({passage.split("#")[0] for passage in self.cited})

    @initialize(work=st.sampled_from(WORKS))
    def begin(self, work: str) -> None:
        self.add(work, ".md", "a")

    @rule(work=st.sampled_from(WORKS), suffix=st.sampled_from(SUFFIXES), name=st.sampled_from(["a", "b"]))
    def add(self, work: str, suffix: str, name: str) -> None:
        path = self.folder / f"{name}{suffix}"
        path.write_text(work if suffix == ".md" else work.split("---\n\n")[1], encoding="utf-8")
        report = list(self.library.add([path]))[-1]
        assert isinstance(report, FileReport) and report.status in ("added", "skipped"), report
        document = self.library.document(report.doc_id)
        assert document is not None and document.state in ("active", "superseded"), (report, document)
        for chunk in self.library.chunks_of(report.doc_id):
            assert self.cited.setdefault(chunk.id, chunk.text) == chunk.text
        self.forgotten.discard(report.doc_id)

    @precondition(lambda self: self.cited)
    @rule(data=st.data(), how=st.sampled_from(["retire", "restore", "remove", "forget", "describe"]))
    def change(self, data: st.DataObject, how: str) -> None:
        doc_id = data.draw(st.sampled_from(self._known()))
        document = self.library.document(doc_id)
        is_there = document is not None and document.state != "removed"
        act = {
            "retire": lambda: self.library.retire(doc_id), "restore": lambda: self.library.restore(doc_id),
            "remove": lambda: self.library.remove(doc_id), "forget": lambda: self.library.remove(doc_id, forget=True),
            "describe": lambda: self.library.describe(doc_id, {"title": "别的标题", "date": "2025"}),
        }[how]
        if not is_there and not (how == "forget" and document is not None):
            with pytest.raises(StoreError, match=doc_id):
                act()
            return
        act()
        if how == "forget":
            self.forgotten.add(doc_id)
            self.cited = {passage: text for passage, text in self.cited.items() if not passage.startswith(doc_id)}
            for passage in (f"{doc_id}#0", doc_id):
                with pytest.raises(StoreError, match=doc_id):
                    show(self.library, passage)

    @invariant()
    def what_is_searched_are_the_passages_of_the_documents_in_use(self) -> None:
        active = self.store.active()
        expected = sorted(chunk.id for document in active for chunk in self.library.chunks_of(document.id))
        indexed = self.caches.at(self.store.rows, active, self.embedder.dimension)
        query = self.embedder.embed_queries(["小麦水稻每亩施尿素多少公斤"])[0]
        assert sorted(hit.chunk_id for hit in indexed.vectors.search(query, 100)) == expected
        assert sorted(hit.chunk_id for hit in indexed.lexical.search(["尿素"], 100)) == expected
        assert len(expected) >= len(active)

    @invariant()
    def every_passage_ever_there_can_be_read_unless_it_was_forgotten(self) -> None:
        for passage, text in self.cited.items():
            document, chunk = show(self.library, passage)
            assert chunk is not None and chunk.text == text and document.id == passage.split("#")[0]

    @invariant()
    def nothing_is_superseded_by_itself_and_a_newer_edition_can_be_looked_up(self) -> None:
        for document in self.library.documents():
            assert document.superseded_by != document.id
            assert bool(document.superseded_by) == (document.state == "superseded"), document
            if document.superseded_by and document.superseded_by not in self.forgotten:
                assert self.library.document(document.superseded_by) is not None


def test_any_order_of_adding_and_taking_out_keeps_what_is_searched_and_what_was_cited(lexicon):
    Orders.lexicon = lexicon
    run_state_machine_as_test(Orders, settings=settings(max_examples=12, stateful_step_count=15, deadline=None))
