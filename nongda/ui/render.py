"""Records to HTML strings; pure functions, and everything a document or a reader wrote is escaped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from nongda.language.text import search_form
from nongda.records import Answer, Candidate, Citation, Note, NoteKind, Reading, StoredDocument
from nongda.ui.prose import anchor, answer_text, cited_ids, link, title_of

Texts = Mapping[str, str]
SIGNS: Mapping[str, str] = {"quoted": "❝", "checked": "✓", "computed": "＝", "refused": "✕", "question": "？",
                            "understood": "≈", "written": "✎"}
SHOWN_QUESTION = 300  # characters; a pasted page must not push the answer out of sight
SHOWN_SURFACE = 24  # characters of a word of the reader's
SHOWN_READINGS = 4  # the rest is folded
AS_WRITTEN, UNDERSTOOD = "as-written", "understood"
BEFORE_TEXT: Collection[NoteKind] = ("law", "trust")  # what must be known before the text is read
SIGNED: Collection[NoteKind] = (*BEFORE_TEXT, "contradiction")
SHOWN_OLDER = 7  # earlier questions whose passages stay on the page, so that their links work


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question on the page and what has come of it so far; `number` makes its anchors unique."""

    number: int
    question: str
    text: str = ""
    stage: str = ""  # the last stage that ended
    candidates: tuple[Candidate, ...] = ()
    answer: Answer | None = None
    error: str = ""
    written: tuple[Reading, ...] = ()  # readings undone: these words are searched for as written
    again: int = 0  # the number of the exchange whose question this asks again

    @property
    def running(self) -> bool:
        return self.answer is None and not self.error


def marked(text: str, quotes: Iterable[str]) -> str:
    """Return escaped text in which every quote found verbatim is wrapped in <mark>; overlaps are merged."""
    spans: list[tuple[int, int]] = []
    found = [(text.find(quote), quote) for quote in quotes if quote]
    for start, end in sorted((at, at + len(quote)) for at, quote in found if at >= 0):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    pieces, position = [], 0
    for start, end in spans:
        pieces.append(f"{escape(text[position:start])}<mark>{escape(text[start:end])}</mark>")
        position = end
    return "".join(pieces) + escape(text[position:])


def card(candidate: Candidate, number: int, place: int, citations: Sequence[Citation], texts: Texts) -> str:
    """Return one passage as a card; a cited one is open and marked, `place` is its number in the list."""
    chunk, document = candidate.chunk, candidate.document
    quotes = [citation.quote for citation in citations]
    remarks = _remarks(citations, texts)
    cited = f'<span class="tag cited">{texts["cited"]}</span>' if quotes else ""
    where = [" › ".join(chunk.heading)] if chunk.heading else []
    if chunk.page is not None:
        where.append(texts["page"].format(page=chunk.page))
    sample = document.meta.sample and not remarks  # a remark says so itself
    tag = f'<span class="tag sample">{texts["sample"]}</span>' if sample else ""
    return (
        f'<details class="card" id="{anchor(number, chunk.id)}" open>'
        f'<summary><b class="place">{place}</b><span class="doc">{escape(title_of(document))}</span>'
        f"{cited}</summary>"
        f'<p class="where">{escape(" · ".join(where))}</p>'
        f'<div class="passage">{marked(chunk.text, quotes)}</div>'
        f'{remarks}<p class="about">{tag}{_about(document, texts)}<code>[{escape(chunk.id)}]</code>'
        f"{_look(chunk.id, texts)}</p></details>"
    )


def evidence(exchanges: Sequence[Exchange], texts: Texts) -> str:
    """Return the evidence of the newest question, cited passages first, and the earlier ones folded."""
    heading = f'<h2>{texts["evidence"]}</h2>'
    if not exchanges:
        return f'<div class="evidence">{heading}<p class="hint">{texts["evidence_empty"]}</p></div>'
    newest, older = exchanges[-1], list(reversed(exchanges[:-1]))[:SHOWN_OLDER]
    parts = [_cards(newest, texts)]
    for exchange in older:
        if exchange.candidates:
            title = texts["evidence_older"].format(question=_clip(exchange.question, 40))
            parts.append(f'<details class="older"><summary>{escape(title)}</summary>'
                         f"{_cards(exchange, texts)}</details>")
    return f'<div class="evidence">{heading}{"".join(parts)}</div>'


def transcript(exchanges: Sequence[Exchange], texts: Texts) -> str:
    """Return the whole conversation."""
    if not exchanges:
        body = f'<div class="welcome"><p>{texts["welcome"]}</p><p>{texts["welcome_more"]}</p></div>'
    else:
        body = "".join(_exchange(exchange, texts) for exchange in exchanges)
    return f'<div class="talk" role="log" aria-live="polite">{body}</div>'


