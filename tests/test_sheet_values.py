import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.sheet_values import builtin_format, is_date_format, plain, shown


@pytest.mark.parametrize(("value", "number_format", "text"), [
    (3.0, "General", "3"), (0.1 + 0.2, "General", "0.3"), (1e-5, "General", "0.00001"), (-2.5, "", "-2.5"),
    (20150123456, "General", "20150123456"), (0.05, "0%", "5%"), (0.125, "0.0%", "12.5%"), (0.05, "0.00%", "5.00%"),
    (1234567, "#,##0", "1234567"), (1234.5, "#,##0.00", "1234.50"), (66.66666667, "0", "67"), (2.5, "0", "3"),
    (0.125, "0.00", "0.13"), (1.005, "0.00", "1.01"), (3, "0.##", "3"), (3.25, "0.0#", "3.25"), (7, "000", "007"),
    (20, '0"克/亩"', "20克/亩"), (20.5, '0.0\\毫\\升', "20.5毫升"), (1500, '0"倍液"', "1500倍液"), (5, '"约"0"天"', "约5天"),
    (-3, "0.0_ ;[Red]-0.0", "-3.0"), (-3, "0_);(0)", "(3)"), (0, '0;-0;"无"', "无"), (5, ";;;", ""),
    (12, '[$¥-804]#,##0.00', "¥12.00"), (5000, "0,", "5"), (0.5, "# ?/?", "0.5"), (1234, "0.00E+00", "1234"),
    (120, "[>100]0;0.0", "120"), (12, "@", "12"), (0.5, ".00", "0.50"), (4, '0"0"', "40"), (-0.001, "0.00", "0.00"),
    (float("nan"), "0", ""),
])
def test_a_number_is_as_its_cell_shows_it(value, number_format, text):
    assert shown(value, number_format) == text


@pytest.mark.parametrize(("value", "number_format", "text"), [
    (45366, "yyyy-mm-dd", "2024-03-15"), (45366, "mm-dd-yy", "2024-03-15"), (45366, 'yyyy"年"m"月"d"日"', "2024-03-15"),
    (45366, 'yyyy"年"m"月"', "2024-03"), (45366, "yyyy", "2024"), (45366, 'm"月"d"日"', "3月15日"), (45366, "m/d", "3月15日"),
    (45366.35, "yyyy/m/d h:mm", "2024-03-15 08:24"), (45366, "yyyy/m/d h:mm", "2024-03-15"), (0.5, "h:mm", "12:00"),
    (45366.5, "h:mm:ss", "12:00"), (1.5, "[h]:mm", "36:00"), (45366, "[$-804]yyyy\\年m\\月d\\日;@", "2024-03-15"),
    (45366, builtin_format(31), "2024-03-15"), (45366, builtin_format(58), "3月15日"), (-5, "yyyy-mm-dd", "-5"),
    (1, "yyyy-mm-dd", "1900-01-01"), (59, "yyyy-mm-dd", "1900-02-28"), (61, "yyyy-mm-dd", "1900-03-01"),
])
def test_a_date_is_iso_and_one_without_a_year_has_none(value, number_format, text):
    assert shown(value, number_format) == text


def test_a_workbook_that_counts_from_1904_gives_its_own_dates():
    assert shown(43904, "yyyy-mm-dd", epoch_1904=True) == "2024-03-15"


@pytest.mark.parametrize("number_format", ["General", "0.00", '0"d"', "#,##0", "[Red]0", "@", "0.00E+00", '0"mm"'])
def test_units_and_colours_make_no_date(number_format):
    assert not is_date_format(number_format)


@given(st.floats(-1e12, 1e12))
def test_a_plain_number_reads_back_as_nearly_the_same_number(value):
    assert float(plain(value)) == pytest.approx(value, rel=1e-9)


@given(st.floats(allow_nan=True), st.text("0#?.,;%@\"\\[]_*ymdhs-/E+年 ", max_size=12))
def test_any_format_shows_something_without_failing(value, number_format):
    assert isinstance(shown(value, number_format), str)
