"""A file of any known format as blocks; whatever goes wrong is one sentence for the reader."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nongda.documents.containers import check_archive, content_kind, is_piece_of_html, refusal, spoken
from nongda.documents.encoding import looks_like_text
from nongda.documents.parse_csv import parse_csv
from nongda.documents.parse_doc import parse_doc
from nongda.documents.parse_docx import parse_docx
from nongda.documents.parse_html import parse_html
from nongda.documents.parse_image import parse_image
from nongda.documents.parse_markdown import parse_markdown
from nongda.documents.parse_pdf import parse_pdf
from nongda.documents.parse_pptx import parse_pptx
from nongda.documents.parse_rtf import parse_rtf
from nongda.documents.parse_text import check_length, parse_text
from nongda.documents.parse_xls import parse_xls
from nongda.documents.parse_xlsx import parse_xlsx
from nongda.errors import DocumentError
from nongda.intake import PageTurned, ParsedDocument
from nongda.language.text import has_words

if TYPE_CHECKING:
    from nongda.documents.ocr import PageReader

logger = logging.getLogger(__name__)

Pages = Generator[PageTurned, None, ParsedDocument]
"""A file being read: one value for every page done; closing it stops the reading; it returns the document."""


PARSERS: dict[str, Callable[[bytes, str], ParsedDocument]] = {
    ".md": parse_markdown,
    ".markdown": parse_markdown,
    ".txt": parse_text,
    ".docx": parse_docx,
    ".doc": parse_doc,
    ".wps": parse_doc,
    ".docm": parse_docx,
    ".rtf": parse_rtf,
    ".html": parse_html,
    ".htm": parse_html,
    ".mht": parse_html,
    ".mhtml": parse_html,
    ".pptx": parse_pptx,
    ".pptm": parse_pptx,
    ".ppsx": parse_pptx,
    ".xlsx": parse_xlsx,
    ".xlsm": parse_xlsx,
    ".xls": parse_xls,
    ".et": parse_xls,
    ".csv": parse_csv,
    ".tsv": parse_csv,
}
PAGED: dict[str, Callable[[bytes, str, PageReader | None], Pages]] = {
    ".pdf": parse_pdf,
    ".jpg": parse_image,
    ".jpeg": parse_image,
    ".png": parse_image,
    ".bmp": parse_image,
    ".tif": parse_image,
    ".tiff": parse_image,
    ".webp": parse_image,
}
_TEXTS = (".md", ".markdown", ".txt", ".csv", ".tsv", ".html", ".htm")  # content alone does not tell them apart
_ARCHIVES = (".docx", ".xlsx", ".pptx")
_TABLES = (".xls", ".xlsx", ".xlsm", ".et")
MAX_BYTES = 200 * 2**20
MAX_PAGED_BYTES = 600 * 2**20  # a scan of 500 pages
_MAX_TITLE = 200  # characters: it is repeated with each passage
_PAUSE = 1.0  # seconds before a file that is being written is read once more


def parse_file(path: Path, reader: PageReader | None = None) -> ParsedDocument:
    """Parse a file by its content and suffix. Raises DocumentError: unknown, unreadable, empty or broken."""
    return parse_bytes(read_file(path), path.name, reader)


def read_file(path: Path) -> bytes:
    """Return the bytes of a document. Raises DocumentError where it is no readable file of a known suffix."""
    name = printable(path.name)
    try:
        if path.is_dir():
            raise DocumentError(f"“{name}”是文件夹：请选择其中的文件（{_known()}）")
        suffix = path.suffix.lower()
        if not is_known(suffix):
            raise DocumentError(_unknown(suffix, name))
        if not path.is_file() and path.exists():
            raise DocumentError(f"“{name}”不是普通文件：请选择文档文件")
        limit = MAX_PAGED_BYTES if suffix in PAGED else MAX_BYTES
        for is_last in (False, True):
            before = path.stat()
            if before.st_size > limit:
                raise DocumentError(f"文件“{name}”超过 {limit // 2**20} MB：请拆成几份后再添加")
            data = path.read_bytes()
            after = path.stat()
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and len(data) == after.st_size:
                return data
            if not is_last:
                time.sleep(_PAUSE)
    except FileNotFoundError as error:
        raise DocumentError(f"文件“{name}”不存在或已被移走：请检查路径后再添加") from error
    except (OSError, ValueError) as error:  # ValueError: a path with a zero character
        raise DocumentError(f"文件“{name}”无法读取：请检查权限、确认没有被别的程序占用") from error
    raise DocumentError(f"文件“{name}”正在被写入：请等它保存或复制完成后再添加")


def printable(name: str) -> str:
    """Return a file name that can be shown and stored: what its bytes do not say in Unicode becomes `□`."""
    return "".join("□" if "\ud800" <= c <= "\udfff" or not (c.isprintable() or c == "\u200d") else c for c in name)


def is_known(suffix: str) -> bool:
    """Tell whether files of this suffix (lower case, with its dot) are read."""
    return suffix in PARSERS or suffix in PAGED


def parse_bytes(data: bytes, name: str, reader: PageReader | None = None) -> ParsedDocument:
    """Parse the bytes of a file as `parse_file`."""
    pages = reading(data, name, reader)
    while True:
        try:
            next(pages)
        except StopIteration as end:
            document: ParsedDocument = end.value
            return document


def reading(data: bytes, name: str, reader: PageReader | None) -> Pages:
    """Parse as `parse_bytes`, page by page where the format's pages may need recognition."""
    name = printable(name)
    if not data.strip(b" \t\r\n\0"):
        raise DocumentError(f"文件“{name}”是空的：请检查内容后再添加")
    try:
        document = yield from _parse(data, name, reader)
    except DocumentError:
        raise
    except Exception as error:  # a damaged file makes parsing libraries raise anything at all
        logger.info("parsing %s failed", name, exc_info=True)
        raise DocumentError(
            f"文件“{name}”已损坏或不是 {Path(name).suffix} 格式：请用原来的软件打开并重新保存后再添加"
        ) from error
    document = replace(document, meta=replace(document.meta, title=document.meta.title[:_MAX_TITLE]))
    check_length(sum(len(block.text) for block in document.blocks), name)
    if not any(has_words(block.text) for block in document.blocks) and not document.readings:
        raise DocumentError(f"文件“{name}”里没有文字：请检查内容后再添加")
    return document


