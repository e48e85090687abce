"""A reader that knows beforehand what stands on a page, and small files to be read."""

import io

from PIL import Image

from nongda.documents.ocr import Scan, ScanLine


def scan(*texts, confidence=0.99, ink=0.05, size=11.0, gap=20.0, dpi=200, **changes):
    """A page with one line below the other; a line may be (text, left, top, size)."""
    lines = []
    for number, text in enumerate(texts):
        text, left, top, height = text if isinstance(text, tuple) else (text, 72.0, 780.0 - gap * number, size)
        width = height * (len(text) + 0.45)
        lines.append(ScanLine(text, confidence, left, left + width, top - 1.4 * height, top))
    values = {"turned": 0, "skew": 0.0, "dpi": dpi, "ink": ink} | changes
    return Scan(tuple(lines), 595.0, 842.0, confidence=confidence, **values)


class FakeReader:
    """Returns the scans of its pages by number; an exception among them is raised."""

    name = "fake"

    def __init__(self, **scans):
        self.scans = {int(number[1:]): value for number, value in scans.items()}
        self.pictures = {}

    def page(self, number, picture, dpi=200):
        self.pictures[number] = (picture().size, dpi)
        found = self.scans[number]
        if isinstance(found, Exception):
            raise found
        return found


def drained(pages):
    """The document that a generator returns, and what it yielded on the way."""
    turned = []
    while True:
        try:
            turned.append(next(pages))
        except StopIteration as end:
            return end.value, turned


def picture(kind="PNG", size=(300, 424), colour="white", more=(), **options):
    stream = io.BytesIO()
    extra = {"save_all": True, "append_images": [Image.new("L", size, c) for c in more]} if more else {}
    Image.new("L" if kind != "WEBP" else "RGB", size, colour).save(stream, kind, **extra, **options)
    return stream.getvalue()


def scanned_pdf(pages=1, size=(300, 424), dpi=72):
    """A PDF of empty sheets, as a scanner makes it: one picture a page, no text."""
    return picture("PDF", size, "white", ["white"] * (pages - 1), resolution=dpi)
