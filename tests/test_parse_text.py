import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.documents import parse_text as parse_text_module
from nongda.documents.parse_text import parse_text
from nongda.errors import DocumentError


def test_numbered_short_lines_are_the_heading_path():
    text = "咖啡栽培技术\n\n第一章 建园\n一、选地\n坡度要小。\n（一）土壤\n红壤为好。\n二、定植\n雨季定植。\n"
    document = parse_text(text.encode("gb18030"), "a.txt")
    assert document.meta.title == "咖啡栽培技术"
    assert [(b.text, b.heading) for b in document.blocks] == [
        ("坡度要小。", ("第一章 建园", "一、选地")),
        ("红壤为好。", ("第一章 建园", "一、选地", "（一）土壤")),
        ("雨季定植。", ("第一章 建园", "二、定植")),
    ]


def test_decimal_numbers_make_headings_of_two_levels():
    document = parse_text("1 范围\n1.1 土壤\n红壤为好。\n1.2 坡度\n要小。\n".encode(), "a.txt")
    assert [b.heading for b in document.blocks] == [("1 范围", "1.1 土壤"), ("1 范围", "1.2 坡度")]


def test_numbers_with_a_unit_are_no_headings():
    document = parse_text("用量如下。\n1.5公斤尿素\n3 月下旬开花\n2 年生苗\n".encode(), "a.txt")
    assert all(b.heading == () for b in document.blocks)
    assert [b.text for b in document.blocks][1:] == ["1.5公斤尿素", "3 月下旬开花", "2 年生苗"]


def test_numbered_lines_without_text_between_them_are_a_list():
    document = parse_text("要点：\n1. 施足底肥\n2. 及时浇水\n3. 修剪病枝\n".encode(), "a.txt")
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("paragraph", "要点："), ("list", "1. 施足底肥\n2. 及时浇水\n3. 修剪病枝")]


def test_a_heading_without_text_is_kept_as_text():
    document = parse_text("开头。\n一、选地\n坡度要小。\n二、附录\n".encode(), "a.txt")
    assert [(b.text, b.heading) for b in document.blocks][-1] == ("二、附录", ())


def test_lines_broken_by_width_stay_one_paragraph():
    line = "咖啡叶锈病是云南咖啡的主要病害在雨季发生较重"
    text = f"　　{line}\n{line}\n结束了。\n　　{line}\n又一段。\n"
    assert [b.text for b in parse_text(text.encode(), "a.txt").blocks] == [
        f"{line}\n{line}\n结束了。", f"{line}\n又一段。"]


def test_the_title_is_the_file_name_where_the_text_has_none():
    assert parse_text("第一句话到此结束。\n第二句。".encode(), "咖啡 说明.txt").meta.title == "咖啡 说明"


@given(st.lists(st.text(alphabet="一二、1.（）() 咖啡-•①。：ab\t", max_size=40), max_size=12))
def test_no_words_of_a_text_are_lost(lines):
    text = "\n".join(["第一句。", *lines])
    blocks = parse_text(text.encode(), "a.txt").blocks
    kept = "".join("".join(b.heading) + b.text for b in blocks)
    for line in lines:
        assert "".join(line.split()).rstrip("：") in "".join(kept.split())


def test_a_broken_byte_is_a_warning_of_the_document():
    data = "玉米要及时浇水。\n雨季注意排水。\n".encode("gbk").replace(b"\xd3\xea", b"\xff\xea")
    document = parse_text(data, "a.txt")
    assert "注意排水" in document.blocks[-1].text and len(document.warnings) == 1


def test_a_text_that_would_take_hours_is_refused_with_its_length(monkeypatch):
    monkeypatch.setattr(parse_text_module, "MAX_CHARACTERS", 20_000)
    assert parse_text("字".encode() * 20_000, "书.txt").blocks
    with pytest.raises(DocumentError, match="书.txt.*约 3 万字，最多 2 万字.*拆成几份"):
        parse_text("字".encode() * 30_000, "书.txt")
