"""Opening the database file, on a read-only medium too, and its errors in words."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlite_utils import Database

_BUSY_SECONDS = 30


def open_database(path: Path) -> tuple[Database, bool]:
    """Open for writing where possible, else read-only; returns the database and whether it is read-only."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(str(path), uri=False)
        try:
            # SQLite opens a read-only file without complaint; only a real change shows it.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE write_probe (x)")
            connection.execute("ROLLBACK")
            return Database(connection), False
        except sqlite3.Error:
            connection.close()
            raise
    except (sqlite3.OperationalError, OSError) as error:
        if not path.exists() or "locked" in str(error):
            raise
    # immutable: a read-only medium cannot hold the lock files that even a reader would need
    return Database(_connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)), True


def _connect(target: str, uri: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        target, uri=uri, timeout=_BUSY_SECONDS, check_same_thread=False, isolation_level=None
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def explain(error: sqlite3.Error, path: Path) -> str:
    """Return an error of SQLite as a sentence for the reader; `path` is the database."""
    text, folder = str(error), path.parent
    if "full" in text or "disk I/O" in text:
        return f"磁盘已满或无法写入，数据文件夹 {folder} 保持原样：请腾出空间后再试"
    if "locked" in text or "busy" in text:
        return f"数据文件夹 {folder} 正被另一个程序写入：请稍后再试"
    if "not a database" in text or "malformed" in text:
        return f"数据文件夹 {folder} 的 {path.name} 已损坏：请换用备份，或改名后重新添加资料"
    return f"数据文件夹 {folder} 读写失败（{text}）：请检查磁盘，必要时换用备份"
