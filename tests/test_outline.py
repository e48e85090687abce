from nongda.documents.outline import Heading, assemble, first_heading
from nongda.records import Block


def test_a_heading_of_the_same_or_an_outer_level_closes_the_inner_ones():
    items = [Heading(1, "甲"), Heading(3, "乙"), Block("1"), Heading(2, "丙"), Block("2"), Heading(1, "丁"), Block("3")]
    assert [b.heading for b in assemble(items, "")] == [("甲", "乙"), ("甲", "丙"), ("丁",)]


def test_the_title_is_left_out_of_the_path_only_at_its_top():
    items = [Heading(1, "手册"), Heading(2, "手册"), Block("1")]
    assert assemble(items, "手册") == (Block("1", heading=("手册",)),)


def test_a_heading_with_nothing_beneath_it_is_kept_as_a_paragraph():
    items = [Heading(1, "甲"), Heading(2, "乙", page=2), Heading(2, "丙"), Block("1")]
    assert assemble(items, "") == (Block("乙", page=2, heading=("甲",)), Block("1", heading=("甲", "丙")))


def test_a_title_with_nothing_beneath_it_is_not_repeated():
    assert assemble([Heading(1, "手册"), Heading(1, "甲"), Block("1")], "手册") == (Block("1", heading=("甲",)),)


def test_numbered_headings_in_a_row_are_a_list_and_styled_ones_are_not():
    run = [Heading(6, "1. 甲", numbered=True), Heading(6, "2. 乙", numbered=True)]
    assert assemble([*run, Block("完。")], "")[0] == Block("1. 甲\n2. 乙", "list")
    assert assemble([Heading(6, "甲"), Heading(6, "乙"), Block("完。")], "")[-1].heading == ("乙",)


def test_a_numbered_section_is_no_title():
    assert first_heading([Heading(1, "一、概述"), Heading(2, "咖啡")]) == "咖啡"
    assert first_heading([Heading(1, "一、概述")]) == ""
