import time

import pytest

from nongda.documents.parse_markdown import parse_markdown
from nongda.errors import DocumentError


def parse(text, name="锈病.md"):
    return parse_markdown(text.encode(), name)


def blocks(text):
    return [(b.kind, b.text) for b in parse(text).blocks]


def test_front_matter_is_read_with_its_own_dates_and_lists():
    meta = parse("""---
title: 叶锈病
region: [普洱, 保山]
date: 2024-03-05
stage: 生长期
authority: 某站
sample: true
sources: [甲, 乙]
valid_until: 2027-12-31
replaces: 旧方案
tags: [咖啡, 用药]
unknown: {a: 1}
---
正文。
""").meta
    assert (meta.title, meta.region, meta.date, meta.stage) == ("叶锈病", "普洱、保山", "2024-03-05", "生长期")
    assert (meta.authority, meta.sample, meta.sources) == ("某站", True, ("甲", "乙"))
    assert (meta.valid_until, meta.replaces, meta.tags) == ("2027-12-31", "旧方案", ("咖啡", "用药"))


def test_a_year_alone_and_a_year_with_month_are_dates():
    assert parse("---\ndate: 2024\n---\n文").meta.date == "2024"
    assert parse("---\ndate: 2026-11\n---\n文").meta.date == "2026-11"


@pytest.mark.parametrize("front", ["title: [甲", "title: 甲: 乙", "date: 2024-13-45", "\ttitle: 甲"])
def test_broken_front_matter_is_one_sentence_with_the_file(front):
    with pytest.raises(DocumentError, match="锈病.md.*改正"):
        parse(f"---\n{front}\n---\n正文。")


def test_a_ruled_line_at_the_top_is_no_front_matter():
    assert blocks("---\n第一段。\n\n第二段。") == [("paragraph", "第一段。"), ("paragraph", "第二段。")]
    assert ("paragraph", "第二段。") in blocks("---\n只是文字\n---\n\n第二段。")


def test_headings_form_the_path_without_the_title():
    document = parse("# 叶锈病\n\n> 本文为样例。\n\n## 症状\n\n有黄粉。\n\n### 叶背\n\n更多。\n\n## 防治\n\n喷药。\n")
    assert document.meta.title == "叶锈病"
    assert [(b.text, b.heading) for b in document.blocks] == [
        ("本文为样例。", ()), ("有黄粉。", ("症状",)), ("更多。", ("症状", "叶背")), ("喷药。", ("防治",))]


def test_a_first_heading_other_than_the_title_stays_in_the_path():
    assert parse("---\ntitle: 甲\n---\n# 乙\n\n文。").blocks[0].heading == ("乙",)


def test_the_title_falls_back_to_a_heading_and_then_to_the_file_name():
    assert parse("## 二级\n\n文。").meta.title == "二级"
    assert parse("文。").meta.title == "锈病"


def test_lists_are_one_block_with_an_item_a_line():
    assert blocks("- 甲\n  续\n- 乙\n  1. 丙\n  2. 丁\n") == [("list", "- 甲续\n- 乙\n1. 丙\n2. 丁")]
    assert blocks("3. 甲\n4. 乙\n") == [("list", "3. 甲\n4. 乙")]


def test_lines_with_chinese_item_numbers_are_a_list_too():
    assert blocks("方法：\n1、清园\n2、喷药，\n连喷两次\n") == [
        ("paragraph", "方法："), ("list", "1、清园\n2、喷药，连喷两次")]


def test_a_table_keeps_its_cells_and_header():
    text = "| 药剂 | 用量 |\n|:--|--:|\n| **波尔多液** | 1\\|2 |\n| 石硫合剂 |\n"
    assert blocks(text) == [("table", "| 药剂 | 用量 |\n|---|---|\n| 波尔多液 | 1\\|2 |\n| 石硫合剂 |  |")]


def test_markup_goes_and_products_of_numbers_stay():
    assert blocks("**注意：**株行距2*3*4米，见[说明](http://a)和`代码`。")[0][1] == "注意：株行距2*3*4米，见说明和代码。"
    assert blocks("*重要*的2~3克，1 < 2")[0][1] == "重要的2~3克，1 < 2"


def test_a_hard_break_parts_paragraphs_and_a_soft_one_does_not():
    assert blocks("甲<br>乙") == [("paragraph", "甲"), ("paragraph", "乙")]
    assert blocks("甲\n乙") == [("paragraph", "甲\n乙")]


def test_html_comes_without_tags_and_comments():
    assert blocks("<div>\n甲&lt;乙<br>丙<!-- 密 -->\n</div>") == [("paragraph", "甲<乙\n丙")]


def test_an_indented_paragraph_is_text_and_a_fence_keeps_its_words():
    assert blocks("    首行缩进的一段。") == [("paragraph", "首行缩进的一段。")]
    assert blocks("```\n甲\n```") == [("paragraph", "甲")]


def test_a_file_saved_as_gb18030_is_read():
    assert parse_markdown("# 锈病\n\n㐂𠮷村。".encode("gb18030"), "a.md").blocks[0].text == "㐂𠮷村。"


@pytest.mark.parametrize("text", ["<!--" * 100_000 + "玉米", "*a **b " * 20_000 + "玉米", "[" * 100_000 + "玉米", "玉米 " + "<?" * 100_000])
def test_markup_that_is_never_closed_takes_no_square_of_the_time(text):
    began = time.process_time()
    assert parse(text).blocks
    assert time.process_time() - began < 10


def test_a_heading_as_long_as_a_paragraph_is_one():
    document = parse(f"# {'长' * 300}\n\n喷药。")
    assert [(b.text, b.heading) for b in document.blocks] == [("长" * 300, ()), ("喷药。", ())]
    assert document.meta.title == "锈病"


def test_a_picture_written_into_the_text_is_no_text():
    assert blocks(f"喷药![图](data:image/png;base64,{'QUJD' * 2_000_000})见效。") == [("paragraph", "喷药图见效。")]


def test_document_information_is_kept_short_and_endless_one_is_text():
    assert len(parse(f"---\ntitle: {'题' * 5000}\n---\n喷药。").meta.title) == 300
    assert "项99999" in parse("---\n" + "".join(f"项{i}: 1\n" for i in range(100_000)) + "---\n喷药。").blocks[0].text


def test_aliases_in_document_information_do_not_grow():
    lines = ["a0: &a0 [x, x, x]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)), "title: *a11"]
    assert parse("---\n" + "\n".join(lines) + "\n---\n喷药。").meta.title == "锈病"
