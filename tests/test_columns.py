"""Reading order of pages whose lines come sorted by height, as recognition gives them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_world import WIDTH, Sheet, lines_of_sheet, segments_of_sheet

from nongda.documents.columns import reading_order
from nongda.documents.lines import join_lines
from nongda.documents.outline import Heading
from nongda.documents.page_lines import Cell, Line
from nongda.documents.pdf_layout import layout

WORDS = "稻田水层保持三到五厘米分蘖末期排水晒田孕穗期不能缺水灌浆期干湿交替收割前一周断水防止早衰倒伏"


def paragraph(name, length):
    """Return a paragraph that begins with its name and has that many characters."""
    return (f"{name}段" + WORDS * 9)[:length - 1] + "。"


def order(sheet, uneven=0.0):
    """Return the names of the paragraphs and headings in the order in which they are read."""
    items = layout([lines_of_sheet(sheet, uneven=uneven)], [segments_of_sheet(sheet)])
    texts = [item.text if isinstance(item, Heading) else join_lines(item.text.split("\n")) for item in items]
    return [text.split("段")[0] if "段" in text else text for text in texts]


def columns(sheet, top, left, right, x=(60, 310), width=225):
    y = min(_column(sheet, x[0], top, width, left), _column(sheet, x[1], top, width, right))
    return y


def _column(sheet, x, y, width, paragraphs):
    for name, length in paragraphs:
        y = sheet.prose(x, y, width, paragraph(name, length))
    return y


def two_plain():
    sheet = Sheet()
    columns(sheet, 780, [("甲", 300), ("乙", 200)], [("丙", 260), ("丁", 240)])
    return sheet, ["甲", "乙", "丙", "丁"]


def title_and_abstract():
    sheet = Sheet()
    sheet.centred(WIDTH / 2, 790, "水稻节水灌溉技术", 18)
    y = sheet.prose(60, 750, 475, paragraph("摘要", 150)) - 10
    columns(sheet, y, [("甲", 300), ("乙", 180)], [("丙", 320), ("丁", 90)])
    return sheet, ["水稻节水灌溉技术", "摘要", "甲", "乙", "丙", "丁"]


def figure_between():
    sheet = Sheet()
    y = columns(sheet, 790, [("甲", 220)], [("乙", 230)]) - 80
    sheet.centred(WIDTH / 2, y, "图1 示范片全生育期水层管理变化图示")
    columns(sheet, y - 30, [("丙", 220)], [("丁", 200)])
    return sheet, ["甲", "乙", "图1 示范片全生育期水层管理变化图示", "丙", "丁"]


def unequal_lengths():
    sheet = Sheet()
    columns(sheet, 780, [("甲", 300), ("乙", 260), ("丙", 200)], [("丁", 90)])
    return sheet, ["甲", "乙", "丙", "丁"]


def three_columns():
    sheet = Sheet()
    sheet.centred(WIDTH / 2, 800, "农技简报第八期", 18)
    for x, names in ((50, "甲乙"), (220, "丙丁"), (390, "戊己")):
        _column(sheet, x, 760, 152, [(name, 150) for name in names])
    return sheet, ["农技简报第八期", "甲", "乙", "丙", "丁", "戊", "己"]


def header_and_footer():
    sheet = Sheet()
    sheet.text(60, 810, "某省农业技术", 9)
    sheet.text(480, 810, "第3期", 9)
    columns(sheet, 770, [("甲", 300), ("乙", 220)], [("丙", 330), ("丁", 160)])
    sheet.text(60, 40, "12", 9)
    return sheet, ["某省农业技术 第3期", "甲", "乙", "丙", "丁", "12"]


def headings_in_columns():
    sheet = Sheet()
    sheet.text(60, 780, "一、整地", 14)
    y = _column(sheet, 60, 755, 225, [("甲", 220)])
    sheet.text(60, y - 8, "二、播种", 14)
    _column(sheet, 60, y - 33, 225, [("乙", 240)])
    y = _column(sheet, 310, 780, 225, [("丙", 180)])
    sheet.text(310, y - 8, "三、灌水", 14)
    _column(sheet, 310, y - 33, 225, [("丁", 260)])
    return sheet, ["一、整地", "甲", "二、播种", "乙", "丙", "三、灌水", "丁"]


def table_across():
    sheet = Sheet()
    y = columns(sheet, 790, [("甲", 200)], [("乙", 210)]) - 20
    sheet.centred(WIDTH / 2, y, "表1 各生育期水层")
    y = sheet.table((("生育期", "水层"), ("返青", "3厘米"), ("孕穗", "5厘米")), 60, y - 8, (240, 235)) - 30
    columns(sheet, y, [("丙", 200)], [("丁", 180)])
    return sheet, ["甲", "乙", "表1 各生育期水层", "| 生育期 | 水层 |\n|---|---|\n| 返青 | 3厘米 |\n| 孕穗 | 5厘米 |".replace("\n", ""),
                   "丙", "丁"]


@pytest.mark.parametrize("uneven", [0.0, 1.0])
@pytest.mark.parametrize("page", [two_plain, title_and_abstract, figure_between, unequal_lengths, three_columns,
                                  header_and_footer, headings_in_columns, table_across])
def test_columns_are_read_one_after_the_other(page, uneven):
    sheet, expected = page()
    assert order(sheet, uneven) == expected


def test_a_paragraph_that_breaks_off_at_the_end_of_a_column_goes_on_in_the_next():
    sheet = Sheet()
    text = paragraph("甲", 400)
    halves = text[:19 + 21 * 8], text[19 + 21 * 8:]
    sheet.prose(60, 780, 225, halves[0])
    y = 780
    for start in range(0, len(halves[1]), 21):
        sheet.text(310, y, halves[1][start:start + 21])
        y -= 16
    items = layout([lines_of_sheet(sheet)])
    assert [join_lines(item.text.split("\n")) for item in items] == [text]


def test_the_gaps_of_a_table_are_no_gutter():
    sheet = Sheet()
    layout_ = [("病害", "药剂", "亩用量")] + [(f"病害{n}", f"药剂名称{n}号可湿性粉剂", f"{n * 10}克") for n in range(1, 9)]
    sheet.table(layout_, 60, 780, (150, 200, 100), "plain", pad=2)
    (item,) = layout([lines_of_sheet(sheet)])
    assert item.text.count("\n") == 9 and "| 病害3 | 药剂名称3号可湿性粉剂 | 30克 |" in item.text


def test_one_column_with_short_lines_stays_as_it_is():
    sheet = Sheet()
    names = ["甲", "乙", "丙", "丁", "戊"]
    y = 780
    for name in names:
        y = sheet.prose(60, y, 475, paragraph(name, 60))
    assert order(sheet) == names


@st.composite
def pages(draw):
    """Lines anywhere on a page, in any order; each word stands once."""
    lines = []
    for number in range(draw(st.integers(0, 30))):
        left, bottom = draw(st.floats(0, 500)), draw(st.floats(0, 800))
        size = draw(st.sampled_from([8.0, 10.5, 12.0, 20.0]))
        cells = []
        for part in range(draw(st.integers(1, 3))):
            width = draw(st.floats(5, 200))
            cells.append(Cell(f"词{number}.{part}", left, left + width))
            left += width + draw(st.floats(4, 60))
        lines.append(Line(tuple(cells), 1, cells[0].left, cells[-1].right, bottom, bottom + size, size,
                          upright=draw(st.integers(0, 9)) > 0))
    return lines


@settings(max_examples=60, deadline=None)
@given(pages())
def test_every_word_stands_once_whatever_the_layout(lines):
    words = sorted(cell.text for line in lines for cell in line.cells)
    regions = reading_order(lines)
    found = "".join(cell.text for region in regions for line in region.items for cell in line.cells)
    assert sorted(found.replace(" ", "")) == sorted("".join(words))
