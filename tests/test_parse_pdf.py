import pytest
from fake_reader import FakeReader, drained, scan, scanned_pdf
from fpdf import FPDF
from PIL import Image

import nongda.documents.parse_pdf as module
from nongda.documents.clean import clean
from nongda.documents.parse import parse_bytes
from nongda.errors import DocumentError
from nongda.intake import PageTurned

FONT = """<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H
/DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /FontDescriptor 4 0 R
/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>] >>"""
DESCRIPTOR = """<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880]
/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>"""
BODY = "咖啡叶锈病是云南咖啡的主要病害雨季发生较重要"  # 23 characters


def chinese_pdf(*pages):
    """Build a PDF by hand with a standard Chinese font; a page is a list of (x, y, size, text)."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", FONT, DESCRIPTOR]
    kids = []
    for lines in pages:
        content = "".join(
            f"BT /F1 {size} Tf {x} {y} Td <{text.encode('utf-16-be').hex()}> Tj ET\n" for x, y, size, text in lines)
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}endstream")
        objects.append("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
                       f"/Contents {len(objects)} 0 R >>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    data, places = b"%PDF-1.7\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return data + (f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer << /Size {len(objects) + 1} "
                   f"/Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n").encode()


def english_pdf(text="Coffee leaf rust spreads in the rainy season.", title="", **encryption):
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=12)
    pdf.multi_cell(150, 6, text)
    if title:
        pdf.set_title(title)
    if encryption:
        pdf.set_encryption(**encryption)
    return bytes(pdf.output())


def parse_pdf(data, name, reader=None):
    return drained(module.parse_pdf(data, name, reader))[0]


def blocks(*pages):
    return [(b.kind, b.text) for b in parse_pdf(chinese_pdf(*pages), "手册.pdf").blocks]


def test_larger_lines_are_headings_and_the_largest_is_the_title():
    document = parse_pdf(chinese_pdf(
        [(72, 780, 20, "咖啡手册"), (72, 740, 15, "防治"), (96, 710, 12, BODY), (72, 694, 12, BODY + "。")],
        [(72, 780, 15, "采收"), (96, 750, 12, BODY), (72, 734, 12, BODY + "。")]), "a.pdf")
    assert document.meta.title == "咖啡手册" and document.pages == 2
    assert [(b.text, b.page, b.heading) for b in document.blocks] == [
        (f"{BODY}\n{BODY}。", 1, ("防治",)), (f"{BODY}\n{BODY}。", 2, ("采收",))]


def test_an_indent_and_a_short_line_begin_a_new_paragraph():
    assert blocks([(96, 780, 12, BODY[:-2]), (72, 764, 12, BODY), (72, 748, 12, "完。"),
                   (72, 732, 12, BODY), (96, 716, 12, BODY[:-2]), (72, 700, 12, BODY)]) == [
        ("paragraph", f"{BODY[:-2]}\n{BODY}\n完。"), ("paragraph", BODY), ("paragraph", f"{BODY[:-2]}\n{BODY}")]


def test_numbered_lines_of_body_size_are_headings():
    document = parse_pdf(chinese_pdf(
        [(72, 780, 12, "一、症状"), (96, 764, 12, BODY), (72, 748, 12, BODY + "。"),
         (72, 732, 12, "二、防治"), (96, 716, 12, BODY + "。")]), "a.pdf")
    assert [b.heading for b in document.blocks] == [("一、症状",), ("二、防治",)]
    assert document.meta.title == "a"


def test_items_with_a_hanging_indent_are_one_list():
    assert blocks([(72, 780, 12, BODY + "："), (72, 764, 12, "1. 清园，剪去病枝。"),
                   (72, 748, 12, "2. " + BODY[:20]), (90, 732, 12, "连喷两次。"), (72, 716, 12, "3. 修剪，通风。")]) == [
        ("paragraph", BODY + "："),
        ("list", f"1. 清园，剪去病枝。\n2. {BODY[:20]}连喷两次。\n3. 修剪，通风。")]


def test_cells_below_each_other_are_a_table():
    rows = (("品种", "产量", "抗性"), ("卡蒂姆", "150公斤", "高"), ("铁皮卡", "80公斤", "低"))
    page = [(72, 780, 12, BODY + "。")] + [
        (x, 740 - 20 * n, 12, text) for n, row in enumerate(rows) for x, text in zip((72, 200, 300), row, strict=True)]
    assert blocks(page)[1] == (
        "table", "| 品种 | 产量 | 抗性 |\n|---|---|---|\n| 卡蒂姆 | 150公斤 | 高 |\n| 铁皮卡 | 80公斤 | 低 |")


def test_two_columns_are_read_one_after_the_other():
    left = [(72, 780 - 16 * n, 12, BODY[:15]) for n in range(3)]
    right = [(320, 780 - 16 * n, 12, BODY[15:] + "喷药防治") for n in range(3)]
    text = "\n".join(text for _, text in blocks(left + right))
    assert text == "\n".join([BODY[:15]] * 3 + [BODY[15:] + "喷药防治"] * 3)


def test_headers_page_numbers_and_torn_paragraphs_are_mended_by_cleaning():
    first = [(72, 800, 9, "某县农技手册"), *((72, 760 - 16 * n, 12, BODY) for n in range(3)), (290, 40, 9, "- 1 -")]
    second = [(72, 800, 9, "某县农技手册"), (72, 760, 12, BODY + "。"), (290, 40, 9, "- 2 -")]
    document = clean(parse_pdf(chinese_pdf(first, second), "a.pdf"))
    assert [(b.text, b.page) for b in document.blocks] == [(BODY * 4 + "。", 1)]


def test_english_lines_and_hyphens_join_into_words():
    text = "Coffee leaf rust is a dis-\nease of coffee leaves in the rainy\nseason."
    document = clean(parse_pdf(english_pdf(text), "a.pdf"))
    assert " ".join(b.text for b in document.blocks) == (
        "Coffee leaf rust is a disease of coffee leaves in the rainy season.")


def test_slanted_text_is_a_watermark():
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("Helvetica", size=12)
    pdf.text(20, 40, "Spray copper before the rain.")
    with pdf.rotation(45, x=60, y=100):
        pdf.text(60, 100, "INTERNAL")
    assert [b.text for b in parse_pdf(bytes(pdf.output()), "a.pdf").blocks] == ["Spray copper before the rain."]


def test_slanted_letters_on_a_level_line_are_text():
    # as a browser writes italics where the font has none: the letters are sheared, the line is not
    data = chinese_pdf([(72, 780, 12, "由"), (84, 780, 12, "驼孢锈菌"), (132, 780, 12, "引起，危害叶片。")])
    sheared = data.replace(b"12 Tf 84 780 Td", b"12 Tf 1 0 0.25 1 84 780 Tm")
    assert len(sheared) != len(data)  # PDFium rebuilds the table of a file whose offsets have moved
    assert [b.text for b in parse_pdf(sheared, "a.pdf").blocks] == ["由驼孢锈菌引起，危害叶片。"]


def test_gaps_of_justified_chinese_lines_are_no_spaces():
    assert blocks([(72, 780, 12, "用九成的水溶解硫酸铜，用"), (72 + 12 * 12 + 3, 780, 12, "一成的水调石灰乳。")]) == [
        ("paragraph", "用九成的水溶解硫酸铜，用一成的水调石灰乳。")]


def test_a_narrower_quoted_paragraph_stays_whole():
    page = [(72, 780, 12, BODY * 2 + "。"), (96, 750, 12, BODY + "要摘除病叶"), (96, 734, 12, "并烧毁。")]
    assert blocks(page) == [("paragraph", BODY * 2 + "。"), ("paragraph", BODY + "要摘除病叶\n并烧毁。")]


def test_text_behind_a_list_is_not_part_of_its_last_item():
    page = [(72, 780, 12, BODY + "："), (84, 764, 12, "1. 清园，剪枝。"), (84, 748, 12, "2. 喷药。"),
            (96, 732, 12, BODY[:-2]), (72, 716, 12, "完。")]
    assert blocks(page)[1:] == [("list", "1. 清园，剪枝。\n2. 喷药。"), ("paragraph", BODY[:-2] + "\n完。")]


@pytest.mark.parametrize("text", ["(cid:12)(cid:345)(cid:6)" * 10, "\ue123\ue456\ue789" * 10, "\ufffd" * 30])
def test_without_a_reader_a_garbled_text_layer_is_refused(text):
    with pytest.raises(DocumentError, match="手册.pdf.*乱码.*文字识别"):
        parse_pdf(chinese_pdf([(72, 780, 12, text)]), "手册.pdf")


def test_a_garbled_page_among_good_ones_is_left_out_with_a_warning():
    document = parse_pdf(chinese_pdf([(72, 780, 12, BODY)], [(72, 780, 12, "(cid:12)(cid:345)" * 9)]), "a.pdf")
    assert [b.text for b in document.blocks] == [BODY]
    assert len(document.warnings) == 1 and "第 2 页" in document.warnings[0] and "文字识别" in document.warnings[0]


def test_without_a_reader_a_scan_is_refused():
    pdf = FPDF()
    for number in range(3):
        pdf.add_page()
        pdf.image(Image.new("RGB", (40, 40), "white"), 10, 10)
        pdf.set_font("Helvetica", size=9)
        pdf.text(100, 290, str(number + 1))
    with pytest.raises(DocumentError, match="手册.pdf.*扫描件.*文字识别"):
        parse_pdf(bytes(pdf.output()), "手册.pdf")


def test_an_encrypted_file_asks_for_the_password_to_be_removed():
    data = english_pdf(owner_password="owner", user_password="user")
    with pytest.raises(DocumentError, match="手册.pdf.*加密.*密码"):
        parse_pdf(data, "手册.pdf")


def test_a_broken_file_is_one_sentence():
    for data in (b"%PDF-1.7\nnothing", chinese_pdf([(72, 780, 12, BODY)])[:200]):
        with pytest.raises(DocumentError, match="手册.pdf"):
            parse_bytes(data, "手册.pdf")


def test_the_title_falls_back_to_the_properties_and_then_to_the_file():
    assert parse_pdf(english_pdf(), "咖啡.pdf").meta.title == "咖啡"
    assert parse_pdf(english_pdf(title="Coffee handbook"), "a.pdf").meta.title == "Coffee handbook"
    assert parse_pdf(english_pdf(title="Microsoft Word - 1.doc"), "a.pdf").meta.title == "a"


def test_each_page_is_reported_once_it_has_been_read():
    _, turned = drained(module.parse_pdf(chinese_pdf(*[[(72, 780, 12, BODY)]] * 3), "a.pdf", None))
    assert turned == [PageTurned(1, 3), PageTurned(2, 3), PageTurned(3, 3)]


def test_pages_without_a_text_layer_are_rendered_and_read_and_the_others_are_not():
    lines = [(72, 780, 12, BODY)]
    reader = FakeReader(p2=scan("每亩用石硫合剂三十克，兑水喷雾"))
    document = parse_pdf(chinese_pdf(lines, [], lines), "a.pdf", reader)
    assert [(r.number, r.source, r.confidence, r.text, r.note) for r in document.readings] == [
        (1, "text", None, "", ""), (2, "ocr", 0.99, "每亩用石硫合剂三十克，兑水喷雾", ""), (3, "text", None, "", "")]
    assert [(b.page, b.confidence) for b in document.blocks] == [(1, 1.0), (2, 0.99), (3, 1.0)]
    assert reader.pictures == {2: ((1653, 2339), 200)} and document.warnings == ()


@pytest.mark.parametrize("text", ["(cid:12)(cid:345)" * 9, "\ue012\ue034" * 9, "\ufffd" * 12])
def test_a_garbled_text_layer_gives_way_to_what_recognition_reads(text):
    document = parse_pdf(chinese_pdf([(72, 780, 12, text)]), "a.pdf", FakeReader(p1=scan("咖啡叶锈病的防治要点")))
    assert [b.text for b in document.blocks] == ["咖啡叶锈病的防治要点"] and document.readings[0].source == "ocr"


WRONG = "彧佤侞倅偂冎剆匘厬叕呇咠哢唊啌喥嗐噇囈圔坹垗埣堟塮墴壾夽妺姺"  # characters no one writes


def test_a_text_layer_of_wrong_characters_is_compared_with_what_recognition_reads():
    page = chinese_pdf([(72, 780, 12, WRONG)])
    assert parse_pdf(page, "a.pdf", FakeReader(p1=scan("咖啡叶锈病的防治要点"))).blocks[0].text == "咖啡叶锈病的防治要点"
    for poor in (scan(WRONG), scan("咖啡叶锈病的防治要点", confidence=0.5), ValueError("broken")):
        document = parse_pdf(page, "a.pdf", FakeReader(p1=poor))
        assert document.blocks[0].text == WRONG and document.readings[0].source == "text"


def test_a_sound_text_layer_under_a_picture_of_the_page_is_not_read_again():
    pdf = FPDF()
    pdf.add_page()
    pdf.image(Image.new("L", (210, 297), 200), 0, 0, 210)
    pdf.set_font("Helvetica", size=12)
    pdf.multi_cell(150, 6, "Spray copper before the rain begins in May.")
    document = parse_pdf(bytes(pdf.output()), "a.pdf", FakeReader())
    assert document.readings[0].source == "text" and "copper" in document.blocks[0].text


def test_a_page_that_cannot_be_read_is_flagged_and_the_others_are_kept():
    reader = FakeReader(p1=scan("清园后全园喷药一次"), p2=ValueError("broken"), p3=scan("模糊", confidence=0.4))
    document = parse_pdf(scanned_pdf(3), "a.pdf", reader)
    assert [(r.source, bool(r.note)) for r in document.readings] == [("ocr", False), ("unread", True), ("unread", True)]
    assert [b.text for b in document.blocks] == ["清园后全园喷药一次"]
    assert document.warnings == ("第 2、3 页没有收入",)


def test_a_doubtful_page_is_taken_in_and_flagged():
    document = parse_pdf(scanned_pdf(), "a.pdf", FakeReader(p1=scan("每亩用药三十克", confidence=0.85)))
    assert document.blocks[0].confidence == 0.85 and "85%" in document.readings[0].note
    assert document.warnings == ("第 1 页识别得不可靠，已收入，请对照原件",)


def test_a_scan_of_which_nothing_can_be_read_ends_in_a_clear_state():
    document = parse_bytes(scanned_pdf(3), "a.pdf", FakeReader(**{f"p{n}": scan(ink=0.2) for n in (1, 2, 3)}))
    assert document.blocks == () and [r.source for r in document.readings] == ["unread"] * 3
    assert len(document.warnings) == 1 and "第 1、2、3 页没有收入：没有认出文字" in document.warnings[0]


def test_empty_sheets_are_no_fault():
    document = parse_pdf(scanned_pdf(2), "a.pdf", FakeReader(p1=scan("清园后全园喷药一次"), p2=scan(ink=0, confidence=0.0)))
    assert [(r.source, r.note) for r in document.readings] == [("ocr", ""), ("ocr", "")] and document.warnings == ()


def test_reading_stops_when_its_generator_is_closed(monkeypatch):
    closed = []
    close = module.pdfium.PdfDocument.close
    monkeypatch.setattr(module.pdfium.PdfDocument, "close", lambda self: (closed.append(True), close(self))[1])
    reader = FakeReader(**{f"p{n}": scan("清园") for n in range(1, 501)})
    pages = module.parse_pdf(scanned_pdf(500, (30, 42)), "a.pdf", reader)
    assert next(pages) == PageTurned(1, 500) and next(pages) == PageTurned(2, 500)
    pages.close()
    assert closed and sorted(reader.pictures) == [1, 2]


def test_a_poster_is_rendered_no_larger_than_can_be_read():
    reader = FakeReader(p1=scan("清园后全园喷药一次"))
    parse_pdf(scanned_pdf(1, (100, 141), dpi=2), "a.pdf", reader)  # 3,600 by 5,076 points
    (size, dpi), = reader.pictures.values()
    assert size[1] == 3400 and dpi == pytest.approx(72 * 3400 / 5076, abs=0.01)


def test_a_page_with_more_characters_than_it_has_room_for_is_not_laid_out(monkeypatch):
    monkeypatch.setattr("nongda.documents.pdf_text._MAX_CHARACTERS", 10)
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", size=12)
    pdf.cell(text="Maize needs nitrogen at the large trumpet stage.")
    with pytest.raises(DocumentError, match="a.pdf.*要用文字识别才能读"):
        parse_bytes(bytes(pdf.output()), "a.pdf")
