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
from nongda.documents.chunk import chunk_blocks
from nongda.documents.clean import clean
from nongda.documents.identify import chunk_id, document_id
from nongda.documents.parse import parse_bytes
from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Chunk, Fact, Query, StoredDocument
from nongda.settings import Settings

DOMAIN = ROOT / "assets" / "domain"

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
    return Lexicon.load(DOMAIN)


@pytest.fixture(scope="module")
def forms() -> FactForms:
    return FactForms.load(DOMAIN)


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
    assert "资料里没有查到安全间隔期的：醚菊酯[aaaaaaaa#0]" in text


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
    assert text.startswith("资料里没有查到能防稻飞虱、符合“安全间隔期不超过3天”的药剂。\n\n最接近、但不符合的：\n\n")
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
    assert text.startswith("“海拔2300米”不在资料写的适宜范围里，最接近的是：\n\n") and COFFEE[:-1] in text


def test_a_direct_question_is_not_answered_but_ranked(table, passages, words, forms):
    assert said("水稻稻飞虱打噻嗪酮每亩用多少", table, passages, words, forms) is None
    query = Query("", "水稻稻飞虱打噻嗪酮每亩用多少", "", (), words.entities("水稻稻飞虱打噻嗪酮每亩用多少"))
    assert [h.chunk_id for h in fact_hits(query, table, words, forms)] == ["aaaaaaaa#0"]
    other = Query("", "马铃薯打噻嗪酮每亩用多少", "", (), words.entities("马铃薯打噻嗪酮每亩用多少"))
    assert fact_hits(other, table, words, forms) == []
    unknown = Query("", "今天几号", "", (), ())
    assert fact_hits(unknown, table, words, forms) == []


# on the real documents

DOCUMENTS = ["水稻/01-稻瘟病", "水稻/03-稻飞虱与稻纵卷叶螟", "土壤与用药/01-酸性土壤改良与石灰用量", "土壤与用药/05-安全间隔期与稀释配药",
             "咖啡/01-生态适宜性与选址", "咖啡/19-云南主要产区气候与海拔对照", "咖啡/21-中粒种咖啡栽培", "蔬菜/02-黄瓜霜霉病与白粉病",
             "马铃薯/02-早疫病黑胫病与疮痂病"]


@pytest.fixture(scope="module")
def corpus(words):
    """The facts and passages of some documents, cut without a model."""
    extractor = FactExtractor(words, Attributes.load(DOMAIN))
    facts, found = [], {}
    for name in DOCUMENTS:
        data = (ROOT / "assets" / "corpus" / f"{name}.md").read_bytes()
        document, doc_id = clean(parse_bytes(data, f"{name}.md")), document_id(data)
        stored = StoredDocument(doc_id, name, document.meta, None, 0, 0, "")
        for place, draft in enumerate(chunk_blocks(document.blocks, Settings().chunk, None)):
            chunk = Chunk(chunk_id(doc_id, place), doc_id, place, draft.text, "", draft.kind, draft.page, draft.heading)
            found[chunk.id] = Candidate(chunk, stored, 1.0)
            facts += extractor.facts_of(chunk, document.meta)
    return table_of(facts), found


