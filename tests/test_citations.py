import numpy as np
import pytest
from answer_world import make_candidate

from nongda.evaluation.citations import CitationCurve, citation_curve, write_citation_report


def test_the_curve_counts_citations_of_the_own_passage_as_right(lexicon, embedder):
    one = make_candidate(lexicon, "咖啡叶锈病发生在叶片背面，橙黄色粉状孢子堆很明显。", "aaaaaaaa#0")
    two = make_candidate(lexicon, "水洗加工需要发酵脱胶池子，清水反复冲洗到豆壳粗糙。", "bbbbbbbb#0", "咖啡加工")
    curve = citation_curve([one, two], embedder, lexicon)
    assert curve.clauses == 4
    assert curve.recall[0] == 1.0 and curve.precision[0] == 0.5  # at 0 each is cited twice, once without its document
    assert curve.f1[curve.best] == 1.0 and 0 < curve.thresholds[curve.best] < 1
    assert (np.diff(curve.recall) <= 0).all()


def test_of_several_best_thresholds_the_middle_one_is_chosen():
    places = np.linspace(0, 1, 5)
    curve = CitationCurve(places, np.array([0.5, 1, 1, 1, 1]), np.array([1, 1, 1, 1, 0.1]), 4)
    assert curve.thresholds[curve.best] == 0.5
    assert curve.f1[0] == pytest.approx(2 / 3)


def test_the_report_names_the_choice_and_has_its_figure(tmp_path):
    places = np.linspace(0, 1, 101)
    curve = CitationCurve(places, places, 1 - places, 12)
    write_citation_report(curve, "multilingual-e5-small", 0.708, tmp_path)
    text = (tmp_path / "citation-threshold.md").read_text(encoding="utf-8")
    assert "Highest F1 0.500 at **0.50** (in use: 0.708)" in text
    assert "| 0.71 | 0.710 | 0.290 | 0.412 |" in text and "(citation-threshold.svg)" in text
    assert (tmp_path / "citation-threshold.svg").read_text(encoding="utf-8").startswith("<svg ")
