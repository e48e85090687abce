"""Tables drawn in ways that stations really draw them, each cell compared with what a reader would copy out."""

import io
from datetime import date

import docx
import openpyxl
import pytest
from biff import number_cell, text_cell, workbook
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from table_world import LEFT, UP, cells_recovered, spans_of

from nongda.documents.parse import parse_bytes

ONE = (LEFT, LEFT, LEFT)


def word(layout, change=lambda table: None):
    document = docx.Document()
    table = document.add_table(len(layout), max(map(len, layout)))
    for text, r, c, rows, columns in spans_of(layout):
        cell = table.cell(r, c)
        cell.text = text
        cell.merge(table.cell(r + rows - 1, c + columns - 1))
    change(table)
    buffer = io.BytesIO()
    document.save(buffer)
    return parse_bytes(buffer.getvalue(), "通知.docx")


def excel(*placed, formats=()):
    book = openpyxl.Workbook()
    for row, column, layout in placed:
        for text, r, c, rows, columns in spans_of(layout):
            place = book.active.cell(row + r, column + c)
            place.value = text if text != "" else None
            if rows > 1 or columns > 1:
                book.active.merge_cells(start_row=row + r, start_column=column + c, end_row=row + r + rows - 1,
                                        end_column=column + c + columns - 1)
    for cell, number_format in formats:
        book.active[cell].number_format = number_format
    buffer = io.BytesIO()
    book.save(buffer)
    return parse_bytes(buffer.getvalue(), "登记.xlsx")


def tables(document):
    return [block.text for block in document.blocks if block.kind == "table"]


def texts(document):
    return [block.text for block in document.blocks if block.kind != "table"]


def all_right(expected, found):
    right, total = cells_recovered(expected, found)
    assert right == total, found


def test_word_title_group_rows_and_note():
    document = word((
        ("设施蔬菜病害用药指南", *ONE), ("病害", "药剂", "用量（毫升/亩）", "间隔期（天）"), ("一、番茄", *ONE),
        ("灰霉病", "嘧霉胺", "90～120", "3"), (UP, "啶酰菌胺", "40", "5"), ("二、黄瓜", *ONE), ("霜霉病", "霜霉威", "60～100", "3"),
        ("注：间隔期指最后一次施药到采收。", *ONE)))
    assert texts(document) == ["表 设施蔬菜病害用药指南", "注：间隔期指最后一次施药到采收。"]
    all_right([["", "病害", "药剂", "用量（毫升/亩）", "间隔期（天）"], ["一、番茄", "灰霉病", "嘧霉胺", "90～120", "3"],
               ["一、番茄", "灰霉病", "啶酰菌胺", "40", "5"], ["二、黄瓜", "霜霉病", "霜霉威", "60～100", "3"]], tables(document)[0])


def test_word_header_of_three_rows_with_cells_of_unlike_depth():
    document = word((
        ("处理", "产量构成", LEFT, LEFT, "产量（公斤/亩）"), (UP, "穗数（万/亩）", "每穗", LEFT, UP), (UP, UP, "总粒数", "实粒数", UP),
        ("常规", "18.2", "142", "120", "561"), ("减氮", "17.5", "150", "131", "575")))
    all_right([["处理", "产量构成 穗数（万/亩）", "产量构成 每穗 总粒数", "产量构成 每穗 实粒数", "产量（公斤/亩）"],
               ["常规", "18.2", "142", "120", "561"], ["减氮", "17.5", "150", "131", "575"]], tables(document)[0])


def test_word_header_printed_again_for_the_next_page_and_a_row_deleted_in_revision():
    def change(table):
        table.rows[2]._tr.get_or_add_trPr().append(parse_xml(f"<w:del {nsdecls('w')}/>"))

    document = word((("月份", "农事", "要点"), ("3月", "育苗", "控温"), ("旧", "旧", "旧"), ("4月", "移栽", "浇定根水"),
                     ("月份", "农事", "要点"), ("5月", "追肥", "少量多次")), change)
    all_right([["月份", "农事", "要点"], ["3月", "育苗", "控温"], ["4月", "移栽", "浇定根水"], ["5月", "追肥", "少量多次"]],
              tables(document)[0])
    assert "旧" not in tables(document)[0]


def test_excel_units_in_a_row_of_their_own_and_labels_typed_once():
    document = excel((1, 1, (
        ("2024年小麦田间试验记载", *ONE, LEFT), ("品种", "播量", "株高", "千粒重", "备注"), ("", "公斤/亩", "（cm）", "（g）", ""),
        ("郑麦甲", 12.5, 78, 45.2, "倒伏轻"), ("", 15, 80, 44.0, "倒伏中"), ("郑麦乙", 12.5, 75, 47.1, ""))))
    assert document.meta.title == "2024年小麦田间试验记载"
    all_right([["品种", "播量（公斤/亩）", "株高（cm）", "千粒重（g）", "备注"], ["郑麦甲", "12.5", "78", "45.2", "倒伏轻"],
               ["郑麦甲", "15", "80", "44", "倒伏中"], ["郑麦乙", "12.5", "75", "47.1", ""]], tables(document)[0])


