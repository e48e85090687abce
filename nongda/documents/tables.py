"""Rows of cells as Markdown table text, the form in which all tables are stored and quoted."""

from __future__ import annotations

from collections.abc import Sequence


def table_text(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first row is the header. Empty rows and empty columns are left out."""
    columns = max((len(row) for row in rows), default=0)
    cells = [[_cell(row[c]) if c < len(row) else "" for c in range(columns)] for row in rows]
    cells = [row for row in cells if any(row)]
    used = [c for c in range(columns) if any(row[c] for row in cells)]
    if not cells:
        return ""
    lines = ["| " + " | ".join(row[c] for c in used) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "---|" * len(used), *lines[1:]])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def slice_table(text: str, title: str, whole: int, limit: int) -> list[str]:
    """Return the table under its title line, whole up to `whole` characters, else in slices of `limit`.

    Title and header stand at the top of every slice; no row is cut, so that one row may pass the limit.
    """
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if line.startswith("|")), 0)
    body = first + (2 if len(lines) > first + 1 and set(lines[first + 1]) <= set("|-: ") else 1)
    head = ([title] if title else []) + lines[:body]
    if len("\n".join(head + lines[body:])) <= whole or body >= len(lines):
        return ["\n".join(head + lines[body:])]
    slices: list[list[str]] = []
    length = 0
    for row in lines[body:]:
        if not slices or length + 1 + len(row) > limit:
            slices.append([*head])
            length = len("\n".join(head))
        slices[-1].append(row)
        length += 1 + len(row)
    return ["\n".join(rows) for rows in slices]
