"""What of a passage is quoted: its sentences, list items and table rows, and the headings and header above them."""

from __future__ import annotations

import re

from nongda.language.text import has_words, sentence_spans
from nongda.records import BlockKind

_MAX_HEADING = 20  # characters
_NO_HEADING = re.compile(r"[。！？!?；;：:，,|]|^\s*(?:\d+[.、)）]|[-*•（(])")


def piece_spans(text: str, kind: BlockKind) -> list[tuple[int, int]]:
    """Return (start, end) of each sentence, list item or table row, in order; headings and headers are none.

    Where a passage holds nothing but headings, they are its pieces.
    """
    if kind == "table":
        return _row_spans(text)
    spans = [(a, b) for a, b in sentence_spans(text) if has_words(text[a:b])]
    return [(a, b) for a, b in spans if not _is_heading(text, a, b)] or spans


def heading_above(text: str, start: int) -> str:
    """Return the nearest heading inside a passage above a piece, or ""."""
    inner = [text[a:b] for a, b in sentence_spans(text[:start] + "\n") if _is_heading(text, a, b)]
    return inner[-1] if inner else ""


def header_above(text: str, start: int) -> list[str]:
    """Return the names of the columns above a table row; none where the table has no header."""
    before = text[:start].splitlines()
    rules = [i for i, line in enumerate(before) if is_rule(line)]
    return cells_of(before[rules[0] - 1]) if rules and rules[0] else []


def cells_of(row: str) -> list[str]:
    """Return the cells of a table row."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def is_rule(line: str) -> bool:
    """Tell whether a line is the rule under a table's header."""
    stripped = line.strip()
    return stripped.startswith("|") and "-" in stripped and not set(stripped) - set("|-: ")


def _is_heading(text: str, start: int, end: int) -> bool:
    """A short line of its own without punctuation or list mark: the heading of a section that joined this chunk."""
    alone = text[:start].rstrip(" ").endswith("\n") or not text[:start].strip()
    ends = text[end:].lstrip(" ").startswith("\n")
    return alone and ends and end - start <= _MAX_HEADING and not _NO_HEADING.search(text[start:end])


def _row_spans(text: str) -> list[tuple[int, int]]:
    rows: list[tuple[int, int]] = []
    position = 0
    lines = text.splitlines(keepends=True)
    header_done = not any(is_rule(line) for line in lines)
    for line in lines:
        start, position = position, position + len(line)
        row = line.strip()
        if is_rule(line):
            header_done = True
        elif header_done and has_words(row):
            offset = start + line.index(row)
            rows.append((offset, offset + len(row)))
    return rows
