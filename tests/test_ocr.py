import socket
from pathlib import Path

import numpy as np
import pytest
import rapidocr
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from nongda.documents.ocr import PageReader, Scan, ScanLine, _cuts, _pixels, scan_from_json, scan_to_json
from nongda.documents.page_lines import Segment
from nongda.evaluation.scans import Spoiling, character_accuracy, chinese_fonts, digit_accuracy, render_page

TEXT = """# 咖啡叶锈病用药
发病初期每亩用12.5%烯唑醇30克，兑水45公斤喷雾，隔10天再喷1次。
| 药剂 | 用量（克/亩） | 安全间隔期（天） |
|---|---|---|
| 三唑酮 | 66 | 20 |
| 氢氧化铜 | 99.5 | 7 |
"""
needs_font = pytest.mark.skipif(not chinese_fonts(), reason="no Chinese font")
places = st.floats(-9999, 9999).map(lambda number: round(number, 1))
shares = st.floats(0, 1)
scan_lines = st.builds(ScanLine, st.text(max_size=20), shares, places, places, places, places)
scans = st.builds(Scan, st.lists(scan_lines, max_size=4).map(tuple), places, places, st.sampled_from([0, 90, 180, 270]), places,
                  shares, places, st.lists(st.builds(Segment, places, places, places, places), max_size=3).map(tuple), shares)


@pytest.fixture(scope="module")
def reader():
    return PageReader(threads=2)


@pytest.fixture(scope="module")
def small_page():
    return render_page(TEXT, chinese_fonts()[0], 11, Spoiling(), seed=1, paper=(340, 190))


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("recognition reached for the network")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)


def models():
    folder = Path(rapidocr.__file__).parent / "models"
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir()}


@needs_font
def test_a_scan_is_read_without_the_network_level_and_in_points(reader, small_page, no_network, capfd):
    before = models()
    scan = reader.read(small_page[0])
    found = "".join(line.text for line in scan.lines)
    assert models() == before and capfd.readouterr() == ("", "")
    assert character_accuracy("".join(sorted(small_page[1])), "".join(sorted(found))) > 0.97
    assert digit_accuracy("".join(sorted(small_page[1])), "".join(sorted(found))) == 1
    assert scan.turned == 0 and scan.skew == pytest.approx(-2, abs=0.4) and scan.confidence > 0.97
    assert (scan.width, scan.height) == (pytest.approx(340, abs=1), pytest.approx(190, abs=1))
    title, row = (next(line for line in scan.lines if text in line.text) for text in ("叶锈病用药", "氢氧化铜"))
    assert title.left == pytest.approx(34, abs=5) and title.top == pytest.approx(156, abs=8)
    dose = next(line for line in scan.lines if line.text == "99.5")
    assert (dose.top + dose.bottom) / 2 == pytest.approx((row.top + row.bottom) / 2, abs=3) and dose.left > row.right
    assert {s.is_level for s in scan.strokes} == {True, False}


@needs_font
@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_page_on_its_side_or_head_is_turned_as_a_whole(reader, small_page, turned):
    scan = reader.read(small_page[0].rotate(turned, expand=True))
    assert (scan.turned + turned) % 360 == 0
    assert {"66", "99.5"} <= {line.text for line in scan.lines} and scan.width > scan.height


def test_an_empty_page_has_no_lines_and_no_ink(reader):
    scan = reader.read(Image.new("L", (800, 600), 230))
    assert scan.lines == () and scan.confidence == 0 and scan.ink == 0 and scan.skew == 0


@given(scans)
def test_a_scan_comes_back_from_json_as_it_was(scan):
    assert scan_from_json(scan_to_json(scan)) == scan


@pytest.mark.parametrize("text", ["", "[]", '{"lines": []}', '{"lines": [[1]], "strokes": []}'])
def test_what_is_no_scan_raises(text):
    with pytest.raises((ValueError, TypeError, KeyError)):
        scan_from_json(text)


class Pages(dict):
    put = dict.__setitem__


class Engine:
    def __init__(self):
        self.seen = []

    def lines(self, picture):
        self.seen.append(picture.shape)
        box = np.asarray([[[40, 10], [240, 10], [240, 40], [40, 40]]], np.float32)
        return 0, picture, box, [("石硫合剂30克", 0.97)]


