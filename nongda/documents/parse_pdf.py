"""PDF with a text layer: lines with their places on the page; scans and garbled layers are refused."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePath

from nongda.documents.outline import Heading, Item, assemble, first_heading
from nongda.documents.pdf_layout import layout
from nongda.documents.pdf_text import HYPHEN, LOCK, PageText, open_pdf, page_text
from nongda.errors import DocumentError
from nongda.intake import ParsedDocument
from nongda.records import DocumentMeta

_CID = re.compile(r"\(cid:\d+\)")
_GARBLED = 0.2  # share of characters without a meaning; a stray symbol font stays under 0.05
_FEW_WORDS = 10  # a scanned page often carries a stamped page number or date
_BAD_TITLE = re.compile(
    r"untitled|无标题|未命名|\.(?:docx?|wps|pptx?|xlsx?|pdf|indd|cdr)$|^microsoft|^powerpoint", re.IGNORECASE)


def parse_pdf(data: bytes, name: str) -> ParsedDocument:
    """Parse a PDF. Raises DocumentError where it is encrypted, scanned, or its text layer is garbled."""
    pages, info_title = _read(data, name)
    unreadable = [page.number for page in pages if _is_garbled(page.text)]
    scanned = [page.number for page in pages
               if not page.text.strip() or (page.has_image and _word_count(page.text) < _FEW_WORDS)]
    readable = [page for page in pages if page.number not in unreadable and page.number not in scanned]
    if not any(_word_count(page.text) for page in readable):
        what = "文字层是乱码" if unreadable else "没有文字层（可能是扫描件）"
        advice = "需要 OCR 文字识别，本版本没有，请换用带文字的 PDF 或 Word 文件"
        raise DocumentError(f"文件“{name}”{what}：{advice}")
    items = layout([page.lines for page in readable], [page.segments for page in readable])
    title = _title(items, info_title) or PurePath(name).stem
    warnings = _warnings(unreadable, scanned)
    return ParsedDocument(DocumentMeta(title=title), assemble(items, title), len(pages), warnings)


def _read(data: bytes, name: str) -> tuple[list[PageText], str]:
    with open_pdf(data, name) as document:
        with LOCK:
            total, title = len(document), str(document.get_metadata_value("Title"))
        return [page_text(document, number) for number in range(1, total + 1)], title


def _word_count(text: str) -> int:
    return sum(c.isalnum() for c in text)


def _is_garbled(text: str) -> bool:
    characters = sum(not c.isspace() for c in text)
    if not characters:
        return False
    placeholders = sum(len(match) for match in _CID.findall(text))
    bad = sum(c == "\ufffd" or unicodedata.category(c) in ("Co", "Cs") or (
        unicodedata.category(c) == "Cc" and not c.isspace() and c != chr(HYPHEN)) for c in text)
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
