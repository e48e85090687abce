"""What the command line prints of an answer, in the order in which it must be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.console import answer_object, plain_tables, print_answer
from nongda.records import Answer, Citation, Delta, Note, Reading

RUST = Citation("1a2b3c4d#3", "叶锈病", "叶锈病.md", 3, ("病害", "叶锈病"), "喷0.5%波尔多液。", "某州农科所", "云南", "2010", "雨季",
                "资料日期 2010，已超过 8 年。")
LAW = Citation("5e6f7a8b#0", "名录", "名录.md", None, (), "克百威禁用。")
ANSWER = Answer(
    "问", "问", "喷波尔多液。[1a2b3c4d#3]", False, (RUST,), warnings=("按标签用药",),
    notes=(Note("interval", "采收前14天停药。", (RUST,)), Note("law", "克百威自2024年起禁用。", (LAW,))))


def printed(answer: Answer, capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_answer([Delta(answer.text), answer])
    return capsys.readouterr().out.splitlines()


def test_the_law_is_read_before_the_text_and_sources_last(capsys: pytest.CaptureFixture[str]):
    assert printed(ANSWER, capsys) == [
        "【摘录原文】",
        "！农药法规：克百威自2024年起禁用。",
        "喷波尔多液。[1a2b3c4d#3]",
        "安全间隔期：采收前14天停药。",
        "提示：按标签用药",
        "[1a2b3c4d#3] 叶锈病.md / 病害 / 叶锈病：喷0.5%波尔多液。",
        "    来源：某州农科所 · 云南 · 2010 · 雨季",
        "    ！请留意：资料日期 2010，已超过 8 年。",
        "[5e6f7a8b#0] 名录.md：克百威禁用。",
    ]


def test_a_question_back_lists_its_choices(capsys: pytest.CaptureFixture[str]):
    back = Answer("土蚕", "土蚕", "问的是哪一种？", False, kind="question", choices=("小地老虎怎么治", "蛴螬怎么治"))
    assert printed(back, capsys) == ["【请先说明】", "问的是哪一种？", "  1. 小地老虎怎么治", "  2. 蛴螬怎么治"]


@pytest.mark.parametrize(("kind", "said"), [("checked", "已核对"), ("computed", "按公式计算"), ("refused", "未找到")])
def test_the_kind_is_said(kind: str, said: str, capsys: pytest.CaptureFixture[str]):
    assert printed(Answer("问", "问", "答", False, kind=kind), capsys)[0] == f"【{said}】"


def test_a_refusal_is_said_whatever_its_kind(capsys: pytest.CaptureFixture[str]):
    assert printed(Answer("问", "问", "未找到", True), capsys)[0] == "【未找到】"


def test_the_json_object_carries_kind_notes_and_choices():
    value = answer_object(ANSWER)
    assert (value["kind"], value["choices"], value["notes"][1]["kind"]) == ("quoted", [], "law")
    assert value["notes"][0]["citations"][0]["quote"] == "喷0.5%波尔多液。"
    assert value["citations"][0]["remark"] == "资料日期 2010，已超过 8 年。"


CHAIN = "先看：\n| 症状 | 药剂 | 间隔 |\n|---|:--|---|\n| 黄粉[1a2b3c4d#3] | 波尔多液 | 15天 |\n| 枯死 | 资料中没有写 |\n完。"


def test_what_was_understood_and_where_a_source_holds_are_read_before_the_text(capsys: pytest.CaptureFixture[str]):
    answer = Answer("打玉米虫", "打玉米虫", "用药。", False, readings=(Reading("打玉米虫", "玉米螟"),),
                    notes=(Note("checked", "改过一句。"), Note("trust", "资料讲的是孕穗期。"), Note("law", "甲禁用。")))
    assert printed(answer, capsys) == [
        "【摘录原文】", "已按“玉米螟”理解“打玉米虫”", "！农药法规：甲禁用。", "！资料适用范围：资料讲的是孕穗期。", "用药。",
        "核对情况：改过一句。"]
    assert answer_object(answer)["readings"] == [{"surface": "打玉米虫", "term": "玉米螟"}]


def test_a_table_is_aligned_where_the_line_is_long_enough():
    assert plain_tables(CHAIN, 80).split("\n") == [
        "先看：",
        "症状              药剂          间隔",
        "-" * 36,
        "黄粉[1a2b3c4d#3]  波尔多液      15天",
        "枯死              资料中没有写",
        "完。",
    ]


def test_a_table_is_a_list_of_rows_where_the_line_is_short():
    assert plain_tables(CHAIN, 35).split("\n") == [
        "先看：", "· 症状：黄粉[1a2b3c4d#3]；药剂：波尔多液；间隔：15天", "· 症状：枯死；药剂：资料中没有写", "完。"]


def test_a_table_without_a_rule_at_the_end_of_a_text_with_a_bar_in_a_cell_keeps_it():
    assert plain_tables("| 甲 | 乙 |\n| 一\\|二 | 三 |", 80) == "甲     乙\n---------\n一|二  三"


def test_what_is_no_table_stays_as_it_is():
    for text in ("| 一 | 二 |", "甲 | 乙\n丙 | 丁", "", "先。\n\n后。"):
        assert plain_tables(text, 80) == text


@given(st.lists(st.sampled_from(["|", "\n", "\n| ", "|---|\n", "字", " ", "\\|", "-", "\n\n"]), max_size=20).map("".join),
       st.integers(1, 60))
def test_no_cell_below_the_names_of_columns_is_lost(rows: str, columns: int):
    assert plain_tables(f"| 甲 | 乙 |\n|---|---|\n{rows}", columns).count("字") == rows.count("字")


def test_the_first_row_of_a_narrow_table_without_a_rule_is_a_row_like_the_others():
    assert plain_tables("|字|\n| |文|", 1) == "· 字\n· 文"