def header(texts: Texts) -> str:
    """Return the title bar."""
    return (f'<div class="bar"><svg viewBox="0 0 32 32" width="34" height="34" aria-hidden="true">'
            f'<circle cx="16" cy="16" r="15" fill="#fff"/><path d="M7 23C6 13 13 7 25 7c1 11-5 18-15 17" '
            f'fill="#2f7d4f"/><path d="M6 27C9 20 14 15 20 12" fill="none" stroke="#fff" stroke-width="1.8"/>'
            f'</svg><h1>{texts["title"]}</h1><p>{texts["tagline"]}</p></div>')


def notice(message: str, kind: Literal["done", "error", "ask"]) -> str:
    """Return one sentence for the reader; an empty one gives nothing."""
    role = "alert" if kind == "error" else "status"
    return f'<p class="notice {kind}" role="{role}">{escape(message)}</p>' if message else ""


def _exchange(exchange: Exchange, texts: Texts) -> str:
    return (f'<div class="turn you"><span class="who">{texts["you"]}</span><div class="bubble">'
            f'{escape(_clip(exchange.question, SHOWN_QUESTION))}</div></div>'
            f'<div class="turn nongda"><span class="who">{texts["nongda"]}</span>'
            f'<div class="bubble">{_reply(exchange, texts)}</div></div>')


def _reply(exchange: Exchange, texts: Texts) -> str:
    answer, parts = exchange.answer, []
    if exchange.error:
        parts.append(f'<p class="label failed">{texts["error"]}</p><p>{escape(exchange.error)}</p>')
    parts.append(readings(exchange, texts))
    if answer is not None:
        parts.extend(_labels(exchange, answer, texts))
        parts.extend(_note(note, exchange, texts) for kind in BEFORE_TEXT for note in answer.notes if note.kind == kind)
    if exchange.text.strip():
        parts.append(answer_text(exchange.text, exchange.number, exchange.candidates))
    if answer is not None:
        parts.extend(_note(note, exchange, texts) for note in answer.notes if note.kind not in BEFORE_TEXT)
        parts.append(_choices(answer.choices, texts))
    if exchange.running:
        doing = texts.get(f"after_{exchange.stage}", texts["preparing"])
        parts.append(f'<p class="doing"><span class="dots" aria-hidden="true"></span>{doing}</p>')
    if answer is not None and "total" in answer.timings:
        seconds = texts["seconds"].format(seconds=f"{answer.timings['total']:.1f}")
        parts.append(f'<p class="took">{seconds}</p>')
    return "".join(parts)


def readings(exchange: Exchange, texts: Texts) -> str:
    """Return what was understood, or searched for as written, with a button each that changes it.

    A button holds "exchange/place/which": the place in the answer's readings or in the exchange's undone ones.
    """
    understood = exchange.answer.readings if exchange.answer else ()
    asked = search_form(f"{exchange.question}\n{exchange.answer.standalone if exchange.answer else ''}")
    surfaces = {reading.surface for reading in understood}
    lines = [_reading(reading, f"{exchange.number}/{place}/{UNDERSTOOD}", "written", "understand", texts)
             for place, reading in enumerate(exchange.written)
             if reading.surface not in surfaces and search_form(reading.surface) in asked]
    lines += [_reading(reading, f"{exchange.number}/{place}/{AS_WRITTEN}", "understood", "write", texts)
              for place, reading in enumerate(understood)]
    shown = f'<ul class="readings">{"".join(lines[:SHOWN_READINGS])}</ul>' if lines else ""
    if len(lines) > SHOWN_READINGS:
        more = texts["readings_more"].format(count=len(lines) - SHOWN_READINGS)
        shown += (f'<details class="more"><summary>{more}</summary>'
                  f'<ul class="readings">{"".join(lines[SHOWN_READINGS:])}</ul></details>')
    return shown


def _reading(reading: Reading, button: str, said: str, offered: str, texts: Texts) -> str:
    names = {"surface": escape(_clip(reading.surface, SHOWN_SURFACE)), "term": escape(reading.term)}
    words, offer = (texts[f"reading_{key}"].format(**names) for key in (said, offered))
    return (f'<li><span aria-hidden="true">{SIGNS[said]}</span> <span>{words}</span> <button type="button" class="reread" '
            f'data-reading="{button}" aria-label="{words}: {offer}">{offer}</button></li>')


