import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_world import FERTILISER, TABLES, cells_recovered

from nongda.documents import parse_csv as module
from nongda.documents.parse import parse_bytes
from nongda.documents.parse_csv import parse_csv, separator_of

SMALL = "药剂,用量（克/亩）\n三环唑,20\n稻瘟灵,66.5\n"
TABLE = "| 药剂 | 用量（克/亩） |\n|---|---|\n| 三环唑 | 20 |\n| 稻瘟灵 | 66.5 |"


def blocks(text, name="表.csv"):
    return [(b.kind, b.text) for b in parse_csv(text.encode("utf-8"), name).blocks]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "gb18030", "utf-16", "utf-16-le"])
def test_any_encoding_of_a_chinese_office_is_read(encoding):
    assert [b.text for b in parse_bytes(SMALL.encode(encoding), "表.csv").blocks] == [TABLE]


def test_rare_characters_of_gb18030_are_read():
    assert "| 㐂田 | 𠮷 |" in parse_bytes((SMALL + "㐂田,𠮷\n").encode("gb18030"), "表.csv").blocks[0].text


@pytest.mark.parametrize("separator", [",", ";", "\t", "，", "|", "；"])
def test_any_separator_is_told_from_the_lines(separator):
    assert blocks(SMALL.replace(",", separator)) == [("table", TABLE)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_is_read(end):
    assert blocks(SMALL.replace("\n", end)) == [("table", TABLE)]


def test_the_first_line_of_excel_states_the_separator():
    assert blocks("sep=;\n" + SMALL.replace(",", ";")) == [("table", TABLE)]


def test_quoted_cells_hold_separators_quotation_marks_and_line_breaks():
    assert blocks('药剂,说明\n甲,"早查，\n早治, ""两查""一治"\n') == [
        ("table", '| 药剂 | 说明 |\n|---|---|\n| 甲 | 早查，早治, "两查"一治 |')]


def test_commas_in_sentences_do_not_win_over_the_separator():
    assert separator_of("药剂;说明\n甲;先清园，后喷药，再补喷\n乙;不用，少用\n丙;好，好，好，好\n") == ";"


def test_title_lines_above_the_header_are_the_caption_and_the_title():
    document = parse_csv(("水稻用药推荐,\n单位：克/亩,\n\n" + SMALL).encode(), "表.csv")
    assert document.meta.title == "水稻用药推荐"
    assert [b.text for b in document.blocks] == ["表 水稻用药推荐 单位：克/亩", TABLE]


def test_a_number_kept_as_text_is_that_number_and_a_formula_is_never_computed():
    assert blocks('药剂,登记证号,合计\n甲,="PD00123",=1+2\n')[0][1].endswith("| 甲 | PD00123 | =1+2 |")


def test_ragged_rows_keep_their_columns():
    assert blocks("药剂,用量,说明\n甲\n乙,20\n丙,30,雨后补,多\n") == [
        ("table", "| 药剂 | 用量 | 说明 |  |\n|---|---|---|---|\n| 甲 |  |  |  |\n| 乙 | 20 |  |  |\n| 丙 | 30 | 雨后补 | 多 |")]


def test_tables_parted_by_a_blank_line_are_two():
    assert [text.split("\n")[0] for _, text in blocks("药剂,用量\n甲,停用\n\n肥料,时期\n尿素,拔节\n")] == [
        "| 药剂 | 用量 |", "| 肥料 | 时期 |"]


def test_an_open_quotation_mark_swallows_no_rows():
    rows = "".join(f"剂{n},{n}\n" for n in range(300))
    text = blocks('药剂,用量\n"甲,1\n' + rows)[0][1]
    assert "| 甲 | 1 |" in text and "| 剂299 | 299 |" in text


def test_rows_and_columns_beyond_the_limits_are_left_out_and_named(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 3)
    monkeypatch.setattr(module, "MAX_COLUMNS", 2)
    document = parse_csv("药剂,用量,多\n甲,1,余\n乙,2,余\n丙,3,余\n\n丁,4,余\n".encode(), "表.csv")
    assert document.blocks[0].text.split("\n")[2:] == ["| 甲 | 1 |", "| 乙 | 2 |"]
    assert document.warnings == ("这个文件太长：第 4 行到第 6 行没有读取；请拆成几份后再添加",
                                 "文件“表.csv”太宽：第 2 列以后没有读取；请拆成几份后再添加")


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.name)
def test_tables_of_the_station_are_found(case):
    buffer = io.StringIO()
    csv.writer(buffer).writerows(case.rows)
    found = parse_csv(buffer.getvalue().encode("gbk"), "表.csv").blocks[0].text
    assert cells_recovered(case.rows, found) == (sum(map(len, case.rows)),) * 2


def test_tabs_are_the_separator_of_a_tsv():
    assert FERTILISER.rows[2][4] in blocks("\n".join("\t".join(row) for row in FERTILISER.rows), "表.tsv")[0][1]


cell = st.text('药甲20,;"\n ，', min_size=1, max_size=6).filter(str.strip)


@given(st.lists(st.lists(cell, min_size=2, max_size=2), min_size=2, max_size=5))
def test_what_excel_writes_is_read_back(rows):
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows(rows)
    told = "".join(b.text for b in parse_csv(("sep=,\n" + buffer.getvalue()).encode("utf-8"), "表.csv").blocks)
    for row in rows:
        assert all(character in told for text in row for character in text if not character.isspace())


@pytest.mark.parametrize("separator", ["\t", ",", ";", "，"])
def test_a_table_whose_every_cell_is_quoted_is_parted_too(separator):
    text = "".join(separator.join(f'"{cell}"' for cell in row) + "\r\n" for row in (("药剂", "用量，克"), ("甲", "20"), ("乙", "30")))
    block, = parse_bytes(text.encode("gbk"), "表.csv").blocks
    assert block.text == "| 药剂 | 用量，克 |\n|---|---|\n| 甲 | 20 |\n| 乙 | 30 |"


def test_rows_beyond_the_limit_are_counted_and_not_kept(monkeypatch):
    monkeypatch.setattr("nongda.documents.parse_csv.MAX_ROWS", 3)
    document = parse_csv((SMALL + "".join(f"剂{n},{n}\n" for n in range(50)) + ",\n").encode(), "表.csv")
    assert "第 4 行到第 53 行没有读取" in document.warnings[0] and "剂1" not in document.blocks[0].text


def test_the_program_s_own_limit_of_cells_stays_as_it_was():
    before = csv.field_size_limit()
    parse_csv("药剂,用量\n甲,20\n".encode(), "表.csv")
    assert csv.field_size_limit() == before
