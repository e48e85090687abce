"""Web pages (.html, .htm) and pages saved as one file (.mht): the text of the page without what stands around it."""

from __future__ import annotations

import datetime
import email
import re
from pathlib import PurePath
from typing import Any

from nongda.documents.containers import check_marks
from nongda.documents.encoding import decode_markup
from nongda.documents.html_blocks import html_items
from nongda.documents.html_content import content_of
from nongda.documents.outline import Heading, Item, assemble, first_heading
from nongda.errors import DocumentError
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

_MULTIPART = re.compile(rb"\s*(?:[\w-]+: ?[^\n]*\n(?:[ \t][^\n]*\n)*){0,20}?MIME-Version: *1\.0", re.IGNORECASE)
_SITE = re.compile(  # what follows the title of an article in that of a page
    r"\s*[_|｜]\s*[^_|｜]{2,40}$|\s+[-–—]+\s+[^_|｜]{2,40}$|"
    r"[-–—]+[^-–—_|｜]*(?:网|网站|厅|局|政府|中心|公众号|频道|平台|门户)$")
_MAX_MARKS = 3_000_000  # tags and attributes; a table of 20,000 rows and 20 columns has half as many
_MIN_TITLE = 6  # characters left of a page's title when the site's name is taken off
_FEW_WORDS = 150  # a page with less text and several pictures says what it says in them
_DATE = re.compile(r"\s*(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})")


def parse_html(data: bytes, name: str) -> ParsedDocument:
    """Parse a web page. Raises DocumentError where its encoding cannot be told or it holds no page."""
    from lxml import html

    source = _page_of(data, name)
    check_marks(source, name, _MAX_MARKS)
    text, warnings = decode_markup(source, name)
    # huge_tree: old pages leave hundreds of elements open. Entities of a DTD are never resolved in HTML.
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True)
    page = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    if page is None or not len(page):
        raise DocumentError(f"文件“{name}”里没有文字：请检查内容后再添加")
    named = _named_title(page)
    meta_tags = _meta_tags(page)
    pictures = len(page.findall(".//img"))
    items = html_items(content_of(page))
    title = named or _title(page, items) or PurePath(name).stem
    blocks = assemble(_without_title(items, title), title)
    if pictures > 1 and sum(len(block.text) for block in blocks) < _FEW_WORDS:
        warnings = (*warnings, f"网页里有 {pictures} 张图片，图片上的文字没有读取：如有需要，请把图片单独保存后添加")
    meta = DocumentMeta(title=title, date=_date(meta_tags.get("pubdate", "")))
    return ParsedDocument(meta, blocks, warnings=warnings)


def _page_of(data: bytes, name: str) -> bytes:
    """Return the page; of a file that holds the page with its pictures, the longest page in it."""
    if not _MULTIPART.match(data[:8192].replace(b"\r\n", b"\n")):
        return data
    pages: list[bytes] = []
    for part in email.message_from_bytes(data).walk():
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            payload = part.get_payload(decode=True)
            charset = part.get_content_charset() or ""
            if isinstance(payload, bytes):
                pages.append(_in_utf8(payload, charset))
    if not pages:
        raise DocumentError(f"文件“{name}”里没有网页：请在浏览器中打开原网页，另存为 .html 后再添加")
    return max(pages, key=len)


def _in_utf8(payload: bytes, charset: str) -> bytes:
    if charset.lower().replace("-", "") in ("utf8", "usascii", "") or b"charset" in payload[:4096].lower():
        return payload
    try:
        return payload.decode(charset).encode()
    except (LookupError, UnicodeDecodeError):
        return payload


def _meta_tags(page: Any) -> dict[str, str]:  # noqa: ANN401 - lxml is untyped
    """Return what the page says of itself by lower-case names; government sites share a set of them."""
    found: dict[str, str] = {}
    for tag in page.iter("meta"):
        key = (tag.get("name") or tag.get("property") or "").lower()
        found.setdefault(key, " ".join((tag.get("content") or "").split()))
    return found


def _named_title(page: Any) -> str:  # noqa: ANN401
    """Return the title that the page marks as that of the article, "" where it marks none."""
    marked = page.get_element_by_id("activity-name", None)  # of a page saved from WeChat
    words = " ".join(marked.text_content().split()) if marked is not None else ""
    tags = _meta_tags(page)
    return words or tags.get("articletitle", "") or tags.get("og:title", "")


def _title(page: Any, items: list[Item]) -> str:  # noqa: ANN401
    first = first_heading(items, 1)
    if first:
        return first
    title = " ".join((page.findtext(".//title") or "").split())
    while (shorter := _SITE.sub("", title)) != title and len(shorter) >= _MIN_TITLE:
        title = shorter
    return title or first_heading(items)


def _without_title(items: list[Item], title: str) -> list[Item]:
    """Leave out the line that repeats the title at the beginning of the text."""
    for place, item in enumerate(items[:3]):
        if isinstance(item, Block) and item.kind == "paragraph" and item.text == title:
            return [*items[:place], *items[place + 1:]]
        if isinstance(item, Heading) and item.text == title:
            break
    return items


def _date(text: str) -> str:
    match = _DATE.match(text)
    try:
        return datetime.date(int(match[1]), int(match[2]), int(match[3])).isoformat() if match else ""
    except ValueError:
        return ""
