"""Questions as they are typed: characters of the same sound, pinyin, English. Documents stay as they are.

Steps of `Spelling.correct`:
1. Latin writing becomes Chinese where it is pinyin or English (latin.py).
2. A run of characters that is no word of the lexicon but sounds like one, and shares characters with it, is that
   word: 稻温病 is 稻瘟病. Sounds that many speakers confuse count too, with two characters shared.
3. Nothing is changed across the border of a word of the dictionary or of the lexicon (玉米明年 is no 玉米螟年), nor
   where the odd character belongs to an everyday word (中国咖啡 is no 中果咖啡) or is a small word at the border
   (和天牛 is no 褐天牛).
Words of two characters stay: too many of them sound alike (黏重, 黏虫).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nongda.language.latin import Latin, TypedWord, read_typed_words
from nongda.language.lexicon import Lexicon
from nongda.language.pinyin import SoundTree, usual_sound, word_sounds
from nongda.language.text import search_form
from nongda.records import Reading

_HAN_RUN = re.compile(r"[\u4e00-\u9fff]{3,}")
_HAN_WORD = re.compile(r"[\u4e00-\u9fff]+")
_SHORTEST, _LONGEST = 3, 10  # characters of a word looked for
_KINDS = frozenset({"crop", "variety", "disease", "pest", "pathogen", "product"})
_EVERYDAY = 100  # uses of a word in jieba's dictionary; 温病, an old name of fevers, has 66
_SMALL_WORDS = frozenset(
    "和与或及跟同把被让给对在从到有没是不也都就又再才还很太最时后前里上下中来去过着了的地得且但若如使用打喷治防抗每各几多少个这那其"
)


@dataclass(frozen=True, slots=True)
class Corrected:
    """A question with its misspellings corrected, and which words of it were taken for which term."""

    text: str
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True)
class _Slip:
    start: int
    end: int
    term: str
    rank: tuple[int, ...]  # the higher the surer


class Spelling:
    """Corrects questions by a lexicon. The tables are made when first needed (0.3 s); safe between threads."""

    def __init__(self, lexicon: Lexicon, typed: Sequence[TypedWord] = ()) -> None:
        self._lexicon = lexicon
        self._typed = tuple(typed)

    @classmethod
    def load(cls, folder: Path, lexicon: Lexicon) -> Spelling:
        """Read pinyin_words.tsv of a domain folder. Raises SettingsError that names the file."""
        return cls(lexicon, read_typed_words(folder / "pinyin_words.tsv"))

    def correct(self, text: str, as_written: Iterable[str] = ()) -> Corrected:
        """Return the question as it was meant; surfaces in `as_written` are left as they are. Never raises."""
        kept = frozenset(_key(surface) for surface in as_written)
        text, latin = self._latin.correct(text, kept)
        readings = list(latin)
        parts: list[str] = []
        position = 0
        for slip in self._slips(text, kept):
            parts += [text[position : slip.start], slip.term]
            readings.append(Reading(text[slip.start : slip.end], slip.term))
            position = slip.end
        text = "".join([*parts, text[position:]])
        return Corrected(text, tuple(dict.fromkeys(readings)))

    @cached_property
    def _sounds(self) -> dict[str, tuple[str, ...]]:
        """Sounds of the Chinese words that mean one standard term: terms themselves and aliases of one reading."""
        return {word: word_sounds(word) for word, terms in self._meanings.items()
                if len(terms) == 1 and len(word) <= _LONGEST and _HAN_WORD.fullmatch(word)}

    @cached_property
    def _meanings(self) -> dict[str, tuple[str, ...]]:
        return self._lexicon.meanings()

    @cached_property
    def _tree(self) -> SoundTree:
        kinds = self._lexicon.standard_names()
        return SoundTree({word: syllables for word, syllables in self._sounds.items()
                          if len(word) >= _SHORTEST and kinds[self._meanings[word][0]] in _KINDS})

    @cached_property
    def _latin(self) -> Latin:
        return Latin(self._lexicon, self._typed, lambda: self._sounds)

    def _slips(self, text: str, kept: frozenset[str]) -> list[_Slip]:
        """Return the slips of a text that do not overlap, in order."""
        form = search_form(text)
        if len(form) != len(text):
            form = text
        found: list[_Slip] = []
        cuts: _Cuts | None = None
        for run in _HAN_RUN.finditer(form):
            sounds = [usual_sound(character) for character in run.group()]
            for start in range(run.start(), run.end() - _SHORTEST + 1):
                offset = start - run.start()
                for word, syllables in self._tree.at(sounds[offset : offset + _LONGEST]):
                    if form.startswith(word, start):
                        continue
                    cuts = cuts or _Cuts(form, self._lexicon)
                    slip = self._slip(form, start, word, _same_sound(sounds[offset:], syllables), cuts)
                    if slip and _key(text[slip.start : slip.end]) not in kept:
                        found.append(slip)
        return _best(found)

    def _slip(self, form: str, start: int, word: str, same_sound: bool, cuts: _Cuts) -> _Slip | None:
        end = start + len(word)
        odd = [start + i for i, character in enumerate(word) if form[start + i] != character]
        shared = len(word) - len(odd)
        if (shared < 1 if same_sound else shared < 2 or len(odd) > 1):
            return None
        if not cuts.are_borders(start, end) or any(cuts.is_everyday(i) for i in odd):
            return None
        if any(cuts.is_small(i) for i in odd if len(odd) > 1 or i in (start, end - 1)):
            return None
        term = self._meanings[word][0]
        if search_form(term) in form[start:end]:  # 柑橘树 names 柑橘 as it is
            return None
        return _Slip(start, end, term, (len(word), same_sound, shared, word == search_form(term)))


class _Cuts:
    """Where words of the dictionary and of the lexicon begin and end in a text."""

    def __init__(self, form: str, lexicon: Lexicon) -> None:
        words = lexicon.segments(form)
        self._starts = {start for start, _, _ in words}
        self._ends = {end for _, end, _ in words}
        self._known = {(start, end) for start, end, is_term in words if is_term}
        everyday = [(start, end) for start, end, is_term in words
                    if not is_term and end - start > 1 and lexicon.everyday(form[start:end]) >= _EVERYDAY]
        self._everyday = {index for start, end in everyday for index in range(start, end)}
        self._small = {start for start, end, _ in words if form[start:end] in _SMALL_WORDS}

    def are_borders(self, start: int, end: int) -> bool:
        """Tell whether a word may begin and end here, and it is not a word of the lexicon itself."""
        return start in self._starts and end in self._ends and (start, end) not in self._known

    def is_everyday(self, index: int) -> bool:
        """Tell whether a character is part of an everyday word."""
        return index in self._everyday

    def is_small(self, index: int) -> bool:
        """Tell whether a character is a small word."""
        return index in self._small


def _same_sound(sounds: Sequence[str], syllables: Sequence[str]) -> bool:
    return all(syllable == sound for syllable, sound in zip(syllables, sounds, strict=False))


def _best(slips: Sequence[_Slip]) -> list[_Slip]:
    """Return the surest slips that do not overlap; where two terms are equally sure, neither."""
    chosen: list[_Slip] = []
    for slip in sorted(slips, key=lambda s: s.rank, reverse=True):
        rivals = {s.term for s in slips if (s.start, s.end, s.rank) == (slip.start, slip.end, slip.rank)}
        if len(rivals) == 1 and not any(s.start < slip.end and slip.start < s.end for s in chosen):
            chosen.append(slip)
    return sorted(chosen, key=lambda s: s.start)


def _key(surface: str) -> str:
    return " ".join(search_form(surface).split())
