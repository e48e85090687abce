"""Tables as stations keep them, and how many cells of one a parser got right.

`layout` is the table as drawn, row by row: LEFT stands where a cell is merged with the one to its left, UP where it is
merged with the one above. `rows` is what must be found: one header, merged cells of a column repeated downwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

LEFT, UP = "←", "↑"


@dataclass(frozen=True)
class TableCase:
    name: str
    caption: str  # stands above the table, "" where none does
    layout: tuple[tuple[str, ...], ...]
    header_rows: int
    rows: tuple[tuple[str, ...], ...]


DOSES = TableCase(
    "doses with a header of two rows", "表1 水稻主要病虫害用药",
    (("防治对象", "药剂", "用量（克/亩）", LEFT, "安全间隔期（天）"),
     (UP, UP, "苗期", "穗期", UP),
     ("稻瘟病", "75%三环唑可湿性粉剂", "20", "25～30", "21"),
     (UP, "40%稻瘟灵乳油", "66.5", "80", "28"),
     ("纹枯病", "24%噻呋酰胺悬浮剂", "15", "20", "14"),
     ("稻飞虱", "25%吡蚜酮可湿性粉剂", "20", "24", "30")), 2,
    (("防治对象", "药剂", "用量 苗期（克/亩）", "用量 穗期（克/亩）", "安全间隔期（天）"),
     ("稻瘟病", "75%三环唑可湿性粉剂", "20", "25～30", "21"),
     ("稻瘟病", "40%稻瘟灵乳油", "66.5", "80", "28"),
     ("纹枯病", "24%噻呋酰胺悬浮剂", "15", "20", "14"),
     ("稻飞虱", "25%吡蚜酮可湿性粉剂", "20", "24", "30")))

FERTILISER = TableCase(
    "a fertiliser schedule by stage", "表2 冬小麦分期施肥量（单位：公斤/亩）",
    (("生育期", "尿素", "过磷酸钙", "氯化钾", "说明"),
     ("播种前", "12", "40", "8", "结合整地深施"),
     ("返青期", "0", "0", "0", "墒情好时不施"),
     ("拔节期", "10.5", "0", "4", "随灌水追施"),
     ("灌浆期", "1", "0", "0.2", "兑水50公斤叶面喷施")), 1,
    (("生育期", "尿素", "过磷酸钙", "氯化钾", "说明"),
     ("播种前", "12", "40", "8", "结合整地深施"),
     ("返青期", "0", "0", "0", "墒情好时不施"),
     ("拔节期", "10.5", "0", "4", "随灌水追施"),
     ("灌浆期", "1", "0", "0.2", "兑水50公斤叶面喷施")))

VARIETIES = TableCase(
    "varieties over two years, an empty cell among them", "表3 玉米品种比较",
    (("品种", "产量（公斤/亩）", LEFT, "生育期（天）", "倒伏率（%）"),
     (UP, "2022年", "2023年", UP, UP),
     ("甲玉1号", "612.4", "598", "101", "2.5"),
     ("甲玉2号", "655", "", "104", "0"),
     ("对照", "580.3", "571.6", "99", "6.1")), 2,
    (("品种", "产量 2022年（公斤/亩）", "产量 2023年（公斤/亩）", "生育期（天）", "倒伏率（%）"),
     ("甲玉1号", "612.4", "598", "101", "2.5"),
     ("甲玉2号", "655", "", "104", "0"),
     ("对照", "580.3", "571.6", "99", "6.1")))

WEEDS = TableCase(
    "a list of weeds with merged labels in two columns", "附表 麦田杂草防除",
    (("茬口", "杂草", "除草剂", "亩用量", "施药时期"),
     ("稻茬麦", "看麦娘", "15%炔草酯微乳剂", "20毫升", "杂草2～4叶期"),
     (UP, "日本看麦娘", UP, "30毫升", UP),
     (UP, "猪殃殃", "20%氯氟吡氧乙酸乳油", "50毫升", "返青后"),
     ("旱茬麦", "播娘蒿", "50克/升双氟磺草胺悬浮剂", "10毫升", UP),
     (UP, "荠菜", UP, UP, UP)), 1,
    (("茬口", "杂草", "除草剂", "亩用量", "施药时期"),
     ("稻茬麦", "看麦娘", "15%炔草酯微乳剂", "20毫升", "杂草2～4叶期"),
     ("稻茬麦", "日本看麦娘", "15%炔草酯微乳剂", "30毫升", "杂草2～4叶期"),
     ("稻茬麦", "猪殃殃", "20%氯氟吡氧乙酸乳油", "50毫升", "返青后"),
     ("旱茬麦", "播娘蒿", "50克/升双氟磺草胺悬浮剂", "10毫升", "返青后"),
     ("旱茬麦", "荠菜", "50克/升双氟磺草胺悬浮剂", "10毫升", "返青后")))

CLIMATE = TableCase(
    "a greenhouse table with a header of three rows", "表4 番茄温室管理指标",
    (("生长阶段", "温度（℃）", LEFT, LEFT, LEFT, "空气湿度（%）"),
     (UP, "白天", LEFT, "夜间", LEFT, UP),
     (UP, "最低", "最高", "最低", "最高", UP),
     ("育苗期", "22", "28", "13", "18", "60～70"),
     ("开花期", "20", "25", "15", "17", "50～60"),
     ("结果期", "24", "30", "13", "15", "45～60")), 3,
    (("生长阶段", "温度 白天 最低（℃）", "温度 白天 最高（℃）", "温度 夜间 最低（℃）", "温度 夜间 最高（℃）", "空气湿度（%）"),
     ("育苗期", "22", "28", "13", "18", "60～70"),
     ("开花期", "20", "25", "15", "17", "50～60"),
     ("结果期", "24", "30", "13", "15", "45～60")))

TABLES = (DOSES, FERTILISER, VARIETIES, WEEDS, CLIMATE)


def spans_of(layout: Sequence[Sequence[str]]) -> list[tuple[str, int, int, int, int]]:
    """Return (text, row, column, rows, columns) of each cell, merged cells once."""
    found = []
    for r, row in enumerate(layout):
        for c, text in enumerate(row):
            if text in (LEFT, UP):
                continue
            columns = next((n for n in range(1, len(row) - c) if row[c + n] != LEFT), len(row) - c)
            rows = next((n for n in range(1, len(layout) - r) if layout[r + n][c] != UP), len(layout) - r)
            found.append((text, r, c, rows, columns))
    return found


def cells_recovered(
    expected: Sequence[Sequence[str]], found: str, same: Callable[[str], str] = lambda text: text,
) -> tuple[int, int]:
    """Return (cells that are right, cells expected) for the Markdown table that a parser made.

    Rows and columns are lined up in order, so that a lost row or column costs no more than its own cells. White space does
    not count; what else shall not count, `same` maps away.
    """
    def key(text: str) -> str:
        return re.sub(r"\s", "", same(text))

    wanted = [[key(cell) for cell in row] for row in expected]
    got = [[key(cell) for cell in row] for row in _markdown_rows(found)]
    total = sum(map(len, wanted))
    shared = [[sum(cell in other for cell in row) for other in got] for row in wanted]
    pairs = _lined_up(shared)
    width, found_width = max(map(len, wanted), default=0), max(map(len, got), default=0)

    def equal(i: int, j: int, c: int, d: int) -> bool:
        return c < len(wanted[i]) and d < len(got[j]) and wanted[i][c] == got[j][d]

    weights = [[sum(equal(i, j, c, d) for i, j in pairs) for d in range(found_width)] for c in range(width)]
    return sum(weights[c][d] for c, d in _lined_up(weights)), total


def _markdown_rows(text: str) -> list[list[str]]:
    lines = [line.strip() for line in text.split("\n") if line.strip().startswith("|")]
    lines = [line for line in lines if set(line) - set("|-: ")]
    cut = (re.split(r"(?<!\\)\|", line)[1:-1] for line in lines)
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cut]


def _lined_up(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the pairs, both numbers rising, whose weights have the greatest sum."""
    n, m = len(weights), len(weights[0]) if weights else 0
    best = [[0] * (m + 1) for _ in range(n + 1)]
    for i in reversed(range(n)):
        for j in reversed(range(m)):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], weights[i][j] + best[i + 1][j + 1])
    pairs, i, j = [], 0, 0
    while i < n and j < m:
        if weights[i][j] and best[i][j] == weights[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
