"""Characters read from pictures of pages: lines with their places, deskewed and upright."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Protocol

import numpy as np
from PIL import Image

from nongda.documents.ocr_engine import ENGINE_NAME, Boxes, OcrEngine, Pixels
from nongda.documents.ocr_text import mended
from nongda.documents.page_lines import Segment

DPI = 200  # pages are rendered so; Chinese text of 10.5 points is then 29 pixels tall
_LONGEST = 3400  # pixels; an A3 sheet at 200 dpi fits
_LONG = 2.5  # height by width from which on a picture is no sheet
_PART = 1.5  # height by width of its parts
_SHORTEST = 1200  # pixels of the longer side, below which a picture is enlarged
_LEAST = 0.5  # confidence of a line below which it is not kept
_DARKER = 12  # grey levels by which ink is darker than the paper around it, at a quarter of the size
_CLEAR = 0.96  # mean confidence below which a page is read a second time
BLANK = 0.002  # share of dark dots on an empty page, specks included
_SMOOTH = 0.8  # pixels; noisy pages gain up to 30 points of accuracy, with more the strokes run together
_VERSION = 1  # of the settings here and in ocr_engine: another number makes pages be read anew


@dataclass(frozen=True, slots=True)
class ScanLine:
    """A stretch of text with its box in points, y upwards; `confidence` 0 to 1."""

    text: str
    confidence: float
    left: float
    right: float
    bottom: float
    top: float


@dataclass(frozen=True, slots=True)
class Scan:
    """What was read on a page of `width` by `height` points, from the top.

    `turned` is how far the picture was turned counter-clockwise to stand upright, `skew` how far its lines slanted
    (degrees, before they were made level), `confidence` the mean over the characters, those of lines left out too.
    `strokes` are the rules of tables, `ink` is the share of dark dots.
    """

    lines: tuple[ScanLine, ...]
    width: float
    height: float
    turned: int
    skew: float
    confidence: float
    dpi: float = DPI
    strokes: tuple[Segment, ...] = ()
    ink: float = 0.0


class ScanCache(Protocol):
    """Pages of one file read before, by number from 1."""

    def get(self, number: int) -> Scan | None: ...

    def put(self, number: int, scan: Scan) -> None: ...


class PageReader:
    """Reads pages with RapidOCR, its models loaded at the first one. Threads may share it; they take turns."""

    name = f"{ENGINE_NAME}/{_VERSION}"

    def __init__(self, threads: int, cache: ScanCache | None = None, engine: OcrEngine | None = None) -> None:
        self._engine = engine or OcrEngine(threads)
        self._threads = threads
        self._cache = cache

    def with_cache(self, cache: ScanCache) -> PageReader:
        """Return a reader that shares the models and remembers the pages of one file."""
        return PageReader(self._threads, cache, self._engine)

    def page(self, number: int, picture: Callable[[], Image.Image], dpi: float = DPI) -> Scan:
        """Return what is known of a page, else read the picture and remember it."""
        scan = None if self._cache is None else self._cache.get(number)
        if scan is None:
            scan = self.read(picture(), dpi)
            if self._cache is not None:
                self._cache.put(number, scan)
        return scan

    def read(self, image: Image.Image, dpi: float = DPI) -> Scan:
        """Read a picture of a page, `dpi` being its pixels per inch; a long one, such as a screenshot, part by part."""
        if image.height <= max(_LONGEST, _LONG * image.width):
            return self._read(image, dpi)
        parts, top = [], 0
        for bottom in _cuts(image):
            parts.append(self._read(image.crop((0, top, image.width, bottom)), dpi))
            top = bottom
        return _joined(parts)

    def _read(self, image: Image.Image, dpi: float) -> Scan:
        pixels, scale = _pixels(image)
        ink = _ink(pixels)
        turned, picture, boxes, texts = self._surest(pixels, ink)
        points = 72 / (dpi * scale)
        height, width = picture.shape[:2]
        skew = _skew(boxes)
        level = _level(boxes, skew, (width, height)) * np.float32(points)
        lines = [_line(text, confidence, box, height * points)
                 for (text, confidence), box in zip(texts, level, strict=True) if text.strip() and confidence >= _LEAST]
        lines.sort(key=lambda line: (-line.top, line.left))
        return Scan(tuple(lines), round(width * points, 1), round(height * points, 1), turned, round(skew, 2),
                    _mean_confidence(texts), dpi, _strokes(picture, 72 / points, skew), ink)

    def _surest(self, pixels: Pixels, ink: float) -> tuple[int, Pixels, Boxes, list[tuple[str, float]]]:
        """Read a page; where much is unsure read it once more with its noise smoothed, and keep what is surer."""
        found = self._engine.lines(pixels)
        if ink < BLANK or _mean_confidence(found[3]) >= _CLEAR:
            return found
        import cv2

        smooth = self._engine.lines(np.ascontiguousarray(cv2.GaussianBlur(pixels, (0, 0), _SMOOTH), np.uint8))
        return max(found, smooth, key=lambda read: sum(len(text) * confidence for text, confidence in read[3]))


def _cuts(image: Image.Image) -> list[int]:
    """Return the rows at which to part a long picture: where it is emptiest, each part up to half as high again as wide."""
    darkness = np.asarray(image.convert("L"), np.float32).std(axis=1)
    step, cuts = round(image.width * _PART), [0]
    while cuts[-1] + step < image.height:
        start = cuts[-1] + round(step * 0.7)
        cuts.append(start + int(np.argmin(darkness[start:cuts[-1] + step])))
    return [*cuts[1:], image.height]


def _joined(parts: list[Scan]) -> Scan:
    """Put the parts of a long picture below each other again."""
    lines: list[ScanLine] = []
    strokes: list[Segment] = []
    height = below = sum(part.height for part in parts)
    for part in parts:
        below -= part.height
        lines += [replace(line, bottom=round(line.bottom + below, 1), top=round(line.top + below, 1)) for line in part.lines]
        strokes += [replace(s, bottom=round(s.bottom + below, 1), top=round(s.top + below, 1)) for s in part.strokes]
    weights = [sum(len(line.text) for line in part.lines) or 1 for part in parts]
    sure = sum(part.confidence * weight for part, weight in zip(parts, weights, strict=True)) / sum(weights)
    return replace(parts[0], lines=tuple(lines), strokes=tuple(strokes), height=round(height, 1),
                   confidence=round(sure, 3), ink=max(part.ink for part in parts))


def _pixels(image: Image.Image) -> tuple[Pixels, float]:
    """Return the picture, blue first, on white paper and of a size that can be read; and how it was scaled."""
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(paper, image)
    elif image.mode.startswith(("I", "F")):
        image = Image.fromarray(_to_bytes(np.asarray(image, np.float32)))
    longest = max(image.size)
    scale = _LONGEST / longest if longest > _LONGEST else min(3.0, max(1.0, _SHORTEST / longest))
    if scale != 1:
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    return np.ascontiguousarray(np.asarray(image.convert("RGB"))[..., ::-1]), scale


def _to_bytes(grey: np.typing.NDArray[np.float32]) -> np.typing.NDArray[np.uint8]:
    """Bring grey levels of 16 or 32 bits into 8."""
    low, high = float(grey.min()), float(grey.max())
    return ((grey - low) * (255 / (high - low or 1))).astype(np.uint8)


def _skew(boxes: Boxes) -> float:
    """Return the slant of the lines in degrees, clockwise: the median of the top edges by their length."""
    edges = boxes[:, 1] - boxes[:, 0]
    lengths = np.linalg.norm(edges, axis=1)
    heights = np.linalg.norm(boxes[:, 3] - boxes[:, 0], axis=1)
    wide = lengths > 3 * heights
    if not wide.any():
        return 0.0
    angles, lengths = np.degrees(np.arctan2(edges[wide, 1], edges[wide, 0])), lengths[wide]
    order = np.argsort(angles)
    middle = np.searchsorted(np.cumsum(lengths[order]), lengths.sum() / 2)
    return float(angles[order][middle])


def _level(boxes: Boxes, skew: float, size: tuple[int, int]) -> Boxes:
    """Turn the corners about the middle of the page so that its lines lie level."""
    cosine, sine = math.cos(math.radians(skew)), math.sin(math.radians(skew))
    middle = np.asarray(size, np.float32) / 2
    turned = (boxes - middle) @ np.asarray([[cosine, -sine], [sine, cosine]], np.float32) + middle
    return turned.astype(np.float32)


def _line(text: str, confidence: float, box: Boxes, height: float) -> ScanLine:
    (left, top), (right, bottom) = (box[0] + box[3]) / 2, (box[1] + box[2]) / 2
    top, bottom = (box[0, 1] + box[1, 1]) / 2, (box[2, 1] + box[3, 1]) / 2
    places = [round(float(place), 1) for place in (left, right, height - bottom, height - top)]
    return ScanLine(mended(text.strip()), round(confidence, 3), *places)


def _strokes(picture: Pixels, dpi: float, skew: float) -> tuple[Segment, ...]:
    from nongda.documents.segments import segments_of_image  # it needs PDFium, which the cache does without

    found = segments_of_image(Image.fromarray(picture[..., ::-1]), dpi, skew=skew)
    return tuple(Segment(*(round(float(place), 1) for place in (s.left, s.bottom, s.right, s.top))) for s in found)


def _ink(picture: Pixels) -> float:
    """Return the share of dots darker than what is around them; averaged first, so that noise is none."""
    import cv2

    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (max(1, grey.shape[1] // 4), max(1, grey.shape[0] // 4)), interpolation=cv2.INTER_AREA)
    around = cv2.blur(small, (31, 31))
    return round(float(np.mean(around.astype(np.int16) - small > _DARKER)), 5)


def _mean_confidence(texts: list[tuple[str, float]]) -> float:
    weights = [max(1, len(text)) for text, _ in texts]
    total = sum(weight * confidence for weight, (_, confidence) in zip(weights, texts, strict=True))
    return round(total / sum(weights), 3) if weights else 0.0


def scan_to_json(scan: Scan) -> str:
    """Return a scan as JSON; `scan_from_json` is its inverse."""
    rows = [[line.text, line.confidence, line.left, line.right, line.bottom, line.top] for line in scan.lines]
    strokes = [[s.left, s.bottom, s.right, s.top] for s in scan.strokes]
    return json.dumps(asdict(scan) | {"lines": rows, "strokes": strokes}, ensure_ascii=False, separators=(",", ":"))


def scan_from_json(text: str) -> Scan:
    """Return the scan that `scan_to_json` wrote. Raises ValueError, TypeError or KeyError where it is none."""
    values = json.loads(text)
    lines = tuple(ScanLine(*row) for row in values["lines"])
    return Scan(**(values | {"lines": lines, "strokes": tuple(Segment(*row) for row in values["strokes"])}))
