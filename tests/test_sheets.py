"""The tables of documents and of the program's state."""

from __future__ import annotations

import re
import time
from html import unescape

import pytest
from fake_desk import stored

from nongda.ui import sheets
from nongda.ui.sheets import FileState
from nongda.ui.texts import EN, STATUS_ZH, ZH

EVIL = "<script>alert(1)</script>"


def rows(html: str) -> list[list[str]]:
    found = re.findall(r"<tr>(.*?)</tr>", html)
    return [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)]
            for row in found]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone is set by the environment")
def test_the_table_of_documents_shows_each_with_its_numbers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        html = sheets.documents([stored("1a2b3c4d", "叶锈病", "锈.md", sample=False)], ZH)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert rows(html)[1] == ["叶锈病", "锈.md", "4", "9", "2,310", "2024-05-01 10:03"]


def test_a_document_without_a_title_is_shown_by_its_file_and_markup_stays_text():
    html = sheets.documents([stored("1a2b3c4d", "", EVIL)], ZH)
    assert "<script" not in html and rows(html)[1][1] == EVIL and rows(html)[1][0].startswith(EVIL)


def test_an_empty_knowledge_base_says_what_to_do():
    assert "还没有资料" in sheets.documents([], ZH)


def test_an_unreadable_moment_is_shown_as_it_is():
    assert sheets.local_time("昨天") == "昨天"


def test_a_file_being_added_shows_how_far_it_is():
    html = sheets.adding([FileState("a.md", "adding", 3, 8), FileState("b.md"),
                          FileState(EVIL, "failed", message=EVIL, warnings=("少一页",))], ZH)
    assert 'value="3" max="8"' in html and "3 / 8 段" in html
    assert "等待" in html and "未加入" in html and "少一页" in html and "<script" not in html


def test_the_state_becomes_one_row_a_value_under_names_people_read():
    report = {"read_only": True, "memory": {"free": 7.25}, "problems": [], "models": [{"generator": "a.gguf"}],
              "files": ["a", "b"], "documents": 1234, "memory_total": 3 * 2**29, "其他": None}
    assert rows(sheets.status(report, ZH, STATUS_ZH))[1:] == [
        ["只读", "是"], ["memory › free", "7.25"], ["问题", "无"], ["模型 › 1 › 写回答的模型", "a.gguf"],
        ["files", "a、b"], ["资料份数", "1,234"], ["内存总量", "1.5 GiB"], ["其他", "无"]]
    assert rows(sheets.status({"ready": False, "x": EVIL}, EN, {}))[1:] == [["ready", "no"], ["x", EVIL]]
