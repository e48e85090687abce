"""Numbers and units as farmers and documents write them."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.errors import SettingsError
from nongda.language.text import search_form
from nongda.language.units import (
    Quantity,
    Units,
    equal_in_value,
    exact,
    same_quantity,
    supported,
)

TABLE = Path(__file__).resolve().parent.parent / "assets" / "domain" / "units.toml"


@pytest.fixture(scope="session")
def table() -> Units:
    return Units.load(TABLE)


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
    "三分之一亩", "百分之几", "千克", "",
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


@pytest.mark.parametrize(("text", "low", "high", "surface"), [
    ("百分之三十", 30, 30, "百分之三十"), ("降到百分之零点五", 0.5, 0.5, "百分之零点五"), ("百分之50以上", 50, 50, "百分之50"),
    ("百分之三十五", 35, 35, "百分之三十五"), ("百分之百", 100, 100, "百分之百"), ("百分之二点五的药", 2.5, 2.5, "百分之二点五"),
    ("百分之十到百分之十五", 10, 15, "百分之十到百分之十五"), ("百分之十至二十", 10, 20, "百分之十至二十"),
    ("百分之二三十", 20, 30, "百分之二三十"), ("百分之３０～４０", 30, 40, "百分之３０～４０"),
    ("减产三成", 30, 30, "三成"), ("七八成", 70, 80, "七八成"), ("六成半", 65, 65, "六成半"), ("减产3成以上", 30, 30, "3成"),
    ("两到三成", 20, 30, "两到三成"), ("两成半至三成半", 25, 35, "两成半至三成半"), ("五成到七成", 50, 70, "五成到七成"),
    ("十成", 100, 100, "十成"), ("用九成的水溶解", 90, 90, "九成"), ("八成熟就收", 80, 80, "八成"), ("占一成", 10, 10, "一成"),
    ("损失六成到全部", 60, 60, "六成"),
])
def test_shares_in_words_are_percentages(table, text, low, high, surface):
    assert found(table, text) == [(low, high, "%")]
    assert surfaces(table, text) == [surface]


@pytest.mark.parametrize("text", [
    "成虫", "第三成虫期", "生产成本", "一成本", "完成", "成为", "三成活", "一成熟就采", "一成不变", "统一成穴", "半成品", "养成",
    "百分之几", "三分之一", "分成", "四成株",
])
def test_other_words_with_these_signs_are_no_shares(table, text):
    assert [q for q in table.quantities(text) if q.unit == "%"] == []


def test_a_share_of_a_thousand_has_its_own_sign(table):
    assert found(table, "千分之三") == [(3, 3, "‰")]


@pytest.mark.parametrize(("text", "expected"), [
    ("百分之十到二十天", [(10, 10, "%")]),
    ("三成，10公斤", [(30, 30, "%"), (10, 10, "kg")]),
    ("三点五公斤", [(3.5, 3.5, "kg")]), ("零点二五升", [(0.25, 0.25, "L")]), ("一点五至二点五公斤", [(1.5, 2.5, "kg")]),
    ("早上八点三十分钟后", [(30, 30, "min")]), ("有一点三公斤的", [(1.3, 1.3, "kg")]),
    ("0.5 g/L", [(0.5, 0.5, "g/L")]), ("０．５克／升", [(0.5, 0.5, "g/L")]),
    ("稀释1000倍", [(1000, 1000, "倍")]), ("一千倍液", [(1000, 1000, "倍")]), ("1000 倍", [(1000, 1000, "倍")]),
])
def test_decimals_in_words_rates_and_dilutions_are_read(table, text, expected):
    assert found(table, text) == expected


@pytest.mark.parametrize(("text", "low", "high"), [
    ("3～4万亩", 30000, 40000), ("1.5～2万亩", 15000, 20000), ("5000～1万亩", 5000, 10000), ("三到五百亩", 300, 500),
    ("三至四万亩", 30000, 40000), ("十到一百亩", 10, 100), ("1万～2万亩", 10000, 20000), ("一百到三百亩", 100, 300),
])
def test_both_ends_of_a_range_share_its_scale(table, text, low, high):
    assert found(table, text) == [(low, high, "亩")]


@pytest.mark.parametrize(("unit", "other", "factor"), [
    ("斤", "kg", Fraction(1, 2)), ("t", "g", 1_000_000), ("亩", "m2", Fraction(2000, 3)), ("hm2", "亩", 15), ("尺", "m", Fraction(1, 3)),
    ("kg/hm2", "kg/亩", Fraction(1, 15)), ("斤/亩", "kg/hm2", Fraction(15, 2)), ("mL/亩", "L/hm2", Fraction(15, 1000)),
    ("株/亩", "株/hm2", 15), ("g/株", "kg/株", Fraction(1, 1000)), ("mg/L", "g/L", Fraction(1, 1000)), ("g/kg", "mg/kg", 1000),
    ("ppm", "mg/kg", 1), ("m3", "mL", 1_000_000), ("cm3", "L", Fraction(1, 1000)), ("%", "%", 1),
    ("g", "mL", None), ("kg", "L", None), ("kg/亩", "kg", None), ("kg/亩", "kg/株", None), ("亩", "m", None), ("", "kg", None),
    ("%", "倍", None),
])
def test_units_of_one_kind_convert_exactly(table, unit, other, factor):
    assert table.factor(unit, other) == factor
    assert table.factor(other, unit) == (None if factor is None else 1 / Fraction(factor))


SYMBOLS = ["μg", "mg", "g", "kg", "t", "斤", "mL", "L", "m3", "cm3", "亩", "hm2", "m2", "kg/亩", "g/hm2", "斤/亩", "mL/亩", "L/hm2",
           "g/L", "mg/L"]


@settings(deadline=None)
@given(st.decimals("0.01", 99999, places=2), st.sampled_from(list(permutations(SYMBOLS, 2))))
def test_a_conversion_there_and_back_is_the_same_quantity(table, number, pair):
    quantity = Quantity(float(number), float(number) * 2, pair[0], 3, 9)
    there = table.convert(quantity, pair[1])
    if there is None:
        assert table.factor(*pair) is None
        return
    back = table.convert(there, pair[0])
    assert (there.start, there.end, there.unit) == (3, 9, pair[1])
    assert back is not None and same_quantity(back, quantity)
    assert equal_in_value(quantity, there, table) and equal_in_value(there, quantity, table)
    assert not equal_in_value(quantity, replace(there, high=there.high * 1.01), table)


@pytest.mark.parametrize(("text", "low", "high", "unit"), [
    ("每亩2公斤", 2, 2, "kg/亩"), ("30公斤/公顷", 30, 30, "kg/hm2"), ("4斤/亩", 4, 4, "斤/亩"),
    ("每公顷施尿素30公斤", 30, 30, "kg/hm2"),
    ("亩用40～50克", 40, 50, "g/亩"), ("一亩用药20毫升", 20, 20, "mL/亩"), ("每株每年30克", 30, 30, "g/株"),
    ("每棵树浇水5公斤", 5, 5, "kg/株"),
    ("每亩每次1.5万头", 15000, 15000, "头/亩"), ("亩产500公斤", 500, 500, "kg/亩"),
    ("每 1 公顷 300克", 300, 300, "g/hm2"), ("每亩地三公斤", 3, 3, "kg/亩"),
])
def test_a_rate_has_its_area_in_the_unit(table, text, low, high, unit):
    counted = table.extended({"头": "头"})
    assert [(q.low, q.high, q.unit) for q in counted.rates(text) if q.unit] == [(low, high, unit)]


@pytest.mark.parametrize(("text", "expected"), [
    ("每亩用40%三环唑20克，兑水50公斤，隔7天再喷", [(40, 40, "%"), (20, 20, "g/亩"), (50, 50, "kg/亩"), (7, 7, "")]),
    ("每亩施10公斤。另备5公斤", [(10, 10, "kg/亩"), (5, 5, "kg")]),
    ("每亩用药，每15公斤水加30克", [(15, 15, "kg"), (30, 30, "g")]),
    ("每公顷30公斤，每株10克", [(30, 30, "kg/hm2"), (10, 10, "g/株")]),
    ("一亩半地用3公斤", [(1.5, 1.5, "亩"), (3, 3, "kg")]),
    ("十一亩用3公斤", [(11, 11, "亩"), (3, 3, "kg")]),
    ("亩产量大，苗高20厘米，用药20克", [(20, 20, "cm"), (20, 20, "g/亩")]),
    ("共用3公斤", [(3, 3, "kg")]),
    ("每亩喷45升时，15升桶加4.7克", [(45, 45, "L/亩"), (15, 15, "L/亩"), (4.7, 4.7, "g")]),
])
def test_an_amount_belongs_to_the_nearest_area_before_it(table, text, expected):
    assert [(q.low, q.high, q.unit) for q in table.rates(text)] == expected


def test_one_dose_written_in_three_ways_is_one_value(table):
    doses = [table.rates(text)[0] for text in ("每亩2公斤", "30公斤/公顷", "4斤/亩", "每公顷30千克", "２ｋｇ/亩")]
    assert all(equal_in_value(one, other, table) for one in doses for other in doses)
    assert not equal_in_value(doses[0], table.rates("每亩2升")[0], table)
    assert not equal_in_value(doses[0], table.rates("2公斤")[0], table)
    assert not equal_in_value(doses[0], table.rates("每公顷2公斤")[0], table)
    assert not equal_in_value(doses[0], table.rates("每亩2～3公斤")[0], table)


def test_a_number_is_the_decimal_that_was_written():
    assert exact(0.1) == Fraction(1, 10)
    assert exact(1.1 * 10000) == 11000


def test_further_spellings_leave_the_table_as_it_is(units):
    more = units.extended({"袋": "袋"})
    assert found(more, "三袋") == [(3, 3, "袋")]
    assert found(units, "三袋") == []


@pytest.mark.parametrize("row", [
    'from = "g"\nto = "kg"', 'from = "g"\nto = "kg"\nfactor = "viel"', 'from = "g"\nto = "kg"\nfactor = "1/0"',
])
def test_a_broken_conversion_is_named_in_words(tmp_path, row):
    path = tmp_path / "units.toml"
    path.write_text(f'[units]\n"克" = "g"\n[[conversions]]\n{row}\n', encoding="utf-8")
    with pytest.raises(SettingsError, match=r"units\.toml"):
        Units.load(path)
