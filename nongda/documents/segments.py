"""Level and upright strokes of a page: from the objects of a PDF page, or from the picture of a scan."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pypdfium2 as pdfium
import pypdfium2.raw as raw
from PIL import Image

from nongda.documents.page_lines import Segment

_THIN = 3.5  # points: a filled rectangle up to this is a stroke
_SLOPE = 0.6  # points a stroke may rise or lean
_SHORT = 3.0  # points; shorter ones are dashes or dots, kept where they join
_JOINED = 3.0  # points between the parts of one dashed stroke
_MOST = 6000  # strokes; a page with more is a drawing
_MOST_OBJECTS = 30000
_MOST_POINTS = 200  # of one path; a longer one is a curve or a map
_FORM_DEPTH = 6

_Matrix = tuple[float, float, float, float, float, float]
_Point = tuple[float, float]
_UNIT: _Matrix = (1, 0, 0, 1, 0, 0)


def segments_of_page(page: pdfium.PdfPage) -> list[Segment]:
    """Return the strokes of a PDF page in its own coordinates; none where the page is a drawing."""
    found: list[Segment] = []
    left = [_MOST_OBJECTS]
    for segment in _strokes(page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject, _UNIT, _FORM_DEPTH, left):
        found.append(segment)
        if len(found) > _MOST:
            return []
    return merged(found)


def _strokes(parent: object, count: object, get: object, outer: _Matrix, depth: int, left: list[int]
             ) -> Iterator[Segment]:
    for index in range(count(parent)):  # type: ignore[operator]
        left[0] -= 1
        if left[0] < 0:
            return
        item = get(parent, index)  # type: ignore[operator]
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_PATH:
            yield from _path_strokes(item, _times(_matrix(item), outer))
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth > 0:
            inner = _times(_matrix(item), outer)
            yield from _strokes(
                item, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject, inner, depth - 1, left)


def _path_strokes(path: object, matrix: _Matrix) -> Iterator[Segment]:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, ctypes.byref(fill), ctypes.byref(stroke))
    if raw.FPDFPath_CountSegments(path) > _MOST_POINTS:
        return
    for points, is_straight in _subpaths(path, matrix):
        if stroke.value and is_straight:
            for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
                yield from _straight(x0, y0, x1, y1)
        elif fill.value and is_straight and 4 <= len(points) <= 6:
            xs, ys = [x for x, _ in points], [y for _, y in points]
            width, height = max(xs) - min(xs), max(ys) - min(ys)
            if min(width, height) <= _THIN < 2 * max(width, height):
                yield from _middle(min(xs), min(ys), max(xs), max(ys))


def _subpaths(path: object, matrix: _Matrix) -> Iterator[tuple[list[_Point], bool]]:
    """Yield the points of each part of a path on the page, and whether it is of straight lines alone."""
    points: list[_Point] = []
    is_straight = True
    x, y = ctypes.c_float(), ctypes.c_float()
    for index in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            if len(points) > 1:
                yield points, is_straight
            points, is_straight = [], True
        is_straight = is_straight and kind != raw.FPDF_SEGMENT_BEZIERTO
        points.append(_apply(matrix, x.value, y.value))
        if raw.FPDFPathSegment_GetClose(segment):
            points.append(points[0])
    if len(points) > 1:
        yield points, is_straight


def _straight(x0: float, y0: float, x1: float, y1: float) -> Iterator[Segment]:
    if min(abs(x0 - x1), abs(y0 - y1)) <= _SLOPE:
        yield from _middle(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _middle(left: float, bottom: float, right: float, top: float) -> Iterator[Segment]:
    """Yield the middle line of a thin box."""
    if right - left >= top - bottom:
        yield Segment(left, (bottom + top) / 2, right, (bottom + top) / 2)
    else:
        yield Segment((left + right) / 2, bottom, (left + right) / 2, top)


def merged(segments: list[Segment]) -> list[Segment]:
    """Join strokes that continue or cover each other, such as those of single cells; drop stray short ones."""
    result: list[Segment] = []
    for is_level in (True, False):
        own = [s for s in segments if s.is_level == is_level]
        spans = sorted((_span(s) for s in own), key=lambda span: (span[0], span[1]))
        tracks: list[list[tuple[float, float, float]]] = []
        for span in spans:  # strokes at one height, a hair's breadth aside
            if tracks and span[0] - tracks[-1][0][0] <= 1.0:
                tracks[-1].append(span)
            else:
                tracks.append([span])
        for track in tracks:
            for at, start, end in _continued(track):
                if end - start >= _SHORT:
                    result.append(Segment(start, at, end, at) if is_level else Segment(at, start, at, end))
    return result


def _span(segment: Segment) -> tuple[float, float, float]:
    if segment.is_level:
        return (segment.bottom + segment.top) / 2, segment.left, segment.right
    return (segment.left + segment.right) / 2, segment.bottom, segment.top


def _continued(track: list[tuple[float, float, float]]) -> Iterator[tuple[float, float, float]]:
    track = sorted(track, key=lambda span: span[1])
    at, start, end = track[0]
    for other, begin, finish in track[1:]:
        if begin - end <= _JOINED:
            end = max(end, finish)
        else:
            yield at, start, end
            at, start, end = other, begin, finish
    yield at, start, end


def _matrix(item: object) -> _Matrix:
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(item, ctypes.byref(matrix))
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _times(m: _Matrix, n: _Matrix) -> _Matrix:
    return (m[0] * n[0] + m[1] * n[2], m[0] * n[1] + m[1] * n[3], m[2] * n[0] + m[3] * n[2],
            m[2] * n[1] + m[3] * n[3], m[4] * n[0] + m[5] * n[2] + n[4], m[4] * n[1] + m[5] * n[3] + n[5])


def _apply(m: _Matrix, x: float, y: float) -> _Point:
    return m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]


_LEVEL_LENGTH = 25.0  # points; strokes of characters stay under it
_UPRIGHT_LENGTH = 15.0
_LEVEL = 0.05  # degrees
_THICK = 5.0  # points; thicker marks are pictures or bars


def segments_of_image(image: Image.Image, dpi: float, turn: float = 0.0, skew: float = 0.0) -> list[Segment]:
    """Return the strokes of a scanned page in points, y upwards.

    `turn` is what the picture must be turned counter-clockwise to stand upright, `skew` the clockwise slant of its lines,
    both in degrees: the strokes are those of the page turned and made level about its middle.
    """
    import cv2
    import numpy as np

    image = image.convert("L")
    if turn:
        image = image.rotate(turn, expand=True, fillcolor=255)
    if abs(skew) > _LEVEL:
        image = image.rotate(skew, Image.Resampling.BILINEAR, fillcolor=255)
    grey = np.asarray(image)
    scale = dpi / 72
    window = max(15, int(12 * scale)) | 1
    dark = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, 15)
    found: list[Segment] = []
    for is_level in (True, False):
        length = max(5, int((_LEVEL_LENGTH if is_level else _UPRIGHT_LENGTH) * scale))
        size = (length, 1) if is_level else (1, length)
        bridge = (max(2, int(scale * 2)), 2) if is_level else (2, max(2, int(scale * 2)))
        closed = cv2.morphologyEx(dark, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_RECT, bridge))
        strokes = cv2.morphologyEx(closed, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_RECT, size))
        _, _, stats, _ = cv2.connectedComponentsWithStats(strokes)
        for left, top, width, height, _ in stats[1:].tolist():
            if (height if is_level else width) > _THICK * scale:
                continue
            y0, y1 = (image.height - top - height) / scale, (image.height - top) / scale
            found.extend(_middle(left / scale, y0, (left + width) / scale, y1))
    return merged(found) if len(found) <= _MOST else []
