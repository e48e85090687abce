"""Tables of a Word document as cells with spans; a table inside a cell is a table of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from nongda.documents.docx_text import W, is_seen, number, paragraph_text
from nongda.documents.grids import GridCell, flowing

_MAX_LABEL = 30  # characters of a cell that names the table inside its neighbour


@dataclass(slots=True)
class WordTable:
    """A table: `frames` are its cell elements in order, `nested` the tables inside, each with the row it stands in."""

    cells: list[GridCell] = field(default_factory=list)
    frames: list[Any] = field(default_factory=list)
    nested: list[tuple[int, Any]] = field(default_factory=list)
    header_rows: int | None = None

    @property
    def is_frame(self) -> bool:
        """Whether it only frames text: a single column."""
        return len({cell.column for cell in self.cells}) <= 1

    def label(self, row: int) -> str:
        """The first short cell of a row: what names the table inside its neighbour; "" where there is none."""
        texts = (flowing(cell.text) for cell in self.cells if cell.row == row)
        return next((text for text in texts if 0 < len(text) <= _MAX_LABEL), "")


def read_table(table: Any) -> WordTable:  # noqa: ANN401 - python-docx is untyped
    """Return a table's cells; rows and cells that were deleted with changes tracked are left out."""
    found = WordTable()
    open_cells: dict[int, int] = {}  # column: number of the cell that goes on downwards
    marked = True
    rows = [row for row in _own(table, W + "tr", W + "tbl") if row.find(f"{W}trPr/{W}del") is None]
    for row_number, row in enumerate(rows):
        open_cells = _read_row(row, row_number, found, open_cells)
        marked = marked and row.find(f"{W}trPr/{W}tblHeader") is not None
        if marked:
            found.header_rows = row_number + 1
    return found


def _read_row(row: Any, row_number: int, found: WordTable, open_cells: dict[int, int]) -> dict[int, int]:  # noqa: ANN401
    column = number(row.find(f"{W}trPr/{W}gridBefore"), 0)
    going_on: dict[int, int] = {}
    for cell in _own(row, W + "tc", W + "tr"):
        span = max(1, number(cell.find(f"{W}tcPr/{W}gridSpan"), 1))
        above = open_cells.get(column)
        if _goes_on(cell, "hMerge") and found.cells and found.cells[-1].row == row_number:
            found.cells[-1] = replace(found.cells[-1], columns=found.cells[-1].columns + span)
        elif _goes_on(cell, "vMerge") and above is not None:
            found.cells[above] = replace(found.cells[above], rows=row_number - found.cells[above].row + 1)
            going_on[column] = above
        else:
            if cell.find(f"{W}tcPr/{W}vMerge") is not None:
                going_on[column] = len(found.cells)
            text = "" if cell.find(f"{W}tcPr/{W}cellDel") is not None else _cell_text(cell, found, row_number)
            found.cells.append(GridCell(text, row_number, column, 1, span))
            found.frames.append(cell)
        column += span
    return going_on


def _goes_on(cell: Any, kind: str) -> bool:  # noqa: ANN401
    merge = cell.find(f"{W}tcPr/{W}{kind}")
    return merge is not None and merge.get(W + "val", "continue") == "continue"


def _cell_text(cell: Any, found: WordTable, row: int) -> str:  # noqa: ANN401
    """Return the words of a cell, its paragraphs as lines; a small table inside is words, a larger one stands apart."""
    lines: list[str] = []
    for element in cell.iter(W + "p", W + "tbl"):
        if next(element.iterancestors(W + "tc")) is not cell or not is_seen(element, cell):
            continue
        if element.tag == W + "p":
            lines.append(paragraph_text(element))
            continue
        inner = read_table(element)
        rows = sorted({c.row for c in inner.cells})
        if inner.is_frame or len(rows) < 2:
            lines.extend(" ".join(flowing(c.text) for c in inner.cells if c.row == number) for number in rows)
        else:
            found.nested.append((row, element))
    return "\n".join(line.strip() for line in lines if line.strip())


def _own(parent: Any, tag: str, outer: str) -> Iterator[Any]:  # noqa: ANN401
    """Yield the rows of a table or the cells of a row, those inside content controls too, none of nested tables."""
    for element in parent.iter(tag):
        if next(element.iterancestors(outer)) is parent and is_seen(element, parent):
            yield element
