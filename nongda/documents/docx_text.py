"""The words of a Word paragraph as the reader sees them, and the notes at the foot of the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nongda.documents.lines import join_lines
from nongda.documents.raised import raised

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
HIDDEN = frozenset(
    [W + tag for tag in ("del", "moveFrom", "rt", "txbxContent", "pPr", "rPr", "instrText", "delText")]
    + ["{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"]
)
_TEXT = frozenset([W + "t", "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"])
_NOTE_MARKS = {W + "footnoteReference": "footnotes", W + "endnoteReference": "endnotes"}


def paragraph_text(paragraph: Any) -> str:  # noqa: ANN401 - python-docx is untyped
    """Return the words a reader sees: insertions and links with, deletions, field codes and hidden words without."""
    pieces: list[str] = []
    for child in paragraph:
        if child.tag in HIDDEN or not isinstance(child.tag, str) or _is_hidden_run(child):
            continue
        if child.tag in _TEXT:
            pieces.append(child.text or "")
        elif child.tag == W + "tab":
            pieces.append("\t")
        elif child.tag in (W + "br", W + "cr"):
            pieces.append("\n")
        elif child.tag == W + "noBreakHyphen":
            pieces.append("-")
        else:
            text = paragraph_text(child)
            pieces.append(raised(text) if _is_raised(child) else text)
    return "".join(pieces)


def text_boxes(element: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the text boxes anchored in an element, each once; those inside them come with their own paragraphs."""
    for box in element.iter(W + "txbxContent"):
        if box is not element and is_seen(box, element):
            yield box


def is_seen(element: Any, within: Any) -> bool:  # noqa: ANN401
    """Tell whether nothing between an element and one around it hides it."""
    for above in element.iterancestors():
        if above is within:
            return True
        if above.tag in HIDDEN:
            return False
    return True


def number(element: Any, default: int) -> int:  # noqa: ANN401
    """Return the w:val of an element where it is a number of reasonable size."""
    value = str(element.get(W + "val", default)) if element is not None else str(default)
    return min(int(value), 1000) if value.isdigit() else default


class Notes:
    """The footnotes and endnotes of a document."""

    def __init__(self, document: Any) -> None:  # noqa: ANN401
        from lxml import etree

        self._texts: dict[tuple[str, str], str] = {}
        for relation in document.part.rels.values():
            kind = str(relation.reltype).rpartition("/")[2]
            if kind not in _NOTE_MARKS.values() or relation.is_external:
                continue
            root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
            for note in root:
                text = join_lines([paragraph_text(p) for p in note.iter(W + "p")])
                self._texts[kind, str(note.get(W + "id", ""))] = text

    def of(self, element: Any) -> list[str]:  # noqa: ANN401
        """Return the notes that an element refers to, each as `注：…`."""
        found = []
        for mark in element.iter(*_NOTE_MARKS):
            text = self._texts.get((_NOTE_MARKS[mark.tag], str(mark.get(W + "id", ""))), "")
            if text and is_seen(mark, element):
                found.append(text if text.startswith("注") else f"注：{text}")
        return found


def _is_hidden_run(element: Any) -> bool:  # noqa: ANN401
    if element.tag != W + "r":
        return False
    vanish = element.find(f"{W}rPr/{W}vanish")
    return vanish is not None and vanish.get(W + "val", "1") not in ("0", "false", "off")


def _is_raised(element: Any) -> bool:  # noqa: ANN401
    place = element.find(f"{W}rPr/{W}vertAlign") if element.tag == W + "r" else None
    return place is not None and place.get(W + "val") == "superscript"
