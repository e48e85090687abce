"""Pages drawn and then spoilt as a scanner or a phone spoils them, to measure how well recognition reads them."""

from __future__ import annotations

import io
import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from nongda.errors import UsageError

_PAPER = (595, 842)  # A4 in points
_MARGIN = 56  # points
_LEADING = 1.6  # of the font size
_WORDS = re.compile(r"[!-~]+|.", re.DOTALL)  # numbers and Latin words are not parted
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "C:/Windows/Fonts")
_FONT_NAMES = ("NotoSansCJK-Regular.ttc", "NotoSerifCJK-Regular.ttc", "msyh.ttc", "simsun.ttc")


@dataclass(frozen=True, slots=True)
class Spoiling:
    """What a copy does to a page: degrees, pixels of blur, grey levels of noise, shares of shade and darkness."""

    dpi: int = 200
    skew: float = 2.0
    blur: float = 0.6
    noise: float = 10.0
    shade: float = 0.3  # how much darker the far corner is
    dark: float = 0.0  # how much of the contrast between ink and paper is lost
    strokes: int = 0  # scrawls over the text
    jpeg: int = 75


SCAN = Spoiling()
CLEAN = Spoiling(skew=0, blur=0, noise=0, shade=0, jpeg=95)


def chinese_fonts() -> list[Path]:
    """Return the fonts with Chinese characters that this machine has, of those known; may be empty."""
    found: dict[str, Path] = {}
    for folder in _FONT_FOLDERS:
        for directory, _, names in os.walk(Path(folder).expanduser()):
            found.update({name: Path(directory, name) for name in names if name in _FONT_NAMES})
    return [found[name] for name in _FONT_NAMES if name in found]


def render_page(
    text: str, font: Path, size: float = 11, spoiling: Spoiling = SCAN, seed: int = 0, paper: tuple[int, int] = _PAPER
) -> tuple[Image.Image, str]:
    """Draw Markdown-like text (# headings, | tables |) on one page of `paper` points and spoil it.

    Returns the page in grey and the text that found room on it: its lines from the top, each row of a table cell by cell.
    Each seed gives one picture, always the same. Raises UsageError where the font cannot be read.
    """
    try:
        page = _Page(font, size, spoiling.dpi, paper)
    except OSError as error:
        raise UsageError(f"字体“{font}”无法读取：请换一个含中文的字体") from error
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            rows += [] if set("".join(cells)) <= set("-: ") else [cells]
            continue
        page.table(rows)
        rows = []
        page.paragraph(line)
    return spoil(page.image, spoiling, seed), "\n".join(page.lines)


