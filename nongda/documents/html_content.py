"""Which part of a web page is its text: scripts, navigation, forms, footers and lists of links are taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
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
_PATH = frozenset([">", ">>", "»", "›", "->", "→"])
_HOLDERS = frozenset(["div", "ul", "ol", "dl", "table", "tr", "td", "p", "section", "center", "span", "font", "h6"])


@dataclass(slots=True)
class _Words:
    """What stands in an element: characters of words, those of them in links, links, marks of a path between links."""

    all: int = 0
    linked: int = 0
    links: int = 0
    marks: int = 0


def content_of(page: Element) -> Element:
    """Return the element with the text of a page, what is not text taken out of it."""
    article = page.get_element_by_id("js_content", None)  # a page saved from WeChat
    root = article if article is not None else _body(page)
    _remove(root, _is_never_text)
    words = _counted(root)
    _remove(root, lambda e: _may_be_furniture(e) and words[e].all <= _MOST * words[root].all)
    words = _counted(root)
    _remove(root, lambda e: e.tag in _HOLDERS and _is_list_of_links(words[e]))
    return root


def _body(page: Element) -> Element:
    body = page.find("body")
    root = body if body is not None else page
    words = _counted(root)
    for tag in ("article", "main"):
        found = list(root.iter(tag))
        if len(found) == 1 and words[found[0]].all > _MOST * words[root].all:
            return found[0]
    return root


def _counted(root: Element) -> dict[Element, _Words]:
    """Count the words of every element in one pass, what is inside first."""
    counted: dict[Element, _Words] = {}
    for element in reversed(list(root.iter())):
        words = counted.setdefault(element, _Words())
        if not isinstance(element.tag, str):
            continue
        words.all += len("".join((element.text or "").split()))
        if element.tag == "a" and element.get("href") is not None:
            words.linked, words.links = words.all, 1
        parent = element.getparent()
        if element is root or parent is None:
            continue
        tail = "".join((element.tail or "").split())
        above = counted.setdefault(parent, _Words())
        above.all += words.all + len(tail)
        above.linked += words.linked
        above.links += words.links
        above.marks += words.marks + (words.links > 0 and tail in _PATH)
    return counted


def _is_list_of_links(words: _Words) -> bool:
    """Tell whether words are links for the most part: of menus, of the path to the page, of lists of other pages."""
    return words.links >= 2 and words.linked >= (_TRAIL if words.marks else _LINKED) * words.all


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
