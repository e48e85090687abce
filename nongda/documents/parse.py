"""A file of any known format as blocks; whatever goes wrong is one sentence for the reader."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

from nongda.documents.parse_docx import parse_docx
from nongda.documents.parse_markdown import parse_markdown
from nongda.documents.parse_pdf import parse_pdf
from nongda.documents.parse_text import parse_text
from nongda.errors import DocumentError
from nongda.intake import PageTurned, ParsedDocument
from nongda.language.text import has_words

if TYPE_CHECKING:
    from nongda.documents.ocr import PageReader

logger = logging.getLogger(__name__)

Pages = Generator[PageTurned, None, ParsedDocument]
"""A file being read: one value for every page done; closing it stops the reading; it returns the document."""


def _pdf(data: bytes, name: str, reader: PageReader | None) -> Pages:
    yield from ()
    return parse_pdf(data, name)


PARSERS: dict[str, Callable[[bytes, str], ParsedDocument]] = {
    ".md": parse_markdown,
    ".markdown": parse_markdown,
    ".txt": parse_text,
    ".docx": parse_docx,
}
PAGED: dict[str, Callable[[bytes, str, PageReader | None], Pages]] = {".pdf": _pdf}
MAX_BYTES = 200 * 2**20


def parse_file(path: Path, reader: PageReader | None = None) -> ParsedDocument:
    """Parse a file by its suffix. Raises DocumentError: unknown suffix, unreadable, empty or broken."""
    return parse_bytes(read_file(path), path.name, reader)


def read_file(path: Path) -> bytes:
    """Return the bytes of a document. Raises DocumentError where it is no readable file of a known suffix."""
    try:
        if path.is_dir():
            raise DocumentError(f"“{path.name}”是文件夹：请选择其中的文件（{_known()}）")
        if path.suffix.lower() not in PARSERS.keys() | PAGED.keys():
            raise DocumentError(f"文件“{path.name}”的格式不认识：请转换成 {_known()} 后再添加")
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(f"文件“{path.name}”超过 {MAX_BYTES // 2**20} MB：请拆成几份后再添加")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise DocumentError(f"文件“{path.name}”不存在或已被移走：请检查路径后再添加") from error
    except (OSError, ValueError) as error:  # ValueError: a path with a zero character
        raise DocumentError(f"文件“{path.name}”无法读取：请检查权限、确认没有被别的程序占用") from error


def parse_bytes(data: bytes, name: str, reader: PageReader | None = None) -> ParsedDocument:
    """Parse the bytes of a file by the suffix of its name. Raises DocumentError as `parse_file`."""
    pages = reading(data, name, reader)
    while True:
        try:
            next(pages)
        except StopIteration as end:
            document: ParsedDocument = end.value
            return document


def reading(data: bytes, name: str, reader: PageReader | None) -> Pages:
    """Parse as `parse_bytes`, page by page where the format's pages may need recognition."""
    if not data.strip():
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
    if not any(has_words(block.text) for block in document.blocks):
        raise DocumentError(f"文件“{name}”里没有文字：请检查内容后再添加")
    return document


def _parse(data: bytes, name: str, reader: PageReader | None) -> Pages:
    suffix = Path(name).suffix.lower()
    if suffix in PAGED:
        return (yield from PAGED[suffix](data, name, reader))
    parser = PARSERS.get(suffix)
    if parser is None:
        raise DocumentError(f"文件“{name}”的格式不认识：请转换成 {_known()} 后再添加")
    return parser(data, name)


def _known() -> str:
    return " ".join([*PARSERS, *PAGED])
