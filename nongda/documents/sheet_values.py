"""Numbers of spreadsheet cells as the reader sees them: by the cell's number format, without thousands separators."""

from __future__ import annotations

import math
import re
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

_DIGITS = 10  # significant ones of a number without a format; binary noise begins at the 16th
_LONGEST = 1e15  # above this a cell cannot tell neighbouring integers apart
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].')
_MARK = 0xE000  # of the private use area
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_PLACES = re.compile(r"[0#?](?:[0#?,]*[0#?])?(,*)(?:\.([0#?]*))?|\.([0#?]+)")
_DATE = re.compile(r"[ymdhse]", re.IGNORECASE)
# Formats that Chinese Excel knows by number alone.
_CHINESE_FORMATS = {
    **dict.fromkeys((27, 36, 50, 52, 57), 'yyyy"年"m"月"'),
    **dict.fromkeys((28, 29, 51, 53, 54, 58), 'm"月"d"日"'),
    **dict.fromkeys((32, 34, 55), 'h"时"mm"分"'),
    **dict.fromkeys((33, 35, 56), 'h"时"mm"分"ss"秒"'),
    30: "m-d-yy", 31: 'yyyy"年"m"月"d"日"',
}


def shown(value: float, number_format: str, epoch_1904: bool = False) -> str:
    """Return a number as its cell shows it; a date is ISO 8601, one without its year as 3月15日."""
    if not math.isfinite(value):
        return ""
    if is_date_format(number_format):
        return _date(value, number_format, epoch_1904) or plain(value)
    section = _section(value, number_format)
    if section is None:
        return plain(value)
    words, held = _words_apart(section[0])
    places = _PLACES.search(held)
    if places is None:
        return _said(held, words).strip()
    before, after = held[: places.start()], held[places.end():]
    if re.search(r"[0#?/]", after):
        return plain(value)  # a fraction, a telephone number
    number = _placed(section[1] * (100 if "%" in before + after else 1), places)
    return (_said(before, words) + number + _said(after, words)).strip()


def plain(value: float) -> str:
    """Return a number without binary noise, exponent or a needless point: 0.1 + 0.2 is 0.3, 3.0 is 3."""
    if value == int(value) and abs(value) < _LONGEST:
        return str(int(value))
    text = format(Decimal(f"{value:.{_DIGITS}g}"), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def is_date_format(number_format: str) -> bool:
    """Tell whether a format shows a date or a time."""
    first = number_format.split(";")[0]
    if _ELAPSED.search(first):
        return True
    bare = _LITERAL.sub("", first)
    return "general" not in bare.lower() and not re.search("[0#?]", re.sub(r"s\.0+", "s", bare)) and bool(_DATE.search(bare))


def builtin_format(number: int) -> str:
    """Return the format that spreadsheets know by a number alone."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    return _CHINESE_FORMATS.get(number) or str(BUILTIN_FORMATS.get(number, "General"))


def _section(value: float, number_format: str) -> tuple[str, float] | None:
    """Return the part of the format for this value, and the value as that part shows it; None for General."""
    sections = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', number_format)
    if not number_format or re.search(r"\[[<>=]", number_format):
        return None
    if value < 0 and len(sections) > 1:
        chosen, value = sections[1], -value
    else:
        chosen = sections[2] if value == 0 and len(sections) > 2 else sections[0]
    if "general" in chosen.lower() or "@" in chosen or re.search("[Ee][+-]", chosen):
        return None
    return chosen, value


def _words_apart(section: str) -> tuple[list[str], str]:
    """Return the words of a format, which may look like digits, and the format with a mark in place of each."""
    words: list[str] = []

    def keep(match: re.Match[str]) -> str:
        words.append(match[1] or match[2] or match[3] or "")
        return chr(_MARK + len(words) - 1)

    return words, _LITERAL.sub(keep, section)


def _said(held: str, words: list[str]) -> str:
    return "".join(words[ord(c) - _MARK] if 0 <= ord(c) - _MARK < len(words) else c for c in held)


def _placed(value: float, places: re.Match[str]) -> str:
    decimals = places[2] or places[3] or ""
    whole = places.group().partition(".")[0]
    number = Decimal(f"{value:.15g}") / 1000 ** len(places[1] or "")
    try:
        rounded = number.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    except InvalidOperation:  # more digits than decimals have
        return plain(value)
    before, _, after = format(rounded.copy_abs(), "f").partition(".")
    least = len(decimals.rstrip("#?"))
    after = after[:least] + after[least:].rstrip("0")
    sign = "-" if rounded < 0 else ""
    return sign + before.zfill(whole.count("0")) + ("." + after if after else "")


def _date(value: float, number_format: str, epoch_1904: bool) -> str:
    first = number_format.split(";")[0]
    if _ELAPSED.search(first):
        seconds = round(value * 86400)
        return f"{seconds // 3600}:{seconds // 60 % 60:02}" if seconds >= 0 else ""
    if not 0 <= value < 2_958_466:  # the year 10,000
        return ""
    start = datetime(1904, 1, 1) if epoch_1904 else datetime(1899, 12, 30 if value >= 60 else 31)
    moment = start + timedelta(seconds=round(value * 86400))
    bare = _LITERAL.sub("", first).lower().replace("am/pm", "")
    has_time, has_year, has_day = bool(re.search("[hs]", bare)), bool(re.search("[ye]", bare)), "d" in bare
    clock = _clock(moment.time())
    if not has_year and not has_day and has_time:
        return clock
    if not has_year:
        return f"{moment.month}月{moment.day}日" if has_day else f"{moment.month}月"
    if not has_day:
        return f"{moment:%Y-%m}" if "m" in bare else f"{moment:%Y}"
    return f"{moment:%Y-%m-%d}" + (f" {clock}" if has_time and moment.time() != time() else "")


def _clock(moment: time) -> str:
    return f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
