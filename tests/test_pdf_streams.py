import zlib

import pytest
from fpdf import FPDF

from nongda.documents import pdf_streams as module
from nongda.documents.parse import parse_bytes
from nongda.documents.pdf_streams import check_streams
from nongda.errors import DocumentError


def stream(content: bytes, dictionary: bytes = b"/Filter/FlateDecode") -> bytes:
    return b"4 0 obj <<" + dictionary + b">>\nstream\r\n" + content + b"\nendstream endobj\n"


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(module, "MAX_STREAM", 3 * 2**20)


@pytest.mark.parametrize("packed", [1, 2, 3])
def test_a_stream_that_unpacks_without_end_is_refused_however_often_it_is_packed(packed):
    content = b" " * 4 * 2**20
    for _ in range(packed):
        content = zlib.compress(content, 9)
    with pytest.raises(DocumentError, match="b.pdf.*大得异常"):
        check_streams(b"%PDF-1.4\n" + stream(zlib.compress(b"1 0 0 1")) + stream(content), "b.pdf")


def test_a_picture_is_judged_by_its_dots():
    dots = b"/Subtype/Image/Width %d /Height 50000/Filter/FlateDecode"
    check_streams(stream(zlib.compress(b"\0" * 4 * 2**20), dots % 3000), "a.pdf")
    with pytest.raises(DocumentError, match="a.pdf"):
        check_streams(stream(b"x", dots % 50000), "a.pdf")


def test_streams_that_are_not_packed_damaged_or_cut_off_are_left_to_the_reader():
    whole = zlib.compress(bytes(range(256)) * 100)
    for content in (b"BT ET", b"", whole[:50], whole[:40] + b"\xff" * 40, b"stream\n" * 1000):
        check_streams(stream(content), "a.pdf")


def test_a_document_as_programs_write_it_is_read():
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", size=12)
    pdf.cell(text="Maize needs nitrogen at the large trumpet stage.")
    assert "Maize" in parse_bytes(bytes(pdf.output()), "a.pdf").blocks[0].text
