"""The documents of the page's fake engine: their passages, pages and pictures, and what can be changed of them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from nongda.errors import StoreError, UsageError
from nongda.intake import PageReading
from nongda.records import Chunk, StoredDocument

TABLE = """表 1 用量
| 药剂 | 每亩用量 | 间隔 |
|---|---|---|
| 甲药 | 40克 | 15天 |
| 乙药<b>x</b> | 20毫升 | 7天 |"""


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A watched folder as the engine reports it."""

    path: Path
    looked_at: str = ""
    files: int = 0
    failed: int = 0
    error: str = ""
    busy: bool = False


def drawn(page: int, width: int) -> bytes:
    """Return a picture of a page with nothing on it but a bar for each of its number."""
    image = Image.new("RGB", (width, width * 4 // 3), "white")
    pencil = ImageDraw.Draw(image)
    for line in range(page):
        pencil.rectangle((width // 10, (line + 1) * width // 10, width - width // 10, (line + 1) * width // 10 + width // 40),
                         fill="black")
    held = io.BytesIO()
    image.save(held, "JPEG", quality=60)
    return held.getvalue()


class FakeLibrary:
    """Documents kept in a list; a .pdf has pages of which the second was read badly, the last not at all."""

    def __init__(self, stored: list[StoredDocument]) -> None:
        self.stored = stored
        self.removed: list[StoredDocument] = []
        self.changes: list[Mapping[str, str]] = []
        self.pictures: list[tuple[str, int]] = []

    def documents(self) -> list[StoredDocument]:
        return list(self.stored)

    def document(self, doc_id: str) -> StoredDocument | None:
        return next((one for one in [*self.stored, *self.removed] if one.id == doc_id), None)

    def pages(self, doc_id: str) -> list[PageReading]:
        document = self.document(doc_id)
        if document is None or not document.source.endswith(".pdf"):
            return []
        count = document.pages or 0
        bad = {2: PageReading(2, "ocr", 0.62, "每苗用量 <b>40</b> 克", "字迹不清，请对照原件"),
               count: PageReading(count, "unread", None, "", "")}
        return [bad.get(number, PageReading(number, "text")) for number in range(1, count + 1)]

    def page_image(self, doc_id: str, page: int, width: int = 1000) -> bytes | None:
        readings = self.pages(doc_id)
        self.pictures.append((doc_id, page))
        return drawn(page, width) if page <= len(readings) else None

    def chunks_of(self, doc_id: str) -> list[Chunk]:
        document = self.document(doc_id)
        return [self._chunk(document, place) for place in range(document.chunks)] if document else []

    def _chunk(self, document: StoredDocument, place: int) -> Chunk:
        texts: dict[int, tuple[str, Any]] = {1: (TABLE, "table"), 2: ("<script>window.hacked=1</script>", "paragraph")}
        text, kind = texts.get(place, (f"第 {place} 段：雨季前剪除病枝，可减少侵染；剪下的枝条要带出园外。" * 3, "paragraph"))
        page = place * (document.pages or 1) // max(document.chunks, 1) + 1 if document.pages else None
        return Chunk(f"{document.id}#{place}", document.id, place, text, text, kind, page, ("病害", "叶锈病"),
                     confidence=0.7 if place == 3 else 1.0, off_topic=place == 4)

    def describe(self, doc_id: str, changes: Mapping[str, str]) -> StoredDocument:
        self.changes.append(dict(changes))
        for name in ("date", "valid_until"):
            try:
                date.fromisoformat(changes.get(name) or "2024-01-01")
            except ValueError as error:
                raise UsageError(f"日期“{changes[name]}”不是日期：请写成 2024-03-05") from error
        found: dict[str, Any] = dict(changes)
        if "tags" in found:
            found["tags"] = tuple(found["tags"].split("、")) if found["tags"] else ()
        return self.change(doc_id, meta=replace(self._existing(doc_id).meta, **found))

    def change(self, doc_id: str, **changes: Any) -> StoredDocument:
        before = self._existing(doc_id)
        after = replace(before, **changes)
        self.stored[self.stored.index(before)] = after
        return after

    def remove(self, doc_id: str) -> StoredDocument:
        document = self._existing(doc_id)
        self.stored.remove(document)
        self.removed.append(replace(document, state="removed"))
        return document

    def _existing(self, doc_id: str) -> StoredDocument:
        for document in self.stored:
            if document.id == doc_id:
                return document
        raise StoreError(f"没有编号为 {doc_id} 的资料：请先看资料列表")
