"""Questions with choices: their options, and the one that stands in the evidence."""

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from nongda.answer.options import Option, parse_options, rule_option
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def rule():
    lexicon, units = Lexicon.load(DOMAIN), Units.load(DOMAIN / "units.toml", ("units", "counters"))

    def letter(question, *texts):
        found = rule_option(*parse_options(question), texts, lexicon, units)
        return found.letter if found else None

    return letter


@pytest.mark.parametrize("question", [
    "隔几天打一次？A. 3天 B. 7天 C. 10天", "隔几天打一次？A、3天 B、7天 C、10天", "隔几天打一次？\nA）3天\nB）7天\nC）10天",
    "隔几天打一次？（A）3天（B）7天（C）10天", "隔几天打一次？Ａ．3天；Ｂ．7天；Ｃ．10天。", "隔几天打一次？a.3天 b.7天 c.10天",
    "隔几天打一次？A：3天，B：7天，C：10天", "隔几天打一次？ A 3天 B 7天 C 10天",
])
def test_options_are_read_in_every_way_that_they_are_written(question):
    assert parse_options(question) == ("隔几天打一次？", [Option("A", "3天"), Option("B", "7天"), Option("C", "10天")])


@pytest.mark.parametrize("question", [
    "缺维生素A、维生素B哪个要紧？", "A4纸能不能包果？", "咖啡叶锈病怎么防？", "选哪个？A. 3天", "选哪个？B. 3天 C. 7天", "A. B. 哪个好",
])
def test_letters_that_open_no_list_are_part_of_the_question(question):
    assert parse_options(question) == (question, [])


def test_an_option_may_hold_decimals_and_what_follows_the_list_is_no_option():
    stem, options = parse_options("低多少？A. 0.5～1℃ B. 2℃ C. 3～6℃？为什么？")
    assert stem == "低多少？"
    assert [o.text for o in options] == ["0.5～1℃", "2℃", "3～6℃"]


def test_the_option_whose_quantity_stands_in_the_evidence_is_chosen(rule):
    question = "隔几天打一次？A. 3天 B. 7天 C. 7～10天"
    assert rule(question, "发病初期每隔7～10天打一次药。") == "C"
    assert rule(question, "发病初期每隔15天打一次药。") is None


def test_farmers_words_and_the_document_s_need_not_be_the_same(rule):
    assert rule("埋多深？A. 埋到茎干10厘米 B. 袋里的土面和地面平齐 C. 高出地面15厘米", "使袋土表面与地面平齐，不要深栽。") == "B"


def test_of_several_standing_options_the_one_in_the_clause_that_answers_is_chosen(rule):
    question = "哪一种治黄瓜白粉病？A. 霜霉威 B. 烯酰吗啉 C. 腈菌唑"
    assert rule(question, "霜霉威、烯酰吗啉用于霜霉病，腈菌唑用于白粉病。") == "C"
    assert rule("哪个品种最容易得病？A. 籼稻 B. 粳稻 C. 糯稻", "籼稻最抗病，粳稻次之，糯稻最感病。") == "C"


@pytest.mark.parametrize(("question", "evidence"), [
    ("用什么洗？A. 清水 B. 碱水", "清水和碱水都能洗。"),
    ("能用哪种水洗？A. 清水 B. 碱水", "不能用碱水洗。"),
    ("用什么洗？A. 清水 B. 碱水", ""),
])
def test_where_both_stand_or_the_only_one_is_denied_nothing_is_chosen(rule, question, evidence):
    assert rule(question, evidence) is None


@given(st.text(max_size=80))
def test_any_question_parses_and_its_options_are_lettered_without_gaps(text):
    _, options = parse_options(text)
    assert [o.letter for o in options] == list("ABCDEFGH"[: len(options)])
    assert all(o.text for o in options)


@given(st.lists(st.integers(1, 500), min_size=2, max_size=6, unique=True), st.data())
def test_a_number_is_only_chosen_where_it_stands(rule, numbers, data):
    said = data.draw(st.sampled_from(numbers))
    listed = " ".join(f"{letter}. {n}克" for letter, n in zip("ABCDEF", numbers, strict=False))
    assert rule(f"每株施多少？{listed}", f"每株施{said}克。") == "ABCDEF"[numbers.index(said)]
    assert rule(f"每株施多少？{listed}", "每株施501克。") is None


@pytest.mark.parametrize(("question", "evidence", "letter"), [
    ("哪种锈病来得最晚？A. 条锈病 B. 秆锈病", "条锈病要求凉爽，来得最早；秆锈病要求较暖，来得最晚。", "B"),
    ("哪种肥不能跟尿素混？A. 硫酸钾 B. 石灰", "尿素与硫酸钾可以混合。尿素不可与石灰混合。", "B"),
    ("尿素可以跟哪种混？A. 石灰 B. 硫酸钾", "尿素与硫酸钾可以混合。尿素不可与石灰混合。", "B"),
    ("哪样品种抗病？A. 甲品种 B. 乙品种", "甲品种高感叶锈病。", None),
    ("苗期该浇多少水？A. 5升 B. 10升", "成株每株浇10升水。", None),
])
def test_what_is_said_of_the_opposite_or_of_another_stage_answers_nothing(rule, question, evidence, letter):
    assert rule(question, evidence) == letter
