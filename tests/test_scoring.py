"""Scores of single answers; and the broken systems that they have to give away."""

import dataclasses

import numpy as np
import pytest
from gold_world import real_values

from nongda.evaluation.dataset import GoldEvidence, GoldQuestion, Passage
from nongda.evaluation.scoring import METRICS, Outcome, error_kind, score
from nongda.evaluation.stats import Sample, permutation_p

VALUES = real_values()
QUESTION = GoldQuestion("q", "dev", "coffee-pests", "numeric", "叶锈病隔多久喷一次", True,
                        evidence=(GoldEvidence((Passage("咖啡/a.md", "…"),)), GoldEvidence((Passage("咖啡/a.md", "…"),))),
                        must=("2～3个星期", "波尔多液"), must_not=("7天", "三唑酮"))
EVIDENCE = [frozenset({"aaaaaaaa#1", "aaaaaaaa#5"}), frozenset({"aaaaaaaa#2"})]
CROPS = {"aaaaaaaa": "咖啡", "bbbbbbbb": "水稻", "cccccccc": ""}
RIGHT = Outcome("波尔多液每隔2～3周喷一次[aaaaaaaa#1]。", False, ("aaaaaaaa#1", "aaaaaaaa#2"),
                ("bbbbbbbb#1", "aaaaaaaa#5", "aaaaaaaa#2"), {"total": 2.5})


def value(outcome, metric, question=QUESTION):
    numerator, denominator = score(question, outcome, EVIDENCE, CROPS, VALUES).metrics[metric]
    return numerator / denominator if denominator else None


def test_a_right_answer_has_full_marks():
    for metric in ("citation_f1", "document_f1", "correct", "completeness", "numeric_accuracy"):
        assert value(RIGHT, metric) == 1, metric
    for metric in ("wrong_number", "wrong_name", "wrong_subject", "wrongly_refused"):
        assert value(RIGHT, metric) == 0, metric
    assert (value(RIGHT, "recall@1"), value(RIGHT, "recall@3"), value(RIGHT, "mrr@10")) == (0, 1, 0.5)
    assert value(RIGHT, "seconds") == 2.5


def test_half_of_what_must_be_held_is_incomplete_and_not_correct():
    outcome = dataclasses.replace(RIGHT, text="每隔2～3周喷一次。")
    assert (value(outcome, "completeness"), value(outcome, "correct")) == (0.5, 0)


def test_anothers_number_is_a_wrong_number_and_anothers_name_a_wrong_name():
    number = dataclasses.replace(RIGHT, text=RIGHT.text + "也可以7天一次。")
    assert (value(number, "wrong_number"), value(number, "correct"), value(number, "numeric_accuracy")) == (1, 0, 0)
    name = dataclasses.replace(RIGHT, text=RIGHT.text + "也可以用三唑酮。")
    assert (value(name, "wrong_number"), value(name, "wrong_name"), value(name, "correct")) == (0, 1, 0)
    assert value(name, "numeric_accuracy") == 1  # a wrong name spoils no number


def test_wrong_values_count_among_the_questions_that_have_one_to_fall_for():
    none = dataclasses.replace(QUESTION, must_not=())
    assert value(RIGHT, "wrong_number", none) is None and value(RIGHT, "wrong_name", none) is None
    trap = GoldQuestion("u", "dev", "rice", "unanswerable", "水稻褐斑病隔几天喷药", False, must_not=("7天",))
    assert score(trap, dataclasses.replace(RIGHT, text="隔7天"), [], CROPS, VALUES).metrics["wrong_number"] == (1, 1)
    assert score(trap, Outcome("未找到", True, (), (), {}), [], CROPS, VALUES).metrics["wrong_number"] == (0, 1)


def test_a_missing_name_spoils_no_number_and_a_question_without_time_counts_for_no_speed():
    outcome = dataclasses.replace(RIGHT, text="每隔2～3周喷一次。", timings={})
    assert (value(outcome, "numeric_accuracy"), value(outcome, "correct")) == (1, 0)
    assert value(outcome, "seconds") is None


@pytest.mark.parametrize(("cited", "wrong"), [("bbbbbbbb#1", 1), ("cccccccc#1", 0)])
def test_citing_another_crop_is_a_wrong_subject_but_a_document_for_all_crops_is_not(cited, wrong):
    assert value(dataclasses.replace(RIGHT, cited=(*RIGHT.cited, cited)), "wrong_subject") == wrong


def test_a_refusal_of_an_answerable_question_is_wrong_and_scores_no_citation():
    refused = Outcome("未找到", True, (), (), {})
    assert (value(refused, "citation_f1"), value(refused, "correct"), value(refused, "wrongly_refused")) == (0, 0, 1)
    assert value(refused, "refusal_precision") == 0
    assert value(refused, "wrong_number") == 0
    assert value(refused, "refusal_recall") is None


def test_an_unanswerable_question_counts_for_refusals_only():
    nothing = GoldQuestion("u", "dev", "coffee-pests", "unanswerable", "茶饼病用什么药", False)
    refused = score(nothing, Outcome("未找到", True, (), (), {}), [], CROPS, VALUES).metrics
    assert refused["refusal_recall"] == (1, 1) and refused["refusal_precision"] == (1, 1)
    answered = score(nothing, RIGHT, [], CROPS, VALUES).metrics
    assert answered["refusal_recall"] == (0, 1) and answered["refusal_precision"] == (0, 0)
    assert answered["citation_f1"] == (0, 0)
    assert tuple(answered) == METRICS


@pytest.mark.parametrize(("cited", "kind"), [
    ((), "no citation"), (("bbbbbbbb#1",), "wrong document"), (("aaaaaaaa#9", "bbbbbbbb#1"), "wrong chunk"),
    (("aaaaaaaa#1",), "missing evidence"), (("aaaaaaaa#1", "aaaaaaaa#2", "bbbbbbbb#1"), ""),
])  # fmt: skip
def test_the_gravest_error_gives_the_kind(cited, kind):
    assert error_kind(cited, EVIDENCE) == kind


def many(change):
    """Twelve questions of one chunk each, answered by a system that is changed by `change`."""
    rng = np.random.default_rng(11)
    pairs: dict[str, list[tuple[float, float]]] = {}
    for number in range(12):
        chunk = f"aaaaaaaa#{number}"
        others = [f"aaaaaaaa#{number + 20 + i}" for i in range(9)]
        outcome = change(Outcome("2～3个星期用波尔多液", False, (chunk,), (chunk, *others), {}), rng)
        metrics = score(QUESTION, outcome, [frozenset({chunk})], CROPS, VALUES).metrics
        for name, pair in metrics.items():
            pairs.setdefault(name, []).append(pair)
    return {name: Sample.of(found) for name, found in pairs.items()}


def shuffled(outcome, rng):
    return dataclasses.replace(outcome, ranking=tuple(rng.permutation(outcome.ranking)))


def off_by_one(outcome, rng):
    doc, position = outcome.cited[0].split("#")
    return dataclasses.replace(outcome, cited=(f"{doc}#{int(position) + 1}",))


def test_shuffled_ranks_and_citations_off_by_one_are_caught():
    sound = many(lambda outcome, rng: outcome)
    for broken, metric in ((shuffled, "mrr@10"), (shuffled, "recall@1"), (off_by_one, "citation_f1")):
        found = many(broken)[metric]
        assert found.value < sound[metric].value - 0.4
        assert permutation_p(sound[metric], found, np.random.default_rng(1)) < 0.05
    assert many(off_by_one)["document_f1"].value == 1  # the document is right, only the passage is not
