import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_cases import CASES, PROSE, found_in
from pdf_world import WIDTH, Sheet, lines_of_sheet, pdf_of, picture_of, segments_of_sheet
from table_world import DOSES, FERTILISER, cells_recovered

from nongda.documents.clean import clean
from nongda.documents.page_lines import Segment
from nongda.documents.parse import parse_bytes
from nongda.documents.pdf_layout import layout
from nongda.documents.pdf_text import open_pdf, page_text
from nongda.documents.ruled import ruled_tables
from nongda.documents.segments import merged, segments_of_image
from nongda.evaluation.scans import chinese_fonts


def letters(texts):
    return sorted("".join("".join(texts).split()))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_cell_of_a_printed_table_is_found(case):
    right, total, texts = found_in(case)
    assert right == total
    for caption in case.captions:
        assert f"paragraph: {caption}" in texts  # on its own, before its table
        assert texts[texts.index(f"paragraph: {caption}") + 1].startswith(("table:", "paragraph: 表"))


def test_text_around_a_table_keeps_its_place():
    sheet = Sheet()
    sheet.prose(60, 780, 470, PROSE)
    y = sheet.table(FERTILISER.layout, 60, 680, (80, 80, 80, 80, 140))
    sheet.prose(60, y - 30, 470, "收获后还田。")
    kinds = [block.kind for block in parse_bytes(pdf_of([sheet]), "a.pdf").blocks]
    assert kinds == ["paragraph", "paragraph", "paragraph", "table", "paragraph"]


def test_a_frame_around_paragraphs_is_no_table():
    sheet = Sheet()
    y = sheet.prose(60, 780, 470, PROSE)
    for edge in ((50, 800, 540, 800), (50, y, 540, y), (50, y, 50, 800), (540, y, 540, 800)):
        sheet.rule(*edge)
    assert [item.kind for item in layout([lines_of_sheet(sheet)], [segments_of_sheet(sheet)])] == ["paragraph"] * 3


def test_the_rules_of_header_and_footer_make_no_table_of_two_columns():
    sheet = Sheet()
    sheet.rule(60, 800, 535, 800)
    sheet.rule(60, 300, 535, 300)
    sheet.prose(60, 780, 220, PROSE)
    sheet.prose(310, 780, 220, PROSE)
    items = layout([lines_of_sheet(sheet)], [segments_of_sheet(sheet)])
    assert {item.kind for item in items} == {"paragraph"}
    assert letters(item.text for item in items) == letters(text for *_, text in sheet.texts)


def test_columns_without_inner_rules_have_a_row_for_each_line():
    sheet = Sheet()
    for x, cells in ((64, ("品种", "甲", "乙", "丙")), (184, ("亩产", "500", "480", "455"))):
        for number, text in enumerate(cells):
            sheet.text(x, 760 - 18 * number - 6 * (number > 0), text)
    for edge in ((60, 775, 300, 775), (60, 752, 300, 752), (60, 690, 300, 690), (60, 690, 60, 775), (180, 690, 180, 775),
                 (300, 690, 300, 775)):
        sheet.rule(*edge)
    (item,) = layout([lines_of_sheet(sheet)], [segments_of_sheet(sheet)])
    assert item.text == "| 品种 | 亩产 |\n|---|---|\n| 甲 | 500 |\n| 乙 | 480 |\n| 丙 | 455 |"


def test_a_line_that_reaches_over_a_border_is_cut_there():
    sheet = Sheet()
    sheet.table((("药剂", "亩用量"), ("", "")), 60, 780, (100, 100))
    sheet.text(126, 751, "多菌灵100克")  # recognition took two cells for one line; the border stands at 160
    (item,) = layout([lines_of_sheet(sheet)], [segments_of_sheet(sheet)])
    assert item.text == "| 药剂 | 亩用量 |\n|---|---|\n| 多菌灵 | 100克 |"


def test_a_table_torn_in_the_middle_of_a_row_is_mended():
    first, second = Sheet(), Sheet()
    y = first.prose(60, 780, 400, PROSE)
    first.table((("病害", "防治"), ("稻瘟病", "破口前三到五天喷")), 60, y, (100, 300))
    second.table((("病害", "防治"), ("", "药一次，齐穗期再喷一次"), ("纹枯病", "分蘖末期喷药")), 60, 780, (100, 300))
    blocks = parse_bytes(pdf_of([first, second]), "a.pdf").blocks
    assert [b.text for b in blocks if b.kind == "table"] == [
        "| 病害 | 防治 |\n|---|---|\n| 稻瘟病 | 破口前三到五天喷药一次，齐穗期再喷一次 |\n| 纹枯病 | 分蘖末期喷药 |"]


def test_another_table_on_the_next_page_is_another_table():
    first, second = Sheet(), Sheet()
    y = first.prose(60, 780, 400, PROSE)
    first.table((("病害", "药剂"), ("稻瘟病", "三环唑")), 60, y, (100, 300))
    second.text(60, 780, "表2 虫害用药")
    second.table((("虫害", "药剂"), ("稻飞虱", "吡蚜酮")), 60, 770, (100, 300))
    blocks = parse_bytes(pdf_of([first, second]), "a.pdf").blocks
    assert [b.page for b in blocks if b.kind == "table"] == [1, 2]


