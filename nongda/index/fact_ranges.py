"""Conditions with numbers read from text: 安全间隔期不超过7天, pH低于5.5, 海拔1800米, 两周以内.

Steps of `RangeReader.read`:
1. Find all quantities with what they are for (每亩), and all words for attributes.
2. A quantity belongs to the nearest attribute word before it in its clause whose units it may have, else to one right
   behind it (14天的安全间隔期).
3. The words beside the number say on which side of it the range lies and whether the number itself counts
   (不超过 and 以下 include it, 低于 and 不满 do not, as the Civil Code has it).
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from nongda.errors import SettingsError
from nongda.language.text import fold
from nongda.language.units import Units, exact
from nongda.records import Fact, Quantity

Fits = Literal["value", "within", "contains"]
FILE_NAME = "fact_questions.toml"
_BREAK = re.compile(r"[，。；！？、\n|,;!?](?!\d)")
_MOST_BEFORE, _MOST_AFTER = 10, 3  # characters between an attribute's word and its number
_UNIT_LIKE = re.compile(r"\s*(?:[米度克升斤两亩天倍]|[a-zA-Z])")
_JOINT = re.compile(r"[、且而到至和,，]*(?:又|但|同时)?(?:不(?:超过|低于|高于)|低于|高于|小于|大于)?")
_SIGNS = ("<=", ">=", "<", ">")


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers between two bounds, infinite where open; a bound that is left out itself is `*_open`."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    def within(self, other: Range) -> bool:
        """Tell whether every number of this range is in the other one."""
        low = self.low > other.low or (self.low == other.low and (self.low_open or not other.low_open or math.isinf(self.low)))
        high = self.high < other.high or (
            self.high == other.high and (self.high_open or not other.high_open or math.isinf(self.high)))
        return low and high

    def overlaps(self, other: Range) -> bool:
        """Tell whether any number is in both ranges."""
        return self._begins_before_end_of(other) and other._begins_before_end_of(self)

    def _begins_before_end_of(self, other: Range) -> bool:
        return self.low < other.high or (self.low == other.high and not self.low_open and not other.high_open)

    def intersection(self, other: Range) -> Range:
        """Return the numbers in both ranges; they must overlap."""
        low = max((self.low, self.low_open), (other.low, other.low_open))
        high = min((self.high, not self.high_open), (other.high, not other.high_open))
        return Range(low[0], high[0], low[1], not high[1])

    def distance(self, other: Range) -> float:
        """Return how far the nearest ends are apart, 0 where they meet."""
        return max(0.0, self.low - other.high, other.low - self.high)

    def off(self, other: Range) -> float:
        """Return how far the finite ends of this range are from the nearest finite end of the other, at most."""
        ends = [end for end in (other.low, other.high) if math.isfinite(end)]
        own = [end for end in (self.low, self.high) if math.isfinite(end)]
        return max((min(abs(end - asked) for asked in ends) for end in own), default=0.0) if ends else 0.0

    def limit(self) -> Range:
        """Return a one-sided range as the number it ends at: at most 3 times is 3 times, where values are compared."""
        if math.isinf(self.low) == math.isinf(self.high):
            return self
        end = self.low if math.isinf(self.high) else self.high
        return Range(end, end)

    def times(self, factor: Fraction) -> Range:
        """Return the range in another unit, computed exactly."""
        low, high = (end if math.isinf(end) else float(exact(end) * factor) for end in (self.low, self.high))
        return Range(low, high, self.low_open, self.high_open)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a text asks of one attribute; `words` is verbatim, from the attribute's word to the number's last."""

    attribute: str
    range: Range
    unit: str
    words: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Attribute:
    """How one attribute is named, asked and compared."""

    key: str
    name: str
    words: re.Pattern[str]
    asks: re.Pattern[str]
    units: frozenset[str]
    bare: Mapping[str, str]  # what stands behind a number without a unit -> its unit
    fits: Fits
    condition: bool
    remaining: re.Pattern[str] | None  # a word that makes the number the time that is left
    near: float  # how far a bound may be from an asked value and still speak of it


