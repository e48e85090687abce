"""The original of a page as a picture, to be shown beside what was read on it."""

from __future__ import annotations

import io
import logging

from PIL import Image

from nongda.documents.containers import content_kind
from nongda.documents.parse_image import open_image, page_count, page_of
from nongda.documents.parse_pdf import render
from nongda.documents.pdf_text import LOCK, open_pdf

logger = logging.getLogger(__name__)

_IMAGES = (".png", ".jpg", ".tif", ".bmp", ".webp")
_QUALITY = 80
_WIDEST = 4000  # pixels
_TALLEST = 12000


def page_picture(data: bytes, name: str, page: int, width: int) -> bytes | None:
    """Return a page, counted from 1, as a JPEG `width` pixels wide, or narrower where the original is.

    None for formats without pages, for a page that there is not, and where the file is damaged.
    """
    kind = content_kind(data)
    if kind != ".pdf" and kind not in _IMAGES:
        return None
    width = max(1, min(width, _WIDEST))
    try:
        picture = _pdf_page(data, name, page, width) if kind == ".pdf" else _image_page(data, name, page)
        return None if picture is None else _jpeg(picture, width)
    except Exception:  # a damaged file makes the libraries raise anything at all
        logger.info("no picture of page %d of %s", page, name, exc_info=True)
        return None


def _pdf_page(data: bytes, name: str, page: int, width: int) -> Image.Image | None:
    with open_pdf(data, name) as document:
        with LOCK:
            if not 1 <= page <= len(document):
                return None
            page_width, page_height = document.get_page_size(page - 1)
        return render(document, page, 72 * min(width / page_width, _TALLEST / page_height))


def _image_page(data: bytes, name: str, page: int) -> Image.Image | None:
    with open_image(data, name) as image:
        return page_of(image, page) if 1 <= page <= page_count(image) else None


def _jpeg(picture: Image.Image, width: int) -> bytes:
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    picture = picture.convert("RGB")
    picture.thumbnail((width, _TALLEST), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=_QUALITY)
    return stream.getvalue()
