"""How far what recognition read on a page can be relied upon."""

from __future__ import annotations

import re
import statistics
import unicodedata
from dataclasses import dataclass
from typing import Literal

from nongda.documents.ocr import BLANK, Scan

# Measured on pages spoilt by blur, noise, darkness, few dots per inch and scrawls.
_SURE = 0.96  # mean confidence below which nearly all pages lie that have less than 90 of 100 characters right
_HOPELESS = 0.8  # below it one digit in five is wrong, or more
_PLAUSIBLE = 0.85  # share of everyday characters; agronomic text with Latin names stays over 0.93
_NONSENSE = 0.6
_TINY = 16.5  # pixels of a line's box, characters of 9 pixels; below it strokes run together
_FEW = 30  # characters; shares of fewer tell nothing
_OUTSIDE = re.compile(r"[\ue000-\uf8ff\ufffd\u0080-\u00a0\u00a8-\u00af\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]|\(cid:\d+\)")
_SYMBOLS = frozenset("°±×÷·—–‘’“”…‰′″℃℉㎏㎎㎜㎝㎡㎥²³½¼¾µμαβγ≤≥≠≈→←↑↓∶√")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a page: doubtful ones are taken in and flagged, unread ones are not. `note` says why, in Chinese."""

    kind: Literal["good", "doubtful", "unread", "blank"]
    note: str = ""


def judge(scan: Scan) -> Verdict:
    """Judge a page by what was read on it and how sure recognition was."""
    text = "".join(line.text for line in scan.lines)
    if not text:
        if scan.ink < BLANK and not scan.confidence:
            return Verdict("blank")
        return Verdict("unread", "没有认出文字：可能是图片、手写或太模糊，没有收入")
    share = plausible_share(text) if len(text) >= _FEW else 1.0
    sure = f"可信度 {scan.confidence:.0%}"
    if scan.confidence < _HOPELESS or share < _NONSENSE:
        return Verdict("unread", f"字迹无法辨认（{sure}），没有收入：请用 200 dpi 以上重新扫描，或换清晰的照片")
    if _line_pixels(scan) < _TINY:
        return Verdict("doubtful", f"字太小，可能认错（{sure}）：请对照原件，最好用 200 dpi 以上重新扫描")
    if scan.confidence < _SURE or share < _PLAUSIBLE:
        return Verdict("doubtful", f"字迹不清，可能认错（{sure}）：请对照原件")
    return Verdict("good")


def _line_pixels(scan: Scan) -> float:
    """Return the usual height of a line in the picture, by the characters."""
    heights = [line.top - line.bottom for line in scan.lines for _ in line.text]
    return statistics.median(heights) * scan.dpi / 72


def plausible_share(text: str) -> float:
    """Return the share of characters that belong in a Chinese document; 1 where there are none.

    Chinese characters in everyday use count (GB 2312), Latin letters without accents, digits, common signs. A rare
    character may be a right one, so that only a page full of them is suspect.
    """
    characters = "".join(_OUTSIDE.sub("\ufffd", text).split())
    return sum(map(_is_plausible, characters)) / len(characters) if characters else 1.0


def everyday_share(text: str) -> float:
    """Return the share of the 3,755 most used ones (GB 2312, level 1) among the Chinese characters; 1 for none."""
    chinese = [c for c in text if "\u3400" <= c <= "\u9fff"]
    return sum(_level(c) == 1 for c in chinese) / len(chinese) if chinese else 1.0


def _is_plausible(character: str) -> bool:
    if character.isascii() or character in _SYMBOLS:
        return character.isprintable()
    if "\u3400" <= character <= "\u9fff" or ord(character) >= 0x20000:
        return _level(character) > 0
    return "\u2000" <= character <= "\u33ff" or "\uff00" <= character <= "\uffef" or unicodedata.category(character) == "Po"


def _level(character: str) -> int:
    """Return the level of a character in GB 2312, which sorts them by use; 0 for one outside."""
    try:
        row = character.encode("gb2312")[0]
    except UnicodeEncodeError:
        return 0
    return 1 if row < 0xD8 else 2
