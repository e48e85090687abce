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
