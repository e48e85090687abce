"""Word documents (.docx): headings by style, paragraphs, lists and tables in document order."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from nongda.documents.containers import OLE
from nongda.documents.docx_numbering import Numbering
from nongda.documents.docx_tables import read_table
from nongda.documents.docx_text import Notes, W, paragraph_text, text_boxes
from nongda.documents.flow import grouped, outlined
from nongda.documents.grids import as_caption, captioned, grid_blocks
from nongda.documents.lines import is_list_item, join_lines, numbered_heading
from nongda.documents.outline import Heading, Item, assemble, first_heading
from nongda.errors import DocumentError
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

_WITH_MACROS = "application/vnd.ms-word.document.macroEnabled.main+xml"
_LARGE_PICTURE = 50_000  # bytes; a smaller one is a logo or a signature
_HEADING_STYLE = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)


def parse_docx(data: bytes, name: str) -> ParsedDocument:
    """Parse a Word document. Raises DocumentError where it is encrypted or an old .doc."""
    if data.startswith(OLE):
        raise DocumentError(f"文件“{name}”已加密或是旧版 .doc：请去掉密码并另存为 .docx 后再添加")
    document = _opened(data)
    items = captioned(_Reader(document).items())
    title = first_heading(items, 0) or " ".join((document.core_properties.title or "").split())
    title = title or first_heading(items, 1) or first_heading(items) or PurePath(name).stem
    return ParsedDocument(DocumentMeta(title=title), assemble(items, title), warnings=tuple(_warnings(document, name)))


def _opened(data: bytes) -> Any:  # noqa: ANN401 - python-docx is untyped
    """Open a document, one with macros too: python-docx knows only the kind without."""
    from docx.opc.part import PartFactory
    from docx.package import Package
    from docx.parts.document import DocumentPart

    PartFactory.part_type_for.setdefault(_WITH_MACROS, DocumentPart)
    part = Package.open(io.BytesIO(data)).main_document_part
    if not isinstance(part, DocumentPart):
        raise ValueError(f"not a Word document but {part.content_type}")
    return part.document


def _warnings(document: Any, name: str) -> Iterator[str]:  # noqa: ANN401
    parts = list(document.part.package.iter_parts())
    if any("vbaproject" in str(part.partname).lower() for part in parts):
        yield f"文件“{name}”带有宏：宏没有运行，只读取了文字"
    pictures = [p for p in parts if str(p.content_type).startswith("image/") and len(p.blob) >= _LARGE_PICTURE]
    if pictures:
        yield f"文件“{name}”里有 {len(pictures)} 张图片，图片里的文字没有读取：需要的话请把图片另存后单独添加"


class _Reader:
    """Walks the body once; Word's list numbers are counted on the way."""

    def __init__(self, document: Any) -> None:  # noqa: ANN401 - python-docx is untyped
        self._body = document.element.body
        self._styles = {s.style_id: s for s in document.styles if getattr(s, "style_id", None)}
        self._numbering = Numbering(document)
        self._notes = Notes(document)

    def items(self) -> list[Item]:
        """Return headings and blocks; numbers make headings only where no style does."""
        return outlined(list(self._walk(self._body)))

    def _walk(self, parent: Any) -> Iterator[Item]:  # noqa: ANN401
        return grouped(item for element in parent for item in self._inner(element))

    def _inner(self, element: Any) -> Iterator[Item]:  # noqa: ANN401
        if element.tag == W + "p":
            yield from self._paragraph(element)
            yield from self._beside(element)
        elif element.tag == W + "tbl":
            yield from self._table(element)
        elif element.tag == W + "sdt" and not _is_contents_list(element):
            for content in element.findall(W + "sdtContent"):
                yield from self._walk(content)
        elif element.tag in (W + "ins", W + "moveTo", W + "customXml", W + "smartTag"):
            yield from self._walk(element)

    def _beside(self, element: Any) -> Iterator[Item]:  # noqa: ANN401
        """Yield the notes and text boxes that hang on a paragraph or table."""
        yield from (Block(note) for note in self._notes.of(element))
        for box in text_boxes(element):
            yield from self._walk(box)

    def _table(self, element: Any, title: str = "") -> Iterator[Item]:  # noqa: ANN401
        table = read_table(element)
        if table.is_frame:
            for frame in table.frames:
                yield from self._walk(frame)
            return
        yield from grid_blocks(table.cells, table.header_rows, title=title)
        for row, nested in table.nested:
            yield from self._table(nested, as_caption(table.label(row)))
        yield from self._beside(element)

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
        reference = paragraph.find(f"{W}pPr/{W}pStyle")
        style = self._styles.get(reference.get(W + "val")) if reference is not None else None
        seen: set[str] = set()
        while style is not None and style.style_id not in seen:  # a broken file may refer in a circle
            seen.add(style.style_id)
            yield style
            style = getattr(style, "base_style", None)

    def _numbering_of(self, paragraph: Any) -> tuple[str, int] | None:  # noqa: ANN401
        for element in (paragraph, *(style.element for style in self._style_chain(paragraph))):
            number = element.find(f"{W}pPr/{W}numPr/{W}numId")
            if number is None:
                continue
            level = element.find(f"{W}pPr/{W}numPr/{W}ilvl")
            num_id = str(number.get(W + "val", "0"))
            depth = str(level.get(W + "val", "0")) if level is not None else "0"
            return None if num_id == "0" else (num_id, int(depth) if depth.isdigit() else 0)
        return None


def _outline_level(element: Any) -> int | None:  # noqa: ANN401
    outline = element.find(f"{W}pPr/{W}outlineLvl")
    value = str(outline.get(W + "val", "9")) if outline is not None else "9"
    return int(value) + 1 if value.isdigit() and int(value) < 9 else None


def _is_contents_list(element: Any) -> bool:  # noqa: ANN401
    gallery = element.find(f"{W}sdtPr/{W}docPartObj/{W}docPartGallery")
    return gallery is not None and gallery.get(W + "val") == "Table of Contents"
