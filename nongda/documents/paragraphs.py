"""Lines of a column become paragraphs and lists; a new one begins at an indent, a wide gap, after a short line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nongda.documents.lines import ends_sentence, is_list_item, join_lines
from nongda.documents.page_lines import Line
from nongda.intake import Block

_INDENT = 1.2  # in font sizes; a Chinese paragraph is indented by two
_SHORT = 3.0  # in font sizes short of the right margin
_SAME_EDGE = 0.3  # in font sizes
_FIRST_LINE = 3.2  # in font sizes: indents of first lines stay under it
_FEW = 0.2  # of the lines of the most common edge
_GAP = 1.6  # of the usual distance between lines


class Margins:
    """The edges of a column, to tell where its paragraphs begin and end."""

    def __init__(self, lines: Sequence[Line], pitch: float) -> None:
        self._pitch = pitch
        self._right = max(line.right for line in lines)
        # Quoted text is narrower on both sides: lines with the same left edge have their own right edge.
        self._edges = _edges(lines)
        most = max(len(edge) for edge in self._edges)
        # A stray mark in the margin does not move the text's edge, nor do first lines that are as many as the others.
        self._main = next(edge for edge in self._edges if len(edge) > _FEW * most or len(lines) < 4)
        self._left = self._main[0].left
        indented = [line for line in lines if self._left < line.left < self._left + _FIRST_LINE * line.size]
        self._main_right = max(line.right for line in [*self._main, *indented])

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
        right = self._right_of(line)
        ragged = 0.1 * (right - self._left) if line.text[-1:].isascii() else 0.0
        return line.right < right - _SHORT * line.size - ragged

    def _right_of(self, line: Line) -> float:
        """Return the right edge of the lines that begin as this one does."""
        if is_list_item(line.text):
            return self._right
        edge = next(edge for edge in self._edges if line.left <= edge[-1].left)
        if edge is self._main:
            return self._main_right
        rights = [other.right for other in edge if not is_list_item(other.text)]
        return max(rights) if len(rights) > 1 else self._right


def _edges(lines: Sequence[Line]) -> list[list[Line]]:
    """Group lines by their left edge, from the left; recognition gives edges that differ a little."""
    edges: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.left):
        if edges and line.left - edges[-1][-1].left < _SAME_EDGE * line.size:
            edges[-1].append(line)
        else:
            edges.append([line])
    return edges


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
