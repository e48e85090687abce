
import numpy as np
import pytest
from answer_world import make_candidate
from conftest import HashEmbedder

from nongda.evaluation.calibrate import best_cut, chunk_cut, cite_threshold, explain, gate_cut
from nongda.evaluation.dataset import GoldQuestion
from nongda.records import Turn


def test_the_cut_separates_two_groups_midway_between_them():
    cut = best_cut("x", [0.9, 0.8], [0.2, 0.4])
    assert cut.value == pytest.approx(0.6)
    assert (cut.kept, cut.rejected) == (1.0, 1.0)


def test_groups_that_overlap_are_cut_where_fewest_are_wrong():
    cut = best_cut("x", [0.9, 0.8, 0.3], [0.1, 0.2, 0.85])
    assert cut.value == pytest.approx(0.25)
    assert (cut.kept, round(cut.rejected, 3)) == (1.0, 0.667)


def test_a_choice_is_explained_with_sizes_medians_and_shares():
    words = explain(best_cut("answer.x", [0.9, 0.8], [0.2, 0.4]), "好", "坏")
    assert words.splitlines()[0] == "answer.x = 0.600"
    assert "好：2 个，中位数 0.850，不低于该值的占 100.0%" in words
    assert "坏：2 个，中位数 0.300，低于该值的占 100.0%" in words


def test_sentences_across_a_heading_are_told_from_neighbours(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("# 甲\n\n## 一\n\n咖啡叶锈病。咖啡叶锈病害。\n\n## 二\n\n水洗发酵池。水洗发酵池子。\n", encoding="utf-8")
    cut = chunk_cut([path], HashEmbedder())
    assert cut.above.size == 2 and cut.below.size == 1
    assert cut.above.min() > cut.value > cut.below.max()


def test_clauses_are_supported_by_their_own_passage_more_than_by_others(lexicon, embedder):
    one = make_candidate(lexicon, "咖啡叶锈病发生在叶片背面，橙黄色粉状孢子堆很明显。", "aaaaaaaa#0")
    two = make_candidate(lexicon, "水洗加工需要发酵脱胶池子，清水反复冲洗到豆壳粗糙。", "bbbbbbbb#0", "咖啡加工")
    cut = cite_threshold([one, two], embedder, lexicon)
    assert np.median(cut.above) > np.median(cut.below)
    assert (cut.kept, cut.rejected) == (1.0, 1.0)


def test_the_gates_cut_parts_answerable_questions_from_others_each_in_its_conversation():
    rows = [("甲", True), ("乙", True), ("丙", False), ("丁", False)]
    questions = [GoldQuestion(q, "dev", "rice", "single", q, a) for q, a in rows]
    questions.append(GoldQuestion("e", "dev", "rice", "follow_up", "戊", True, (Turn("user", "甲"),)))
    worth = {"甲": 1.5, "乙": 0.3, "丙": -0.5, "丁": -2.0}
    cut = gate_cut(questions, lambda question, history: worth[history[0].content if history else question])
    assert cut.name == "answer.gate" and cut.value == pytest.approx(-0.1)
    assert sorted(cut.above) == [0.3, 1.5, 1.5] and sorted(cut.below) == [-2.0, -0.5]
