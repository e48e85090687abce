import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.parse import parse_bytes
from nongda.documents.parse_rtf import parse_rtf
from nongda.errors import DocumentError

HEAD = r"{\rtf1\ansi\ansicpg936\deff0{\fonttbl{\f0\fnil\fcharset134 SimSun;}{\f1\fnil\fcharset0 Arial;}}"


def coded(text, encoding="gbk"):
    """Chinese characters as the format writes them in a code page."""
    return "".join(c if c.isascii() else "".join(f"\\'{b:02x}" for b in c.encode(encoding)) for c in text)


def unicoded(text):
    units = text.encode("utf-16-le")
    numbers = [int.from_bytes(units[i:i + 2], "little", signed=True) for i in range(0, len(units), 2)]
    return "".join(f"\\u{n}?" if n > 127 or n < 0 else chr(n) for n in numbers)


def blocks(body, head=HEAD):
    return [(b.kind, b.text, b.heading) for b in parse_rtf((head + body + "}").encode(), "通知.rtf").blocks]


@pytest.mark.parametrize("write", [coded, unicoded])
@pytest.mark.parametrize("font", [r"\f0 ", r"\f1 ", ""])
def test_chinese_is_read_from_codes_of_the_page_and_of_unicode_in_any_font(write, font):
    assert [b[1] for b in blocks(rf"\pard{font}{write('雨季前清园一次。')}\par {font}{write('剪除 3 根病枝。')}\par")] == [
        "雨季前清园一次。", "剪除 3 根病枝。"]


def test_characters_outside_the_basic_plane_are_whole():
    assert blocks(unicoded("㐂𠮷村的农户。") + r"\par")[0][1] == "㐂𠮷村的农户。"


def test_bytes_written_as_they_are_and_traditional_pages_are_read():
    assert parse_rtf(HEAD.encode() + "雨季前清园一次。".encode("gbk") + rb"\par}", "a.rtf").blocks[0].text == "雨季前清园一次。"
    head = HEAD.replace("936", "950").replace("134", "136")
    assert blocks(coded("馬鈴薯晚疫病。", "big5") + r"\par", head)[0][1] == "馬鈴薯晚疫病。"


def test_western_signs_in_a_western_font_stay():
    assert blocks(rf"\pard\f0 {coded('气温 25')}\f1\'b0C\f0{coded('，及时浇水。')}\par")[0][1] == "气温 25°C，及时浇水。"


def test_headings_are_told_by_their_outline_level_and_headers_are_left_out():
    body = (rf"{{\header {coded('页眉')}\par}}\pard\outlinelevel0 {coded('咖啡园管理')}\par\pard\s2\outlinelevel1\f0 {coded('清园')}\par"
            rf"\pard {coded('雨季之前。')}\par{{\footnote {coded('脚注')}}}")
    document = parse_rtf((HEAD + body + "}").encode(), "通知.rtf")
    assert document.meta.title == "咖啡园管理"
    assert [(b.text, b.heading) for b in document.blocks] == [("雨季之前。", ("清园",))]


def test_tables_keep_their_rows_whatever_their_cells_hold():
    def row(*texts):
        cells = "".join(rf"\pard\intbl {unicoded(text)}\cell " for text in texts)
        return rf"\trowd\cellx1000\cellx2000 {cells}\row"

    body = rf"{unicoded('用药表如下。')}\par {row('药剂', '每亩|用量')}{row('甲药', '30 克')}\pard {unicoded('注意轮换。')}\par"
    assert blocks(body) == [("paragraph", "用药表如下。", ()), ("table", "| 药剂 | 每亩\\|用量 |\n|---|---|\n| 甲药 | 30 克 |", ()),
                            ("paragraph", "注意轮换。", ())]


def test_a_cell_of_two_paragraphs_stays_one():
    body = rf"\trowd\cellx1\cellx2 \pard\intbl {unicoded('药剂')}\cell {unicoded('说明')}\cell\row\trowd\cellx1\cellx2 \pard\intbl " \
           rf"{unicoded('甲药')}\par {unicoded('乙药')}\cell {unicoded('慎用')}\cell\row"
    assert blocks(body)[0][1] == "| 药剂 | 说明 |\n|---|---|\n| 甲药 乙药 | 慎用 |"


def test_raised_numbers_stay_powers_and_links_show_their_words_alone():
    assert blocks(rf"{unicoded('每克')} 10{{\super 8}} {unicoded('孢子。')}\par")[0][1] == "每克 10⁸ 孢子。"
    link = r'{\field{\*\fldinst{HYPERLINK "http://x"}}{\fldrslt{' + unicoded("手册") + "}}}"
    assert blocks(rf"{unicoded('详见')}{link}{unicoded('第三章。')}\par")[0][1] == "详见手册第三章。"


def test_a_broken_character_is_marked_with_a_warning():
    document = parse_rtf((HEAD + coded("雨季前清园。") + r"\'ff\f0 " + coded("剪除病枝。") + r"\par}").encode(), "a.rtf")
    assert document.blocks[0].text.count("□") == 1 and "\ufffd" not in document.blocks[0].text and len(document.warnings) == 1


def test_pictures_are_skipped_whatever_their_form():
    picture = rb"{\pict\pngblip " + b"89504e47" * 400 + b"}" + b"{\\pict\\bin4 \\}{\xff}"
    data = HEAD.encode() + coded("雨季前清园。").encode() + picture + coded("剪除病枝。").encode() + rb"\par}"
    assert parse_rtf(data, "a.rtf").blocks[0].text == "雨季前清园。剪除病枝。"


def test_a_doc_that_is_rich_text_is_read_as_what_it_is():
    document = parse_bytes((HEAD + coded("雨季前清园一次。") + r"\par}").encode(), "通知.doc")
    assert document.blocks[0].text == "雨季前清园一次。" and "RTF 文档" in document.warnings[0]


@given(st.text(alphabet="\\{}'u0bcdf par cellrowtrowd 8?*", max_size=150))
def test_any_markup_is_read_or_refused_in_one_sentence(text):
    try:
        parse_bytes((r"{\rtf1\ansi " + text).encode(), "a.rtf")
    except DocumentError as error:
        assert "\n" not in str(error)
