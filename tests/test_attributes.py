"""The attributes of facts.toml, and a broken table as one sentence."""

import shutil

import pytest
from conftest import ROOT

from nongda.errors import SettingsError
from nongda.index.attributes import Attributes

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def attributes():
    return Attributes.load(DOMAIN)


def test_the_units_of_every_attribute_are_symbols_that_numbers_are_read_in(attributes):
    known = {"", "℃"}
    for attribute in attributes.by_key.values():
        for unit in attribute.units - known:
            above, _, below = unit.partition("/")
            whole = [q.unit for q in attributes.units.rates(f"1{unit}")]
            parts = attributes.units.quantities(f"1{above}") and (not below or attributes.units.quantities(f"1{below[:2]}"))
            assert unit in whole or parts, (attribute.key, unit)


@pytest.mark.parametrize(("words", "name", "unit", "key"), [
    ("安全间隔期（天）", "安全间隔期", "天", "safety_interval"), ("每亩用量（克）", "每亩用量", "g/亩", "dose"),
    ("土壤pH", "土壤pH", None, "ph"), ("7月平均气温（℃）", "7月平均气温", "℃", "climate"),
    ("磷P₂O₅（公斤/亩）", "磷P₂O₅", "kg/亩", "dose"), ("叶温（℃）", "叶温", "℃", "temperature"),
])
def test_headers_name_their_attributes(attributes, words, name, unit, key):
    assert attributes.of_header(words, name, unit).key == key


def test_a_header_with_another_unit_names_nothing(attributes):
    assert attributes.of_header("磷P₂O₅（公斤/吨生豆）", "磷P₂O₅", "kg/t生豆") is None
    assert attributes.of_header("资料", "资料", None) is None


def test_a_broken_table_is_one_sentence_that_names_it(tmp_path):
    shutil.copy(DOMAIN / "units.toml", tmp_path)
    (tmp_path / "facts.toml").write_text("[units]\n[columns", encoding="utf-8")
    with pytest.raises(SettingsError, match="facts.toml"):
        Attributes.load(tmp_path)
    with pytest.raises(SettingsError, match="facts.toml"):
        Attributes.load(tmp_path / "none")


def test_the_version_changes_with_the_table(tmp_path, attributes):
    for name in ("units.toml", "facts.toml"):
        shutil.copy(DOMAIN / name, tmp_path)
    assert Attributes.load(tmp_path).version == attributes.version
    with (tmp_path / "facts.toml").open("a", encoding="utf-8") as file:
        file.write("\n# 改了\n")
    assert Attributes.load(tmp_path).version != attributes.version
