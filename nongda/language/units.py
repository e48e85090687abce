"""Quantities in Chinese text: numbers in any writing, ranges, and units under one symbol.

Steps of `quantities`:
1. Fold widths character for character, so that offsets stay those of the text.
2. Match a number (digits, or Chinese numerals before a unit), an optional range, a unit, 半 after the unit.
   The shortest numeral that a unit follows counts: 五千克 is 5 千克. None counts after 第, 几 or 之.
3. Give the unit its symbol from the table; a number without a known unit has the unit "".
4. A temperature below zero (零下5℃, -5℃) is negative.
5. Shares are percentages where the table knows %: 百分之三十 and 三成 are 30 %, 六成半 is 65 %; 成虫 and 成本 are none.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from nongda.errors import SettingsError
from nongda.language.numerals import DIGITS, SCALES, chinese_number
from nongda.language.text import fold
from nongda.records import Quantity

_NUMERALS = "".join(DIGITS) + "".join(SCALES)
_ARABIC = r"(?:\d+(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)万?"
_RANGE = r"\s*(?:~|—+|–|−|-|至|到)\s*"
_BELOW_ZERO = "零下"
_SIGN = rf"{_BELOW_ZERO}\s*|[-−–]"
_HALF = "半(?![夜天年月日径量])"
_CELSIUS = "℃"  # elsewhere a hyphen before a number is no sign
_PERCENT, _PER_MILLE = "%", "‰"
_SHARED = r"[百千]分之"
_TENTH = r"(?:[一二两三四五六七八九]{1,2}|十|\d{1,2}(?:\.\d)?)"
# 成 is a share of ten, but not in 成本, 成虫, 成活; and 一成熟就采 is no 八成熟.
_TENTHS = r"成(?![本为虫活立长员功绩果株苗龄片块串堆行排型形品年体不份分效对批套色名就])(?!(?<=一成)熟)"
_ABOUT = re.compile(r"([一二两三四五六七八九])([一二两三四五六七八九])")

_PER_SYMBOLS = {"亩": "亩", "公顷": "hm2", "hm2": "hm2", "hm²": "hm2", "ha": "hm2", "株": "株", "棵": "株", "穴": "穴"}
_PER_WORDS = "|".join(_PER_SYMBOLS)
_PER = re.compile(
    rf"每(?:次|年|季|隔|天|日|个?月|周|茬|遍|批|轮|小时|个?生长)(?P<time>)"
    rf"|每\s*[1一]?\s*(?P<each>{_PER_WORDS})|(?<![第\d.{_NUMERALS}])[1一]\s*(?P<one>{_PER_WORDS})(?!半)"
    rf"|(?<![\d.{_NUMERALS}])(?P<bare>亩)(?=[产用施栽植撒追喷兑放均])|[每。；;|\n]|桶|喷雾器"
)
_AMOUNTS = frozenset({"μg", "mg", "g", "kg", "t", "斤", "mL", "L", "m3", "cm3", "株", "头", "粒", "袋", "包", "瓶", "桶", "穴", "个"})


class Units:
    """The unit table: spellings to symbols, and the patterns made from it."""

    def __init__(self, symbols: Mapping[str, str], conversions: Iterable[tuple[str, str, Fraction]] = ()) -> None:
        self._given, self._conversions = dict(symbols), tuple(conversions)
        self._symbols = {fold(spelling): symbol for spelling, symbol in symbols.items()}
        for symbol in symbols.values():
            self._symbols.setdefault(fold(symbol), symbol)
        for word, symbol in list(self._symbols.items()):
            self._symbols.setdefault(fold(unicodedata.normalize("NFKC", word)), symbol)  # as search text has it
        spellings = sorted(self._symbols, key=lambda s: (-len(s), s))
        unit = "(?:" + ("|".join(_guarded(s) for s in spellings) or r"(?!)") + ")"
        self._pattern = _quantity_pattern(unit, _PERCENT in self._symbols)
        self._after_number = re.compile(rf"(?<=\d)\s*(?P<unit>{unit})")
        self._factors = _factors(self._conversions)

    @classmethod
    def load(cls, path: Path, tables: Sequence[str] = ("units",)) -> Units:
        """Read tables of a TOML file; SettingsError names the file when it cannot be read."""
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Fraction)
            symbols = {str(k): str(v) for table in tables for k, v in data[table].items()}
            return cls(symbols, [_conversion(row) for row in data.get("conversions", [])])
        except (OSError, ValueError, KeyError, AttributeError, TypeError, ArithmeticError) as error:
            raise SettingsError(f"单位表 {path} 无法读取（{error}）：请恢复该文件") from error

    def extended(self, symbols: Mapping[str, str]) -> Units:
        """Return a table that knows further spellings, such as the counters 袋 and 株; this one stays as it is."""
        return Units({**self._given, **symbols}, self._conversions)

    def factor(self, unit: str, other: str) -> Fraction | None:
        """Return what a number in `unit` is multiplied by to be in `other`; None where they measure other things.

        A rate follows its parts: kg/hm2 becomes g/亩 through kg to g and hm2 to 亩. Grams are never millilitres.
        """
        if unit == other:
            return Fraction(1)
        if (unit, other) in self._factors:
            return self._factors[unit, other]
        if unit.count("/") != 1 or other.count("/") != 1:
            return None
        (above, below), (other_above, other_below) = unit.split("/"), other.split("/")
        numerator, denominator = self.factor(above, other_above), self.factor(below, other_below)
        return numerator / denominator if numerator and denominator else None

    def convert(self, quantity: Quantity, unit: str) -> Quantity | None:
        """Return the quantity in another unit, at the same place; None where the units measure other things."""
        factor = self.factor(quantity.unit, unit)
        if factor is None:
            return None
        low, high = float(exact(quantity.low) * factor), float(exact(quantity.high) * factor)
        return replace(quantity, low=low, high=high, unit=unit)

    def normalise(self, text: str) -> str:
        """Write each unit that follows a digit as its symbol (search text only; the text is folded already)."""
        return self._after_number.sub(lambda m: self._symbols[fold(m["unit"])], text)

    def quantities(self, text: str) -> list[Quantity]:
        """Find all quantities. Chinese numerals count only before a known unit (一般 is no number)."""
        # A Chinese comma parts two numbers, a Latin one may part thousands; both fold to the same.
        folded = fold(text.replace("，", "、"))
        return [self._quantity(match) for match in self._pattern.finditer(folded)]

    def rates(self, text: str) -> list[Quantity]:
        """Find quantities as `quantities` does, with what an amount is for in its unit: 每亩用药2公斤 is 2 kg/亩.

        An amount belongs to the nearest 每亩, 亩用, 一亩, 每公顷 or 每株 before it in the sentence; any other 每
        (每袋, 每15公斤水) takes it away. The numbers of 一亩 and 每1公顷 are part of the rate and not returned.
        """
        folded = fold(text)
        marks = list(_PER.finditer(folded))
        found = []
        for quantity in self.quantities(text):
            if any(_per(m) and m.start() <= quantity.start < m.end() for m in marks):
                continue
            before = [m for m in marks if m.end() <= quantity.start and m["time"] is None]
            per = _per(before[-1]) if before else None
            is_amount = quantity.unit in _AMOUNTS and per != quantity.unit
            found.append(replace(quantity, unit=f"{quantity.unit}/{per}") if per and is_amount else quantity)
        return found

    def _quantity(self, match: re.Match[str]) -> Quantity:
        groups = match.groupdict()
        if groups.get("shared"):
            return _share(match, _PERCENT if groups["shared"][0] == "百" else _PER_MILLE, "of", 1)
        if groups.get("tenths"):
            return _share(match, _PERCENT, "tenths", 10)
        spelling = match["last"] or match["first"] or match["only"]
        unit = self._symbols[spelling] if spelling else ""
        first, second = match["low"], match["high"] or match["low"]
        if first.startswith(_BELOW_ZERO) and second[0] not in "-−–":
            second = _BELOW_ZERO + second.removeprefix(_BELOW_ZERO)
        first = _with_scale_of(first, second)
        half = 0.5 if match["half"] else 0.0
        ends = (*_ends(first, unit, 0.0 if match["high"] else half), *_ends(second, unit, half))
        is_sign_idle = first[0] in "-−–" and unit != _CELSIUS
        return Quantity(min(ends), max(ends), unit, match.start() + is_sign_idle, match.end())


def _quantity_pattern(unit: str, shares: bool) -> re.Pattern[str]:
    # Not inside another numeral, not 第十天, 几十公斤, 数百公斤, 三分之一亩; not where a unit begins (每千克).
    chinese = rf"(?<![第几之{_NUMERALS}])(?!{unit}|(?<=数)[十百千万]|[{_NUMERALS}]+分之)"
    chinese += rf"(?:[{_NUMERALS}]+?(?:点[{''.join(DIGITS)}]+)?半?|半)"
    high = rf"(?:{_SIGN})?(?:{_ARABIC}|{chinese}(?=\s*{unit}))"
    low = rf"(?:{_ARABIC}|{chinese}(?=\s*{unit}|{_RANGE}{high}\s*{unit}))"
    sign = rf"(?:(?<![0-9a-z%℃)])(?:{_SIGN}))?"
    return re.compile(
        (_share_pattern(unit) if shares else "")
        + rf"(?P<low>{sign}{low})(?:(?:\s*(?P<first>{unit}))?{_RANGE}(?P<high>{high})(?:\s*(?P<last>{unit}))?"
        rf"|\s*(?P<only>{unit}))?(?P<half>(?<!\d){_HALF})?"
    )


def _per(mark: re.Match[str]) -> str | None:
    return _PER_SYMBOLS.get(mark["each"] or mark["one"] or mark["bare"] or "")


def _share_pattern(unit: str) -> str:
    number = rf"(?:{_ARABIC}|[{_NUMERALS}]+(?:点[{''.join(DIGITS)}]+)?)"
    last = rf"(?:{_SHARED}\s*(?P<of_last>{number})|(?P<of_bare>{number})(?![{_NUMERALS}\d.]|\s*(?:{unit}|[天日次年月周个])))"
    tenths = rf"(?<![第几之统单合.\d{_NUMERALS}])(?P<tenths>{_TENTH})(?:成?(?P<tenths_half>半)?{_RANGE}(?P<tenths_last>{_TENTH}))?"
    return (
        rf"(?<![{_NUMERALS}])(?P<shared>{_SHARED})\s*(?P<of>{number})(?:{_RANGE}{last})?"
        rf"|{tenths}{_TENTHS}(?P<tenths_end>半)?|"
    )


def _share(match: re.Match[str], unit: str, name: str, scale: int) -> Quantity:
    groups = match.groupdict()
    first, last = groups[name], groups[name + "_last"] or groups.get(name + "_bare") or groups[name]
    half_last = 0.5 if groups.get(name + "_end") else 0.0
    half_first = half_last if last is first else (0.5 if groups.get(name + "_half") else 0.0)
    ends = [scale * end for end in (*_ends(first, unit, half_first), *_ends(last, unit, half_last))]
    return Quantity(min(ends), max(ends), unit, match.start(), match.end())


def _conversion(row: Mapping[str, str | int | Fraction]) -> tuple[str, str, Fraction]:
    return str(row["from"]), str(row["to"]), Fraction(row["factor"])


def _factors(conversions: Iterable[tuple[str, str, Fraction]]) -> dict[tuple[str, str], Fraction]:
    """Follow the table in both directions to every unit that can be reached."""
    links: dict[str, dict[str, Fraction]] = {}
    for unit, other, factor in conversions:
        links.setdefault(unit, {})[other] = factor
        links.setdefault(other, {})[unit] = 1 / factor
    found: dict[tuple[str, str], Fraction] = {}
    for unit in links:
        known, waiting = {unit: Fraction(1)}, [unit]
        while waiting:
            here = waiting.pop()
            for other, factor in links[here].items():
                if other not in known:
                    known[other] = known[here] * factor
                    waiting.append(other)
        found.update({(unit, other): factor for other, factor in known.items()})
    return found


def exact(value: float) -> Fraction:
    """Return a number read from text as the decimal that it was written as: 0.1 is one tenth."""
    return Fraction(f"{value:.12g}")


def _guarded(spelling: str) -> str:
    """A unit in Latin letters must not run on into a word: 5 m, but not 5 mango."""
    escaped = re.escape(spelling)
    return escaped + r"(?![a-z²³])" if spelling[-1].isascii() and spelling[-1].isalpha() else escaped


def _with_scale_of(first: str, second: str) -> str:
    """3～4万 is 30000 to 40000 and 三到五百 is 300 to 500, but 5000～1万 says what it says."""
    scale, mantissa = second[-1], second[:-1]
    is_plain = first.replace(".", "").isdigit() or (len(first) == 1 and first in DIGITS)
    if first is second or scale not in "百千万" or not is_plain or not mantissa:
        return first
    (low, _), (_, high) = _ends(first, "", 0.0), _ends(mantissa, "", 0.0)
    return first + scale if low < high and (scale == "万" or first in DIGITS) else first


def _ends(number: str, unit: str, half: float) -> tuple[float, float]:
    """Return the lowest and the highest value a number may mean: 两三 is 2 to 3, 七八十 is 70 to 80."""
    sign = -1 if number.startswith(_BELOW_ZERO) or (number[0] in "-−–" and unit == _CELSIUS) else 1
    number = number.removeprefix(_BELOW_ZERO).lstrip("-−– ")
    if number[0].isdigit():
        value = float(number.rstrip("万").replace(",", "")) * (10000 if number.endswith("万") else 1)
        return sign * (value + half), sign * (value + half)
    about = _ABOUT.search(number)
    if about and "点" not in number and about[1] != about[2] and (len(number) == 2 or not all(c in DIGITS for c in number)):
        readings = [number[: about.start()] + digit + number[about.end() :] for digit in about.groups()]
    else:
        readings = [number]
    values = [sign * ((chinese_number(reading) or 0.0) + half) for reading in readings]
    return min(values), max(values)


def same_quantity(one: Quantity, other: Quantity) -> bool:
    """Compare as numbers: 1.0 is 1, a range equals only the same range."""
    return one.unit == other.unit and _close(one.low, other.low) and _close(one.high, other.high)


def supported(claim: Quantity, evidence: Iterable[Quantity]) -> bool:
    """Tell whether the claim stands in the evidence as it is; one end of a range there says something else."""
    return any(same_quantity(claim, quantity) for quantity in evidence)


def equal_in_value(one: Quantity, other: Quantity, units: Units) -> bool:
    """Compare across units: 4斤/亩 is 2公斤/亩 is 30公斤/公顷. A range equals only the same range, 克 never 毫升."""
    converted = units.convert(other, one.unit)
    return converted is not None and same_quantity(one, converted)


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))
