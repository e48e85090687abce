"""Headings and blocks in reading order become blocks that carry their heading path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nongda.documents.lines import WEAK_LEVEL, numbered_heading
from nongda.intake import Block


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as a parser found it; a smaller level is further out. `numbered`: known by its number."""

    level: int
    text: str
    page: int | None = None
    numbered: bool = False


Item = Heading | Block
_MAX_HEADING = 200  # characters


def assemble(items: Sequence[Item], title: str) -> tuple[Block, ...]:
    """Give each block its heading path, outermost first, without the document's own title.

    A heading with nothing beneath it becomes a paragraph, so that no words are lost.
    """
    items = _unnumber_lists([_as_text(item) for item in items])
    blocks: list[Block] = []
    stack: list[Heading] = []
    for position, item in enumerate(items):
        if isinstance(item, Block):
            blocks.append(replace(item, heading=_path(stack, title)))
            continue
        while stack and stack[-1].level >= item.level:
            stack.pop()
        if _has_body(items, position):
            stack.append(item)
        elif item.text != title:
            blocks.append(Block(item.text, "paragraph", item.page, _path(stack, title)))
    return tuple(blocks)


def _as_text(item: Item) -> Item:
    """A heading stands over each passage below it: one as long as a paragraph is one."""
    is_long = isinstance(item, Heading) and len(item.text) > _MAX_HEADING
    return Block(item.text, "paragraph", item.page) if is_long else item


def first_heading(items: Sequence[Item], level: int | None = None) -> str:
    """Return the first heading (of that level) that may be a title: not a numbered section; else ""."""
    headings = (item for item in items if isinstance(item, Heading) and level in (None, item.level)
                and len(item.text) <= _MAX_HEADING)
    return next((heading.text for heading in headings if numbered_heading(heading.text) is None), "")


def _path(stack: Sequence[Heading], title: str) -> tuple[str, ...]:
    path = tuple(heading.text for heading in stack)
    return path[1:] if path and path[0] == title else path


def _has_body(items: Sequence[Item], position: int) -> bool:
    heading = items[position]
    following = items[position + 1] if position + 1 < len(items) else None
    if isinstance(following, Heading):
        return isinstance(heading, Heading) and following.level > heading.level
    return following is not None


def _unnumber_lists(items: Sequence[Item]) -> list[Item]:
    """Numbered short lines that follow each other without any text between them are a list."""
    result: list[Item] = []
    position = 0
    while position < len(items):
        item = items[position]
        run = [item]
        while position + len(run) < len(items) and _is_sibling(item, items[position + len(run)]):
            run.append(items[position + len(run)])
        headings = [heading for heading in run if isinstance(heading, Heading)]
        enough = 2 if headings and headings[0].level >= WEAK_LEVEL else 3
        if len(headings) >= enough and headings[0].numbered:
            result.append(Block("\n".join(h.text for h in headings), "list", headings[0].page))
        else:
            result.extend(run)
        position += len(run)
    return result


def _is_sibling(item: Item, other: Item) -> bool:
    return (
        isinstance(item, Heading) and isinstance(other, Heading)
        and item.numbered and other.numbered and item.level == other.level
    )
