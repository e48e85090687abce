"""What the documents tab does: plain values in, plain values out; it keeps nothing between two calls."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal, Protocol

from nongda.errors import NongDaError
from nongda.intake import PageReading
from nongda.language.text import search_form
from nongda.records import Chunk, StoredDocument
from nongda.ui import documents_view, pages_view
from nongda.ui.documents_view import Related
from nongda.ui.prose import title_of
from nongda.ui.render import notice
from nongda.ui.texts import TEXTS, Language

SHOWN_DOCUMENTS = 50
SHOWN_CHUNKS = 200
PICTURE_WIDTH = 1200  # pixels: print of a scanned A4 page stays readable when enlarged
FIELDS = ("title", "date", "valid_until", "region", "stage", "authority", "tags")
Change = Literal["retire", "restore"]
_TAG_MARKS = re.compile(r"[、,，;；\n]+")


class DocumentsLibrary(Protocol):
    """What the documents tab needs of the library. Unknown ids raise StoreError or give nothing."""

    def documents(self) -> list[StoredDocument]: ...
    def document(self, doc_id: str) -> StoredDocument | None: ...
    def pages(self, doc_id: str) -> Sequence[PageReading]: ...
    def page_image(self, doc_id: str, page: int, width: int = 1000) -> bytes | None: ...
    def chunks_of(self, doc_id: str) -> list[Chunk]: ...
    def chunk(self, chunk_id: str) -> Chunk | None: ...
    def describe(self, doc_id: str, changes: Mapping[str, str]) -> StoredDocument: ...
    def retire(self, doc_id: str) -> StoredDocument: ...
    def restore(self, doc_id: str) -> StoredDocument: ...
    def remove(self, doc_id: str) -> StoredDocument: ...


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list, counted from 0, of `pages`."""

    table: str
    page: int = 0
    pages: int = 1


@dataclass(frozen=True, slots=True)
class Passages:
    """A stretch of a document's passages, and where it begins, of `count` in all."""

    html: str = ""
    start: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True)
class Leaf:
    """The picture of a page; "" where the document's pages are not seen."""

    html: str = ""
    page: int = 1
    pages: int = 1


@dataclass(frozen=True, slots=True)
class Opened:
    """A document opened; without `doc_id` there is none, and `message` says why."""

    doc_id: str = ""
    state: str = ""
    title: str = ""
    head: str = ""
    passages: Passages = Passages()
    leaf: Leaf = Leaf()
    form: Mapping[str, str] = field(default_factory=dict)
    message: str = ""


