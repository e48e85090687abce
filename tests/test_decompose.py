"""Whole questions from one of several hops, by rules and by a model; every part says what it is about."""

import threading

import pytest
from conftest import ROOT, QueuedGenerator
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.answer.asked import Asking
from nongda.answer.decompose import MOST, Parts, decompose_by_model, hops_of, parts_of
from nongda.language.lexicon import Lexicon

DOMAIN = ROOT / "assets" / "domain"
LEXICON, ASKING = Lexicon.load(DOMAIN), Asking.load(DOMAIN)
WORDS = ("咖啡", "叶锈病", "叶背有黄粉", "隔几天", "用什么药", "，", "。", "？", "和", "、", "怎么办", "A. ", "B. ", "三唑酮", "呢")
RUST = "咖啡叶背有黄粉，是什么病，打什么药？"


def parts(question: str) -> Parts:
    return parts_of(ASKING.of(question, LEXICON), LEXICON, ASKING.triggers)


def hops(question: str) -> int:
    asked = ASKING.of(question, LEXICON)
    return hops_of(asked, parts(question))


@pytest.mark.parametrize("question", [
    "咖啡叶锈病隔几天喷一次药", "叶锈病打什么药", "下雨后要补喷吗？为什么？", "雨天能不能打药，有什么坏处？", "叶子黄了",
    "化肥能堆在树干边吗？要离树干多远才行？", "株距留多宽合适？A. 1米 B. 2米", "这是盐土还是碱土", "病",
])
def test_one_thing_asked_of_one_subject_is_one_hop_without_parts(question):
    assert hops(question) == 1
    assert parts(question) == Parts()


@pytest.mark.parametrize(("question", "expected"), [
    ("我家咖啡叶背有黄粉，这是什么病？该喷哪种药、配多大浓度？",
     ("我家咖啡叶背有黄粉，这是什么病？", "我家咖啡叶背有黄粉，该喷哪种药？", "我家咖啡叶背有黄粉，该喷药，配多大浓度？")),
    ("水稻纹枯病用什么药，一亩用多少", ("水稻纹枯病用什么药？", "水稻纹枯病用药，一亩用多少？")),
    ("咖啡叶锈病和炭疽病有什么区别", ("咖啡叶锈病有什么区别？", "咖啡炭疽病有什么区别？")),
    ("玉米什么时候种，水稻什么时候插秧", ("玉米什么时候种？", "水稻什么时候插秧？")),  # another crop is told nothing
    ("咖啡叶锈病怎么传播，炭疽病打什么药", ("咖啡叶锈病怎么传播？", "咖啡，炭疽病打什么药？")),  # nor of another disease
    ("稻苗倒了，打什么药", ("稻苗倒了，这是什么病虫害？", "稻苗倒了，打什么药？")),  # a cure of signs goes by their cause
    ("咖啡海拔和年平均气温要求多少", ("咖啡海拔要求多少？", "咖啡，年平均气温要求多少？")),
])
def test_parts_are_whole_questions_with_what_they_are_about(question, expected):
    assert parts(question).parts == expected
    assert hops(question) == len(expected)


def test_a_cure_of_a_named_disease_needs_no_cause_first():
    assert parts("咖啡叶锈病叶背有黄粉，打什么药") == Parts()


def test_what_is_asked_beyond_four_parts_is_left():
    found = parts("咖啡海拔多高？株距多宽？浇几次水？几月采收？产量多少？")
    assert len(found.parts) == MOST
    assert found.left == ("咖啡，产量多少？",)


def test_a_follow_up_is_told_what_the_question_before_names():
    before = ASKING.of("咖啡叶锈病怎么防治", LEXICON)
    found = parts_of(ASKING.of("一亩用多少药，隔几天打一次", LEXICON), LEXICON, ASKING.triggers, before)
    assert found.parts == ("咖啡叶锈病，一亩用多少药？", "咖啡叶锈病，隔几天打一次？")


def by_model(*lines: str, question: str = RUST, stop: threading.Event | None = None) -> Parts:
    generator = QueuedGenerator("\n".join(lines))
    return decompose_by_model(generator, ASKING.triggers.prompt, question, parts(question), LEXICON, stop or threading.Event())


def test_a_model_may_part_a_question_in_its_own_words():
    assert by_model("1. 咖啡叶背有黄粉是什么病？", "2. 咖啡叶背有黄粉打什么药？").parts == (
        "咖啡叶背有黄粉是什么病？", "咖啡叶背有黄粉打什么药？")


@pytest.mark.parametrize("lines", [
    ("咖啡叶背有黄粉是什么病？",), ("咖啡叶背有黄粉是什么病？", "水稻打什么药？"), ("咖啡叶背有黄粉是什么病？", "用三唑酮打药？"),
    ("咖啡叶背有黄粉是什么病？", "咖啡叶背有黄粉打500倍药？"), ("咖啡叶背有黄粉是什么病？", "请问天气怎么样适合出门旅游？"), ("",),
    tuple("咖啡叶背有黄粉打药？" for _ in range(5)),
])
def test_a_model_that_brings_in_anything_new_or_parts_too_much_is_not_followed(lines):
    assert by_model(*lines) == parts(RUST)


@pytest.mark.parametrize("question", ["咖啡叶锈病隔几天喷一次药", "雨天能不能打药？为什么？", "叶子黄了", "株距多宽？A. 1米 B. 2米"])
def test_no_model_is_asked_about_a_question_of_a_single_hop(question):
    generator = QueuedGenerator()
    found = decompose_by_model(generator, ASKING.triggers.prompt, question, parts(question), LEXICON, threading.Event())
    assert found == Parts() and generator.prompts == []


def test_a_model_stopped_midway_is_not_followed():
    stop = threading.Event()
    stop.set()
    assert by_model("咖啡叶背有黄粉是什么病？", "咖啡叶背有黄粉打什么药？", stop=stop) == parts(RUST)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14).map("".join))
def test_any_question_has_at_most_four_parts_each_once_and_as_many_hops(question):
    found = parts(question)
    assert len(found.parts) != 1 and len(found.parts) <= MOST
    assert len(set(found.parts)) == len(found.parts)
    assert hops(question) >= len(found.parts) + len(found.left)
    assert all(part.endswith("？") and len(part) > 1 for part in (*found.parts, *found.left))
