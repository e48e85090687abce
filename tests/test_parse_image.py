import io
import struct
import zlib

import pytest
from fake_reader import FakeReader, drained, picture, scan
from PIL import Image

from nongda.documents.ocr import PageReader
from nongda.documents.parse import parse_bytes
from nongda.documents.parse_image import open_image, page_of, parse_image
from nongda.errors import DocumentError
from nongda.evaluation.scans import SCAN, chinese_fonts, render_page
from nongda.intake import PageTurned

LINES = (("咖啡园清园通知", 150.0, 800.0, 20.0), *(f"第{n}批咖啡园在采收后剪除病枝并集中深埋处理以减少来年病源" for n in "甲乙丙丁"))


@pytest.mark.parametrize("kind, name", [("PNG", "a.png"), ("JPEG", "a.JPG"), ("BMP", "a.bmp"), ("TIFF", "a.tif"), ("WEBP", "a.webp")])
def test_pictures_of_every_kind_are_read_and_titled_by_their_first_large_line(kind, name):
    document = parse_bytes(picture(kind), name, FakeReader(p1=scan(*LINES)))
    assert document.meta.title == "咖啡园清园通知" and document.pages == 1
    assert document.readings[0].source == "ocr" and document.readings[0].text.count("\n") == 4
    assert all(block.page == 1 and block.confidence == 0.99 for block in document.blocks)


def test_without_a_large_line_the_file_gives_the_title():
    assert parse_bytes(picture(), "清园.png", FakeReader(p1=scan(*LINES[1:]))).meta.title == "清园"


def test_every_page_of_a_tiff_is_read_and_a_bad_one_flagged():
    reader = FakeReader(p1=scan(*LINES), p2=OSError("broken"), p3=scan("模糊", confidence=0.3))
    document, turned = drained(parse_image(picture("TIFF", more=("white", "black")), "a.tif", reader))
    assert turned == [PageTurned(1, 3), PageTurned(2, 3), PageTurned(3, 3)]
    assert [r.source for r in document.readings] == ["ocr", "unread", "unread"] and len(document.warnings) == 1


def test_a_picture_counts_as_a_sheet_and_a_screenshot_as_wide_as_one():
    for size, dpi in (((595, 842), 72), ((842, 595), 72), ((1190, 1684), 144), ((595, 4000), 144), ((4000, 400), 145)):
        reader = FakeReader(p1=scan(*LINES))
        parse_bytes(picture(size=size), "a.png", reader)
        assert reader.pictures[1] == (size, pytest.approx(dpi, abs=0.5)) or size[0] > 2000


def test_a_photo_is_turned_as_its_camera_says():
    image, stream = Image.new("L", (40, 30), "white"), io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # the right side of the sensor was at the top
    image.save(stream, "JPEG", exif=exif)
    with open_image(stream.getvalue(), "a.jpg") as photo:
        assert page_of(photo, 1).size == (30, 40)


def test_without_a_reader_a_picture_is_refused_in_words():
    with pytest.raises(DocumentError, match="a.png”是图片"):
        parse_bytes(picture(), "a.png")


def test_a_picture_with_too_many_dots_is_refused_before_it_is_unpacked():
    header = b"IHDR" + struct.pack(">II", 20_000, 20_000) + b"\x08\0\0\0\0"
    bomb = picture()[:12] + header + struct.pack(">I", zlib.crc32(header)) + picture()[33:]
    with pytest.raises(DocumentError, match="a.png”太大.*8947 万像素"):
        parse_bytes(bomb, "a.png", FakeReader())


def test_a_damaged_picture_is_one_sentence_and_a_cut_one_is_flagged():
    with pytest.raises(DocumentError, match="a.png"):
        parse_bytes(picture()[:20], "a.png", FakeReader(p1=scan(*LINES)))
    document = parse_bytes(picture("JPEG", colour=128)[:-300], "a.jpg", FakeReader(p1=scan(*LINES)))
    assert document.readings[0].source == "unread" and document.warnings == ("第 1 页没有收入：这一页打不开或已损坏，没有收入",)


@pytest.mark.skipif(not chinese_fonts(), reason="no Chinese font")
def test_a_table_on_a_slanted_scan_becomes_a_table_under_its_heading():
    text = ("# 二、防治药剂\n| 药剂 | 用量（克/亩） | 安全间隔期（天） |\n|---|---|---|\n| 三唑酮 | 66 | 20 |\n"
            "| 氢氧化铜 | 99.5 | 7 |\n| 代森锰锌 | 150 | 15 |\n\n以上药剂任选一种，按标签使用，隔十天一次，连用不超过两次。\n" * 1)
    stream = io.BytesIO()
    render_page(text, chinese_fonts()[0], 11, SCAN, paper=(380, 220))[0].save(stream, "PNG")
    document = parse_bytes(stream.getvalue(), "a.png", PageReader(2))
    table, = (block for block in document.blocks if block.kind == "table")
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.text.replace("（", "(").replace("）", ")").split("\n")]
    assert rows[0] == ["药剂", "用量(克/亩)", "安全间隔期(天)"]
    assert rows[2:] == [["三唑酮", "66", "20"], ["氢氧化铜", "99.5", "7"], ["代森锰锌", "150", "15"]]
    assert 0.5 < table.confidence < 1
