"""A station's own words in the knowledge base: only the passages that write them change, all at once."""

import numpy as np
import pytest

from nongda.errors import StoreError
from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer
from nongda.index.reword import keep_own_words, passage, search_tokens, set_own_words
from nongda.index.store import Store
from nongda.language.own_words import OwnWord
from nongda.settings import ChunkSettings

TIGER, BEETLE = OwnWord("虎皮病", "叶锈病", "disease"), OwnWord("大黄", "天牛", "pest")


@pytest.fixture
def store(fresh_store, lexicon, embedder, tmp_path):
    for name, text in (("锈.md", "# 虎皮病\n\n叶背有橙黄色粉末，落叶。\n"), ("虫.md", "# 天牛\n\n成虫五月出现，在树干上产卵。\n")):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        list(Ingester(Preparer(fresh_store, lexicon, embedder, None, ChunkSettings())).add([path]))
    return fresh_store


def content(store):
    return [(c.id, c.text, c.search_text, dict(store.tokens())[c.id]) for d in store.documents() for c in store.chunks_of(d.id)]


def keep(store, lexicon, embedder, *words: OwnWord, embedded: list | None = None) -> int:
    def embed(texts):
        if embedded is not None:
            embedded.extend(texts)
        return embedder.embed_passages(texts)

    return keep_own_words(store, words, lexicon.with_own(words), embed)


def test_only_the_passages_that_write_a_new_word_are_made_anew(store, lexicon, embedder):
    before, revision, embedded = content(store), store.revision(), []
    vectors = store.vectors(64)[2]
    assert keep(store, lexicon, embedder, TIGER, embedded=embedded) == 1
    after = content(store)
    assert after[0][:3] == (before[0][0], before[0][1], before[0][2].replace("虎皮病", "叶锈病"))
    assert {"叶锈病", "虎皮病"} <= set(after[0][3])
    assert after[1] == before[1]
    assert embedded == [after[0][2]]
    new = store.vectors(64)[2]
    assert np.array_equal(new[0], embedder.embed_passages(embedded)[0])
    assert np.array_equal(new[1], vectors[1])
    assert (store.revision(), store.own_words()) == (revision + 1, [TIGER])


def test_a_word_taken_away_leaves_everything_as_it_was(store, lexicon, embedder):
    before, vectors = content(store), store.vectors(64)[2]
    keep(store, lexicon, embedder, TIGER, BEETLE)
    assert keep(store, lexicon, embedder) == 1
    assert content(store) == before
    assert np.array_equal(store.vectors(64)[2], vectors)
    assert store.own_words() == []


def test_words_that_no_passage_writes_need_no_embedding(store, lexicon, embedder):
    before = content(store)
    assert keep_own_words(store, [BEETLE], lexicon.with_own([BEETLE]), embed=lambda texts: pytest.fail("embedded")) == 0
    assert content(store) == before


def test_an_error_while_writing_leaves_words_and_passages_as_they_were(store, lexicon, embedder):
    before, revision = content(store), store.revision()
    with pytest.raises(ValueError, match="zip"):
        keep_own_words(store, [TIGER], lexicon.with_own([TIGER]), lambda texts: embedder.embed_passages([*texts, "多"]))
    assert (content(store), store.revision(), store.own_words()) == (before, revision, [])


def test_words_and_passages_are_written_together_or_not_at_all(store, lexicon, embedder, monkeypatch):
    before = content(store)
    count = store.count_revision
    monkeypatch.setattr(store, "count_revision", lambda: (count(), 1 / 0))
    with pytest.raises(ZeroDivisionError):
        keep(store, lexicon, embedder, TIGER)
    assert (content(store), store.own_words()) == (before, [])


def test_a_document_added_meanwhile_by_another_process_is_made_anew_too(store, lexicon, embedder, tmp_path):
    other, late = Store(store.folder), tmp_path / "晚.md"
    late.write_text("# 晚到\n\n虎皮病在雨季最重。\n", encoding="utf-8")
    calls = []

    def embed(texts):
        if not calls:
            list(Ingester(Preparer(other, lexicon, embedder, None, ChunkSettings())).add([late]))
        calls.append(texts)
        return embedder.embed_passages(texts)

    assert keep_own_words(store, [TIGER], lexicon.with_own([TIGER]), embed) == 2
    assert [len(texts) for texts in calls] == [1, 2]
    assert all("虎皮病" not in search_text for _, _, search_text, _ in content(store))
    other.close()


def test_a_folder_that_changes_all_the_time_is_told_in_words(store, lexicon, embedder):
    other = Store(store.folder)

    def embed(texts):
        set_own_words(other, [], [], other.revision())
        return embedder.embed_passages(texts)

    with pytest.raises(StoreError, match="正被另一个程序改动"):
        keep_own_words(store, [TIGER], lexicon.with_own([TIGER]), embed)
    assert store.own_words() == []
    other.close()


def test_a_read_only_folder_is_told_before_anything_is_made(store, lexicon, monkeypatch):
    monkeypatch.setattr(store, "read_only", True)
    with pytest.raises(StoreError, match="只读"):
        keep_own_words(store, [TIGER], lexicon.with_own([TIGER]), lambda texts: pytest.fail("embedded"))


def test_a_question_that_wants_the_word_as_written_finds_the_passage(store, lexicon, embedder):
    keep(store, lexicon, embedder, TIGER)
    asked = lexicon.with_own([TIGER]).without(["虎皮病"]).tokens("虎皮病怎么治")
    holders = [chunk_id for chunk_id, tokens in store.tokens() if set(asked) & set(tokens)]
    assert holders == [content(store)[0][0]]


def test_tokens_are_those_of_the_search_text_and_the_aliases_as_written(lexicon):
    written = passage("洋芋", ("防治",), "锈病喷药")
    assert written == "洋芋 防治\n锈病喷药"
    canonical = lexicon.canonical(written)
    assert search_tokens(written, canonical, lexicon) == (*lexicon.tokens(canonical), "洋芋", "锈病")
