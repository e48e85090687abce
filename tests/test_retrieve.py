from dataclasses import replace

import numpy as np
import pytest
from answer_world import make_candidate, make_indexes
from hypothesis import given
from hypothesis import strategies as st

from nongda.answer.retrieve import candidates, fuse, rerank, retrieve
from nongda.answer.route import Part, Route
from nongda.answer.understand import understand
from nongda.records import Hit
from nongda.settings import AnswerSettings, SearchSettings


def hits(*ids: str) -> list[Hit]:
    return [Hit(i, 1.0) for i in ids]


def test_fusion_sums_reciprocal_ranks():
    fused = fuse({"bm25": hits("a", "b"), "dense": hits("b", "c")}, k=60)
    assert [h.chunk_id for h in fused] == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert fused[1].score == pytest.approx(1 / 61)


def test_ties_in_fusion_are_ordered_by_chunk_id():
    assert [h.chunk_id for h in fuse({"bm25": hits("z"), "dense": hits("a")}, k=60)] == ["a", "z"]


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_fusion_keeps_every_hit_once_and_the_order_of_the_rankings_does_not_matter(one, other):
    fused = fuse({"x": hits(*one), "y": hits(*other)}, k=60)
    assert {h.chunk_id for h in fused} == set(one) | set(other)
    assert len(fused) == len(set(one) | set(other))
    assert fused == fuse({"y": hits(*other), "x": hits(*one)}, k=60)


class Preferring:
    """Scores a passage by whether it holds a word."""

    def __init__(self, word: str) -> None:
        self.word = word

    def score(self, question, passages):
        return np.array([float(self.word in p) for p in passages], dtype=np.float32)


@pytest.fixture
def world(lexicon, embedder):
    candidates = [
        make_candidate(lexicon, "叶锈病的病斑在叶背，有橙黄色粉状孢子。", "aaaaaaaa#0"),
        make_candidate(lexicon, "炭疽病使枝条回枯。", "bbbbbbbb#0", "咖啡炭疽病"),
        make_candidate(lexicon, "采收红果，成熟一批采一批。", "cccccccc#0", "咖啡采收"),
    ]
    return make_indexes(candidates, lexicon, embedder)


def run(question, world, lexicon, embedder, reranker=None, mode="hybrid", settings=None):
    query = understand(question, [], lexicon, AnswerSettings())
    return list(retrieve(query, world, embedder, reranker, settings or SearchSettings(), mode))


def test_every_stage_reports_and_the_evidence_comes_with_fusion(world, lexicon, embedder):
    stages = run("叶锈病的孢子", world, lexicon, embedder)
    assert [s.name for s in stages] == ["bm25", "dense", "fuse", "rerank"]
    assert stages[2].candidates[0].chunk.id == "aaaaaaaa#0"
    assert stages[2].candidates[0].ranks == {"bm25": 1, "dense": 1}


def test_the_whole_ranking_is_told_beyond_what_is_kept(world, lexicon, embedder):
    stages = run("叶锈病的孢子", world, lexicon, embedder, settings=SearchSettings(keep=1))
    assert len(stages[2].candidates) == 1
    assert sorted(stages[2].ranking) == ["aaaaaaaa#0", "bbbbbbbb#0", "cccccccc#0"] == sorted(stages[-1].ranking)


def test_weights_move_the_fused_order_as_worked_out_by_hand():
    rankings = {"bm25": [Hit("a", 9.0), Hit("b", 8.0)], "dense": [Hit("b", 0.9), Hit("c", 0.8)]}
    found = {hit.chunk_id: hit.score for hit in fuse(rankings, 60, {"bm25": 2.0, "dense": 0.5})}
    assert found == pytest.approx({"a": 2 / 61, "b": 2 / 62 + 0.5 / 61, "c": 0.5 / 62})


@pytest.mark.parametrize(("name", "other"), [("bm25", "dense"), ("dense", "bm25")])
def test_a_weight_of_0_leaves_a_ranking_out_of_the_mix_but_not_out_of_its_own_mode(world, lexicon, embedder, name, other):
    without = SearchSettings(**{f"{name}_weight": 0.0})
    assert [s.name for s in run("叶锈病的孢子", world, lexicon, embedder, settings=without)] == [other, "fuse", "rerank"]
    alone = run("叶锈病的孢子", world, lexicon, embedder, mode=name, settings=without)
    assert [s.name for s in alone] == [name, "fuse", "rerank"]
    assert alone[1].candidates[0].chunk.id == "aaaaaaaa#0" and alone[1].candidates[0].score > 0


def test_the_reranker_decides_the_order(world, lexicon, embedder):
    stages = run("叶锈病的孢子", world, lexicon, embedder, Preferring("采收红果"))
    assert stages[-1].candidates[0].chunk.id == "cccccccc#0"


def test_equal_scores_keep_the_fused_order(world, lexicon, embedder):
    query = understand("叶锈病的孢子", [], lexicon, AnswerSettings())
    fused = run("叶锈病的孢子", world, lexicon, embedder)[2].candidates
    assert [c.chunk.id for c in rerank(query, fused, Preferring("没有的词"), SearchSettings())] == [c.chunk.id for c in fused]


@pytest.mark.parametrize("mode", ["bm25", "dense"])
def test_one_channel_alone_uses_no_other(world, lexicon, embedder, mode):
    stages = run("叶锈病的孢子", world, lexicon, embedder, mode=mode)
    assert [s.name for s in stages] == [mode, "fuse", "rerank"]
    assert all(set(c.ranks) == {mode} for c in stages[-1].candidates)


