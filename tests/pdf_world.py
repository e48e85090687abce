"""Pages with prose, columns and tables, drawn once and made into a PDF or a picture; how many cells a parser found.

Places are in points, y upwards; a text stands on its base line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PIL import Image, ImageDraw, ImageFont
from table_world import spans_of

from nongda.documents.page_lines import Cell, Line, Segment
from nongda.evaluation.scans import chinese_fonts

WIDTH, HEIGHT = 595.0, 842.0
SIZE = 10.5
_FONT = """<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H
/DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /FontDescriptor 4 0 R /W [1 95 500]
/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>] >>"""
_DESCRIPTOR = """<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880]
/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>"""


def width_of(text: str, size: float = SIZE) -> float:
    return size * sum(1.0 if ord(c) >= 0x2000 else 0.5 for c in text)


def wrapped(text: str, width: float, size: float = SIZE) -> list[str]:
    lines = [""]
    for character in text:
        if width_of(lines[-1] + character, size) > width and lines[-1]:
            lines.append("")
        lines[-1] += character
    return lines


@dataclass
class Sheet:
    """A page being drawn."""

    texts: list[tuple[float, float, float, str]] = field(default_factory=list)  # x, y, size, text
    rules: list[tuple[float, float, float, float]] = field(default_factory=list)  # x0, y0, x1, y1
    turn: int = 0  # /Rotate
    matrix: tuple[float, ...] = (1, 0, 0, 1, 0, 0)  # of the whole content

    def text(self, x: float, y: float, text: str, size: float = SIZE) -> None:
        self.texts.append((x, y, size, text))

    def centred(self, x: float, y: float, text: str, size: float = SIZE) -> None:
        self.text(x - width_of(text, size) / 2, y, text, size)

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self.rules.append((x0, y0, x1, y1))

    def prose(self, x: float, y: float, width: float, text: str, size: float = SIZE, pitch: float = 16.0) -> float:
        """Draw paragraphs with an indent of two characters; return where the next line stands."""
        for paragraph in text.split("\n"):
            for number, line in enumerate(wrapped("　　" + paragraph, width, size)):
                indent = 2 * size if number == 0 else 0.0
                self.text(x + indent, y, line.strip("　"), size)
                y -= pitch
        return y

    def table(self, layout: Sequence[Sequence[str]], x: float, y: float, widths: Sequence[float], style: str = "ruled",
              header_rows: int = 1, pad: float = 4.0, numbers_right: bool = False) -> float:
        """Draw a table below y; styles: ruled, three-line, rows (level rules alone), plain. Return its lower edge."""
        pitch = SIZE * 1.25
        spans = spans_of(layout)
        xs = [x + sum(widths[:n]) for n in range(len(widths) + 1)]
        lines = {(r, c): wrapped(text, xs[c + cs] - xs[c] - 2 * pad) if text else []
                 for text, r, c, _, cs in spans}
        heights = [max([1, *(len(lines[r, c]) for _, r, c, rs, _ in spans if r == n and rs == 1)]) * pitch + 2 * pad
                   for n in range(len(layout))]
        ys = [y - sum(heights[:n]) for n in range(len(layout) + 1)]
        for _, r, c, rs, cs in spans:
            box = xs[c], xs[c + cs], ys[r + rs], ys[r]
            self._cell(lines[r, c], box, r < header_rows, pitch, pad, numbers_right)
            if style == "ruled":
                self._frame(*box)
            elif style == "three-line" and r + rs < header_rows and cs > 1:
                self.rule(box[0] + 3, box[2], box[1] - 3, box[2])
        for number in {"three-line": (0, header_rows, len(layout)), "rows": range(len(layout) + 1)}.get(style, ()):
            self.rule(xs[0], ys[number], xs[-1], ys[number])
        return ys[-1]

    def _cell(self, lines: Sequence[str], box: tuple[float, float, float, float], is_header: bool, pitch: float, pad: float,
              numbers_right: bool) -> None:
        left, right, bottom, top = box
        y = (top + bottom) / 2 + len(lines) * pitch / 2 - 0.85 * pitch
        for line in lines:
            if is_header:
                self.centred((left + right) / 2, y, line)
            elif numbers_right and line[:1].isdigit():
                self.text(right - pad - width_of(line), y, line)
            else:
                self.text(left + pad, y, line)
            y -= pitch

    def _frame(self, left: float, right: float, bottom: float, top: float) -> None:
        for edge in ((left, top, right, top), (left, bottom, right, bottom), (left, bottom, left, top),
                     (right, bottom, right, top)):
            self.rule(*edge)


def pdf_of(sheets: Sequence[Sheet]) -> bytes:
    """Return a PDF with a standard Chinese font that is not embedded."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", _FONT, _DESCRIPTOR]
    kids = []
    for sheet in sheets:
        content = " ".join(map(str, sheet.matrix)) + " cm\n"
        content += "".join(f"BT /F1 {size} Tf {x:.2f} {y:.2f} Td <{text.encode('utf-16-be').hex()}> Tj ET\n"
                           for x, y, size, text in sheet.texts)
        content += "".join(f"{x0:.2f} {y0:.2f} m {x1:.2f} {y1:.2f} l S\n" for x0, y0, x1, y1 in sheet.rules)
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}endstream")
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {sheet.turn} "
                       f"/Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects)} 0 R >>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    data, places = b"%PDF-1.7\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return data + (f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer << /Size {len(objects) + 1} "
                   f"/Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n").encode()


