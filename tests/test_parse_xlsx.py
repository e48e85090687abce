import io
import time
import zipfile
from datetime import date, datetime

import openpyxl
import pytest
from conftest import ROOT
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from table_world import DOSES, LEFT, TABLES, cells_recovered, spans_of

from nongda.documents import parse_xlsx as module
from nongda.documents.chunk import chunk_blocks
from nongda.documents.clean import clean
from nongda.documents.parse import parse_bytes
from nongda.documents.parse_xlsx import parse_xlsx
from nongda.errors import DocumentError
from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.language.lexicon import Lexicon
from nongda.records import Chunk
from nongda.settings import ChunkSettings


@pytest.fixture
def book():
    return openpyxl.Workbook()


def saved(book):
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def put(sheet, layout, row=1, column=1):
    """Write a layout of table_world; numbers as numbers, as a station types them."""
    for text, r, c, rows, columns in spans_of(layout):
        number = text.replace(".", "", 1).isdigit() and not text.startswith("00")
        sheet.cell(row + r, column + c, float(text) if number else text or None)
        if rows > 1 or columns > 1:
            sheet.merge_cells(start_row=row + r, start_column=column + c, end_row=row + r + rows - 1,
                              end_column=column + c + columns - 1)


def blocks(book, name="表.xlsx"):
    return [(b.kind, b.text) for b in parse_xlsx(saved(book), name).blocks]


def rewritten(data, part, change):
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name).decode()) if name == part else old.read(name))
    return buffer.getvalue()


def test_sheets_are_pages_under_their_names(book):
    book.active.title = "水稻"
    put(book.active, (("药剂", "用量"), ("甲", "20")))
    put(book.create_sheet("小麦"), (("药剂", "用量"), ("乙", "30")))
    document = parse_bytes(saved(book), "用药表.xlsx")
    assert document.meta.title == "用药表" and document.pages == 2
    assert [(b.page, b.heading, b.text) for b in document.blocks] == [
        (1, ("水稻",), "| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |"), (2, ("小麦",), "| 药剂 | 用量 |\n|---|---|\n| 乙 | 30 |")]


def test_a_sheet_without_a_name_of_its_own_is_no_heading(book):
    put(book.active, (("药剂", "用量"), ("甲", "20")))
    assert parse_xlsx(saved(book), "表.xlsx").blocks[0].heading == ()


def test_hidden_sheets_are_left_out_and_named(book):
    put(book.active, (("药剂", "用量"), ("甲", "20")))
    for name, state in (("底稿", "hidden"), ("旧数据", "veryHidden")):
        sheet = book.create_sheet(name)
        sheet.append(["勿用"])
        sheet.sheet_state = state
    document = parse_xlsx(saved(book), "表.xlsx")
    assert "勿用" not in str(document.blocks)
    assert document.warnings == ("隐藏的工作表没有读取：“底稿”、“旧数据”；需要的话请取消隐藏后重新添加",)


def test_hidden_rows_and_columns_are_left_out_but_filtered_rows_are_not(book):
    put(book.active, (("药剂", "旧用量", "用量"), ("甲", "90", "20"), ("乙", "95", "30")))
    book.active.column_dimensions["B"].hidden = True
    book.active.row_dimensions[3].hidden = True
    document = parse_xlsx(saved(book), "表.xlsx")
    assert [b.text for b in document.blocks] == ["| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |"]
    assert document.warnings == ("工作表“Sheet”里隐藏的 1 行、1 列没有读取；需要的话请取消隐藏后重新添加",)
    book.active.auto_filter.ref = "A1:C3"
    assert "| 乙 | 30 |" in parse_xlsx(saved(book), "表.xlsx").blocks[0].text


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.name)
def test_merged_headers_and_labels_are_found_under_the_title(book, case):
    width = len(case.layout[0])
    put(book.active, ((case.caption, *[LEFT] * (width - 1)), *case.layout))
    document = parse_xlsx(saved(book), "表.xlsx")
    assert document.meta.title == case.caption
    caption, table = document.blocks
    assert caption.text == case.caption
    assert cells_recovered(case.rows, table.text) == (sum(map(len, case.rows)),) * 2