def _labels(exchange: Exchange, answer: Answer, texts: Texts) -> Iterable[str]:
    if answer.standalone and answer.standalone != exchange.question.strip():
        yield f'<p class="standalone">{texts["standalone"]}{escape(answer.standalone)}</p>'
    for warning in answer.warnings:
        yield f'<p class="warning"><b>{texts["warning"]}</b> {escape(warning)}</p>'
    kind = "refused" if answer.refused else answer.kind
    if answer.text.strip():
        yield (f'<p class="label kind {kind}"><span aria-hidden="true">{SIGNS[kind]}</span> '
               f'{texts[f"kind_{kind}"]}</p>')
    if answer.stopped:
        yield f'<p class="label stopped">{texts["stopped"]}</p>'


def _note(note: Note, exchange: Exchange, texts: Texts) -> str:
    """Return a note with its citations: linked where the passage has a card, with their words where it has none."""
    titles = {c.chunk.id: title_of(c.document) for c in exchange.candidates}
    said = cited_ids(note.text)
    links = "".join(link(i, exchange.number, titles) for i in dict.fromkeys(c.id for c in note.citations)
                    if i in titles and i not in said)
    quotes = "".join(_quote(c, texts) for c in note.citations if c.id not in titles)
    sign = '<span aria-hidden="true">⚠</span> ' if note.kind in SIGNED else ""
    return (f'<div class="note {note.kind}" role="note"><b class="about-what">{sign}{texts[f"note_{note.kind}"]}</b>'
            f"{answer_text(note.text, exchange.number, exchange.candidates)}{links}{quotes}</div>")


def _quote(citation: Citation, texts: Texts) -> str:
    where = " › ".join([citation.doc or citation.source, *citation.heading])
    return (f'<blockquote>{escape(citation.quote)}<footer>{escape(where)} <code>[{escape(citation.id)}]</code> '
            f"{_look(citation.id, texts)}</footer>"
            f"{_remarks([citation], texts)}</blockquote>")


def _look(cited: str, texts: Texts) -> str:
    """Return a button that opens the document at a passage; the page's script sends what it holds."""
    return (f'<button type="button" class="look" data-open="{escape(cited)}" aria-label="{texts["look_original"]} {escape(cited)}">'
            f'{texts["look_original"]}</button>')


def _remarks(citations: Iterable[Citation], texts: Texts) -> str:
    remarks = dict.fromkeys(c.remark for c in citations if c.remark)
    return "".join(f'<p class="remark"><b><span aria-hidden="true">⚠</span> {texts["remark"]}</b>{escape(remark)}</p>'
                   for remark in remarks)


def _choices(choices: Sequence[str], texts: Texts) -> str:
    """Return the questions to choose from; the page's script asks the one that is pressed."""
    if not choices:
        return ""
    buttons = "".join(f'<li><button type="button" class="choice">{escape(choice)}</button></li>' for choice in choices)
    return f'<p class="choose">{texts["choose"]}</p><ul class="choices">{buttons}</ul>'


def _cards(exchange: Exchange, texts: Texts) -> str:
    if not exchange.candidates:
        return "" if exchange.running or exchange.error else f'<p class="hint">{texts["evidence_none"]}</p>'
    quoted = _by_passage(exchange.answer)
    cited = sorted((c for c in exchange.candidates if c.chunk.id in quoted),
                   key=lambda c: list(quoted).index(c.chunk.id))
    rest = [c for c in exchange.candidates if c.chunk.id not in quoted]
    cards = [card(c, exchange.number, place, quoted.get(c.chunk.id, ()), texts)
             for place, c in enumerate([*cited, *rest], start=1)]
    if exchange.answer is None or exchange.answer.stopped:
        return "".join(cards)
    unused = (f'<details class="unused"><summary>{texts["evidence_unused"]} ({len(rest)})</summary>'
              f'{"".join(cards[len(cited):])}</details>')
    return "".join(cards[:len(cited)]) + (unused if rest else "")


def _by_passage(answer: Answer | None) -> dict[str, list[Citation]]:
    """Return the citations of the text and of the notes by passage, in the order of the text."""
    found: dict[str, list[Citation]] = {}
    if answer is not None:
        for citation in (*answer.citations, *(c for note in answer.notes for c in note.citations)):
            found.setdefault(citation.id, []).append(citation)
    return found


def _about(document: StoredDocument, texts: Texts) -> str:
    meta = document.meta
    fields = (("authority", meta.authority), ("region", meta.region), ("date", meta.date), ("stage", meta.stage),
              ("file", document.source))
    return "".join(f"<span><i>{texts[name]}</i> {escape(value)}</span>" for name, value in fields if value)


def _clip(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
