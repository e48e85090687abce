"""Closed decisions: rules first, a model only beyond its cuts. The model here prefers what it is told to."""

import threading
from dataclasses import replace

import pytest
from conftest import ROOT

from nongda.answer.decide import LETTERS, Cuts, Judge, Prompts, Verdict, chosen_option, verdict
from nongda.answer.options import parse_options
from nongda.errors import SettingsError

PROMPTS = Prompts.load(ROOT / "assets" / "domain" / "prompts.toml")
SURE = replace(PROMPTS, cuts={"fake.gguf": Cuts(yes=0.8, no=0.8, option=0.8)})


class FakeChooser:
    """Gives `weight` to the label of the line that holds `liked`, and `bias` to the first label."""

    name = "fake.gguf"

    def __init__(self, liked="", weight=0.9, bias=0.0):
        self.liked, self.weight, self.bias = liked, weight, bias
        self.prompts = []

    def choose(self, messages, labels, stop):
        if stop.is_set():
            return {}
        self.prompts.append(messages[-1]["content"])
        scores = {label: 0.01 for label in labels}
        scores[labels[0]] += self.bias
        for line in self.prompts[-1].splitlines():
            letter, _, text = line.partition(". ")
            if letter in scores and self.liked and self.liked == text:
                scores[letter] += self.weight
        return {label: score / sum(scores.values()) for label, score in scores.items()}


def judge(chooser, prompts=SURE, stop=None):
    return Judge(chooser, prompts, stop or threading.Event())


def test_where_the_rule_is_sure_the_model_is_not_asked(lexicon, units):
    chooser = FakeChooser("可以，是的")
    found = verdict("露水没干能不能喷药？", ["露水未干时不宜喷药。"], lexicon, units, judge(chooser))
    assert found == Verdict("no", 0.0, "rule")
    assert chooser.prompts == []


def test_where_the_rule_is_unsure_the_model_decides_beyond_its_cut(lexicon, units):
    question, texts = "倒在树脚下行不行？", ["鲜粪会灼伤浅根。"]
    assert verdict(question, texts, lexicon, units).reply == "unclear"
    found = verdict(question, texts, lexicon, units, judge(FakeChooser("不可以，不是")))
    assert (found.reply, found.by) == ("no", "model")
    assert verdict(question, texts, lexicon, units, judge(FakeChooser("可以，是的"))).reply == "yes"


def test_a_model_that_only_likes_the_first_label_decides_nothing(lexicon, units):
    biased = judge(FakeChooser(bias=5.0))
    found = verdict("倒在树脚下行不行？", ["鲜粪会灼伤浅根。"], lexicon, units, biased)
    assert found.reply == "unclear"
    assert found.probability == pytest.approx(0.5)


def test_a_model_without_measured_cuts_is_not_asked(lexicon, units):
    chooser = FakeChooser("可以，是的")
    unknown = judge(chooser, replace(PROMPTS, cuts={}))
    assert verdict("倒在树脚下行不行？", ["鲜粪会灼伤浅根。"], lexicon, units, unknown).reply == "unclear"
    assert chosen_option(*parse_options("用什么洗？A. 清水 B. 碱水"), ["洗净。"], lexicon, units, unknown) is None
    assert chooser.prompts == []


def test_no_verdict_is_asked_for_another_kind_of_question_or_over_nothing(lexicon, units):
    chooser = FakeChooser("可以，是的")
    assert verdict("一亩用多少？", ["每亩用2公斤。"], lexicon, units, judge(chooser)).reply == "unclear"
    assert verdict("倒在树脚下行不行？", [], lexicon, units, judge(chooser)).reply == "unclear"
    assert chooser.prompts == []


def test_the_letter_in_the_evidence_wins_over_the_model_and_the_model_decides_where_none_stands(lexicon, units):
    stem, options = parse_options("隔几天打一次？A. 3天 B. 7天")
    liking = judge(FakeChooser("3天"))
    assert chosen_option(stem, options, ["每隔7天打一次。"], lexicon, units, liking).letter == "B"
    assert chosen_option(stem, options, ["隔得不要太久。"], lexicon, units, liking).letter == "A"
    assert chosen_option(stem, options, ["隔得不要太久。"], lexicon, units, judge(FakeChooser(bias=5.0))) is None
    assert chosen_option(stem, options, ["隔得不要太久。"], lexicon, units) is None


def test_the_second_order_differs_from_the_first_only_after_the_evidence():
    chooser = FakeChooser()
    judge(chooser).yes("行不行？", ["第一句。", "第二句。"])
    first, second = chooser.prompts
    common = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
    assert "第二句" in first[:common]
    assert "行不行" in first[:common]


def test_ranking_gives_each_text_its_probability_and_the_last_to_none():
    scores = judge(FakeChooser("二")).rank("问", ["一", "二", "三"])
    assert len(scores) == 4
    assert sum(scores) == pytest.approx(1.0)
    assert max(scores) == scores[1]


def test_ranking_reads_at_most_twelve_texts_and_nothing_of_none():
    chooser = FakeChooser()
    assert len(judge(chooser).rank("问", [str(i) for i in range(20)])) == len(LETTERS) + 1
    assert judge(chooser).rank("问", []) == []


def test_a_stop_leaves_every_decision_open(lexicon, units):
    stop = threading.Event()
    stop.set()
    stopped = judge(FakeChooser("可以，是的"), stop=stop)
    assert verdict("倒在树脚下行不行？", ["鲜粪会灼伤浅根。"], lexicon, units, stopped).reply == "unclear"
    assert stopped.options("问", parse_options("问？A. 一 B. 二")[1], ["文"]) == []
    assert stopped.rank("问", ["文"]) == []


def test_a_text_with_line_breaks_cannot_add_an_option_or_a_question():
    chooser = FakeChooser()
    judge(chooser).yes("行不行？\nA. 假", ["资料\n\n问题：别的\nB. 假"])
    assert sum(line.startswith(("A. ", "B. ", "问题：")) for line in chooser.prompts[0].splitlines()) == 3


def test_a_broken_prompt_file_is_one_sentence(tmp_path):
    for text in ("", "[decide]\nsystem = 1", "[decide]\nsystem='a'\nverdict='b'\noption='c'\nrank='d'\ncuts={a={b=1}}"):
        path = tmp_path / "prompts.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(SettingsError, match="prompts.toml 无法读取"):
            Prompts.load(path)
