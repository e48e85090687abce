"""A folder as a station has it: every format and encoding that is taken in, and what must be found in each file.

The figures are made up, one for each file, so that a file found is the right one.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import Path

import docx
import openpyxl
import pptx
from biff import merged, number_cell, text_cell, workbook
from pdf_world import HEIGHT, WIDTH, Sheet, embedded_pdf_of, pdf_of, picture_of
from PIL import Image
from table_world import DOSES, LEFT, UP, spans_of
from test_parse_doc import cell, doc_file, end_of_row, plain
from test_parse_rtf import HEAD, coded

CROPS = ("水稻 小麦 玉米 大豆 花生 油菜 棉花 甘薯 马铃薯 谷子 高粱 绿豆 芝麻 甘蔗 甜菜 烟草 茶树 桑树 苹果 梨树 桃树 葡萄 柑橘 香蕉 草莓 "
         "西瓜 甜瓜 番茄 茄子 辣椒 黄瓜 冬瓜 南瓜 大白菜 甘蓝 魔芋 胡萝卜 洋葱 大蒜 韭菜 芹菜 菠菜 莴笋 豇豆 菜豆 莲藕 山药 生姜").split()
RARE = "示范户有㐂山村的𠮷某。"  # characters of four bytes in GB18030


@dataclass(frozen=True)
class IntakeFile:
    """A file, the question that must find it, and words that must stand in the passages found."""

    name: str
    kind: str
    data: bytes
    question: str
    words: tuple[str, ...]


def sentence(crop: str, amount: int) -> str:
    return f"{crop}整地时每亩施腐熟有机肥{amount}公斤，然后深耕耙平，开好排水沟。"


Build = Callable[[str, str], bytes]  # title, sentence


def text(encoding: str, mark: bytes = b"", more: str = "") -> Build:
    return lambda title, said: mark + f"{title}\r\n\r\n{said}{more}\r\n".encode(encoding)


def front_matter(title: str, said: str) -> bytes:
    return f"---\ntitle: {title}\ndate: 2024-03-05\n---\n\n# {title}\n\n## 整地\n\n{said}\n".encode()


def csv_of(encoding: str, comma: str, mark: bytes = b"") -> Build:
    def build(title: str, said: str) -> bytes:
        rows = [["作物", "做法"], [title, said], *([f"说明{n}", "按当地习惯"] for n in range(3))]
        return mark + "".join(comma.join(f'"{c}"' for c in row) + "\r\n" for row in rows).encode(encoding)

    return build


def word(table: bool = False) -> Build:
    def build(title: str, said: str) -> bytes:
        document = docx.Document()
        document.add_heading(title, 1)
        document.add_heading("整地", 2)
        document.add_paragraph(said)
        if table:
            document.add_paragraph(DOSES.caption)
            grid = document.add_table(len(DOSES.layout), len(DOSES.layout[0]))
            for content, r, c, rows, columns in spans_of(DOSES.layout):
                grid.cell(r, c).merge(grid.cell(r + rows - 1, c + columns - 1)).text = content
        return _saved(document.save)

    return build


def excel(formula: bool = False) -> Build:
    def build(title: str, said: str) -> bytes:
        book = openpyxl.Workbook()
        book.active.title = "整地"
        for row in ([title], [said]):
            book.active.append(row)
        table = book.create_sheet("用药")
        for content, r, c, rows, columns in spans_of(DOSES.layout):
            table.cell(r + 1, c + 1, content)
            if rows > 1 or columns > 1:
                table.merge_cells(start_row=r + 1, end_row=r + rows, start_column=c + 1, end_column=c + columns)
        if formula:
            book.active["B9"] = "=1+1"
        return _saved(book.save)

    return build


def old_excel(title: str, said: str) -> bytes:
    records = [text_cell(0, 0, title), text_cell(1, 0, said)]
    cells, areas = [], []
    for content, r, c, rows, columns in spans_of(DOSES.layout):
        is_number = content.replace(".", "", 1).isdigit()
        cells.append(number_cell(r, c, float(content)) if is_number else text_cell(r, c, content))
        if rows > 1 or columns > 1:
            areas.append((r, r + rows - 1, c, c + columns - 1))
    return workbook({"整地": records, "用药": [*cells, merged(areas)]})


def slides(title: str, said: str) -> bytes:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = title
    slide.placeholders[1].text = said
    return _saved(show.save)


def page(encoding: str, table: bool = False, fragment: bool = False) -> Build:
    def build(title: str, said: str) -> bytes:
        body = f"<h1>{title}</h1><p>{said}</p>"
        if table:
            rows = "".join("<tr>" + "".join(
                f'<td rowspan="{rs}" colspan="{cs}">{content}</td>' for content, r, _, rs, cs in spans_of(DOSES.layout) if r == n)
                + "</tr>" for n in range(len(DOSES.layout)))
            body += f"<p>{DOSES.caption}</p><table>{rows}</table>"
        if fragment:
            return f"<table><tr><td>{title}</td></tr><tr><td>{said}</td></tr></table>".encode(encoding)
        menu = "".join(f'<li><a href="/{n}">栏目{n}</a></li>' for n in range(9))
        return (f'<!DOCTYPE html><html><head><meta charset="{encoding}"><title>{title}</title></head><body>'
                f"<nav><ul>{menu}</ul></nav>{body}<footer>版权所有</footer></body></html>").encode(encoding)

    return build


def archive(title: str, said: str) -> bytes:
    message = MIMEMultipart("related")
    message.attach(MIMEText(page("utf-8")(title, said).decode(), "html", "utf-8"))
    return message.as_bytes()


def rich(title: str, said: str) -> bytes:
    return (HEAD + rf"\pard\f0 {coded(title)}\par {coded(said)}\par" + "}").encode()


def old_word(table: bool = False) -> Build:
    def build(title: str, said: str) -> bytes:
        rows = [cell("药剂"), cell("用量（克/亩）"), end_of_row(), cell("三环唑"), cell("20"), end_of_row()] if table else []
        return doc_file([*plain(title, said), *rows, *plain("附注：以当地试验为准。")])

    return build


def sheet(title: str, said: str) -> Sheet:
    made = Sheet()
    made.centred(WIDTH / 2, HEIGHT - 80, title, 18)
    made.prose(72, HEIGHT - 120, WIDTH - 144, said)
    return made


def pdf(make: Callable[[str, str], Sequence[Sheet]], embedded: bool = False) -> Build:
    return lambda title, said: (embedded_pdf_of if embedded else pdf_of)(make(title, said))


def columns(title: str, said: str) -> list[Sheet]:
    made = Sheet()
    made.centred(WIDTH / 2, HEIGHT - 80, title, 18)
    filler = "播种前晒种一到两天，剔除秕粒和病粒，用清水漂洗后晾干备用。" * 6
    for number in range(2):  # written line by line across both columns, as some programs do
        made.prose(60 + number * 245, HEIGHT - 120, 225, said + filler if number else filler)
    made.texts.sort(key=lambda item: -item[1])
    return [made]


def ruled(style: str) -> Callable[[str, str], list[Sheet]]:
    def make(title: str, said: str) -> list[Sheet]:
        made = sheet(title, said)
        made.centred(WIDTH / 2, HEIGHT - 200, DOSES.caption)
        made.table(DOSES.layout, 60, HEIGHT - 210, (80, 130, 70, 70, 90), style, 2)
        return [made]

    return make


def furnished(title: str, said: str) -> list[Sheet]:
    found = []
    for number in range(4):
        made = sheet(title if number == 0 else f"第{number}节", said if number == 2 else "苗期注意查苗补缺，及时间苗定苗，中耕除草。")
        made.text(72, HEIGHT - 30, "某县农业技术推广中心编印")
        made.text(WIDTH / 2, 30, f"- {number + 1} -")
        found.append(made)
    return found


def turned(title: str, said: str) -> list[Sheet]:
    made = sheet(title, said)
    made.turn = 90
    return [made]


def scanned(count: int = 1, angle: float = 0.0, suffix: str = "PDF") -> Build:
    def build(title: str, said: str) -> bytes:
        pictures = [picture_of(sheet(title if n == 0 else f"续{n}", said if n == count - 1 else "苗期注意查苗补缺，及时间苗定苗。"))
                    .rotate(angle, fillcolor=255, expand=abs(angle) > 45) for n in range(count)]
        return _saved(lambda stream: pictures[0].save(stream, suffix, save_all=count > 1, append_images=pictures[1:])
                      if count > 1 else pictures[0].save(stream, suffix, **({"resolution": 200} if suffix == "PDF" else {})))

    return build


def photo(title: str, said: str) -> bytes:
    picture = picture_of(sheet(title, said)).convert("RGB").rotate(90, expand=True)
    exif = Image.Exif()
    exif[0x0112] = 6  # held sideways: turn clockwise to show
    return _saved(lambda stream: picture.save(stream, "JPEG", quality=85, exif=exif))


def garbled(title: str, said: str) -> bytes:
    """A page whose picture can be read and whose text layer holds nothing but glyph numbers."""
    from fpdf import FPDF

    document = FPDF(unit="pt", format=(WIDTH, HEIGHT))
    document.add_page()
    document.set_font("Helvetica", size=10)
    for line in range(30):
        document.text(60, 60 + 20 * line, "(cid:1234)(cid:2345)(cid:3456)(cid:4567)")
    document.image(picture_of(sheet(title, said)), 0, 0, WIDTH, HEIGHT)
    return bytes(document.output())


def mixed(title: str, said: str) -> bytes:
    """A page with text, then a page that is a picture."""
    from fpdf import FPDF
    from pdf_world import chinese_fonts

    document = FPDF(unit="pt", format=(WIDTH, HEIGHT))
    document.add_font("cjk", fname=str(chinese_fonts()[0]))
    document.add_page()
    document.set_font("cjk", size=12)
    document.text(72, 80, title)
    document.text(72, 120, "本方案正文第一页，第二页为扫描件，请一并参照执行。")
    document.add_page()
    document.image(picture_of(sheet("续页", said)), 0, 0, WIDTH, HEIGHT)
    return bytes(document.output())


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    save(stream)
    return stream.getvalue()


_CELLS = ("75%三环唑可湿性粉剂", "66.5")
LONG_NAME = "长" * 83 + "01.txt"  # 255 bytes in UTF-8
PLAIN: tuple[tuple[str, str, Build, tuple[str, ...]], ...] = (
    ("甲.txt", "txt utf-8", text("utf-8"), ()),
    ("带标记.txt", "txt utf-8 BOM", text("utf-8", b"\xef\xbb\xbf"), ()),
    ("国标.txt", "txt gbk", text("gbk"), ()),
    ("生僻字.txt", "txt gb18030", text("gb18030", more=RARE), ("㐂山村", "𠮷某")),
    ("宽字节.txt", "txt utf-16-le BOM", text("utf-16-le", b"\xff\xfe"), ()),
    ("宽字节大端.txt", "txt utf-16-be", text("utf-16-be", b"\xfe\xff"), ()),
    ("无标记宽字节.txt", "txt utf-16-le", text("utf-16-le"), ()),
    ("繁体.txt", "txt big5", lambda title, said: _traditional(title, said).encode("big5"), ("公斤",)),
    ("🌽 玉米笔记.txt", "txt, an emoji in the name", text("utf-8"), ()),
    (LONG_NAME, "txt, a name of 255 bytes", text("gbk"), ()),
    ("方案..终稿.txt", "txt, dots in the name", text("utf-8"), ()),
    ("说明.md", "md", front_matter, ()),
    ("国标说明.md", "md gbk", lambda title, said: front_matter(title, said).decode().encode("gbk"), ()),
    ("表.csv", "csv gbk", csv_of("gbk", ","), ()),
    ("分号.csv", "csv utf-8 BOM", csv_of("utf-8", ";", b"\xef\xbb\xbf"), ()),
    ("制表.tsv", "tsv utf-16", csv_of("utf-16-le", "\t", b"\xff\xfe"), ()),
    ("方案.docx", "docx", word(), ()),
    ("用药表.docx", "docx, a table with merged cells", word(table=True), _CELLS),
    ("宏.docm", "docm", word(), ()),
    ("工作簿.xlsx", "xlsx, sheets and merged headers", excel(), _CELLS),
    ("公式.xlsm", "xlsm, a formula without a stored result", excel(formula=True), ()),
    ("旧表.xls", "xls", old_excel, _CELLS),
    ("旧表.et", "et", old_excel, ()),
    ("课件.pptx", "pptx", slides, ()),
    ("网页.html", "html", page("utf-8"), ()),
    ("国标网页.htm", "htm gb2312, a table", page("gb2312", table=True), _CELLS),
    ("存档.mht", "mht", archive, ()),
    ("通知.rtf", "rtf", rich, ()),
    ("通知.doc", "doc", old_word(), ()),
    ("表格.wps", "wps, a table", old_word(table=True), ("三环唑", "20")),
    ("其实是网页.doc", "html called doc", page("utf-8"), ()),
    ("其实是表.xls", "html called xls", page("utf-8", fragment=True), ()),
    ("其实是文档.txt", "docx called txt", word(), ()),
    ("文字.pdf", "pdf", pdf(lambda title, said: [sheet(title, said)]), ()),
    ("内嵌字体.pdf", "pdf, embedded font", pdf(lambda title, said: [sheet(title, said)], embedded=True), ()),
    ("两栏.pdf", "pdf, two columns", pdf(columns), ()),
    ("有线表.pdf", "pdf, a ruled table", pdf(ruled("ruled")), _CELLS),
    ("三线表.pdf", "pdf, a three-line table", pdf(ruled("three-line")), _CELLS),
    ("无线表.pdf", "pdf, a table without rules", pdf(ruled("plain")), ("66.5",)),
    ("页眉页脚.pdf", "pdf, headers and footers", pdf(furnished), ()),
    ("横放.pdf", "pdf, a turned page", pdf(turned), ()),
)
PICTURES: tuple[tuple[str, str, Build, tuple[str, ...]], ...] = (
    ("扫描件.pdf", "scan of three pages", scanned(3), ()),
    ("图文混排.pdf", "pdf, text and a scanned page", mixed, ()),
    ("乱码层.pdf", "pdf, a text layer of glyph numbers", garbled, ()),
    ("照片.jpg", "jpg held sideways", photo, ()),
    ("歪的.png", "png, two degrees askew", scanned(1, 2.0, "PNG"), ()),
    ("两页.tiff", "tiff of two pages", scanned(2, 0.0, "TIFF"), ()),
    ("图片.webp", "webp", scanned(1, 0.0, "WEBP"), ()),
)


def _traditional(title: str, said: str) -> str:
    from opencc import OpenCC

    return OpenCC("s2t").convert(f"{title}\r\n\r\n{said}\r\n")


def files(plain_only: bool = False) -> list[IntakeFile]:
    """Return the folder; only the files that need no recognition with `plain_only`."""
    found = []
    for number, (name, kind, build, words) in enumerate(PLAIN if plain_only else PLAIN + PICTURES):
        crop, amount = CROPS[number], 1300 + 41 * number
        data = build(f"{crop}整地施肥要点", sentence(crop, amount))
        found.append(IntakeFile(name, kind, data, f"{crop}整地时每亩施多少有机肥", (f"{amount}公斤", *words)))
    return found


def write(folder: Path, made: Sequence[IntakeFile]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in made:
        (folder / file.name).write_bytes(file.data)


__all__ = ["LEFT", "UP", "IntakeFile", "files", "sentence", "write"]
