"""Facts follow the rules and words in force, whoever made those that are stored."""

import pytest
from conftest import ROOT

from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer
from nongda.index.rebuilding import rebuild, take_over
from nongda.index.refresh import follow_words, refresh_facts
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.language.own_words import OwnWord
from nongda.settings import ChunkSettings

DOMAIN = ROOT / "assets" / "domain"
TEXT = "# 水稻\n\n噻嗪酮在水稻上的安全间隔期为14天。\n"


@pytest.fixture(scope="module")
def words():
    return Lexicon.load(DOMAIN)


@pytest.fixture(scope="module")
def extractor(words):
    return FactExtractor(words, Attributes.load(DOMAIN))


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "水稻.md"
    found.write_text(TEXT, encoding="utf-8")
    return found


def ingester(store, words, embedder, facts):
    return Ingester(Preparer(store, words, embedder, embedder, ChunkSettings(), facts))


def test_adding_a_file_stores_its_facts_and_what_made_them(fresh_store, words, embedder, extractor, path):
    list(ingester(fresh_store, words, embedder, extractor).add([path]))
    fact, = fresh_store.facts().of(subject="噻嗪酮", attribute="safety_interval")
    chunk = fresh_store.chunk(fact.chunk_id)
    assert chunk.text[fact.start : fact.end] == "噻嗪酮在水稻上的安全间隔期为14天。"
    assert fresh_store.meta()["facts"] == extractor.version
    assert not refresh_facts(fresh_store, extractor)


def test_documents_from_before_facts_get_theirs_without_any_model(fresh_store, words, embedder, extractor, path):
    list(ingester(fresh_store, words, embedder, None).add([path]))
    assert fresh_store.facts().select() == []
    assert refresh_facts(fresh_store, extractor)
    assert [f.value for f in fresh_store.facts().select()] == ["14天"]


def test_another_lexicon_is_another_version(words, extractor):
    other = words.with_own([OwnWord("飞虱净", "噻嗪酮", "product")])
    assert FactExtractor(other, extractor.attributes).version != extractor.version


def test_a_read_only_knowledge_base_keeps_the_facts_it_has(fresh_store, extractor):
    fresh_store.read_only = True
    assert not refresh_facts(fresh_store, extractor)
    assert "facts" not in fresh_store.meta()


def test_a_rebuild_carries_the_facts_over(fresh_store, words, embedder, extractor, path, tmp_path):
    list(ingester(fresh_store, words, embedder, None).add([path]))
    fresh = Store(tmp_path / "new")
    list(rebuild(fresh_store, ingester(fresh, words, embedder, extractor).preparer))
    fresh.close()
    take_over(fresh_store, fresh)
    assert [f.value for f in fresh_store.facts().select()] == ["14天"]
    assert fresh_store.meta()["facts"] == extractor.version


def test_after_a_change_of_words_only_documents_that_write_them_are_read_anew(
        fresh_store, words, embedder, extractor, tmp_path, monkeypatch):
    for name, product in (("甲.md", "噻嗪酮"), ("乙.md", "扑飞灵"), ("丙.md", "三环唑")):
        (tmp_path / name).write_text(f"# 水稻{name}\n\n{product}在水稻上的安全间隔期为14天。\n", encoding="utf-8")
        list(ingester(fresh_store, words, embedder, extractor).add([tmp_path / name]))
    changed = FactExtractor(words.with_own([OwnWord("扑飞灵", "噻嗪酮", "product")]), extractor.attributes)
    read, real = [], FactExtractor.facts_of_document

    def counted(self, chunks, meta):
        read.append(meta.title)
        return real(self, chunks, meta)

    monkeypatch.setattr(FactExtractor, "facts_of_document", counted)
    follow_words(fresh_store, extractor.version, changed, {"扑飞灵"})
    assert read == ["水稻乙.md"]
    assert len(fresh_store.facts().of(subject="噻嗪酮")) == 2
    assert not refresh_facts(fresh_store, changed)


def test_facts_of_other_rules_are_left_to_be_made_anew_as_a_whole(fresh_store, words, embedder, extractor, path):
    list(ingester(fresh_store, words, embedder, None).add([path]))
    follow_words(fresh_store, extractor.version, extractor, {"噻嗪酮"})
    assert fresh_store.facts().select() == []
    assert refresh_facts(fresh_store, extractor)
