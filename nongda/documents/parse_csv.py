"""Tables as text (.csv, .tsv): any encoding, any separator that Chinese offices use."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from nongda.documents.encoding import decode_warned
from nongda.documents.grids import GridCell
from nongda.documents.outline import assemble
from nongda.documents.sheets import MAX_CELLS, MAX_COLUMNS, MAX_ROWS, limit_warning, sheet_blocks, sheet_title
from nongda.intake import ParsedDocument
from nongda.records import DocumentMeta

_SEPARATORS = ("\t", ",", ";", "|", "，", "；")  # on a draw the first wins
_STATED = re.compile(r"sep=(.)\n", re.IGNORECASE)  # Excel's own first line
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_AS_TEXT = re.compile(r'^="(.*)"$')  # by which programs keep Excel from dropping the zeros of a number
_SAMPLE = 200  # lines looked at to tell the separator
_MOST_LINES = 200  # in one quoted cell; more, and a quotation mark was left open
_FIELD_LIMIT = 10 * 2**20
_MORE, _NOTHING = ["…"], [""]  # all that is kept of rows beyond the limit


def parse_csv(data: bytes, name: str) -> ParsedDocument:
    """Parse a table of text. Raises DocumentError where the bytes are no text."""
    text, warnings = decode_warned(data, name)
    stated = _STATED.match(text)
    text = text[stated.end():] if stated else text
    separator = stated[1] if stated else separator_of(text)
    cells: list[GridCell] = []
    last = kept = 0
    too_wide = False
    for number, row in enumerate(_rows(text, separator)):
        too_wide = too_wide or any(map(str.strip, row[MAX_COLUMNS:]))
        row = [_AS_TEXT.sub(r"\1", cell.strip()) for cell in row[:MAX_COLUMNS]]
        if not any(row):
            continue
        last = number + 1
        if kept or number >= MAX_ROWS or len(cells) + len(row) > MAX_CELLS:
            kept = kept or number
            continue
        cells.extend(GridCell(cell, number, column) for column, cell in enumerate(row) if cell)
    if kept:
        warnings = (*warnings, limit_warning("", last, kept))
    if too_wide:
        warnings = (*warnings, f"文件“{name}”太宽：第 {MAX_COLUMNS} 列以后没有读取；请拆成几份后再添加")
    title = sheet_title(cells) or PurePath(name).stem
    return ParsedDocument(DocumentMeta(title=title), assemble(sheet_blocks(cells), title), warnings=warnings)


def separator_of(text: str) -> str:
    """Return what parts the cells: the character that most lines have equally often, outside of quotation marks."""
    lines = [line for line in _QUOTED.sub("x", text[: 200 * _SAMPLE]).split("\n")[:_SAMPLE] if line.strip()]
    best, best_share = ",", 0.0
    for separator in _SEPARATORS:
        counts = Counter(count for line in lines if (count := line.count(separator)))
        if not counts:
            continue
        # A title or a note has none, and a ragged row fewer; sentences have commas too, but each line its own number.
        share = max(n for _, n in counts.most_common(1)) / len(lines)
        if share > best_share + 1e-9:
            best, best_share = separator, share
    return best


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    usual = csv.field_size_limit(_FIELD_LIMIT)
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    rows: list[list[str]] = []
    try:
        for row in csv.reader((line + "\n" for line in lines), delimiter=separator, skipinitialspace=True):
            if any(cell.count("\n") > _MOST_LINES for cell in row):
                raise csv.Error("a quotation mark was left open")
            rows.append(row if len(rows) < MAX_ROWS else _MORE if any(map(str.strip, row)) else _NOTHING)
    except csv.Error:
        rows = [[cell.strip().strip('"') for cell in line.split(separator)] for line in lines[:MAX_ROWS]]
        rows += [_MORE if line.strip() else _NOTHING for line in lines[MAX_ROWS:]]
    finally:
        csv.field_size_limit(usual)  # it holds for the whole program
    yield from rows
