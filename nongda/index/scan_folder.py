"""What lies in a folder tree: the files of known formats, by size and time, without reading any of them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from nongda.documents.parse import is_known

_SYSTEM_FOLDERS = frozenset({"$recycle.bin", "system volume information", "__macosx", "lost+found"})
_HIDDEN_ON_WINDOWS = 0x2  # FILE_ATTRIBUTE_HIDDEN


@dataclass(frozen=True, slots=True)
class FileStat:
    """Size in bytes and time of the last change in nanoseconds: what tells a changed file without reading it."""

    size: int
    mtime_ns: int


@dataclass(slots=True)
class Scan:
    """Files by their path below the folder, with slashes; what could not be looked into, by the same, with the reason."""

    files: dict[str, FileStat] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    unnamable: list[str] = field(default_factory=list)  # names that are no text in any encoding known here
    there: bool = True

    def might_have(self, path: str) -> bool:
        """Tell whether a file that was not seen may lie in what could not be looked into."""
        return any(path == part or path.startswith(f"{part}/") for part in self.unreadable)


def scan_folder(folder: Path, data_dir: Path) -> Scan:
    """Look through a folder and all below it; hidden files, locks of office programs and our own data are left out."""
    scan = Scan()
    seen = {identity for path in (data_dir,) if (identity := _identity(path)) is not None}
    if not folder.is_dir():
        scan.there = False
        return scan
    _look_into(folder, "", scan, seen)
    if "" in scan.unreadable:
        scan.there = False
    return scan


def _look_into(folder: Path, prefix: str, scan: Scan, seen: set[tuple[int, int]]) -> None:
    """A folder that was seen is left out: links may lead in a circle."""
    identity = _identity(folder)
    if prefix and (identity is None or identity in seen):
        return
    if identity is not None:
        seen.add(identity)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        scan.unreadable[prefix.rstrip("/")] = error.strerror or str(error)
        return
    for entry in entries:
        if _is_left_out(entry.name):
            continue
        try:
            _take(entry, prefix, scan, seen)
        except OSError as error:
            scan.unreadable[prefix + entry.name] = error.strerror or str(error)


def _take(entry: os.DirEntry[str], prefix: str, scan: Scan, seen: set[tuple[int, int]]) -> None:
    if entry.is_dir():
        if entry.name.lower() not in _SYSTEM_FOLDERS:
            _look_into(Path(entry.path), f"{prefix}{entry.name}/", scan, seen)
    elif is_known(os.path.splitext(entry.name)[1].lower()) and entry.is_file():
        found = entry.stat()
        if getattr(found, "st_file_attributes", 0) & _HIDDEN_ON_WINDOWS:
            return
        if not is_text(prefix + entry.name):
            scan.unnamable.append(entry.path)
        elif stat.S_ISREG(found.st_mode):
            scan.files[prefix + entry.name] = FileStat(found.st_size, found.st_mtime_ns)


def _is_left_out(name: str) -> bool:
    """Hidden files, and the locks that Word (~$), WPS (.~) and LibreOffice (.~lock) lay beside an open file."""
    return name.startswith((".", "~$", "~")) or name.lower().endswith((".tmp", ".temp", ".part", ".crdownload"))


def is_text(name: str) -> bool:
    """Tell whether a name can be stored: one in an unknown encoding has no characters of Unicode."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def file_stat(path: Path) -> FileStat | None:
    """Return size and time of a file; None where it is gone."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return FileStat(found.st_size, found.st_mtime_ns)
