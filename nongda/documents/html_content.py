"""Which part of a web page is its text: scripts, navigation, forms, footers and lists of links are taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lxml import etree

Element = Any  # lxml is untyped

_NEVER = frozenset(
    "script style noscript template head meta link nav aside iframe object embed svg canvas audio video input select "
    "option button textarea datalist dialog map rt rp del s strike".split())
_AT_EDGE = frozenset(["header", "footer", "form"])  # kept where most of the text stands in them
_FURNITURE = re.compile(
    r"(?:^|[\s_-])(?:top|main|sub|side|page|site|left|right|bottom)?[_-]?"
    r"(?:nav|navi|navbar|navigation|menu|foot|footer|sidebar|breadcrumbs?|crumbs?|copyright|share|comments?|search|login|toolbar|"
    r"banner|pagination|pager|related|recommend|friendlinks?)(?:[\s_-]|$)", re.IGNORECASE)
_HIDDEN = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)
_LINKED = 0.6  # share of a list's words that stand in links; prose stays under 0.3
_TRAIL = 0.3  # the same for the path to the page
_MOST = 0.4  # share of the page's words that furniture never has
_HOLDERS = frozenset(["div", "ul", "ol", "dl", "table", "tr", "td", "p", "section", "center", "span", "font", "h6"])


def content_of(page: Element) -> Element:
    """Return the element with the text of a page, what is not text taken out of it."""
    article = page.get_element_by_id("js_content", None)  # a page saved from WeChat
    root = article if article is not None else _body(page)
    _remove(root, _is_never_text)
    total = _length(root)
    lengths = {element: _length(element) for element in root.iter() if _may_be_furniture(element)}
    _remove(root, lambda element: lengths.get(element, total) <= _MOST * total)
    _remove_links(root)
    return root


def _body(page: Element) -> Element:
    body = page.find("body")
    root = body if body is not None else page
    for tag in ("article", "main"):
        found = list(root.iter(tag))
        if len(found) == 1 and _length(found[0]) > _MOST * _length(root):
            return found[0]
    return root


def _remove(root: Element, is_out: Callable[[Element], bool]) -> None:
    found = []
    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        if element is not root and is_out(element):
            found.append(element)
            walk.skip_subtree()
    for element in found:
        element.drop_tree()


def _is_never_text(element: Element) -> bool:
    if not isinstance(element.tag, str):
        return True
    hidden = element.get("hidden") is not None or _HIDDEN.search(element.get("style") or "") is not None
    return element.tag in _NEVER or hidden


def _may_be_furniture(element: Element) -> bool:
    if element.tag in _AT_EDGE:
        return True
    names = f"{element.get('id') or ''} {element.get('class') or ''} {element.get('role') or ''}"
    return element.tag not in ("body", "html") and _FURNITURE.search(names) is not None


def _remove_links(root: Element) -> None:
    """Take out elements whose words are links for the most part: menus, breadcrumbs, lists of other pages."""
    own: dict[Element, list[int]] = {}
    for element in reversed(list(root.iter())):  # what is inside comes first
        is_link = element.tag == "a" and element.get("href") is not None
        words = len("".join((element.text or "").split()))
        counts = own.setdefault(element, [0, 0, 0])  # words, words in links, links
        counts[0] += words
        if is_link:
            counts[1:] = [counts[0], 1]
        parent = element.getparent()
        if element is not root and parent is not None:
            above = own.setdefault(parent, [0, 0, 0])
            for place, count in enumerate(counts):
                above[place] += count
            above[0] += len("".join((element.tail or "").split()))
    is_list = {e: c[2] >= 2 and c[1] >= (_TRAIL if _is_trail(e) else _LINKED) * c[0]
               for e, c in own.items() if e.tag in _HOLDERS}
    _remove(root, lambda element: is_list.get(element, False))


def _is_trail(element: Element) -> bool:
    """Tell whether marks like those of 首页 > 通知 stand between the links."""
    return any((link.tail or "").strip() in (">", ">>", "»", "›", "->", "→") for link in element.iter("a"))


def _length(element: Element) -> int:
    return sum(len("".join(text.split())) for text in element.itertext())
