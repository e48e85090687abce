"""Numbers and units as farmers and documents write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.errors import SettingsError
from nongda.language.text import search_form
from nongda.language.units import Quantity, Units, chinese_number, same_quantity, supported

NUMERALS = "零一二三四五六七八九"


def found(units, text):
    return [(q.low, q.high, q.unit) for q in units.quantities(text)]


def surfaces(units, text):
    return [text[q.start : q.end] for q in units.quantities(text)]


@pytest.mark.parametrize(("text", "low", "high", "unit", "surface"), [
    ("每亩３０克", 30, 30, "g", "３０克"),
    ("稀释800～1000倍液", 800, 1000, "倍液", "800～1000倍液"),
    ("隔7至10天", 7, 10, "天", "7至10天"),
    ("隔七至10天", 7, 10, "天", "七至10天"),
    ("三十至五十天", 30, 50, "天", "三十至五十天"),
    ("5公斤到10公斤", 5, 10, "kg", "5公斤到10公斤"),
    ("10%-20%", 10, 20, "%", "10%-20%"),
    ("10～5天", 5, 10, "天", "10～5天"),
    ("亩产一百二十公斤", 120, 120, "kg", "一百二十公斤"),
    ("一百二公斤", 120, 120, "kg", "一百二公斤"),
    ("一千零五克", 1005, 1005, "g", "一千零五克"),
    ("十三亩半", 13.5, 13.5, "亩", "十三亩半"),
    ("13亩半地", 13.5, 13.5, "亩", "13亩半"),
    ("三至五亩半", 3, 5.5, "亩", "三至五亩半"),
    ("半亩地", 0.5, 0.5, "亩", "半亩"),
    ("共1,200公斤", 1200, 1200, "kg", "1,200公斤"),
    ("种植3.5万亩", 35000, 35000, "亩", "3.5万亩"),
    ("万亩茶园", 10000, 10000, "亩", "万亩"),
    ("二十五万亩", 250000, 250000, "亩", "二十五万亩"),
    ("五千克", 5, 5, "kg", "五千克"),
    ("两三天", 2, 3, "天", "两三天"),
    ("七八十公斤", 70, 80, "kg", "七八十公斤"),
    ("十二三天", 12, 13, "天", "十二三天"),
    ("气温零下5℃", -5, -5, "℃", "零下5℃"),
    ("气温-5℃", -5, -5, "℃", "-5℃"),
    ("－5～2℃", -5, 2, "℃", "－5～2℃"),
    ("零下5至2℃", -5, -2, "℃", "零下5至2℃"),
    ("零下5℃到零下2℃", -5, -2, "℃", "零下5℃到零下2℃"),
    ("20-25℃", 20, 25, "℃", "20-25℃"),
    ("-5公斤", 5, 5, "kg", "5公斤"),
    ("25%吡唑醚菌酯", 25, 25, "%", "25%"),
    ("喷一次", 1, 1, "次", "一次"),
    ("5 个", 5, 5, "", "5"),
    ("30克 天牛", 30, 30, "g", "30克"),
    ("三天半夜里", 3, 3, "天", "三天"),
    ("5 mango", 5, 5, "", "5"),
])
def test_a_quantity_has_its_value_its_symbol_and_its_place(units, text, low, high, unit, surface):
    assert found(units, text) == [(low, high, unit)]
    assert surfaces(units, text) == [surface]


@pytest.mark.parametrize("text", [
    "一般", "一些", "第一", "第一次", "第十三天", "统一管理", "万一", "几十公斤", "数百公斤", "每千克种子",
    "三分之一亩", "百分之三十", "千克", "",
])
def test_everyday_words_with_numerals_are_no_quantities(units, text):
    assert found(units, text) == []


@pytest.mark.parametrize(("text", "expected"), [
    ("2,4-滴", [(2, 2, ""), (4, 4, "")]),
    ("按1:100", [(1, 1, ""), (100, 100, "")]),
    ("亩用500，300不够", [(500, 500, ""), (300, 300, "")]),  # a Chinese comma parts numbers
    ("10-20-30℃", [(10, 20, ""), (30, 30, "℃")]),  # the second hyphen is no sign
    ("30克兑水15升，7天一次", [(30, 30, "g"), (15, 15, "L"), (7, 7, "天"), (1, 1, "次")]),
])
def test_several_numbers_stay_several(units, text, expected):
    assert found(units, text) == expected


@settings(deadline=None)
@given(st.integers(0, 9999))
def test_a_chinese_numeral_reads_back_as_its_number(number):
    assert chinese_number(written(number)) == number


def written(number: int) -> str:
    """Write 0 to 9999 in Chinese, with 零 for gaps."""
    if number < 10:
        return NUMERALS[number]
    text, gap = "", False
    for scale, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // scale % 10
        if digit:
            text += ("零" if gap and text else "") + NUMERALS[digit] + name
            gap = False
        elif text:
            gap = True
    return text


@pytest.mark.parametrize(("numeral", "value"), [
    ("三十五", 35), ("十", 10), ("十三", 13), ("一百二", 120), ("一万二", 12000), ("一千零二", 1002), ("两百", 200), ("二〇二四", 2024),
    ("十三半", 13.5), ("半", 0.5), ("二十五万", 250000), ("三万零五十", 30050), ("万", 10000), ("", None), ("甲", None), ("一甲", None),
])
def test_chinese_numerals_have_their_value(numeral, value):
    assert chinese_number(numeral) == value


@settings(deadline=None)
@given(st.decimals(0, 9999, places=2), st.sampled_from(["公斤", "克", "毫升", "天", "%"]), st.booleans())
def test_width_and_spaces_change_nothing_of_a_quantity(units, number, unit, spaced):
    narrow = f"每次{number}{' ' if spaced else ''}{unit}。"
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in narrow)
    assert found(units, narrow) == found(units, wide)
    assert units.quantities(narrow)[0].low == float(number)


@settings(deadline=None)
@given(st.text(st.sampled_from("0123456789一二三十百千万半零下几第至到~～-—－.,，克公斤升毫亩天℃% 药"), max_size=30))
def test_offsets_point_at_the_number_whatever_the_text(units, text):
    position = 0
    for quantity in units.quantities(text):
        assert position <= quantity.start < quantity.end <= len(text)
        assert quantity.low <= quantity.high
        surface = text[quantity.start : quantity.end]
        assert surface == surface.strip()
        position = quantity.end


@pytest.mark.parametrize(("text", "normal"), [
    ("30公斤", "30kg"), ("30 千克", "30kg"), ("30kg", "30kg"), ("15升水", "15L水"), ("每公斤", "每公斤"), ("25°c", "25℃"),
    ("5mango", "5mango"), ("500毫升", "500mL"),
])
def test_a_unit_after_a_digit_becomes_its_symbol(units, text, normal):
    assert units.normalise(text) == normal
    assert units.normalise(search_form(normal)) == normal


def test_one_sign_units_are_known_as_search_text_has_them(units):
    table = Units({"㎏": "kg", "㎡": "m2", "℃": "℃"})
    assert table.normalise(search_form("30㎏、５㎡、25℃")) == "30kg、5m2、25℃"


def test_quantities_compare_as_numbers_with_their_unit(units):
    (a,), (b,) = units.quantities("1.0公斤"), units.quantities("１千克")
    assert same_quantity(a, b)
    assert not same_quantity(a, units.quantities("1克")[0])
    assert not same_quantity(units.quantities("7~10天")[0], units.quantities("7~15天")[0])


def test_a_claim_is_supported_by_the_same_range_only_and_not_by_one_of_its_ends(units):
    evidence = units.quantities("每隔7～10天喷一次，每亩30克")
    assert supported(units.quantities("7至10天")[0], evidence)
    assert not supported(units.quantities("10天")[0], evidence)
    assert supported(units.quantities("30克")[0], evidence)
    assert not supported(units.quantities("8天")[0], evidence)
    assert not supported(units.quantities("7~30天")[0], evidence)
    assert not supported(units.quantities("30毫升")[0], evidence)
    assert not supported(units.quantities("30公斤")[0], evidence)
    assert not supported(Quantity(1, 1, "次", 0, 1), [])


def test_frost_is_not_warmth(units):
    assert not supported(units.quantities("2℃时受害")[0], units.quantities("零下2℃时受害"))


def test_the_table_is_read_from_toml(tmp_path):
    path = tmp_path / "单位 表.toml"
    path.write_text('[units]\n"公斤" = "kg"\n', encoding="utf-8")
    assert found(Units.load(path), "3公斤") == [(3, 3, "kg")]


@pytest.mark.parametrize("content", ["[units\n", "x = 1\n", "units = 3\n", None])
def test_a_broken_table_is_named_in_words(tmp_path, content):
    path = tmp_path / "units.toml"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"units\.toml"):
        Units.load(path)


def test_a_table_without_units_still_finds_numbers():
    assert found(Units({}), "喷3次，一次") == [(3, 3, "")]
