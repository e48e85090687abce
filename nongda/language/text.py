"""Clean Chinese text: width folding that keeps offsets, sentences, clauses, the form that search sees."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import opencc

_SENTENCE_END = re.compile(r"(?:[。！？!?；;…]+|(?<![0-9A-Za-z])\.(?=\s|$)|(?<=[a-z)])\.(?=\s|$))[”’」』）)\"']*|\n+")
_CLAUSE_END = re.compile(r"[，,、：:；;。！？!?…]+[”’」』）)\"']*|\n+")
_WORD = re.compile(r"[0-9A-Za-z０-９Ａ-Ｚａ-ｚ\u3400-\u9fff\U00020000-\U0003ffff]")


def fold(text: str) -> str:
    """Return the half-width, lower-case form of the text, character for character (the same length)."""
    return "".join(_fold_character(c) for c in text)


def _fold_character(character: str) -> str:
    code = ord(character)
    if 0xFF01 <= code <= 0xFF5E:
        character = chr(code - 0xFEE0)
    elif code == 0x3000:
        return " "
    lower = character.lower()
    return lower if len(lower) == 1 else character


def has_words(text: str) -> bool:
    """Tell whether there is anything to search for: a letter, a digit or a Chinese character."""
    return bool(_WORD.search(text))


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Split into sentences: (start, end) offsets that cover every non-space character, in order."""
    return _spans(text, _SENTENCE_END)


def clause_spans(text: str) -> list[tuple[int, int]]:
    """Split at commas and colons too; otherwise as `sentence_spans`."""
    return _spans(text, _CLAUSE_END)


def _spans(text: str, end: re.Pattern[str]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    for match in end.finditer(text):
        if _is_inside_number(text, match):
            continue
        _append_stripped(spans, text, start, match.end())
        start = match.end()
    _append_stripped(spans, text, start, len(text))
    return spans


def _is_inside_number(text: str, match: re.Match[str]) -> bool:
    """A separator between two digits is part of a number (2,4-滴; 1:100; 1：1：160) and ends nothing."""
    before, after = match.start() - 1, match.end()
    return (
        match.group() in (",", ":", ";", "：") and before >= 0 and after < len(text)
        and text[before].isdigit() and text[after].isdigit()
    )


def _append_stripped(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start >= end:
        return
    if spans and not _WORD.search(text[start:end]):
        spans[-1] = (spans[-1][0], end)  # a lone bracket or dash belongs to the sentence before it
        return
    spans.append((start, end))


@lru_cache(maxsize=1)
def _simplifier() -> opencc.OpenCC:
    return opencc.OpenCC("t2s")


def search_form(text: str) -> str:
    """Return what search compares: NFKC, simplified characters, lower case. The length may change."""
    return str(_simplifier().convert(unicodedata.normalize("NFKC", text))).lower()


def original_span(text: str, start: int, end: int, surface: str) -> str:
    """Return what stands in a text where its search form has `surface` from start to end; else `surface` itself."""
    if len(text) < end or search_form(text[start:end]) != surface:
        ends = [0]
        for character in text:
            ends.append(ends[-1] + len(search_form(character)))
        if start not in ends or end not in ends:
            return surface
        start, end = ends.index(start), len(ends) - 1 - ends[::-1].index(end)
    return text[start:end] if search_form(text[start:end]) == surface else surface


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return one pattern that matches where one of these does. Raises re.error for a broken one."""
    return re.compile("|".join(f"(?:{p})" for p in patterns))
