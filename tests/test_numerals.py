"""Chinese numerals read as numbers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.language.numerals import chinese_number

NUMERALS = "零一二三四五六七八九"


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


@pytest.mark.parametrize(("numeral", "value"), [
    ("零点五", 0.5), ("三点五", 3.5), ("十二点二五", 12.25), ("三点", None), ("点五", None), ("三点十", None),
])
def test_decimals_in_words_have_their_value(numeral, value):
    assert chinese_number(numeral) == value


@settings(deadline=None)
@given(st.integers(0, 9999), st.integers(0, 99))
def test_a_decimal_in_words_reads_back_as_its_number(whole, hundredths):
    digits = "".join(NUMERALS[int(d)] for d in f"{hundredths:02d}")
    assert chinese_number(f"{written(whole)}点{digits}") == float(f"{whole}.{hundredths:02d}")
