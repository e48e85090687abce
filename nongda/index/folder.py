"""A folder and the knowledge base are brought together; only what changed is read. Start reading at `sync`.

1. The tree is looked through by size and time; files that are as they were are not opened.
2. A file that is new or changed is hashed. The same bytes as before: nothing. The bytes of another file: it was moved or
   copied, one document serves both. Else it is added; the document that the file held before retreats behind the new one.
3. The document of a file that is gone is retired, where no other file holds it and a folder brought it. It comes back with
   the file. Of a folder that is gone or empty as a whole nothing is retired: the stick was pulled.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Protocol

from nongda.documents.identify import file_sha256
from nongda.documents.parse import printable
from nongda.index.file_table import FileRow, FileStatus, FileTable
from nongda.index.scan_folder import FileStat, Scan, file_stat, is_text, scan_folder
from nongda.index.time_left import FileShare, TimeLeft
from nongda.intake import AddEvent, FileReport, Progress
from nongda.records import StoredDocument


class Shelf(Protocol):
    """What following a folder needs of the knowledge base; StoreError ends the run."""

    def document(self, doc_id: str) -> StoredDocument | None:
        """Return a document that was not removed, or None."""
        ...

    def known(self, sha256: str) -> str:
        """Return the id of the document with these bytes, or ""."""
        ...

    def add_file(self, path: Path, origin: str, replaces: str, stop: threading.Event | None) -> Iterator[AddEvent]:
        """Add one file, a bad one is a report; no report where it was stopped."""
        ...

    def retire(self, doc_id: str) -> None:
        """Take a document out of use."""
        ...

    def supersede(self, doc_id: str, newer: str) -> None:
        """Let a document retreat behind a newer one."""
        ...

    def restore(self, doc_id: str) -> None:
        """Take a document into use again."""
        ...


def sync(folder: Path, shelf: Shelf, table: FileTable, data_dir: Path, stop: threading.Event | None = None,
         unsettled: Collection[str] = (), retry: bool = False) -> Iterator[AddEvent]:
    """Bring the knowledge base up to a folder: progress, and a report for each file that something became of.

    What was done stays done when it is stopped; the next run goes on. Files of `unsettled` (paths below the folder) are
    left as they are. Files that failed are read again only where they changed, or with `retry`. Raises StoreError.
    """
    run = _Run(folder, shelf, table, stop, frozenset(unsettled), retry)
    yield from run.go(scan_folder(folder, data_dir))


class _Run:
    def __init__(self, folder: Path, shelf: Shelf, table: FileTable, stop: threading.Event | None,
                 unsettled: frozenset[str], retry: bool) -> None:
        self._folder, self._name = folder, str(folder.absolute())
        self._shelf, self._table = shelf, table
        self._stop, self._unsettled, self._retry = stop, unsettled, retry
        self._rows = table.of(self._name) if is_text(self._name) else {}
        self._scan = Scan()

    def _stopped(self) -> bool:
        return self._stop is not None and self._stop.is_set()

    def go(self, scan: Scan) -> Iterator[AddEvent]:
        self._scan = scan
        if trouble := self._whole_trouble():
            yield FileReport(self._name, "failed", trouble, 1, 1)
            return
        troubles = _troubles(self._folder, scan)
        todo = [path for path, found in scan.files.items() if self._is_to_read(path, found)]
        total = len(troubles) + len(todo)
        yield from (replace(report, total=total) for report in troubles)
        left = TimeLeft([scan.files[path].size for path in todo])
        for number, path in enumerate(todo):
            if self._stopped():
                return
            worked, share = False, FileShare()
            for event in self._read(path):
                worked = worked or isinstance(event, Progress)
                if isinstance(event, Progress):
                    seconds = left.after(number, share.after(event.stage, event.done, event.total))
                else:
                    seconds = left.after(number + 1)
                yield _placed(event, len(troubles) + number + 1, total, seconds)
            if not worked:
                left.skip(number)
            if not self._folder.is_dir():
                yield FileReport(self._name, "failed", self._missing(), total, total)
                return
        gone = [] if self._stopped() else list(self._retire_gone())
        for number, report in enumerate(gone, start=total + 1):
            yield _placed(report, number, total + len(gone), None)

    # the whole folder

    def _whole_trouble(self) -> str:
        known = any(row.status not in ("gone", "failed") for row in self._rows.values())
        if not self._scan.there:
            return self._missing()
        if not is_text(self._name):
            return f"文件夹名“{printable(self._name)}”里有乱码：请改名后再读入"
        if known and not self._scan.files:
            return (f"文件夹“{printable(self._name)}”里一份资料也没有了，以前读入的都保持原样："
                    "请检查U盘或网络盘是否接好；如果确实不要了，请在资料列表里停用")
        return ""

    def _missing(self) -> str:
        return f"文件夹“{printable(self._name)}”打不开或不见了，以前读入的资料都保持原样：请检查U盘或网络盘是否接好"

    def _is_to_read(self, path: str, found: FileStat) -> bool:
        row = self._rows.get(path)
        if path in self._unsettled:
            return False
        if row is None or row.status in ("gone", "unread") or (self._retry and row.status == "failed"):
            return True
        return (row.size, row.mtime_ns) != (found.size, found.mtime_ns)

    # one file

    def _read(self, path: str) -> Iterator[AddEvent]:
        full = self._folder / path
        before, old = file_stat(full), self._rows.get(path)
        if before is None:
            return  # gone meanwhile: the next run sees to it
        try:
            sha256 = file_sha256(full)
        except OSError as error:
            message = f"文件“{printable(full.name)}”打不开（{error.strerror or error}）：请检查权限、确认没有被别的程序占用"
            self._keep(path, before, old.sha256 if old else "", old.doc_id if old else "", "unread", message)
            yield FileReport(str(full), "failed", message, 1, 1)
            return
        if old is not None and old.sha256 == sha256 and self._is_settled(old):
            self._keep(path, before, sha256, old.doc_id, "added" if old.status in ("gone", "unread") else old.status,
                       "" if old.status in ("gone", "unread") else old.message)
            yield from self._come_back(full, old)
            return
        twin = next((row for row in self._table.with_content(sha256) if self._serves(path, row)), None)
        if twin is not None:
            yield from self._share_document(path, before, twin)
        else:
            yield from self._add(path, before, sha256)

    def _is_settled(self, old: FileRow) -> bool:
        """Tell whether nothing is to do for a file with the bytes it had."""
        if old.status == "failed":
            return not self._retry
        return bool(old.doc_id) and (old.status != "gone" or self._shelf.document(old.doc_id) is not None)

    def _serves(self, path: str, row: FileRow) -> bool:
        """Tell whether the document of another file is there for a file of the same content."""
        if not row.doc_id or row.status == "failed" or (row.folder, row.path) == (self._name, path):
            return False
        return row.status != "gone" or self._shelf.document(row.doc_id) is not None

    def _come_back(self, full: Path, row: FileRow) -> Iterator[FileReport]:
        """A document that was retired when its file went is in use again; one that the reader retired stays so."""
        document = self._shelf.document(row.doc_id)
        if row.status == "gone" and document is not None and document.state == "retired":
            self._shelf.restore(row.doc_id)
            yield FileReport(str(full), "added", "文件回来了，资料恢复使用", 1, 1, row.doc_id, document.chunks)

    def _share_document(self, path: str, found: FileStat, twin: FileRow) -> Iterator[FileReport]:
        full, moved = self._folder / path, self._is_moved(twin)
        message = f"是“{printable(twin.path)}”{'移动或改名而来' if moved else '的副本'}，内容没有变化"
        old = self._rows.get(path)
        self._keep(path, found, twin.sha256, twin.doc_id, "skipped", message)
        if moved:
            self._table.put([], [twin])
            self._rows.pop(twin.path, None)
        back = list(self._come_back(full, twin))
        self._retreat(path, old, twin.doc_id)
        yield from back or [FileReport(str(full), "skipped", message, 1, 1, twin.doc_id)]

    def _is_moved(self, twin: FileRow) -> bool:
        if twin.status == "gone":
            return True
        return twin.folder == self._name and twin.path not in self._scan.files and not self._scan.might_have(twin.path)

    def _add(self, path: str, before: FileStat, sha256: str) -> Iterator[AddEvent]:
        full, old = self._folder / path, self._rows.get(path)
        held = old.doc_id if old and not self._others(path, old.doc_id) else ""
        for event in self._shelf.add_file(full, self._name, held, self._stop):
            if isinstance(event, FileReport):
                event = self._settle(path, before, sha256, old, event)
            yield event

    def _settle(self, path: str, before: FileStat, sha256: str, old: FileRow | None, report: FileReport) -> FileReport:
        """Keep what became of a file, and see that its document stands in the place of the one it held before."""
        full = self._folder / path
        after = file_stat(full)
        if after is None and report.status == "failed":
            return replace(report, message=f"文件“{printable(full.name)}”在读的时候不见了：找到后会自动再读")
        if report.status == "failed" and (known := self._shelf.known(sha256)):  # a second process was faster
            report = replace(report, status="skipped", doc_id=known)
        doc_id = report.doc_id
        if report.status == "failed" and old is not None and old.doc_id:
            doc_id, report = old.doc_id, replace(report, message=f"{report.message}（仍用原来的内容）")
        # A file that changed while it was read may not have been stored under its hash; its new time has it read again.
        self._keep(path, before, sha256 if after == before else "", doc_id, report.status, report.message)
        self._retreat(path, old, doc_id)
        return report

    def _retreat(self, path: str, old: FileRow | None, doc_id: str) -> None:
        """The document that a file held before is superseded by what it holds now, unless another file holds it too."""
        if old is None or not old.doc_id or not doc_id or old.doc_id == doc_id or self._others(path, old.doc_id):
            return
        now, before = self._shelf.document(doc_id), self._shelf.document(old.doc_id)
        if now is not None and now.state == "superseded" and now.superseded_by == old.doc_id:
            self._shelf.restore(doc_id)
        if before is not None and before.state == "active":
            self._shelf.supersede(old.doc_id, doc_id)

    def _others(self, path: str, doc_id: str) -> bool:
        return bool(doc_id) and any(row.status != "gone" and (row.folder, row.path) != (self._name, path)
                                    for row in self._table.holders(doc_id))

    def _keep(self, path: str, found: FileStat, sha256: str, doc_id: str, status: FileStatus, message: str) -> None:
        row = FileRow(self._name, path, found.size, found.mtime_ns, sha256, doc_id, status, message)
        self._rows[path] = row
        self._table.put([row])

    # files that are gone

    def _retire_gone(self) -> Iterator[FileReport]:
        for path, row in list(self._rows.items()):
            if path in self._scan.files or path in self._unsettled or row.status == "gone" or self._scan.might_have(path):
                continue
            document = self._shelf.document(row.doc_id) if row.doc_id else None
            if document is None or document.state != "active" or not _came_from_folder(document) or self._others(path, row.doc_id):
                self._table.put([], [row])
                continue
            message = "文件已不在文件夹里，资料停用；引用过的内容仍可查，文件放回来就恢复"
            self._shelf.retire(row.doc_id)
            self._keep(path, FileStat(row.size, row.mtime_ns), row.sha256, row.doc_id, "gone", message)
            yield FileReport(str(self._folder / path), "skipped", message, 1, 1, row.doc_id)


def _came_from_folder(document: StoredDocument) -> bool:
    """What was added by hand or by a pack has another origin than the full path of a folder."""
    return PurePosixPath(document.origin).is_absolute() or PureWindowsPath(document.origin).is_absolute()


def _troubles(folder: Path, scan: Scan) -> list[FileReport]:
    told = [(f"{folder / path}", f"“{printable(path)}”打不开（{reason}），里面的资料保持原样：请检查权限")
            for path, reason in scan.unreadable.items()]
    told += [(printable(path), f"文件名“{printable(Path(path).name)}”里有乱码：请改名后再读入") for path in scan.unnamable]
    return [FileReport(path, "failed", message, number, len(told)) for number, (path, message) in enumerate(told, start=1)]


def _placed(event: AddEvent, index: int, total: int, left: float | None) -> AddEvent:
    if isinstance(event, Progress):
        return replace(event, index=index, files=total, left=left)
    return replace(event, index=index, total=total, left=left)
