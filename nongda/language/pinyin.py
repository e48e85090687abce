"""Pinyin without tones: what characters may sound like, and words found by their sound.

A sound is a toneless syllable; ü is written v.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from pypinyin import lazy_pinyin
from pypinyin.constants import PINYIN_DICT

_VOWELS = {"a": "āáǎà", "e": "ēéěèê", "i": "īíǐì", "o": "ōóǒò", "u": "ūúǔù", "v": "üǖǘǚǜ", "n": "ńňǹ", "m": "ḿ"}
_PLAIN = str.maketrans({toned: plain for plain, tones in _VOWELS.items() for toned in tones} | {"\u0300": "", "\u0304": ""})
_HAN_RANGE = range(0x4E00, 0x9FA6)
_Node = tuple[dict[str, "_Node"], list[tuple[str, tuple[str, ...]]]]  # what comes next, the words that end here
_AS_H = {"fa": "hua", "fan": "huan", "fang": "huang", "fei": "hui", "fen": "hun", "feng": "hong", "fo": "huo", "fu": "hu"}


def plain(text: str) -> str:
    """Return Latin text without tone marks, in lower case, ü as v."""
    return text.lower().translate(_PLAIN)


@lru_cache(maxsize=20_000)
def sounds(character: str) -> tuple[str, ...]:
    """Return all sounds of a Chinese character, the usual one first; () for anything else."""
    toned = PINYIN_DICT.get(ord(character), "") if len(character) == 1 else ""
    return tuple(dict.fromkeys(plain(reading) for reading in toned.split(",") if reading))


def word_sounds(word: str) -> tuple[str, ...]:
    """Return the sound of each character of a word, as it is read in this word."""
    if all(len(sounds(character)) == 1 for character in word):
        return tuple(sounds(character)[0] for character in word)  # ten times as fast
    return tuple(plain(syllable) for syllable in lazy_pinyin(word))


@lru_cache(maxsize=20_000)
def usual_sound(character: str) -> str:
    """Return the sound that a character has as a rule, "" where it has none.

    Rare readings (石 as dan) would make words sound alike that nobody confuses.
    """
    return next(iter(sounds(character)), "")


@lru_cache(maxsize=1)
def all_sounds() -> frozenset[str]:
    """Return every sound that a Chinese character may have."""
    found = {sound for code in _HAN_RANGE for sound in sounds(chr(code))}
    return frozenset(s for s in found if any(vowel in s for vowel in "aeiouv"))


@lru_cache(maxsize=2_000)
def blurred(sound: str) -> str:
    """Return one sound for those that many speakers do not tell apart: z/zh, c/ch, s/sh, n/l, f/h, an/ang, en/eng, in/ing."""
    if not sound:
        return ""
    sound = _AS_H.get(sound, sound)
    if sound[:2] in ("zh", "ch", "sh"):
        sound = sound[0] + sound[2:]
    if sound[0] == "n" and len(sound) > 1 and sound != "ng":
        sound = "l" + sound[1:]
    return sound[:-1] if sound.endswith(("ang", "eng", "ing")) and not sound.endswith("iang") else sound


class SoundTree:
    """Words by their blurred sounds, to be found at any place of a text in few steps.

    A word is found by its sounds as it is read and by the usual ones of its characters.
    """

    def __init__(self, words: Mapping[str, tuple[str, ...]]) -> None:
        self._root: _Node = ({}, [])
        for word, syllables in words.items():
            for read in {syllables, tuple(map(usual_sound, word))}:
                node = self._root
                for syllable in read:
                    node = node[0].setdefault(blurred(syllable), ({}, []))
                node[1].append((word, read))

    def at(self, heard: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
        """Return the words, with their sounds, that may sound like the first of these sounds."""
        found: list[tuple[str, tuple[str, ...]]] = []
        node: _Node | None = self._root
        for sound in heard:
            node = node[0].get(blurred(sound)) if node else None
            if node is None:
                break
            found += node[1]
        return found