def test_headers_of_left_and_right_pages_go_and_the_table_stays_whole():
    sheets = []
    for page in range(4):
        sheet = Sheet()
        sheet.text(60 if page % 2 else 400, 805, "植保手册" if page % 2 else "第二章 病害", 9)
        sheet.rule(60, 798, 535, 798)
        sheet.text(60 if page % 2 else 520, 40, str(page + 1), 9)
        rows = [("病害", "药剂", "亩用量")] + [(f"病害{page}{n}", "三环唑", f"{n}克") for n in range(30)]
        sheet.table(rows, 60, 780, (150, 150, 150))
        sheets.append(sheet)
    document = clean(parse_bytes(pdf_of(sheets), "a.pdf"))
    assert [block.kind for block in document.blocks] == ["table"]
    lines = document.blocks[0].text.split("\n")
    assert len(lines) == 2 + 4 * 30 and lines.count("| 病害 | 药剂 | 亩用量 |") == 1


def test_strokes_of_single_cells_are_joined():
    cells = [Segment(60 + 20 * n, 700, 80 + 20 * n, 700) for n in range(5)] + [Segment(60, 700.4, 80, 700.4)]
    assert merged(cells) == [Segment(60, 700, 160, 700)]
    assert merged([Segment(60, 700, 61, 700)]) == []


def test_thin_rectangles_within_forms_are_strokes():
    sheet = Sheet()
    sheet.table(DOSES.layout, 60, 780, (70, 160, 60, 60, 110), header_rows=2)
    rules, sheet.rules = sheet.rules, []
    data = pdf_of([sheet])
    with open_pdf(data, "a") as document:
        assert page_text(document, 1).segments == ()
    boxes = "".join(f"{min(a, c) - 0.3:.1f} {min(b, d) - 0.3:.1f} {abs(c - a) + 0.6:.1f} {abs(d - b) + 0.6:.1f} re f\n"
                    for a, b, c, d in rules)
    form = (f"9 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 600 900] /Matrix [1 0 0 1 10 0] /Length {len(boxes)} >>\n"
            f"stream\n{boxes}endstream\nendobj\n").encode()
    data = data.replace(b"xref\n", form + b"xref\n", 1).replace(b"/Resources <<", b"/Resources << /XObject << /X 9 0 R >>")
    data = data.replace(b" cm\n", b" cm q 1 0 0 1 -10 0 cm /X Do Q\n", 1)  # PDFium rebuilds the table of a file whose offsets moved
    (table,) = [b.text for b in parse_bytes(data, "a.pdf").blocks if b.kind == "table"]
    assert cells_recovered(DOSES.rows, table) == (25, 25)


@pytest.mark.skipif(not chinese_fonts(), reason="no font with Chinese characters on this machine")
@pytest.mark.parametrize("skew", [0.0, 1.5])
def test_strokes_of_a_scan_make_the_same_table(skew):
    sheet = Sheet()
    y = sheet.prose(60, 780, 470, PROSE) - 20
    sheet.centred(WIDTH / 2, y, DOSES.caption)
    sheet.table(DOSES.layout, 60, y - 10, (70, 160, 60, 60, 110), header_rows=2)
    picture = picture_of(sheet).rotate(-skew, fillcolor=255)
    segments = segments_of_image(picture, 200, skew=skew)
    items = layout([lines_of_sheet(sheet, uneven=1.0, confidence=0.9)], [segments])
    (table,) = [item for item in items if item.kind == "table"]
    assert cells_recovered(DOSES.rows, table.text) == (25, 25) and table.confidence == 0.9


def test_a_block_is_as_sure_as_its_least_sure_line():
    sheet = Sheet()
    sheet.prose(60, 780, 470, PROSE)
    lines = lines_of_sheet(sheet)
    lines[1] = type(lines[1])(lines[1].cells, 1, lines[1].left, lines[1].right, lines[1].bottom, lines[1].top, 10.5, 0.6)
    assert [item.confidence for item in layout([lines])] == [0.6, 1.0, 1.0]


@st.composite
def drawings(draw):
    """Strokes and words anywhere on a page."""
    numbers = st.integers(0, 60)
    sheet = Sheet()
    for number in range(draw(st.integers(0, 25))):
        sheet.text(10.0 * draw(numbers), 14.0 * draw(numbers), f"词{number}", draw(st.sampled_from([9.0, 10.5, 14.0])))
    for _ in range(draw(st.integers(0, 14))):
        x, y, length = 10.0 * draw(numbers), 14.0 * draw(numbers), 20.0 * draw(st.integers(1, 20))
        sheet.rule(*((x, y, x + length, y) if draw(st.booleans()) else (x, y, x, y + length)))
    return sheet


@settings(max_examples=60, deadline=None)
@given(drawings())
def test_no_letter_is_lost_or_doubled_between_lines_and_cells(sheet):
    lines = lines_of_sheet(sheet)
    tables, rest = ruled_tables(lines, segments_of_sheet(sheet))
    found = [cell.text for table in tables for cell in table.cells] + [line.text for line in rest]
    assert letters(found) == letters(line.text for line in lines)


@settings(max_examples=60, deadline=None)
@given(drawings())
def test_any_drawing_is_laid_out_with_all_its_words(sheet):
    items = layout([lines_of_sheet(sheet)], [segments_of_sheet(sheet)])
    text = "".join(item.text for item in items)
    assert all(word in text.replace(" ", "") for *_, word in sheet.texts)
