"""What becomes of documents: out of use, back in use, described anew, replaced by newer editions."""

import pytest
from conftest import ROOT

from nongda.errors import StoreError, UsageError
from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.index.ingest import Ingester
from nongda.index.life import checked_changes, describe, edits_of, restore
from nongda.index.prepare import Preparer, Provenance
from nongda.intake import FileReport
from nongda.language.lexicon import Lexicon
from nongda.settings import ChunkSettings

DOMAIN = ROOT / "assets" / "domain"
OLD = ("---\ntitle: 2023年水稻用药方案\nauthority: 甲县农技站\n---\n\n# 2023年水稻用药方案\n\n"
       "噻嗪酮在水稻上的安全间隔期为14天。\n\n## 灌水\n\n{}\n")
WATER = "分蘖期浅水灌溉，够苗后晒田，孕穗期保持水层，收割前七天断水。" * 8
NEW = OLD.replace("2023", "2024").replace("14天", "21天")


class Counting:
    """An embedder that counts what it embeds."""

    def __init__(self, embedder):
        self.name, self.dimension, self._embedder, self.seen = embedder.name, embedder.dimension, embedder, []

    def embed_passages(self, texts):
        self.seen += list(texts)
        return self._embedder.embed_passages(texts)


@pytest.fixture(scope="module")
def words():
    return Lexicon.load(DOMAIN)


@pytest.fixture(scope="module")
def extractor(words):
    return FactExtractor(words, Attributes.load(DOMAIN))


@pytest.fixture
def counting(embedder):
    return Counting(embedder)


@pytest.fixture
def ingester(fresh_store, words, counting, extractor):
    return Ingester(Preparer(fresh_store, words, counting, None, ChunkSettings(), extractor))


@pytest.fixture
def add(ingester, tmp_path):
    def added(name, text, **provenance) -> FileReport:
        path = tmp_path / name
        path.write_text(text.format(WATER), encoding="utf-8")
        ingester.check()
        return list(ingester.add_file(path, Provenance(**provenance)))[-1]

    return added


def searched(store) -> set[str]:
    return {chunk_id.split("#")[0] for chunk_id, _ in store.tokens()}


def test_a_newer_edition_is_searched_and_the_old_one_is_read_by_its_citation(add, fresh_store):
    old, new = add("旧.md", OLD), add("新.md", NEW)
    assert f"代替旧版 {old.doc_id}" in new.message
    assert searched(fresh_store) == {new.doc_id}
    kept = fresh_store.document(old.doc_id)
    assert (kept.state, kept.superseded_by) == ("superseded", new.doc_id)
    assert "14天" in fresh_store.chunk(f"{old.doc_id}#0").text
    assert [fact.value for fact in fresh_store.facts().of(subject="噻嗪酮")] == ["21天"]


def test_an_older_edition_that_comes_later_is_kept_behind_the_newer_one(add, fresh_store):
    new, old = add("新.md", NEW), add("旧.md", OLD)
    assert searched(fresh_store) == {new.doc_id}
    assert fresh_store.document(old.doc_id).superseded_by == new.doc_id
    assert any("较新的一版" in warning for warning in old.warnings)
    assert add("旧.md", OLD).status == "skipped"


def test_only_what_an_edition_changes_is_embedded(add, counting):
    add("甲.md", OLD.replace("2023年", ""))
    before = len(counting.seen)
    report = add("甲.md", OLD.replace("2023年", "").replace("14天", "28天"))
    assert report.embedded == 1
    assert len(counting.seen) - before == 1
    assert "28天" in counting.seen[-1]


def test_a_file_that_goes_back_to_what_it_was_brings_the_old_document_back(add, fresh_store):
    first = add("甲.md", OLD)
    second = add("甲.md", NEW.replace("2024", "2022"), replaces=first.doc_id)
    assert searched(fresh_store) == {second.doc_id}
    third = add("甲.md", OLD, replaces=second.doc_id)
    assert (third.status, third.doc_id) == ("added", first.doc_id)
    assert searched(fresh_store) == {first.doc_id}
    assert fresh_store.document(second.doc_id).superseded_by == first.doc_id
    assert [fact.value for fact in fresh_store.facts().of(subject="噻嗪酮")] == ["14天"]


