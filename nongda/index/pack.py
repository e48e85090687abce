"""A knowledge pack: one file for the stick. Start reading at `write_pack` and `open_pack`."""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from nongda.documents.identify import sha256_hex
from nongda.errors import DocumentError, UsageError
from nongda.index.pack_manifest import (
    FORMAT,
    MANIFEST,
    SIGNATURE,
    Entry,
    Manifest,
    format_of,
    manifest_bytes,
    read_manifest,
    with_id,
)
from nongda.index.pack_sign import SIGNATURE_BYTES, PublicKey, SecretKey, check_signature, sign
from nongda.index.pack_zip import (
    FAT32_LIMIT,
    LOCAL_BYTES,
    MOST_ENTRIES,
    central_header,
    end_record,
    first_size,
    local_header,
    total_size,
)

SUFFIX = ".ndpack"
_PIECE = 1 << 20  # bytes read at once
_LARGEST_MANIFEST = 64 << 20  # bytes; 65,000 entries need 20 MB
Report = Callable[[int, int], None]  # bytes done, bytes in all


def _silent(done: int, total: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack whose signature and sums are right; `signer` is the trusted key that signed it."""

    path: Path
    manifest: Manifest
    signer: PublicKey
    offsets: Mapping[str, int]

    def read(self, path: str) -> bytes:
        """Return the bytes of an entry, checked once more: a stick may be changed meanwhile. Raises DocumentError."""
        entry = next(e for e in self.manifest.entries if e.path == path)
        with _reading(self.path), self.path.open("rb") as file:
            file.seek(self.offsets[path])
            data = file.read(entry.size)
        if sha256_hex(data) != entry.sha256:
            raise _damaged(self.path)
        return data

    def has(self, path: str) -> bool:
        """Tell whether there is an entry of this path."""
        return path in self.offsets


def write_pack(path: Path, draft: Manifest, sources: Mapping[str, Callable[[], bytes]], key: SecretKey,
               report: Report = _silent) -> Manifest:
    """Write a pack of the files that `sources` return (called twice each) and read it back; returns its manifest.

    The same content, day and key give the same bytes. Raises UsageError where it would be too large for a stick or is
    there already, DocumentError where the medium is full or gives back something else. Then nothing is left behind.
    """
    entries = tuple(_entry(name, sources[name]()) for name in sorted(sources))
    manifest = with_id(replace(draft, entries=entries, maker=key.name, format=FORMAT))
    head = manifest_bytes(manifest)
    files = [(MANIFEST, lambda: head), (SIGNATURE, lambda: sign(head, key)), *((e.path, sources[e.path]) for e in entries)]
    size = total_size([(MANIFEST, len(head)), (SIGNATURE, SIGNATURE_BYTES), *((e.path, e.size) for e in entries)])
    _check_size(path, size, len(head), len(entries))
    temporary = path.with_name(path.name + ".tmp")
    try:
        _check_room(path, size)
        with _writing(path), temporary.open("wb") as file:
            _write_files(file, files)
            _drop_cache(file)
        _read_back(temporary, path, key, report)
        with _writing(path):
            os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return manifest


def _read_back(temporary: Path, path: Path, key: SecretKey, report: Report) -> None:
    try:
        open_pack(temporary, [key.public], report)
    except DocumentError as error:
        raise DocumentError(f"知识包 {path} 写入后读回的内容不同，没有留下文件：请换一个 U 盘再做一次；"
                            "若资料正在改动，请等它结束") from error


def _entry(path: str, data: bytes) -> Entry:
    return Entry(path, len(data), sha256_hex(data))


def _check_size(path: Path, size: int, head: int, entries: int) -> None:
    if path.exists():
        raise UsageError(f"{path} 已经存在，没有改动：请换一个文件名，或先删除旧文件")
    if size > FAT32_LIMIT or head > _LARGEST_MANIFEST or entries > MOST_ENTRIES:
        raise UsageError(f"知识包 {path.name} 会有 {size / 2**30:.1f} GiB、{entries} 个文件，U 盘（FAT32）放不下 4 GiB 以上的文件，"
                         "没有写入：请用 --documents 选资料，分成几个知识包")


def _check_room(path: Path, size: int) -> None:
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError as error:
        raise UsageError(f"文件夹 {path.parent} 不能使用（{error.strerror or error}）：请检查路径") from error
    if free < size:
        raise UsageError(f"{path.parent} 只剩 {free / 2**20:.1f} MiB，知识包要 {size / 2**20:.1f} MiB，没有写入：请腾出空间或换一个 U 盘")


def _write_files(file: BinaryIO, files: Iterable[tuple[str, Callable[[], bytes]]]) -> None:
    contents, offset, count = bytearray(), 0, 0
    for path, source in files:
        data = source()
        crc = zlib.crc32(data)
        header = local_header(path, len(data), crc)
        file.write(header)
        file.write(data)
        contents += central_header(path, len(data), crc, offset)
        offset, count = offset + len(header) + len(data), count + 1
    file.write(contents + end_record(count, len(contents), offset))


def _drop_cache(file: BinaryIO) -> None:
    """Have the system forget what it wrote, where it can, so that reading back reads the medium."""
    file.flush()
    os.fsync(file.fileno())
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DocumentError(f"知识包 {path} 无法写入（{error.strerror or error}），没有留下文件：请检查 U 盘，或换一个位置") from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DocumentError(f"知识包 {path} 无法读取（{error.strerror or error}）：请检查路径，或重新插好 U 盘") from error


def _damaged(path: Path) -> DocumentError:
    return DocumentError(f"知识包 {path.name} 已损坏或不完整，没有添加：请从原处重新拷贝；仍不行就换一个 U 盘，或向省站重新索取")


def open_pack(path: Path, keys: Iterable[PublicKey], report: Report = _silent) -> Pack:
    """Open a pack and check every byte of it; `keys` are those that the station trusts.

    Raises DocumentError, which says what to do, where it is damaged, cut short, unsigned, signed by another, of a newer
    format, or not a pack. The signature is checked before anything else is believed.
    """
    with _reading(path), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head, crc = _first(file, MANIFEST, path, min(size, _LARGEST_MANIFEST))
        signature, sign_crc = _first(file, SIGNATURE, path, SIGNATURE_BYTES)
        signer = check_signature(head, signature, keys, path.name)
        if format_of(head) > FORMAT:
            raise DocumentError(f"知识包 {path.name} 的格式是 {format_of(head)}，本程序只认到 {FORMAT}，没有添加：请先升级本程序")
        manifest = read_manifest(head, path.name)
        first = [(MANIFEST, len(head), crc), (SIGNATURE, len(signature), sign_crc)]
        if size != total_size([*((p, s) for p, s, _ in first), *((e.path, e.size) for e in manifest.entries)]):
            raise _damaged(path)
        offsets = _check_entries(file, first, manifest.entries, path, lambda done: report(done, size))
    return Pack(path, manifest, signer, offsets)


def _first(file: BinaryIO, path: str, named: Path, most: int) -> tuple[bytes, int]:
    """Read the next entry, which must have this path and at most so many bytes; returns it and its CRC."""
    header = file.read(LOCAL_BYTES + len(path))
    size = first_size(header, path)
    if size is None and path == MANIFEST and header[:4] != b"PK\x03\x04":
        raise DocumentError(f"{named.name} 不是知识包，没有添加：请选择 {SUFFIX} 文件；如果是拷贝来的，请重新拷贝")
    if size is None and path == SIGNATURE:
        raise DocumentError(f"知识包 {named.name} 没有签名或已损坏，没有添加：请向省站索取签过名的知识包")
    if size is None or size > most:
        raise _damaged(named)
    data = file.read(size)
    crc = zlib.crc32(data)
    if len(data) != size or local_header(path, size, crc) != header:
        raise _damaged(named)
    return data, crc


def _check_entries(file: BinaryIO, first: Iterable[tuple[str, int, int]], entries: Iterable[Entry], named: Path,
                   report: Callable[[int], None]) -> dict[str, int]:
    """Check the rest of the file against the manifest; returns where each entry's bytes begin."""
    contents, offset, count = bytearray(), 0, 0
    offsets: dict[str, int] = {}
    for path, size, crc in first:
        contents += central_header(path, size, crc, offset)
        offset, count = offset + LOCAL_BYTES + len(path) + size, count + 1
    for entry in entries:
        header = file.read(LOCAL_BYTES + len(entry.path))
        crc, sha256 = _sums(file, entry.size)
        if sha256 != entry.sha256 or header != local_header(entry.path, entry.size, crc):
            raise _damaged(named)
        contents += central_header(entry.path, entry.size, crc, offset)
        offsets[entry.path] = offset + len(header)
        offset, count = offset + len(header) + entry.size, count + 1
        report(offset)
    if file.read() != contents + end_record(count, len(contents), offset):
        raise _damaged(named)
    return offsets


def _sums(file: BinaryIO, size: int) -> tuple[int, str]:
    """Return CRC and SHA-256 of the next bytes, read piece by piece."""
    crc, sha256, left = 0, hashlib.sha256(), size
    while left and (piece := file.read(min(left, _PIECE))):
        crc, left = zlib.crc32(piece, crc), left - len(piece)
        sha256.update(piece)
    return crc, sha256.hexdigest()