def test_the_same_text_of_one_source_appears_once(lexicon, embedder):
    twins = [make_candidate(lexicon, "叶锈病的孢子。", f"aaaaaaaa#{i}") for i in range(2)]
    found = run("叶锈病", make_indexes(twins, lexicon, embedder), lexicon, embedder)[-1].candidates
    assert len(found) == 1


def test_an_empty_knowledge_base_gives_no_candidates(lexicon, embedder):
    assert run("叶锈病", make_indexes([], lexicon, embedder), lexicon, embedder)[-1].candidates == ()


def test_a_part_of_the_question_is_searched_beside_it_and_finds_what_the_whole_did_not(world, lexicon, embedder):
    query = understand("叶锈病的孢子", [], lexicon, AnswerSettings())
    part = Part("采收 红果", ("采收", "红果"))
    settings = SearchSettings(candidates=1)
    alone = list(retrieve(query, world, embedder, None, settings, "bm25"))[-1]
    route = Route((part,), weights={"bm25/1": 2.0})
    both = list(retrieve(query, world, embedder, None, SearchSettings(dense_weight=0.0), route=route))[-1]
    assert alone.ranking == ("aaaaaaaa#0",)
    assert both.candidates[0].chunk.id == "cccccccc#0" and both.candidates[0].ranks["bm25/1"] == 1


def test_each_part_keeps_its_best_passages_behind_those_of_the_whole_question(world, lexicon, embedder):
    class ByShared:
        def score(self, question, passages):
            return np.array([float(sum(c in p for c in question)) for p in passages], dtype=np.float32)

    query = understand("叶锈病的孢子", [], lexicon, AnswerSettings())
    route = Route((Part("采收红果成熟", ("采收",)),), part_keep=1)
    last = list(retrieve(query, world, embedder, ByShared(), SearchSettings(keep=1), route=route))[-1]
    assert [c.chunk.id for c in last.candidates] == ["aaaaaaaa#0", "cccccccc#0"]
    assert last.candidates[1].scores["rerank/1"] == 6.0
    assert sorted(last.ranking) == ["aaaaaaaa#0", "bbbbbbbb#0", "cccccccc#0"]


def test_another_ranking_is_fused_with_its_weight_and_one_of_weight_0_is_not_asked_for(world, lexicon, embedder):
    query = understand("叶锈病的孢子", [], lexicon, AnswerSettings())
    asked = []

    def facts():
        asked.append(1)
        return hits("cccccccc#0")

    last = list(retrieve(query, world, embedder, None, SearchSettings(), route=Route(rankings={"facts": facts}, weights={"facts": 9.0})))
    assert [s.name for s in last] == ["bm25", "dense", "facts", "fuse", "rerank"]
    assert last[-1].candidates[0].chunk.id == "cccccccc#0"
    list(retrieve(query, world, embedder, None, SearchSettings(), route=Route(rankings={"facts": facts}, weights={"facts": 0.0})))
    assert len(asked) == 1


@pytest.fixture
def mixed(lexicon, embedder):
    """Two passages of the domain, and between them in the rankings one off topic."""
    found = [make_candidate(lexicon, text, f"{letter * 8}#0")
             for letter, text in (("a", "叶锈病的孢子随风传播。"), ("b", "第三章 叶锈病……17"), ("c", "炭疽病使枝条回枯。"))]
    found[1] = replace(found[1], chunk=replace(found[1].chunk, off_topic=True))
    return make_indexes(found, lexicon, embedder)


RANKINGS = {"bm25": hits("bbbbbbbb#0", "aaaaaaaa#0", "cccccccc#0"), "dense": hits("bbbbbbbb#0", "aaaaaaaa#0", "cccccccc#0")}


def test_a_passage_off_topic_counts_half_its_fused_score(mixed):
    found = candidates(RANKINGS, mixed, SearchSettings())
    assert [c.chunk.id[0] for c in found] == ["a", "c", "b"]  # 2/62, 2/63, and half of 2/61
    assert [c.score for c in found] == pytest.approx([2 / 62, 2 / 63, 1 / 61])
    assert [c.chunk.id[0] for c in candidates(RANKINGS, mixed, SearchSettings(off_topic_weight=1.0))] == ["b", "a", "c"]


def test_a_lowered_passage_is_cut_off_before_the_others(mixed):
    assert [c.chunk.id[0] for c in candidates(RANKINGS, mixed, SearchSettings(), most=2)] == ["a", "c"]


class Scoring:
    """Gives the scores it was made with, in the order of the passages."""

    def __init__(self, *scores: float) -> None:
        self.scores = scores

    def score(self, question, passages):
        return np.array(self.scores[: len(passages)], dtype=np.float32)


def test_reranking_leaves_a_passage_off_topic_half_of_what_it_has_over_the_least(mixed, lexicon):
    query = understand("叶锈病", [], lexicon, AnswerSettings())
    fused = candidates(RANKINGS, mixed, SearchSettings())  # a, c, b
    for a, c, b in ((0.5, 0.0, 0.75), (-3.0, -8.0, 0.0)):  # cosines, and log-odds below zero
        found = rerank(query, fused, Scoring(a, c, b), SearchSettings())
        assert [one.chunk.id[0] for one in found] == ["a", "b", "c"]
        assert found[1].score == pytest.approx(c + 0.5 * (b - c)) and found[1].scores["rerank"] == pytest.approx(b)
    assert rerank(query, [], Scoring(), SearchSettings()) == []