def test_numbers_are_as_displayed(book):
    rows = [("项目", "值"), ("剂", 3.0), ("差", 0.1 + 0.2), ("率", 0.05, "0%"), ("产", 1234567, "#,##0"), ("量", 20, '0"克/亩"'),
            ("日", date(2024, 3, 15), "yyyy/m/d"), ("刻", datetime(2024, 3, 15, 8, 30), "yyyy-mm-dd hh:mm"),
            ("播", date(2024, 3, 15), 'm"月"d"日"'), ("真", True), ("号", "007")]
    for number, (name, value, *style) in enumerate(rows, 1):
        book.active.cell(number, 1, name)
        book.active.cell(number, 2, value).number_format = style[0] if style else "General"
    lines = blocks(book)[0][1].split("\n")[2:]
    assert lines == ["| 剂 | 3 |", "| 差 | 0.3 |", "| 率 | 5% |", "| 产 | 1234567 |", "| 量 | 20克/亩 |", "| 日 | 2024-03-15 |",
                     "| 刻 | 2024-03-15 08:30 |", "| 播 | 3月15日 |", "| 真 | TRUE |", "| 号 | 007 |"]


def test_a_date_format_that_chinese_excel_knows_by_number_alone_is_a_date(book):
    put(book.active, (("播期", "量"), ("45366", "1")))
    book.active["A2"].number_format = "0.000"
    data = rewritten(saved(book), "xl/styles.xml", lambda xml: xml.replace('<xf numFmtId="164"', '<xf numFmtId="58"'))
    assert "| 3月15日 | 1 |" in parse_xlsx(data, "表.xlsx").blocks[0].text


def test_a_formula_is_its_stored_result_and_one_without_is_named(book):
    book.active.append(["地块", "用量", "合计"])
    book.active.append(["东", 2, "=B2*10"])
    book.active.append(["西", 3, "=B3*10"])
    book.active.title = "算"
    data = rewritten(saved(book), "xl/worksheets/sheet1.xml",
                     lambda xml: xml.replace("<f>B2*10</f><v></v>", "<f>B2*10</f><v>20</v>").replace(
                         "<f>B2*10</f><v />", "<f>B2*10</f><v>20</v>"))
    document = parse_xlsx(data, "表.xlsx")
    assert document.blocks[0].text.split("\n")[2:] == ["| 东 | 2 | 20 |", "| 西 | 3 |  |"]
    warning, = document.warnings
    assert warning.startswith("工作表“算”里有公式没有保存结果，按空白处理：“C3”；")


def test_an_error_value_is_empty_and_named(book):
    book.active.append(["地块", "用量"])
    book.active.append(["东", "#DIV/0!"])
    document = parse_xlsx(saved(book), "表.xlsx")
    assert "#DIV" not in str(document.blocks) and "“B2”" in document.warnings[0]


def test_macros_are_not_run_and_the_reader_is_told(book):
    put(book.active, (("药剂", "用量"), ("甲", "20")))
    buffer = io.BytesIO(saved(book))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"\0" * 100)
    document = parse_bytes(buffer.getvalue(), "表.xlsm")
    assert document.warnings == ("文件“表.xlsm”带有宏：宏没有运行，只读取了已保存的内容",)


def test_raised_numbers_are_powers(book):
    put(book.active, (("项目", "值"), ("菌量", "1")))
    book.active["B2"] = CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "8"), "个/克")
    assert "| 菌量 | 10⁸个/克 |" in blocks(book)[0][1]


def test_pictures_that_were_not_read_are_counted(book):
    put(book.active, (("药剂", "用量"), ("甲", "20")))
    buffer = io.BytesIO(saved(book))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("xl/media/image1.png", bytes(60_000))
        archive.writestr("xl/media/logo.png", bytes(100))
    warning, = parse_bytes(buffer.getvalue(), "表.xlsx").warnings
    assert warning.startswith("文件“表.xlsx”里有 1 张图片，图片里的文字没有读取")


