"""Intervals and tests: against exact values where they can be worked out."""

from itertools import product

import numpy as np
import pytest

from nongda.evaluation.stats import Sample, bootstrap, cohen_kappa, holm, interval, permutation_p


def means(values):
    return Sample.of([(v, 1.0) for v in values])


def test_a_share_counts_only_the_questions_it_is_about():
    assert Sample.of([(1, 1), (0, 1), (0, 0)]).value == 0.5


def test_a_metric_of_no_question_is_not_a_number():
    assert np.isnan(Sample.of([(0, 0)]).value)
    assert np.isnan(Sample.of([]).value)


def test_the_interval_holds_the_normal_one_of_a_large_sample():
    values = np.random.default_rng(1).random(400)
    found = interval(means(values), np.random.default_rng(2))
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - half, abs=0.006)
    assert found.high == pytest.approx(values.mean() + half, abs=0.006)


def test_the_same_seed_gives_the_same_resamples():
    one = bootstrap(means([0, 1, 1, 0, 1]), np.random.default_rng(3), 200)
    assert np.array_equal(one, bootstrap(means([0, 1, 1, 0, 1]), np.random.default_rng(3), 200))
    assert not np.array_equal(one, bootstrap(means([0, 1, 1, 0, 1]), np.random.default_rng(4), 200))


def exact_p(one, other):
    """All 2^n ways to swap the pairs."""
    observed = abs(np.mean(one) - np.mean(other))
    shuffles = [abs(np.mean(np.where(keep, one, other)) - np.mean(np.where(keep, other, one)))
                for keep in product([True, False], repeat=len(one))]
    return np.mean([d >= observed - 1e-12 for d in shuffles])


def test_the_permutation_test_agrees_with_all_permutations():
    one, other = np.array([.9, .8, .7, .9, .6, .8]), np.array([.5, .9, .6, .4, .6, .3])
    assert permutation_p(means(one), means(other), np.random.default_rng(5), 20000) == pytest.approx(
        exact_p(one, other), abs=0.01)


def test_equal_systems_differ_with_p_1_and_the_least_p_is_1_in_n_plus_1():
    same = means([0.3, 0.5, 0.9])
    assert permutation_p(same, same, np.random.default_rng(6), 99) == 1
    assert permutation_p(means([1.0] * 60), means([0.0] * 60), np.random.default_rng(6), 99) == pytest.approx(1 / 100)


def test_false_alarms_are_as_rare_as_they_should_be():
    rng = np.random.default_rng(7)
    hits = sum(permutation_p(means(rng.random(30)), means(rng.random(30)), rng, 199) < 0.05 for _ in range(300))
    assert hits < 300 * 0.05 + 3 * np.sqrt(300 * 0.05 * 0.95)


def test_a_shuffle_that_leaves_one_side_without_a_case_counts_as_extreme():
    one, other = Sample.of([(1, 1), (0, 0)]), Sample.of([(0, 0), (0, 1)])  # one refusal each, one right and one wrong
    assert permutation_p(one, other, np.random.default_rng(8), 999) == 1


def test_p_values_are_adjusted_as_worked_out_by_hand():
    # sorted .01 .02 .03 .5: times 4, 3, 2, 1, and never falling
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([]) == [] and holm([0.9, 0.8]) == [1.0, 1.0]


def test_a_paired_test_needs_the_same_questions():
    with pytest.raises(ValueError, match="same questions"):
        permutation_p(means([1.0]), means([1.0, 0.0]), np.random.default_rng(8))


def test_kappa_as_worked_out_by_hand():
    # 3 of 4 agree; chance: a 2/4*3/4 + b 2/4*1/4 = 0.5
    assert cohen_kappa(list("aabb"), list("aaab")) == pytest.approx((0.75 - 0.5) / 0.5)
    assert cohen_kappa(list("aaa"), list("aaa")) == 1
