"""Questions as they are typed: what is corrected, and above all what is not."""

import json
import time

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.language.lexicon import Lexicon
from nongda.language.spelling import Corrected, Spelling
from nongda.records import Reading

DOMAIN = ROOT / "assets" / "domain"
KINDS = {"稻瘟病": "disease", "红蜘蛛": "pest", "玉米螟": "pest", "玉米": "crop", "草地贪夜蛾": "pest", "褐天牛": "pest",
         "中果咖啡": "crop", "石灰氮": "product", "黏虫": "pest", "有效硼": "nutrient", "天牛": "pest", "咖啡": "crop",
         "干腐病": "disease", "秆腐病": "disease", "柑橘": "crop", "草莓": "crop"}


@pytest.fixture(scope="module")
def small(units) -> Spelling:
    return Spelling(Lexicon(KINDS, {"苞谷螟": ("玉米螟",), "柑橘属": ("柑橘",), "钻心虫": ("玉米螟", "天牛")}, units))


@pytest.fixture(scope="module")
def domain() -> Spelling:
    return Spelling.load(DOMAIN, Lexicon.load(DOMAIN))


def gold() -> list[str]:
    return [json.loads(line)["question"] for path in sorted((ROOT / "assets" / "gold" / "dev").glob("*.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines()]


# characters of the same sound

@pytest.mark.parametrize(("written", "term"), [
    ("稻温病", "稻瘟病"), ("岛瘟病", "稻瘟病"), ("红只猪", "红蜘蛛"), ("玉米鸣", "玉米螟"), ("草地贪夜鹅", "草地贪夜蛾"),
    ("稻温兵", "稻瘟病"), ("苞古螟", "玉米螟"),
])
@pytest.mark.parametrize("question", ["{}怎么治", "地里有{}，用什么药", "{}", "请问{}"])
def test_a_name_written_with_characters_of_its_sound_is_corrected(small, written, term, question):
    assert small.correct(question.format(written)) == Corrected(question.format(term), (Reading(written, term),))


@pytest.mark.parametrize(("written", "term"), [("红姿蛛", "红蜘蛛"), ("草地滩夜蛾", "草地贪夜蛾"), ("稻翁病", "稻瘟病"),
                                               ("稻王病", "稻王病"),
                                               ("草地探夜俄", "草地贪夜蛾"), ("黑天流", "黑天流"),
                                               ("红资租", "红资租")])
def test_sounds_that_many_confuse_count_where_all_but_one_character_stand(small, written, term):
    assert small.correct(written).text == term


@pytest.mark.parametrize("question", [
    "玉米明年种什么", "中国咖啡怎么样", "喷石灰石", "和天牛一起", "黏重的土", "有效喷洒", "稻瘟病和红蜘蛛", "钻心丛", "甘腐病",
    "柑橘树怎么种", "玉米名", "病", "咖啡", "玉米的鸣虫",
])
def test_what_may_be_meant_as_it_stands_is_left(small, question):
    expected = {"玉米名": "玉米螟"}.get(question, question)
    assert small.correct(question).text == expected


def test_two_names_of_the_same_sound_leave_a_slip_undecided(small):
    assert small.correct("甘腐病怎么治") == Corrected("甘腐病怎么治")


def test_a_word_to_be_left_as_written_is_left_and_the_others_are_corrected(small):
    assert small.correct("稻温病和红知蛛", frozenset({"稻温病"})) == Corrected("稻温病和红蜘蛛", (Reading("红知蛛", "红蜘蛛"),))


def test_a_slip_in_traditional_characters_is_told_as_written(small):
    assert small.correct("紅知蛛怎麼治") == Corrected("红蜘蛛怎麼治", (Reading("紅知蛛", "红蜘蛛"),))


# what stays

def test_correct_questions_stay_as_they_are(domain):
    changed = [(q, domain.correct(q).text) for q in gold() if domain.correct(q).text != q]
    assert len(gold()) == 240
    assert [(q.replace("红蜘珠", "红蜘蛛"), c) for q, c in changed] == [(c, c) for _, c in changed]  # one is a real slip
    assert len(changed) <= 1


def test_correct_sentences_of_documents_stay_as_they_are(domain):
    lines = [line for path in sorted((ROOT / "assets" / "corpus").rglob("*.md"))
             for line in path.read_text(encoding="utf-8").splitlines() if not any(c.isascii() and c.isalpha() for c in line)]
    changed = [line for line in lines[::3] if domain.correct(line).text != line]
    assert len(lines[::3]) > 600
    assert len(changed) <= 1


def test_the_terms_and_aliases_themselves_stay_as_they_are(domain):
    words = [line.split("\t")[0] for name in ("lexicon.tsv", "aliases.tsv")
             for line in (DOMAIN / name).read_text(encoding="utf-8").splitlines()[1:]]
    chinese = [w for w in words if not any(c.isascii() for c in w)]
    assert [w for w in chinese[::4] if domain.correct(w).text != w] == []


# any input

@settings(deadline=None, max_examples=200)
@given(st.text(max_size=60) | st.text(st.sampled_from("稻温瘟病红知蜘蛛玉米螟daowenbig 12'-，"), max_size=40), st.text(max_size=6))
def test_no_question_raises_and_every_reading_stood_in_it(small, question, kept):
    corrected = small.correct(question, frozenset({kept}))
    for reading in corrected.readings:
        assert reading.surface in question
        assert reading.term in corrected.text
    if not corrected.readings:
        assert corrected.text == question


@settings(deadline=None)
@given(st.text(st.sampled_from("稻温瘟病红知蜘蛛玉米螟鸣虫，用药"), max_size=20))
def test_leaving_all_readings_as_written_leaves_the_question(small, question):
    kept = frozenset[str]()
    for _ in range(10):
        corrected = small.correct(question, kept)
        kept |= {reading.surface for reading in corrected.readings}
    assert small.correct(question, kept) == Corrected(question)


@pytest.mark.parametrize(("question", "milliseconds"), [
    ("玉米鸣用什么药，一亩地打多少", 5), ("dao wen bing yong shen me yao", 5), ("稻温病害怎么治疗好呢，" * 180, 50),
    ("dao wen bing ", 5), ("daowenbing" * 200, 50), ("how to control rice blast " * 76, 50), ("a" * 2000, 50), ("🌽" * 2000, 50),
    ("dao wen bing zen me zhi. " * 80, 50),
])
def test_correcting_is_fast(domain, question, milliseconds):
    domain.correct("稻温病 daowenbing how to")
    times = []
    for _ in range(5):
        start = time.perf_counter()
        domain.correct(question[:2000])
        times.append(time.perf_counter() - start)
    assert min(times) * 1000 < milliseconds
