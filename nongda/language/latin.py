"""Questions typed in Latin letters: pinyin without characters, and English.

A stretch of Latin words is read as English where the tables know most of it, else as pinyin where its letters can be
cut into known words and syllables, most of them known; else it stays as it is. Names become standard terms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.pinyin import all_sounds, plain
from nongda.language.text import search_form
from nongda.records import Reading

_LETTER = "A-Za-züÜāáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜńňǹḿĀÁǍÀĒÉĚÈŌÓǑÒ"
_STRETCH = re.compile(  # not of an address
    rf"(?<![{_LETTER}0-9@/._&-])[{_LETTER}](?:[{_LETTER}0-9'’ \t\u3000-]*[{_LETTER}0-9])?(?![{_LETTER}0-9@/_-]|\.[{_LETTER}])"
)
_SYLLABLE_END = re.compile(r"(?<=[a-z])[1-5](?![0-9])")
_LONGEST_STRETCH = 600  # letters; nobody types more of pinyin without a stop
_LONGEST_PHRASE = 6  # words of English
_MOST_KNOWN = 0.6  # share of a stretch that must be known, by letters
_LEAST_PINYIN = 4  # letters of known words of two syllables and more
_KIND_ORDER = ("crop", "pest", "disease", "product", "variety", "symptom", "practice")


@dataclass(frozen=True, slots=True)
class TypedWord:
    """A word of questions in Latin letters and its Chinese, "" for one that says nothing; `last` ends the clause."""

    written: str
    chinese: str
    english: bool
    last: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a stretch: what it becomes; `known` counts its letters that a table knows."""

    written: str
    text: str
    known: int
    reading: Reading | None = None
    last: bool = False


def read_typed_words(path: Path) -> list[TypedWord]:
    """Read `written, chinese, language, place` of a TSV file. Raises SettingsError that names the file and line."""
    words: list[TypedWord] = []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"词表文件 {path} 无法读取（{error}）：请恢复该文件") from error
    for number, line in enumerate(lines[1:], start=2):
        cells = [*(cell.strip() for cell in line.split("\t")), "", "", ""][:4]
        if not line.strip():
            continue
        if not cells[0] or cells[2] not in ("pinyin", "english") or cells[3] not in ("", "last"):
            raise SettingsError(f"词表文件 {path} 第 {number} 行不合格式：请恢复该文件")
        words.append(TypedWord(cells[0].lower(), cells[1], cells[2] == "english", cells[3] == "last"))
    return words


class Latin:
    """Reads Latin writing by a lexicon and a table of question words; immutable."""

    def __init__(self, lexicon: Lexicon, typed: Sequence[TypedWord],
                 chinese: Callable[[], Mapping[str, tuple[str, ...]]]) -> None:
        self._lexicon = lexicon
        self._typed = typed
        self._chinese = chinese  # sounds by Chinese word of the lexicon
        self._english = {" ".join(re.split(r"[\s-]+", w.written)): w for w in typed if w.english}

    def correct(self, text: str, kept: frozenset[str]) -> tuple[str, list[Reading]]:
        """Return the text with its pinyin and English in Chinese, and what names were read; `kept` stay as they are."""
        readings: list[Reading] = []

        def replaced(match: re.Match[str]) -> str:
            pieces = self._read(match.group(), kept)
            readings.extend(p.reading for p in pieces if p.reading)
            return _joined(pieces)

        return _STRETCH.sub(replaced, text), readings

    def _read(self, stretch: str, kept: frozenset[str]) -> Sequence[_Piece]:
        as_it_is = [_Piece(stretch, stretch, 0)]
        letters = sum(c.isalpha() for c in stretch)
        if letters < 3 or letters > _LONGEST_STRETCH:
            return as_it_is
        english = self._as_english(stretch, kept)
        names = [p for p in english if p.reading]
        is_english = sum(p.known for p in english) >= _MOST_KNOWN * letters and (len(english) > 1 or not names)
        if is_english and any(p.text for p in english):
            return english
        pinyin = self._as_pinyin(stretch, kept)
        if pinyin:
            return pinyin
        plurals = [p for p in english if p.reading and not self._lexicon.entities(p.written)]
        return [p if p in plurals else _Piece(p.written, p.written, 0) for p in english] if plurals else as_it_is

    # English

    def _as_english(self, stretch: str, kept: frozenset[str]) -> list[_Piece]:
        words = [(m.start(), m.end()) for m in re.finditer(r"[^\s\u3000-]+", stretch)]
        forms = [search_form(stretch[start:end]).replace("’", "'") for start, end in words]
        pieces: list[_Piece] = []
        index = 0
        while index < len(words):
            most = _LONGEST_PHRASE if forms[index] in self._first_words else 1
            for count in range(min(most, len(words) - index), 0, -1):
                written = stretch[words[index][0] : words[index + count - 1][1]]
                piece = self._english_piece(written, " ".join(forms[index : index + count]), kept)
                if piece or count == 1:
                    pieces.append(piece or _Piece(written, written, 0))
                    index += count
                    break
        return pieces

    def _english_piece(self, written: str, form: str, kept: frozenset[str]) -> _Piece | None:
        letters = sum(c.isalpha() for c in written)
        typed = self._english.get(form)
        if typed:
            return _Piece(written, typed.chinese, letters, None, typed.last)
        if form in kept:
            return _Piece(written, written, letters)
        for name in (form, *_singulars(form)):
            terms = self._latin_words.get(name, ())
            if len(terms) == 1:
                return _Piece(written, terms[0], letters, Reading(written, terms[0]))
        return None

    @cached_property
    def _first_words(self) -> frozenset[str]:
        """What phrases and names of several words begin with."""
        return frozenset(phrase.split()[0] for phrase in (*self._english, *self._latin_words) if " " in phrase)

    @cached_property
    def _latin_words(self) -> dict[str, tuple[str, ...]]:
        return {form: terms for form, terms in self._lexicon.meanings().items() if form[:1].isascii()}

    # pinyin

    @cached_property
    def _by_sound(self) -> dict[str, list[tuple[tuple[str, ...], str, str]]]:
        """Syllables, Chinese and standard term ("" for question words) by the letters, the best first."""
        kinds, names = self._lexicon.standard_names(), self._lexicon.meanings()
        found: dict[str, list[tuple[tuple[int, ...], tuple[str, ...], str, str]]] = {}
        for word in self._typed:
            if not word.english:
                syllables = tuple(word.written.split())
                found.setdefault("".join(syllables), []).append(((0,), syllables, word.chinese, ""))
        for chinese, syllables in self._chinese().items():
            if len(syllables) > 1:
                term = names[chinese][0]
                kind = _KIND_ORDER.index(kinds[term]) if kinds[term] in _KIND_ORDER else len(_KIND_ORDER)
                rank = (1, chinese != search_form(term), kind)
                found.setdefault("".join(syllables), []).append((rank, syllables, term, term))
        return {key: [entry[1:] for entry in sorted(entries)] for key, entries in found.items()}

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """What a word or a syllable may begin with, itself included."""
        return frozenset(key[:end] for key in (*self._by_sound, *all_sounds()) for end in range(1, len(key) + 1))

    def _as_pinyin(self, stretch: str, kept: frozenset[str]) -> list[_Piece] | None:
        """Cut the letters of a stretch into known words and syllables; None where it is no pinyin."""
        letters, places, breaks = _letters(stretch)
        if not letters or not letters.isalpha():
            return None
        best: list[tuple[tuple[int, int], int, str, str] | None] = [None] * (len(letters) + 1)
        best[0] = ((0, 0), 0, "", "")
        for start in range(len(letters)):
            here = best[start]
            if here is None:
                continue
            for end in range(start + 1, len(letters) + 1):
                if letters[start:end] not in self._beginnings:
                    break
                for cost, chinese, term in self._pieces(letters[start:end], start, breaks):
                    total = (here[0][0] + cost, here[0][1] + 1)
                    there = best[end]
                    if there is None or total < there[0]:
                        best[end] = (total, start, chinese, term)
        return _trace(stretch, letters, places, best, kept)

    def _pieces(self, letters: str, start: int, breaks: frozenset[int]) -> Iterable[tuple[int, str, str]]:
        """Yield (letters not known, Chinese or "", term or "") of what the letters may be."""
        inner = {b - start for b in breaks if start < b < start + len(letters)}
        for syllables, chinese, term in self._by_sound.get(letters, ()):
            if inner <= _borders(syllables):
                yield 0, chinese, term
                return
        if not inner and letters in all_sounds():
            yield len(letters), "", ""


