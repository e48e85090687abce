"""Text of a PDF's pages: PDFium's characters become lines with their places; what else the page shows."""

from __future__ import annotations

import ctypes
import math
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from nongda.documents.line_builder import Box, LineBuilder
from nongda.documents.page_lines import Cell, Line, Segment
from nongda.documents.pdf_streams import check_streams
from nongda.documents.segments import segments_of_page
from nongda.errors import DocumentError

LOCK = threading.Lock()  # PDFium is not thread-safe: held by whoever calls it
_MAX_CHARACTERS = 50_000  # of a page: a close-set one of A4 has 5,000
HYPHEN = 2  # PDFium's sign for a hyphen at a line end, the line break swallowed


@dataclass(frozen=True, slots=True)
class PageText:
    """What PDFium knows of a page; `number` from 1, `text` as the file has it, `lines` in the order of the content.

    Lines and segments stand upright as most of the text does, whatever turn the file gives the page.
    """

    number: int
    text: str
    lines: tuple[Line, ...]
    has_image: bool
    segments: tuple[Segment, ...] = ()


class _Glyph(NamedTuple):
    """A character with its box (left, right, bottom, top) as the file has it; None for a space."""

    text: str
    box: Box | None
    size: float
    direction: int  # in quarter turns counter-clockwise
    is_generated: bool


@contextmanager
def open_pdf(data: bytes, name: str) -> Iterator[pdfium.PdfDocument]:
    """Open a PDF and close it in the end. Raises DocumentError where it is encrypted or a bomb, PdfiumError where broken."""
    check_streams(data, name)
    try:
        with LOCK:
            document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise DocumentError(f"文件“{name}”已加密：请去掉密码后再添加") from error
        raise
    try:
        yield document
    finally:
        with LOCK:
            document.close()


def page_text(document: pdfium.PdfDocument, number: int) -> PageText:
    """Return the text of a page, counted from 1. Raises ValueError where it has more than can be laid out."""
    with LOCK:
        page = document[number - 1]
        textpage = page.get_textpage()
        try:
            if textpage.count_chars() > _MAX_CHARACTERS:
                raise ValueError("more characters than a page has room for")
            glyphs = list(_glyphs(textpage))
            counts = Counter(glyph.direction for glyph in glyphs if glyph.box)
            main = counts.most_common(1)[0][0] if counts else 0
            middle = _middle(page)
            segments = [_turned_segment(segment, main, middle) for segment in segments_of_page(page)]
            lines = tuple(_lines(glyphs, number, main, middle, segments))
            text = textpage.get_text_range() if textpage.count_chars() else ""
            images = page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
            return PageText(number, text, lines, next(iter(images), None) is not None, tuple(segments))
        finally:
            textpage.close()
            page.close()


def _middle(page: pdfium.PdfPage) -> tuple[float, float]:
    left, bottom, right, top = page.get_mediabox()
    return (left + right) / 2, (bottom + top) / 2


def _glyphs(textpage: pdfium.PdfTextPage) -> Iterator[_Glyph]:
    """Yield the characters in the order of the page's content; text on a slant is a watermark and left out."""
    box, matrix = raw.FS_RECTF(), raw.FS_MATRIX()
    direction = 0
    for index in range(textpage.count_chars()):
        code = raw.FPDFText_GetUnicode(textpage, index)
        if code in (0, 0xFFFE, 0xFFFF):
            continue
        if code in (10, 13):
            yield _Glyph("\n", None, 0.0, direction, True)
            continue
        generated = raw.FPDFText_IsGenerated(textpage, index) == 1
        raw.FPDFText_GetMatrix(textpage, index, ctypes.byref(matrix))
        # The base line's direction: the angle PDFium reports takes slanted letters for slanted lines.
        angle = math.atan2(matrix.b, matrix.a)
        if abs(math.sin(2 * angle)) > 0.1:
            continue
        if generated or not raw.FPDFText_GetLooseCharBox(textpage, index, ctypes.byref(box)):
            yield _Glyph(" ", None, 0.0, direction, generated)
            continue
        direction = round(angle / (math.pi / 2)) % 4
        scale = math.sqrt(abs(matrix.a * matrix.d - matrix.b * matrix.c)) or 1.0
        size = raw.FPDFText_GetFontSize(textpage, index) * scale or abs(box.top - box.bottom)
        edges = min(box.left, box.right), max(box.left, box.right), min(box.bottom, box.top), max(box.bottom, box.top)
        yield _Glyph(chr(code), edges, size, direction, False)


def _lines(glyphs: Sequence[_Glyph], page: int, main: int, middle: tuple[float, float], segments: Sequence[Segment]
           ) -> Iterator[Line]:
    """Yield lines that stand upright once the page is turned; those in another direction are marked as such."""
    rules = sorted((s.left, s.bottom, s.top) for s in segments if not s.is_level)
    builder, direction = LineBuilder(page, rules), main
    for glyph in glyphs:
        if glyph.box and glyph.direction != direction:
            yield from _placed(builder.flush(), direction, main, middle)
            direction = glyph.direction
            builder = LineBuilder(page, rules if direction == main else [])
        if glyph.box is None:
            if glyph.text == "\n":
                yield from _placed(builder.flush(), direction, main, middle)
            else:
                builder.add_space(glyph.is_generated)
            continue
        box = turned(glyph.box, direction, middle)
        if builder.is_elsewhere(box, glyph.size):
            yield from _placed(builder.flush(), direction, main, middle)
        is_hyphen = glyph.text == chr(HYPHEN)
        builder.add("-" if is_hyphen else glyph.text, box, glyph.size)
        if is_hyphen:
            yield from _placed(builder.flush(), direction, main, middle)
    yield from _placed(builder.flush(), direction, main, middle)


def _placed(lines: Iterator[Line], direction: int, main: int, middle: tuple[float, float]) -> Iterator[Line]:
    for line in lines:
        if direction == main:
            yield line
        else:
            box = turned((line.left, line.right, line.bottom, line.top), main - direction, middle)
            yield replace(line, cells=(Cell(line.text, box[0], box[1]),), left=box[0], right=box[1], bottom=box[2],
                          top=box[3], upright=False)


def turned(box: Box, quarters: int, middle: tuple[float, float]) -> Box:
    """Turn a box (left, right, bottom, top) clockwise about the middle of the page."""
    left, right, bottom, top = box
    x, y = middle
    for _ in range(quarters % 4):
        left, right, bottom, top = x + bottom - y, x + top - y, y - (right - x), y - (left - x)
    return left, right, bottom, top


def _turned_segment(segment: Segment, quarters: int, middle: tuple[float, float]) -> Segment:
    left, right, bottom, top = turned((segment.left, segment.right, segment.bottom, segment.top), quarters, middle)
    return Segment(left, bottom, right, top)
