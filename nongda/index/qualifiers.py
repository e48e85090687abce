"""Words of a sentence that change what a number means: by what machine, which generation, year, season or stage."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nongda.index.names import Name, of_kinds
from nongda.index.places import CLAUSE_BREAK

_HEAD_NUMBER = re.compile(r"^(?:[一二三四五六七八九十]+、|[((][一二三四五六七八九十\d]+[))]|\d+(?:\.\d+)*[.、]?)\s*")
_FORMULATION = r"[^\d,，。;；、%（(]{0,16}?(?:乳油|粉剂|悬浮剂|水剂|粒剂|粉粒剂|微囊悬浮剂|水乳剂|微乳剂|油剂|烟剂|胶囊)"
_CONTENT = re.compile(rf"\d+(?:\.\d+)?(?:%|克/升|亿[^,，、]{{0,6}}?/克){_FORMULATION}|\d+(?:\.\d+)?%[\u4e00-\u9fff]{{2,8}}")
_MONTH = re.compile(r"\d月")  # a clause with its own time takes none from those before
_VERB_LAST = re.compile(r"(?:为|按|用|每亩)+$")
_DIGITS = re.compile(r"\d")
_LINK = re.compile(
    r"(?:应|宜|可|要|须|约|大约|一般|通常|多|(?<!认)为|是|在|达到?|控制到?|掌握|保持|以|需要?|的|到|至|于|每隔|每|(?<!间)隔|升|降|[:,、\s]|只|仅|有|即)+$")
_LEADING = re.compile(r"^(?:[\s,、:;(或和及与]|\d+[.)、](?!\d)|[-*•])+")


def qualifiers(text: str, folded: str, names: Sequence[Name], words: re.Pattern[str], span: tuple[int, int],
               clause: tuple[int, int], since: int) -> list[str]:
    """Return the words that limit the value at `span`, verbatim.

    They stand between the number before (`since`) and the value, else before the first number of the clause, else in
    the nearest clause before that has any; those behind the value up to the next number are its own too.
    """
    start, end = span
    first = _DIGITS.search(folded, clause[0])
    lead_end = first.start() if first and first.start() < start else start
    behind = _DIGITS.search(folded, end)
    tail = (end, min(clause[1], behind.start() if behind else len(folded)))
    found = _between(text, folded, names, words, since, start) or _between(text, folded, names, words, clause[0], lead_end)
    found += _between(text, folded, names, words, *tail)
    breaks = [0, *(m.end() for m in CLAUSE_BREAK.finditer(folded[: clause[0]]))]
    for a, b in reversed(list(zip(breaks, breaks[1:], strict=False))):
        if found or _MONTH.search(folded, clause[0], start):
            break
        found = _between(text, folded, names, words, a, b)
    return list(dict.fromkeys(found))


def content_of(text: str, folded: str, owner: Name, end: int) -> str:
    """Return what a product holds and its formulation, as written around its name: 40%乙烯利水剂; "" where not said."""
    spans = [m.span() for m in _CONTENT.finditer(folded, 0, end)]
    found = next((text[a:b] for a, b in spans if a <= owner.start and owner.start < b), "")
    return _VERB_LAST.sub("", found)


def heading_words(heading: str) -> str:
    """Return a heading without its number."""
    return _HEAD_NUMBER.sub("", heading).strip()


def _between(text: str, folded: str, names: Sequence[Name], words: re.Pattern[str], start: int, end: int) -> list[str]:
    spans = [m.span() for m in words.finditer(folded, start, end)]
    spans += [(n.start, n.end) for n in of_kinds(names, ("place", "stage"), start, end)]
    return [text[a:b] for a, b in sorted(set(spans)) if not any((c, d) != (a, b) and c <= a and b <= d for c, d in spans)]


def after(text: str, folded: str, start: int, end: int) -> str:
    """Return the words behind a number that say what it is: 15～20℃最适宜."""
    words = re.match(r"(?:左右|上下)?(?P<words>(?![或和及与])[\u4e00-\u9fff]{2,18}?)(?=[或和及与]|[^\u4e00-\u9fff]|$)", folded[start:end])
    return text[start + words.start("words") : start + words.end("words")] if words else ""


def trimmed(text: str, folded: str, start: int, end: int) -> str:
    """Return the words between two offsets without list marks, commas and the verb that leads to the number."""
    leading = _LEADING.match(folded[start:end])
    start += leading.end() if leading else 0
    link = _LINK.search(folded[start:end])
    return text[start : start + link.start() if link else end].strip()
