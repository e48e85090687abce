from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.tables import slice_table, table_text


def test_cells_become_a_markdown_table_without_empty_rows_and_columns():
    assert table_text([["药剂", "", "用量"], ["", "", ""], ["甲\n乙", "", "1|2"], ["丙"]]) == (
        "| 药剂 | 用量 |\n|---|---|\n| 甲 乙 | 1\\|2 |\n| 丙 |  |")


def test_nothing_in_the_cells_is_no_table():
    assert table_text([]) == "" and table_text([["", ""]]) == ""


def test_a_table_within_the_limit_stays_whole_under_its_title():
    assert slice_table("| a |\n|---|\n| 1 |", "表1", 100, 10) == ["表1\n| a |\n|---|\n| 1 |"]


def test_slices_repeat_title_and_header_and_cut_no_row():
    # head: "表1" + "| a |" + "|---|" with line ends = 14 characters; each row adds 6
    text = "| a |\n|---|\n| 1 |\n| 2 |\n| 3 |"
    assert slice_table(text, "表1", 10, 26) == [
        "表1\n| a |\n|---|\n| 1 |\n| 2 |", "表1\n| a |\n|---|\n| 3 |"]
    assert slice_table(text, "", 10, 1) == [f"| a |\n|---|\n| {n} |" for n in (1, 2, 3)]


def test_a_row_over_the_limit_goes_on_below_with_its_short_cells():
    sentences = ["甲" * 59 + "。", "乙" * 59 + "。", "丙" * 59 + "。"]
    text = f"| 病害 | 用量 | 说明 |\n|---|---|---|\n| 稻瘟病 | 20 | {''.join(sentences)} |\n| 纹枯病 | 15 | 早治 |"
    head = "| 病害 | 用量 | 说明 |\n|---|---|---|"
    assert slice_table(text, "", 100, 180) == [
        f"{head}\n| 稻瘟病 | 20 | {sentences[0]}{sentences[1]} |", f"{head}\n| 稻瘟病 | 20 | {sentences[2]} |\n| 纹枯病 | 15 | 早治 |"]


def test_two_long_cells_go_on_side_by_side():
    first, second = ("甲" * 59 + "。") * 2, ("乙" * 59 + "。") * 3
    pieces = slice_table(f"| 症状 | 防治 |\n|---|---|\n| {first} | {second} |", "", 100, 200)
    rows = [line.strip("| ").split(" | ") for piece in pieces for line in piece.split("\n")[2:]]
    assert "".join(row[0] for row in rows if row[0][0] == "甲") == first
    assert "".join(row[-1].lstrip("| ") for row in rows) == second and len(rows) == 3


def test_a_wide_table_is_parted_by_columns_that_keep_what_names_their_rows():
    names = ["防治对象", "药剂", *(f"第{n}次施药的用量（克/亩）" for n in range(1, 7))]
    rows = [names, ["稻瘟病", "三环唑", *"123456"], ["纹枯病", "井冈霉素", *"789", "", "", ""]]
    slices = slice_table(table_text(rows), "表1", 100, 180)
    # a header may take 90 characters: the two labels take 15, each column 16
    assert [s.split("\n")[1] for s in slices] == [
        f"| 防治对象 | 药剂 | {' | '.join(part)} |" for part in (names[2:6], names[6:])]
    assert [s.split("\n")[3:] for s in slices] == [
        ["| 稻瘟病 | 三环唑 | 1 | 2 | 3 | 4 |", "| 纹枯病 | 井冈霉素 | 7 | 8 | 9 |  |"], ["| 稻瘟病 | 三环唑 | 5 | 6 |"]]
    assert all(s.startswith("表1\n") for s in slices)


def test_a_barrier_inside_a_cell_parts_no_cell():
    text = table_text([["药剂", "说明"], ["甲|乙", "好" * 99 + "。" + "佳" * 99 + "。"]])
    assert [s.split("\n")[2] for s in slice_table(text, "", 10, 150)] == [
        f"| 甲\\|乙 | {c * 99}。 |" for c in "好佳"]


row_texts = st.lists(st.text("药剂2克。；|\\ \n", max_size=30), min_size=1, max_size=5)


@given(st.lists(row_texts, min_size=2, max_size=6), st.integers(0, 300), st.integers(1, 200))
def test_slices_lose_no_word_and_each_has_the_title(rows, whole, limit):
    text = table_text(rows)
    slices = slice_table(text, "表1", whole, limit)
    for cell in (cell for row in rows for cell in row):
        assert all(c in "".join(slices) for c in cell.strip() if c not in " \n")
    assert all(s.startswith("表1") for s in slices)


def test_a_name_too_long_to_stand_in_every_slice_stands_whole_in_the_first_row():
    text = table_text([["药剂", "名" * 3000], *[[f"药{i}", "1"] for i in range(2000)]])
    slices = slice_table(text, "", 1200, 600)
    assert sum(map(len, slices)) < 2 * len(text) and sum("名" * 3000 in piece for piece in slices) == 0
    assert "".join(slices).count("名") >= 3000 and all(piece.startswith("| 药剂 | 名") for piece in slices)


def test_a_cell_without_any_stop_is_cut():
    slices = slice_table(table_text([["药剂", "编码"], ["甲", "0" * 10_000]]), "", 1200, 600)
    assert max(map(len, slices)) < 1000 and "".join(slices).count("0") == 10_000
