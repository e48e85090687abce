"""Open ranges: which words beside a number take an end away, and how far the value then reaches."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.index.bounds import bounded
from nongda.records import Quantity


def read(text, number="7", header="", high=None):
    start = text.index(number)
    quantity = Quantity(7.0, 7.0 if high is None else high, "天", start, start + len(number))
    return bounded(text, quantity, header)


@pytest.mark.parametrize(("text", "low", "high", "value"), [
    ("不超过7", -math.inf, 7, "不超过7"), ("不得超过7", -math.inf, 7, "不得超过7"), ("低于7", -math.inf, 7, "低于7"),
    ("7以下", -math.inf, 7, "7以下"), ("最多7", -math.inf, 7, "最多7"), ("上限7", -math.inf, 7, "上限7"),
    ("超过7", 7, math.inf, "超过7"), ("不低于7", 7, math.inf, "不低于7"), ("不得少于7", 7, math.inf, "不得少于7"),
    ("7以上", 7, math.inf, "7以上"), ("至少7", 7, math.inf, "至少7"), ("约7左右", 7, 7, "7"), ("低于的7", 7, 7, "7"),
])
def test_words_beside_a_number_open_its_range(text, low, high, value):
    found = read(text)
    assert (found.low, found.high, text[found.start : found.end]) == (low, high, value)


def test_a_range_with_a_bound_says_neither():
    assert read("不超过7", high=10.0) is None
    assert read("不超过7以上") is None


def test_a_header_opens_a_bare_number_only():
    assert (read("7", header="每季最多次数").low, read("7", header="水分下限").high) == (-math.inf, math.inf)
    assert read("7", header="每季最多次数", high=9.0).low == 7


@given(st.text(max_size=12), st.text(max_size=12))
def test_ends_are_never_the_wrong_way_round(before, after):
    text = f"{before}7{after}"
    found = bounded(text, Quantity(7.0, 7.0, "天", len(before), len(before) + 1))
    assert found is None or (found.low <= 7 <= found.high and 0 <= found.start <= len(before) < found.end <= len(text))
