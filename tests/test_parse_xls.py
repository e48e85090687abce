import pytest
from biff import error_cell, formula_cell, merged, number_cell, record, text_cell, workbook
from ole_world import ole
from table_world import LEFT, TABLES, cells_recovered, spans_of

from nongda.documents import parse_xls as module
from nongda.documents.parse import parse_bytes
from nongda.documents.parse_xls import parse_xls
from nongda.errors import DocumentError


def sheet(layout, version=8, encoding="utf-16-le"):
    records, areas = [], []
    for text, r, c, rows, columns in spans_of(layout):
        if text.replace(".", "", 1).isdigit():
            records.append(number_cell(r, c, float(text)))
        elif text:
            records.append(text_cell(r, c, text, version, encoding))
        if rows > 1 or columns > 1:
            areas.append((r, r + rows - 1, c, c + columns - 1))
    return [*records, *([merged(areas)] if areas else [])]


SMALL = (("药剂", "用量"), ("甲", "20"))


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.name)
def test_merged_headers_and_labels_are_found_under_the_title(case):
    title = (case.caption, *[LEFT] * (len(case.layout[0]) - 1))
    caption, table = parse_bytes(workbook({"Sheet1": sheet((title, *case.layout))}), "表.xls").blocks
    assert caption.text == case.caption
    assert cells_recovered(case.rows, table.text) == (sum(map(len, case.rows)),) * 2


def test_sheets_are_pages_and_hidden_ones_are_named():
    document = parse_bytes(workbook({"水稻": sheet(SMALL), "底稿": sheet(SMALL), "小麦": sheet(SMALL)}, hidden=["底稿"]), "表.et")
    assert [(b.page, b.heading) for b in document.blocks] == [(1, ("水稻",)), (3, ("小麦",))]
    assert document.pages == 3 and document.warnings == ("隐藏的工作表没有读取：“底稿”；需要的话请取消隐藏后重新添加",)


def test_numbers_and_dates_are_as_displayed_and_formulas_are_their_result():
    records = [text_cell(0, 0, "项目"), text_cell(0, 1, "值")]
    for row, (value, style) in enumerate(((0.05, 1), (45366, 2), (20, 3), (0.1 + 0.2, 0)), 1):
        records += [text_cell(row, 0, f"第{row}"), number_cell(row, 1, value, style)]
    records += [text_cell(5, 0, "第5"), formula_cell(5, 1, 60.0)]
    data = workbook({"Sheet1": records}, formats=["0%", 'm"月"d"日"', '0"克/亩"'])
    assert parse_bytes(data, "表.xls").blocks[0].text.split("\n")[2:] == [
        "| 第1 | 5% |", "| 第2 | 3月15日 |", "| 第3 | 20克/亩 |", "| 第4 | 0.3 |", "| 第5 | 60 |"]


@pytest.mark.parametrize("codepage", [936, 1252, None])
def test_words_of_excel_95_are_gbk_whatever_the_file_states(codepage):
    data = workbook({"水稻": sheet(SMALL, 5, "gbk")}, version=5, codepage=codepage, encoding="gbk")
    block, = parse_bytes(data, "旧表.xls").blocks
    assert (block.heading, block.text) == (("水稻",), "| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |")


def test_words_in_big5_stay_big5():
    data = workbook({"稻": sheet((("藥劑", "用量"), ("甲", "20")), 5, "big5")}, version=5, codepage=950, encoding="big5")
    assert "藥劑" in parse_bytes(data, "旧表.xls").blocks[0].text


@pytest.mark.parametrize("name", ["表.xls", "表.et"])
def test_a_workbook_in_its_container_is_read_and_its_macros_are_not_run(name):
    book = workbook({"水稻": sheet(SMALL)})
    assert parse_bytes(ole(("Workbook", book)), name).warnings == ()
    document = parse_bytes(ole(("Workbook", book), ("_VBA_PROJECT_CUR", b"")), name)
    assert [(b.heading, b.text) for b in document.blocks] == [(("水稻",), "| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |")]
    assert document.warnings == (f"文件“{name}”带有宏：宏没有运行，只读取了已保存的内容",)


def test_an_old_workbook_under_the_name_of_a_new_one_is_read_with_a_warning():
    document = parse_bytes(ole(("Workbook", workbook({"水稻": sheet(SMALL)}))), "表.xlsx")
    assert "| 甲 | 20 |" in document.blocks[0].text and "旧版 Excel" in document.warnings[0]


def test_an_error_value_is_empty_and_named():
    document = parse_bytes(workbook({"算": [*sheet(SMALL), text_cell(2, 0, "乙"), error_cell(2, 1)]}), "表.xls")
    assert "| 乙 |  |" in document.blocks[0].text
    assert document.warnings == ("工作表“算”里有单元格是错误值，按空白处理：“B3”；请改正后重新添加",)


def test_rows_and_columns_beyond_the_limits_are_left_out_and_named(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 3)
    monkeypatch.setattr(module, "MAX_COLUMNS", 2)
    rows = (("药剂", "用量", "多"), *((f"剂{n}", "20", "余") for n in range(5)))
    document = parse_bytes(workbook({"长": sheet(rows)}), "表.xls")
    assert document.blocks[0].text.split("\n")[2:] == ["| 剂0 | 20 |", "| 剂1 | 20 |"]
    assert document.warnings == ("工作表“长”太长：第 4 行到第 6 行没有读取；请拆成几份后再添加",
                                 "工作表“长”太宽：第 2 列以后没有读取；请拆成几份后再添加")


def test_an_encrypted_workbook_is_one_sentence():
    data = workbook({"Sheet1": sheet(SMALL)})
    locked = data[:20] + record(0x002F, b"\1\0" + b"\0" * 52) + data[20:]
    with pytest.raises(DocumentError, match="表.xls.*加密"):
        parse_xls(locked, "表.xls")


@pytest.mark.parametrize("data", [bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600, b"\x09\x08\x10\x00\x00\x06\x05\x00\0\0\1"])
def test_a_broken_file_is_one_sentence(data):
    with pytest.raises(DocumentError, match="表.xls.*损坏"):
        parse_bytes(data, "表.xls")
