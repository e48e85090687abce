"""What is said of a document's pages as a whole: its title, and which pages were read badly or not at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nongda.documents.outline import Heading, Item, first_heading
from nongda.intake import PageReading

_SHOWN = 10  # page numbers named in a warning
_BAD_TITLE = re.compile(
    r"untitled|无标题|未命名|扫描|scan|\.(?:docx?|wps|pptx?|xlsx?|pdf|indd|cdr|jpe?g|png|tiff?)$|^microsoft|^powerpoint",
    re.IGNORECASE)


def title_of(items: Sequence[Item], info_title: str) -> str:
    """Return the outermost heading that opens the document, else the title of the file's properties; "" for none."""
    first = next((item for item in items if isinstance(item, Heading)), None)
    if first is not None and first.level == 1 and first.text == first_heading(items):
        return first.text
    title = " ".join(info_title.split())
    return title if title and not _BAD_TITLE.search(title) else first_heading(items)


def page_warnings(readings: Sequence[PageReading]) -> tuple[str, ...]:
    """Return one sentence for the pages that are doubtful and one for those left out, each with its page numbers."""
    doubtful = [reading.number for reading in readings if reading.source != "unread" and reading.note]
    unread = [reading.number for reading in readings if reading.source == "unread"]
    warnings = []
    if doubtful:
        warnings.append(f"第 {_numbers(doubtful)} 页识别得不可靠，已收入，请对照原件")
    if unread:
        notes = {reading.note for reading in readings if reading.source == "unread"}
        why = f"：{notes.pop()}" if len(notes) == 1 else ""
        warnings.append(f"第 {_numbers(unread)} 页没有收入{why}")
    return tuple(warnings)


def _numbers(pages: Sequence[int]) -> str:
    return "、".join(str(page) for page in pages[:_SHOWN]) + ("等" if len(pages) > _SHOWN else "")
