import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.errors import UsageError
from nongda.evaluation.scans import (
    CLEAN,
    SCAN,
    character_accuracy,
    chinese_fonts,
    digit_accuracy,
    edit_distance,
    render_page,
)


@pytest.mark.parametrize("expected, found, distance", [
    ("", "", 0), ("", "克", 1), ("克", "", 1), ("每亩30克", "每亩30克", 0), ("每亩30克", "每亩80克", 1),
    ("每亩30克", "每亩3克", 1), ("每亩30克", "亩300兑", 3), ("甲霜灵", "霜灵甲", 2)])
def test_the_edit_distance_counts_what_to_insert_delete_and_replace(expected, found, distance):
    assert edit_distance(expected, found) == distance


@given(st.text("甲乙1", max_size=12), st.text("甲乙1", max_size=12))
def test_the_edit_distance_is_that_of_the_textbook_table(a, b):
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        above, row[0] = row[:], i
        for j, right in enumerate(b, start=1):
            row[j] = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (left != right))
    assert edit_distance(a, b) == row[-1]


def test_accuracy_is_the_share_of_characters_that_need_no_change():
    assert character_accuracy("每亩用药 30 克", "每亩用约30克") == pytest.approx(1 - 1 / 7)
    assert character_accuracy("３０％", "30%") == 1
    assert character_accuracy("", "") == 1 and character_accuracy("", "多") == 0 and character_accuracy("短", "长得多") == 0


def test_figures_are_measured_apart_from_words():
    assert digit_accuracy("每亩 12.5 克，兑水 30 升", "每由 12.5 兑，克水 30 开") == 1
    assert digit_accuracy("12.5 克", "125 克") == pytest.approx(1 - 1 / 4)


@pytest.mark.skipif(not chinese_fonts(), reason="no Chinese font")
def test_a_seed_gives_one_picture_and_what_finds_no_room_is_not_expected():
    text = "# 用药\n| 药剂 | 用量 |\n|---|---|\n| 石硫合剂 | 66 克 |\n" + "清园后喷一次。\n" * 40
    font = chinese_fonts()[0]
    image, lines = render_page(text, font, 12, SCAN, seed=3, paper=(200, 140))
    assert lines.split("\n")[:3] == ["用药", "药剂用量", "石硫合剂66 克"] and lines.count("清园后喷一次。") == 1
    assert image.size == (556, 389)
    assert image.tobytes() == render_page(text, font, 12, SCAN, seed=3, paper=(200, 140))[0].tobytes()
    assert image.tobytes() != render_page(text, font, 12, SCAN, seed=4, paper=(200, 140))[0].tobytes()
    assert image.tobytes() != render_page(text, font, 12, CLEAN, seed=3, paper=(200, 140))[0].tobytes()


def test_a_font_that_is_none_is_an_error_in_words(tmp_path):
    (tmp_path / "字体.ttf").write_bytes(b"nothing")
    with pytest.raises(UsageError, match="字体.ttf”无法读取"):
        render_page("文", tmp_path / "字体.ttf")
