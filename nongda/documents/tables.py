"""Rows of cells as Markdown table text, the form in which all tables are stored and quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_BARRIER = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"\s*[<>≤≥约±+\-－]?\s*\d")
_SENTENCE = re.compile(r"[^。；！？;!?]*[。；！？;!?]+|[^。；！？;!?]+$")
_MOST_LABELS = 3  # columns at the left that name a row
_LONGEST_SENTENCE = 1500  # characters
_LONG_CELL = 100  # characters; a shorter one is never cut


def table_text(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first row is the header. Empty rows and empty columns are left out."""
    columns = max((len(row) for row in rows), default=0)
    cells = [[_cell(row[c]) if c < len(row) else "" for c in range(columns)] for row in rows]
    cells = [row for row in cells if any(row)]
    used = [c for c in range(columns) if any(row[c] for row in cells)]
    if not cells:
        return ""
    lines = [_line([row[c] for c in used]) for row in cells]
    return "\n".join([lines[0], "|" + "---|" * len(used), *lines[1:]])


def slice_table(text: str, title: str, whole: int, limit: int) -> list[str]:
    """Return the table under its title line, whole up to `whole` characters, else in slices of `limit`.

    Title and header stand at the top of every slice. A header that would fill half a slice parts the table by columns too,
    each part with the columns that name the rows. A row over the limit goes on in further rows, its long cells parted at
    sentence ends and the short ones repeated; a row without such cells is not cut, so that it may pass the limit.
    """
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if line.startswith("|")), 0)
    body = first + (2 if len(lines) > first + 1 and set(lines[first + 1]) <= set("|-: ") else 1)
    above = ([title] if title else []) + lines[:first]
    if len("\n".join(above + lines[first:])) <= whole or body >= len(lines):
        return ["\n".join(above + lines[first:])]
    slices: list[str] = []
    for header, rows in _narrowed(*_with_short_names(lines[first:body], lines[body:], limit // 2), limit // 2):
        slices.extend(_sliced([*above, *header], rows, limit))
    return slices


def _with_short_names(header: list[str], rows: list[str], limit: int) -> tuple[list[str], list[str]]:
    """Cut names that are over the limit, which every slice would repeat; the whole ones then stand in the first row."""
    names, most = _cells(header[0]), max(limit, _LONG_CELL)
    if max(map(len, names), default=0) <= most:
        return header, rows
    short = [name if len(name) <= most else name[:_LONG_CELL] + "…" for name in names]
    return [_line(short), *header[1:]], [header[0], *rows]


def _sliced(head: list[str], rows: Sequence[str], limit: int) -> Iterator[str]:
    """Yield the head with as many of the rows as the limit lets in, again and again."""
    height = len("\n".join(head))
    taken: list[str] = []
    length = height
    for row in (part for whole in rows for part in _parted(whole, limit - height)):
        if taken and length + 1 + len(row) > limit:
            yield "\n".join([*head, *taken])
            taken, length = [], height
        taken.append(row)
        length += 1 + len(row)
    yield "\n".join([*head, *taken])


def _narrowed(header: list[str], rows: list[str], limit: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (header, rows) of the table, or of several groups of its columns where its header is over the limit."""
    names = _cells(header[0])
    if len(header[0]) <= limit or len(names) < 3:
        yield header, rows
        return
    cells = [_cells(row) for row in rows]
    labels = _labels(cells, len(names))
    room = limit - len(_line(names[:labels]))
    group: list[int] = []
    for column in [*range(labels, len(names)), None]:
        width = sum(len(names[c]) + 3 for c in group) + (len(names[column]) + 3 if column is not None else 0)
        if group and (column is None or width > room):
            kept = [*range(labels), *group]
            is_first = group[0] == labels
            chosen = [_line([row[c] if c < len(row) else "" for c in kept]) for row in cells
                      if any(row[c] for c in group if c < len(row)) or (is_first and not any(row[labels:]))]
            yield [_line([names[c] for c in kept]), "|" + "---|" * len(kept)], chosen
            group = []
        if column is not None:
            group.append(column)


def _labels(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return how many columns at the left name a row: those of words before the first of numbers."""
    for column in range(1, min(_MOST_LABELS, width - 1)):
        values = [row[column] for row in rows if column < len(row) and row[column]]
        if sum(bool(_NUMBER.match(value)) for value in values) * 2 >= len(values):
            return column
    return 1 if width <= _MOST_LABELS else _MOST_LABELS


def _parted(row: str, room: int) -> Iterator[str]:
    """Yield a row, or the rows that it becomes where it is over the room and has long cells."""
    cells = _cells(row)
    long = [c for c, cell in enumerate(cells) if len(cell) > _LONG_CELL]
    if len(row) <= room or not long:
        yield row
        return
    short = len(row) - sum(len(cells[c]) for c in long)
    budget = max(_LONG_CELL, (room - short) // len(long))
    pieces = {c: _pieces(cells[c], budget) for c in long}
    for number in range(max(map(len, pieces.values()))):
        yield _line([(pieces[c][number] if number < len(pieces[c]) else "") if c in pieces else cell
                     for c, cell in enumerate(cells)])


def _pieces(text: str, budget: int) -> list[str]:
    """Part a text at sentence ends into pieces within the budget; a longer sentence stays whole, text without any stop not."""
    pieces: list[str] = []
    for sentence in _shorter(_SENTENCE.findall(text), budget):
        if pieces and len(pieces[-1]) + len(sentence) <= budget:
            pieces[-1] += sentence
        else:
            pieces.append(sentence)
    return [piece.strip() for piece in pieces]


def _shorter(sentences: Sequence[str], budget: int) -> Iterator[str]:
    for sentence in sentences:
        step = len(sentence) if len(sentence) <= _LONGEST_SENTENCE else budget
        yield from (sentence[start:start + step] for start in range(0, len(sentence), step))


def _cells(line: str) -> list[str]:
    """Return the cells of a table line, their `\\|` as written."""
    return [cell.strip() for cell in _BARRIER.split(line.strip())[1:-1]]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
