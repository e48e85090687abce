"""A small writer of old Excel files, so that tests need no binary samples: the bare stream that spreadsheets wrote."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence


def workbook(sheets: Mapping[str, Sequence[bytes]], formats: Sequence[str] = (), hidden: Sequence[str] = (),
             version: int = 8, codepage: int | None = 1200, encoding: str = "utf-16-le") -> bytes:
    """Return a workbook; cell style n + 1 has the n-th format, style 0 is General. Version 8 is Excel 97, 5 Excel 95."""
    head = record(0x0809, struct.pack("<HH", 0x0600 if version == 8 else 0x0500, 0x0005) + b"\0" * (12 if version == 8 else 4))
    if codepage is not None:
        head += record(0x0042, struct.pack("<H", codepage))
    for number, text in enumerate(formats):
        head += record(0x041E, struct.pack("<H", 164 + number) + words(text, version, encoding, 2 if version == 8 else 1))
    for number in (0, *range(164, 164 + len(formats))):
        head += record(0x00E0, struct.pack("<HHH", 0, number, 0) + b"\0" * (14 if version == 8 else 10))
    bodies = [record(0x0809, head[4:6] + struct.pack("<H", 0x0010) + head[8:4 + len(head[4:])][: 12 if version == 8 else 4])
              + b"".join(records) + record(0x000A) for records in sheets.values()]
    bounds = [(struct.pack("<H", 1 if name in hidden else 0) + words(name, version, encoding, 1)) for name in sheets]
    offset = len(head) + sum(8 + len(bound) for bound in bounds) + 4
    for bound, body in zip(bounds, bodies, strict=True):
        head += record(0x0085, struct.pack("<I", offset) + bound)
        offset += len(body)
    return head + record(0x000A) + b"".join(bodies)


def record(number: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", number, len(data)) + data


def words(text: str, version: int, encoding: str, length: int) -> bytes:
    raw = text.encode(encoding)
    size = len(text) if version == 8 else len(raw)
    return struct.pack("<H" if length == 2 else "<B", size) + (b"\1" if version == 8 else b"") + raw


def text_cell(row: int, column: int, text: str, version: int = 8, encoding: str = "utf-16-le") -> bytes:
    return record(0x0204, struct.pack("<HHH", row, column, 0) + words(text, version, encoding, 2))


def number_cell(row: int, column: int, value: float, style: int = 0) -> bytes:
    return record(0x0203, struct.pack("<HHHd", row, column, style, value))


def formula_cell(row: int, column: int, result: float) -> bytes:
    return record(0x0006, struct.pack("<HHHdHIH", row, column, 0, result, 0, 0, 3) + b"\x1e\x01\x00")


def error_cell(row: int, column: int) -> bytes:
    return record(0x0205, struct.pack("<HHHBB", row, column, 0, 0x07, 1))


def merged(areas: Sequence[tuple[int, int, int, int]]) -> bytes:
    """Return merged areas, each (first row, last row, first column, last column)."""
    return record(0x00E5, struct.pack("<H", len(areas)) + b"".join(struct.pack("<4H", *area) for area in areas))
