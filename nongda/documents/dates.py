"""Dates as Chinese papers write them: 2024年3月5日, 二〇二四年三月, 2024-03-05, 20240305, 2年, 三个月."""

from __future__ import annotations

import calendar
import datetime
import re

_DIGITS = {c: n for n, characters in enumerate(
    ("〇○零OＯ", "一", "二", "三", "四", "五", "六", "七", "八", "九")) for c in characters}
_NUMBER = "[一二三四五六七八九十廿卅元]{1,3}"
_YEAR = r"(?:(?:19|20)\d{2}|[一二][〇○零OＯ九][〇○零OＯ一二三四五六七八九]{2})"
DATE = (
    rf"(?:{_YEAR}\s*年(?:\s*(?:1[0-2]|0?[1-9]|{_NUMBER})\s*月(?:\s*(?:3[01]|[12]\d|0?[1-9]|{_NUMBER})\s*[日号])?)?"
    r"|(?:19|20)\d{2}[-/.](?:1[0-2]|0?[1-9])(?:[-/.](?:3[01]|[12]\d|0?[1-9]))?(?![\d.]))"
)
"""A date in words or digits, as exact as the paper has it: a day, a month, or a year."""
SPAN = r"(?:(?:[1-9]\d?|[一二两三四五六七八九十]{1,2}|半)\s*(?:年|个月))"
"""A length of time in years or months."""

_PARTS = re.compile(r"[-/.年月日号\s]+")
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d{2})(1[0-2]|0[1-9])(3[01]|[12]\d|0[1-9])(?!\d)")


def iso_date(text: str) -> str:
    """Return a date that `DATE` matches as ISO 8601, as exact as it is (2024, 2024-03, 2024-03-05); "" where it is none."""
    numbers = [_number(part) for part in _PARTS.split(text.strip()) if part]
    if not numbers or not 1949 <= numbers[0] <= 2099:
        return ""
    try:
        datetime.date(*(numbers + [1, 1])[:3])
    except ValueError:
        return ""
    return "-".join(f"{number:02d}" for number in numbers[:3])


def compact_date(text: str) -> str:
    """Return the one date written as eight digits (20240305) as ISO 8601, "" where there is none or another."""
    found = {iso_date("-".join(match.groups())) for match in _COMPACT.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def last_day(start: str, span: str) -> str:
    """Return the last day of a time that begins on the day `start` and is as long as `SPAN` says; "" without a day."""
    match = re.match(r"\s*(\d+|半|[一二两三四五六七八九十]+)\s*(年|个月)", span)
    if match is None or len(start) != 10:
        return ""
    months = 6 if match[1] == "半" else _number(match[1].replace("两", "二")) * (12 if match[2] == "年" else 1)
    year, month, day = map(int, start.split("-"))
    year, month = year + (month - 1 + months) // 12, (month - 1 + months) % 12 + 1
    if day > calendar.monthrange(year, month)[1]:
        return datetime.date(year, month, calendar.monthrange(year, month)[1]).isoformat()
    return (datetime.date(year, month, day) - datetime.timedelta(days=1)).isoformat()


def last_day_of(date: str) -> str:
    """Return the last day of a year, a month or a day in ISO 8601."""
    parts = [int(part) for part in date.split("-")]
    year, month = parts[0], parts[1] if len(parts) > 1 else 12
    return date if len(parts) == 3 else datetime.date(year, month, calendar.monthrange(year, month)[1]).isoformat()


def _number(text: str) -> int:
    """Return the value of digits, of Chinese digits one after the other, or of a number up to 39."""
    if text.isdecimal():
        return int(text)
    text = text.replace("元", "一").replace("廿", "二十").replace("卅", "三十")
    if "十" in text:
        tens, _, ones = text.partition("十")
        return 10 * (_DIGITS.get(tens, 1) if tens else 1) + (_DIGITS.get(ones, 0) if ones else 0)
    return int("".join(str(_DIGITS.get(c, 0)) for c in text) or 0)
