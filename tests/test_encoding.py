import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.encoding import decode, decode_markup, decode_warned, looks_like_text
from nongda.errors import DocumentError

CHINESE = "咖啡叶锈病在雨季发生较重，用３０克药剂兑水。\n㐂𠮷村的农户种了卡蒂姆。\n"
TRADITIONAL = "馬鈴薯晚疫病是由病菌引起的病害，雨季發生較重，應及時噴藥防治。"
COMMON = "".join(bytes([a, b]).decode("gb2312") for a in range(0xB0, 0xD7) for b in range(0xA1, 0xFE))
COMMON_BIG5 = "".join(bytes([a, b]).decode("big5") for a in range(0xA4, 0xC6) for b in range(0xA1, 0xFE))
RARE = "㐂𠮷螨蝽鿍㎏㎡①Ⅲ℃"
ENCODINGS = ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]

# At least half of what is written is everyday Chinese, as in every real text.
chinese_texts = st.builds(
    lambda common, rest, order: "".join(order.sample(common + rest, len(common + rest))) + "\n",
    st.lists(st.sampled_from(COMMON), min_size=8, max_size=40, unique=True),
    st.lists(st.sampled_from(RARE + "，。、（）％abz019 \n.-"), max_size=5), st.randoms(use_true_random=False))


@pytest.mark.parametrize("encoding", [*ENCODINGS, "utf-32-le", "utf-32-be"])
def test_chinese_text_is_read_in_every_common_encoding(encoding):
    assert decode(CHINESE.encode(encoding), "a.txt") == CHINESE


@given(chinese_texts, st.sampled_from(ENCODINGS))
def test_any_chinese_text_is_read_as_it_was_written(text, encoding):
    assert decode_warned(text.encode(encoding), "a.txt") == (text, ())


@given(st.text(alphabet=st.sampled_from(COMMON_BIG5), min_size=15, max_size=60))
def test_any_traditional_text_is_read_from_big5(text):
    assert decode(text.encode("big5"), "a.txt") == text


@pytest.mark.parametrize("text", ["咖啡", "咖啡锈病", "联通", "玉米", "10公斤", "氮", "水稻 3 亩", "蓟马", "螨类防治"])
def test_a_few_characters_are_enough_in_gbk(text):
    assert decode(text.encode("gbk"), "a.txt") == text


def test_four_characters_that_happen_to_be_valid_utf_8_are_read_as_gbk():
    data = bytes.fromhex("c6b5 c2ac cfb5 d5bc")  # four Chinese characters, or Ƶ ¬ ϵ ռ
    assert data.decode("utf-8") == "Ƶ¬ϵռ"
    assert decode(data, "a.txt") == data.decode("gbk") == "频卢系占"


@pytest.mark.parametrize("text", ["25°C ± 2", "α-酮", "β和γ", "é", "Кофе и чай", "café résumé", "×÷·", "µg"])
def test_symbols_and_other_scripts_in_utf_8_stay(text):
    assert decode(text.encode(), "a.txt") == text


def test_big5_is_read():
    assert decode(TRADITIONAL.encode("big5"), "a.txt") == TRADITIONAL


def test_marked_utf_16_of_both_byte_orders_is_read():
    assert decode(codecs.BOM_UTF16_BE + CHINESE.encode("utf-16-be"), "a.txt") == CHINESE
    assert decode(codecs.BOM_UTF16_LE + CHINESE.encode("utf-16-le"), "a.txt") == CHINESE


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\x0b\x0c\x85\u2028\u2029")))
def test_every_utf_8_text_with_chinese_in_it_is_read_exactly(text):
    assert decode((text + "咖").encode("utf-8"), "a.txt") == (text + "咖").removeprefix("\ufeff")


@given(st.text(alphabet=st.characters(max_codepoint=126, min_codepoint=32), max_size=60))
def test_ascii_is_ascii(text):
    assert decode(text.encode(), "a.txt") == text


def test_a_file_cut_off_within_its_last_character_is_still_read():
    assert decode("咖啡锈病".encode()[:-1], "a.txt") == "咖啡锈"


