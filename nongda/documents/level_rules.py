"""Tables with level rules alone, such as three-line tables: the gaps of the text between the rules tell the columns."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from nongda.documents.page_lines import Line, Segment, Table, lines_of, parts
from nongda.documents.text_grid import TextGrid, text_grid

_LONG = 60.0  # points; shorter rules underline words or a few columns
_SAME_ENDS = 8.0  # points by which the rules of a table may differ
_SPREAD = 4.0  # points by which text may stand out beside its rules
_HEADER_LINES = 4
_PROSE = 15  # characters in every column: two columns of text between the rules of a page
_WHOLE = 0.8  # of the width of the rules: a line of text that no gap parts


@dataclass(frozen=True, slots=True)
class _Zone:
    top: float
    bottom: float
    lines: list[Line]


def level_tables(lines: Sequence[Line], rules: Sequence[Segment]) -> tuple[list[Table], list[Line]]:
    """Return the tables between level rules, and the lines outside of them."""
    tables: list[Table] = []
    rest = list(lines)
    for stack in _stacks(rules):
        left, right = min(s.left for s in stack), max(s.right for s in stack)
        for run in _runs(_zones(stack, rest), right - left):
            grid = _grid(run)
            if grid is None:
                continue
            tables.append(_table(grid, run, left, right))
            rest = _without(rest, run, left, right)
    return tables, rest


def _stacks(rules: Sequence[Segment]) -> list[list[Segment]]:
    """Return the groups of long rules that begin and end alike, each from the top down."""
    stacks: list[list[Segment]] = []
    for rule in sorted(rules, key=lambda s: -s.bottom):
        if rule.right - rule.left < _LONG:
            continue
        stack = next((s for s in stacks if abs(s[0].left - rule.left) < _SAME_ENDS
                      and abs(s[0].right - rule.right) < _SAME_ENDS), None)
        if stack is None:
            stacks.append([rule])
        elif stack[-1].bottom - rule.bottom > _SPREAD:  # a double rule is one
            stack.append(rule)
    return [stack for stack in stacks if len(stack) > 1]


def _is_inside(part: Line, left: float, right: float, bottom: float, top: float) -> bool:
    middle = (part.bottom + part.top) / 2
    return part.upright and bottom < middle < top and left - _SPREAD <= part.left and part.right <= right + _SPREAD


def _zones(stack: Sequence[Segment], lines: Sequence[Line]) -> list[_Zone]:
    left, right = min(s.left for s in stack), max(s.right for s in stack)
    zones = []
    for upper, lower in zip(stack, stack[1:], strict=False):
        inside = [part for line in lines for part in parts(line)
                  if _is_inside(part, left, right, lower.bottom, upper.bottom)]
        crossing = any(line.left < left - _SPREAD < right + _SPREAD < line.right for line in lines
                       for line in parts(line) if lower.bottom < (line.bottom + line.top) / 2 < upper.bottom)
        zones.append(_Zone(upper.bottom, lower.bottom, [] if crossing else lines_of(inside)))
    return zones


def _runs(zones: Sequence[_Zone], width: float) -> list[list[_Zone]]:
    """Return the zones of each table: neighbours in which most lines have cells."""
    runs: list[list[_Zone]] = [[]]
    for zone in zones:
        if _has_cells(zone, width):
            runs[-1].append(zone)
        else:
            runs.append([])
    return [run for run in runs if sum(len(line.cells) > 1 for zone in run for line in zone.lines) > 1]


def _has_cells(zone: _Zone, width: float) -> bool:
    several = sum(len(line.cells) > 1 for line in zone.lines)
    whole = sum(len(line.cells) == 1 and line.right - line.left > _WHOLE * width for line in zone.lines)
    return several > 0 and whole <= 0.2 * len(zone.lines)


def _grid(run: Sequence[_Zone]) -> TextGrid | None:
    lines = [line for zone in run for line in zone.lines]
    header = len(run[0].lines) if len(run) > 1 and len(run[0].lines) <= _HEADER_LINES else None
    starts = [zone.top for zone in run[1:]]
    grid = text_grid(lines, header, starts)
    if grid is None or all(_is_prose(grid, column) for column in range(len(grid.columns))):
        return None
    return grid


def _is_prose(grid: TextGrid, column: int) -> bool:
    texts = [cell.text for cell in grid.cells if cell.column == column and cell.text]
    return bool(texts) and statistics.median(map(len, texts)) >= _PROSE


def _table(grid: TextGrid, run: Sequence[_Zone], left: float, right: float) -> Table:
    lines = [line for zone in run for line in zone.lines]
    inner = [(a[1] + b[0]) / 2 for a, b in zip(grid.columns, grid.columns[1:], strict=False)]
    return Table(grid.cells, grid.header_rows, (left, *inner, right), lines[0].page, left, right,
                 run[-1].bottom, run[0].top, min(line.confidence for line in lines), is_ruled=False)


def _without(lines: Sequence[Line], run: Sequence[_Zone], left: float, right: float) -> list[Line]:
    rest: list[Line] = []
    for line in lines:
        outside = [part for part in parts(line)
                   if not _is_inside(part, left, right, run[-1].bottom, run[0].top)]
        rest += [line] if len(outside) == len(line.cells) else outside
    return rest
