"""Looked-up facts as an answer: verbatim cells with citations, what is missing said, the nearest told."""

from __future__ import annotations

import math
import re

import pytest
from answer_world import make_candidate
from conftest import ROOT
from test_fact_question import read
from test_fact_search import table_of

from nongda.answer.fact_question import FactForms
from nongda.answer.lookup import fact_hits, looked_up
from nongda.language.lexicon import Lexicon
from nongda.records import Fact, Query

ROWS = [
    "| 25%噻嗪酮可湿性粉剂 | 稻飞虱若虫 | 25～35克 | 14天，每季最多2次 |",
    "| 20%啶虫脒乳油 | 稻飞虱 | 20克 | 7天 |",
    "| 醚菊酯 | 稻飞虱 | 按标签 | 未列 |",
]
HEAD = "| 药剂 | 对象 | 每亩用量 | 间隔期 |\n| --- | --- | --- | --- |\n"
TABLE = HEAD + "\n".join(ROWS)
SOIL = "土壤pH低于5.5时施石灰多能增产。土壤pH在6.5～7.5之间的不为调酸施石灰。"
COFFEE = "兴隆的规程要求咖啡选海拔800米以下的缓坡。"


@pytest.fixture(scope="module")
def words() -> Lexicon:
    return Lexicon.load(ROOT / "assets" / "domain")


@pytest.fixture(scope="module")
def forms() -> FactForms:
    return FactForms.load(ROOT / "assets" / "domain")


@pytest.fixture(scope="module")
def passages(words):
    made = [make_candidate(words, TABLE, "aaaaaaaa#0", "稻飞虱", kind="table"), make_candidate(words, SOIL, "bbbbbbbb#0", "土壤"),
            make_candidate(words, COFFEE, "cccccccc#0", "咖啡")]
    return {c.chunk.id: c for c in made}


def row_fact(row: int, subject: str, attribute: str, value: str, low=None, high=None, unit="") -> Fact:
    start = TABLE.index(ROWS[row])
    return Fact("aaaaaaaa#0", subject, "product", "水稻", "稻飞虱", attribute, value, low, high if high is not None else low, unit, "",
                start, start + len(ROWS[row]))


def text_fact(chunk: str, text: str, words: str, **fields) -> Fact:
    start = text.index(words)
    base = {"subject": "", "kind": "", "crop": "", "target": "", "attribute": "ph", "value": "", "low": None, "high": None, "unit": "",
            "condition": ""}
    return Fact(chunk_id=chunk, start=start, end=start + len(words), **{**base, **fields})


@pytest.fixture(scope="module")
def table():
    return table_of([
        row_fact(0, "噻嗪酮", "safety_interval", "14天", 14, unit="天"),
        row_fact(0, "噻嗪酮", "dose", "25～35克", 25, 35, "g/亩"),
        row_fact(1, "啶虫脒", "safety_interval", "7天", 7, unit="天"),
        row_fact(2, "醚菊酯", "target", "稻飞虱"),
        text_fact("bbbbbbbb#0", SOIL, SOIL[: SOIL.index("。") + 1], value="低于5.5", low=-math.inf, high=5.5),
        text_fact("bbbbbbbb#0", SOIL, SOIL[SOIL.index("。") + 1 :], value="6.5～7.5", low=6.5, high=7.5),
        text_fact("cccccccc#0", COFFEE, COFFEE, subject="咖啡", kind="crop", crop="咖啡", attribute="altitude", value="800米以下",
                  low=-math.inf, high=800, unit="m"),
    ])


def said(text: str, table, passages, words, forms, allowed=lambda fact: True):
    question = read(text, words, forms)
    assert question is not None
    found = looked_up(question, table, passages.get, words, forms, allowed)
    return None if found is None else ("".join(p.text for p in found.pieces), found)


def test_a_list_is_a_table_with_a_citation_in_each_cell(table, passages, words, forms):
    text, found = said("找出安全间隔期不超过7天、能防稻飞虱的药", table, passages, words, forms)
    assert "| 20%啶虫脒乳油（水稻） | 7天[aaaaaaaa#0] | 稻飞虱[aaaaaaaa#0] |" in text
    assert "噻嗪酮" not in text and found.fits
    assert "资料中没有写安全间隔期的：醚菊酯[aaaaaaaa#0]" in text


def test_each_cited_passage_is_quoted_verbatim(table, passages, words, forms):
    text, found = said("找出安全间隔期不超过7天、能防稻飞虱的药", table, passages, words, forms)
    quotes = [q for p in found.pieces for q in p.quotes]
    assert {q.evidence.chunk_id for q in quotes} == set(re.findall(r"\[(\w+#\d+)\]", text))
    for quote in quotes:
        chunk = passages[quote.evidence.chunk_id].chunk
        assert chunk.text[quote.evidence.start : quote.evidence.end] == quote.evidence.text
    assert {q.evidence.text for q in quotes} == {ROWS[1], ROWS[2]}


def test_where_nothing_fits_the_nearest_is_told(table, passages, words, forms):
    text, found = said("找出安全间隔期不超过3天、能防稻飞虱的药", table, passages, words, forms)
    assert not found.fits
    assert text.startswith("资料里没有查到“安全间隔期不超过3天”、防稻飞虱的药剂。")
    assert text.index("7天[aaaaaaaa#0]") < text.index("14天[aaaaaaaa#0]")


def test_a_withheld_product_is_not_named(table, passages, words, forms):
    text, found = said("找出安全间隔期不超过7天、能防稻飞虱的药", table, passages, words, forms, lambda f: f.subject != "啶虫脒")
    assert "啶虫脒" not in text and not found.fits


def test_what_the_table_does_not_know_is_left_to_the_other_ways(table, passages, words, forms):
    assert said("找出安全间隔期不超过7天、能防小菜蛾的药", table, passages, words, forms) is None


def test_facts_of_passages_that_are_gone_are_not_told(table, words, forms):
    assert said("找出安全间隔期不超过7天、能防稻飞虱的药", table, {}, words, forms) is None


def test_a_value_is_answered_by_the_sentences_whose_condition_holds_it(table, passages, words, forms):
    text, found = said("pH 5.2的地要撒多少石灰", table, passages, words, forms)
    assert found.fits and "土壤pH低于5.5时施石灰多能增产[bbbbbbbb#0]。" in text and "6.5" not in text


def test_a_value_outside_all_ranges_gets_the_nearest_told_to_be_so(table, passages, words, forms):
    text, found = said("海拔2300米能种咖啡吗", table, passages, words, forms)
    assert not found.fits
    assert text.startswith("资料里没有正好说到“海拔2300米”的，最接近的是：\n") and COFFEE[:-1] in text


def test_a_direct_question_is_not_answered_but_ranked(table, passages, words, forms):
    assert said("水稻稻飞虱打噻嗪酮每亩用多少", table, passages, words, forms) is None
    query = Query("", "水稻稻飞虱打噻嗪酮每亩用多少", "", (), words.entities("水稻稻飞虱打噻嗪酮每亩用多少"))
    assert [h.chunk_id for h in fact_hits(query, table, words, forms)] == ["aaaaaaaa#0"]
    other = Query("", "马铃薯打噻嗪酮每亩用多少", "", (), words.entities("马铃薯打噻嗪酮每亩用多少"))
    assert fact_hits(other, table, words, forms) == []
    unknown = Query("", "今天几号", "", (), ())
    assert fact_hits(unknown, table, words, forms) == []