@pytest.mark.parametrize(("question", "fits", "says", "not_first"), [
    ("找出安全间隔期不超过7天、能防稻飞虱的药", False, ["没有查到能防稻飞虱", "25%噻嗪酮可湿性粉剂（水稻） | 14天"], []),
    ("哪些药能治稻瘟病，安全间隔期在14天以内", False, ["没有查到能防稻瘟病", "21～35天"], []),
    ("离收割还有10天，稻飞虱能打什么药", False, ["“离收割还有10天”", "14天"], []),
    ("黄瓜离采收3天，蚜虫能用哪些药", True, ["20%啶虫脒可溶粉剂（黄瓜） | 1天", "20%啶虫脒乳油（黄瓜） | 2天"], ["百菌清"]),
    ("黄瓜上安全间隔期2天以内的农药有哪些？", True, ["20%啶虫脒乳油（黄瓜） | 2天", "1.8%阿维菌素乳油（黄瓜） | 2天"], ["百菌清", "烯酰"]),
    ("水稻上安全间隔期不超过两周的药有哪些", True,
     ["75%百菌清可湿性粉剂（水稻） | 10天", "25%噻嗪酮可湿性粉剂（水稻） | 14天", "14天（早稻）", "28天（晚稻）"], ["仲丁威", "稻瘟灵"]),
    ("小麦上安全间隔期20天以内的药有哪些", True,
     ["25%灭幼脲悬浮剂（小麦） | 15天", "50%多菌灵可湿性粉剂（小麦） | 20天"], ["除虫脲", "甲基硫菌灵"]),
    ("哪种药安全间隔期超过20天", True, ["50%仲丁威乳油（水稻） | 21天", "50%多菌灵可湿性粉剂（水稻） | 30天"], ["噻嗪酮", "百菌清"]),
    ("pH 5.2的地适合种哪些作物", True, ["| 马铃薯 | 4.5～5.5", "| 花生 | 5.0～6.0"], ["| 水稻", "| 苜蓿"]),
    ("海拔1500米的咖啡园该选什么品种", True, ["没有查到各品种", "800～1500米"], []),
    ("pH低于5.5怎么办", True, ["土壤pH低于5.5时施石灰多能增产", "应施"], ["8.5"]),
    ("pH 5.2 的地要撒多少石灰", True, ["200～400"], ["碱性"]),
    ("pH值6.014的地要不要施石灰", True, ["pH高于5.8的地块除防根肿病等特殊需要以外不施石灰"], ["极强酸性", "；石灰的处理：应施"]),
    ("海拔2300米能种咖啡吗", False, ["“海拔2300米”不在资料写的适宜范围里"], []),
    ("山上红壤化验出来pH是5.2，这地能种小粒种咖啡吗？种的话要提防些什么？", True, ["pH低于5.5的红壤可以种植，但要留意缺钙缺镁和铝毒"], []),
    ("年降水量700毫米能种小粒种咖啡吗", False, ["“年降水量700毫米”不在资料写的适宜范围里", "不少于1000毫米"], []),
    ("pH 8的地能种马铃薯吗", True, ["不在资料写的适宜范围里", "7.0～8.0"], []),
    ("蓝莓园pH 6.5能种蓝莓吗", False, ["不在资料写的适宜范围里", "4～5"], []),
])
def test_answers_from_the_documents(corpus, words, forms, question, fits, says, not_first):
    """Read against the documents; `not_first` must not be among what fits."""
    table, found = corpus
    text, answer = said(question, table, found, words, forms)
    assert answer.fits == fits, text
    assert [s for s in says if s not in text] == [], text
    first = text.split("只有一部分符合")[0]
    assert [s for s in not_first if s in first] == [], text


@pytest.mark.parametrize("question", ["土壤pH5.3的玉米地要不要撒石灰", "茶园土壤pH5.0要不要撒石灰"])
def test_what_is_said_of_no_crop_is_not_told_for_a_named_one(corpus, words, forms, question):
    assert said(question, *corpus, words, forms) is None


def test_every_cell_is_a_documents_own_words(corpus, words, forms):
    text, answer = said("水稻上安全间隔期不超过两周的药有哪些", *corpus, words, forms)
    for cell, cited_id in re.findall(r"(\d+)天[^\[；|]*\[(\w+#\d+)\]", text):
        quotes = [q.evidence.text for p in answer.pieces for q in p.quotes if q.evidence.chunk_id == cited_id]
        assert any(f"| {cell} |" in quote for quote in quotes)


def test_tables_and_lists_stand_apart_from_the_words_around_them(corpus, words, forms):
    """A line right under a table would be read as one more row of it."""
    for question in ("水稻上安全间隔期不超过两周的药有哪些", "找出安全间隔期不超过7天、能防稻飞虱的药", "海拔1200米能种小粒种咖啡吗"):
        text, _ = said(question, *corpus, words, forms)
        lines = text.split("\n")
        for above, below in zip(lines, lines[1:], strict=False):
            kinds = {line[:1] if line[:1] in ("|", "-") else "words" for line in (above, below) if line}
            assert len(kinds) < 2, (above, below)


def test_the_nearest_row_is_placed_by_its_nearest_value(corpus, words, forms):
    text, _ = said("海拔2300米能种咖啡吗", *corpus, words, forms)
    assert text.split("- ")[1].startswith("项目：海拔（米）；")  # 小粒种 up to 1500, though its row says 800 of 中粒种 too


def test_ranked_passages_are_on_the_question_and_not_on_its_neighbours(corpus, words, forms):
    table, found = corpus
    query = Query("", "水稻上噻嗪酮的安全间隔期是几天", "", (), words.entities("水稻上噻嗪酮的安全间隔期是几天"))
    hits = fact_hits(query, table, words, forms)
    assert "25%噻嗪酮可湿性粉剂 | 14" in found[hits[0].chunk_id].chunk.text
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
