"""Pages with tables in every shape that offices print, and what must be found.

Run as a script (text, embedded, scans; -v) it prints how many cells were found.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pdf_world import HEIGHT, WIDTH, Sheet, embedded_pdf_of, pdf_of, picture_of
from table_world import CLIMATE, DOSES, FERTILISER, UP, VARIETIES, WEEDS, TableCase, cells_recovered

from nongda.documents.ocr import PageReader
from nongda.documents.parse import parse_bytes
from nongda.documents.pdf_layout import layout
from nongda.documents.scan_lines import read_page
from nongda.evaluation.scans import SCAN, spoil
from nongda.intake import Block

PROSE = ("小麦赤霉病在抽穗扬花期遇连阴雨时容易流行，各地要抓住齐穗至扬花初期这一关键时期，见花打药，主动预防。"
         "第一次用药后隔五到七天，根据天气和病情再防治一次。\n"
         "喷药要选择上午露水干后或者傍晚进行，田间要喷匀喷透，亩用水量不少于三十公斤。施药后六小时内遇雨应当补喷。\n"
         "收获后要及时晾晒，剔除病粒，防止毒素积累，影响食用和饲用安全。")
SPACING = [("茬口", "播种量", "适宜播期", "备注"), ("稻茬", "15", "10月25日前后", 
            "板茬播种要开好田间沟系，做到三沟配套，雨后能排水降渍，防止烂种烂芽"),
           ("旱茬", "12", "10月10日至20日", "秸秆粉碎还田后要镇压，防止土壤悬松引起吊苗死苗"), 
           ("晚茬", "18", "11月上旬", "增加播种量，以密补晚")]


@dataclass(frozen=True)
class PageCase:
    name: str
    sheets: tuple[Sheet, ...]
    tables: tuple[Sequence[Sequence[str]], ...]  # in reading order
    captions: tuple[str, ...] = ()


def _table_page(case: TableCase, widths: Sequence[float], style: str, turn: int = 0, **options: float) -> Sheet:
    sheet = Sheet(turn=turn)
    y = sheet.prose(60, 780, 470, PROSE) - 10
    if case.caption:
        sheet.centred(60 + sum(widths) / 2, y, case.caption)
    y = sheet.table(case.layout, 60, y - 10, widths, style, case.header_rows, **options)
    sheet.prose(60, y - 30, 470, PROSE)
    return sheet


def _one(name: str, case: TableCase, widths: Sequence[float], style: str, **options: float) -> PageCase:
    return PageCase(name, (_table_page(case, widths, style, **options),), (case.rows,), (case.caption,))


def _continued(name: str, style: str, merged: bool) -> PageCase:
    """A table over three pages with headers, page numbers, and the table's header on each page."""
    header = ("作物", "病虫", "药剂", "亩用量")
    crops = ("水稻", "小麦", "玉米")
    rows = [(crops[n // 20], f"病虫{n}号", f"{n + 5}%药剂可湿性粉剂", f"{n * 3 + 10}克") for n in range(60)]
    sheets = []
    for page, start in enumerate((0, 25, 50)):
        sheet = Sheet()
        sheet.text(60, 800, "某县植保站病虫防治手册", 9)
        sheet.rule(60, 795, 535, 795)
        sheet.centred(WIDTH / 2, 40, f"第 {page + 1} 页", 9)
        y = sheet.prose(60, 770, 470, PROSE) if page == 0 else 780
        if page == 0:
            sheet.centred(WIDTH / 2, y, "表5 主要作物病虫用药一览")
        elif page == 1:
            sheet.centred(WIDTH / 2, y, "续表5")
        chosen = rows[start:start + 25]
        layout = [header] + [
            (UP if merged and n and row[0] == chosen[n - 1][0] else row[0], *row[1:]) for n, row in enumerate(chosen)]
        if merged and page and chosen[0][0] == rows[start - 1][0]:
            layout[1] = ("", *layout[1][1:])
            layout = [layout[0], layout[1], *layout[2:]]
        y = sheet.table(layout, 60, y - 10, (80, 110, 180, 90), style)
        if page == 2:
            sheet.prose(60, y - 30, 470, PROSE)
        sheets.append(sheet)
    return PageCase(name, tuple(sheets), ([header, *rows],), ("表5 主要作物病虫用药一览",))


def _side_by_side() -> PageCase:
    sheet = Sheet()
    y = sheet.prose(60, 780, 470, PROSE) - 10
    small = [row[:3] for row in FERTILISER.layout], [row[1:4] for row in FERTILISER.layout]
    sheet.text(60, y, "表1 左表")
    sheet.text(310, y, "表2 右表")
    sheet.table(small[0], 60, y - 10, (70, 70, 80))
    y = sheet.table(small[1], 310, y - 10, (70, 80, 70))
    sheet.prose(60, y - 30, 470, PROSE)
    return PageCase("two side by side", (sheet,), small, ("表1 左表", "表2 右表"))


def _in_a_column(style: str) -> PageCase:
    sheet = Sheet()
    y = sheet.prose(60, 780, 220, PROSE) - 5
    layout = [row[:4] for row in FERTILISER.layout]
    sheet.text(60, y, "表2 分期施肥量")
    y = sheet.table(layout, 60, y - 8, (55, 45, 65, 50), style)
    sheet.prose(60, y - 25, 220, PROSE)
    sheet.prose(310, 780, 220, PROSE + "\n" + PROSE)
    return PageCase(f"{style} in the left of two columns", (sheet,), (layout,), ("表2 分期施肥量",))


def _across_columns() -> PageCase:
    sheet = Sheet()
    sheet.prose(60, 780, 220, PROSE)
    y = sheet.prose(310, 780, 220, PROSE) - 10
    sheet.centred(WIDTH / 2, y, DOSES.caption)
    y = sheet.table(DOSES.layout, 60, y - 8, (70, 160, 60, 60, 110), "ruled", 2) - 25
    sheet.prose(60, y, 220, PROSE)
    sheet.prose(310, y, 220, PROSE)
    return PageCase("ruled across two columns", (sheet,), (DOSES.rows,), (DOSES.caption,))


def _wrapped(style: str) -> PageCase:
    sheet = Sheet()
    y = sheet.prose(60, 780, 470, PROSE) - 10
    sheet.centred(WIDTH / 2, y, "表6 播种要求")
    y = sheet.table(SPACING, 60, y - 10, (60, 60, 110, 190), style)
    sheet.prose(60, y - 30, 470, PROSE)
    return PageCase(f"{style} with cells of several lines", (sheet,), (SPACING,), ("表6 播种要求",))


def _two_rows() -> PageCase:
    sheet = Sheet()
    y = sheet.prose(60, 780, 470, PROSE) - 10
    layout = (("氮", "磷", "钾"), ("12", "6", "8"))
    sheet.centred(180, y, "表7 亩施肥量（公斤）")
    y = sheet.table(layout, 60, y - 5, (80, 80, 80), "plain", pad=2)
    sheet.prose(60, y - 30, 470, PROSE)
    return PageCase("two rows under a caption", (sheet,), (layout,), ("表7 亩施肥量（公斤）",))


def _turned(quarter: int, rotate: int) -> PageCase:
    """A page whose content was turned counter-clockwise by quarters, and shown turned by /Rotate."""
    sheet = _table_page(DOSES, (70, 160, 60, 60, 110), "ruled")
    matrices = {0: (1, 0, 0, 1, 0, 0), 1: (0, 1, -1, 0, HEIGHT, 0), 2: (-1, 0, 0, -1, WIDTH, HEIGHT), 3: (0, -1, 1, 0, 0, WIDTH)}
    sheet.matrix, sheet.turn = matrices[quarter], rotate
    return PageCase(f"content turned {quarter * 90}, /Rotate {rotate}", (sheet,), (DOSES.rows,), (DOSES.caption,))


CASES = (
    _one("ruled, header of two rows", DOSES, (70, 160, 60, 60, 110), "ruled"),
    _one("ruled, merged labels", WEEDS, (60, 80, 150, 60, 100), "ruled"),
    _one("ruled, header of three rows", CLIMATE, (80, 60, 60, 60, 60, 100), "ruled"),
    _one("ruled, narrow columns", DOSES, (50, 70, 45, 45, 60), "ruled"),
    _one("three-line", FERTILISER, (80, 80, 80, 80, 140), "three-line"),
    _one("three-line, spanning header", VARIETIES, (80, 90, 90, 90, 90), "three-line", numbers_right=True),
    _one("three-line, header of three rows", CLIMATE, (80, 60, 60, 60, 60, 110), "three-line"),
    _wrapped("ruled"), _wrapped("rows"), _wrapped("three-line"), _wrapped("plain"),
    _one("plain", FERTILISER, (80, 80, 80, 80, 140), "plain", pad=2),
    _one("plain, numbers to the right", VARIETIES, (80, 90, 90, 90, 90), "plain", numbers_right=True, pad=2),
    _two_rows(),
    _continued("ruled over three pages", "ruled", merged=False),
    _continued("ruled over three pages, merged labels", "ruled", merged=True),
    _continued("three-line over three pages", "three-line", merged=False),
    _side_by_side(), _in_a_column("ruled"), _in_a_column("three-line"), _across_columns(),
    _turned(1, 0), _turned(1, 90), _turned(3, 270), _turned(2, 180), _turned(0, 90),
)


def found_in(case: PageCase, make: Callable[[Sequence[Sheet]], bytes] = pdf_of) -> tuple[int, int, list[str]]:
    """Return (cells right, cells expected, blocks of the document)."""
    blocks = parse_bytes(make(case.sheets), "手册.pdf").blocks
    tables = [block.text for block in blocks if block.kind == "table"]
    right = total = 0
    for number, rows in enumerate(case.tables):
        got, wanted = cells_recovered(rows, tables[number] if number < len(tables) else "")
        right, total = right + got, total + wanted
    return right, total, [f"{block.kind}: {block.text}" for block in blocks]


def found_in_scan(case: PageCase, reader: PageReader) -> tuple[int, int, list[str]]:
    """Print the first page, scan it badly, read it; forms of signs that differ only in width count as the same."""
    picture = spoil(picture_of(case.sheets[0]), SCAN, seed=1)
    page = read_page(reader, 1, lambda: picture)
    items = layout([page.lines], [page.segments])
    tables = [item.text for item in items if isinstance(item, Block) and item.kind == "table"]
    right = total = 0
    for number, rows in enumerate(case.tables):
        got, wanted = cells_recovered(rows, tables[number] if number < len(tables) else "",
                                      lambda text: unicodedata.normalize("NFKC", text))
        right, total = right + got, total + wanted
    return right, total, [item.text for item in items]


def _measure(arguments: Sequence[str]) -> None:
    reader = PageReader(2)
    ways = {"text": found_in, "embedded": lambda case: found_in(case, embedded_pdf_of),
            "scans": lambda case: found_in_scan(case, reader)}
    for way in [argument for argument in arguments if argument in ways] or ["text", "embedded"]:
        sums = [0, 0]
        for case in CASES if way != "scans" else [case for case in CASES if len(case.sheets) == 1]:
            found, expected, texts = ways[way](case)
            sums = [sums[0] + found, sums[1] + expected]
            sys.stdout.write(f"{way}: {found:4d} of {expected:4d}  {case.name}\n")
            if found < expected and "-v" in arguments:
                sys.stdout.write("\n".join([*texts, ""]))
        sys.stdout.write(f"{way}: {sums[0]} of {sums[1]} cells, {100 * sums[0] / sums[1]:.1f} %\n")


if __name__ == "__main__":
    _measure(sys.argv[1:])
