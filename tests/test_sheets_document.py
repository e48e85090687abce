from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.grids import GridCell
from nongda.documents.sheets import Sheet, limit_warning, named, sheet_blocks, sheets_document

TABLE = [GridCell("药剂", 0, 0), GridCell("用量", 0, 1), GridCell("甲", 1, 0), GridCell("停用", 1, 1)]


def moved(cells, rows, columns=0):
    return [GridCell(c.text, c.row + rows, c.column + columns, c.rows, c.columns) for c in cells]


def test_numbers_after_a_blank_row_go_on_with_the_table_and_a_new_header_does_not():
    numbers = [GridCell("乙", 3, 0), GridCell("20", 3, 1)]
    assert [b.text.count("\n") for b in sheet_blocks([*TABLE, *numbers])] == [3]
    assert [b.text.count("\n") for b in sheet_blocks([*TABLE, *moved(TABLE, 3)])] == [2, 2]


def test_a_title_without_a_table_is_text():
    assert [(b.kind, b.text) for b in sheet_blocks([GridCell("用药", 0, 0), *moved([GridCell("完。", 0, 0)], 2)])] == [
        ("paragraph", "用药"), ("paragraph", "完。")]


def test_an_empty_sheet_keeps_its_number_and_is_no_heading():
    document = sheets_document([Sheet("封面", ()), Sheet("用药", tuple(TABLE))], "册.xlsx")
    assert [(b.page, b.heading) for b in document.blocks] == [(2, ("用药",))] and document.pages == 2


def test_warnings_name_the_first_of_many():
    assert named([f"A{n}" for n in range(1, 8)]) == "“A1”、“A2”、“A3”、“A4”、“A5” 等 7 个"
    assert limit_warning("用药", 30, 20) == "工作表“用药”太长：第 21 行到第 30 行没有读取；请拆成几份后再添加"


@given(st.dictionaries(st.tuples(st.integers(0, 12), st.integers(0, 8)), st.tuples(st.integers(1, 3), st.integers(1, 3)), max_size=30))
def test_no_cell_of_a_sheet_is_lost_and_none_makes_it_fail(places):
    cells = [GridCell(chr(0x4E00 + n), *place, *span) for n, (place, span) in enumerate(places.items())]
    told = "".join(b.text for b in sheet_blocks(cells))
    assert all(cell.text in told for cell in cells)
