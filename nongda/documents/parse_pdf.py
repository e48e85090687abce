"""PDF with a text layer: lines with their places on the page; scans and garbled layers are refused."""

from __future__ import annotations

import ctypes
import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from nongda.documents.outline import Heading, Item, assemble, first_heading
from nongda.documents.pdf_layout import Cell, Line, layout
from nongda.errors import DocumentError
from nongda.intake import ParsedDocument
from nongda.records import DocumentMeta

_LOCK = threading.Lock()  # PDFium is not thread-safe
_CID = re.compile(r"\(cid:\d+\)")
_GARBLED = 0.2  # share of characters without a meaning; a stray symbol font stays under 0.05
_FEW_WORDS = 10  # a scanned page often carries a stamped page number or date
# Gaps in font sizes from which on text may be two cells. Chinese columns stand that close, and chance gaps
# of justified lines do no harm: only cells aligned over several lines become a table.
_CELL_GAP = 0.3
_LATIN_CELL_GAP = 0.6  # spaces between words reach 0.5
_HYPHEN = 2  # PDFium's sign for a hyphen at a line end, the line break swallowed
_BAD_TITLE = re.compile(
    r"untitled|无标题|未命名|\.(?:docx?|wps|pptx?|xlsx?|pdf|indd|cdr)$|^microsoft|^powerpoint", re.IGNORECASE)


def parse_pdf(data: bytes, name: str) -> ParsedDocument:
    """Parse a PDF. Raises DocumentError where it is encrypted, scanned, or its text layer is garbled."""
    with _LOCK:
        pages, texts, has_image, info_title = _read(data, name)
    unreadable = [n for n, text in texts.items() if _is_garbled(text)]
    scanned = [n for n, text in texts.items()
               if not text.strip() or (has_image[n] and _word_count(text) < _FEW_WORDS)]
    readable = {n for n in texts if n not in unreadable and n not in scanned}
    if not any(_word_count(texts[n]) for n in readable):
        what = "文字层是乱码" if unreadable else "没有文字层（可能是扫描件）"
        advice = "需要 OCR 文字识别，本版本没有，请换用带文字的 PDF 或 Word 文件"
        raise DocumentError(f"文件“{name}”{what}：{advice}")
    items = layout([[line for line in lines if line.page in readable] for lines in pages])
    title = _title(items, info_title) or PurePath(name).stem
    warnings = _warnings(unreadable, scanned)
    return ParsedDocument(DocumentMeta(title=title), assemble(items, title), len(pages), warnings)


def _read(data: bytes, name: str) -> tuple[list[list[Line]], dict[int, str], dict[int, bool], str]:
    """Return per page the lines; by page number the raw text and whether an image stands on it; the title."""
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise DocumentError(f"文件“{name}”已加密：请去掉密码后再添加") from error
        raise
    try:
        pages, texts, has_image = [], {}, {}
        for index in range(len(document)):
            page = document[index]
            textpage = page.get_textpage()
            pages.append(list(_lines(textpage, index + 1)))
            texts[index + 1] = textpage.get_text_range() if textpage.count_chars() else ""
            images = page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
            has_image[index + 1] = next(iter(images), None) is not None
            textpage.close()
            page.close()
        return pages, texts, has_image, str(document.get_metadata_value("Title"))
    finally:
        document.close()


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
        builder.add("-" if code == _HYPHEN else chr(code), (box.left, box.right, box.bottom, box.top), size)
        if code == _HYPHEN:
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


def _word_count(text: str) -> int:
    return sum(c.isalnum() for c in text)


def _is_garbled(text: str) -> bool:
    characters = sum(not c.isspace() for c in text)
    if not characters:
        return False
    placeholders = sum(len(match) for match in _CID.findall(text))
    bad = sum(c == "\ufffd" or unicodedata.category(c) in ("Co", "Cs") or (
        unicodedata.category(c) == "Cc" and not c.isspace() and c != chr(_HYPHEN)) for c in text)
    return placeholders + bad > _GARBLED * characters


def _title(items: list[Item], info_title: str) -> str:
    """Return the outermost heading that opens the document, else the title of the file's properties."""
    first = next((item for item in items if isinstance(item, Heading)), None)
    if first is not None and first.level == 1 and first.text == first_heading(items):
        return first.text
    title = " ".join(info_title.split())
    return title if title and not _BAD_TITLE.search(title) else first_heading(items)


def _warnings(unreadable: list[int], scanned: list[int]) -> tuple[str, ...]:
    warnings = []
    for pages, what in ((unreadable, "的文字层是乱码"), (scanned, "没有文字层")):
        if pages:
            numbers = "、".join(str(page) for page in pages[:10]) + ("等" if len(pages) > 10 else "")
            warnings.append(f"第 {numbers} 页{what}，需要 OCR 文字识别，本次没有收入")
    return tuple(warnings)
