"""Word documents (.docx): headings by style, paragraphs, lists and tables in document order."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import docx
from docx.oxml.ns import qn

from nongda.documents.docx_numbering import Numbering
from nongda.documents.lines import is_list_item, join_lines, numbered_heading
from nongda.documents.outline import Heading, Item, assemble, first_heading
from nongda.documents.tables import table_text
from nongda.errors import DocumentError
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # an encrypted docx, and an old .doc, is such a container
_MAX_UNPACKED = 500 * 2**20  # bytes
_MAX_RATIO = 200  # real documents stay under 50; a bomb reaches 1,000
_RATIO_FROM = 20 * 2**20  # bytes unpacked; under this even a bomb is harmless
_HEADING_STYLE = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HIDDEN = frozenset(
    [_W + tag for tag in ("del", "moveFrom", "rt", "txbxContent", "pPr", "rPr", "instrText", "delText")]
    + ["{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"]
)
_TEXT = frozenset([_W + "t", "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"])


def parse_docx(data: bytes, name: str) -> ParsedDocument:
    """Parse a Word document. Raises DocumentError where it is encrypted, an old .doc, or a zip bomb."""
    _check_container(data, name)
    document = docx.Document(io.BytesIO(data))
    items = _Reader(document).items()
    title = first_heading(items, 0) or " ".join((document.core_properties.title or "").split())
    title = title or first_heading(items, 1) or first_heading(items) or PurePath(name).stem
    return ParsedDocument(DocumentMeta(title=title), assemble(items, title))


def _check_container(data: bytes, name: str) -> None:
    if data.startswith(_OLE):
        raise DocumentError(f"文件“{name}”已加密或是旧版 .doc：请去掉密码并另存为 .docx 后再添加")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
    if any(entry.flag_bits & 1 for entry in entries):
        raise DocumentError(f"文件“{name}”已加密：请去掉密码后再添加")
    unpacked = sum(entry.file_size for entry in entries)
    packed = max(1, sum(entry.compress_size for entry in entries))
    if unpacked > _MAX_UNPACKED or (unpacked > _RATIO_FROM and unpacked > _MAX_RATIO * packed):
        size = unpacked // 2**20
        raise DocumentError(f"文件“{name}”解压后大得异常（{size} MB）：请检查来源，或拆成几份后再添加")


class _Reader:
    """Walks the body once; Word's list numbers are counted on the way."""

    def __init__(self, document: Any) -> None:  # noqa: ANN401 - python-docx is untyped
        self._body = document.element.body
        self._styles = {s.style_id: s for s in document.styles if getattr(s, "style_id", None)}
        self._numbering = Numbering(document)

    def items(self) -> list[Item]:
        """Return headings and blocks; numbers make headings only where no style does."""
        items = list(self._walk(self._body))
        if any(isinstance(item, Heading) and item.level > 0 for item in items):
            return items
        return [_as_numbered_heading(item) for item in items]

    def _walk(self, parent: Any) -> Iterator[Item]:  # noqa: ANN401
        run: list[str] = []
        for element in parent:
            for item in self._inner(element):
                if isinstance(item, Block) and item.kind == "list":
                    run.append(item.text)
                    continue
                if run:
                    yield Block("\n".join(run), "list")
                    run = []
                yield item
        if run:
            yield Block("\n".join(run), "list")

    def _inner(self, element: Any) -> Iterator[Item]:  # noqa: ANN401
        if element.tag == _W + "p":
            yield from self._paragraph(element)
            for box in element.iter(_W + "txbxContent"):
                if not any(parent.tag in _HIDDEN for parent in box.iterancestors()):
                    yield from self._walk(box)
        elif element.tag == _W + "tbl":
            yield from _table_items(element)
        elif element.tag == _W + "sdt" and not _is_contents_list(element):
            for content in element.findall(qn("w:sdtContent")):
                yield from self._walk(content)
        elif element.tag in (_W + "ins", _W + "customXml", _W + "smartTag"):
            yield from self._walk(element)

    def _paragraph(self, paragraph: Any) -> Iterator[Item]:  # noqa: ANN401
        text = paragraph_text(paragraph)
        style_names, level = self._style(paragraph)
        if not text.strip() or any(name.lower().startswith("toc ") for name in style_names):
            return
        numbering = self._numbering_of(paragraph)
        if level is not None:
            yield Heading(level, join_lines(text.split("\n")))
        elif numbering is not None:
            yield Block(self._numbering.marker(*numbering) + join_lines(text.split("\n")), "list")
        else:
            for line in filter(None, (part.strip() for part in text.split("\n"))):
                listed = is_list_item(line) and numbered_heading(line) is None
                yield Block(line, "list" if listed else "paragraph")

    def _style(self, paragraph: Any) -> tuple[list[str], int | None]:  # noqa: ANN401
        """Return the names of the style and its ancestors, and the heading level (0: the title)."""
        names: list[str] = []
        level = _outline_level(paragraph)
        for style in self._style_chain(paragraph):
            name = str(style.name or "")
            names.append(name)
            match = _HEADING_STYLE.match(name)
            if match:
                return names, int(match[1])
            if name.lower() in ("title", "标题"):
                return names, 0
            if level is None:
                level = _outline_level(style.element)
        return names, level

    def _style_chain(self, paragraph: Any) -> Iterator[Any]:  # noqa: ANN401
        reference = paragraph.find(f"{_W}pPr/{_W}pStyle")
        style = self._styles.get(reference.get(_W + "val")) if reference is not None else None
        seen: set[str] = set()
        while style is not None and style.style_id not in seen:  # a broken file may refer in a circle
            seen.add(style.style_id)
            yield style
            style = getattr(style, "base_style", None)

    def _numbering_of(self, paragraph: Any) -> tuple[str, int] | None:  # noqa: ANN401
        for element in (paragraph, *(style.element for style in self._style_chain(paragraph))):
            number = element.find(f"{_W}pPr/{_W}numPr/{_W}numId")
            if number is None:
                continue
            level = element.find(f"{_W}pPr/{_W}numPr/{_W}ilvl")
            num_id = str(number.get(_W + "val", "0"))
            depth = str(level.get(_W + "val", "0")) if level is not None else "0"
            return None if num_id == "0" else (num_id, int(depth) if depth.isdigit() else 0)
        return None


