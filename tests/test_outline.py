"""Introductions: what is open, which sentence fills which slot, what is said to be missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from answer_world import make_candidate
from conftest import ROOT

from nongda.answer.asked import Asking
from nongda.answer.evidence import ScoredEvidence, split_evidence
from nongda.answer.outline import is_open, outline_pieces, outline_words, outlined, subject_of
from nongda.answer.specialists import Specialists
from nongda.answer.understand import understand
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, DocumentMeta, Fact
from nongda.settings import AnswerSettings

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.load(DOMAIN)


@pytest.fixture(scope="module")
def specialists() -> Specialists:
    return Specialists.load(DOMAIN / "specialists")


@pytest.fixture(scope="module")
def asking() -> Asking:
    return Asking.load(DOMAIN)


@pytest.fixture
def opened(lexicon, specialists, asking):
    def told(question: str) -> bool:
        query = understand(question, (), lexicon, AnswerSettings())
        return is_open(query, asking.of(query.original, lexicon), specialists.choose(query), specialists)

    return told


@pytest.fixture
def outline(lexicon, specialists):
    def filled(question: str, *passages: tuple[str, tuple[str, ...], str], facts=()):
        sentences = []
        for number, (text, heading, title) in enumerate(passages):
            made = make_candidate(lexicon, text, heading=heading)
            chunk = replace(made.chunk, id=f"d#{number}")
            found = Candidate(chunk, replace(made.document, meta=DocumentMeta(title=title)), 1.0)
            sentences += [ScoredEvidence(e, found, frozenset(), np.zeros(1, np.float32), 0.0) for e in split_evidence(found)]
        query = understand(question, (), lexicon, AnswerSettings())
        return outlined(specialists.choose(query), query, sentences, list(facts), lexicon)

    return filled


@pytest.mark.parametrize("question", [
    "稻瘟病", "介绍一下稻瘟病", "请给我介绍一下水稻的稻瘟病。", "咖啡叶锈病是什么样的病", "讲讲草地贪夜蛾", "草地贪夜蛾是怎么回事？",
    "想了解一下玉米螟", "什么是蜜处理", "蜜处理是怎么做的", "卡蒂姆是什么样的品种", "棉铃虫的基本知识介绍", "說說稻瘟病",
    "给我讲一讲咖啡果小蠹吧",
])
def test_a_question_that_only_names_a_thing_is_open(opened, question: str):
    assert opened(question)


@pytest.mark.parametrize("question", [
    "稻瘟病怎么治", "稻瘟病打什么药", "稻瘟病的症状", "介绍一下稻瘟病的病原", "稻瘟病是真菌病吗", "稻瘟病和纹枯病有什么区别",
    "介绍一下咖啡",
    "介绍稻瘟病和纹枯病", "稻瘟病每亩用多少三环唑", "稻瘟病几月发生", "讲讲", "你好", "咖啡叶子发黄是什么病", "A. 稻瘟病 B. 纹枯病",
    "稻瘟病 2026",
])
def test_a_question_that_asks_for_something_of_it_is_not_open(opened, question: str):
    assert not opened(question)


def test_each_slot_takes_a_sentence_of_its_own_and_the_rest_is_named(outline):
    found = outline("介绍稻瘟病", (
        "稻瘟病由稻梨孢菌引起。稻瘟病主要危害叶片和穗颈。稻瘟病的病斑呈纺锤形，中央灰白。稻瘟病靠风雨传播。", ("一、要点",), "稻瘟病"))
    assert [(name, s.evidence.text) for name, s in found.filled] == [
        ("病原", "稻瘟病由稻梨孢菌引起。"), ("危害部位", "稻瘟病主要危害叶片和穗颈。"),
        ("症状", "稻瘟病的病斑呈纺锤形，中央灰白。"), ("传播", "稻瘟病靠风雨传播。")]
    assert found.missing == ("是什么病", "发病条件", "防治时机", "农业防治", "药剂防治")


def test_the_lines_are_labelled_cited_and_end_with_what_is_missing(outline):
    found = outline("介绍稻瘟病", ("稻瘟病由稻梨孢菌引起；稻瘟病主要危害叶片。稻瘟病靠风雨传播。", (), "稻瘟病"))
    pieces = list(outline_pieces(found))
    assert pieces[0].text == "**病原**：稻瘟病由稻梨孢菌引起[d#0]。\n"
    assert [len(p.quotes) for p in pieces] == [1, 1, 1, 0]
    assert pieces[-1].text.startswith("查到的段落里没有：是什么病、") and "病原" not in pieces[-1].text


def test_what_speaks_of_another_disease_or_of_two_is_left_out(outline):
    own = "稻瘟病由稻梨孢菌引起。稻瘟病主要危害叶片。稻瘟病靠风雨传播。"
    dose = "每亩用5%井冈霉素水剂150毫升喷雾。"
    for other in (f"纹枯病{dose}", f"稻瘟病和纹枯病{dose}"):
        found = outline("介绍稻瘟病", (own, (), "稻瘟病"), (other, ("药剂防治",), "水稻病害"))
        assert "药剂防治" in found.missing
    under = outline("介绍稻瘟病", (own, (), "稻瘟病"), (dose, ("纹枯病", "药剂防治"), "水稻病害"))
    assert "药剂防治" in under.missing
    title = outline("介绍稻瘟病", (own, (), "稻瘟病"), (dose, ("药剂防治",), "稻瘟病与纹枯病"))
    assert "药剂防治" in title.missing
    right = outline("介绍稻瘟病", (own, (), "稻瘟病"), (dose, ("稻瘟病", "药剂防治"), "水稻病害"))
    assert dict(right.filled)["药剂防治"].evidence.text == dose


def test_another_crop_s_disease_of_the_same_name_is_left_out(outline):
    text = "叶锈病由锈菌引起。叶锈病主要危害叶片。叶锈病靠风雨传播。"
    assert outline("介绍咖啡叶锈病", (text, (), "小麦叶锈病")) is None
    assert outline("介绍咖啡叶锈病", (text, (), "小粒种咖啡叶锈病")) is not None


def test_a_fact_fills_a_slot_that_no_word_would(outline):
    text = "稻瘟病由稻梨孢菌引起。稻瘟病主要危害叶片。稻瘟病靠风雨传播。稻瘟病遇28摄氏度最重。"
    start = text.index("稻瘟病遇")
    fact = Fact("d#0", "稻瘟病", "disease", "", "", "temperature", "28摄氏度", 28, 28, "℃", "", start, len(text))
    assert "发病条件" in outline("介绍稻瘟病", (text, (), "稻瘟病")).missing
    found = outline("介绍稻瘟病", (text, (), "稻瘟病"), facts=[fact])
    assert dict(found.filled)["发病条件"].evidence.text == "稻瘟病遇28摄氏度最重。"
    foreign = replace(fact, subject="纹枯病")
    assert "发病条件" in outline("介绍稻瘟病", (text, (), "稻瘟病"), facts=[foreign]).missing


def test_with_too_few_slots_there_is_no_outline(outline):
    assert outline("介绍稻瘟病", ("稻瘟病由稻梨孢菌引起。稻瘟病靠风雨传播。", (), "稻瘟病")) is None
    assert outline("介绍稻瘟病") is None


def test_an_announcement_and_a_piece_of_a_bracket_fill_nothing(outline):
    found = outline("介绍稻瘟病", ("稻瘟病的病原是：\n稻瘟病主要危害叶片。稻瘟病的病斑纺锤形。稻瘟病靠风雨传播。", (), "稻瘟病"))
    assert "病原" in found.missing


def test_every_fact_attribute_of_the_outlines_exists(specialists):
    import tomllib

    known = set(tomllib.loads((DOMAIN / "facts.toml").read_text(encoding="utf-8"))["attributes"])
    assert {a for one in specialists.others for slot in one.outline for a in slot.attributes} - known == set()


def test_the_subject_counts_more_than_the_slots_in_searching(lexicon, specialists):
    query = understand("介绍一下水稻稻瘟病", (), lexicon, AnswerSettings())
    words = outline_words(specialists.choose(query), query, lexicon)
    assert words.count("稻瘟病") >= 3 and words.count("水稻") >= 3 and words.count("传播") == 1
    assert "介绍" not in words
    assert subject_of(understand("纹枯病和稻瘟病", (), lexicon, AnswerSettings())) is None
