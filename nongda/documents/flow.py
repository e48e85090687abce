"""What the parsers of written documents share: lines as blocks, list items as one list, numbers as headings, a title line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from nongda.documents.lines import ends_sentence, is_list_item, numbered_heading
from nongda.documents.outline import Heading, Item, first_heading
from nongda.intake import Block

_MAX_TITLE = 40  # characters


def line_block(text: str) -> Block:
    """Return a line that stands for itself as a paragraph or a list item."""
    return Block(text, "list" if is_list_item(text) and numbered_heading(text) is None else "paragraph")


def grouped(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, list items that follow each other as one block."""
    run: list[str] = []
    for item in items:
        if isinstance(item, Block) and item.kind == "list":
            run.append(item.text)
            continue
        if run:
            yield Block("\n".join(run), "list")
            run = []
        yield item
    if run:
        yield Block("\n".join(run), "list")


def outlined(items: Sequence[Item], below: int = 0) -> list[Item]:
    """Return the items with numbered lines as headings, unless there are headings beneath level `below` already."""
    if any(isinstance(item, Heading) and item.level > below for item in items):
        return list(items)
    return [_as_heading(item) for item in items]


def titled(items: Sequence[Item]) -> tuple[str, list[Item]]:
    """Return the title and the items without the line that was it: a heading, or a short first line without a stop."""
    heading = first_heading(items, 0) or first_heading(items, 1)
    if heading or not items:
        return heading, list(items)
    first = items[0]
    is_title = (
        isinstance(first, Block) and first.kind == "paragraph" and 1 < len(first.text) <= _MAX_TITLE and len(items) > 1
        and not ends_sentence(first.text) and not re.search(r"[，,、。；]", first.text)
    )
    return (first.text, list(items[1:])) if is_title else (first_heading(items), list(items))


def _as_heading(item: Item) -> Item:
    found = numbered_heading(item.text) if isinstance(item, Block) and item.kind == "paragraph" else None
    return item if found is None else Heading(*found, numbered=True)
