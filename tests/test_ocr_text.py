import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.ocr_text import mended


@pytest.mark.parametrize("read, meant", [
    ("低于10C或高于35C时", "低于10℃或高于35℃时"), ("适温23～28 C", "适温23～28℃"), ("含水12.5C", "含水12.5℃"),
    ("18～22°℃", "18～22℃"), ("45°C", "45°C"), ("3C认证", "3C认证"),
    ("维生素C", "维生素C"), ("B12C", "B12C"), ("15CM", "15CM"), ("温度条件(C)", "温度条件(℃)"),
    ("等级（C）", "等级（C）"), ("15一15一15复合肥", "15-15-15复合肥"), ("3一4月", "3-4月"), ("15一20C", "15-20℃"), ("一级", "一级"),
    ("整薯播种o", "整薯播种。"), ("含Zn o", "含Zn o"), ("5〜8克", "5～8克"), ("每亩1O0克", "每亩1O0克")])
def test_certain_slips_are_put_right_and_others_left_alone(read, meant):
    assert mended(read) == meant


@given(st.text("0123456789C°℃一丨.~ o克温(（)", max_size=30))
def test_no_digit_is_changed_and_mending_twice_changes_nothing(text):
    assert re.findall(r"\d", mended(text)) == re.findall(r"\d", text)
    assert mended(mended(text)) == mended(text)