def paragraph_text(paragraph: Any) -> str:  # noqa: ANN401
    """Return the words a reader sees: insertions and links with, deletions and field codes without."""
    pieces: list[str] = []
    for child in paragraph:
        if child.tag in _HIDDEN or not isinstance(child.tag, str):
            continue
        if child.tag in _TEXT:
            pieces.append(child.text or "")
        elif child.tag == _W + "tab":
            pieces.append("\t")
        elif child.tag in (_W + "br", _W + "cr"):
            pieces.append("\n")
        elif child.tag == _W + "noBreakHyphen":
            pieces.append("-")
        else:
            pieces.append(paragraph_text(child))
    return "".join(pieces)


def _outline_level(element: Any) -> int | None:  # noqa: ANN401
    outline = element.find(f"{_W}pPr/{_W}outlineLvl")
    value = str(outline.get(_W + "val", "9")) if outline is not None else "9"
    return int(value) + 1 if value.isdigit() and int(value) < 9 else None


def _is_contents_list(element: Any) -> bool:  # noqa: ANN401
    gallery = element.find(f"{_W}sdtPr/{_W}docPartObj/{_W}docPartGallery")
    return gallery is not None and gallery.get(_W + "val") == "Table of Contents"


def _as_numbered_heading(item: Item) -> Item:
    if isinstance(item, Block) and item.kind == "paragraph":
        found = numbered_heading(item.text)
        if found is not None:
            return Heading(*found, numbered=True)
    return item


def _table_items(table: Any) -> Iterator[Block]:  # noqa: ANN401
    """Yield a table with its merged title rows before it as paragraphs; a single column is only a frame."""
    rows = list(_rows(table))
    while rows and len(rows[0]) > 1 and len(set(rows[0])) == 1 and rows[0][0]:
        yield Block(rows.pop(0)[0])
    if max((len(row) for row in rows), default=0) <= 1:
        yield from (Block(row[0]) for row in rows if row and row[0])
        return
    text = table_text(rows)
    if text:
        yield Block(text, "table")


def _rows(table: Any) -> Iterator[list[str]]:  # noqa: ANN401
    """Yield the cells of each row; a cell merged downwards or across the header is repeated."""
    above: list[str] = []
    for number, row in enumerate(table.findall(_W + "tr")):
        before = row.find(f"{_W}trPr/{_W}gridBefore")
        cells = [""] * _number(before, 0)
        for cell in row.iter(_W + "tc"):
            if next(cell.iterancestors(_W + "tr")) is not row:
                continue  # of a table inside a cell: its words are part of that cell's text
            span = max(1, _number(cell.find(f"{_W}tcPr/{_W}gridSpan"), 1))
            merge = cell.find(f"{_W}tcPr/{_W}vMerge")
            merged = merge is not None and merge.get(_W + "val", "continue") == "continue"
            if merged and len(cells) < len(above):
                text = above[len(cells)]
            else:
                text = join_lines([paragraph_text(p) for p in cell.iter(_W + "p")])
            # In the header a repeated name keeps each column readable; below it would double the words.
            is_title = span > 1 and not cells and len(row.findall(_W + "tc")) == 1
            cells.extend([text] + [text if number == 0 or is_title else ""] * (span - 1))
        yield cells
        above = cells


def _number(element: Any, default: int) -> int:  # noqa: ANN401
    value = str(element.get(_W + "val", default)) if element is not None else str(default)
    return min(int(value), 1000) if value.isdigit() else default
