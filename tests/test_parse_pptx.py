import io

import pptx
import pytest
from PIL import Image
from pptx.util import Cm

from nongda.documents.parse import parse_bytes
from nongda.documents.parse_pptx import parse_pptx

BLANK, TITLE_AND_BODY, TITLE_ONLY = 6, 1, 5


@pytest.fixture
def show():
    return pptx.Presentation()


def saved(show):
    buffer = io.BytesIO()
    show.save(buffer)
    return buffer.getvalue()


def box(shapes, text, left, top):
    shape = shapes.add_textbox(Cm(left), Cm(top), Cm(8), Cm(2))
    shape.text_frame.text = text
    return shape


def blocks(show):
    return [(b.kind, b.text, b.page, b.heading) for b in parse_pptx(saved(show), "课件.pptx").blocks]


def picture():
    buffer = io.BytesIO()
    Image.new("RGB", (20, 20), "green").save(buffer, "png")
    buffer.seek(0)
    return buffer


def titled(show, title):
    slide = show.slides.add_slide(show.slide_layouts[TITLE_ONLY])
    slide.shapes.title.text = title
    return slide


def test_a_slide_is_a_page_its_title_the_heading_and_its_points_a_list(show):
    titled(show, "玉米施肥")
    slide = show.slides.add_slide(show.slide_layouts[TITLE_AND_BODY])
    slide.shapes.title.text = "追肥"
    frame = slide.placeholders[1].text_frame
    frame.text = "拔节期"
    for text, level in (("尿素 10 公斤", 1), ("结合浇水", 1), ("大喇叭口期", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    document = parse_pptx(saved(show), "课件.pptx")
    assert (document.meta.title, document.pages, document.warnings) == ("玉米施肥", 2, ())
    assert [(b.kind, b.text, b.page, b.heading) for b in document.blocks] == [
        ("list", "- 拔节期\n  - 尿素 10 公斤\n  - 结合浇水\n- 大喇叭口期", 2, ("追肥",))]


def test_boxes_are_read_from_top_to_bottom_and_side_by_side_from_left_to_right(show):
    slide = titled(show, "题")
    for text, left, top in (("丁。", 2, 12), ("丙。", 12, 6.2), ("甲。", 12, 4), ("乙。", 2, 6.4)):
        box(slide.shapes, text, left, top)
    assert [b[1] for b in blocks(show)] == ["甲。", "乙。", "丙。", "丁。"]


def test_boxes_of_a_group_stay_together(show):
    slide = titled(show, "题")
    group = slide.shapes.add_group_shape()
    box(group.shapes, "组内第二。", 2, 9)
    box(group.shapes, "组内第一。", 2, 5)
    box(slide.shapes, "组外在后。", 2, 7)
    assert [b[1] for b in blocks(show)] == ["组内第一。", "组内第二。", "组外在后。"]


def test_tables_with_merged_cells_are_filled_in(show):
    slide = titled(show, "用药")
    table = slide.shapes.add_table(3, 2, Cm(1), Cm(4), Cm(10), Cm(4)).table
    for row, texts in enumerate((("作物", "每亩用量"), ("玉米", "20 克"), ("", "30 克"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    assert blocks(show) == [("table", "| 作物 | 每亩用量 |\n|---|---|\n| 玉米 | 20 克 |\n| 玉米 | 30 克 |", 1, ())]


def test_notes_follow_their_slide(show):
    slide = titled(show, "题")
    box(slide.shapes, "正文。", 2, 5)
    slide.notes_slide.notes_text_frame.text = "讲解：注意轮换用药。\n7"
    assert [(b[1], b[2]) for b in blocks(show)] == [("正文。", 1), ("讲解：注意轮换用药。", 1)]


def test_a_slide_without_a_title_does_not_take_that_of_the_slide_before(show):
    titled(show, "封面")
    box(titled(show, "上一节").shapes, "正文。", 2, 5)
    box(show.slides.add_slide(show.slide_layouts[BLANK]).shapes, "这一页没有题目，只有一段话。", 2, 5)
    third = show.slides.add_slide(show.slide_layouts[BLANK])
    box(third.shapes, "像题目的一行", 2, 1)
    box(third.shapes, "下面是正文。", 2, 5)
    assert [(b[1], b[3]) for b in blocks(show)] == [
        ("封面", ()), ("正文。", ("上一节",)), ("这一页没有题目，只有一段话。", ()), ("下面是正文。", ("像题目的一行",))][1:]


def test_numbered_paragraphs_keep_their_numbers(show):
    frame = box(titled(show, "步骤").shapes, "先修剪", 2, 5).text_frame
    frame.add_paragraph().text = "再喷药"
    for paragraph in frame.paragraphs:
        numbering = paragraph._p.get_or_add_pPr().makeelement(
            "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum", {"type": "arabicPeriod"})
        paragraph._p.get_or_add_pPr().append(numbering)
    assert [b[:2] for b in blocks(show)] == [("list", "1. 先修剪\n2. 再喷药")]


def test_raised_numbers_stay_powers(show):
    frame = box(titled(show, "题").shapes, "每克 10", 2, 5).text_frame
    run = frame.paragraphs[0].add_run()
    run.text = "8"
    run.font._element.set("baseline", "30000")
    frame.paragraphs[0].add_run().text = " 孢子。"
    assert blocks(show)[0][1] == "每克 10⁸ 孢子。"


def test_a_slide_that_is_only_a_picture_is_named(show):
    box(titled(show, "题").shapes, "这一页有足够的文字，说明了怎么做。", 2, 5)
    titled(show, "示意图").shapes.add_picture(picture(), 0, 0)
    show.slides.add_slide(show.slide_layouts[BLANK]).shapes.add_picture(picture(), 0, 0)
    warnings = parse_pptx(saved(show), "课件.pptx").warnings
    assert len(warnings) == 1 and "第 2、3 页只有图片" in warnings[0]


def test_a_slide_show_is_read_like_a_presentation(show):
    import zipfile

    box(titled(show, "题").shapes, "正文。", 2, 5)
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(show))) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part.replace(b"presentationml.presentation.main", b"presentationml.slideshow.main"))
    assert [b.text for b in parse_bytes(buffer.getvalue(), "课件.pptx").blocks] == ["正文。"]
