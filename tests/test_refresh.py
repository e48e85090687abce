"""Facts follow the rules and words in force, whoever made those that are stored."""

import pytest
from conftest import ROOT

from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer
from nongda.index.rebuilding import rebuild, take_over
from nongda.index.refresh import refresh_facts
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
