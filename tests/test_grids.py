from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_world import LEFT, TABLES, UP, cells_recovered, spans_of

from nongda.documents.chunk import chunk_blocks
from nongda.documents.grids import GridCell, as_caption, flowing, grid_blocks, grid_rows, read_grid
from nongda.documents.tables import table_text
from nongda.settings import ChunkSettings


def cells(*layout):
    return [GridCell(*span) for span in spans_of(layout)]


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.name)
def test_a_table_of_the_station_is_found_cell_by_cell(case):
    assert grid_rows(cells(*case.layout)) == [list(row) for row in case.rows]
    assert grid_rows(cells(*case.layout), case.header_rows) == [list(row) for row in case.rows]


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.name)
def test_a_title_over_the_width_is_the_caption_and_a_sentence_below_is_a_note(case):
    width = len(case.layout[0]) - 1
    table = read_grid(cells((case.caption, *[LEFT] * width), *case.layout, ("注：严格按登记用量使用。", *[LEFT] * width)))
    assert table.titles == (case.caption,) and table.caption == case.caption
    assert table.notes == ("注：严格按登记用量使用。",)
    assert table.rows == [list(row) for row in case.rows]


def test_outer_names_come_first_and_none_twice():
    assert grid_rows(cells(("用量", LEFT, "次数"), ("每亩用量", "每桶", UP), ("20克", "5克", "2")))[0] == [
        "每亩用量", "用量 每桶", "次数"]


def test_a_unit_of_an_outer_name_stands_last_and_gives_way_to_an_inner_one():
    assert grid_rows(cells(("药剂", "用量（克/亩）", LEFT), (UP, "苗期", "穗期（毫升/亩）"), ("甲", "20", "30")))[0] == [
        "药剂", "用量 苗期（克/亩）", "用量 穗期（毫升/亩）"]


def test_a_row_of_units_belongs_to_the_header():
    assert grid_rows(cells(("药剂", "用量", "间隔期"), ("", "克/亩", "（天）"), ("甲", "20", "7")))[0] == [
        "药剂", "用量（克/亩）", "间隔期（天）"]


def test_a_second_header_row_is_found_where_merged_cells_were_lost():
    assert grid_rows(cells(("药剂", "用量", "", "安全间隔期"), ("", "苗期", "穗期", ""), ("甲", "20", "25", "7"))) == [
        ["药剂", "用量 苗期", "用量 穗期", "安全间隔期"], ["甲", "20", "25", "7"]]


def test_a_row_of_words_without_merged_cells_above_it_is_no_header():
    rows = [["时期", "做法", "次数"], ["苗期", "查虫", "多次"], ["穗期", "喷药", "2"]]
    assert grid_rows(cells(*rows)) == rows


def test_a_table_without_header_keeps_its_rows():
    rows = grid_rows(cells(("水稻", "三环唑", "20"), (UP, "稻瘟灵", "80"), (UP, "春雷霉素", "100")))
    assert rows[1:] == [["水稻", "稻瘟灵", "80"], ["水稻", "春雷霉素", "100"]]


def test_years_under_a_merged_name_are_names_and_amounts_are_not():
    assert grid_rows(cells(("品种", "产量", LEFT), ("", "2022", "2023"), ("甲", "600", "610")))[0] == [
        "品种", "产量 2022", "产量 2023"]
    assert grid_rows(cells(("品种", "产量", LEFT), ("甲", "600", "610")))[0] == ["品种", "产量", "产量"]


def test_a_value_merged_to_the_right_stands_once_and_one_merged_down_in_each_row():
    assert grid_rows(cells(("药剂", "苗期", "穗期", "次数"), ("甲", "20", LEFT, "2"), ("乙", "停用", "30", UP)))[1:] == [
        ["甲", "20", "", "2"], ["乙", "停用", "30", "2"]]


def test_rows_and_columns_that_only_merged_cells_pass_through_go():
    assert grid_rows([GridCell("药剂", 0, 0, 1, 2), GridCell("用量", 0, 2, 1, 3), GridCell("甲", 1, 0, 2, 2),
                      GridCell("20", 1, 2, 2, 3), GridCell("乙", 3, 0, 1, 2), GridCell("30", 3, 2, 1, 3)]) == [
        ["药剂", "用量"], ["甲", "20"], ["乙", "30"]]


def test_a_row_over_the_whole_width_names_the_rows_below_it():
    assert grid_rows(cells(("药剂", "用量"), ("水稻", LEFT), ("甲", "20"), ("小麦", LEFT), ("乙", "30"))) == [
        ["", "药剂", "用量"], ["水稻", "甲", "20"], ["小麦", "乙", "30"]]


def test_a_header_repeated_for_each_page_stands_once():
    assert grid_rows(cells(("药剂", "用量"), ("甲", "20"), ("药剂", "用量"), ("乙", "30"))) == [
        ["药剂", "用量"], ["甲", "20"], ["乙", "30"]]


