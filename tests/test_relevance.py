"""Passages off topic: what the delivered words and weights say of passages labelled by hand."""

import json
import time

import pytest

from nongda.documents.parse import parse_file
from nongda.engine import ROOT
from nongda.errors import SettingsError
from nongda.index.relevance import Relevance
from nongda.language.lexicon import Lexicon

DOMAIN, GOLD, CORPUS = (ROOT / "assets" / name for name in ("domain", "gold", "corpus"))


@pytest.fixture(scope="module")
def relevance():
    return Relevance.load(DOMAIN, Lexicon.load(DOMAIN))


@pytest.fixture(scope="module")
def labelled():
    return [json.loads(line) for line in (GOLD / "off_topic.jsonl").read_text(encoding="utf-8").splitlines()]


def wrong(relevance, rows):
    return [r["text"] for r in rows if relevance.is_off_topic(r["title"], r["heading"], r["text"]) != r["off"]]


def test_nine_in_ten_passages_off_topic_are_marked(relevance, labelled):
    off = [row for row in labelled if row["off"]]
    assert len(off) >= 60 and len({row["kind"] for row in off}) >= 10
    assert len(wrong(relevance, off)) <= 0.1 * len(off)


def test_plain_advice_without_title_and_names_is_seldom_marked(relevance, labelled):
    on = [row for row in labelled if not row["off"]]
    assert len(on) >= 60 and len(wrong(relevance, on)) <= 0.05 * len(on)


def test_no_section_of_the_sample_documents_is_marked(relevance):
    for path in sorted(CORPUS.rglob("*.md")):
        document = parse_file(path)
        marked = [b.text for b in document.blocks if relevance.is_off_topic(document.meta.title, b.heading, b.text)]
        assert not marked, path


NOTICE = "请大家于周五前把表格交到办公室，过时不候，有事先打招呼，不要影响全单位的进度，请各位同事务必互相转告，谢谢大家的理解和支持。"
THIN = "先看清楚再动手，做完以后要记在本子上，过三天回来再看一次，没有变化的照原来的办法接着做，有变化的马上来说，不要自己拿主意。"


def test_a_passage_that_names_nothing_stays_on_topic_in_a_section_of_the_domain(relevance):
    assert relevance.is_off_topic("笔记", (), THIN)
    assert not relevance.is_off_topic("笔记", ("咖啡叶锈病", "怎样检查"), THIN)


def test_a_title_of_the_domain_does_not_save_an_imprint_or_a_notice(relevance):
    assert relevance.is_off_topic("咖啡栽培手册", (), NOTICE)
    assert relevance.is_off_topic("咖啡栽培手册", ("编委会",), "主编：甲某　副主编：乙某　委员：丙某、丁某")


def test_a_list_of_contents_is_off_topic_though_it_names_crops_and_diseases(relevance):
    assert relevance.is_off_topic("咖啡栽培手册", (), "一、叶锈病……………3\n二、炭疽病……………8\n三、果小蠹……………15\n四、施肥……………21")


def test_a_dose_is_of_the_domain_by_its_unit_alone(relevance):
    text = "甲某经多次试验认为，前后两次的结果相差不大，取中间的数最稳当，也就是按1000倍，或者折成每亩60公斤，两样都行，看手头方便。"
    assert not relevance.is_off_topic("", (), text)
    assert relevance.is_off_topic("", (), text.replace("1000倍", "老样子").replace("每亩60公斤", "平常的量"))


def test_a_few_characters_are_given_the_benefit_of_the_doubt(relevance):
    assert not relevance.is_off_topic("", (), "过三天再看一次。")
    assert relevance.is_off_topic("", (), "请凭饭卡到食堂就餐。")


def test_a_passage_takes_less_than_a_millisecond(relevance):
    text = "叶锈病的孢子随风传播，连续阴雨时每亩用药60公斤，间隔10天再喷一次。" * 7
    relevance.is_off_topic("咖啡", ("叶锈病",), text)
    fastest = min(timed(relevance, text) for _ in range(20))
    assert fastest < 0.002  # 0.5 ms on a quiet machine; twice what is promised where many work


def timed(relevance, text):
    started = time.perf_counter()
    relevance.is_off_topic("咖啡", ("叶锈病",), text)
    return time.perf_counter() - started


@pytest.mark.parametrize(("old", "new"), [
    ("[kinds]", "[kind]"), ("least = 1.0", "most = 1.0"), ("least = 1.0", 'least = "low"'), ("'索引'", "'索引('"), ("[cuts]", "[cuts"),
])
def test_a_broken_file_is_named(tmp_path, lexicon, old, new):
    text = (DOMAIN / "relevance.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "relevance.toml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(SettingsError, match=r"relevance\.toml.*恢复该文件"):
        Relevance.load(tmp_path, lexicon)


def test_a_missing_file_is_named(tmp_path, lexicon):
    with pytest.raises(SettingsError, match=r"relevance\.toml"):
        Relevance.load(tmp_path, lexicon)


def test_the_kinds_that_count_are_kinds_of_the_word_table(relevance):
    assert set(relevance._kinds) <= set(relevance._lexicon.standard_names().values())
