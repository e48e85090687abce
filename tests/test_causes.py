"""Every missed question has one cause, the first thing that was not there, and a line of its own."""

import pytest

from nongda.evaluation import causes
from nongda.evaluation.causes import cause, missed, proves
from nongda.evaluation.scoring import METRICS


def record(**changes):
    """A missed answer whose passage and sentence were right; `metrics` are those that are not 0 of 1."""
    metrics = {name: [0.0, 1.0] for name in METRICS} | changes.pop("metrics", {})
    return {
        "id": "rice-d01", "question": "稻瘟病几天喷一次？", "answerable": True, "refused": False, "failed": "", "metrics": metrics,
        "ranking": ["aaaaaaaa#1", "aaaaaaaa#2", "bbbbbbbb#1"], "cited": ["aaaaaaaa#1"], "evidence": [["aaaaaaaa#1"]],
        "quoted": [True], "missing": ["3天|三天"], "false": [], "answer": "每5天一次[aaaaaaaa#1]。", "answer_kind": "quoted", **changes,
    }


RIGHT = {"correct": [1.0, 1.0]}


@pytest.mark.parametrize(("changes", "expected"), [
    ({}, causes.NO_VALUE),
    ({"metrics": RIGHT}, ""),
    ({"metrics": {**RIGHT, "wrong_subject": [1.0, 1.0]}}, causes.WRONG_CROP),
    ({"quoted": [True, False], "evidence": [["aaaaaaaa#1"], ["aaaaaaaa#2"]]}, causes.NO_SENTENCE),
    ({"evidence": [["aaaaaaaa#1"], ["bbbbbbbb#1"]]}, causes.NO_PASSAGE),  # the third, of two that were looked at
    ({"evidence": [["aaaaaaaa#2", "bbbbbbbb#1"]]}, causes.NO_VALUE),  # one of two that prove the same is enough
    ({"false": ["5天"], "evidence": [["cccccccc#1"]]}, causes.WRONG_VALUE),  # the gravest first
    ({"metrics": {"wrong_name": [1.0, 1.0]}}, causes.WRONG_VALUE),
    ({"refused": True}, causes.REFUSED),
    ({"answer_kind": "question"}, causes.ASKED_BACK),
    ({"failed": "模型出错"}, causes.FAILED),
    ({"answerable": False, "evidence": []}, causes.UNANSWERABLE),
    ({"answerable": False, "refused": True}, ""),
    ({"answerable": False, "answer_kind": "question"}, causes.ASKED_BACK),
])
def test_the_first_thing_that_is_not_there_is_the_cause(changes, expected):
    assert cause(record(**changes), looked_at=2) == expected
    assert expected in ("", *causes.CAUSES)


def test_an_old_record_counts_the_cited_passage_for_the_chosen_sentence():
    old = {key: value for key, value in record().items() if key not in ("quoted", "missing", "false", "answer_kind")}
    assert cause(old, 2) == causes.NO_VALUE
    assert cause({**old, "cited": ["aaaaaaaa#2"]}, 2) == causes.NO_SENTENCE
    assert "wanted –" in missed([old], 2)


def test_missed_questions_are_counted_and_listed_by_cause():
    right, refused = record(metrics=RIGHT), record(id="rice-d02", refused=True, answer="资料里没有。")
    text = missed([record(), record(id="rice-d03"), right, refused], looked_at=2)
    assert text.startswith("## Missed questions: 3 of 4\n")
    assert "| sentence chosen, value missing | 2 | 50.0% |" in text and "| refused, but answerable | 1 | 25.0% |" in text
    assert "| passage not found" not in text and "### Refused, but answerable: 1" in text
    assert "- `rice-d01` 稻瘟病几天喷一次？ → 每5天一次。 (wanted 3天\\|三天)" in text
    assert "- `rice-d02` 稻瘟病几天喷一次？ → 资料里没有。 (wanted 3天\\|三天)" in text
    assert missed([right], 2) == "## Missed questions: 0 of 1"


def test_a_line_says_the_wrong_value_and_is_short():
    long = "长" * 200
    lines = missed([record(id="coffee-site-pruning-d03", question=long, answer=long, false=[long])], 2).splitlines()
    line = next(line for line in lines if line.startswith("- "))
    assert "(not 长" in line and len(line) <= 150
    unanswerable = missed([record(answerable=False, evidence=[], missing=[])], 2)
    assert "(wanted a refusal)" in unanswerable


@pytest.mark.parametrize(("words", "quote", "expected"), [
    ("每亩用40%稻瘟灵100毫升，兑水30公斤。", "40%稻瘟灵100毫升", True),  # holds it
    ("40%稻瘟灵100毫升", "| 稻瘟病 | 40% 稻瘟灵 100毫升 | 7天 |", True),  # marks of tables and spaces do not count
    ("发病初期喷第一次药，隔七天再喷", "破口前三天喷第一次药，隔七天再喷第二次", True),  # 喷第一次药，隔七天再喷 is common
    ("喷药后七天再看效果如何", "七天再喷一次药剂", False),
    ("3天", "每隔3天检查一次", False),  # too short to tell
    ("", "每隔3天检查一次", False),
])
def test_words_prove_a_quote_when_one_holds_the_other_or_a_long_run_is_common(words, quote, expected):
    assert proves(words, quote) is expected
    assert proves(quote, words) is expected
