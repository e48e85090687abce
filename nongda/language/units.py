"""Quantities in Chinese text: numbers in any writing, ranges, and units under one symbol.

Steps of `quantities`:
1. Fold widths character for character, so that offsets stay those of the text.
2. Match a number (digits, or Chinese numerals before a unit), an optional range, a unit, 半 after the unit.
   The shortest numeral that a unit follows counts: 五千克 is 5 千克. None counts after 第, 几 or 之.
3. Give the unit its symbol from the table; a number without a known unit has the unit "".
4. A temperature below zero (零下5℃, -5℃) is negative.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nongda.errors import SettingsError
from nongda.language.text import fold

_DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10000}
_NUMERALS = "".join(_DIGITS) + "".join(_SCALES)
_ARABIC = r"(?:\d+(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)万?"
_RANGE = r"\s*(?:~|—+|–|−|-|至|到)\s*"
_BELOW_ZERO = "零下"
_SIGN = rf"{_BELOW_ZERO}\s*|[-−–]"
_HALF = "半(?![夜天年月日径量])"
_CELSIUS = "℃"  # elsewhere a hyphen before a number is no sign
_ABOUT = re.compile(r"([一二两三四五六七八九])([一二两三四五六七八九])")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or a range with its unit symbol; `start` and `end` are offsets in the text."""

    low: float
    high: float
    unit: str
    start: int
    end: int


class Units:
    """The unit table: spellings to symbols, and the patterns made from it."""

    def __init__(self, symbols: Mapping[str, str]) -> None:
        self._symbols = {fold(spelling): symbol for spelling, symbol in symbols.items()}
        for symbol in symbols.values():
            self._symbols.setdefault(fold(symbol), symbol)
        for word, symbol in list(self._symbols.items()):
            self._symbols.setdefault(fold(unicodedata.normalize("NFKC", word)), symbol)  # as search text has it
        spellings = sorted(self._symbols, key=lambda s: (-len(s), s))
        unit = "(?:" + ("|".join(_guarded(s) for s in spellings) or r"(?!)") + ")"
        self._pattern = _quantity_pattern(unit)
        self._after_number = re.compile(rf"(?<=\d)\s*(?P<unit>{unit})")

    @classmethod
    def load(cls, path: Path, tables: Sequence[str] = ("units",)) -> Units:
        """Read tables of a TOML file; SettingsError names the file when it cannot be read."""
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            return cls({str(k): str(v) for table in tables for k, v in data[table].items()})
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, AttributeError) as error:
            raise SettingsError(f"单位表 {path} 无法读取（{error}）：请恢复该文件") from error

    def normalise(self, text: str) -> str:
        """Write each unit that follows a digit as its symbol (search text only; the text is folded already)."""
        return self._after_number.sub(lambda m: self._symbols[fold(m["unit"])], text)

    def quantities(self, text: str) -> list[Quantity]:
        """Find all quantities. Chinese numerals count only before a known unit (一般 is no number)."""
        # A Chinese comma parts two numbers, a Latin one may part thousands; both fold to the same.
        folded = fold(text.replace("，", "、"))
        return [self._quantity(match) for match in self._pattern.finditer(folded)]

    def _quantity(self, match: re.Match[str]) -> Quantity:
        spelling = match["last"] or match["first"] or match["only"]
        unit = self._symbols[spelling] if spelling else ""
        first, second = match["low"], match["high"] or match["low"]
        if first.startswith(_BELOW_ZERO) and second[0] not in "-−–":
            second = _BELOW_ZERO + second.removeprefix(_BELOW_ZERO)
        half = 0.5 if match["half"] else 0.0
        ends = (*_ends(first, unit, 0.0 if match["high"] else half), *_ends(second, unit, half))
        is_sign_idle = first[0] in "-−–" and unit != _CELSIUS
        return Quantity(min(ends), max(ends), unit, match.start() + is_sign_idle, match.end())


