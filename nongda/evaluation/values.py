"""Does a text hold a value? Quantities are compared as quantities, all else as words or standard terms."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from nongda.errors import SettingsError
from nongda.evaluation.dataset import squeeze
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.language.units import Quantity, Units, supported

_CITATION = re.compile(r"\[[0-9a-f]{8}#\d+\]")
# A table row in words: its header names the unit, 硫酸铜（克）：75.
_HEADED = re.compile(r"[（(]([^（()）]{1,8})[）)]\s*[:：]\s*([-−]?\d[\d.,]*(?:\s*[～~—–-]+\s*\d[\d.,]*)?)(?=[；;，,。\s|]|$)")
ALTERNATIVES = "|"


def without_citations(text: str) -> str:
    """Return an answer's text without its citation marks, whose digits are no values."""
    return _CITATION.sub("", text)


class Values:
    """Compares texts with gold values. Counters (次, 天, 株) are units here: 3次 is no 3天."""

    def __init__(self, lexicon: Lexicon, units: Units) -> None:
        self._lexicon = lexicon
        self._units = units

    @classmethod
    def load(cls, lexicon: Lexicon, path: Path) -> Values:
        """Read the tables [units] and [counters] of units.toml; SettingsError names the file."""
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            return cls(lexicon, Units({**data["units"], **data["counters"]}))
        except (OSError, ValueError, KeyError) as error:
            raise SettingsError(f"单位表 {path} 无法读取（{error}）：请恢复该文件") from error

    def quantities(self, text: str) -> list[Quantity]:
        """Return the quantities of a text that have a unit."""
        return [q for q in self._units.quantities(_HEADED.sub(r"\2\1", text)) if q.unit]

    def stands_in_row(self, value: str, quote: str) -> bool:
        """Tell whether a table row holds the value's numbers; their unit stands in the table's header."""
        bare = [(q.low, q.high) for q in self._units.quantities(quote)]
        wanted = [self.quantities(one) for one in value.split(ALTERNATIVES)]
        return "|" in quote and any(all((q.low, q.high) in bare for q in found) for found in wanted if found)

    def holds(self, text: str, value: str) -> bool:
        """Tell whether the text holds one alternative of the value: all its quantities, or the words themselves."""
        text = without_citations(text)
        return any(self._holds(text, one.strip()) for one in value.split(ALTERNATIVES))

    def is_number(self, value: str) -> bool:
        """Tell whether a gold value is a quantity in its first alternative."""
        return bool(self.quantities(value.split(ALTERNATIVES)[0]))

    def _holds(self, text: str, value: str) -> bool:
        wanted = self.quantities(value)
        if wanted:
            present = self.quantities(text)
            return all(supported(quantity, present) for quantity in wanted)
        return _form(value) in _form(text) or self._lexicon.canonical(value) in self._lexicon.canonical(text)


def _form(text: str) -> str:
    return squeeze(search_form(text))
