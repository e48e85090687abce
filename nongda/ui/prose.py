"""An answer's text as HTML: paragraphs, ordered lists, tables, bold and citations; everything else stays as written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import groupby

from nongda.records import Candidate, StoredDocument

CITATION_ID = r"[0-9a-f]{8}#\d+"
CITATIONS = re.compile(rf"\[({CITATION_ID}(?:[\s,，、;；]+{CITATION_ID})*)\]")
SOURCES_LINE = re.compile(rf"\s*参考资料：(?:\[{CITATION_ID}[^\]]*\]\s*)+$")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_ITEM = re.compile(r"^\s*(\d{1,2})[.．、]\s*(?!\d)(\S.*)$")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"^\s*\|[\s:|-]*-[\s:|-]*$")
_HEAD_CELL = 'th scope="col"'
MISSING = "资料中没有写"  # how an answer fills a cell for which the documents have nothing
WIDEST = 6  # columns that the style sheet tells apart
Inline = Callable[[str], str]


def title_of(document: StoredDocument) -> str:
    """Return a document's title, or its file name where it has none."""
    return document.meta.title or document.source


def strip_citations(text: str) -> str:
    """Return an answer without its citations, as the next question's history needs it."""
    return CITATIONS.sub("", SOURCES_LINE.sub("", text)).strip()


def anchor(number: int, chunk_id: str) -> str:
    """Return the HTML id of a passage's card for the `number`-th question of the page."""
    return f"card-{number}-" + re.sub(r"[^0-9A-Za-z]", "-", chunk_id)


def cited_ids(text: str) -> list[str]:
    """Return the ids of the passages a text cites, in order, each once."""
    return list(dict.fromkeys(one for match in CITATIONS.finditer(text) for one in re.findall(CITATION_ID, match[1])))


def answer_text(text: str, number: int, candidates: Sequence[Candidate]) -> str:
    """Return an answer's text as HTML, its citations linked to the cards of the passages given.

    Lines that begin with a bar are a table, lines that begin with a number and a point an ordered list.
    """
    titles = {c.chunk.id: title_of(c.document) for c in candidates}

    def inline(words: str) -> str:
        return CITATIONS.sub(links, _BOLD.sub(r"<strong>\1</strong>", escape(words)))

    def links(match: re.Match[str]) -> str:
        return "".join(link(cited, number, titles) for cited in re.findall(CITATION_ID, match[1]))

    blocks = (_block(kind, list(lines), inline) for kind, lines in groupby(text.strip().split("\n"), _kind))
    return f'<div class="text">{"".join(blocks)}</div>'


def link(cited: str, number: int, titles: dict[str, str]) -> str:
    """Return one citation: a link where its passage has a card, else its words alone."""
    if cited not in titles:
        return f'<span class="cite">[{escape(cited)}]</span>'
    return f'<a class="cite" href="#{anchor(number, cited)}" title="{escape(titles[cited])}">[{escape(cited)}]</a>'


def _kind(line: str) -> str:
    if line.lstrip().startswith("|"):
        return "table"
    return "list" if _ITEM.match(line) else "paragraph"


def _block(kind: str, lines: list[str], inline: Inline) -> str:
    if kind == "table" and len(lines) > 1:
        return table(lines, inline)
    if kind == "list":
        items = "".join(f'<li value="{m[1]}">{inline(m[2])}</li>' for line in lines if (m := _ITEM.match(line)))
        return f"<ol>{items}</ol>"
    words = inline("\n".join(lines).strip("\n"))
    return f"<p>{words}</p>" if words else ""


def table(lines: list[str], inline: Inline) -> str:
    """Return lines that begin with a bar as a table; a rule below the first makes it the header."""
    has_header = bool(_RULE.match(lines[1]))
    rows = [_cells(line) for line in lines if not _RULE.match(line)]
    width = max((len(row) for row in rows), default=0)
    body = [row + [""] * (width - len(row)) for row in rows]
    head = f"<thead>{_row(body[0], _HEAD_CELL, inline)}</thead>" if has_header and body else ""
    rest = "".join(_row(row, "td", inline) for row in body[bool(head):])
    table = f'<table class="compare columns-{min(width, WIDEST)}">{head}<tbody>{rest}</tbody></table>'
    return f'<div class="wide" tabindex="0">{table}</div>'  # one scrolls it sideways by keyboard too


def _cells(line: str) -> list[str]:
    """Split a row; a citation behind the last bar belongs to the last cell."""
    cells = [cell.strip().replace("\\|", "|") for cell in _BAR.split(line.strip())[1:]]
    after = cells.pop() if len(cells) > 1 else ""
    return [*cells[:-1], cells[-1] + after] if cells else []


def _row(cells: Iterable[str], tag: str, inline: Inline) -> str:
    return "<tr>" + "".join(_cell(cell, tag, inline) for cell in cells) + "</tr>"


def _cell(cell: str, tag: str, inline: Inline) -> str:
    missing = ' class="missing"' if cell.startswith(MISSING) else ""
    return f"<{tag}{missing}>{inline(cell)}</{tag.split()[0]}>"