def _letters(stretch: str) -> tuple[str, list[int], frozenset[int]]:
    """Return the plain letters of a stretch, where each stands, and before which ones the writer made a break."""
    letters: list[str] = []
    places: list[int] = []
    breaks: set[int] = set()
    text = stretch.lower()
    tones = {m.start() for m in _SYLLABLE_END.finditer(plain(text))} if len(plain(text)) == len(text) else set()
    for index, character in enumerate(text):
        if character in " \t\u3000'’-" or index in tones:
            breaks.add(len(letters))
        else:
            for letter in plain(character):
                letters.append(letter)
                places.append(index)
    return "".join(letters), places, frozenset(breaks)


def _borders(syllables: Sequence[str]) -> set[int]:
    ends: set[int] = set()
    for syllable in syllables:
        ends.add(max(ends, default=0) + len(syllable))
    return ends


def _trace(stretch: str, letters: str, places: Sequence[int],
           best: Sequence[tuple[tuple[int, int], int, str, str] | None], kept: frozenset[str]) -> list[_Piece] | None:
    """Follow the best cut back; None where too little of it is known."""
    pieces: list[_Piece] = []
    end, stop = len(letters), len(stretch)
    while end > 0:
        entry = best[end]
        if entry is None:
            return None
        _, start, chinese, term = entry
        written = stretch[places[start] : stop].strip(" \t\u3000'’-")
        stop = places[start]
        if term and " ".join(search_form(written).split()) in kept:
            pieces.append(_Piece(written, written, end - start))
        elif chinese:
            pieces.append(_Piece(written, chinese, end - start, Reading(written, term) if term else None))
        else:
            pieces.append(_Piece(written, written, 0))
        end = start
    known = sum(p.known for p in pieces)
    long = sum(p.known for p in pieces if len(p.text) > 1)
    return pieces[::-1] if known >= _MOST_KNOWN * len(letters) and long >= _LEAST_PINYIN else None


def _singulars(form: str) -> list[str]:
    endings = (("ies", "y"), ("es", ""), ("s", ""))
    return [form.removesuffix(end) + put for end, put in endings if form.endswith(end) and len(form) > len(end) + 2]


def _joined(pieces: Sequence[_Piece]) -> str:
    """Put the pieces in Chinese order, with spaces only between Latin words."""
    texts = [p.text for p in pieces if p.text and not p.last] + [p.text for p in pieces if p.text and p.last]
    joined = ""
    for text in texts:
        is_latin = joined[-1:].isascii() and joined[-1:].isalnum() and text[:1].isascii()
        joined += (" " if is_latin else "") + text
    return joined
