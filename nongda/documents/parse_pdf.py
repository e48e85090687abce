"""PDF: pages with a sound text layer are taken as they are, the others are rendered and read by recognition."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Generator
from pathlib import PurePath

import pypdfium2 as pdfium
from PIL import Image

from nongda.documents.ocr import DPI, PageReader
from nongda.documents.outline import assemble
from nongda.documents.pdf_layout import layout
from nongda.documents.pdf_text import HYPHEN, LOCK, PageText, open_pdf, page_text
from nongda.documents.readings import page_warnings, title_of
from nongda.documents.scan_lines import ReadPage, read_page
from nongda.documents.scan_quality import everyday_share, plausible_share
from nongda.errors import DocumentError
from nongda.intake import PageReading, PageTurned, ParsedDocument
from nongda.records import DocumentMeta

logger = logging.getLogger(__name__)

_CID = re.compile(r"\(cid:\d+\)")
_GARBLED = 0.2  # share of characters without a meaning; a stray symbol font stays under 0.05
_FEW_WORDS = 10  # a scanned page often carries a stamped page number or date
_SUSPECT = 0.9  # share of plausible characters below which a text layer is compared with what recognition reads
_SUSPECT_EVERYDAY = 0.75  # of the Chinese characters; wrongly mapped ones are drawn from the whole of Unicode
_FEW_CHARACTERS = 30  # of a page; shares of fewer tell nothing
_NO_LAYER, _GARBLE = "没有文字层（可能是扫描件）", "文字层是乱码"
_AT_A_TIME = 20  # pages; PDFium keeps the pictures of all that it has shown until the file is closed
_LARGEST = 3400  # pixels of the longer side of a rendered page


def parse_pdf(data: bytes, name: str, reader: PageReader | None) -> Generator[PageTurned, None, ParsedDocument]:
    """Parse a PDF page by page. Raises DocumentError where it is encrypted; without a reader, where no page can be read."""
    pages: list[ReadPage] = []
    total, info_title = 1, ""
    while len(pages) < total:
        with open_pdf(data, name) as document:
            with LOCK:
                total, info_title = len(document), str(document.get_metadata_value("Title"))
            for number in range(len(pages) + 1, min(total, len(pages) + _AT_A_TIME) + 1):
                pages.append(_page(document, number, reader))
                yield PageTurned(number, total)
    readings = tuple(page.reading for page in pages)
    if reader is None and all(reading.source == "unread" for reading in readings):
        why = next((reading.note for reading in readings if _GARBLE in reading.note), _NO_LAYER).split("，")[0]
        raise DocumentError(f"文件“{name}”{why}：要用文字识别才能读，这里没有启用，请换用带文字的 PDF 或 Word 文件")
    items = layout([page.lines for page in pages], [page.segments for page in pages])
    title = title_of(items, info_title) or PurePath(name).stem
    return ParsedDocument(DocumentMeta(title=title), assemble(items, title), total, page_warnings(readings), readings)


def render(document: pdfium.PdfDocument, number: int, dpi: float) -> Image.Image:
    """Return a page, counted from 1, as it is shown: turned as the file says."""
    with LOCK:
        page = document[number - 1]
        try:
            bitmap = page.render(scale=dpi / 72)
            try:
                picture: Image.Image = bitmap.to_pil().copy()
                return picture
            finally:
                bitmap.close()
        finally:
            page.close()


def _page(document: pdfium.PdfDocument, number: int, reader: PageReader | None) -> ReadPage:
    try:
        page = page_text(document, number)
    except Exception:  # one damaged page makes PDFium and its binding raise anything at all; the others are read
        logger.info("page %d has no text that can be read", number, exc_info=True)
        page = PageText(number, "", (), has_image=True)
    layer = ReadPage(PageReading(number, "text"), page.lines, page.segments)
    why = _missing(page)
    if why and reader is None:
        return ReadPage(PageReading(number, "unread", note=f"{why}，要用文字识别才能读，没有收入"))
    if reader is None or not (why or _is_suspect(page.text)):
        return layer
    dpi = _dpi(document, number)
    read = read_page(reader, number, lambda: render(document, number, dpi), dpi)
    return read if why or _is_better(read, page.text) else layer


def _missing(page: PageText) -> str:
    """Return why the text layer of a page cannot be used; "" where it can."""
    if _is_garbled(page.text):
        return _GARBLE
    words = sum(c.isalnum() for c in page.text)
    return _NO_LAYER if not words or (page.has_image and words < _FEW_WORDS) else ""


def _is_garbled(text: str) -> bool:
    characters = sum(not c.isspace() for c in text)
    if not characters:
        return False
    placeholders = sum(len(match) for match in _CID.findall(text))
    bad = sum(c == "\ufffd" or unicodedata.category(c) in ("Co", "Cs") or (
        unicodedata.category(c) == "Cc" and not c.isspace() and c != chr(HYPHEN)) for c in text)
    return placeholders + bad > _GARBLED * characters


def _is_suspect(text: str) -> bool:
    """Tell whether a text layer may map its signs to the wrong characters."""
    enough = sum(not c.isspace() for c in text) >= _FEW_CHARACTERS
    return enough and (plausible_share(text) < _SUSPECT or everyday_share(text) < _SUSPECT_EVERYDAY)


def _is_better(read: ReadPage, text: str) -> bool:
    """Tell whether recognition found more sense on a page than its text layer has."""
    if read.reading.source != "ocr" or read.reading.note:
        return False
    return _sense(read.reading.text) > _sense(text) + 0.05


def _sense(text: str) -> float:
    return plausible_share(text) * everyday_share(text)


def _dpi(document: pdfium.PdfDocument, number: int) -> float:
    """Return the dots per inch at which to render a page: posters are rendered smaller."""
    try:
        with LOCK:
            longest = float(max(document.get_page_size(number - 1)))
    except pdfium.PdfiumError:
        return DPI
    return min(DPI, 72 * _LARGEST / max(longest, 1.0))
