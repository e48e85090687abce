"""Where the words of a table stand in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_LATIN = re.compile(r"[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Match:
    """A lexicon word in a text: offsets, its standard terms: several of an ambiguous alias, none of a plain word."""

    start: int
    end: int
    terms: tuple[str, ...]


class Matcher:
    """Finds words by longest match; words and texts are in search form. Immutable."""

    def __init__(self, words: Mapping[str, tuple[str, ...]]) -> None:
        self._words = words
        self._lengths = _lengths_by_first_character(words)

    def with_same_forms(self, words: Mapping[str, tuple[str, ...]]) -> Matcher:
        """Return a matcher of words that are written alike and mean something else; costs nothing."""
        other = object.__new__(Matcher)
        other._words, other._lengths = words, self._lengths
        return other

    def find(self, text: str) -> list[Match]:
        """Find words from left to right, none inside another."""
        matches: list[Match] = []
        position = 0
        while position < len(text):
            match = self._match_at(text, position)
            if match:
                matches.append(match)
                position = match.end
            else:
                position += 1
        return matches

    def _match_at(self, text: str, start: int) -> Match | None:
        for length in self._lengths.get(text[start], ()):
            end = start + length
            terms = self._words.get(text[start:end]) if end <= len(text) else None
            if terms is not None and not _breaks_latin_word(text, start, end):
                return Match(start, end, terms)
        return None

    def inside(self, word: str) -> list[str]:
        """Return the shorter words inside a word: 咖啡叶锈病 is also found by 叶锈病."""
        return [
            word[start : start + length]
            for start in range(len(word))
            for length in self._lengths.get(word[start], ())
            if length < len(word) and start + length <= len(word) and word[start : start + length] in self._words
            and not _breaks_latin_word(word, start, start + length)
        ]


def _breaks_latin_word(text: str, start: int, end: int) -> bool:
    """Tell whether a match would begin or end inside a Latin word or a number (ec in ecology)."""
    before = start > 0 and _LATIN.match(text[start]) and _LATIN.match(text[start - 1])
    after = end < len(text) and _LATIN.match(text[end - 1]) and _LATIN.match(text[end])
    return bool(before or after)


def _lengths_by_first_character(words: Iterable[str]) -> dict[str, tuple[int, ...]]:
    lengths: dict[str, set[int]] = {}
    for word in words:
        if word:
            lengths.setdefault(word[0], set()).add(len(word))
    return {first: tuple(sorted(sizes, reverse=True)) for first, sizes in lengths.items()}
