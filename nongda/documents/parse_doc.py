"""Word 97 to 2003 (.doc) and WPS Writer (.wps): headings, paragraphs, lists and tables in document order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from nongda.documents.doc_binary import DocParagraph, read_doc
from nongda.documents.flow import grouped, line_block, outlined, titled
from nongda.documents.grid_header import GridCell
from nongda.documents.grids import grid_blocks
from nongda.documents.lines import is_list_item, join_lines
from nongda.documents.outline import Heading, Item, assemble
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

_SAME_EDGE = 30  # twentieths of a point; edges nearer than that are drawn as one line
_MAX_HEADING = 80  # characters; a longer one is a paragraph with the wrong style


def parse_doc(data: bytes, name: str) -> ParsedDocument:
    """Parse a Word or WPS document in the binary format. Raises DocumentError where it is encrypted or too old."""
    items = outlined(list(grouped(_items(read_doc(data, name)))))
    title, items = titled(items)
    title = title or PurePath(name).stem
    return ParsedDocument(DocumentMeta(title=title), assemble(items, title))


def _items(paragraphs: Sequence[DocParagraph]) -> Iterator[Item]:
    rows: list[list[DocParagraph]] = []  # the cells of each row, then what ends the row
    cells: list[DocParagraph] = []
    words: list[str] = []
    for paragraph in paragraphs:
        if paragraph.ends_row:
            rows.append([*cells, paragraph])
            cells, words = [], []
        elif paragraph.ends_cell:
            cells.append(replace(paragraph, text="\n".join(filter(None, [*words, paragraph.text]))))
            words = []
        elif cells or paragraph.in_table:
            words.append(paragraph.text)
        else:
            yield from _table(rows)
            rows = []
            yield from _paragraph(paragraph)
    yield from _table(rows)
    yield from (line_block(text) for cell in cells for text in cell.text.split("\n") if text)


def _paragraph(paragraph: DocParagraph) -> Iterator[Item]:
    text = join_lines(paragraph.text.split("\n"))
    if paragraph.level is not None and 0 < len(text) <= _MAX_HEADING:
        yield Heading(paragraph.level, text)
    elif paragraph.listed and text:
        yield Block(text if is_list_item(text) else f"- {text}", "list")
    else:
        yield from (line_block(line) for part in paragraph.text.split("\n") if (line := part.strip()))


def _table(rows: Sequence[Sequence[DocParagraph]]) -> Iterator[Block]:
    """Yield a table; cells lie by their edges where every row tells them, else one beside the other."""
    known = all(len(row[-1].cells) == len(row) - 1 for row in rows)
    edges = _edges([edge for row in rows for cell in row[-1].cells for edge in (cell.left, cell.right)]) if known else []
    found: list[GridCell] = []
    above: dict[int, int] = {}  # by column: which cell stands there
    for number, row in enumerate(rows):
        for place, cell in enumerate(row[:-1]):
            form = row[-1].cells[place] if known else None
            column = bisect_left(edges, form.left - _SAME_EDGE) if form else place
            right = bisect_left(edges, form.right - _SAME_EDGE) if form else place + 1
            if form and form.below and column in above:
                upper = found[above[column]]
                found[above[column]] = replace(upper, rows=number - upper.row + 1)
            elif form and form.merged and place and row[-1].cells[place - 1].merged and not cell.text:
                found[-1] = replace(found[-1], columns=max(1, right - found[-1].column))
            else:
                above[column] = len(found)
                found.append(GridCell(cell.text, number, column, 1, max(1, right - column)))
    if any(cell.text for cell in found):
        yield from grid_blocks(found)


def _edges(places: Sequence[int]) -> list[int]:
    """Return the places of the lines between columns from left to right."""
    edges: list[int] = []
    for place in sorted(set(places)):
        if not edges or place - edges[-1] > _SAME_EDGE:
            edges.append(place)
    return edges