def test_a_workbook_that_other_programs_wrote_carelessly_is_read():
    parts = {
        "_rels/.rels": '<Relationships xmlns="r"><Relationship Id="a" Type="x/officeDocument" Target="/xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": '<workbook xmlns="m" xmlns:r="i"><sheets><sheet name="用药" r:id="b"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="r"><Relationship Id="b" Type="x/worksheet" '
                                      'Target="worksheets/Sheet%201.xml"/></Relationships>',
        "xl/worksheets/sheet 1.xml": '<worksheet xmlns="m"><sheetData><row><c t="inlineStr"><is><t>药剂</t></is></c><c t="str"><v>用量'
                                     '_x000D_\n（克）</v></c></row><row><c t="s"><v>9</v></c><c><v>20</v></c></row><row>'
                                     '<c t="inlineStr"><is><t>甲</t></is></c><c><v>3E1</v></c></row></sheetData></worksheet>'}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    block, = parse_bytes(buffer.getvalue(), "导出.xlsx").blocks
    assert (block.heading, block.text) == (("用药",), "| 药剂 | 用量（克） |\n|---|---|\n|  | 20 |\n| 甲 | 30 |")


def test_tables_parted_by_blank_rows_or_columns_are_tables_of_their_own(book):
    put(book.active, (("药剂", "用量"), ("甲", "20")))
    put(book.active, (("肥料", "时期"), ("尿素", "拔节期")), row=1, column=4)
    put(book.active, (("品种", "产量"), ("丙", "600")), row=6)
    assert [text.split("\n")[0] for _, text in blocks(book)] == ["| 药剂 | 用量 |", "| 肥料 | 时期 |", "| 品种 | 产量 |"]


def test_a_title_over_two_tables_side_by_side_parts_from_both(book):
    put(book.active, (("用药和施肥", LEFT, LEFT, LEFT, LEFT), ("药剂", "用量", "", "肥料", "时期"), ("甲", "20", "", "尿素", "拔节期")))
    assert [text.split("\n")[0] for _, text in blocks(book)] == ["表 用药和施肥", "| 药剂 | 用量 |", "| 肥料 | 时期 |"]


def test_a_blank_column_or_row_inside_a_table_does_not_tear_it(book):
    put(book.active, (("药剂", "", "用量"), ("甲", "", "20"), ("", "", ""), ("乙", "", "30")))
    assert blocks(book) == [("table", "| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |\n| 乙 | 30 |")]


def test_a_line_of_its_own_above_a_table_is_its_title_and_text_is_text(book):
    for cell, text in (("A1", "2024年用药安排"), ("A3", "药剂"), ("B3", "用量"), ("A4", "甲"), ("B4", 20),
                       ("A6", "说明：\n1、早查。\n2、早治。")):
        book.active[cell] = text
    assert blocks(book) == [
        ("paragraph", "表 2024年用药安排"), ("table", "| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |"),
        ("paragraph", "说明："), ("list", "1、早查。"), ("list", "2、早治。")]


def test_a_sheet_of_text_alone_is_paragraphs(book):
    for text in ("春季管理要点", "清沟排水。", "追施返青肥。"):
        book.active.append([text])
    assert blocks(book) == [("paragraph", text) for text in ("春季管理要点", "清沟排水。", "追施返青肥。")]


def test_line_breaks_of_a_note_in_a_cell_part_its_items(book):
    put(book.active, (("药剂", "说明"), ("甲", "早查\n早治；\n雨后补喷")))
    assert "| 甲 | 早查 早治；雨后补喷 |" in blocks(book)[0][1]


def test_a_million_rows_of_emptiness_are_quick(book):
    put(book.active, (("药剂", "用量"), ("甲", "20")))
    rows = "".join(f'<row r="{n}"/>' for n in range(3, 100_000)) + '<row r="1048576"><c r="B1048576" s="0"/></row>'
    data = rewritten(saved(book), "xl/worksheets/sheet1.xml",
                     lambda xml: xml.replace("</sheetData>", rows + "</sheetData>").replace('ref="A1:B2"', 'ref="A1:XFD1048576"'))
    start = time.perf_counter()
    document = parse_bytes(data, "表.xlsx")
    assert [b.text for b in document.blocks] == ["| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |"] and document.warnings == ()
    assert time.perf_counter() - start < 10


def test_rows_and_columns_beyond_the_limits_are_left_out_and_named(book, monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 3)
    monkeypatch.setattr(module, "MAX_COLUMNS", 2)
    book.active.title = "长"
    put(book.active, (("药剂", "用量", "多"), *((f"剂{n}", "20", "余") for n in range(5))))
    document = parse_xlsx(saved(book), "表.xlsx")
    assert document.blocks[0].text.split("\n")[2:] == ["| 剂0 | 20 |", "| 剂1 | 20 |"]
    assert document.warnings == ("工作表“长”太长：第 4 行到第 6 行没有读取；请拆成几份后再添加",
                                 "工作表“长”太宽：第 2 列以后没有读取；请拆成几份后再添加")


