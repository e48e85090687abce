"""Streams of a PDF that would fill the memory: told before PDFium unpacks them, which knows no limit."""

from __future__ import annotations

import re
import zlib

from nongda.errors import DocumentError

MAX_STREAM = 256 * 2**20  # bytes unpacked of what is no picture; the drawing of a page stays under 20 MB
MAX_DOTS = 200_000_000  # of a picture; A0 at 300 dots per inch has 140 million
_STREAM = re.compile(rb"stream\r?\n")
_SIZE = re.compile(rb"/(?:Width|Height)\s+(\d{1,10})")
_DICTIONARY = 2000  # bytes before a stream in which its dictionary is looked for
_READ = 2**20  # bytes unpacked at a time


def check_streams(data: bytes, name: str) -> None:
    """Refuse a PDF with a bomb in it. Raises DocumentError."""
    place = 0
    while match := _STREAM.search(data, place):
        place = match.end()
        before = data[max(0, match.start() - _DICTIONARY):match.start()]
        dictionary = before[before.rfind(b"endstream") + 1:]
        sides = [int(side) for side in _SIZE.findall(dictionary)] if b"/Image" in dictionary else []
        if len(sides) == 2:
            is_bomb = sides[0] * sides[1] > MAX_DOTS
        else:
            place, is_bomb = _unpacked(data, place)
        if is_bomb:
            raise DocumentError(f"文件“{name}”里有解压后大得异常的内容，可能是恶意文件：请检查来源，或重新打印成 PDF 后再添加")


def _unpacked(data: bytes, start: int, depth: int = 2) -> tuple[int, bool]:
    """Return where a packed stream ends (the start where it is none), and whether it holds more than the limit."""
    unpack = zlib.decompressobj()
    size, rest, first = 0, data[start:start + _READ], b""
    place = start + len(rest)
    try:
        while not unpack.eof and rest:
            piece = unpack.decompress(rest, _READ)
            first = first if len(first) >= _READ else first + piece
            size += len(piece)
            if size > MAX_STREAM:
                return place, True
            rest = unpack.unconsumed_tail
            if not rest:
                rest = data[place:place + _READ]
                place += len(rest)
    except zlib.error:  # not packed this way, or damaged
        if not size:
            return start, False
    return (place - len(unpack.unused_data), bool(depth and size and _unpacked(first, 0, depth - 1)[1]))
