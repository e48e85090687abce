"""The table of facts: found by standard terms, compared as numbers, written and removed with their document."""

import dataclasses
import math

import pytest

from nongda.errors import StoreError
from nongda.index.refresh import replace_facts
from nongda.index.rows import NewDocument
from nongda.records import DocumentMeta, Fact

NUMBER = Fact("d#0", "噻嗪酮", "product", "水稻", "稻飞虱", "safety_interval", "14天", 14.0, 14.0, "天", "若虫期", 3, 20)
OPEN = dataclasses.replace(NUMBER, attribute="ph", subject="", kind="", value="低于5.5", low=-math.inf, high=5.5, unit="")
WORDS = Fact("d#1", "棉蚜", "pest", "", "棉蚜", "part", "叶背", None, None, "", "", 0, 9)


def document(doc_id="d", facts=(NUMBER, OPEN, WORDS)):
    return NewDocument(doc_id, "s" + doc_id, "t" + doc_id, "a.md", DocumentMeta(title="稻飞虱"), None, 10, (), "2026", b"", (), facts)


@pytest.fixture
def store(fresh_store):
    fresh_store.add(document(), {})
    return fresh_store


def test_facts_come_back_as_they_were_stored(store):
    assert store.facts().select() == [NUMBER, OPEN, WORDS]


def test_open_ends_are_compared_as_numbers(store):
    assert store.facts().select("low <= ? AND high >= ?", (5.0, 5.0)) == [OPEN]
    assert store.facts().select("high > 1e300") == []
    assert store.facts().select("low IS NULL") == [WORDS]


def test_kinds_of_a_name_count_and_a_fact_without_a_crop_fits_every_crop(store):
    table = store.facts()
    assert table.of(subject="蚜虫") == [WORDS]
    assert table.of(subject="蚜虫", crop="番茄") == [WORDS]
    assert table.of(subject="噻嗪酮", crop="番茄") == []
    assert table.of(subject="噻嗪酮", crop="水稻", attribute="safety_interval", kind="product") == [NUMBER]
    assert table.of(target="玉米螟") == []
    assert len(table.of()) == 3


def test_a_fact_of_a_group_of_crops_fits_its_members(store):
    grouped = dataclasses.replace(NUMBER, crop="茄果类", chunk_id="e#0")
    store.add(document("e", (grouped,)), {})
    assert store.facts().of(subject="噻嗪酮", crop="番茄") == [grouped]


def test_counts_and_chunks(store):
    assert store.facts().count_by_attribute() == {"part": 1, "ph": 1, "safety_interval": 1}
    assert store.facts().in_chunks(["d#1", "x#0"]) == [WORDS]
    assert store.facts().in_chunks([]) == []


def test_removing_a_document_removes_its_facts(store):
    store.add(document("e", (dataclasses.replace(WORDS, chunk_id="e#0"),)), {})
    store.remove("d")
    assert [f.chunk_id for f in store.facts().select()] == ["e#0"]


def test_facts_that_cannot_be_stored_leave_no_document_behind(fresh_store):
    broken = dataclasses.replace(NUMBER, value=None)
    with pytest.raises(StoreError):
        fresh_store.add(document(facts=(broken,)), {})
    assert fresh_store.documents() == []
    assert fresh_store.facts().select() == []


def test_replacing_all_facts_leaves_out_those_of_documents_that_are_gone(store):
    replace_facts(store, {"d": [WORDS], "gone": [NUMBER]}, "2")
    assert store.facts().select() == [WORDS]
    assert store.meta()["facts"] == "2"
