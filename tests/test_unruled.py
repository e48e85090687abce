import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_world import Sheet, lines_of_sheet

from nongda.documents.pdf_layout import layout
from nongda.documents.unruled import is_caption


def kinds(sheet):
    return [item.kind for item in layout([lines_of_sheet(sheet)])]


def rows_at(sheet, rows, xs, y=700.0, pitch=18.0):
    for row in rows:
        for x, text in zip(xs, row, strict=True):
            if text:
                sheet.text(x, y, text)
        y -= pitch


def test_empty_cells_stay_empty():
    sheet = Sheet()
    rows_at(sheet, [("品种", "2022年", "2023年"), ("甲", "500", "510"), ("乙", "", "480"), ("丙", "470", "")], (60, 200, 320))
    (item,) = layout([lines_of_sheet(sheet)])
    assert item.text == "| 品种 | 2022年 | 2023年 |\n|---|---|---|\n| 甲 | 500 | 510 |\n| 乙 |  | 480 |\n| 丙 | 470 |  |"


def test_two_rows_are_a_table_only_under_a_caption():
    rows = [("氮", "磷", "钾"), ("12", "6", "8")]
    without, below = Sheet(), Sheet()
    rows_at(without, rows, (60, 200, 320))
    below.text(60, 718, "表3 亩施纯养分（公斤）")
    rows_at(below, rows, (60, 200, 320))
    assert "table" not in kinds(without) and kinds(below) == ["paragraph", "table"]


def test_a_table_of_contents_and_a_list_with_hanging_marks_are_no_tables():
    contents, items = Sheet(), Sheet()
    rows_at(contents, [("症状识别" + "." * 40, "3"), ("发生规律" + "." * 40, "5"), ("综合防治" + "." * 40, "9")], (60, 500))
    rows_at(items, [("a)", "选用抗病品种"), ("b)", "清除田间病残体"), ("c)", "合理密植通风")], (60, 100))
    assert "table" not in kinds(contents) and "table" not in kinds(items)


def test_a_note_and_a_heading_behind_a_table_are_not_its_rows():
    sheet = Sheet()
    rows_at(sheet, [("病害", "药剂"), ("锈病", "三唑酮"), ("白粉病", "腈菌唑"), ("注：以上为参考。", ""), ("二、虫害", "")], (60, 220))
    table, note, heading = layout([lines_of_sheet(sheet)])
    assert table.text.endswith("| 白粉病 | 腈菌唑 |") and note.text == "注：以上为参考。" and heading.text == "二、虫害"


@pytest.mark.parametrize(("text", "caption"), [
    ("表1 水稻用药", True), ("表 2-1　施肥量", True), ("附表 杂草", True), ("表一 品种", True), ("表土要疏松", False),
    ("表1列出了各地试验的结果，可供参考。", False), ("如表1", False)])
def test_captions_are_told_from_text(text, caption):
    assert is_caption(text) is caption


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(4, 16), min_size=2, max_size=4), min_size=3, max_size=12))
def test_justified_prose_with_gaps_never_becomes_a_table(lines):
    """Each line fills its width with phrases of any length, the gaps between them stretched."""
    sheet = Sheet()
    for number, phrases in enumerate(lines):
        gap = (480 - 10.5 * sum(phrases)) / (len(phrases) - 1)
        if not 3.5 < gap < 12:
            phrases, gap = [21, 24], 7.5
        x = 60.0
        for length in phrases:
            sheet.text(x, 780 - 16 * number, ("地温稳定通过十二摄氏度后播种" * 3)[number:number + length])
            x += 10.5 * length + gap
    assert "table" not in kinds(sheet)
