import io

import pytest
from fake_reader import picture, scanned_pdf
from fpdf import FPDF
from PIL import Image

from nongda.documents.pictures import page_picture


def opened(data):
    image = Image.open(io.BytesIO(data))
    assert image.format == "JPEG"
    return image


def test_a_page_of_a_pdf_is_drawn_as_wide_as_asked():
    assert opened(page_picture(scanned_pdf(2), "a.pdf", 2, 500)).size == (500, 707)


def test_a_turned_page_is_shown_upright():
    pdf = FPDF()
    pdf.add_page(orientation="landscape")
    assert opened(page_picture(bytes(pdf.output()), "a.pdf", 1, 400)).size == (400, 283)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "TIFF", "WEBP"])
def test_pictures_are_shown_no_larger_than_they_are(kind):
    assert opened(page_picture(picture(kind), "a", 1, 150)).size == (150, 212)
    assert opened(page_picture(picture(kind), "a", 1, 1000)).size == (300, 424)


def test_each_page_of_a_tiff_is_its_own_picture():
    data = picture("TIFF", colour="white", more=("black",))
    assert opened(page_picture(data, "a.tif", 1, 300)).getpixel((5, 5)) == (255, 255, 255)
    assert opened(page_picture(data, "a.tif", 2, 300)).getpixel((5, 5)) == (0, 0, 0)


def test_what_is_clear_in_a_picture_is_white_paper():
    stream = io.BytesIO()
    Image.new("RGBA", (60, 60), (0, 0, 0, 0)).save(stream, "PNG")
    assert opened(page_picture(stream.getvalue(), "a.png", 1, 60)).getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.parametrize("data, page", [
    (scanned_pdf(2), 0), (scanned_pdf(2), 3), (picture(), 2), (picture("TIFF", more=("white",)), 3), (b"%PDF-1.7 broken", 1),
    (picture()[:30], 1), ("文字".encode(), 1), (b"", 1)])
def test_there_is_no_picture_of_pages_that_are_not_there_and_of_other_formats(data, page):
    assert page_picture(data, "a", page, 500) is None
