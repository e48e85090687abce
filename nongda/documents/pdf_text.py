"""Text of a PDF's pages: PDFium's characters become lines with their places; what else the page shows."""

from __future__ import annotations

import ctypes
import math
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from nongda.documents.pdf_layout import Cell, Line
from nongda.errors import DocumentError

LOCK = threading.Lock()  # PDFium is not thread-safe: held by whoever calls it
# Gaps in font sizes from which on text may be two cells. Chinese columns stand that close, and chance gaps
# of justified lines do no harm: only cells aligned over several lines become a table.
_CELL_GAP = 0.3
_LATIN_CELL_GAP = 0.6  # spaces between words reach 0.5
HYPHEN = 2  # PDFium's sign for a hyphen at a line end, the line break swallowed


@dataclass(frozen=True, slots=True)
class PageText:
    """What PDFium knows of a page; `number` from 1, `text` as the file has it, `lines` in the order of the content."""

    number: int
    text: str
    lines: tuple[Line, ...]
    has_image: bool


@contextmanager
def open_pdf(data: bytes, name: str) -> Iterator[pdfium.PdfDocument]:
    """Open a PDF and close it in the end. Raises DocumentError where it is encrypted, PdfiumError where broken."""
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
    """Return the text of a page, counted from 1."""
    with LOCK:
        page = document[number - 1]
        textpage = page.get_textpage()
        try:
            lines = tuple(_lines(textpage, number))
            text = textpage.get_text_range() if textpage.count_chars() else ""
            images = page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
            return PageText(number, text, lines, next(iter(images), None) is not None)
        finally:
            textpage.close()
            page.close()


def _lines(textpage: pdfium.PdfTextPage, page: int) -> Iterator[Line]:
    """Yield the lines in the order of the page's content; text on a slant is a watermark and left out."""
    builder = _LineBuilder(page)
    box, matrix = raw.FS_RECTF(), raw.FS_MATRIX()
    for index in range(textpage.count_chars()):
        code = raw.FPDFText_GetUnicode(textpage, index)
        if code in (0, 0xFFFE, 0xFFFF):
            continue
        if code in (10, 13):
            yield from builder.flush()
            continue
        raw.FPDFText_GetMatrix(textpage, index, ctypes.byref(matrix))
        # The base line's direction: the angle PDFium reports takes slanted letters for slanted lines.
        if abs(math.sin(2 * math.atan2(matrix.b, matrix.a))) > 0.1:
            continue
        generated = raw.FPDFText_IsGenerated(textpage, index) == 1
        if generated or not raw.FPDFText_GetLooseCharBox(textpage, index, ctypes.byref(box)):
            builder.add_space(generated)
            continue
        if builder.is_elsewhere(box.bottom, box.top):
            yield from builder.flush()
        scale = math.sqrt(abs(matrix.a * matrix.d - matrix.b * matrix.c)) or 1.0
        size = raw.FPDFText_GetFontSize(textpage, index) * scale or abs(box.top - box.bottom)
        builder.add("-" if code == HYPHEN else chr(code), (box.left, box.right, box.bottom, box.top), size)
        if code == HYPHEN:
            yield from builder.flush()
    yield from builder.flush()


class _LineBuilder:
    """Gathers the characters of one line and parts it into cells at wide gaps."""

    def __init__(self, page: int) -> None:
        self._page = page
        self._clear()

    def _clear(self) -> None:
        self._cells: list[Cell] = []
        self._sizes: Counter[float] = Counter()
        self._bottom = self._top = 0.0
        self._space = self._typed_space = False

    def is_elsewhere(self, bottom: float, top: float) -> bool:
        """Tell whether a character at this height cannot belong to the line."""
        return bool(self._cells) and (bottom > self._top or top < self._bottom)

    def add_space(self, generated: bool) -> None:
        """Note a space; a generated one is PDFium's reading of a gap."""
        self._space = True
        self._typed_space = self._typed_space or not generated

    def add(self, character: str, box: tuple[float, float, float, float], size: float) -> None:
        """Add a character in its box (left, right, bottom, top) in points."""
        if character.isspace():
            self.add_space(generated=False)
            return
        left, right, bottom, top = box
        last = self._cells[-1] if self._cells else None
        if last is None:
            self._bottom, self._top = bottom, top
        if last is None or _is_apart(last, character, left, size):
            self._cells.append(Cell(character, left, right))
        else:
            space = " " if self._has_space(last.text[-1], character) else ""
            self._cells[-1] = Cell(last.text + space + character, last.left, right)
        self._space = self._typed_space = False
        self._sizes[round(size, 1)] += 1
        self._bottom, self._top = min(self._bottom, bottom), max(self._top, top)

    def _has_space(self, before: str, after: str) -> bool:
        """A gap between Chinese characters comes from justified lines, unless a space was typed."""
        return self._space and (self._typed_space or min(before, after) < "\u2e80")

    def flush(self) -> Iterator[Line]:
        """Yield the line gathered so far, if there is one, and begin another."""
        cells = tuple(Cell(_repair(cell.text), cell.left, cell.right) for cell in self._cells)
        cells = tuple(cell for cell in cells if cell.text)
        if cells:
            size = self._sizes.most_common(1)[0][0]
            yield Line(cells, self._page, min(cell.left for cell in cells), cells[-1].right,
                       self._bottom, self._top, size)
        self._clear()


def _is_apart(cell: Cell, character: str, left: float, size: float) -> bool:
    is_latin = max(cell.text[-1], character) < "\u2e80"
    gap = (_LATIN_CELL_GAP if is_latin else _CELL_GAP) * size
    return left - cell.right > gap or left < cell.right - 20 * size


def _repair(text: str) -> str:
    """Join halves of a character outside the basic plane, as PDFium gives them on Windows."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore").strip()
