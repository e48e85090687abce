"""A value is held when its quantities are, whatever the writing; a name when its words or its standard term are."""

import pytest
from gold_world import real_values

from nongda.errors import SettingsError
from nongda.evaluation.values import Values, without_citations

VALUES = real_values()


@pytest.mark.parametrize(("text", "value"), [
    ("每亩用50～75克兑水", "50～75克"),
    ("每亩用50-75 g兑水", "50～75克"),
    ("一年喷三次", "3次"),
    ("间隔2至3周", "2～3个星期"),
    ("配药需硫酸铜（克）：75；生石灰（克）：75", "75克"),
    ("洋芋要起垄", "马铃薯"),
    ("这种做法不宜采用[d2818f93#3]", "不能|不宜"),
    ("比例1∶1∶160", "1:1:160"),
    ("pH 5.5左右", "pH5.5"),
    ("每亩3公斤", "3公斤/亩"),
    ("用量12～15公斤/亩", "12～15公斤"),
    ("可以种，但要排水", "可以"),
    ("能不能种？不能种", "不能"),
])
def test_held(text, value):
    assert VALUES.holds(text, value)


@pytest.mark.parametrize(("text", "value"), [
    ("每亩用50～75毫升", "50～75克"),
    ("每亩用60克", "50～75克"),
    ("隔3天喷一次", "3次"),
    ("见资料[d2818f93#3天]", "13天"),
    ("苞谷要起垄", "马铃薯"),
    ("需水175升", "75升"),
    ("亩产190公斤", "90"),
    ("比例1:1:1000", "1:1:100"),
    ("pH5.55", "pH5.5"),
    ("不可以种", "可以"),
    ("能不能种要看情况", "不能"),
    ("是不是缺氮", "是"),
    ("用3克/株", "3克/亩"),
])
def test_not_held(text, value):
    assert not VALUES.holds(text, value)


def test_the_digits_of_a_citation_are_no_value():
    assert without_citations("喷药[00000014#3]。") == "喷药。"
    assert not VALUES.holds("喷药[00000014#3]天", "3天")


def test_a_value_is_a_number_when_its_first_alternative_has_a_quantity():
    assert VALUES.is_number("3天|三天")
    assert not VALUES.is_number("不能|不宜")


def test_a_row_holds_the_numbers_whose_unit_stands_in_the_header():
    assert VALUES.stands_in_row("75克", "| 0.5% | 75 | 80 |")
    assert not VALUES.stands_in_row("75克", "| 0.5% | 175 | 80 |")
    assert not VALUES.stands_in_row("75克", "用量为75")
    assert not VALUES.stands_in_row("不能|不宜", "| 0.5% | 75 |")


def test_a_broken_table_of_units_is_named(tmp_path):
    path = tmp_path / "units.toml"
    path.write_text("[units]\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"units\.toml"):
        Values.load(VALUES._lexicon, path)
