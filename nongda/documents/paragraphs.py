"""Lines of a column become paragraphs and lists; a new one begins at an indent, a wide gap, after a short line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from nongda.documents.lines import ends_sentence, is_list_item, join_lines
from nongda.documents.page_lines import Line
from nongda.intake import Block

_INDENT = 1.2  # in font sizes; a Chinese paragraph is indented by two
_SHORT = 3.0  # in font sizes short of the right margin
_GAP = 1.6  # of the usual distance between lines


class Margins:
    """The edges of a column, to tell where its paragraphs begin and end."""

    def __init__(self, lines: Sequence[Line], pitch: float) -> None:
        self._left = min(line.left for line in lines)
        if len(lines) > 3:  # a stray mark in the margin does not move the text's edge
            self._left = float(Counter(round(line.left) for line in lines).most_common(1)[0][0])
        self._right = max(line.right for line in lines)
        self._pitch = pitch
        # Quoted text is narrower on both sides: lines with the same left edge have their own right edge.
        edges: dict[int, list[float]] = {}
        for line in (line for line in lines if not is_list_item(line.text)):
            edges.setdefault(round(line.left), []).append(line.right)
        self._rights = {left: max(rights) for left, rights in edges.items() if len(rights) > 1}

    def starts(self, paragraph: Sequence[Line], line: Line) -> bool:
        """Tell whether a line begins a new paragraph after the lines gathered so far."""
        if not paragraph:
            return True
        last = paragraph[-1]
        if (
            self._is_short(last)
            or (self._pitch > 0 and last.bottom - line.bottom > _GAP * max(self._pitch, line.size))
            or abs(line.size - last.size) > 0.12 * last.size
        ):
            return True
        item = next((entry for entry in reversed(paragraph) if is_list_item(entry.text)), None)
        if item is not None and line.left > item.left + 0.5 * line.size:
            return False  # a hanging indent continues the item
        is_indented = line.left > self._left + _INDENT * line.size
        return is_indented and (line.left > last.left + 0.5 * line.size or ends_sentence(last.text))

    def stands_alone(self, paragraph: Sequence[Line], line: Line) -> bool:
        """Tell whether a line is a short one with a paragraph's or a sentence's end before it."""
        begins = self.starts(paragraph, line) or ends_sentence(paragraph[-1].text)
        return begins and line.right < self._right - _SHORT * line.size

    def _is_short(self, line: Line) -> bool:
        right = self._right if is_list_item(line.text) else self._rights.get(round(line.left), self._right)
        ragged = 0.1 * (right - self._left) if line.text[-1:].isascii() else 0.0
        return line.right < right - _SHORT * line.size - ragged


def blocks(lines: Sequence[Line]) -> Iterator[Block]:
    """Yield a paragraph, or a list where item numbers begin its lines, or both."""
    first_item = next((i for i, line in enumerate(lines) if is_list_item(line.text)), len(lines))
    if first_item:
        yield Block("\n".join(line.text for line in lines[:first_item]), "paragraph", lines[0].page,
                    confidence=_least(lines[:first_item]))
    entries: list[list[str]] = []
    for line in lines[first_item:]:
        if is_list_item(line.text):
            entries.append([])
        entries[-1].append(line.text)
    if entries:
        yield Block("\n".join(join_lines(entry) for entry in entries), "list", lines[first_item].page,
                    confidence=_least(lines[first_item:]))


def _least(lines: Sequence[Line]) -> float:
    return min(line.confidence for line in lines)
