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
