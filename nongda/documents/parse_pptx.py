"""Presentations (.pptx): each slide is a page; titles, lists, tables, text boxes and notes in reading order."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from nongda.documents.grid_header import GridCell
from nongda.documents.grids import grid_blocks
from nongda.documents.lines import ends_sentence, is_list_item, join_lines
from nongda.documents.outline import Heading, Item, assemble
from nongda.documents.raised import raised
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SKIPPED = frozenset(["DATE", "FOOTER", "SLIDE_NUMBER", "HEADER"])
_SAME_ROW = 228_600  # EMU, a quarter of an inch: boxes whose tops differ by less stand side by side
_MAX_TITLE = 40  # characters
_FEW_WORDS = 12  # a slide with less than that beside a picture says what it says in the picture


def parse_pptx(data: bytes, name: str) -> ParsedDocument:
    """Parse a presentation, hidden slides too. A slide that is only a picture is named in the warnings."""
    import pptx.package

    # Opened as a package: the library's own entry refuses slide shows and templates.
    presentation = pptx.package.Package.open(io.BytesIO(data)).main_document_part.presentation
    slides = [_slide(slide, number) for number, slide in enumerate(presentation.slides, start=1)]
    title = next((i.text for i in slides[0][0] if isinstance(i, Heading)), "") if slides else ""
    title = title or PurePath(name).stem
    blocks = tuple(block for items, _ in slides for block in assemble(items, title))
    pictures = [number for number, (_, is_picture) in enumerate(slides, start=1) if is_picture]
    return ParsedDocument(DocumentMeta(title=title), blocks, len(slides), _warnings(pictures))


def _warnings(pictures: Sequence[int]) -> tuple[str, ...]:
    if not pictures:
        return ()
    numbers = "、".join(map(str, pictures[:10])) + ("等" if len(pictures) > 10 else "")
    return (f"第 {numbers} 页只有图片，图片上的文字没有读取：如有需要，请把这几页导出为 PDF 或图片后添加",)


def _slide(slide: Any, number: int) -> tuple[list[Item], bool]:  # noqa: ANN401 - python-pptx is untyped
    """Return what a slide says, and whether it says it in a picture."""
    shapes = [shape for shape in _in_reading_order(slide.shapes) if not _is_skipped(shape)]
    title = slide.shapes.title
    first: list[Item] = []
    if title is not None and (text := join_lines(_lines(title.text_frame))):
        first.append(Heading(1, text, number))
    items = [item for shape in shapes if title is None or shape.shape_id != title.shape_id
             for item in _items(shape, number)]
    items += _diagrams(slide, number)
    if not first and items and _is_title(items[0]):
        first.append(Heading(1, items.pop(0).text, number))
    words = sum(len(item.text) for item in items)
    is_picture = words < _FEW_WORDS and any(_has_picture(shape) for shape in shapes)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
        items += [Block(line, page=number) for line in _lines(notes) if len(line) > 1]
    return first + items, is_picture


def _in_reading_order(shapes: Any) -> list[Any]:  # noqa: ANN401
    """Return shapes from top to bottom, those that stand side by side from left to right."""
    placed = sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))
    rows: list[list[Any]] = []
    for shape in placed:
        if rows and (shape.top or 0) - (rows[-1][0].top or 0) < _SAME_ROW:
            rows[-1].append(shape)
        else:
            rows.append([shape])
    return [shape for row in rows for shape in sorted(row, key=lambda shape: shape.left or 0)]


def _is_skipped(shape: Any) -> bool:  # noqa: ANN401
    return bool(shape.is_placeholder and shape.placeholder_format.type is not None
                and shape.placeholder_format.type.name in _SKIPPED)


def _items(shape: Any, number: int) -> Iterator[Item]:  # noqa: ANN401
    if hasattr(shape, "shapes"):  # a group
        for inner in _in_reading_order(shape.shapes):
            yield from _items(inner, number)
    elif getattr(shape, "has_table", False):
        yield from grid_blocks(list(_cells(shape.table)), page=number)
    elif shape.has_text_frame:
        yield from _paragraphs(shape, number)


def _cells(table: Any) -> Iterator[GridCell]:  # noqa: ANN401
    for row, line in enumerate(table.rows):
        for column, cell in enumerate(line.cells):
            if not cell.is_spanned:
                across, down = (cell.span_width, cell.span_height) if cell.is_merge_origin else (1, 1)
                yield GridCell("\n".join(_lines(cell.text_frame)), row, column, down, across)


def _paragraphs(shape: Any, number: int) -> Iterator[Block]:  # noqa: ANN401
    """Yield the paragraphs of a box; those with bullets, and the points of a slide's body, are one list."""
    is_body = shape.is_placeholder and shape.placeholder_format.type is not None and (
        shape.placeholder_format.type.name in ("BODY", "OBJECT", "VERTICAL_BODY"))
    paragraphs = [(p, text) for p in shape.text_frame.paragraphs if (text := _text(p))]
    run: list[str] = []
    counts: dict[int, int] = {}
    for paragraph, text in paragraphs:
        bullet = _bullet(paragraph) or ("-" if is_body and len(paragraphs) > 1 else "")
        if bullet in ("", "none"):
            if run:
                yield Block("\n".join(run), "list", number)
                run = []
            counts.clear()
            yield Block(text, "list" if is_list_item(text) else "paragraph", number)
            continue
        counts = {level: count for level, count in counts.items() if level <= paragraph.level}
        counts[paragraph.level] = counts.get(paragraph.level, 0) + 1
        marker = f"{counts[paragraph.level]}." if bullet == "number" else "-"
        run.append("  " * paragraph.level + (text if is_list_item(text) else f"{marker} {text}"))
    if run:
        yield Block("\n".join(run), "list", number)