def test_title_unit_and_date_above_the_header_make_the_caption():
    table = read_grid(cells(("水稻用药推荐", LEFT, LEFT), ("单位：克/亩", "", "制表：3月"), ("药剂", "用量", "次数"), ("甲", "20", "2")))
    assert table.caption == "表 水稻用药推荐 单位：克/亩 制表：3月"
    assert table.rows == [["药剂", "用量", "次数"], ["甲", "20", "2"]]


def test_a_caption_keeps_the_form_by_which_chunks_know_it():
    assert [as_caption(t) for t in ("", "表3 用量", "附表", "续表", "用量如下：", "用量")] == [
        "", "表3 用量", "附表", "续表", "用量如下：", "表 用量"]


def test_the_caption_stays_with_its_table_in_a_chunk():
    blocks = grid_blocks(cells(("水稻用药推荐", LEFT), ("药剂", "用量"), ("甲", "20")), page=2)
    chunk, = chunk_blocks(blocks, ChunkSettings(), None)
    assert (chunk.kind, chunk.page) == ("table", 2)
    assert chunk.text == "表 水稻用药推荐\n| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |"


def test_a_long_explanation_above_the_header_is_a_paragraph():
    long = "按农药登记的作物和用量使用，" * 8
    blocks = grid_blocks(cells((long, LEFT), ("药剂", "用量"), ("甲", "20")))
    assert [(b.kind, b.text[:4]) for b in blocks] == [("paragraph", long[:4]), ("table", "| 药剂")]


def test_a_form_of_lines_with_colons_keeps_its_rows():
    rows = [["品种：甲优1号", "编号：2020001"], ["类型：杂交稻", "生育期：128天"], ["产量：560公斤/亩", "抗性：中抗"]]
    assert grid_blocks(cells(*rows))[0].text.count("\n") == 3


def test_titles_beyond_a_caption_are_paragraphs_and_none_is_lost():
    titles = [f"第{n}行说明" + "甲" * 40 for n in range(3)]
    blocks = grid_blocks(cells(*((title, LEFT) for title in titles), ("药剂", "用量"), ("甲", "20")))
    # each has 45 characters: two and the space between them are 91, one too many
    assert [b.text for b in blocks[:-1]] == [titles[1], titles[2], f"表 {titles[0]}"]


def test_a_single_column_is_text_in_a_frame():
    assert [(b.kind, b.text) for b in grid_blocks(cells(("提示：\n先清园。",), ("1、喷药",)))] == [
        ("paragraph", "提示："), ("paragraph", "先清园。"), ("list", "1、喷药")]


def test_lines_of_a_cell_are_parted_by_a_space_unless_a_mark_parts_them():
    assert flowing("三环唑\n稻瘟灵") == "三环唑 稻瘟灵"
    assert flowing("先清园；\n\n 再喷药\n（雨前）") == "先清园；再喷药（雨前）"


def test_a_header_broken_for_width_is_one_name():
    assert grid_rows(cells(("药剂", "安全间\n隔期\n（天）"), ("甲", "7")))[0] == ["药剂", "安全间隔期（天）"]


def test_spans_beyond_the_table_take_no_memory():
    assert grid_rows([GridCell("甲", 0, 0, 10**9, 10**9), GridCell("乙", 10**6, 10**6)]) == [
        ["甲", "甲"], ["甲", "乙"]]
    assert read_grid([]).rows == [] and grid_blocks([]) == []


def test_lost_rows_and_columns_cost_only_their_own_cells():
    rows = TABLES[0].rows
    assert cells_recovered(rows, "前文\n" + table_text(rows)) == (25, 25)
    assert cells_recovered(rows, table_text(rows[:2] + rows[3:])) == (20, 25)
    assert cells_recovered(rows, table_text([row[:1] + row[2:] for row in rows])) == (20, 25)
    assert cells_recovered(rows, table_text([(*row[:2], "错", *row[3:]) for row in rows])) == (20, 25)
    assert cells_recovered(rows, "") == (0, 25)


places = st.dictionaries(
    st.tuples(st.integers(0, 6), st.integers(0, 5)), st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=20)


@given(places, st.sampled_from(["", "20", "（克）", "："]))
def test_every_row_has_the_header_s_width_and_no_cell_is_lost(found, tail):
    cells = [GridCell(chr(0x4E00 + n) + tail, *place, *span) for n, (place, span) in enumerate(found.items())]
    table = read_grid(cells)
    assert len({len(row) for row in table.rows}) <= 1
    told = "".join([*table.titles, *table.notes, *(text for row in table.rows for text in row)])
    assert all(cell.text[0] in told for cell in cells)


def test_a_long_cell_merged_over_very_many_rows_is_not_repeated():
    rows = [GridCell("甲", 0, 0), GridCell("乙", 0, 1), GridCell("长" * 1000, 1, 0, rows=500)]
    rows += [GridCell(str(row), row, 1) for row in range(1, 501)]
    assert sum(row[0].count("长") for row in grid_rows(rows)) == 1000
    short = [replace(cell, text="短") if cell.rows > 1 else cell for cell in rows]
    assert sum(row[0].count("短") for row in grid_rows(short)) == 500
