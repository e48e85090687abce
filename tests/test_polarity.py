"""Verdicts by rule, in the product's own words and units."""

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from nongda.answer.polarity import Nearness, asked_aspect, asks_verdict, rule_verdict, verdict_words
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def rule():
    lexicon, units = Lexicon.load(DOMAIN), Units.load(DOMAIN / "units.toml", ("units", "counters"))
    return lambda question, evidence: rule_verdict(question, evidence, lexicon, units)


@pytest.mark.parametrize(("question", "aspect"), [
    ("配好的药液能不能再加水？", "permit"), ("这样打行不行？", "permit"), ("开花时浇水合适吗？", "permit"),
    ("要不要补喷一次？", "need"), ("需要马上打药吗？", "need"), ("用不用消毒？", "need"),
    ("氮肥会不会流失？", "fact"), ("这药对虫卵有用吗？", "fact"), ("光打药治得好吗？", "fact"),
    ("一亩用多少？", None), ("叶子发黄怎么办？", None), ("难道不能打药吗？", None), ("是不是同一种病？", None),
    ("不能一起打吗？", None),
])
def test_a_question_asks_for_leave_for_a_need_for_a_fact_or_for_no_verdict(question, aspect):
    assert asked_aspect(question) == aspect
    assert asks_verdict(question) == (aspect is not None)


@pytest.mark.parametrize(("question", "evidence", "reply"), [
    ("露水没干的时候能不能喷药？", "露水未干时不宜喷药。", "no"),
    ("割下的草能不能铺在行间？", "割下的草可以铺在行间作覆盖。", "yes"),
    ("剪过病株的剪刀要不要消毒？", "剪过病株的剪刀要消毒。", "yes"),
    ("剪过病株的剪刀要不要消毒？", "剪过病株的剪刀不必消毒。", "no"),
    ("氮肥一次多施会不会流失？", "一次多施氮肥会流失。", "yes"),
    ("赤眼蜂对幼虫有用吗？", "赤眼蜂对幼虫无效。", "no"),
])
def test_the_clause_about_the_asked_thing_decides(rule, question, evidence, reply):
    assert rule(question, evidence) == reply


@pytest.mark.parametrize(("asked", "evidence", "reply"), [
    ("60%", "荫蔽度不要超过50%。", "no"), ("六成", "荫蔽度不要超过50%。", "no"), ("40%", "荫蔽度不要超过50%。", "yes"),
    ("50%", "荫蔽度不要超过50%。", "yes"), ("20%", "荫蔽度至少要30%。", "no"), ("45%", "荫蔽度以30%～40%为宜。", "no"),
    ("35%", "荫蔽度以30%～40%为宜。", "yes"), ("45%", "荫蔽度以30%～40%为宜，不要超过50%。", None),
])
def test_a_number_is_held_against_the_limit_in_the_evidence(rule, asked, evidence, reply):
    assert rule(f"荫蔽度{asked}行不行？", evidence) == reply


def test_a_condition_that_the_question_does_not_meet_leaves_it_open(rule):
    evidence = "贮藏6个月以上的种子不得使用。"
    assert rule("贮藏7个月的种子能不能使用？", evidence) == "no"
    assert rule("贮藏3个月的种子能不能使用？", evidence) is None


@pytest.mark.parametrize(("question", "evidence"), [
    ("装过大米的袋子能不能装鲜果？", "装过化肥的袋子不能装鲜果。"),
    ("小麦抽穗后能不能用三唑酮？", "小麦抽穗后不能用嘧菌酯。"),
    ("水稻孕穗期能不能打药？", "小麦孕穗期能打药，可以打药。"),
    ("种薯切口能不能蘸草木灰？", "种薯切口可以蘸草木灰，疮痂病田除外。"),
    ("高处枝条能不能拉下来采？", "高处枝条可以拉下来采，不要拉断。"),
    ("露水没干能不能喷药？", "露水未干时不宜喷药。\n露水未干时也可以喷药。"),
    ("要不要补喷？", "喷后可以补喷。"),
    ("露水没干能不能喷药？", ""),
])
def test_near_misses_exceptions_contradictions_and_mere_leave_give_no_verdict(rule, question, evidence):
    assert rule(question, evidence) is None


def test_a_verdict_is_said_in_the_question_s_own_words():
    assert verdict_words("能不能再加水？", "no") == "不能"
    assert verdict_words("这样打行不行？", "yes") == "行"
    assert verdict_words("氮肥会不会流失？", "yes") == "会"
    assert verdict_words("要不要补喷？", "no") == "不要"
    assert verdict_words("开花时浇水合适吗？", "no") == "不合适"
    assert verdict_words("可不可以留着？", "no") == "不可以"


@given(question=st.text(max_size=60), evidence=st.text(max_size=120))
def test_any_text_gives_a_verdict_or_none(rule, question, evidence):
    assert rule(question, evidence) in ("yes", "no", None)


@given(limit=st.integers(10, 90), asked=st.integers(1, 99))
def test_no_limit_is_ever_read_the_wrong_way_round(rule, limit, asked):
    assert rule(f"荫蔽度{asked}%行不行？", f"荫蔽度不要超过{limit}%。") == ("yes" if asked <= limit else "no")


def test_nearer_words_can_be_asked_for(rule):
    lexicon, units = Lexicon.load(DOMAIN), Units.load(DOMAIN / "units.toml")
    question, evidence = "草木灰蘸切口合适吗？", "切口用草木灰、滑石粉、石膏粉拌匀都可以。"
    assert rule(question, evidence) == "yes"
    assert rule_verdict(question, evidence, lexicon, units, Nearness(0.9, 0.9, True)) is None