def _bullet(paragraph: Any) -> str:  # noqa: ANN401
    """Return "-", "number" or "none" as the paragraph itself says, "" where it says nothing."""
    properties = paragraph._p.find(f"{_A}pPr")
    for tag, bullet in (("buChar", "-"), ("buBlip", "-"), ("buAutoNum", "number"), ("buNone", "none")):
        if properties is not None and properties.find(_A + tag) is not None:
            return bullet
    return ""


def _lines(frame: Any) -> list[str]:  # noqa: ANN401
    return [text for paragraph in frame.paragraphs if (text := _text(paragraph))]


def _text(paragraph: Any) -> str:  # noqa: ANN401
    """Return a paragraph as one line, raised numbers as powers."""
    words: list[str] = []
    for element in paragraph._p:
        if element.tag == f"{_A}br":
            words.append("\n")
        elif element.tag in (f"{_A}r", f"{_A}fld"):
            text = element.findtext(f"{_A}t") or ""
            properties = element.find(f"{_A}rPr")
            baseline = properties.get("baseline", "0") if properties is not None else "0"
            words.append(raised(text) if baseline.isdigit() and int(baseline) > 0 else text)
    return join_lines("".join(words).split("\n"))


def _diagrams(slide: Any, number: int) -> Iterator[Block]:  # noqa: ANN401
    """Yield the words of the slide's SmartArt diagrams, which lie in parts of their own."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    for relation in slide.part.rels.values():
        if relation.is_external or not relation.reltype.endswith("/diagramData"):
            continue
        root = etree.fromstring(relation.target_part.blob, parser)
        lines = ["".join(t.text or "" for t in p.iter(f"{_A}t")).strip() for p in root.iter(f"{_A}p")]
        if lines := [f"- {line}" for line in lines if line]:
            yield Block("\n".join(lines), "list", number)


def _is_title(item: Item) -> bool:
    """Tell whether the first box of a slide without a title reads as one."""
    return (isinstance(item, Block) and item.kind == "paragraph"
            and len(item.text) <= _MAX_TITLE and not ends_sentence(item.text))


def _has_picture(shape: Any) -> bool:  # noqa: ANN401
    if hasattr(shape, "shapes"):
        return any(_has_picture(inner) for inner in shape.shapes)
    return next(shape._element.iter(f"{_A}blip"), None) is not None
