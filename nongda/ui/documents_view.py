"""The list of documents and the head of one as HTML; pure functions, everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from nongda.intake import PageReading
from nongda.records import SURELY_READ, DocumentState, StoredDocument
from nongda.ui.prose import title_of
from nongda.ui.render import Texts
from nongda.ui.sheets import local_time

STATE_SIGNS: Mapping[DocumentState, str] = {"active": "✓", "superseded": "↻", "retired": "Ⅱ", "removed": "✕"}
COLUMNS = ("title", "state", "pages", "chunks", "date", "authority", "region", "attention", "origin", "added")
SHOWN_NOTES = 8  # pages with a note that the head names; each page says its own beside its picture


@dataclass(frozen=True, slots=True)
class Related:
    """The documents that the head of another one leads to."""

    newer: StoredDocument | None = None
    older: tuple[StoredDocument, ...] = ()
    similar: tuple[StoredDocument, ...] = ()


def is_expired(document: StoredDocument, today: str) -> bool:
    """Return whether the last day on which a document holds has passed; `today` is ISO 8601."""
    return bool(document.meta.valid_until) and document.meta.valid_until < today[: len(document.meta.valid_until)]


def attention(document: StoredDocument, today: str, texts: Texts) -> list[str]:
    """Return what a reader should look at in a document, a few words each; empty where all is well."""
    counted = (("doubtful", document.doubtful), ("off_topic", document.off_topic), ("similar", len(document.similar)),
               ("warnings", len(document.warnings)))
    expired = [texts["attention_expired"]] if is_expired(document, today) else []
    return expired + [texts[f"attention_{name}"].format(count=count) for name, count in counted if count]


def documents(shown: Sequence[StoredDocument], first: int, count: int, today: str, texts: Texts) -> str:
    """Return a page of the list: rows that open their document, of `count` in all, the first of them number `first`."""
    head = "".join(f'<th scope="col">{texts[f"document_{name}"]}</th>' for name in COLUMNS)
    rows = "".join(_row(document, today, texts) for document in shown)
    said = texts["documents_count"] if len(shown) == count else texts["documents_range"]
    said = said.format(first=first, last=first + len(shown) - 1, count=count)
    return (f'<p class="hint" role="status">{said}</p><div class="wide" tabindex="0"><table class="sheet library">'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>")


def state_tag(state: DocumentState, texts: Texts) -> str:
    """Return a document's state as a sign and words."""
    return (f'<span class="tag state {state}"><span aria-hidden="true">{STATE_SIGNS[state]}</span> '
            f'{texts[f"state_{state}"]}</span>')


def open_button(document: StoredDocument, texts: Texts) -> str:
    """Return a button that opens a document; the page's script sends what it holds."""
    title = escape(title_of(document))
    label = escape(texts["open_document"].format(title=title_of(document)))
    return f'<button type="button" class="open" data-open="{escape(document.id)}" aria-label="{label}">{title}</button>'


def title(document: StoredDocument, related: Related, texts: Texts) -> str:
    """Return a document's title with its state and, where it is not used any more, why and what takes its place."""
    sample = f' <span class="tag sample">{texts["sample"]}</span>' if document.meta.sample else ""
    name = escape(title_of(document))
    return (f'<div class="dossier"><h2 tabindex="-1" title="{name}">{name}</h2><p class="tags">'
            f"{state_tag(document.state, texts)}{sample}</p>{_banner(document, related, texts)}</div>")


def head(document: StoredDocument, related: Related, readings: Sequence[PageReading], today: str, texts: Texts) -> str:
    """Return what to look at in a document, and what it says of itself."""
    notes = "".join(f"<li>{note}</li>" for note in _notes(document, related, readings, today, texts))
    heed = (f'<div class="heed" role="note"><b><span aria-hidden="true">⚠</span> {texts["view_attention"]}</b>'
            f"<ul>{notes}</ul></div>") if notes else ""
    facts = "".join(f"<div><dt>{texts[name]}</dt><dd>{value}</dd></div>" for name, value in _facts(document, texts) if value)
    return f'<div class="dossier">{heed}<dl>{facts}</dl></div>'


