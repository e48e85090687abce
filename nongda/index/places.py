"""Where a piece of text stands, and where its clauses end."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Of folded text: a comma or colon between digits ends nothing, 、 joins.
CLAUSE_BREAK = re.compile(r"(?<!\d)[,:]|[,:](?!\d)|[;。!?\n]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece of text stands: its chunk, its span there, the headings above it, the nearest first.

    `headings` ends with the title. `crops` are those of the nearest heading that names any.
    """

    chunk_id: str
    start: int
    end: int
    headings: tuple[str, ...]
    crops: tuple[str, ...]
