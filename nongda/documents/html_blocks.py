"""Elements of a web page as headings, paragraphs, lists and tables in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from nongda.documents.flow import grouped, line_block, outlined
from nongda.documents.grid_header import GridCell
from nongda.documents.grids import as_caption, grid_blocks
from nongda.documents.lines import is_list_item, join_lines
from nongda.documents.outline import Heading, Item
from nongda.documents.raised import raised
from nongda.intake import Block

Element = Any  # lxml is untyped

_BLOCKS = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr html legend li main ol p pre section summary table tbody td tfoot th thead tr ul caption".split())
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_MAX_HEADING = 60  # characters; a longer one is a paragraph made large
_MAX_CELL = 400  # characters; a longer cell is a part of the page
_MAX_SPAN = 1000  # as HTML has it
_SOURCE_BREAK = "\v"  # a line end of the file, which shows as a space
_SPACE = re.compile(r"[ \t\f\r\xa0]+")


def html_items(root: Element) -> list[Item]:
    """Return headings and blocks; numbers make headings only where the page has none below its title."""
    return outlined(list(grouped(_Reader().items(root))), below=1)


class _Reader:
    """Walks a tree without recursion: pages with hundreds of elements left open are common."""

    def __init__(self, in_cell: bool = False) -> None:
        self._in_cell = in_cell
        self._words: list[str] = []
        self._level = 0
        self._marker = ""
        self._counters: list[int | None] = []  # one per open list; None where it has bullets
        self._in_item = 0
        self._in_pre = 0

    def items(self, root: Element) -> Iterator[Item]:
        """Yield what the elements say."""
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                if element.tag == "table" and not self._in_cell and (cells := _data_cells(element)):
                    yield from self._flush()
                    yield from _table(element, cells)
                    walk.skip_subtree()
                elif element.tag == "sup" and len(element) == 0:
                    self._add(raised(element.text or ""))
                    walk.skip_subtree()
                else:
                    yield from self._open(element)
            else:
                yield from self._close(element)
                if element is not root:
                    self._add(element.tail)
        yield from self._flush()

    def _open(self, element: Element) -> Iterator[Item]:
        tag = element.tag
        if tag in _BLOCKS:
            yield from self._flush()
        if tag in _LEVELS:
            self._level = _LEVELS[tag]
        elif tag in ("ul", "ol"):
            start = element.get("start") or "1"
            self._counters.append((int(start) if start.isdigit() else 1) if tag == "ol" else None)
        elif tag == "li":
            self._begin_item()
        elif tag == "pre":
            self._in_pre += 1
        elif tag == "br":
            self._words.append("\n")
        self._add(element.text)

    def _begin_item(self) -> None:
        counter = self._counters[-1] if self._counters else None
        self._marker = "- " if counter is None else f"{counter}. "
        if counter is not None:
            self._counters[-1] = counter + 1
        self._in_item += 1

    def _close(self, element: Element) -> Iterator[Item]:
        tag = element.tag
        if tag in ("td", "th"):
            self._words.append(" ")
        if tag in _BLOCKS:
            yield from self._flush()
        if tag in _LEVELS:
            self._level = 0
        elif tag in ("ul", "ol") and self._counters:
            self._counters.pop()
        elif tag == "li":
            self._in_item, self._marker = self._in_item - 1, ""
        elif tag == "pre":
            self._in_pre -= 1

    def _add(self, text: str | None) -> None:
        if text:
            self._words.append(text if self._in_pre else text.replace("\n", _SOURCE_BREAK))

    def _flush(self) -> Iterator[Item]:
        lines = ("".join(self._words)).split("\n")
        self._words = []
        texts = [text for line in lines
                 if (text := join_lines([_SPACE.sub(" ", part) for part in line.split(_SOURCE_BREAK)]))]
        if not texts:
            return
        if self._level and len(joined := join_lines(texts)) <= _MAX_HEADING:
            yield Heading(self._level, joined)
            return
        if self._in_item:
            yield Block(_without_double(self._marker, join_lines(texts)), "list")
            self._marker = ""
            return
        yield from map(line_block, texts)


def _without_double(marker: str, text: str) -> str:
    """A list item that was given a number by hand keeps that one alone."""
    return text if is_list_item(text) else marker + text


def _table(element: Element, cells: list[GridCell]) -> Iterator[Item]:
    caption = next(element.iterchildren("caption"), None)
    if caption is not None and (text := join_lines(_cell_text(caption).split("\n"))):
        yield Block(as_caption(text))
    head = [all(cell.tag == "th" for cell in _row_cells(row)) or row.getparent().tag == "thead" for row in _rows(element)]
    depth = head.index(False) if False in head else 0
    yield from grid_blocks(cells, depth or None)


def _data_cells(table: Element) -> list[GridCell]:
    """Return the cells of a table of data; none where the table only lays out the page."""
    if any(next(table.iterdescendants(tag), None) is not None for tag in ("table", "h1", "h2", "h3")):
        return []
    cells = list(_cells(table))
    filled = [cell for cell in cells if cell.text]
    if len({cell.column for cell in filled}) < 2 or len({cell.row for cell in cells}) < 2:
        return []
    is_marked = next(table.iterdescendants("th"), None) is not None or (table.get("border") or "0") not in ("0", "")
    longest = max(len(cell.text) for cell in filled)
    return [] if longest > _MAX_CELL * (5 if is_marked else 1) else cells


def _cells(table: Element) -> Iterator[GridCell]:
    taken: dict[int, int] = {}  # by column: the first row in which it is free again
    rows = _rows(table)
    for number, row in enumerate(rows):
        column = 0
        for cell in _row_cells(row):
            while taken.get(column, 0) > number:
                column += 1
            if column >= _MAX_SPAN:
                break
            across = min(_MAX_SPAN, max(1, _span(cell.get("colspan"))))
            down = min(len(rows) - number, _span(cell.get("rowspan")) or len(rows))  # 0: down to the last row
            yield GridCell(_cell_text(cell), number, column, down, across)
            taken.update(dict.fromkeys(range(column, column + across), number + down))
            column += across


def _rows(table: Element) -> list[Element]:
    """Return the rows, those of the foot last, wherever they stand in the file."""
    return sorted(table.iterdescendants("tr"), key=lambda row: bool(row.getparent().tag == "tfoot"))


def _row_cells(row: Element) -> list[Element]:
    return [cell for cell in row if cell.tag in ("td", "th")]


def _span(value: str | None) -> int:
    text = (value or "1").strip()
    return int(text) if text.isdecimal() and len(text) < 6 else 1


def _cell_text(cell: Element) -> str:
    return "\n".join(item.text for item in _Reader(in_cell=True).items(cell))
