"""Formulas against values worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.evaluation.metrics import PRF, citation_prf, evidence_recall, ndcg, recall, reciprocal_rank

IDS = st.sampled_from([f"{i:08x}#{j}" for i in range(3) for j in range(4)])


def test_citations_are_right_when_they_prove_something_and_evidence_is_found_when_it_is_proved():
    # cited a, b, x: two of three prove something; evidence {a}, {c}: one of two is proved
    prf = citation_prf(["a", "b", "x"], [{"a", "b"}, {"c"}])
    assert (prf.precision, prf.recall) == (pytest.approx(2 / 3), pytest.approx(1 / 2))
    assert prf.f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))


def test_two_citations_of_the_same_passage_count_once():
    assert citation_prf(["a", "a", "x"], [{"a"}]) == PRF(0.5, 1.0)


def test_citing_nothing_scores_nothing():
    assert citation_prf([], [{"a"}]).f1 == 0


def test_citing_one_of_two_equivalent_passages_is_enough():
    assert citation_prf(["b"], [{"a", "b"}]).f1 == 1


@given(st.lists(IDS, max_size=6), st.lists(st.sets(IDS, min_size=1, max_size=3), min_size=1, max_size=3))
def test_scores_lie_between_0_and_1_and_are_1_only_when_all_is_proved_by_nothing_else(cited, evidence):
    prf = citation_prf(cited, evidence)
    assert 0 <= min(prf.precision, prf.recall) <= prf.f1 <= max(prf.precision, prf.recall) <= 1
    everything = set().union(*evidence)
    perfect = bool(cited) and set(cited) <= everything and all(piece & set(cited) for piece in evidence)
    assert (prf.f1 == 1) == perfect


def test_recall_of_evidence_counts_pieces_within_the_first_k():
    assert evidence_recall(["x", "a", "y", "c"], [{"a", "b"}, {"c"}], 2) == 0.5
    assert evidence_recall(["x", "a", "y", "c"], [{"a", "b"}, {"c"}], 4) == 1


def test_reciprocal_rank_is_that_of_the_first_relevant_one_within_k():
    assert reciprocal_rank(["x", "y", "a", "b"], {"a", "b"}, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x", "y", "a"], {"a"}, 2) == 0


def test_recall_of_passages():
    assert recall(["a", "x", "b"], {"a", "b", "c"}, 3) == pytest.approx(2 / 3)


def test_ndcg_as_worked_out_by_hand():
    # gains 0, 2, 1 found at ranks 1..3; the best order would be 2, 1
    found = 2 / math.log2(3) + 1 / math.log2(4)
    ideal = 2 / math.log2(2) + 1 / math.log2(3)
    assert ndcg(["x", "b", "a"], {"a": 1, "b": 2}, 10) == pytest.approx(found / ideal)
    assert ndcg(["b", "a"], {"a": 1, "b": 2}, 10) == pytest.approx(1)
    assert ndcg(["b"], {}, 10) == 0
