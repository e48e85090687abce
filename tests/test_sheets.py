"""The tables of words and of the program's state."""

from __future__ import annotations

import re
from html import unescape

from nongda.language.own_words import OwnWord
from nongda.ui import sheets
from nongda.ui.sheets import BadRow
from nongda.ui.texts import EN, STATUS_ZH, ZH

EVIL = "<script>alert(1)</script>"


def rows(html: str) -> list[list[str]]:
    found = re.findall(r"<tr>(.*?)</tr>", html)
    return [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)]
            for row in found]


def test_an_unreadable_moment_is_shown_as_it_is():
    assert sheets.local_time("昨天") == "昨天"


def test_the_state_becomes_one_row_a_value_under_names_people_read():
    report = {"read_only": True, "memory": {"free": 7.25}, "problems": [], "models": [{"generator": "a.gguf"}],
              "files": ["a", "b"], "documents": 1234, "memory_total": 3 * 2**29, "其他": None}
    assert rows(sheets.status(report, ZH, STATUS_ZH))[1:] == [
        ["只读", "是"], ["memory › free", "7.25"], ["问题", "无"], ["模型 › 1 › 写回答的模型", "a.gguf"],
        ["files", "a、b"], ["资料份数", "1,234"], ["内存总量", "1.5 GiB"], ["其他", "无"]]
    assert rows(sheets.status({"ready": False, "x": EVIL}, EN, {}))[1:] == [["ready", "no"], ["x", EVIL]]


def test_an_own_word_stands_with_its_kind_in_the_readers_language_and_a_button_that_knows_it():
    word = OwnWord("打\"玉米\"虫", "玉米螟", "pest")
    html = sheets.own_words([word], {}, ZH)
    assert rows(html) == [["当地叫法", "标准名", "类别", "操作"], ["打\"玉米\"虫", "玉米螟", "害虫", "删除"]]
    assert rows(sheets.own_words([word], {}, EN))[1][2:] == ["pest", "Remove"]
    (key,) = re.findall(r'data-word="([^"]*)"', html)
    assert unescape(key) == sheets.word_key(word)


def test_no_own_words_says_so_and_an_unknown_kind_stays_as_it_is():
    assert "还没有自己的词语" in sheets.own_words([], {}, ZH)
    assert rows(sheets.own_words([OwnWord("甲", "乙", "怪类")], {}, ZH))[1][2] == "怪类"


def test_a_kept_word_that_an_update_made_unusable_says_so_beside_its_button():
    html = sheets.own_words([OwnWord("甲", "乙", "pest"), OwnWord("丙", "丁", "pest")], {2: "自有词第 2 行“丙”不能用"}, ZH)
    assert [row[-1] for row in rows(html)[1:]] == ["删除", "删除⚠ 自有词第 2 行“丙”不能用"]


def test_what_is_wrong_with_a_row_stands_beside_it():
    html = sheets.bad_rows([BadRow(3, OwnWord("坏词", "玉米明"), "第 3 行“坏词”指向的“玉米明”不是标准名")], ZH)
    assert rows(html)[1] == ["坏词", "玉米明", "", "⚠ 第 3 行“坏词”指向的“玉米明”不是标准名"]
    assert "有 1 行没有保存" in html and sheets.bad_rows([], ZH) == ""


def test_problems_of_the_word_tables_are_folded_counted_and_not_all_written_out():
    html = sheets.word_problems([f"第 {n} 行缺列" for n in range(1000)], ZH)
    assert html.startswith('<details class="problems"><summary>词表中没有用上的行（1000）</summary>') and " open" not in html
    assert html.count("<li>") == 300 and sheets.word_problems((), ZH) == ""


def test_markup_in_own_words_stays_text():
    word = OwnWord(EVIL, EVIL + '" onclick="x', "<i>")
    whole = (sheets.own_words([word], {}, ZH) + sheets.bad_rows([BadRow(1, word, EVIL)], ZH) + sheets.word_problems([EVIL], ZH)
             + sheets.options([word.term]))
    assert "<script" not in whole and "<i>" not in whole and ' onclick="x' not in whole