class RangeReader:
    """The words of fact_questions.toml for attributes and relations; immutable."""

    def __init__(self, data: Mapping[str, Any], units: Units) -> None:
        self.units = units
        self.attributes = {key: _attribute(key, row) for key, row in data["attributes"].items()}
        self._before = {s: re.compile(f"(?:{'|'.join(data['before'][s])}){data['before']['filler']}$") for s in _SIGNS}
        self._after = {s: re.compile(f"{data['after']['filler']}(?:{'|'.join(data['after'][s])})")
                       for s in _SIGNS if data["after"][s]}
        self._about = {(str(row["from"]), str(row["to"])): Fraction(row["factor"]) for row in data["about"]}

    @classmethod
    def load(cls, folder: Path) -> RangeReader:
        """Read fact_questions.toml and units.toml of a domain folder. Raises SettingsError that names the file."""
        path = folder / FILE_NAME
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            return cls(data, Units.load(folder / "units.toml", ("units", "counters")))
        except (OSError, ValueError, KeyError, AttributeError, TypeError, re.error) as error:
            raise SettingsError(f"条件问法表 {path} 无法读取（{error}）：请恢复该文件") from error

    def factor(self, unit: str, other: str) -> Fraction | None:
        """Return what a number in one unit is multiplied by to be in the other; weeks and months are days here."""
        for (one, two), factor in self._about.items():
            if (unit, other) == (one, two):
                return factor
            if (unit, other) == (two, one):
                return 1 / factor
        return self.units.factor(unit, other)

    def read(self, text: str) -> list[Constraint]:
        """Return the conditions of a text in its order; numbers that belong to no attribute are left out.

        A second bound right behind the first (pH5以上5.5以下) narrows it.
        """
        found: list[Constraint] = []
        for quantity in self.quantities(text):
            constraint = self.constraint(text, quantity)
            last = found[-1] if found else None
            if constraint is not None:
                found.append(constraint)
            elif last and _JOINT.fullmatch(text[last.end : quantity.start]) and (both := self._narrowed(text, last, quantity)):
                found[-1] = both
        return found

    def _narrowed(self, text: str, first: Constraint, quantity: Quantity) -> Constraint | None:
        bounds, _, end = self.bounds(fold(text), quantity.start, quantity.end, quantity.low, quantity.high)
        factor = self.factor(quantity.unit or first.unit, first.unit)
        is_bound = math.isinf(bounds.low) != math.isinf(bounds.high)
        if factor is None or not is_bound or not bounds.times(factor).overlaps(first.range):
            return None
        both = first.range.intersection(bounds.times(factor))
        return Constraint(first.attribute, both, first.unit, text[first.start : end], first.start, end)

    def quantities(self, text: str) -> list[Quantity]:
        """Return the numbers of a text with their units, amounts with what they are for."""
        return self.units.rates(text)

    def constraint(self, text: str, quantity: Quantity) -> Constraint | None:
        """Return the condition that a number of the text is part of, None where no attribute is named beside it."""
        folded = fold(text)
        before, after = self._clause(folded, quantity)
        found = self._attribute_before(folded[before : quantity.start], quantity, folded[quantity.end : after])
        offset = before
        if found is None:
            found = self._attribute_after(folded[quantity.end : after], quantity)
            offset = quantity.end
        if found is None:
            return None
        attribute, match, unit = found
        bounds, first, last = self.bounds(folded, quantity.start, quantity.end, quantity.low, quantity.high)
        if attribute.remaining and attribute.remaining.search(match.group()) and math.isfinite(bounds.low):
            bounds = Range(high=bounds.low)
        start, end = min(offset + match.start(), first), max(offset + match.end(), last)
        return Constraint(attribute.key, bounds, unit, text[start:end], start, end)

    def bounds(self, folded: str, start: int, end: int, low: float, high: float) -> tuple[Range, int, int]:
        """Return the range that the words beside a number make of it, and where these words begin and end."""
        for sign in _SIGNS:
            if match := self._before[sign].search(folded[:start]):
                return _sided(sign, low, high), match.start(), end
        for sign, pattern in self._after.items():
            if match := pattern.match(folded[end:]):
                return _sided(sign, low, high), start, end + match.end()
        return Range(low, high), start, end

    def range_of(self, fact: Fact) -> Range | None:
        """Return a fact's own range; None for a value that is no quantity. A bound told by 低于 or 高于 is left out."""
        if fact.low is None or fact.high is None:
            return None
        folded = fold(fact.value)
        open_low = math.isinf(fact.high) and bool(self._sign(folded, ">"))
        open_high = math.isinf(fact.low) and bool(self._sign(folded, "<"))
        return Range(fact.low, fact.high, open_low and math.isfinite(fact.low), open_high and math.isfinite(fact.high))

    def _sign(self, folded: str, sign: str) -> bool:
        for quantity in self.units.quantities(folded):
            before = folded[: quantity.start]
            closed = self._before["<="].search(before) or self._before[">="].search(before)
            return bool(self._before[sign].search(before)) and not closed
        return False

    def _clause(self, folded: str, quantity: Quantity) -> tuple[int, int]:
        breaks = [m.end() for m in _BREAK.finditer(folded[: quantity.start])]
        behind = _BREAK.search(folded, quantity.end)
        return (breaks[-1] if breaks else 0), (behind.start() if behind else len(folded))

    def _attribute_before(self, before: str, quantity: Quantity, after: str) -> tuple[Attribute, re.Match[str], str] | None:
        found = []
        for attribute in self.attributes.values():
            unit = self._unit(attribute, quantity, after)
            for match in attribute.words.finditer(before) if unit is not None else ():
                if len(before) - match.end() <= _MOST_BEFORE and not re.search(r"\d", before[match.end() :]):
                    found.append((match.end(), match.end() - match.start(), attribute, match, str(unit)))
        best = max(found, key=lambda f: f[:2], default=None)
        return best and (best[2], best[3], best[4])

    def _attribute_after(self, after: str, quantity: Quantity) -> tuple[Attribute, re.Match[str], str] | None:
        found = []
        for attribute in self.attributes.values():
            unit = self._unit(attribute, quantity, after)
            match = attribute.words.search(after) if unit is not None else None
            if match and match.start() <= _MOST_AFTER:
                found.append((-match.start(), match.end() - match.start(), attribute, match, str(unit)))
        best = max(found, key=lambda f: f[:2], default=None)
        return best and (best[2], best[3], best[4])

    def _unit(self, attribute: Attribute, quantity: Quantity, after: str) -> str | None:
        """Return the unit a number has as a value of the attribute; None where it can be none."""
        if quantity.unit == "" and attribute.bare:
            return next((unit for word, unit in attribute.bare.items()
                         if (after.startswith(word) if word else not _UNIT_LIKE.match(after))), None)
        comparable = any(self.factor(quantity.unit, unit) is not None for unit in attribute.units)
        return quantity.unit if quantity.unit and comparable else None


def _sided(sign: str, low: float, high: float) -> Range:
    if sign in ("<", "<="):
        return Range(high=high, high_open=sign == "<")
    return Range(low=low, low_open=sign == ">")


def _attribute(key: str, row: Mapping[str, Any]) -> Attribute:
    return Attribute(key, str(row["name"]), _any(row["words"]), _any(row["asks"]), frozenset(map(str, row["units"])),
                     {str(k): str(v) for k, v in row.get("bare", {}).items()}, row["fits"], bool(row.get("condition")),
                     re.compile(row["remaining"]) if "remaining" in row else None, float(row.get("near", math.inf)))


def _any(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns) or r"(?!)", re.IGNORECASE)
