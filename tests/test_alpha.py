"""BM25's share in the fusion: curves worked out by hand, and a rule only where it lasts on other topics."""

import numpy as np
import pytest

from nongda.evaluation.alpha import ALPHAS, EVEN, FOLDS, METRICS, Ranked, Rule, Table, p_values, swept
from nongda.evaluation.alpha_report import curve_table, groups, rule_part, write_page


def ranked(topic="a", words=10, rarity=4.0, bm25=("x",), dense=("y",), evidence=("x",)):
    return Ranked(topic, words, rarity, tuple(bm25), tuple(dense), (frozenset(evidence),))


def test_alpha_is_the_share_of_bm25_from_none_to_all():
    found = swept(ranked(bm25=("x",), dense=("y",)), 60)
    assert ALPHAS[0] == 0 and ALPHAS[EVEN] == 0.5 and ALPHAS[-1] == 1 and found.shape == (21, len(METRICS))
    reciprocal = found[:, METRICS.index("mrr@10")]
    assert reciprocal[0] == 0  # BM25 is not asked, nothing proves
    assert (reciprocal[1:EVEN] == 0.5).all()  # second behind dense
    assert (reciprocal[EVEN:] == 1.0).all()  # at 0.5 both are alike and the ids decide: x before y


def test_recall_is_of_the_pieces_and_of_the_depth():
    pieces = (frozenset({"d05"}), frozenset({"d11", "other"}))
    found = swept(Ranked("a", 1, 1.0, (), tuple(f"d{n:02}" for n in range(1, 31)), pieces), 60)[0]
    assert found.tolist() == [0.5, 1.0, pytest.approx(1 / 5), 1.0]


def table(short_gain=True, topics=10, each=6):
    """Questions of 5 words that only dense answers, of 30 words that only BM25 answers."""
    found = []
    for topic in range(topics):
        for n in range(each):
            short = n % 2 == 0
            far = tuple(f"f{i}" for i in range(12))
            right = ("gold", *far) if short and short_gain else ("gold",)
            bm25, dense = (far, right) if short and short_gain else (("gold",), far) if short_gain else (right, right)
            found.append(ranked(f"t{topic}", 5 if short else 30, 2.0 + n % 3, bm25, dense, ("gold",)))
    return Table.of(found, 60)


def test_a_rule_that_holds_everywhere_is_learned_and_measured_on_topics_it_has_not_seen():
    found = table()
    rule = found.learned(np.ones(60, dtype=bool))
    assert rule.feature == "words" and rule.most == 5 and ALPHAS[rule.place] < 0.5
    places, rules = found.unseen()
    assert len(rules) == FOLDS and (places[::2] < EVEN).all() and (places[1::2] == EVEN).all()
    assert found.at(places).mean() > found.gains[:, EVEN].mean()
    assert min(p_values(found.gains[:, EVEN], found.at(places), 1)) < 0.01
    assert "questions of at most 5 words" in str(rule)


def test_where_both_searches_find_the_same_there_is_no_rule():
    found = table(short_gain=False)
    assert found.learned(np.ones(60, dtype=bool)) == Rule()
    places, _ = found.unseen()
    assert (places == EVEN).all() and str(Rule()) == "no rule: 0.5 for all"
    assert p_values(found.gains[:, EVEN], found.at(places), 1) == [1.0] * len(METRICS)


def test_a_rule_that_only_one_topic_needs_does_not_pass_for_the_others():
    plain = [ranked(f"t{n % 4}", 20, 3.0, ("gold",), ("gold",), ("gold",)) for n in range(200)]
    odd = [ranked("t9", 5, 3.0, ("far",), ("gold",), ("gold",)) for _ in range(20)]
    found = Table.of([*plain, *odd], 60)
    assert found.learned(np.ones(220, dtype=bool)).feature == "words"
    places, rules = found.unseen()
    own = [rule for rule, fold in zip(rules, sorted(set(found.folds.tolist())), strict=True) if fold == found.folds[-1]]
    assert own == [Rule()] and (places[200:] == EVEN).all()  # learned without that topic, there is nothing to learn


def test_halves_of_the_questions_by_words_and_rarity_are_whole_together():
    found = groups(table())
    names = list(found)
    assert names[:3] == ["all", "at most 18 words", "over 18 words"]
    assert (found[names[1]] ^ found[names[2]]).all() and (found[names[3]] ^ found[names[4]]).all()


def test_the_page_says_what_the_rule_is_worth_and_is_the_same_again(tmp_path):
    few = [ranked(f"t{n % 5}", 5 + n, 2.0 + n / 10, ("gold", "far"), ("far", "gold"), ("gold",)) for n in range(20)]
    pages = [write_page(tmp_path / name, few, {"cmrc": few}, 60, 7) for name in ("one", "two")]
    text = pages[0].read_text(encoding="utf-8")
    assert "20 answerable dev questions" in text and "## Public set cmrc (20 queries)" in text
    assert "| 0.00 | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] | 0.500 [0.500, 0.500] |" in text
    assert text.count("without fold") == 2 * FOLDS
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert names == {"fusion-alpha.md", "fusion-alpha-recall.svg", "fusion-alpha-mrr.svg"}
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_significant_gain_is_called_one_and_none_is_not():
    assert "Significantly better than 0.5 for all: recall@5, recall@12, mrr@10; worse: nothing" in rule_part(table(), 1)
    assert "better than 0.5 for all: nothing; worse: nothing" in rule_part(table(short_gain=False), 1)
    assert curve_table(table(), np.ones(60, dtype=bool), 1).count("\n") == 1 + 11
