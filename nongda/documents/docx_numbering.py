"""The item numbers that Word shows but does not store: counted from the numbering part of a document."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from nongda.documents.docx_text import W

_CHINESE_FORMATS = ("chineseCounting", "chineseCountingThousand", "japaneseCounting", "ideographDigital",
                    "taiwaneseCountingThousand", "chineseLegalSimplified")
_DIGITS = "零一二三四五六七八九"


class Numbering:
    """Counts list items while the document is read in order."""

    def __init__(self, document: Any) -> None:  # noqa: ANN401 - python-docx is untyped
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._counts: dict[tuple[str, int], int] = defaultdict(int)
        relations = document.part.rels.values()
        part = next((r.target_part for r in relations if r.reltype.endswith("/numbering")), None)
        if part is None:
            return
        root = part.element
        abstract = {_val(a, "abstractNumId", attribute=True): _read_levels(a)
                    for a in root.findall(W + "abstractNum")}
        for num in root.findall(W + "num"):
            reference = num.find(W + "abstractNumId")
            if reference is not None:
                self._levels[num.get(W + "numId", "")] = abstract.get(reference.get(W + "val", ""), {})

    def marker(self, num_id: str, level: int) -> str:
        """Count one item and return its marker: `- ` for a bullet, else the number as Word shows it."""
        kind, template, start = self._levels.get(num_id, {}).get(level, ("bullet", "", 1))
        key = (num_id, level)
        self._counts[key] = max(self._counts[key], start - 1) + 1
        for other in [k for k in self._counts if k[0] == num_id and k[1] > level]:
            del self._counts[other]
        if kind in ("bullet", "none") or "%" not in template:
            return "- "
        return re.sub(r"%(\d)", lambda m: self._number(num_id, int(m[1]) - 1), template) + " "

    def _number(self, num_id: str, level: int) -> str:
        kind, _, start = self._levels.get(num_id, {}).get(level, ("decimal", "", 1))
        return _format(max(self._counts.get((num_id, level), 0), start), kind)


def _read_levels(abstract: Any) -> dict[int, tuple[str, str, int]]:  # noqa: ANN401
    levels = {}
    for level in abstract.findall(W + "lvl"):
        start = _val(level, "start") or "1"
        kind, template = _val(level, "numFmt") or "decimal", _val(level, "lvlText")
        levels[int(level.get(W + "ilvl", "0"))] = kind, template, int(start) if start.isdigit() else 1
    return levels


def _val(element: Any, name: str, attribute: bool = False) -> str:  # noqa: ANN401
    if attribute:
        return str(element.get(W + name, ""))
    child = element.find(W + name)
    return "" if child is None else str(child.get(W + "val", ""))


def _format(number: int, kind: str) -> str:
    if kind in _CHINESE_FORMATS and number < 100:
        tens, ones = divmod(number, 10)
        head = "" if tens == 0 else ("" if tens == 1 else _DIGITS[tens]) + "十"
        return head + (_DIGITS[ones] if ones else "")
    if kind.startswith("decimalEnclosedCircle") and number <= 20:
        return chr(0x2460 + number - 1)
    if kind in ("lowerLetter", "upperLetter") and number <= 26:
        letter = chr(ord("a") + number - 1)
        return letter if kind == "lowerLetter" else letter.upper()
    return str(number)