@pytest.mark.parametrize(("text", "position", "bad", "expected"), [
    ("玉米要及时浇水施肥，雨季注意排水。", 4, b"\xff", "玉米□及时浇水施肥，雨季注意排水。"),  # a lead byte
    ("玉米要及时浇水施肥，雨季注意排水。", 5, b"\x20", "玉米□"),  # a second byte
    ("每亩用30克药剂兑水喷雾。", 6, b"\xff", "每亩用□0克药剂兑水喷雾。"),  # a digit
])
def test_a_gbk_file_with_one_broken_byte_is_read_with_a_warning(text, position, bad, expected):
    data = bytearray(text.encode("gbk"))
    data[position:position + 1] = bad
    read, warnings = decode_warned(bytes(data), "a.txt")
    assert read.startswith(expected) and "\ufffd" not in read
    assert read.endswith(text[-6:])
    assert len(warnings) == 1 and "1 处" in warnings[0]


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
@pytest.mark.parametrize("bad", [0xFF, 0x80, 0x00])
def test_one_broken_byte_costs_no_more_than_what_is_near_it(encoding, bad):
    lines = ["玉米要及时浇水施肥，雨季注意排水。", "每亩用 30 克药剂兑水 50 公斤喷雾。", "㐂𠮷村的农户种了卡蒂姆。"]
    good = "\n".join(lines).encode(encoding)
    for position in range(len(good)):
        data = bytearray(good)
        data[position] = bad
        read, warnings = decode_warned(bytes(data), "a.txt")
        assert "\ufffd" not in read and "\0" not in read
        whole = sum(line in read for line in lines)
        assert whole >= (1 if 10 in (good[position], good[max(0, position - 1)]) else 2)
        assert bad == 0x80 or warnings or position >= len(good) - 2  # the last character may be cut off


def test_zero_bytes_left_by_a_power_cut_are_dropped_with_a_warning():
    text = "玉米要及时浇水施肥，雨季注意排水。" * 3
    for data in (text.encode("gbk") + b"\0" * 300, text.encode()[:51] + b"\0" + text.encode()[51:]):
        read, warnings = decode_warned(data, "a.txt")
        assert read.replace("□", "") == text and len(warnings) == 1


def test_bytes_that_are_no_text_are_refused_by_name():
    with pytest.raises(DocumentError, match="图片.txt.*UTF-8"):
        decode(bytes(range(256)) * 4, "图片.txt")


@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_are_text_without_a_replacement_sign_or_one_sentence(data):
    try:
        text = decode(data, "a.txt")
    except DocumentError as error:
        assert "a.txt" in str(error)
    else:
        assert "\0" not in text and "\r" not in text
        assert "\ufffd" not in text or "\ufffd".encode() in data or b"\xff\xfd" in data or b"\xfd\xff" in data \
            or b"\x84\x31\xa4\x37" in data


def test_gbk_is_never_taken_for_half_width_kana():
    text = "钾肥每亩 5 公斤，\n氮肥每亩 8 公斤。\n"
    data = text.encode("gbk").replace("，".encode("gbk"), b"\xff\xff")
    assert not any("\uff61" <= c <= "\uff9f" for c in decode(data, "a.txt"))


def test_all_line_ends_become_new_lines_even_mixed():
    assert decode("甲\r\n乙\r丙\x0c丁\n\r戊\u2028己".encode(), "a.txt") == "甲\n乙\n丙\n丁\n\n戊\n己"


def test_a_page_is_decoded_as_it_declares_unless_its_bytes_disagree():
    head = '<html><head><meta charset="gb2312"></head><body>{}</body></html>'
    assert "喷药" in decode_markup(head.format("喷药㎏").encode("gbk"), "a.html")[0]
    assert "喷药" in decode_markup(head.format("喷药").encode("utf-8"), "a.html")[0]
    assert "喷药" in decode_markup(head.replace("gb2312", "nonsense").format("喷药").encode("gbk"), "a.html")[0]


def test_text_is_told_from_binary_data():
    assert looks_like_text("喷药。".encode("gbk")) and looks_like_text("喷药。".encode("utf-16"))
    assert not looks_like_text(b"\x01\x02\x03abc") and not looks_like_text(b"no zip\0at all")
