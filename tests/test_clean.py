import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.documents.clean import clean, clean_characters
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

LONG = "咖啡叶锈病是云南咖啡的主要病害在雨季发生较重要及时防治并且摘除病叶集中烧毁或者深埋以减少"  # > 40


def document(*blocks, pages=None):
    return ParsedDocument(DocumentMeta(title="咖啡"), tuple(blocks), pages)


def paged(*pages):
    return document(*(Block(text, page=n) for n, page in enumerate(pages, start=1) for text in page), pages=len(pages))


def texts(parsed):
    return [block.text for block in clean(parsed).blocks]


def test_control_and_zero_width_characters_go_and_words_stay():
    assert texts(document(Block("咖\u200b啡\x07锈\ufeff病\u202a３０\x00克\ufffd"))) == ["咖啡锈病３０克"]


def test_radicals_and_compatibility_forms_become_plain_characters():
    assert clean_characters("⽔⻩叶⻓势，ﬁne，﨑") == "水黄叶长势，fine，﨑".replace("﨑", clean_characters("﨑"))
    assert clean_characters("\uf9b4\u2f09") == "\u9818\u513f"  # 領 and 儿


def test_units_and_full_width_digits_are_left_alone():
    assert texts(document(Block("３０㎏／㎡，25％，５℃，①②"))) == ["３０㎏／㎡，25％，５℃，①②"]


def test_white_space_is_folded_and_empty_blocks_go():
    assert texts(document(Block("　　咖啡 \t 锈病\xa0\xa0重"), Block(" \u3000\n"))) == ["咖啡 锈病 重"]


def test_broken_lines_join_with_a_space_only_between_latin_words():
    assert texts(document(Block("叶背有黄\n粉，coffee leaf\nrust is a dis-\nease。"))) == [
        "叶背有黄粉，coffee leaf rust is a disease。"]


def test_lines_of_lists_and_tables_are_not_joined():
    table = Block("| a |\n|---|\n| 第1页 |", "table")
    assert texts(document(Block("- 甲\n-  乙", "list"), table)) == ["- 甲\n- 乙", table.text]


def test_the_bullet_of_a_symbol_font_becomes_a_plain_one():
    assert texts(document(Block("\uf06c 甲\n\uf06c乙", "list"))) == ["- 甲\n- 乙"]


@pytest.mark.parametrize("number", ["第3页", "第 3 页 共 12 页", "- 3 -", "—3—", "第3页/共12页", "共12页 第3页"])
def test_page_numbers_go_in_every_document(number):
    assert texts(document(Block("甲。"), Block(number), Block("乙。"))) == ["甲。", "乙。"]


@pytest.mark.parametrize("number", ["3/12", "Page 3 of 12", "3"])
def test_bare_page_numbers_go_only_at_the_edge_of_a_page(number):
    parsed = document(Block("甲。", page=3), Block(number, page=3), pages=3)
    assert texts(parsed) == ["甲。"]
    assert texts(document(Block("甲。", page=3), Block(number, page=3), Block("乙。", page=3), pages=3))[1] == number
    assert texts(document(Block("甲。"), Block(number))) == ["甲。", number]


def test_numbers_that_run_with_the_pages_are_page_numbers_and_others_are_not():
    assert texts(paged(["甲。", "15"], ["乙。", "16"], ["丙。", "17"])) == ["甲。", "乙。", "丙。"]
    assert texts(paged(["甲。", "40"], ["乙。", "90"], ["丙。", "20"])) == ["甲。", "40", "乙。", "90", "丙。", "20"]


def test_headers_and_footers_of_most_pages_go_with_their_running_number():
    pages = [["农技手册", "某县编印", f"第{n}段。", f"咖啡 {n + 4}"] for n in range(1, 5)]
    assert texts(paged(*pages)) == ["第1段。", "第2段。", "第3段。", "第4段。"]


def test_different_headers_of_left_and_right_pages_go():
    pages = [["左页" if n % 2 else "右页", f"第{n}段。"] for n in range(1, 7)]
    assert texts(paged(*pages)) == [f"第{n}段。" for n in range(1, 7)]


def test_a_header_within_the_first_block_of_a_page_goes_too():
    assert texts(paged(["农技手册\n第一段。"], ["农技手册\n第二段。"])) == ["第一段。", "第二段。"]


