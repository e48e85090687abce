"""Pictures of pages: photos, screenshots, scans; a TIFF may hold several pages."""

from __future__ import annotations

import io
import warnings
from collections.abc import Generator
from pathlib import PurePath

from PIL import Image, ImageOps

from nongda.documents.ocr import PageReader
from nongda.documents.outline import assemble
from nongda.documents.pdf_layout import layout
from nongda.documents.readings import page_warnings, title_of
from nongda.documents.scan_lines import DAMAGED, ReadPage, read_page
from nongda.errors import DocumentError
from nongda.intake import PageReading, PageTurned, ParsedDocument
from nongda.records import DocumentMeta

_WIDTH, _HEIGHT = 595, 842  # points: a picture is taken for a sheet of A4
_DRAFT = (5000, 5000)  # pixels a photo keeps at least when it is decoded smaller


def parse_image(data: bytes, name: str, reader: PageReader | None) -> Generator[PageTurned, None, ParsedDocument]:
    """Read a picture of one or more pages. Raises DocumentError where it is too large or there is no reader."""
    if reader is None:
        raise DocumentError(f"文件“{name}”是图片，要用文字识别才能读，这里没有启用：请换用带文字的文件")
    with open_image(data, name) as image:
        total = page_count(image)
        pages: list[ReadPage] = []
        for number in range(1, total + 1):
            pages.append(_page(image, number, reader))
            yield PageTurned(number, total)
    items = layout([page.lines for page in pages], [page.segments for page in pages])
    title = title_of(items, "") or PurePath(name).stem
    readings = tuple(page.reading for page in pages)
    return ParsedDocument(DocumentMeta(title=title), assemble(items, title), total, page_warnings(readings), readings)


def open_image(data: bytes, name: str) -> Image.Image:
    """Open a picture, not yet decoded. Raises DocumentError where it has too many dots, OSError where it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data))
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        limit = (Image.MAX_IMAGE_PIXELS or 0) // 10_000
        raise DocumentError(f"图片“{name}”太大（超过 {limit} 万像素）：请缩小或裁成几张后再添加") from error
    if image.format in ("JPEG", "MPO"):
        image.draft("RGB", _DRAFT)
    return image


def page_count(image: Image.Image) -> int:
    """Return how many pages a picture has; the further pictures of other formats are previews or an animation."""
    return int(getattr(image, "n_frames", 1)) if image.format == "TIFF" else 1


def page_of(image: Image.Image, number: int) -> Image.Image:
    """Decode one page, counted from 1, turned as its camera says."""
    image.seek(number - 1)
    return ImageOps.exif_transpose(image)


def _page(image: Image.Image, number: int, reader: PageReader) -> ReadPage:
    try:
        image.seek(number - 1)
    except (OSError, EOFError, ValueError, SyntaxError):  # its place in the file is damaged
        return ReadPage(PageReading(number, "unread", note=DAMAGED))
    # Were the picture an A4 sheet; a long screenshot is as wide as one.
    short, long = sorted(image.size)
    dpi = 72 * max(short / _WIDTH, min(long / _HEIGHT, 2 * short / _WIDTH))
    return read_page(reader, number, lambda: page_of(image, number), dpi)