class DocumentsDesk:
    """The documents tab's actions over one engine, for any number of browser tabs."""

    def __init__(self, library: DocumentsLibrary) -> None:
        self.library = library

    def listing(self, wanted: str, state: str, heed: bool, page: int, language: Language) -> Listing:
        """Return a page of the documents whose title or file name holds what is wanted, those added last first."""
        texts, today = TEXTS[language], date.today().isoformat()
        try:
            stored = self.library.documents()
        except NongDaError as failure:
            return Listing(notice(str(failure), "error"))
        found = [document for document in stored if _fits(document, search_form(wanted.strip()), state)
                 and (not heed or documents_view.attention(document, today, texts))]
        if not found:
            return Listing(f'<p class="hint" role="status">{texts["documents_none" if stored else "documents_empty"]}</p>')
        found = sorted(reversed(found), key=lambda document: document.added_at, reverse=True)
        pages = -(-len(found) // SHOWN_DOCUMENTS)
        page = max(0, min(page, pages - 1))
        first = page * SHOWN_DOCUMENTS
        shown = found[first : first + SHOWN_DOCUMENTS]
        return Listing(documents_view.documents(shown, first + 1, len(found), today, texts), page, pages)

    def open(self, wanted: str, language: Language) -> Opened:
        """Open a document by its id, or at the passage that a citation names, also one of an old edition."""
        texts = TEXTS[language]
        try:
            chunk = self.library.chunk(wanted) if "#" in wanted else None
            document = self._document(chunk.doc_id if chunk else wanted.partition("#")[0])
            if document is None:
                return Opened(message=notice(texts["view_gone"], "error"))
            return self._opened(document, chunk, language)
        except NongDaError as failure:
            return Opened(message=notice(str(failure), "error"))

    def again(self, doc_id: str, language: Language) -> Opened:
        """Return the title, the head and the form of an opened document as they are now."""
        try:
            document = self._document(doc_id)
            return self._described(document, self.library.pages(doc_id), language) if document else Opened()
        except NongDaError as failure:
            return Opened(message=notice(str(failure), "error"))

    def part(self, doc_id: str, start: int, language: Language) -> Passages:
        """Return the passages of a document from this one on."""
        try:
            return self._passages(doc_id, max(0, start), "", self._is_pictured(doc_id), language)
        except NongDaError as failure:
            return Passages(notice(str(failure), "error"))

    def turn(self, doc_id: str, page: int, language: Language) -> Leaf:
        """Return the picture of another page of a document, the nearest there is."""
        try:
            document = self._document(doc_id)
            return self._leaf(document, page, self.library.pages(doc_id), language) if document else Leaf()
        except NongDaError as failure:
            return Leaf(notice(str(failure), "error"))

    def start_of_page(self, doc_id: str, page: int) -> int | None:
        """Return where the stretch with a page's first passage begins; None where the page has none."""
        try:
            chunks = self.library.chunks_of(doc_id)
        except NongDaError:
            return None
        place = next((place for place, chunk in enumerate(chunks) if chunk.page == page), None)
        return None if place is None else place - place % SHOWN_CHUNKS

    def save(self, doc_id: str, form: Mapping[str, str], language: Language) -> tuple[str, bool]:
        """Change what is known of a document; returns the sentence about it, and whether anything changed."""
        texts = TEXTS[language]
        try:
            document = self._document(doc_id)
            if document is None:
                return notice(texts["view_gone"], "error"), False
            before = _form(document)
            changes = {name: _plain(name, form[name]) for name in FIELDS if name in form}
            changes = {name: value for name, value in changes.items() if value != _plain(name, before[name])}
            if not changes:
                return notice(texts["edit_same"], "ask"), False
            changed = self.library.describe(doc_id, changes)
        except NongDaError as failure:
            return notice(str(failure), "error"), False
        return notice(texts["edited"].format(title=title_of(changed)), "done"), True

    def change(self, doc_id: str, change: Change, language: Language) -> str:
        """Retire a document or use it again; returns the sentence about it."""
        try:
            document = self.library.retire(doc_id) if change == "retire" else self.library.restore(doc_id)
        except NongDaError as failure:
            return notice(str(failure), "error")
        said = "retired_done" if change == "retire" else "restored_done"
        return notice(TEXTS[language][said].format(title=title_of(document)), "done")

    def confirm(self, doc_id: str, language: Language) -> tuple[str, bool]:
        """Return the question to put before removing, and whether there is one to put."""
        texts = TEXTS[language]
        try:
            document = self._document(doc_id)
        except NongDaError as failure:
            return notice(str(failure), "error"), False
        if document is None:
            return notice(texts["view_gone"], "error"), False
        return notice(texts["remove_question"].format(title=title_of(document)), "ask"), True

    def remove(self, doc_id: str, language: Language) -> tuple[str, bool]:
        """Remove a document; returns the sentence about it, and whether it is gone."""
        try:
            document = self.library.remove(doc_id)
        except NongDaError as failure:
            return notice(str(failure), "error"), False
        return notice(TEXTS[language]["removed"].format(title=title_of(document)), "done"), True

    def _document(self, doc_id: str) -> StoredDocument | None:
        return self.library.document(doc_id) if doc_id else None

    def _opened(self, document: StoredDocument, chunk: Chunk | None, language: Language) -> Opened:
        readings = self.library.pages(document.id)
        page = chunk.page if chunk and chunk.page else 1
        leaf = self._leaf(document, page, readings, language)
        passages = self._passages(document.id, 0, chunk.id if chunk else "", bool(leaf.html), language)
        return replace(self._described(document, readings, language), passages=passages, leaf=leaf)

    def _described(self, document: StoredDocument, readings: Sequence[PageReading], language: Language) -> Opened:
        texts, related = TEXTS[language], self._related(document)
        head = documents_view.head(document, related, readings, date.today().isoformat(), texts)
        return Opened(document.id, document.state, documents_view.title(document, related, texts), head, form=_form(document))

    def _related(self, document: StoredDocument) -> Related:
        known = {other.id: other for other in self.library.documents()}
        return Related(known.get(document.superseded_by),
                       tuple(other for other in known.values() if other.superseded_by == document.id),
                       tuple(known[other] for other in document.similar if other in known))

    def _passages(self, doc_id: str, start: int, target: str, pictured: bool, language: Language) -> Passages:
        chunks = self.library.chunks_of(doc_id)
        if target:
            place = next((place for place, chunk in enumerate(chunks) if chunk.id == target), 0)
            start = place - place % SHOWN_CHUNKS
        shown = chunks[start : start + SHOWN_CHUNKS]
        html = pages_view.chunks(shown, start + 1, len(chunks), target, pictured, TEXTS[language])
        return Passages(html, start, len(chunks))

    def _is_pictured(self, doc_id: str) -> bool:
        return bool(self.library.pages(doc_id)) or self.library.page_image(doc_id, 1, PICTURE_WIDTH) is not None

    def _leaf(self, document: StoredDocument, page: int, readings: Sequence[PageReading], language: Language) -> Leaf:
        """Return a page's picture; a document kept before pages were noted down may have one without a reading."""
        pages = max((reading.number for reading in readings), default=document.pages or 0)
        page = max(1, min(page, pages))
        jpeg = self.library.page_image(document.id, page, PICTURE_WIDTH) if pages else None
        if jpeg is None and not readings:
            return Leaf()
        reading = next((one for one in readings if one.number == page), None)
        html = pages_view.picture(jpeg, title_of(document), page, pages, reading, TEXTS[language])
        return Leaf(html, page, pages)


def _fits(document: StoredDocument, wanted: str, state: str) -> bool:
    if state and document.state != state:
        return False
    return not wanted or wanted in search_form(document.meta.title) or wanted in search_form(document.source)


def _form(document: StoredDocument) -> dict[str, str]:
    meta = document.meta
    return {"title": meta.title, "date": meta.date, "valid_until": meta.valid_until, "region": meta.region,
            "stage": meta.stage, "authority": meta.authority, "tags": "、".join(meta.tags)}


def _plain(name: str, value: str) -> str:
    """Return a box of the form as the engine takes it; tags stand between 、."""
    return "、".join(tag.strip() for tag in _TAG_MARKS.split(value) if tag.strip()) if name == "tags" else value.strip()
