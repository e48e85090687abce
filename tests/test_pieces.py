"""The pieces of a passage: what is quoted, and what stands above it."""

import pytest

from nongda.documents.pieces import cells_of, header_above, heading_above, piece_spans

TABLE = "用量\n| 药剂 | 用量 |\n|---|---|\n| 三环唑 | 20克 |\n| | |\n| 稻瘟灵 | 100克 |"


def pieces(text, kind="paragraph"):
    return [text[a:b] for a, b in piece_spans(text, kind)]


def test_sentences_are_pieces_and_a_heading_on_its_own_line_is_none():
    assert pieces("防治时期\n破口期喷药。齐穗期再喷！") == ["破口期喷药。", "齐穗期再喷！"]


def test_rows_are_pieces_but_title_header_and_empty_rows_are_not():
    assert pieces(TABLE, "table") == ["| 三环唑 | 20克 |", "| 稻瘟灵 | 100克 |"]


def test_a_table_without_a_rule_has_rows_only():
    assert pieces("| a | b |\n| c | d |", "table") == ["| a | b |", "| c | d |"]
    assert header_above("| a | b |\n| c | d |", 10) == []


def test_the_heading_and_the_header_above_are_the_nearest():
    text = "识别\n叶片有斑。\n防治\n喷药。"
    assert heading_above(text, text.index("喷药")) == "防治"
    assert heading_above(text, text.index("叶片")) == "识别"
    assert header_above(TABLE, TABLE.index("| 稻瘟灵")) == ["药剂", "用量"]


@pytest.mark.parametrize(("row", "cells"), [("| a | b |", ["a", "b"]), ("| a || b |", ["a", "", "b"])])
def test_cells_lose_the_space_around_them_and_keep_their_places(row, cells):
    assert cells_of(row) == cells
