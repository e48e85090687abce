"""Cells with spans as rows under one header: merged cells filled in, title rows and notes set apart.

Steps:
1. Rows and columns in which no cell with text begins go: they exist only because others are merged over them.
2. Title rows (one cell over the whole width, 单位：克/亩) part off as the caption, notes below as notes.
3. How many rows are the header is told by merged cells and by where the numbers begin.
4. The header rows are joined column by column, outer first; a bracket with the unit goes last, where it is looked for.
5. A cell merged downwards is repeated in each row. One merged to the right stands once: repeated it would double the words.
   A label of the first column typed once, with blanks below it, is repeated as if merged.
   A row that is one cell over the whole width names the rows below it, and becomes a first column.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nongda.documents.grid_header import Grid, header_depth, header_names, is_title_row, is_unit_line
from nongda.documents.grid_header import GridCell as GridCell
from nongda.documents.lines import ends_sentence, is_list_item
from nongda.documents.outline import Item
from nongda.documents.tables import table_text
from nongda.intake import Block

MAX_CELLS = 2_000_000  # of a grid with its empty places
_MAX_CAPTION = 90  # characters
_MAX_GROUP = 30
_MAX_LABEL = 200  # characters; what is longer says more than what a row is called
_MOST_REPEATED = 100_000  # characters that one merged cell may grow to
_CAPTION = re.compile(r"附?表|续表")
_NOTE = re.compile(r"(?:附?注|备注|说明|(?:资料|数据)来源)\s*\d*[:：.、]|[*＊※]")
_NO_LABEL = re.compile(r"[\d.\s、（）()%-]+$|[合总小]\s*计")  # a running number names only its own row
_CLOSES = re.compile(r"[，。；：、！？（《“,;:!?(\s]")
_OPENS = re.compile(r"[，。；：、！？（）《》“”,;:!?()]")


@dataclass(frozen=True, slots=True)
class GridTable:
    """A table: the title rows above it, its rows (the first is the header), the notes below it."""

    titles: tuple[str, ...]
    rows: list[list[str]]
    notes: tuple[str, ...]

    @property
    def caption(self) -> str:
        """The short title rows as one line that reads as a table's caption; "" where there are none."""
        return as_caption(" ".join(self._short()))

    @property
    def lead(self) -> list[str]:
        """The title rows that are too much for a caption."""
        short = self._short()
        return [title for title in self.titles if title not in short]

    def _short(self) -> list[str]:
        short: list[str] = []
        for title in self.titles:
            if len(" ".join([*short, title])) <= _MAX_CAPTION:
                short.append(title)
        return short


def as_caption(text: str) -> str:
    """Return a title in the form by which chunks know a caption: it begins with 表 or ends with a colon."""
    is_caption = not text or _CAPTION.match(text) or text.endswith(("：", ":"))
    return text if is_caption else f"表 {text}"


def captioned(items: Sequence[Item]) -> list[Item]:
    """Join a line that states a table's unit to the caption above it, so that both stay with the table."""
    found: list[Item] = []
    for item in items:
        unit = found[-1] if found else None
        is_table = isinstance(item, Block) and item.kind == "table"
        if is_table and isinstance(unit, Block) and unit.kind == "paragraph" and is_unit_line(unit.text):
            found.pop()
            above = found[-1] if found else None
            if isinstance(above, Block) and above.kind == "paragraph" and as_caption(above.text) == above.text \
                    and len(above.text) + len(unit.text) < _MAX_CAPTION:
                found[-1] = replace(above, text=f"{above.text} {unit.text}")
            else:
                found.append(replace(unit, text=as_caption(unit.text)))
        found.append(item)
    return found


def grid_rows(cells: Sequence[GridCell], header_rows: int | None = None) -> list[list[str]]:
    """Return the rows of a table without title rows; the first is its header, joined of `header_rows` rows.

    None: the number of header rows is told by the cells.
    """
    return _rows(_grid(cells), header_rows)


def read_grid(cells: Sequence[GridCell], header_rows: int | None = None) -> GridTable:
    """Return a table with its title rows and notes apart; `header_rows` counts from the first row, titles included."""
    grid = _grid(cells)
    titles: list[str] = []
    taken = 0
    while len(grid) > 1 and is_title_row(grid):
        titles.append(" ".join(dict.fromkeys(flowing(cell.text) for cell in grid[0] if cell and cell.text.strip())))
        grid = grid[1:]
        taken += 1
    if header_rows is not None:
        header_rows = max(1, header_rows - taken)
    notes: list[str] = []
    while len(grid) > 1 and (note := _note(grid)):
        notes.insert(0, note)
        grid = grid[:-1]
    return GridTable(tuple(titles), _rows(grid, header_rows), tuple(notes))


def grid_blocks(cells: Sequence[GridCell], header_rows: int | None = None, page: int | None = None,
                confidence: float = 1.0, title: str = "") -> list[Block]:
    """Return a table as blocks: long title rows, the caption (`title` first), the table, its notes.

    A single column is text in a frame, and so is a single row.
    """
    seen = [cell for cell in cells if cell.text.strip()]
    if len({cell.column for cell in seen}) <= 1 or len({cell.row for cell in seen}) <= 1:
        texts = [title, *(cell.text for cell in sorted(seen, key=lambda c: (c.row, c.column)))]
        return [_line(line, page, confidence) for text in texts for line in _lines(text)]
    table = read_grid(cells, header_rows)
    table = replace(table, titles=(title, *table.titles)) if title else table
    if len(table.rows) < 2:
        texts = [*table.titles, *(text for row in table.rows for text in row), *table.notes]
        return [_line(text, page, confidence) for text in dict.fromkeys(texts) if text]
    parts = [Block(text, "paragraph", page, confidence=confidence) for text in (*table.lead, table.caption) if text]
    parts.append(Block(table_text(table.rows), "table", page, confidence=confidence))
    return parts + [Block(note, "paragraph", page, confidence=confidence) for note in table.notes]


