"""What a single line of text is: a numbered heading, a list item, or a line broken by the page's width."""

from __future__ import annotations

import re
from collections.abc import Sequence

SENTENCE_END = "。！？；：…!?;:"
CLOSING = "”’」』）)》】\"'"

_CHINESE_NUMBER = "[一二三四五六七八九十百零〇]+"
# The levels only order the forms among themselves; the outline is built by comparing them.
_NUMBERED = (
    (1, re.compile(rf"第(?:{_CHINESE_NUMBER}|\d+)[篇编]|第(?:{_CHINESE_NUMBER}|\d+)部分")),
    (2, re.compile(rf"第\s*(?:{_CHINESE_NUMBER}|\d+)\s*章")),
    (3, re.compile(rf"第\s*(?:{_CHINESE_NUMBER}|\d+)\s*节")),
    (4, re.compile(rf"{_CHINESE_NUMBER}、")),
    (5, re.compile(rf"[（(]{_CHINESE_NUMBER}[）)]")),
    (8, re.compile(r"\d{1,2}[.．]\d{1,2}[.．]\d{1,2}(?![\d.．])")),
    (7, re.compile(r"\d{1,2}[.．]\d{1,2}(?![\d.．])")),
    (6, re.compile(r"\d{1,2}[.．、](?!\d)|\d{1,2}(?=\s+[\u4e00-\u9fff])")),
)
WEAK_LEVEL = 6  # from here on a number may just as well begin a list item
_UNIT = re.compile(
    r"\s*(?:公斤|千克|毫克|克|斤|吨|厘米|毫米|公分|米|公里|亩|公顷|倍|元|%|％|‰|℃|°|度|年|月|日|天|周|株|棵|个|"
    r"次|遍|小时|分钟|毫升|升|片|对|至|到|～|~|-|—|[A-Za-z])"
)
_MAX_HEADING = 32  # characters; a longer numbered line is a sentence
_LIST_MARKER = re.compile(
    r"(?:[-*+·–—]\s+|[•●○■□◆◇▪▶➢\ue000-\uf8ff]|[①-⑳]|\d{1,2}\s*[、)）]|\d{1,2}[.．](?!\d)|[（(]\d{1,2}[）)]|"
    r"[a-zA-Z][.、)）]\s?)\s*(?=\S)"
)
_HYPHENATED = re.compile(r"[a-z]-$")


def numbered_heading(line: str) -> tuple[int, str] | None:
    """Return (level, text) where a short line reads as a numbered heading (一、 （一） 1. 1.1 第三章)."""
    text = line.strip()
    if len(text) > _MAX_HEADING or re.search(r"[。；！？!?;|]|[，,、.]$", text):
        return None
    for level, pattern in _NUMBERED:
        match = pattern.match(text)
        if match is None:
            continue
        rest = text[match.end():].strip().rstrip("：:")
        if not rest and level > 3:
            return None
        if level >= WEAK_LEVEL and (_UNIT.match(rest) or not re.match(r"[\u4e00-\u9fff“《（][^，,]*$", rest)):
            return None
        return level, text.rstrip("：:")
    return None


def is_list_item(line: str) -> bool:
    """Tell whether the line begins with a bullet or an item number."""
    return _LIST_MARKER.match(line.lstrip()) is not None


def ends_sentence(line: str) -> bool:
    """Tell whether a sentence or a lead-in ends with this line, closing brackets and quotes aside."""
    text = line.rstrip().rstrip(CLOSING)
    return bool(text) and (text[-1] in SENTENCE_END or bool(re.search(r"[A-Za-z)]\.$", text)))


def width(text: str) -> int:
    """Return the width in columns; a Chinese character takes two."""
    return sum(2 if ord(c) >= 0x2E80 else 1 for c in text)


def join_lines(lines: Sequence[str]) -> str:
    """Join the lines of one paragraph: a space between Latin words, none next to Chinese characters."""
    parts: list[str] = []
    for line in filter(None, (part.strip() for part in lines)):
        if parts and _HYPHENATED.search(parts[-1][-2:]) and line[0].islower() and line[0].isascii():
            parts[-1] = parts[-1][:-1]
        elif parts and _needs_space(parts[-1][-1], line[0]):
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def _needs_space(before: str, after: str) -> bool:
    """Two words or two numbers never become one."""
    word_before = _is_narrow(before) or before in ",.;:!?)]\"'%"
    return word_before and (_is_narrow(after) or after in "([\"'")


def _is_narrow(character: str) -> bool:
    return character.isdigit() or (character.isalnum() and ord(character) < 0x2E80)
