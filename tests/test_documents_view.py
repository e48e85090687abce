"""The list of documents and the head of one: what a reader sees, in words and signs."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from html import unescape

import pytest
from fake_desk import stored

from nongda.intake import PageReading
from nongda.records import StoredDocument
from nongda.ui import documents_view
from nongda.ui.documents_view import Related
from nongda.ui.texts import EN, ZH

EVIL = "<script>alert(1)</script>\"' onclick=x"
TODAY = "2026-11-30"
RUST = stored("1a2b3c4d", "叶锈病", "锈.md", sample=False)


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def cells(html: str) -> list[list[str]]:
    return [[plain(cell) for cell in re.findall(r"<td.*?</td>", row)] for row in re.findall(r"<tr data-open.*?</tr>", html)]


def with_meta(document: StoredDocument, **changes: object) -> StoredDocument:
    return replace(document, meta=replace(document.meta, **changes))


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone is set by the environment")
def test_a_document_s_row_has_its_state_numbers_and_origin(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        html = documents_view.documents([RUST], 1, 1, TODAY, ZH)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert cells(html) == [["叶锈病锈.md", "✓ 使用中", "4", "9", "2024-03-01", "示例农技站", "云南普洱", "", "手工加入",
                            "2024-05-01 10:03"]]
    assert "共 1 份资料" in html


def test_a_row_opens_its_document_by_a_button_with_words_for_a_screen_reader():
    html = documents_view.documents([RUST], 51, 120, TODAY, ZH)
    assert re.findall(r'<button [^>]*data-open="1a2b3c4d"[^>]*aria-label="查看《叶锈病》"', html)
    assert "第 51–51 份，共 120 份资料" in html


def test_a_document_without_a_title_is_shown_by_its_file_once_and_markup_stays_text():
    html = documents_view.documents([stored("1a2b3c4d", "", EVIL)], 1, 1, TODAY, ZH)
    assert "<script" not in html and '" onclick' not in html and plain(html).count(EVIL) == 1


def test_what_needs_attention_is_said_in_words_with_a_sign():
    bad = replace(with_meta(RUST, valid_until="2026-11-29"), doubtful=2, off_topic=3, similar=("5e6f7a8b",), warnings=("甲", "乙"))
    assert documents_view.attention(bad, TODAY, ZH) == [
        "已过有效期", "2 页识别不清", "3 段与农业无关", "与 1 份相似", "2 条提醒"]
    assert cells(documents_view.documents([bad], 1, 1, TODAY, ZH))[0][7].startswith("⚠")
    assert documents_view.attention(RUST, TODAY, ZH) == []


@pytest.mark.parametrize(("until", "expired"), [("2026-11-29", True), ("2026-11-30", False), ("2026-10", True), ("2026-11", False),
                                                ("2025", True), ("2026", False), ("", False)])
def test_a_document_holds_until_the_end_of_its_last_day_month_or_year(until: str, expired: bool):
    assert documents_view.is_expired(with_meta(RUST, valid_until=until), TODAY) is expired


def test_an_old_edition_leads_to_its_newer_one_and_back():
    old, new = replace(RUST, state="superseded", superseded_by="5e6f7a8b"), stored("5e6f7a8b", "叶锈病新版", "新.md")
    html = documents_view.title(old, Related(newer=new), ZH)
    assert "已有新版，回答不再用这一份：叶锈病新版" in plain(html) and 'data-open="5e6f7a8b"' in html and "↻" in html
    assert "旧的出处仍能在这里看到" in documents_view.title(old, Related(), ZH)
    assert "它代替了：叶锈病" in plain(documents_view.head(new, Related(older=(old,)), (), TODAY, ZH))


@pytest.mark.parametrize(("state", "said"), [("retired", "恢复使用"), ("removed", "已删除，回答不再用这一份")])
def test_a_document_out_of_use_says_so_in_words(state: str, said: str):
    assert said in documents_view.title(replace(RUST, state=state), Related(), ZH)
    assert "banner" not in documents_view.title(RUST, Related(), ZH)


def test_the_head_names_bad_pages_similar_documents_and_warnings():
    readings = [PageReading(1, "text"), PageReading(2, "ocr", 0.5, "字", "字迹不清<b>"), PageReading(3, "unread"),
                PageReading(4, "ocr", 0.899), PageReading(5, "ocr", 0.9)]
    bad = replace(with_meta(RUST, valid_until="2020"), off_topic=1, warnings=("缺一页",))
    said = plain(documents_view.head(bad, Related(similar=(stored("5e6f7a8b", "孪生", "x"),)), readings, TODAY, ZH))
    for words in ("有效期到 2020 为止，已经过期", "缺一页", "第 2 页：字迹不清<b>", "第 3 页没有读进来", "第 4 页识别的可信度只有 90%",
                  "有 1 段看来与农业无关", "几乎相同：孪生"):
        assert words in said
    assert "第 5 页" not in said and "第 1 页" not in said


def test_a_hundred_bad_pages_do_not_fill_the_head():
    readings = [PageReading(n, "unread") for n in range(1, 101)]
    said = documents_view.head(RUST, Related(), readings, TODAY, ZH)
    assert said.count("没有读进来") == 8 and "还有 92 页也要对照原件" in said


def test_the_head_has_all_a_document_says_of_itself_and_only_that():
    said = plain(documents_view.head(with_meta(RUST, tags=("咖啡", "病害"), sources=("甲", "乙"), stage=""), Related(), (), TODAY, ZH))
    assert "标签咖啡、病害" in said and "出处甲；乙" in said and "编号1a2b3c4d" in said and "阶段" not in said and "有效期" not in said


def test_markup_in_what_a_document_says_stays_text():
    evil = replace(with_meta(stored("1a2b3c4d", EVIL, EVIL), region=EVIL, date=EVIL, stage=EVIL, authority=EVIL, tags=(EVIL,),
                             sources=(EVIL,), valid_until="1" + EVIL), warnings=(EVIL,), origin=EVIL, superseded_by=EVIL,
                   state="superseded", added_at=EVIL, id=EVIL)
    for texts in (ZH, EN):
        whole = (documents_view.documents([evil], 1, 1, TODAY, texts) + documents_view.title(evil, Related(evil), texts)
                 + documents_view.head(evil, Related(evil, (evil,), (evil,)), [PageReading(1, "ocr", 0.1, EVIL, EVIL)], TODAY, texts))
        assert "<script" not in whole and "' onclick" not in whole and '" onclick' not in whole
