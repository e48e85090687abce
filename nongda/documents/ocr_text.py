"""Slips of recognition that can be told from the text alone; a digit never becomes another one."""

from __future__ import annotations

import re

# The ring of ℃ is the smallest mark on a page. One digit alone may be a name (3C).
_DEGREES = re.compile(r"(?<![A-Za-z\d.])(\d{2,3}(?:\.\d)?|\d+\.\d|\d{1,2}[~～—–-]\d{1,2}) ?[CＣ](?![A-Za-z\d])")
_DEGREES_OF_HEADER = re.compile(r"(温[^()（）]{0,6}[(（])[CＣ](?=[)）])")
_RING_TWICE = re.compile(r"°[°\s]*℃")
_DASH = re.compile(r"(?<=\d)[一丨](?=\d)")  # between figures a stroke is no Chinese one
_STOP = re.compile(r"(?<=[\u4e00-\u9fff])o$")
_WAVE = str.maketrans("〜∼", "～～")


def mended(text: str) -> str:
    """Return a line with its certain slips put right."""
    text = _DASH.sub("-", text.translate(_WAVE))  # first: 15一20C is a range of degrees
    text = _DEGREES.sub(r"\1℃", _RING_TWICE.sub("℃", text))
    return _STOP.sub("。", _DEGREES_OF_HEADER.sub(r"\1℃", text))