def _parse(data: bytes, name: str, reader: PageReader | None) -> Pages:
    suffix = Path(name).suffix.lower()
    if not is_known(suffix):
        raise DocumentError(_unknown(suffix, name))
    kind = content_kind(data)
    refused = refusal(kind, name)
    if refused:
        raise DocumentError(refused)
    if kind in _ARCHIVES:
        check_archive(data, name)
    kind = kind if is_known(kind) else _text_kind(data, suffix)
    if kind in PAGED:
        document = yield from PAGED[kind](data, name, reader)
    else:
        document = PARSERS[kind](data, name)
    if _parser(kind) is _parser(suffix):
        return document
    warning = f"文件“{name}”的内容其实是{spoken(kind)}，已按{spoken(kind)}读取"
    return replace(document, warnings=(warning, *document.warnings))


def _text_kind(data: bytes, suffix: str) -> str:
    """Return the suffix by which to parse what has no mark of its own."""
    if suffix in _TEXTS or not looks_like_text(data):
        return suffix
    if is_piece_of_html(data) and is_known(".html"):
        return ".html"
    return ".csv" if suffix in _TABLES and is_known(".csv") else ".txt"


def _parser(suffix: str) -> object:
    return PARSERS.get(suffix) or PAGED.get(suffix)


def _unknown(suffix: str, name: str) -> str:
    return refusal(suffix, name) or f"文件“{name}”的格式不认识：请转换成 {_known()} 后再添加"


def _known() -> str:
    return " ".join([*PARSERS, *PAGED])
