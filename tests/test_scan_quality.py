import pytest
from fake_reader import scan

from nongda.documents.ocr import Scan, ScanLine
from nongda.documents.scan_lines import judged, scan_lines, text_width
from nongda.documents.scan_quality import everyday_share, judge, plausible_share

GOOD = ("咖啡叶锈病发病初期每亩用石硫合剂三十克，兑水四十五公斤喷雾，隔十天再喷一次。",)


def test_a_page_that_recognition_is_sure_of_is_good():
    assert judge(scan(*GOOD)).kind == "good" and judge(scan("2023年")).kind == "good"


@pytest.mark.parametrize("confidence, kind", [(0.97, "good"), (0.955, "doubtful"), (0.81, "doubtful"), (0.79, "unread")])
def test_confidence_decides_between_good_doubtful_and_unread(confidence, kind):
    verdict = judge(scan(*GOOD, confidence=confidence))
    assert verdict.kind == kind and (f"{confidence:.0%}" in verdict.note) == (kind != "good")


def test_tiny_characters_are_doubtful_however_sure_recognition_is():
    assert judge(scan(*GOOD, size=9, dpi=100)).kind == "good"  # boxes of 17.5 pixels
    verdict = judge(scan(*GOOD, size=9, dpi=72))
    assert verdict.kind == "doubtful" and "太小" in verdict.note


def test_signs_that_make_no_text_are_doubtful_or_unread():
    assert judge(scan("喷雾" * 20 + "ÐÑÖÜØ" * 2)).kind == "doubtful"
    assert judge(scan("喷雾" * 10 + "ÐÑÖÜØ" * 4)).kind == "unread"


def test_an_empty_sheet_is_no_fault_but_ink_that_was_not_read_is():
    assert judge(scan(ink=0.0005, confidence=0.0)).kind == "blank"
    assert judge(scan(ink=0.05, confidence=0.0)).kind == "unread"
    assert judge(scan(ink=0.0005, confidence=0.3)).kind == "unread"  # something was seen and left out


def test_agronomic_text_is_plausible_and_foreign_signs_are_not():
    text = "灭幼脲悬浮剂 1500 倍，Hemileia vastatrix，pH 5.5～6.5，25 ℃，㎏/㎡，①③→≥±µ、螨蚧蚜"
    assert plausible_share(text) == 1 and plausible_share("") == 1
    assert plausible_share("ÖÐ中国") == 0.5 and plausible_share("(cid:12)中") == 0.5 and plausible_share("\ue001\ufffd中国") == 0.5
    assert plausible_share("蚧螨彳亍") == 1  # in GB 2312, though few write them
    assert plausible_share("䶮㙓中国") == 0.5


def test_everyday_characters_are_those_of_level_one():
    assert everyday_share("中国螨虫") == 0.75 and everyday_share("2,4-D") == 1


def test_an_unread_page_gives_no_lines_but_keeps_what_was_read():
    page = judged(scan(*GOOD, confidence=0.5), 7)
    assert (page.lines, page.segments) == ((), ())
    assert (page.reading.number, page.reading.source, page.reading.text) == (7, "unread", GOOD[0]) and page.reading.note


def test_lines_side_by_side_are_read_as_one_line_of_the_text():
    page = judged(scan(("用量", 300.0, 700.0, 11.0), ("药剂", 72.0, 701.0, 11.0), ("三唑酮", 72.0, 680.0, 11.0)), 1)
    assert page.reading.text == "药剂 用量\n三唑酮"


def test_sizes_come_from_widths_and_edges_from_within_the_boxes():
    line, = judged(scan(("咖啡叶锈病", 72.0, 700.0, 12.0)), 1).lines
    assert line.size == pytest.approx(12) and line.left == pytest.approx(72 + 2.7) and line.right == pytest.approx(72 + 62.7)
    assert (line.top + line.bottom) / 2 == pytest.approx(700 - 8.4) and line.top - line.bottom == pytest.approx(13.2)


@pytest.mark.parametrize("text, width", [
    ("", 0), ("咖啡", 2), ("咖啡。", 2.5), ("（克）", 2), ("66", 1.06), ("3~5", 2.06), ("1.5", 1.36), ("克(", 1.6), ("a(", 0.83)])
def test_widths_are_told_in_font_sizes(text, width):
    assert text_width(text) == pytest.approx(width)


def test_characters_below_each_other_do_not_look_like_a_large_font():
    tall = ScanLine("二级", 0.99, 100.0, 116.0, 600.0, 637.0)
    line, = scan_lines(Scan((tall,), 595, 842, 0, 0, 0.99), 1)
    assert line.size == pytest.approx(16 / 1.45) and (line.bottom, line.top) == (pytest.approx(602.48, abs=0.1),
                                                                              pytest.approx(634.52, abs=0.1))
