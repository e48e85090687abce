"""The passages of a document and the picture of one of its pages as HTML; pure functions, everything is escaped."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from itertools import groupby

from nongda.intake import PageReading
from nongda.records import SURELY_READ, Chunk
from nongda.ui.documents_view import page_note
from nongda.ui.prose import table
from nongda.ui.render import Texts


def chunks(shown: Sequence[Chunk], first: int, count: int, target: str, pictured: bool, texts: Texts) -> str:
    """Return passages in reading order, of `count` in all, the first of them number `first`; `target` is marked.

    Where the document's pages are `pictured`, a passage has a button that shows its page.
    """
    if not shown:
        return f'<p class="hint">{texts["chunks_none"]}</p>'
    said = texts["chunks"] if len(shown) == count else texts["chunks_range"]
    said = said.format(first=first, last=first + len(shown) - 1, count=count)
    return f"<h3>{said}</h3>" + "".join(_chunk(chunk, chunk.id == target, pictured, texts) for chunk in shown)


def picture(jpeg: bytes | None, title: str, page: int, pages: int, reading: PageReading | None, texts: Texts) -> str:
    """Return the picture of a page, what is wrong with it, and what recognition read there."""
    name = escape(texts["page_picture"].format(title=title, page=page))
    note = page_note(reading, texts) if reading else ""
    warned = f'<p class="notice ask"><span aria-hidden="true">⚠</span> {note}</p>' if note else ""
    shown = f'<p class="hint">{texts["page_picture_none"]}</p>'
    if jpeg:
        data = base64.b64encode(jpeg).decode("ascii")
        shown = (f'<div class="sight" tabindex="0" role="region" aria-label="{name}">'
                 f'<img alt="{name}" src="data:image/jpeg;base64,{data}"></div>')
    where = texts["page_of"].format(page=page, pages=pages)
    return f'<div class="leaf" data-leaf="{page}"><p class="hint" role="status">{where}</p>{warned}{shown}{_ocr(reading, texts)}</div>'


def passage(text: str) -> str:
    """Return a passage's own words, its tables as tables."""
    parts = (_part(is_table, list(lines)) for is_table, lines in groupby(text.strip("\n").split("\n"), _in_table))
    return "".join(parts)


def _in_table(line: str) -> bool:
    return line.lstrip().startswith("|")


def _part(is_table: bool, lines: list[str]) -> str:
    if is_table and len(lines) > 1:
        return table(lines, escape)
    words = "\n".join(lines).strip("\n")
    return f"<p>{escape(words)}</p>" if words.strip() else ""


def _chunk(chunk: Chunk, cited: bool, pictured: bool, texts: Texts) -> str:
    where = escape(" › ".join(chunk.heading))
    kind = texts[f"kind_of_block_{chunk.kind}"]
    leaf = f' data-leaf="{chunk.page}"' if pictured and chunk.page is not None else ""
    target = ' target" aria-current="true' if cited else ""
    return (f'<article class="chunk{target}" data-chunk="{escape(chunk.id)}" tabindex="-1"{leaf}>'
            f'<p class="where"><code>[{escape(chunk.id)}]</code><span>{kind}</span>{_page(chunk, pictured, texts)}'
            f'{"".join(_tags(chunk, cited, texts))}</p>{f"<p class=heading>{where}</p>" if where else ""}'
            f'<div class="passage">{passage(chunk.text)}</div></article>')


def _page(chunk: Chunk, pictured: bool, texts: Texts) -> str:
    if chunk.page is None:
        return ""
    if not pictured:
        return f'<span>{texts["chunk_page"].format(page=chunk.page)}</span>'
    said = texts["chunk_see_page"].format(page=chunk.page)
    return f'<button type="button" class="see" data-leaf="{chunk.page}">{said}</button>'


def _tags(chunk: Chunk, cited: bool, texts: Texts) -> list[str]:
    tags = [("cited", "☞", texts["chunk_cited"])] if cited else []
    if chunk.off_topic:
        tags.append(("off-topic", "∅", texts["chunk_off_topic"]))
    if chunk.confidence < SURELY_READ:
        tags.append(("doubtful", "⚠", texts["chunk_doubtful"]))
    return [f'<span class="tag {name}"><span aria-hidden="true">{sign}</span> {words}</span>' for name, sign, words in tags]


def _ocr(reading: PageReading | None, texts: Texts) -> str:
    """Return what recognition read on a page, folded; "" where its text did not need it."""
    if reading is None or (reading.source == "text" and not reading.text):
        return ""
    said = texts["ocr_read"]
    if reading.confidence is not None:
        said = texts["ocr_read_confidence"].format(confidence=f"{reading.confidence:.0%}")
    words = f"<pre>{escape(reading.text)}</pre>" if reading.text.strip() else f'<p class="hint">{texts["ocr_nothing"]}</p>'
    return f'<details class="ocr"><summary>{said}</summary>{words}</details>'