def _quantity_pattern(unit: str) -> re.Pattern[str]:
    # Not inside another numeral, not 第十天, 几十公斤, 数百公斤, 三分之一亩; not where a unit begins (每千克).
    chinese = rf"(?<![第几之{_NUMERALS}])(?!{unit}|(?<=数)[十百千万])(?:[{_NUMERALS}]+?半?|半)"
    high = rf"(?:{_SIGN})?(?:{_ARABIC}|{chinese}(?=\s*{unit}))"
    low = rf"(?:{_ARABIC}|{chinese}(?=\s*{unit}|{_RANGE}{high}\s*{unit}))"
    sign = rf"(?:(?<![0-9a-z%℃)])(?:{_SIGN}))?"
    return re.compile(
        rf"(?P<low>{sign}{low})(?:(?:\s*(?P<first>{unit}))?{_RANGE}(?P<high>{high})(?:\s*(?P<last>{unit}))?"
        rf"|\s*(?P<only>{unit}))?(?P<half>(?<!\d){_HALF})?"
    )


def _guarded(spelling: str) -> str:
    """A unit in Latin letters must not run on into a word: 5 m, but not 5 mango."""
    escaped = re.escape(spelling)
    return escaped + r"(?![a-z²³])" if spelling[-1].isascii() and spelling[-1].isalpha() else escaped


def _ends(number: str, unit: str, half: float) -> tuple[float, float]:
    """Return the lowest and the highest value a number may mean: 两三 is 2 to 3, 七八十 is 70 to 80."""
    sign = -1 if number.startswith(_BELOW_ZERO) or (number[0] in "-−–" and unit == _CELSIUS) else 1
    number = number.removeprefix(_BELOW_ZERO).lstrip("-−– ")
    if number[0].isdigit():
        value = float(number.rstrip("万").replace(",", "")) * (10000 if number.endswith("万") else 1)
        return sign * (value + half), sign * (value + half)
    about = _ABOUT.search(number)
    if about and about[1] != about[2] and (len(number) == 2 or not all(c in _DIGITS for c in number)):
        readings = [number[: about.start()] + digit + number[about.end() :] for digit in about.groups()]
    else:
        readings = [number]
    values = [sign * ((chinese_number(reading) or 0.0) + half) for reading in readings]
    return min(values), max(values)


def chinese_number(numeral: str) -> float | None:
    """Read a Chinese numeral up to 9999万: 三十五 is 35, 一百二 is 120, 十三半 is 13.5; None when it is none."""
    half = 0.5 if numeral.endswith("半") else 0.0
    numeral = numeral.removesuffix("半")
    if not numeral:
        return half or None
    if all(c in _DIGITS for c in numeral):
        return int("".join(str(_DIGITS[c]) for c in numeral)) + half
    total, section, digit, scale = 0, 0, None, 1
    for character in numeral:
        if character in _DIGITS:
            digit = _DIGITS[character]
            scale = 1 if digit == 0 else scale
            continue
        unit = _SCALES.get(character)
        if unit is None:
            return None
        if unit == 10000:
            total += (section + (digit or 0) or 1) * unit  # 万亩 is 10000 亩
            section = 0
        else:
            section += (1 if digit is None else digit) * unit
        digit, scale = None, unit
    tail = (digit or 0) * (scale // 10 if scale > 10 else 1)  # 一百二: the last digit counts tens
    return total + section + tail + half


def same_quantity(one: Quantity, other: Quantity) -> bool:
    """Compare as numbers: 1.0 is 1, a range equals only the same range."""
    return one.unit == other.unit and _close(one.low, other.low) and _close(one.high, other.high)


def supported(claim: Quantity, evidence: Iterable[Quantity]) -> bool:
    """Tell whether the claim stands in the evidence as it is; one end of a range there says something else."""
    return any(same_quantity(claim, quantity) for quantity in evidence)


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))
