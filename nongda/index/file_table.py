"""The table of files: what was read from which folder, so that only what changed is read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlite_utils import Database

Rows = Callable[[str, Sequence[object]], list[dict[str, Any]]]
FileStatus = Literal["added", "skipped", "failed", "gone", "unread"]


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a folder as it was read last; `path` is relative, with slashes.

    `doc_id` is the document its content is, "" where there is none. `status`: added, skipped (its content was known),
    failed (its content cannot be used), unread (it could not be opened; tried again each time), gone (its document was
    retired with it, and comes back with it).
    """

    folder: str
    path: str
    size: int
    mtime_ns: int
    sha256: str
    doc_id: str
    status: FileStatus
    message: str = ""


class FileTable:
    """Reads and writes the table; `write` begins an atomic write, `rows` runs a query."""

    def __init__(self, rows: Rows, write: Callable[[], AbstractContextManager[Database]]) -> None:
        self._rows = rows
        self._write = write

    def of(self, folder: str) -> dict[str, FileRow]:
        """Return what is known of a folder's files, by path."""
        return {row["path"]: FileRow(**row) for row in self._rows(f"{_SELECT} WHERE folder = ? ORDER BY path", (folder,))}

    def holders(self, doc_id: str) -> list[FileRow]:
        """Return the files, of all folders, whose content is this document."""
        return [FileRow(**row) for row in self._rows(f"{_SELECT} WHERE doc_id = ? ORDER BY folder, path", (doc_id,))]

    def with_content(self, sha256: str) -> list[FileRow]:
        """Return the files, of all folders, with these bytes."""
        return [FileRow(**row) for row in self._rows(f"{_SELECT} WHERE sha256 = ? ORDER BY folder, path", (sha256,))]

    def put(self, rows: Iterable[FileRow], gone: Iterable[FileRow] = ()) -> None:
        """Keep these rows and drop those that are gone, in one atomic write."""
        kept, dropped = list(rows), list(gone)
        if not kept and not dropped:
            return
        with self._write() as db:
            for row in dropped:
                db.execute("DELETE FROM files WHERE folder = ? AND path = ?", [row.folder, row.path])
            db.table("files").upsert_all([asdict(row) for row in kept], pk=("folder", "path"))


_SELECT = "SELECT folder, path, size, mtime_ns, sha256, doc_id, status, message FROM files"