def test_a_retired_document_is_not_searched_and_comes_back_as_it_was(add, fresh_store, words, counting, extractor):
    report = add("甲.md", OLD)
    facts = fresh_store.facts().select()
    fresh_store.set_state(report.doc_id, "retired")
    assert searched(fresh_store) == set()
    assert fresh_store.facts().select() == []
    before = len(counting.seen)
    restore(fresh_store, report.doc_id, words, counting.embed_passages, extractor)
    assert searched(fresh_store) == {report.doc_id}
    assert fresh_store.facts().select() == facts
    assert len(counting.seen) == before  # no word has changed


def test_a_removed_document_stays_readable_until_it_is_forgotten(add, fresh_store):
    report = add("甲.md", OLD)
    text = fresh_store.chunk(f"{report.doc_id}#0").text
    fresh_store.remove(report.doc_id)
    assert fresh_store.documents() == []
    assert fresh_store.chunk(f"{report.doc_id}#0").text == text
    assert fresh_store.original(report.doc_id) is None
    with pytest.raises(StoreError, match=report.doc_id):
        fresh_store.remove(report.doc_id)
    fresh_store.remove(report.doc_id, forget=True)
    assert fresh_store.chunk(f"{report.doc_id}#0") is None
    assert fresh_store.document(report.doc_id) is None


def test_describing_changes_what_is_said_and_embeds_only_for_another_title(add, fresh_store, words, counting, extractor):
    report = add("甲.md", OLD)
    before = len(counting.seen)
    changes = {"date": "2023年5月", "tags": "水稻，用药, 水稻"}
    changed = describe(fresh_store, report.doc_id, changes, words, counting.embed_passages, extractor)
    assert (changed.meta.date, changed.meta.tags) == ("2023-05", ("水稻", "用药"))
    assert len(counting.seen) == before
    changed = describe(fresh_store, report.doc_id, {"title": "晚稻用药方案"}, words, counting.embed_passages, extractor)
    assert changed.meta.title == "晚稻用药方案"
    assert all(text.startswith("晚稻用药方案") for text in counting.seen[before:])
    assert len(counting.seen) - before == changed.chunks
    assert edits_of(fresh_store, report.doc_id) == {"date": "2023-05", "tags": "水稻，用药, 水稻", "title": "晚稻用药方案"}


@pytest.mark.parametrize(("written", "stored"), [
    ("2024", "2024"), ("2024年", "2024"), ("2024-3", "2024-03"), ("2024年3月5日", "2024-03-05"), ("2024/03/05", "2024-03-05"),
    ("2024.3.5", "2024-03-05"), ("", ""), (" 2024年3月 ", "2024-03")])
def test_dates_are_taken_as_people_write_them(written, stored):
    assert checked_changes({"date": written}) == {"date": stored}


@pytest.mark.parametrize("changes", [{"date": "去年"}, {"date": "2024-13"}, {"valid_until": "2024-02-30"}, {"title": " "},
                                     {"sample": "1"}, {"region": "云" * 201}, {"date": "24-3-5"}])
def test_what_cannot_be_taken_is_named(changes):
    with pytest.raises(UsageError, match="："):
        checked_changes(changes)


def test_an_older_edition_is_taken_in_again_where_the_newer_one_is_out_of_use(add, fresh_store):
    old, new = add("旧.md", OLD), add("新.md", NEW)
    fresh_store.set_state(new.doc_id, "retired")
    again = add("旧.md", OLD)
    assert (again.status, again.doc_id) == ("added", old.doc_id)
    assert searched(fresh_store) == {old.doc_id}