@pytest.mark.parametrize("style", ["<broken", "<styleSheet><cellXfs><xf numFmtId='x'/></cellXfs></styleSheet>"])
def test_damaged_styles_cost_no_words(book, style):
    put(book.active, (("药剂", "用量"), ("甲", "20")))
    assert "| 甲 | 20 |" in parse_bytes(rewritten(saved(book), "xl/styles.xml", lambda _: style), "表.xlsx").blocks[0].text


def test_an_encrypted_workbook_is_one_sentence():
    with pytest.raises(DocumentError, match="表.xlsx.*加密"):
        parse_xlsx(bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 600, "表.xlsx")


@pytest.mark.parametrize("data", [b"PK\x03\x04broken", b"\0\1\2no zip at all"])
def test_a_broken_file_is_one_sentence(data):
    with pytest.raises(DocumentError, match="表.xlsx.*损坏"):
        parse_bytes(data, "表.xlsx")


@pytest.fixture(scope="module")
def facts_of():
    domain = ROOT / "assets" / "domain"
    extractor = FactExtractor(Lexicon.load(domain), Attributes.load(domain))

    def facts(document):
        chunks = chunk_blocks(clean(document).blocks, ChunkSettings(), None)
        return [fact for n, c in enumerate(chunks) for fact in extractor.facts_of(
            Chunk(f"d#{n}", "d", n, c.text, c.text, c.kind, c.page, c.heading), document.meta)]

    return facts


def test_a_dose_carries_the_unit_that_its_header_states(book, facts_of):
    book.active.title = "水稻"
    put(book.active, (("表1 水稻用药", LEFT, LEFT, LEFT, LEFT), *DOSES.layout))
    doses = [f for f in facts_of(parse_xlsx(saved(book), "表.xlsx")) if f.attribute == "dose"]
    found = {(f.subject, f.target, f.value, f.low, f.high, f.unit) for f in doses}
    assert {("三环唑", "稻瘟病", "20", 20.0, 20.0, "g/亩"), ("三环唑", "稻瘟病", "25～30", 25.0, 30.0, "g/亩"),
            ("稻瘟灵", "稻瘟病", "66.5", 66.5, 66.5, "g/亩")} <= found
    assert {f.unit for f in doses} == {"g/亩"}


@pytest.mark.parametrize("header", ["用量（克/亩）", "用量\n（克/亩）", "用量（单位：克/亩）", "用量 单位：克/亩", "用量，单位:克/亩"])
def test_any_way_to_state_a_unit_in_the_header_is_read(book, facts_of, header):
    put(book.active, (("防治对象", "药剂", header), ("稻瘟病", "三环唑", "20")))
    book.active.title = "水稻"
    dose, = [f for f in facts_of(parse_xlsx(saved(book), "表.xlsx")) if f.attribute == "dose"]
    assert (dose.subject, dose.low, dose.unit) == ("三环唑", 20.0, "g/亩")




def test_a_row_without_end_does_not_fill_the_memory(book, monkeypatch):
    book.active.append(["玉米", "20 公斤"])
    book.active.append(["小麦", "10 公斤"])
    data = rewritten(saved(book), "xl/worksheets/sheet1.xml", lambda xml: xml.replace("</row>", "<c/>" * 20_000 + "</row>", 1))
    assert parse_bytes(data, "表.xlsx").blocks
    monkeypatch.setattr("nongda.documents.xlsx_parts._MAX_GAP", 40_000)
    with pytest.raises(DocumentError, match="表.xlsx.*损坏"):
        parse_bytes(data, "表.xlsx")


def test_layout_repeated_very_often_costs_no_time(book):
    book.active.append(["玉米", "20 公斤"])
    book.active.append(["小麦", "10 公斤"])
    columns = '<col min="20" max="16384" hidden="1"/>' * 20_000
    began = time.process_time()
    data = rewritten(saved(book), "xl/worksheets/sheet1.xml",
                     lambda xml: xml.replace("<sheetData>", "<cols>" + columns + "</cols><sheetData>"))
    assert "小麦" in parse_bytes(data, "表.xlsx").blocks[0].text and time.process_time() - began < 10
