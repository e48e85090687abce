"""Cleaning as the paper does it: what belongs to the page and not to the text goes, broken text is mended.

Steps, repeated until nothing changes (a removed header may uncover another):
1. Characters: controls and zero-width ones away, radicals and compatibility forms to plain characters.
2. White space folded, empty lines away.
3. Page furniture away: page numbers, headers, footers and watermarks.
4. Broken lines of a paragraph joined, and paragraphs torn over a page break.

Digits, units and all other words stay as the document has them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nongda.documents.lines import ends_sentence, is_list_item, join_lines
from nongda.intake import Block, ParsedDocument

# Radicals that fonts of PDF files put in place of characters and that Unicode's NFKC leaves alone.
_RADICALS = str.maketrans(
    "⺠⺬⺮⺳⺶⺼⻁⻄⻅⻆⻇⻉⻋⻓⻔⻗⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻪⻬⻮⻰",
    "民示竹网羊肉虎西见角角贝车长门雨青韦页风飞食马骨鬼鱼鸟卤麦黄黾齐齿龙",
)
_COMPATIBILITY = re.compile("[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufb06\U0002f800-\U0002fa1f]")
_LINE_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SELECTOR = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef\ufffd]")
_SPACE = re.compile(r"[^\S\n]+")
_SYMBOL_BULLET = re.compile("^[\ue000-\uf8ff]\\s*")  # of a symbol font: it has no character of its own
_PAGE_NUMBER = re.compile(
    r"第\s*\d{1,4}\s*页(?:\s*[,，/]?\s*[(（]?共\s*\d{1,4}\s*页[)）]?)?|共\s*\d{1,4}\s*页\s*[,，/]?\s*第\s*\d{1,4}\s*页|"
    r"[-—–―－]+\s*\d{1,4}\s*[-—–―－]+|[·•]\s*\d{1,4}\s*[·•]"
)
_EDGE_PAGE_NUMBER = re.compile(
    r"\d{1,4}\s*/\s*\d{1,4}|page\s*\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?", re.IGNORECASE)
_WATERMARK = re.compile(
    r"内部资料|内部使用|仅供|严禁|翻印|外传|机密|秘密|绝密|草稿|送审稿|征求意见稿|样张|水印|版权|扫描全能王|"
    r"draft|confidential|watermark|sample", re.IGNORECASE)
_UNIT = re.compile(r"(?:^|[（(\s])(?:计量)?单位\s*[:：]")
_MAX_WATERMARK = 20  # characters
_MANY_PAGES = 0.4  # left and right pages may carry different headers
_MOST_PAGES = 0.6
_TORN = 40  # characters; a shorter paragraph without a stop is a caption or a label


@dataclass(frozen=True, slots=True)
class _PageLine:
    text: str
    page: int
    is_edge: bool
    interrupts: bool  # the line before it breaks off in the middle of a sentence


def clean(document: ParsedDocument) -> ParsedDocument:
    """Return the document with page furniture removed and broken text mended; twice is as once."""
    blocks = document.blocks
    while True:
        cleaned = _clean_once(blocks, document.pages, document.printed)
        if cleaned == blocks:
            meta = replace(document.meta, title=_clean_line(document.meta.title))
            return replace(document, meta=meta, blocks=blocks)
        blocks = cleaned


def clean_characters(text: str) -> str:
    """Return the text without control and zero-width characters, radicals as plain characters."""
    text = _SELECTOR.sub("", _LINE_BREAK.sub("\n", text)).replace("\u00ad\n", "-\n").translate(_RADICALS)
    text = _COMPATIBILITY.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def _clean_once(blocks: Sequence[Block], pages: int | None, printed: bool) -> tuple[Block, ...]:
    folded = [
        replace(block, text=_fold_space(clean_characters(block.text)),
                heading=tuple(filter(None, map(_clean_line, block.heading))))
        for block in blocks
    ]
    filled = [block for block in folded if block.text]
    stripped = _without_furniture(filled, pages) if printed else filled
    joined = [
        replace(block, text=join_lines(block.text.split("\n"))) if block.kind == "paragraph" else block
        for block in stripped
    ]
    return tuple(_mend_page_breaks(joined))


def _clean_line(text: str) -> str:
    return join_lines(_fold_space(clean_characters(text)).split("\n"))


def _fold_space(text: str) -> str:
    lines = (_SYMBOL_BULLET.sub("- ", _SPACE.sub(" ", line).strip()).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _without_furniture(blocks: Sequence[Block], pages: int | None) -> Iterator[Block]:
    furniture = _furniture(blocks, pages)
    edges = _edges(blocks)
    for number, block in enumerate(blocks):
        if block.kind == "table":
            yield block
            continue
        lines = block.text.split("\n")
        kept = [line for position, line in enumerate(lines)
                if not _PAGE_NUMBER.fullmatch(line)
                and (block.page, line, (number, position) in edges) not in furniture]
        if kept:
            yield block if len(kept) == len(lines) else replace(block, text="\n".join(kept))


def _furniture(blocks: Sequence[Block], pages: int | None) -> set[tuple[int | None, str, bool]]:
    """Return what to remove as (page, line, is edge): repeated headers and footers, numbers, watermarks."""
    lines = list(_page_lines(blocks))
    copies = _copies(blocks)
    total = max(pages or 0, len({line.page for line in lines})) - len(copies)
    repeated: Counter[object] = Counter()
    for key in {(key, line.page) for line in lines if line.is_edge and line.page not in copies for key in _keys(line)}:
        repeated[key[0]] += 1
    marks = {(line.text, line.page) for line in lines if line.page not in copies and _may_be_watermark(line)}
    watermarks = Counter(text for text, _ in marks)
    found: set[tuple[int | None, str, bool]] = set()
    for line in lines:
        is_header = any(repeated[key] >= max(2, _MANY_PAGES * total) for key in _keys(line))
        is_number = _EDGE_PAGE_NUMBER.fullmatch(line.text) is not None or line.text == str(line.page)
        if line.is_edge and (is_header or is_number):
            found.add((line.page, line.text, True))
        if watermarks[line.text] >= max(2, _MOST_PAGES * total):
            found.update({(line.page, line.text, True), (line.page, line.text, False)})
    return found


def _copies(blocks: Sequence[Block]) -> set[int]:
    """Return the pages that say no more than an earlier one: a leaflet set twice on a sheet is no furniture."""
    texts: dict[int, list[str]] = {}
    for block in blocks:
        if block.page is not None:
            texts.setdefault(block.page, []).append(block.text)
    first: dict[tuple[str, ...], int] = {}
    return {page for page, parts in texts.items() if first.setdefault(tuple(parts), page) != page}


def _edges(blocks: Sequence[Block]) -> set[tuple[int, int]]:
    """Return (block, line) of the first and the last line of every page."""
    places: dict[int, list[tuple[int, int]]] = {}
    for number, block in enumerate(blocks):
        if block.page is not None:
            places.setdefault(block.page, []).extend((number, i) for i in range(block.text.count("\n") + 1))
    return {edge for place in places.values() for edge in (place[0], place[-1])}


def _page_lines(blocks: Sequence[Block]) -> Iterator[_PageLine]:
    edges = _edges(blocks)
    before: tuple[int, str] | None = None
    for number, block in enumerate(blocks):
        if block.page is None:
            continue
        for position, line in enumerate(block.text.split("\n")):
            interrupts = (before is not None and before[0] == block.page
                          and len(before[1]) >= 10 and not ends_sentence(before[1]))
            if block.kind != "table":
                yield _PageLine(line, block.page, (number, position) in edges, interrupts)
            before = (block.page, line)


def _keys(line: _PageLine) -> Iterator[tuple[str, int | None]]:
    """Yield what a header or footer is compared by: its words, and its words with a running page number."""
    if ends_sentence(line.text) or _UNIT.search(line.text):  # a warning or a table's unit is content, however often it stands
        return
    if any(c.isalpha() for c in line.text):
        yield line.text, None
    for match in (re.match(r"\d{1,4}(?!\d)", line.text), re.search(r"(?<!\d)\d{1,4}$", line.text)):
        if match:
            yield line.text[:match.start()] + "#" + line.text[match.end():], int(match[0]) - line.page


def _may_be_watermark(line: _PageLine) -> bool:
    if len(line.text) > _MAX_WATERMARK or ends_sentence(line.text):
        return False
    return line.interrupts or _WATERMARK.search(line.text) is not None


def _mend_page_breaks(blocks: Sequence[Block]) -> list[Block]:
    mended: list[Block] = []
    for block in blocks:
        if mended and _is_torn(mended[-1], block):
            mended[-1] = replace(mended[-1], text=join_lines([mended[-1].text, block.text]))
        else:
            mended.append(block)
    return mended


def _is_torn(first: Block, second: Block) -> bool:
    """Tell whether a paragraph goes on over a page break; both parts are long or end the sentence."""
    return (
        first.kind == second.kind == "paragraph" and first.heading == second.heading
        and first.page is not None and second.page is not None and first.page < second.page
        and len(first.text) >= _TORN and not ends_sentence(first.text)
        and (len(second.text) >= _TORN or ends_sentence(second.text))
        and not is_list_item(second.text)
    )