def test_excel_header_of_two_rows_whose_merged_cells_were_lost():
    document = excel((2, 2, (
        ("地块", "基肥（公斤/亩）", "", "追肥（公斤/亩）", ""), ("", "尿素", "磷肥", "尿素", "钾肥"),
        ("东坡", 10, 40, 8, 5), ("河滩", 8, 35, 10, 6))))
    all_right([["地块", "基肥 尿素（公斤/亩）", "基肥 磷肥（公斤/亩）", "追肥 尿素（公斤/亩）", "追肥 钾肥（公斤/亩）"],
               ["东坡", "10", "40", "8", "5"], ["河滩", "8", "35", "10", "6"]], tables(document)[0])


def test_excel_three_tables_on_a_sheet_two_of_them_side_by_side():
    document = excel((1, 1, (("药剂", "亩用量"), ("吡虫啉", "10克"), ("噻虫嗪", "4克"))), (1, 4, (("肥料", "亩用量"), ("尿素", "8公斤"))),
                     (5, 1, (("茬口安排", LEFT), ("月份", "作物"), ("2月", "黄瓜"), ("8月", "芹菜"))))
    found = tables(document)
    all_right([["药剂", "亩用量"], ["吡虫啉", "10克"], ["噻虫嗪", "4克"]], found[0])
    all_right([["肥料", "亩用量"], ["尿素", "8公斤"]], found[1])
    all_right([["月份", "作物"], ["2月", "黄瓜"], ["8月", "芹菜"]], found[2])
    assert texts(document) == ["表 茬口安排"]


def test_excel_percentages_dates_and_units_inside_number_formats():
    document = excel((1, 1, (("调查日期", "病株率", "防效", "用药量"),
                             (date(2024, 5, 6), 0.125, 0.8567, 20), (date(2024, 5, 20), 0.03, 0.9, 25.5))),
                     formats=(("A2", "yyyy/m/d"), ("A3", 'm"月"d"日"'), ("B2", "0.0%"), ("B3", "0%"), ("C2", "0.00%"), ("C3", "0.0%"),
                              ("D2", '0"毫升/亩"'), ("D3", '0.0"毫升/亩"')))
    all_right([["调查日期", "病株率", "防效", "用药量"], ["2024-05-06", "12.5%", "85.67%", "20毫升/亩"],
               ["5月20日", "3%", "90.0%", "25.5毫升/亩"]], tables(document)[0])


def test_excel_properties_down_the_side_and_varieties_across():
    document = excel((1, 1, (("项目", "甲优1号", "甲优2号"), ("全生育期（天）", 128, 131.5), ("抗性\n（稻瘟病）", "中抗", "感"),
                             ("适宜区域", "海拔800米以下", LEFT))))
    all_right([["项目", "甲优1号", "甲优2号"], ["全生育期（天）", "128", "131.5"], ["抗性（稻瘟病）", "中抗", "感"],
               ["适宜区域", "海拔800米以下", ""]], tables(document)[0])


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_csv_title_unit_ragged_rows_and_notes_with_line_breaks(end):
    text = end.join(["大棚黄瓜施肥方案;;;", "单位：公斤/亩;;;", "时期;肥料;用量;说明", '定植前;有机肥;2000;"深翻；', '再整畦"',
                     "结瓜期;水溶肥;5;每7天一次", ";硫酸钾;4", "备注：沙土地酌情增次;;;"])
    document = parse_bytes(text.encode("gb18030"), "方案.csv")
    assert texts(document) == ["表 大棚黄瓜施肥方案 单位：公斤/亩", "备注：沙土地酌情增次"]
    all_right([["时期", "肥料", "用量", "说明"], ["定植前", "有机肥", "2000", "深翻；再整畦"], ["结瓜期", "水溶肥", "5", "每7天一次"],
               ["结瓜期", "硫酸钾", "4", ""]], tables(document)[0])


def test_old_excel_in_gbk_with_numbers_and_an_empty_cell():
    rows = [["茶园", "喷药日期", "药剂", "倍数"], ["一号", 45366.0, "印楝素", 500.0], ["二号", "", "苦参碱", 1000.0]]
    records = [number_cell(r, c, value, 1 if c == 1 else 2) if isinstance(value, float) else text_cell(r, c, value, 5, "gbk")
               for r, row in enumerate(rows) for c, value in enumerate(row) if value != ""]
    data = workbook({"茶": records}, formats=["yyyy-m-d", '0"倍"'], version=5, codepage=936, encoding="gbk")
    all_right([rows[0], ["一号", "2024-03-15", "印楝素", "500倍"], ["二号", "", "苦参碱", "1000倍"]],
              tables(parse_bytes(data, "茶园.xls"))[0])
