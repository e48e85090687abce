"""BM25 against rank-bm25, and sane values where that has none."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from nongda.index.lexical import LexicalIndex, okapi_idf

WORDS = st.sampled_from(["咖啡", "叶锈病", "三唑酮", "喷", "30g", "修剪", "施肥", "采收"])
CORPORA = st.lists(st.lists(WORDS, max_size=12), min_size=1, max_size=30)


def index(*documents: str, k1: float = 1.5, b: float = 0.75) -> LexicalIndex:
    return LexicalIndex([(f"d#{i}", text.split()) for i, text in enumerate(documents)], k1, b)


def ranking(hits):
    return [hit.chunk_id for hit in hits]


@settings(deadline=None)
@given(CORPORA.filter(any), st.lists(WORDS, max_size=5))
def test_scores_equal_rank_bm25_where_its_idf_is_positive(corpus, query):
    oracle = BM25Okapi(corpus, k1=1.5, b=0.75)
    containing = {t: sum(t in document for document in corpus) for t in query}
    query = [t for t in query if not containing[t] or math.log(len(corpus) - containing[t] + 0.5)
             > math.log(containing[t] + 0.5)]
    expected = {f"d#{row}": score for row, score in enumerate(oracle.get_scores(query)) if score > 0}
    hits = LexicalIndex([(f"d#{i}", tokens) for i, tokens in enumerate(corpus)], 1.5, 0.75).search(query, len(corpus))
    assert {hit.chunk_id: hit.score for hit in hits} == pytest.approx(expected, abs=1e-6)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))


def test_a_score_worked_out_by_hand():
    # N = 3, n = 1: idf = ln(2.5 / 1.5); lengths 2, 1, 3, mean 2; tf = 2, norm = 1.5 * (0.25 + 0.75 * 3 / 2)
    (hit,) = index("咖啡 修剪", "采收", "锈病 锈病 咖啡").search(["锈病"], 5)
    assert hit.chunk_id == "d#2"
    assert hit.score == pytest.approx(math.log(2.5 / 1.5) * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 1.5)))


def test_the_constants_are_those_of_the_settings():
    documents = ("锈病", "锈病 锈病 咖啡 施肥 修剪", "采收", "修剪", "施肥")
    without_length = index(*documents, b=0.0).search(["锈病"], 2)
    assert ranking(without_length) == ["d#1", "d#0"]
    assert ranking(index(*documents, b=1.0).search(["锈病"], 2)) == ["d#0", "d#1"]
    without_counts = index(*documents, k1=0.0).search(["锈病"], 2)
    assert without_counts[0].score == pytest.approx(without_counts[1].score)


def test_an_empty_corpus_finds_nothing():
    assert len(index()) == 0
    assert index().search(["咖啡"], 10) == []


def test_a_single_chunk_is_found():
    (hit,) = index("咖啡 叶锈病").search(["叶锈病"], 10)
    assert hit.score > 0
    assert index("咖啡 叶锈病").search(["水稻"], 10) == []


@pytest.mark.parametrize("size", [2, 4])
def test_in_a_tiny_corpus_the_chunk_that_speaks_of_it_comes_first(size):
    documents = ["咖啡 叶锈病", "咖啡 采收", "咖啡 施肥", "咖啡 修剪"][:size]
    hits = index(*documents).search(["咖啡", "叶锈病"], 10)
    assert hits[0].chunk_id == "d#0"
    assert len(hits) == size
    assert all(hit.score > 0 for hit in hits)


@pytest.mark.parametrize("blanks", [1, 3])
def test_blank_chunks_are_never_found_and_do_no_harm(blanks):
    blank = LexicalIndex([(f"d#{i}", [] if i % 2 else [""]) for i in range(blanks)], 1.5, 0.75)
    assert blank.search(["咖啡"], 10) == []
    assert blank.search([""], 10) == []
    assert ranking(index("", "咖啡", "").search(["咖啡"], 10)) == ["d#1"]


@pytest.mark.parametrize("containing", [2, 3, 4])
def test_a_word_in_half_or_all_chunks_has_a_small_positive_score(containing):
    documents = ["咖啡 修剪" if i < containing else "水稻 修剪" for i in range(4)]
    common = index(*documents).search(["咖啡"], 10)
    assert len(common) == containing
    assert all(0 < hit.score < 0.01 for hit in common)


@settings(deadline=None)
@given(st.integers(1, 2000).flatmap(lambda total: st.tuples(st.just(total), st.integers(1, total), st.integers(1, total))))
def test_a_rarer_word_weighs_more_and_every_word_weighs_something(case):
    total, one, other = case
    rare, common = sorted((one, other))
    assert okapi_idf(common, total) > 0
    if rare < common:
        assert okapi_idf(rare, total) > okapi_idf(common, total)


def test_a_rare_word_decides_over_a_common_one():
    documents = ["咖啡 咖啡 咖啡"] * 5 + ["叶锈病 采收 施肥", "采收 施肥", "修剪", "修剪"]
    assert index(*documents).search(["咖啡", "叶锈病"], 1)[0].chunk_id == "d#5"


@pytest.mark.parametrize("query", [[], [""], ["没有的词"]])
def test_a_query_without_a_known_word_finds_nothing(query):
    assert index("咖啡 叶锈病", "水稻").search(query, 10) == []


def test_ties_are_in_the_order_of_ids_and_k_limits_the_list():
    hits = index("咖啡", "咖啡", "咖啡", "水稻 修剪").search(["咖啡"], 2)
    assert ranking(hits) == ["d#0", "d#1"]
    assert index("咖啡").search(["咖啡"], 0) == []


def test_a_word_asked_twice_counts_twice():
    chunks = index("叶锈病", "采收", "修剪")
    once, twice = (chunks.search(["叶锈病"] * n, 1)[0].score for n in (1, 2))
    assert twice == pytest.approx(2 * once)
