"""Raised numbers as characters: 10 to the power of 8 must never be read as 108."""

from __future__ import annotations

import re

_CHARACTERS = str.maketrans("0123456789+-−–()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁽⁾ⁿ")
_POWER = re.compile(r"[0-9n+\-−–]{1,4}")


def raised(text: str) -> str:
    """Return a raised text with its digits as superscript characters; words and marks like [1] stay as they are."""
    bare = text.strip()
    return text.replace(bare, bare.translate(_CHARACTERS)) if _POWER.fullmatch(bare) else text
