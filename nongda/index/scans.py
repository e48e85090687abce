"""What recognition read, kept by the file's hash: a stopped scan goes on, a rebuild reads nothing twice."""

from __future__ import annotations

from nongda.documents.ocr import Scan, scan_from_json, scan_to_json
from nongda.index.store import Store


class Scans:
    """The pages of one file read before, by one reader (engine, models and settings)."""

    def __init__(self, store: Store, sha256: str, reader: str) -> None:
        self._store = store
        self._key = (sha256, reader)

    def get(self, number: int) -> Scan | None:
        """Return what was read on a page, from 1; None where it was not read."""
        rows = self._store.rows("SELECT lines FROM scans WHERE sha256 = ? AND reader = ? AND number = ?", (*self._key, number))
        return scan_from_json(rows[0]["lines"]) if rows else None

    def put(self, number: int, scan: Scan) -> None:
        """Keep what was read on a page."""
        sha256, reader = self._key
        with self._store.write() as db:
            db.table("scans").upsert({"sha256": sha256, "number": number, "reader": reader, "lines": scan_to_json(scan)},
                                     pk=("sha256", "number", "reader"))
