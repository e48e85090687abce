"""Does a text hold a value? Quantities are compared as quantities, all else as words or standard terms.

Words are found as written, but not inside a longer number (5.5 in 15.5), not denied (可以 in 不可以) and not in a
question form (不能 in 能不能). Amounts per mu are compared without "per mu": 3公斤/亩 and 每亩3公斤 are the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nongda.documents.identify import CITATION
from nongda.evaluation.dataset import squeeze
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.language.units import Units, supported
from nongda.records import Quantity

# A table row in words: its header names the unit, 硫酸铜（克）：75.
_HEADED = re.compile(r"[（(]([^（()）]{1,8})[）)]\s*[:：]\s*([-−]?\d[\d.,]*(?:\s*[～~—–-]+\s*\d[\d.,]*)?)(?=[；;，,。\s|]|$)")
_DENIALS = "不没未无非别勿莫"
_AFFIRMATIVE = ("可以", "可", "能", "行", "需要", "需", "要", "会", "宜", "应", "有", "是", "允许", "合适", "适合", "适宜")
_PER_MU = "/亩"
ALTERNATIVES = "|"


def without_citations(text: str) -> str:
    """Return an answer's text without its citation marks, whose digits are no values."""
    return CITATION.sub("", text)


class Values:
    """Compares texts with gold values. Counters (次, 天, 株) are units here: 3次 is no 3天."""

    def __init__(self, lexicon: Lexicon, units: Units) -> None:
        self._lexicon = lexicon
        self._units = units

    @classmethod
    def load(cls, lexicon: Lexicon, path: Path) -> Values:
        """Read the tables [units] and [counters] of units.toml; SettingsError names the file."""
        return cls(lexicon, Units.load(path, ("units", "counters")))

    def quantities(self, text: str) -> list[Quantity]:
        """Return the quantities of a text that have a unit; "per mu" is left out of it."""
        found = self._units.quantities(_HEADED.sub(r"\2\1", text))
        return [replace(q, unit=q.unit.removesuffix(_PER_MU)) for q in found if q.unit]

    def stands_in_row(self, value: str, quote: str) -> bool:
        """Tell whether a table row holds the value's numbers; their unit stands in the table's header."""
        bare = [(q.low, q.high) for q in self._units.quantities(quote)]
        wanted = [self.quantities(one) for one in value.split(ALTERNATIVES)]
        return "|" in quote and any(all((q.low, q.high) in bare for q in found) for found in wanted if found)

    def holds(self, text: str, value: str) -> bool:
        """Tell whether the text holds one alternative of the value: all its quantities, or the words themselves."""
        text = without_citations(text)
        present = self.quantities(text)
        return any(self._holds(text, present, one.strip()) for one in value.split(ALTERNATIVES))

    def is_number(self, value: str) -> bool:
        """Tell whether a gold value is a quantity in its first alternative."""
        return bool(self.quantities(value.split(ALTERNATIVES)[0]))

    def _holds(self, text: str, present: Sequence[Quantity], value: str) -> bool:
        wanted = self.quantities(value)
        if wanted:
            return all(supported(quantity, present) for quantity in wanted)
        return _says(_form(text), _form(value)) or _says(self._lexicon.canonical(text), self._lexicon.canonical(value))


def _form(text: str) -> str:
    return squeeze(search_form(text))


def _says(text: str, words: str) -> bool:
    start = text.find(words) if words else -1
    while start >= 0:
        if not _misread(text[:start], words, text[start + len(words) :]):
            return True
        start = text.find(words, start + 1)
    return False


def _misread(before: str, words: str, after: str) -> bool:
    """Tell whether the words stand there as part of something else: a number, a denial, a question form."""
    if words[0].isdigit() and re.search(r"[\d][.:,]?$", before):
        return True
    if words[-1].isdigit() and re.match(r"[.:,]?\d", after):
        return True
    if words[0] == "不" and len(words) > 1 and before.endswith(words[1]):
        return True  # 能不能
    return words in _AFFIRMATIVE and (before.endswith(tuple(_DENIALS)) or after.startswith("不" + words[0]))