class Unsure(Engine):
    """Reads something else each time."""

    def __init__(self, *reads):
        super().__init__()
        self.reads = list(reads)

    def lines(self, picture):
        turned, picture, box, _ = super().lines(picture)
        texts = self.reads.pop(0)
        return turned, picture, np.repeat(box, len(texts), axis=0), texts


@pytest.mark.parametrize("first, second, kept", [
    ([("石硫合剂", 0.6)], [("石硫合剂", 0.9)], "石硫合剂"), ([("石流合剂", 0.9)], [("石", 0.99)], "石流合剂"),
    ([], [("石硫", 0.7)], "石硫")])
def test_an_unsure_page_is_read_once_more_and_what_is_surer_of_more_is_kept(first, second, kept):
    picture = Image.effect_noise((1200, 1200), 120)
    engine = Unsure(first, second)
    assert [line.text for line in PageReader(1, engine=engine).read(picture).lines] == [kept] and engine.reads == []


def test_a_sure_page_and_an_empty_one_are_read_once():
    PageReader(1, engine=Unsure([("石硫合剂", 0.97)])).read(Image.effect_noise((1200, 1200), 120))
    assert PageReader(1, engine=Unsure([])).read(Image.new("L", (1200, 1200), "white")).lines == ()


def test_a_page_in_the_cache_is_neither_rendered_nor_read():
    engine, pages = Engine(), Pages()
    reader = PageReader(1, engine=engine).with_cache(pages)
    first = reader.page(3, lambda: Image.new("L", (1654, 2339), "white"))
    assert pages == {3: first} and len(engine.seen) == 1
    assert reader.page(3, lambda: 1 / 0) is first
    with pytest.raises(ZeroDivisionError):
        reader.page(4, lambda: 1 / 0)
    assert 4 not in pages


def test_pixels_become_points_with_y_upwards_whatever_the_picture_is_scaled_to():
    line, = PageReader(1, engine=Engine()).read(Image.new("L", (1200, 1200), "white"), dpi=72).lines
    assert (line.left, line.right, line.bottom, line.top) == (40, 240, 1160, 1190)
    line, = PageReader(1, engine=Engine()).read(Image.new("L", (600, 600), "white"), dpi=72).lines  # enlarged twice
    assert (line.left, line.right, line.bottom, line.top) == (20, 120, 580, 595)


@pytest.mark.parametrize("mode, colour", [("1", 1), ("L", 200), ("P", 3), ("CMYK", (0, 0, 0, 9)), ("I;16", 40000), ("F", 0.5),
                                          ("RGBA", (0, 0, 0, 0)), ("LA", (0, 0))])
def test_every_kind_of_picture_becomes_bytes_blue_first_on_white_paper(mode, colour):
    pixels, scale = _pixels(Image.new(mode, (1300, 20), colour))
    assert pixels.shape == (20, 1300, 3) and pixels.dtype == np.uint8 and scale == 1
    if mode in ("RGBA", "LA"):
        assert pixels.min() == 255
    assert _pixels(Image.new("RGB", (1200, 10), (1, 2, 3)))[0][0, 0].tolist() == [3, 2, 1]


def test_huge_pictures_are_made_smaller_and_small_ones_larger():
    assert _pixels(Image.new("L", (6800, 3400)))[0].shape == (1700, 3400, 3)
    assert _pixels(Image.new("L", (600, 300)))[0].shape == (600, 1200, 3)
    assert _pixels(Image.new("L", (10, 1)))[0].shape == (3, 30, 3)


def test_a_long_screenshot_is_read_part_by_part_between_its_lines():
    picture = Image.new("L", (1000, 4400), "white")
    for top in range(0, 4400, 40):  # text of 30 rows, 10 rows of space
        picture.paste(Image.effect_noise((1000, 30), 90), (0, top))
    cuts = _cuts(picture)
    assert cuts[-1] == 4400 and all(1050 <= b - a <= 1500 for a, b in zip([0, *cuts[:-2]], cuts[:-1], strict=True))
    assert all(cut % 40 >= 30 for cut in cuts[:-1])
    engine = Engine()
    scan = PageReader(1, engine=engine).read(picture, dpi=100)
    assert len(engine.seen) == len(cuts) and scan.height == pytest.approx(4400 * 0.72, abs=0.5)
    tops = [line.top for line in scan.lines]
    assert tops == sorted(tops, reverse=True) and len(tops) == len(cuts)
