"""The one zip layout of a knowledge pack: stored entries one after another, every header byte fixed by name, size and CRC.

Any zip program opens it. Ours compares each header with what it must be, so that no byte of a pack can be changed, and
nothing is ever unpacked to more than the file's own size. zipfile is not used: its bytes differ between Python versions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_VERSION, _STORED, _DAY = 20, 0, 0x21  # 2.0; no compression; 1 January 1980, the earliest day of a zip
LOCAL_BYTES = _LOCAL.size
MOST_ENTRIES = 65_000  # more need zip64
FAT32_LIMIT = 4_294_967_295  # bytes of a file


def local_header(path: str, size: int, crc: int) -> bytes:
    """Return what stands before the bytes of an entry."""
    name = path.encode("ascii")
    return _LOCAL.pack(b"PK\x03\x04", _VERSION, 0, _STORED, 0, _DAY, crc, size, size, len(name), 0) + name


def central_header(path: str, size: int, crc: int, offset: int) -> bytes:
    """Return the line of the table of contents for an entry that begins at `offset`."""
    name = path.encode("ascii")
    return _CENTRAL.pack(b"PK\x01\x02", _VERSION, _VERSION, 0, _STORED, 0, _DAY, crc, size, size, len(name), 0, 0, 0, 0, 0,
                         offset) + name


def end_record(count: int, size: int, offset: int) -> bytes:
    """Return the end of a file whose table of contents has `count` lines, `size` bytes and begins at `offset`."""
    return _END.pack(b"PK\x05\x06", 0, 0, count, count, size, offset, 0)


def first_size(header: bytes, path: str) -> int | None:
    """Return the size of the entry that this local header claims, None where it is no plain entry of this path."""
    if len(header) < LOCAL_BYTES:
        return None
    *_, crc, _size, size, _name, _extra = _LOCAL.unpack(header[:LOCAL_BYTES])
    return size if local_header(path, size, crc) == header else None


def total_size(sizes: Iterable[tuple[str, int]]) -> int:
    """Return the size of a file with these entries (path, bytes)."""
    return _END.size + sum(_LOCAL.size + _CENTRAL.size + 2 * len(path) + size for path, size in sizes)