class _Page:
    """A page being filled from the top; what finds no room is not drawn."""

    def __init__(self, font: Path, size: float, dpi: int, paper: tuple[int, int]) -> None:
        self._scale = dpi / 72
        self.image = Image.new("L", (round(paper[0] * self._scale), round(paper[1] * self._scale)), 255)
        self._draw = ImageDraw.Draw(self.image)
        self._fonts = [ImageFont.truetype(str(font), round(points * self._scale)) for points in (size, size * 1.5)]
        self._margin = min(_MARGIN, paper[0] // 10) * self._scale
        self._y = self._margin
        self.lines: list[str] = []

    def paragraph(self, line: str) -> None:
        font = self._fonts[line.startswith("#")]
        for part in self._wrapped(line.lstrip("# "), font, self.image.width - 2 * self._margin):
            if self._has_room(font.size * _LEADING):
                self._draw.text((self._margin, self._y), part, font=font, fill=0)
                self.lines.append(part)
                self._y += font.size * _LEADING

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Draw a ruled table, its columns as wide as their text asks for."""
        font, columns = self._fonts[0], max((len(row) for row in rows), default=0)
        pad = font.size * 0.4
        wanted = [max(font.getlength(row[c]) for row in rows if c < len(row)) + 3 * pad for c in range(columns)]
        room = self.image.width - 2 * self._margin
        widths = [max(width * min(1.0, room / sum(wanted)), room * 0.06) for width in wanted]
        edges = [self._margin + sum(widths[:c]) for c in range(columns + 1)]
        for row in rows:
            cells = [self._wrapped(cell, font, widths[c] - 2 * pad) for c, cell in enumerate(row)]
            height = max(map(len, cells)) * font.size * 1.3 + pad
            if not self._has_room(height):
                return
            for c, parts in enumerate(cells):
                self._draw.rectangle((edges[c], self._y, edges[c + 1], self._y + height), outline=60, width=2)
                for number, part in enumerate(parts):
                    place = (edges[c] + pad, self._y + pad / 2 + number * font.size * 1.3)
                    self._draw.text(place, part, font=font, fill=0)
            self.lines.append("".join("".join(parts) for parts in cells))
            self._y += height

    def _has_room(self, height: float) -> bool:
        return self._y + height < self.image.height - self._margin

    @staticmethod
    def _wrapped(text: str, font: ImageFont.FreeTypeFont, width: float) -> list[str]:
        lines = [""]
        for word in _WORDS.findall(text):
            for part in [word] if font.getlength(word) <= width else word:
                if lines[-1] and font.getlength(lines[-1] + part) > width:
                    lines.append("")
                lines[-1] += part
        return [line for line in lines if line.strip()]


def spoil(image: Image.Image, spoiling: Spoiling, seed: int) -> Image.Image:
    """Return the page as a poor copy shows it, of the same size."""
    noise = np.random.default_rng(seed)
    image = image.copy()
    draw = ImageDraw.Draw(image)
    for _ in range(spoiling.strokes):
        start = noise.uniform((0, 0), image.size)
        points = start + np.cumsum(noise.normal(0, spoiling.dpi / 8, (12, 2)), axis=0)
        draw.line([(float(x), float(y)) for x, y in points], fill=70, width=max(1, spoiling.dpi // 60), joint="curve")
    image = image.rotate(spoiling.skew, Image.Resampling.BICUBIC, fillcolor=255)
    image = image.filter(ImageFilter.GaussianBlur(spoiling.blur))
    grey = np.asarray(image, dtype=np.float32)
    grey = grey * (1 - spoiling.dark) + 128 * spoiling.dark
    down, right = np.mgrid[0:1:complex(grey.shape[0]), 0:1:complex(grey.shape[1])].astype(np.float32)
    grey = grey * (1 - spoiling.shade * down * right) + noise.normal(0, spoiling.noise, grey.shape)
    spoilt = Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8))
    stream = io.BytesIO()
    spoilt.save(stream, "JPEG", quality=spoiling.jpeg)
    return Image.open(stream).convert("L")


def character_accuracy(expected: str, found: str) -> float:
    """Return 1 less the share of characters to insert, delete or replace; white space and width do not count."""
    right, read = _characters(expected), _characters(found)
    return max(0.0, 1 - edit_distance(right, read) / len(right)) if right else float(not read)


def digit_accuracy(expected: str, found: str) -> float:
    """Return the accuracy of digits and decimal points alone, in their order."""
    return character_accuracy(_figures(expected), _figures(found))


def _figures(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text) if c.isdigit() or c == ".")


def _characters(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def edit_distance(a: str, b: str) -> int:
    """Return the Levenshtein distance, by bit vectors (Hyyrö 2003)."""
    if not a:
        return len(b)
    places: dict[str, int] = {}
    for index, character in enumerate(a):
        places[character] = places.get(character, 0) | 1 << index
    ones, last = (1 << len(a)) - 1, 1 << (len(a) - 1)
    up, down, distance = ones, 0, len(a)
    for character in b:
        same = places.get(character, 0)
        diagonal = (((same & up) + up) ^ up) | same | down
        rise = down | ~(diagonal | up) & ones
        fall = up & diagonal
        distance += bool(rise & last) - bool(fall & last)
        rise, fall = (rise << 1 | 1) & ones, (fall << 1) & ones
        up, down = fall | ~(diagonal | rise) & ones, rise & diagonal
    return distance
