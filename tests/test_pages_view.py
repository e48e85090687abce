"""The passages of a document and the pictures of its pages."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html import unescape

from fake_library import TABLE
from hypothesis import given
from hypothesis import strategies as st

from nongda.intake import PageReading
from nongda.records import Chunk
from nongda.ui import pages_view
from nongda.ui.texts import ZH

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"
CHUNK = Chunk("1a2b3c4d#7", "1a2b3c4d", 7, "剪除病枝。", "剪除病枝", "paragraph", 3, ("病害", "叶锈病"))


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", " ", html))


def test_a_passage_shows_its_id_page_heading_kind_and_text():
    said = plain(pages_view.chunks([CHUNK], 1, 1, "", True, ZH))
    for words in ("读进来的内容（1 段）", "[1a2b3c4d#7]", "正文", "看第 3 页原件", "病害 › 叶锈病", "剪除病枝。"):
        assert words in said
    assert "与农业无关" not in said and "识别可能有误" not in said


def test_a_passage_off_topic_or_badly_read_says_so_in_words():
    html = pages_view.chunks([replace(CHUNK, off_topic=True, confidence=0.899), replace(CHUNK, confidence=0.9)], 1, 2, "", True, ZH)
    assert html.count("与农业无关") == 1 and html.count("识别可能有误") == 1


def test_the_passage_a_citation_names_is_the_one_marked():
    other = replace(CHUNK, id="1a2b3c4d#8")
    html = pages_view.chunks([CHUNK, other], 201, 500, other.id, True, ZH)
    assert re.findall(r'class="chunk target" aria-current="true" data-chunk="([^"]*)"', html) == ["1a2b3c4d#8"]
    assert html.count("回答引用的就是这一段") == 1 and "第 201–202 段，共 500 段" in html


def test_without_pictures_a_page_is_named_but_cannot_be_pressed():
    html = pages_view.chunks([CHUNK], 1, 1, "", False, ZH)
    assert "第 3 页" in html and "data-leaf" not in html and "<button" not in html
    assert "页" not in plain(pages_view.chunks([replace(CHUNK, page=None)], 1, 1, "", True, ZH))
    assert "没有读进来的内容" in pages_view.chunks([], 1, 0, "", True, ZH)


def test_a_table_in_a_passage_is_a_table_with_its_title_above():
    html = pages_view.passage(TABLE)
    assert re.findall(r"<th [^>]*>(.*?)</th>", html) == ["药剂", "每亩用量", "间隔"]
    assert re.findall(r"<td[^>]*>(.*?)</td>", html) == ["甲药", "40克", "15天", "乙药&lt;b&gt;x&lt;/b&gt;", "20毫升", "7天"]
    assert html.startswith("<p>表 1 用量</p>")


@given(st.text(alphabet="ab甲|-:\n<&\"'\\ ", max_size=60))
def test_no_text_of_a_passage_becomes_markup_and_none_of_its_words_is_lost(text: str):
    html = pages_view.passage(text)
    assert not set(re.findall(r"</?([a-z]+)", html)) - {"p", "table", "thead", "tbody", "tr", "th", "td", "div"}
    assert set("ab甲<&") & set(text) <= set(unescape(re.sub(r"<[^>]*>", "", html)))


def test_a_picture_is_inside_the_page_with_words_for_those_who_do_not_see_it():
    html = pages_view.picture(b"\xff\xd8x", "叶<锈>病", 2, 4, PageReading(2, "text"), ZH)
    (source,) = re.findall(r'src="data:image/jpeg;base64,([^"]*)"', html)
    assert base64.b64decode(source) == b"\xff\xd8x"
    assert 'alt="《叶&lt;锈&gt;病》第 2 页的原件"' in html and "第 2 页，共 4 页" in html and "OCR" not in html


def test_a_page_read_by_recognition_shows_what_was_read_how_surely_and_what_is_wrong():
    said = plain(pages_view.picture(b"x", "甲", 2, 4, PageReading(2, "ocr", 0.62, "每苗用量40克", "字迹不清"), ZH))
    assert "OCR 读到的文字（平均可信度 62%）" in said and "每苗用量40克" in said and "第 2 页：字迹不清" in said


def test_a_page_left_out_says_so_and_a_picture_that_is_missing_too():
    said = plain(pages_view.picture(None, "甲", 4, 4, PageReading(4, "unread"), ZH))
    assert "第 4 页没有读进来" in said and "这一页没有读到文字" in said and "原件显示不出来" in said
    assert "OCR" not in pages_view.picture(b"x", "甲", 1, 1, None, ZH)


def test_markup_in_passages_and_in_what_was_read_stays_text():
    evil = replace(CHUNK, text=EVIL + "\n" + "|" + EVIL + "|\n|-|", heading=(EVIL,), id='1a"2#1')
    whole = pages_view.chunks([evil], 1, 1, evil.id, True, ZH) + pages_view.picture(
        b"x", EVIL, 1, 1, PageReading(1, "ocr", 0.3, EVIL, EVIL), ZH)
    assert "<script" not in whole and "<img src=x" not in whole and 'data-chunk="1a"' not in whole


