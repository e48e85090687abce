"""A page that recognition read becomes lines and strokes for the layout, and a reading to be kept."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image

from nongda.documents.ocr import DPI, PageReader, Scan, ScanLine
from nongda.documents.page_lines import Cell, Line, Segment, lines_of
from nongda.documents.scan_quality import judge
from nongda.intake import PageReading

logger = logging.getLogger(__name__)

DAMAGED = "这一页打不开或已损坏，没有收入"
# Boxes reach beyond their text. With both ends a line is about so many font sizes wider than its characters.
_WIDER = 0.45
_TALLEST, _LOWEST = 1.75, 1.1  # heights of boxes in font sizes
_HALF = "，。、；：！？）】》”’（【《“‘"  # full-width signs with half of their width blank
_LATIN_WIDTH = 0.53  # of a font size
_NARROW, _NARROW_WIDTH = "il.'|[]· ", 0.3
_SIGNS, _SIGN_WIDTH = ",:;!()", 0.6


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page with what is to be indexed of it: no lines where it could not be read."""

    reading: PageReading
    lines: tuple[Line, ...] = ()
    segments: tuple[Segment, ...] = ()


def read_page(reader: PageReader, number: int, picture: Callable[[], Image.Image], dpi: float = DPI) -> ReadPage:
    """Read one page; whatever goes wrong with it is a note on it, so that the others are read all the same."""
    try:
        scan = reader.page(number, picture, dpi)
    except Exception:  # a damaged page makes the renderer and the models raise anything at all
        logger.info("page %d could not be read", number, exc_info=True)
        return ReadPage(PageReading(number, "unread", note=DAMAGED))
    return judged(scan, number)


def judged(scan: Scan, number: int) -> ReadPage:
    """Return the page with its lines where they can be relied upon, and why not where they cannot."""
    verdict = judge(scan)
    if verdict.kind == "blank":
        return ReadPage(PageReading(number, "ocr"))
    lines = scan_lines(scan, number)
    text = "\n".join(line.text for line in lines_of(lines))
    if verdict.kind == "unread":
        return ReadPage(PageReading(number, "unread", scan.confidence, text, verdict.note))
    return ReadPage(PageReading(number, "ocr", scan.confidence, text, verdict.note), tuple(lines), scan.strokes)


def scan_lines(scan: Scan, page: int) -> list[Line]:
    """Return the stretches of text as lines of one cell, their boxes as tight as those of a text layer."""
    return [_line(line, page) for line in scan.lines]


def _line(line: ScanLine, page: int) -> Line:
    width, height, middle = line.right - line.left, line.top - line.bottom, (line.top + line.bottom) / 2
    if height > width and len(line.text) > 1:  # characters below each other in a narrow cell
        size = width / (1 + _WIDER)
    else:
        size = min(max(width / (text_width(line.text) + _WIDER), height / _TALLEST), height / _LOWEST)
    inset, half = min(_WIDER / 2 * size, width / 3), max(0.55 * size, (height - _WIDER * size) / 2 if height > width else 0)
    left, right = line.left + inset, line.right - inset
    # Below 1 even where recognition is sure: it marks text that was read from a picture.
    return Line((Cell(line.text, left, right),), page, left, right, middle - half, middle + half, size,
                min(line.confidence, 0.999))


def text_width(text: str) -> float:
    """Return the width of a text in font sizes, blank halves of signs at its ends left out."""
    is_chinese = any("\u3400" <= c <= "\u9fff" for c in text)
    blank = 0.5 * sum(text[end] in _HALF for end in ({0, len(text) - 1} if text else ()))
    return sum(_width(c, is_chinese) for c in text) - blank


def _width(character: str, is_chinese: bool) -> float:
    if character == "~" or unicodedata.east_asian_width(character) in "WFA":
        return 1.0
    if character in _SIGNS:  # recognition gives full-width signs as half-width ones
        return _SIGN_WIDTH if is_chinese else _NARROW_WIDTH
    return _NARROW_WIDTH if character in _NARROW else _LATIN_WIDTH