def test_a_watermark_goes_wherever_it_stands():
    pages = [[f"第{n}段很长的文字到这里还没有\n内部资料\n结束，接着讲完。"] for n in range(1, 4)]
    assert texts(paged(*pages)) == [f"第{n}段很长的文字到这里还没有结束，接着讲完。" for n in range(1, 4)]


def test_a_line_that_breaks_into_sentences_on_most_pages_is_a_watermark():
    pages = [[f"第{n}段很长的文字到这里还没有\n某县农技站\n结束，接着讲完。"] for n in range(1, 4)]
    assert texts(paged(*pages)) == [f"第{n}段很长的文字到这里还没有结束，接着讲完。" for n in range(1, 4)]


def test_a_label_that_each_page_has_between_its_sentences_stays():
    pages = [[f"病害{n}", "说明到此。", "防治方法", f"喷药{n}次。"] for n in ("甲", "乙", "丙")]
    assert texts(paged(*pages)).count("防治方法") == 3


def test_what_stands_on_few_pages_stays():
    pages = [["要点" if n == 1 else f"段{n}号", "完。"] for n in "1甲乙丙"]
    assert "段甲号" in texts(paged(*pages))


def test_a_paragraph_torn_over_a_page_break_is_joined_and_keeps_its_first_page():
    parsed = document(Block(LONG, page=1), Block("来年的菌源。", page=2), pages=2)
    assert [(b.text, b.page) for b in clean(parsed).blocks] == [(LONG + "来年的菌源。", 1)]


def test_paragraphs_that_end_or_have_other_headings_or_are_lists_are_not_joined():
    for first, second in (
        (Block(LONG + "。", page=1), Block("来年。", page=2)),
        (Block(LONG, page=1), Block("来年。", page=1)),
        (Block(LONG, page=1), Block("来年。", page=2, heading=("甲",))),
        (Block(LONG, page=1), Block("1. 来年。", page=2)),
        (Block("表1 用量", page=1), Block("来年。", page=2)),
    ):
        assert len(clean(document(first, second, pages=2)).blocks) == 2


def test_title_and_headings_are_cleaned_too():
    parsed = ParsedDocument(DocumentMeta(title="咖\u200b啡 "), (Block("文。", heading=("⻩\n叶", "\u200b")),))
    assert clean(parsed).meta.title == "咖啡" and clean(parsed).blocks[0].heading == ("黄叶",)


PIECE = st.text(alphabet="甲乙。：，ab-13/第页共 \n\u3000\u200b\u00ad⽔\uf06c|•", max_size=60)
BLOCK = st.builds(Block, PIECE, st.sampled_from(["paragraph", "list", "table"]),
                  st.sampled_from([None, 1, 2, 3]), st.sampled_from([(), ("甲",)]))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(BLOCK, st.builds(Block, st.just(LONG), page=st.sampled_from([1, 2, 3]))), max_size=9))
def test_cleaning_twice_is_as_cleaning_once(blocks):
    once = clean(document(*blocks, pages=3))
    assert clean(once) == once


@given(st.lists(st.text(alphabet="甲乙。,.%０１23 \u200b\n", min_size=1, max_size=30), max_size=5))
def test_no_number_of_a_document_without_pages_changes(pieces):
    cleaned = clean(document(*map(Block, pieces)))
    before = re.findall(r"\d+", " ".join(pieces).replace("\u200b", ""))
    assert re.findall(r"\d+", " ".join(b.text for b in cleaned.blocks)) == before


def test_pages_that_say_the_same_are_not_taken_for_headers():
    page = ["安全用药明白纸", "戊唑醇 每亩20克", "间隔 7天"]
    assert texts(paged(page, page)) == page * 2
    assert texts(paged(["植保站编", *page, "- 1 -"], ["植保站编", *page, "- 2 -"], ["植保站编", "甲。"], ["植保站编", "乙。"])) == [
        *page, *page, "甲。", "乙。"]


def test_the_unit_of_a_table_that_goes_on_over_pages_stays():
    kept = texts(paged(*[["农技站编", "续表（单位：公斤/亩）", f"济麦{n} 1{n} 2{n}。"] for n in (1, 2, 3)]))
    assert kept.count("续表（单位：公斤/亩）") == 3 and "农技站编" not in kept


def test_what_the_sheets_of_a_workbook_share_is_no_header():
    shared = paged(["小麦施肥推荐", "甲。"], ["小麦施肥推荐", "乙。"])
    assert "小麦施肥推荐" not in texts(shared)
    assert texts(replace(shared, printed=False)).count("小麦施肥推荐") == 2