def embedded_pdf_of(sheets: Sequence[Sheet]) -> bytes:
    """Return a PDF that fpdf2 writes with an embedded font, whose boxes are taller than the lines are apart."""
    from fpdf import FPDF

    pdf = FPDF(unit="pt", format=(WIDTH, HEIGHT))
    pdf.add_font("cjk", fname=str(chinese_fonts()[0]))
    for sheet in sheets:
        pdf.add_page()
        for x, y, size, text in sheet.texts:
            pdf.set_font("cjk", size=size)
            pdf.text(x, HEIGHT - y, text)
        for x0, y0, x1, y1 in sheet.rules:
            pdf.line(x0, HEIGHT - y0, x1, HEIGHT - y1)
    return bytes(pdf.output())


def picture_of(sheet: Sheet, dpi: float = 200.0) -> Image.Image:
    """Return a page as a scanner would see it."""
    scale = dpi / 72
    image = Image.new("L", (round(WIDTH * scale), round(HEIGHT * scale)), 255)
    draw = ImageDraw.Draw(image)
    for x, y, size, text in sheet.texts:
        font = ImageFont.truetype(str(chinese_fonts()[0]), round(size * scale))
        draw.text((x * scale, (HEIGHT - y) * scale), text, fill=20, font=font, anchor="ls")
    for x0, y0, x1, y1 in sheet.rules:
        draw.line([x0 * scale, (HEIGHT - y0) * scale, x1 * scale, (HEIGHT - y1) * scale], fill=30, width=3)
    return image


def lines_of_sheet(sheet: Sheet, page: int = 1, uneven: float = 0.0, confidence: float = 1.0) -> list[Line]:
    """Return the texts as recognition gives them: sorted by height, with tops that differ by up to `uneven` points."""
    lines = []
    for number, (x, y, size, text) in enumerate(sheet.texts):
        shift = uneven * ((number * 7) % 5 - 2) / 2
        right = x + width_of(text, size)
        lines.append(Line((Cell(text, x, right),), page, x, right, y - 0.12 * size + shift, y + 0.88 * size + shift, size,
                          confidence))
    return sorted(lines, key=lambda line: (-line.top, line.left))


def segments_of_sheet(sheet: Sheet) -> list[Segment]:
    return [Segment(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)) for x0, y0, x1, y1 in sheet.rules]
