"""Conditions with numbers, read from text and searched for in the table of facts."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable
from dataclasses import astuple

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.index.fact_ranges import Constraint, Range, RangeReader
from nongda.index.fact_search import Search, conditions, fit_of, satisfying, search
from nongda.index.facts import FactTable
from nongda.records import Fact

COLUMNS = ["chunk_id", "subject", "kind", "crop", "target", "attribute", "value", "low", "high", "unit", "condition", "start", "end"]
INFINITE = math.inf


@pytest.fixture(scope="module")
def reader() -> RangeReader:
    return RangeReader.load(ROOT / "assets" / "domain")


def fact(subject: str, attribute: str, low: float | None = None, high: float | None = None, unit: str = "天",
         crop: str = "水稻", target: str = "", condition: str = "", value: str = "", kind: str = "product",
         chunk: str = "aaaaaaaa#0", start: int = 0) -> Fact:
    high = low if high is None else high
    return Fact(chunk, subject, kind, crop, target, attribute, value or f"{low:g}～{high:g}" if low is not None else value, low, high,
                unit, condition, start, start + 10)


def table_of(facts: Iterable[Fact]) -> FactTable:
    database = sqlite3.connect(":memory:", check_same_thread=False)  # searches run in threads
    database.row_factory = sqlite3.Row
    columns = ", ".join(f'"{c}"' + (" REAL" if c in ("low", "high") else "") for c in COLUMNS)
    database.execute(f"CREATE TABLE facts (key INTEGER PRIMARY KEY, {columns})")
    names = ", ".join(f'"{c}"' for c in COLUMNS)
    database.executemany(f"INSERT INTO facts ({names}) VALUES ({', '.join('?' * len(COLUMNS))})", [astuple(f) for f in facts])
    return FactTable(lambda sql, parameters: [dict(row) for row in database.execute(sql, tuple(parameters))])


def only(reader: RangeReader, text: str) -> Constraint:
    (constraint,) = reader.read(text)
    return constraint


@pytest.mark.parametrize(("text", "attribute", "low", "high", "low_open", "high_open", "unit"), [
    ("安全间隔期不超过7天", "safety_interval", -INFINITE, 7, False, False, "天"),
    ("安全间隔期在十四天以内", "safety_interval", -INFINITE, 14, False, False, "天"),
    ("安全间隔期少于两周", "safety_interval", -INFINITE, 2, False, True, "星期"),
    ("7天以上的安全间隔期", "safety_interval", 7, INFINITE, False, False, "天"),
    ("pH低于5.5怎么办", "ph", -INFINITE, 5.5, False, True, ""),
    ("pH5.5以下", "ph", -INFINITE, 5.5, False, False, ""),
    ("PH值是5.827", "ph", 5.827, 5.827, False, False, ""),
    ("化验pH过了8.5", "ph", 8.5, INFINITE, True, False, ""),
    ("pH在4.5到5.5之间", "ph", 4.5, 5.5, False, False, ""),
    ("pH高于5而低于5.5", "ph", 5, 5.5, True, True, ""),
    ("离收割还有10天", "safety_interval", -INFINITE, 10, False, False, "天"),
    ("距采收只有一周", "safety_interval", -INFINITE, 1, False, False, "星期"),
    ("海拔一千八百米", "altitude", 1800, 1800, False, False, "m"),
    ("海拔不低于1.2公里", "altitude", 1.2, INFINITE, False, False, "km"),
    ("亩用量低于20克", "dose", -INFINITE, 20, False, True, "g/亩"),
    ("每亩用量不多于半斤", "dose", -INFINITE, 0.5, False, False, "斤/亩"),
    ("每公顷用量300克以内", "dose", -INFINITE, 300, False, False, "g/hm2"),
    ("气温零下3度", "temperature", -3, -3, False, False, "℃"),
    ("湿度90%以上", "humidity", 90, INFINITE, False, False, "%"),
])
def test_words_beside_a_number_make_it_a_range(reader, text, attribute, low, high, low_open, high_open, unit):
    constraint = only(reader, text)
    assert (constraint.attribute, constraint.unit) == (attribute, unit)
    assert constraint.range == Range(low, high, low_open, high_open)


@pytest.mark.parametrize("text", ["一桶水15升", "5亩地", "20%氯虫苯甲酰胺", "隔7天", "pH试纸3张", "海拔高，10度", "安全间隔期，7人去查",
                                  "安全间隔期不超过7人"])
def test_numbers_beside_no_attribute_of_their_unit_are_no_condition(reader, text):
    assert reader.read(text) == []


def test_weeks_and_months_are_days(reader):
    table = table_of([fact("甲", "safety_interval", 14), fact("乙", "safety_interval", 15), fact("丙", "safety_interval", 16)])
    found = satisfying(table, only(reader, "安全间隔期不超过两周"), "within", reader)
    assert [f.subject for f in found] == ["甲"]
    found = satisfying(table, only(reader, "安全间隔期半个月以内"), "within", reader)
    assert [f.subject for f in found] == ["甲", "乙"]


def test_amounts_compare_across_areas_and_weights_but_never_grams_with_millilitres(reader):
    facts = [fact("甲", "dose", 300, unit="g/hm2"), fact("乙", "dose", 0.02, unit="kg/亩"), fact("丙", "dose", 10, unit="mL/亩"),
             fact("丁", "dose", 20.1, unit="g/亩")]
    found = satisfying(table_of(facts), only(reader, "每亩用量不超过20克"), "within", reader)
    assert [f.subject for f in found] == ["甲", "乙"]  # 300 g a hectare are 20 g a mu
    found = satisfying(table_of(facts), only(reader, "每亩用量低于20克"), "within", reader)
    assert found == []


def test_numbers_are_compared_as_numbers_and_not_as_text(reader):
    table = table_of([fact("", "ph", value, unit="", kind="") for value in (5.827, 6.014, 10.7)])
    found = satisfying(table, only(reader, "pH低于6"), "within", reader)
    assert [f.low for f in found] == [5.827]


def test_a_bound_the_document_leaves_out_does_not_hold_the_value(reader):
    above = fact("小粒种咖啡", "temperature", 11.5, INFINITE, "℃", value="高于11.5", kind="crop")
    least = fact("小粒种咖啡", "temperature", 11.5, INFINITE, "℃", value="不低于11.5", kind="crop")
    point = only(reader, "气温11.5℃")
    assert fit_of(above, point, "contains", reader) == "none"
    assert fit_of(least, point, "contains", reader) == "full"


ranges = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted).map(tuple)
random_facts = st.lists(st.builds(
    lambda subject, ends, unit, open_low, open_high: fact(
        subject, "safety_interval", -INFINITE if open_low else ends[0] / 2, INFINITE if open_high else ends[1] / 2, unit,
        value="低于5" if open_low else "高于5" if open_high else "5"),
    st.sampled_from("甲乙丙"), ranges, st.sampled_from(["天", "星期", "h"]), st.booleans(), st.booleans()), max_size=12)
random_constraints = st.builds(
    lambda ends, low, high, unit, low_open, high_open: Constraint("safety_interval", Range(
        ends[0] / 2 if low else -INFINITE, ends[1] / 2 if high else INFINITE, low and low_open, high and high_open), unit, "", 0, 0),
    ranges, st.booleans(), st.booleans(), st.sampled_from(["天", "星期"]), st.booleans(), st.booleans())


@settings(max_examples=150, deadline=None)
@given(random_facts, random_constraints, st.sampled_from(["value", "within", "contains"]))
def test_the_query_finds_what_comparing_every_fact_finds(reader_once, facts, constraint, fits):
    by_hand = [f for f in facts if fit_of(f, constraint, fits, reader_once) == "full"]
    assert satisfying(table_of(facts), constraint, fits, reader_once) == by_hand


@pytest.fixture(scope="session")
def reader_once() -> RangeReader:
    return RangeReader.load(ROOT / "assets" / "domain")


@given(ranges, ranges, st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.integers(-1, 82))
def test_within_and_overlap_agree_with_the_numbers_in_the_ranges(one, other, a, b, c, d, number):
    wide, wide_other = one[0] < one[1], other[0] < other[1]
    first, second = Range(*one, a and wide, b and wide), Range(*other, c and wide_other, d and wide_other)

    def holds(r: Range, x: float) -> bool:
        return (r.low < x or (r.low == x and not r.low_open)) and (x < r.high or (r.high == x and not r.high_open))

    x = number / 2
    if first.within(second) and holds(first, x):
        assert holds(second, x)
    if holds(first, x) and holds(second, x):
        assert first.overlaps(second) and first.distance(second) == 0
        assert holds(first.intersection(second), x)


RICE = [
    fact("噻嗪酮", "safety_interval", 14, target="稻飞虱"),
    fact("吡蚜酮", "target", unit="", target="稻飞虱", value="稻飞虱"),
    fact("吡蚜酮", "safety_interval", 7),
    fact("醚菊酯", "target", unit="", target="稻飞虱", value="稻飞虱"),
    fact("呋虫胺", "target", unit="", target="稻飞虱", value="稻飞虱"),
    fact("呋虫胺", "safety_interval", 5, crop="黄瓜"),
    fact("井冈霉素", "safety_interval", 3, target="纹枯病"),
    fact("异丙威", "safety_interval", 7, 14, target="稻飞虱"),
]


def names(rows) -> list[str]:
    return [row.subject for row in rows]


def test_conditions_are_joined_by_subject_and_crop(reader):
    asked = Search("product", (only(reader, "安全间隔期不超过7天"),), ("稻飞虱",))
    found = search(asked, table_of(RICE), reader)
    assert names(found.full) == ["吡蚜酮"]
    assert names(found.part) == ["异丙威"]  # 7 to 14 days are not at most 7
    assert names(found.none) == ["噻嗪酮"]
    assert names(found.unknown) == ["呋虫胺", "醚菊酯"]  # cucumber's interval is none for rice
    assert [f.target for f in found.full[0].targets[0]] == ["稻飞虱"]


def test_sources_that_differ_fit_in_part(reader):
    facts = [*RICE, fact("吡蚜酮", "safety_interval", 21, chunk="bbbbbbbb#0")]
    found = search(Search("product", (only(reader, "安全间隔期不超过7天"),), ("稻飞虱",)), table_of(facts), reader)
    assert names(found.full) == []
    assert [(row.subject, len(row.values[0])) for row in found.part] == [("吡蚜酮", 2), ("异丙威", 1)]


def test_two_conditions_must_both_hold(reader):
    facts = [fact("甲", "safety_interval", 7), fact("甲", "dose", 15, unit="g/亩"), fact("乙", "safety_interval", 7),
             fact("乙", "dose", 30, unit="g/亩"), fact("丙", "safety_interval", 7)]
    both = tuple(reader.read("安全间隔期不超过7天，亩用量低于20克"))
    found = search(Search("product", both), table_of(facts), reader)
    assert (names(found.full), names(found.none)) == (["甲"], ["乙"])


def test_a_dose_against_another_disease_is_none_against_the_asked_one(reader):
    facts = [fact("烯唑醇", "dose", 60, unit="g/亩", crop="小麦", target="条锈病"),
             fact("烯唑醇", "dose", 50, unit="g/亩", crop="小麦", target="纹枯病")]
    found = search(Search("product", (only(reader, "每亩用量不超过50克"),), ("条锈病",)), table_of(facts), reader)
    assert (names(found.full), names(found.none)) == ([], ["烯唑醇"])
    assert [f.low for f in found.none[0].values[0]] == [60]


def test_amounts_in_a_unit_that_does_not_compare_are_told_apart(reader):
    facts = [fact("甲", "dose", 10, unit="mL/亩"), fact("乙", "dose", 10, unit="g/亩")]
    found = search(Search("product", (only(reader, "每亩用量不超过50克"),)), table_of(facts), reader)
    assert (names(found.full), names(found.other), found.unknown) == (["乙"], ["甲"], ())


def test_a_stated_limit_counts_as_its_number(reader):
    facts = [fact("甲", "times", -INFINITE, 3, "次"), fact("乙", "times", -INFINITE, 1, "次"), fact("丙", "times", 1, 2, "次")]
    found = search(Search("product", (only(reader, "每季最多用1次"),)), table_of(facts), reader)
    assert (names(found.full), names(found.part), names(found.none)) == (["乙"], ["丙"], ["甲"])


def test_a_row_without_a_crop_that_says_the_same_is_left_out(reader):
    facts = [fact("三环唑", "safety_interval", 21, 35), fact("三环唑", "safety_interval", 21, 35, crop=""),
             fact("乙", "safety_interval", 25, crop="")]
    found = search(Search("product", (only(reader, "安全间隔期超过20天"),)), table_of(facts), reader)
    assert [(r.subject, r.crop) for r in found.full] == [("乙", ""), ("三环唑", "水稻")]


def test_forms_of_a_product_are_kept_apart(reader):
    facts = [fact("啶虫脒", "safety_interval", 2, crop="黄瓜", start=1), fact("啶虫脒", "safety_interval", 1, crop="黄瓜", start=2)]
    asked = Search("product", (only(reader, "安全间隔期不超过1天"),), (), ("黄瓜",))
    found = search(asked, table_of(facts), reader, lambda f: {1: "20%啶虫脒乳油", 2: "20%啶虫脒可溶粉剂"}[f.start])
    assert [r.label for r in found.full] == ["20%啶虫脒可溶粉剂"]
    assert [r.label for r in found.none] == ["20%啶虫脒乳油"]


def test_what_is_not_allowed_is_left_out(reader):
    asked = Search("product", (only(reader, "安全间隔期不超过7天"),), ("稻飞虱",))
    found = search(asked, table_of(RICE), reader, allowed=lambda f: f.subject != "吡蚜酮")
    assert "吡蚜酮" not in names((*found.full, *found.part, *found.none, *found.unknown))


def test_a_range_of_fitness_must_hold_the_asked_altitude(reader):
    facts = [fact(name, "altitude", low, high, "m", "咖啡", kind="variety")
             for name, low, high in (("铁皮卡", 800, 1500), ("卡蒂姆", 1000, 2000))]
    found = search(Search("variety", (only(reader, "海拔1800米"),)), table_of(facts), reader)
    assert (names(found.full), names(found.none)) == (["卡蒂姆"], ["铁皮卡"])
    assert found.none[0].distance == 300
    found = search(Search("variety", (only(reader, "海拔1500米以下"),), within=True), table_of(facts), reader)
    assert (names(found.full), names(found.part)) == (["铁皮卡"], ["卡蒂姆"])


def test_the_nearest_stands_first_and_ties_go_by_name(reader):
    facts = [fact(s, "safety_interval", d) for s, d in (("丙", 21), ("乙", 14), ("甲", 14))]
    found = search(Search("product", (only(reader, "安全间隔期不超过7天"),)), table_of(facts), reader)
    assert names(found.none) == sorted(["乙", "甲"]) + ["丙"]


def test_conditions_in_words_are_compared_with_the_value(reader):
    facts = [fact("石灰", "dose", 200, 400, "kg/亩", "", condition="常见酸性地（pH4.5～5.5）", kind="nutrient", start=1),
             fact("石灰", "dose", 50, 75, "kg/亩", "", condition="稻田", kind="nutrient", start=2),
             fact("", "ph", -INFINITE, 5.5, "", "", value="低于5.5", kind="", start=3),
             fact("", "ph", 6.5, 7.5, "", "", kind="", start=4)]
    found = conditions(only(reader, "pH 5.2"), table_of(facts), reader)
    assert [(c.fact.start, c.fit, c.stated) for c in found] == [(3, "full", False), (1, "full", True), (4, "none", False)]
    found = conditions(only(reader, "pH低于5.5"), table_of(facts), reader)
    assert [(c.fact.start, c.fit) for c in found] == [(3, "full"), (1, "full"), (4, "none")]  # 4.5 to 5.5 is a case of it
    found = conditions(only(reader, "pH 5.5"), table_of(facts), reader)
    assert [(c.fact.start, c.fit) for c in found] == [(1, "full"), (3, "none"), (4, "none")]  # 低于5.5 is not 5.5