def _row(document: StoredDocument, today: str, texts: Texts) -> str:
    sample = f' <span class="tag sample">{texts["sample"]}</span>' if document.meta.sample else ""
    heed = "".join(f"<li>{note}</li>" for note in attention(document, today, texts))
    warned = f'<span aria-hidden="true">⚠</span><ul>{heed}</ul>' if heed else ""
    file = f'<span class="file">{escape(document.source)}</span>' if document.source != title_of(document) else ""
    meta = document.meta
    return (f'<tr data-open="{escape(document.id)}"><td>{open_button(document, texts)}{sample}{file}</td>'
            f"<td>{state_tag(document.state, texts)}</td><td class='n'>{_count(document.pages)}</td>"
            f"<td class='n'>{document.chunks:,}</td><td class='date'>{escape(meta.date)}</td><td>{escape(meta.authority)}</td>"
            f"<td>{escape(meta.region)}</td><td class='heeds'>{warned}</td><td>{_origin(document, texts)}</td>"
            f"<td class='date'>{escape(local_time(document.added_at))}</td></tr>")


def _banner(document: StoredDocument, related: Related, texts: Texts) -> str:
    if document.state == "active":
        return ""
    said, link = texts[f"view_{document.state}"], ""
    if document.state == "superseded":
        link = open_button(related.newer, texts) if related.newer else ""
        said = said if link else texts["view_superseded_plain"]
    return f'<p class="notice ask banner" role="note">{said}{link}</p>'


def _notes(document: StoredDocument, related: Related, readings: Sequence[PageReading], today: str, texts: Texts
           ) -> Iterable[str]:
    if is_expired(document, today):
        yield texts["view_expired"].format(date=escape(document.meta.valid_until))
    yield from (escape(warning) for warning in document.warnings)
    pages = [note for reading in readings if (note := page_note(reading, texts))]
    yield from pages[:SHOWN_NOTES]
    if len(pages) > SHOWN_NOTES:
        yield texts["view_more_pages"].format(count=len(pages) - SHOWN_NOTES)
    if document.off_topic:
        yield texts["view_off_topic"].format(count=document.off_topic)
    for name, others in (("similar", related.similar), ("supersedes", related.older)):
        if others:
            yield texts[f"view_{name}"] + " ".join(open_button(other, texts) for other in others)


def page_note(reading: PageReading, texts: Texts) -> str:
    """Return why a page is to be compared with its original, escaped; "" where nothing is wrong."""
    if reading.note:
        return texts["view_page_note"].format(page=reading.number, note=escape(reading.note))
    if reading.source == "unread":
        return texts["view_page_unread"].format(page=reading.number)
    if reading.confidence is not None and reading.confidence < SURELY_READ:
        return texts["view_page_doubtful"].format(page=reading.number, confidence=f"{reading.confidence:.0%}")
    return ""


def _facts(document: StoredDocument, texts: Texts) -> Iterable[tuple[str, str]]:
    meta = document.meta
    said = (("authority", meta.authority), ("date", meta.date), ("valid_until", meta.valid_until), ("region", meta.region),
            ("stage", meta.stage), ("tags", "、".join(meta.tags)), ("file", document.source),
            ("sources", "；".join(meta.sources)))
    for name, value in said:
        yield f"document_{name}", escape(value)
    yield "document_origin", _origin(document, texts)
    yield "document_added", escape(local_time(document.added_at))
    yield "document_pages", "" if document.pages is None else _count(document.pages)
    yield "document_chunks", _count(document.chunks)
    yield "document_characters", _count(document.characters)
    yield "document_id", f"<code>{escape(document.id)}</code>"


def _origin(document: StoredDocument, texts: Texts) -> str:
    return escape(document.origin) or texts["origin_hand"]


def _count(number: int | None) -> str:
    return "—" if number is None else f"{number:,}"