def _lines(text: str) -> list[str]:
    return [line for part in text.split("\n") if (line := part.strip())]


def _line(text: str, page: int | None, confidence: float) -> Block:
    return Block(text, "list" if is_list_item(text) else "paragraph", page, confidence=confidence)


def flowing(text: str) -> str:
    """Return the lines of a cell as one; lines of a cell are often items, so that a space parts them."""
    if "\n" not in text:
        return text.strip()
    parts: list[str] = []
    for line in filter(None, (part.strip() for part in text.split("\n"))):
        if parts and not _CLOSES.match(parts[-1][-1]) and not _OPENS.match(line):
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def _grid(cells: Sequence[GridCell]) -> Grid:
    """Return which cell covers each place; None where none does."""
    placed = list(_placed([cell for cell in cells if cell.text.strip()]))
    height = max((cell.row for cell in placed), default=-1) + 1
    width = max((cell.column for cell in placed), default=-1) + 1
    height = min(height, MAX_CELLS // max(1, width))
    grid: Grid = [[None] * width for _ in range(height)]
    for cell in placed:
        if cell.row < height:
            grid[cell.row][cell.column] = cell
    for cell in placed:
        for row in grid[cell.row : cell.row + cell.rows]:
            for column in range(cell.column, min(width, cell.column + cell.columns)):
                if row[column] is None:  # of cells that overlap the first counts
                    row[column] = cell
    return grid


def _placed(cells: Sequence[GridCell]) -> Iterator[GridCell]:
    """Yield the cells numbered anew by the rows and columns in which a cell begins, in reading order."""
    rows = sorted({cell.row for cell in cells})
    columns = sorted({cell.column for cell in cells})
    row_numbers = {row: number for number, row in enumerate(rows)}
    column_numbers = {column: number for number, column in enumerate(columns)}
    for cell in sorted(cells, key=lambda c: (c.row, c.column)):
        row, column = row_numbers[cell.row], column_numbers[cell.column]
        below = bisect_left(rows, cell.row + cell.rows) - row if cell.rows > 1 else 1
        below = 1 if below * len(cell.text) > _MOST_REPEATED else below
        right = bisect_left(columns, cell.column + cell.columns) - column if cell.columns > 1 else 1
        yield GridCell(cell.text, row, column, max(1, below), max(1, right))


def _note(grid: Grid) -> str:
    """Return the last row where it is a note: one cell that says so, or a sentence over the whole width."""
    cells = {id(cell): cell for cell in grid[-1] if cell is not None}
    if len(cells) != 1:
        return ""
    cell = next(iter(cells.values()))
    if any(other is cell for other in grid[-2]):
        return ""
    text = flowing(cell.text)
    is_whole = cell.columns == len(grid[0]) > 1 and (ends_sentence(text) or len(text) > _MAX_GROUP)
    is_first = grid[-1][0] is cell
    return text if is_first and (is_whole or _NOTE.match(text) or is_unit_line(text)) else ""


def _rows(grid: Grid, header_rows: int | None) -> list[list[str]]:
    if not grid:
        return []
    depth = header_depth(grid, header_rows)
    header = [_texts(row) for row in grid[:depth]]
    rows: list[list[str]] = []
    groups: list[str] = []
    group = ""
    for number in range(depth, len(grid)):
        texts = _texts(grid[number])
        if found := _group(grid, number):
            group = found
        elif texts not in header:  # a header repeated for each printed page
            rows.append(texts)
            groups.append(group)
    names = header_names(grid[:depth])
    _repeat_labels(rows)
    if any(groups):
        names, rows = ["", *names], [[name, *row] for name, row in zip(groups, rows, strict=True)]
    return [names, *rows]


def _texts(row: Sequence[GridCell | None]) -> list[str]:
    """Return a row's texts: a cell merged to the right once, one merged downwards in each row."""
    return ["" if cell is None or (column and row[column - 1] is cell) else flowing(cell.text)
            for column, cell in enumerate(row)]


def _repeat_labels(rows: list[list[str]]) -> None:
    """Write a label of the first column that was typed once into the rows that it holds for."""
    label = ""
    for row in rows:
        if row[0]:
            label = "" if _NO_LABEL.match(row[0]) or len(row[0]) > _MAX_LABEL else row[0]
        elif sum(map(bool, row)) >= min(2, len(row) - 1):
            row[0] = label


def _group(grid: Grid, number: int) -> str:
    """Return the text of a row that names those below it: one short cell over the whole width."""
    cell = grid[number][0]
    is_whole = cell is not None and len(grid[0]) > 1 and all(other is cell for other in grid[number])
    if cell is None or not is_whole or number + 1 >= len(grid):
        return ""
    text = flowing(cell.text)
    following = grid[number + 1]
    has_rows = len({id(other) for other in following if other is not None}) > 1
    return text if has_rows and len(text) <= _MAX_GROUP and not ends_sentence(text) else ""
