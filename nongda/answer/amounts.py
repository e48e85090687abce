"""Exact amounts written for the reader: few digits, the unit that was asked for, = or ≈."""

from __future__ import annotations

import math
from fractions import Fraction

from nongda.answer.tasks import Amount
from nongda.language.units import Units

NAMES = {
    "g": "克", "kg": "公斤", "mg": "毫克", "t": "吨", "mL": "毫升", "L": "升", "m3": "立方米", "hm2": "公顷", "m2": "平方米", "分": "分地",
}
_LARGER = {"g": ("kg", 1000), "mL": ("L", 1000)}


def said(amount: Amount) -> str:
    """An amount of the question as a number with its unit; a product of two as it is."""
    return amount.words if "×" in amount.words else f"{span(amount.low, amount.high)}{_name(amount.unit)}"


def _name(unit: str) -> str:
    above = unit.partition("/")[0]
    return NAMES.get(above, above)


def _target(amount: Amount, unit: str, units: Units) -> tuple[str, Fraction]:
    factor = units.factor(amount.unit, unit) if unit else None
    if factor is not None:
        return unit, factor
    larger, limit = _LARGER.get(amount.unit, ("", 0))
    return (larger, Fraction(1, limit)) if larger and amount.low >= limit else (amount.unit, Fraction(1))


def in_words(amount: Amount, unit: str, units: Units) -> str:
    """Return an amount in `unit`, where it has one that converts, else in a handy one; whole plants round up."""
    target, factor = _target(amount, unit, units)
    if target == "株":
        return f"{span(Fraction(math.ceil(amount.low)), Fraction(math.ceil(amount.high)))}株"
    return f"{span(amount.low * factor, amount.high * factor)}{_name(target)}"


def sign_of(amount: Amount, unit: str, units: Units) -> str:
    """Return = where `in_words` says the amount exactly, else ≈."""
    _, factor = _target(amount, unit, units)
    return equals(amount.low * factor, amount.high * factor)


def equals(low: Fraction, high: Fraction) -> str:
    """Return = where `span` says both numbers exactly, else ≈."""
    return "=" if Fraction(_number(low)) == low and Fraction(_number(high)) == high else "≈"


def span(low: Fraction, high: Fraction) -> str:
    """Return a range, one number where both ends read the same."""
    first, last = _number(low), _number(high)
    return first if first == last else f"{first}～{last}"


def _number(value: Fraction) -> str:
    """Exact with two decimals, else three significant digits (two below 1); halves round up, trailing zeros go."""
    places = 2
    while 0 < value < Fraction(1, 10 ** (places - 1)) and places < 9:
        places += 1
    if (value * 10**places).denominator > 1 and value >= 10:
        places = 1 if value < 100 else 0
    whole = math.floor(value * 10**places + Fraction(1, 2))
    if places == 0:
        return str(whole)
    return f"{whole // 10**places}.{whole % 10**places:0{places}d}".rstrip("0").rstrip(".")
