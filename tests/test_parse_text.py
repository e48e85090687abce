import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.parse_text import decode, parse_text
from nongda.errors import DocumentError

CHINESE = "咖啡叶锈病在雨季发生较重，用３０克药剂兑水。\n㐂𠮷村的农户种了卡蒂姆。\n"
TRADITIONAL = "馬鈴薯晚疫病是由病菌引起的病害，雨季發生較重，應及時噴藥防治。"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_chinese_text_is_read_in_every_common_encoding(encoding):
    assert decode(CHINESE.encode(encoding), "a.txt") == CHINESE


def test_gbk_and_big5_texts_of_a_few_characters_are_read():
    assert decode("咖啡".encode("gbk"), "a.txt") == "咖啡"
    assert decode(TRADITIONAL.encode("big5"), "a.txt") == TRADITIONAL


def test_marked_utf_16_of_both_byte_orders_is_read():
    assert decode(codecs.BOM_UTF16_BE + CHINESE.encode("utf-16-be"), "a.txt") == CHINESE
    assert decode(codecs.BOM_UTF16_LE + CHINESE.encode("utf-16-le"), "a.txt") == CHINESE


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\x0b\x0c\x85\u2028\u2029")))
def test_every_utf_8_text_is_read_exactly(text):
    assert decode(text.encode("utf-8"), "a.txt") == text.removeprefix("\ufeff")


def test_a_file_cut_off_within_its_last_character_is_still_read():
    assert decode("咖啡锈病".encode()[:-1], "a.txt") == "咖啡锈"


def test_bytes_that_are_no_text_are_refused_by_name():
    with pytest.raises(DocumentError, match="图片.txt.*UTF-8"):
        decode(bytes(range(256)) * 4, "图片.txt")


def test_old_line_ends_become_new_lines():
    assert decode("甲\r\n乙\r丙\x0c丁".encode(), "a.txt") == "甲\n乙\n丙\n丁"


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
