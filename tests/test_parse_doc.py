"""No writer of the binary format is at hand: the files are laid out here by its published description."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ole_world import ole

from nongda.documents.parse import is_known, parse_bytes
from nongda.documents.parse_doc import parse_doc
from nongda.errors import DocumentError

TEXT_AT = 0x400  # where the text begins in the stream
IN_TABLE = struct.pack("<HB", 0x2416, 1)
ROW_END = IN_TABLE + struct.pack("<HB", 0x2417, 1)


def row_form(*cells):
    """The definition of a row: (left, right, flags) of each cell."""
    body = bytes([len(cells)]) + struct.pack(f"<{len(cells) + 1}h", *[c[0] for c in cells], cells[-1][1])
    body += b"".join(struct.pack("<H18x", flags) for _, _, flags in cells)
    return struct.pack("<HH", 0xD608, len(body) + 1) + body


def properties_page(entries, is_paragraph):
    """A page of 512 bytes: (first byte, byte behind the last, style, codes) of each run, each beginning where one ends."""
    page = bytearray(512)
    page[511] = len(entries)
    free = 510
    step = 13 if is_paragraph else 1
    for number, (start, end, style, codes) in enumerate(entries):
        struct.pack_into("<II", page, 4 * number, start, end)
        form = struct.pack("<H", style) + codes if is_paragraph else codes
        if is_paragraph and len(form) % 2 == 0:
            form = bytes([0, len(form) // 2]) + form
        elif is_paragraph:
            form = bytes([(len(form) + 1) // 2]) + form
        else:
            form = bytes([len(form)]) + form
        free = (free - len(form)) // 2 * 2
        assert free > (4 + step) * len(entries) + 4
        page[free:free + len(form)] = form
        page[4 * (len(entries) + 1) + step * number] = free // 2
    return bytes(page)


def properties(entries, is_paragraph, first_page):
    """The list of pages, and the pages: gaps between runs are runs without properties; five runs to a page."""
    runs = []
    for entry in sorted(entries):
        if runs and runs[-1][1] < entry[0]:
            runs.append((runs[-1][1], entry[0], 0, b""))
        runs.append(entry)
    groups = [runs[i:i + 5] for i in range(0, len(runs), 5)]
    bins = struct.pack(f"<{len(groups) + 1}I", *[group[0][0] for group in groups], runs[-1][1])
    bins += struct.pack(f"<{len(groups)}I", *range(first_page, first_page + len(groups)))
    return bins, b"".join(properties_page(group, is_paragraph) for group in groups)


def doc_file(paragraphs, runs=(), flags=0x0200, pieces=None, after="", boxes="", has_forms=True, encode=None):
    """A file with paragraphs (text with its mark, style, codes) and runs of characters (text, codes).

    `pieces` cuts the text into that many, laid out in reversed order as a fast save does. `after` is header text.
    """
    main = "".join(text for text, _, _ in paragraphs)
    whole = main + after + boxes
    units = whole.encode("utf-16-le")
    count = len(units) // 2
    cuts = [count * i // (pieces or 1) for i in range((pieces or 1) + 1)]
    stream, places = b"", {}
    for number in reversed(range(len(cuts) - 1)):
        places[number] = TEXT_AT + len(stream)
        stream += units[2 * cuts[number]:2 * cuts[number + 1]]
    if encode:
        stream = whole.encode(encode)
        places, cuts = {0: (TEXT_AT * 2) | 0x40000000}, [0, len(stream)]

    def at(position):
        number = max(n for n in range(len(cuts) - 1) if cuts[n] <= position) if position < count else len(cuts) - 2
        return places[number] + 2 * (position - cuts[number])

    entries, position = [], 0
    for text, style, codes in paragraphs:
        length = len(text.encode("utf-16-le")) // 2
        entries.append((at(position + length - 1) - 2 * (length - 1), at(position + length - 1) + 2, style, codes))
        position += length
    marked = [(at(len(whole[:whole.index(text)].encode("utf-16-le")) // 2), text, codes) for text, codes in runs]
    char_entries = [(place, place + len(text.encode("utf-16-le")), 0, codes) for place, text, codes in marked]
    pages_at = -(-(TEXT_AT + len(stream)) // 512)
    body = bytes(TEXT_AT) + stream
    body = body.ljust(pages_at * 512, b"\0")
    paragraph_bins, pages = properties(entries, True, pages_at) if has_forms else (b"", b"")
    run_bins, more = properties(char_entries, False, pages_at + len(pages) // 512) if runs else (b"", b"")
    body += pages + more
    piece_table = struct.pack(f"<{len(cuts)}I", *cuts) + b"".join(
        struct.pack("<HIH", 0, places[n], 0) for n in range(len(cuts) - 1))
    clx = b"\x01\x02\x00\xaa\xbb" + b"\x02" + struct.pack("<I", len(piece_table)) + piece_table
    head = bytearray(body)
    struct.pack_into("<HH", head, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", head, 0x0A, flags)
    length = len(main.encode("utf-16-le")) // 2 if not encode else len(main.encode(encode))
    struct.pack_into("<III", head, 0x4C, length, 0, len(after))
    struct.pack_into("<I", head, 0x64, len(boxes))
    table = b""
    for number, part in ((33, clx), (13, paragraph_bins), (12, run_bins)):
        struct.pack_into("<II", head, 0x9A + 8 * number, len(table), len(part))
        table += part
    return ole(("1Table" if flags & 0x0200 else "0Table", table), ("WordDocument", bytes(head)))


def plain(*texts):
    return [(text + "\r", 0, b"") for text in texts]


def cell(text):
    return (text + "\x07", 0, IN_TABLE)


def end_of_row(*form):
    return ("\x07", 0, ROW_END + (row_form(*form) if form else b""))


def blocks(data):
    return [(b.kind, b.text, b.heading) for b in parse_doc(data, "通知.doc").blocks]


def test_headings_paragraphs_and_lists_are_told_by_style_and_properties():
    document = parse_doc(doc_file([
        ("咖啡园管理\r", 1, b""), ("清园\r", 2, b""), ("雨季前清园一次。\r", 0, b""),
        ("剪除病枝\r", 0, struct.pack("<HH", 0x460B, 3)), ("集中深埋\r", 0, struct.pack("<HH", 0x460B, 3)),
        ("施肥\r", 0, struct.pack("<HB", 0x2640, 1)), ("每亩 15 公斤㐂𠮷。\r", 0, b"")]), "通知.doc")
    assert document.meta.title == "咖啡园管理"
    assert [(b.kind, b.text, b.heading) for b in document.blocks] == [
        ("paragraph", "雨季前清园一次。", ("清园",)), ("list", "- 剪除病枝\n- 集中深埋", ("清园",)),
        ("paragraph", "每亩 15 公斤㐂𠮷。", ("施肥",))]


def test_numbered_lines_are_headings_where_no_style_makes_any():
    data = doc_file(plain("关于清园的通知", "一、时间", "雨季之前。", "二、方法", "剪除病枝。"))
    assert [b[2] for b in blocks(data)] == [("一、时间",), ("二、方法",)]
    assert parse_doc(data, "通知.doc").meta.title == "关于清园的通知"


@pytest.mark.parametrize("has_forms", [True, False])
def test_cells_become_rows(has_forms):
    data = doc_file([
        *plain("用药表如下。"), cell("药剂"), cell("每亩用量"), end_of_row(), cell("甲药"), cell("30 克"), end_of_row(),
        *plain("注意轮换。")], has_forms=has_forms)
    assert blocks(data) == [("paragraph", "用药表如下。", ()), ("table", "| 药剂 | 每亩用量 |\n|---|---|\n| 甲药 | 30 克 |", ()),
                            ("paragraph", "注意轮换。", ())]


def test_an_empty_last_cell_and_a_cell_of_two_paragraphs_stay_in_their_row():
    data = doc_file([cell("药剂"), cell("备注"), end_of_row(), ("甲药\r", 0, IN_TABLE), cell("乙药"), cell(""), end_of_row(),
                     cell("丙药"), cell("慎用"), end_of_row()])
    assert blocks(data)[0][1] == "| 药剂 | 备注 |\n|---|---|\n| 甲药 乙药 |  |\n| 丙药 | 慎用 |"


def test_merged_cells_are_filled_in_by_the_edges_of_their_rows():
    thirds = ((0, 1000, 0), (1000, 2000, 0), (2000, 3000, 0))
    data = doc_file([
        cell("作物"), cell("用量"), end_of_row((0, 1010, 0x60), (1010, 3000, 0)),
        cell(""), cell("每亩"), cell("倍数"), end_of_row((0, 1000, 0x20), *thirds[1:]),
        cell("玉米"), cell("20 克"), cell("1500"), end_of_row((0, 1000, 0x60), *thirds[1:]),
        cell(""), cell("30 克"), cell("1000"), end_of_row((0, 1000, 0x20), *thirds[1:])])
    assert blocks(data)[0][1] == ("| 作物 | 用量 每亩 | 用量 倍数 |\n|---|---|---|\n| 玉米 | 20 克 | 1500 |\n| 玉米 | 30 克 | 1000 |")


def test_cells_merged_sideways_are_one():
    data = doc_file([
        cell("作物"), cell("用量"), cell(""), end_of_row((0, 1000, 0), (1000, 2000, 1), (2000, 3000, 2)),
        cell("种类"), cell("每亩"), cell("倍数"), end_of_row((0, 1000, 0), (1000, 2000, 0), (2000, 3000, 0)),
        cell("玉米"), cell("20 克"), cell("1500"), end_of_row((0, 1000, 0), (1000, 2000, 0), (2000, 3000, 0))])
    assert blocks(data)[0][1] == "| 作物 种类 | 用量 每亩 | 用量 倍数 |\n|---|---|---|\n| 玉米 | 20 克 | 1500 |"


def test_of_fields_the_result_stays_and_a_table_of_contents_goes():
    data = doc_file(plain(
        "\x13 TOC \\o \x14清园\t\x13 PAGEREF _Toc1 \x143\x15", "施肥\t5\x15", "详见\x13 HYPERLINK \"http://x\" \x14手册\x15第三章。"))
    assert [b[1] for b in blocks(data)] == ["详见手册第三章。"]


def test_a_field_left_open_by_damage_loses_no_text():
    assert "雨季前清园。" in [b[1] for b in blocks(doc_file(plain("\x13 TOC \\o 目录", "雨季前清园。")))]


def test_headers_and_notes_are_left_out_and_text_boxes_are_read():
    data = doc_file(plain("雨季前清园。", "剪除病枝。"), after="页眉文字\r", boxes="框内的话。\r")
    assert [b[1] for b in blocks(data)] == ["雨季前清园。", "剪除病枝。", "框内的话。"]


@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_a_file_saved_fast_is_read_in_its_order(pieces):
    data = doc_file(plain("雨季前清园一次。", "剪除病枝，集中深埋。", "每亩追肥 15 公斤。"), pieces=pieces)
    assert [b[1] for b in blocks(data)] == ["雨季前清园一次。", "剪除病枝，集中深埋。", "每亩追肥 15 公斤。"]


def test_deleted_and_hidden_words_are_left_out_and_raised_numbers_stay_powers():
    on = {code: struct.pack("<HB", code, 1) for code in (0x0800, 0x083C, 0x2A48)}
    data = doc_file(plain("每克 10八 孢子，删去的兑水暗藏的喷雾。".replace("八", "8")),
                    runs=[("8", on[0x2A48]), ("删去的", on[0x0800]), ("暗藏的", on[0x083C])])
    assert [b[1] for b in blocks(data)] == ["每克 10⁸ 孢子，兑水喷雾。"]


@pytest.mark.parametrize(("text", "encoding"), [("雨季前清园一次，剪除病枝。", "gbk"), ("Prune in May – dry season, café.", "cp1252")])
def test_characters_of_one_byte_are_chinese_or_western(text, encoding):
    assert [b[1] for b in blocks(doc_file(plain(text), encode=encoding, has_forms=False))] == [text]


def test_word_95_is_read_where_it_was_saved_whole_and_refused_else():
    text = "雨季前清园一次。\r剪除病枝。\r".encode("gbk")
    head = bytearray(0x300)
    struct.pack_into("<HH", head, 0, 0xA5DC, 0x68)
    struct.pack_into("<II", head, 0x18, 0x300, 0x300 + len(text))
    struct.pack_into("<I", head, 0x34, len(text))
    assert [b[1] for b in blocks(ole(("WordDocument", bytes(head) + text)))] == ["雨季前清园一次。", "剪除病枝。"]
    head[0x0A] = 4
    with pytest.raises(DocumentError, match="通知.doc.*Word 95.*另存为 .docx"):
        parse_doc(ole(("WordDocument", bytes(head) + text)), "通知.doc")


def test_an_encrypted_file_is_refused_in_words():
    with pytest.raises(DocumentError, match="通知.doc.*已加密.*去掉密码"):
        parse_doc(doc_file(plain("x"), flags=0x0300), "通知.doc")


@pytest.mark.parametrize("name", ["通知.doc", "通知.wps"])
def test_doc_and_wps_are_the_same_format(name):
    assert is_known(name[-4:])
    document = parse_bytes(doc_file(plain("雨季前清园一次。", "剪除病枝。"), flags=0), name)
    assert [b.text for b in document.blocks] == ["雨季前清园一次。", "剪除病枝。"] and document.warnings == ()


GOOD = doc_file([*plain("雨季前清园一次。"), cell("药剂"), cell("用量"), end_of_row((0, 1000, 0), (1000, 2000, 0))])


@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=8))
def test_a_damaged_file_is_read_or_refused_in_one_sentence(place, noise):
    try:
        parse_bytes(GOOD[:place] + noise + GOOD[place + len(noise):], "通知.doc")
    except DocumentError as error:
        assert "\n" not in str(error)


@given(st.integers(0, len(GOOD) - 1))
def test_a_file_cut_short_is_read_or_refused_in_one_sentence(length):
    try:
        parse_bytes(GOOD[:length] or b"x", "通知.doc")
    except DocumentError as error:
        assert "通知.doc" in str(error)
