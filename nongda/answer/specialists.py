"""Specialists as data: a TOML file each, chosen by keywords; adding one is adding a file.

name      the field's name, for the reader
crops     standard names; where given, a question must name one of them, in a variety or group too
kinds     what an entity of each kind of the lexicon counts
keywords  what a word of the question counts
expand    [[expand]] asked: words of farmers, add: words a document would have in their place
prefer    regular expressions over title, headings and authority of the documents to turn to first
open      regular expressions for asking to be told of something in general (outline.py)
outline   [[outline]] name, attributes (of facts.toml), words and heading (regular expressions): the slots of such an
          answer, in order
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nongda.errors import SettingsError
from nongda.index.families import is_same_crop
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.records import Candidate, Query

_GENERAL = "general.toml"
_KEYS = frozenset({"name", "crops", "kinds", "keywords", "expand", "prefer", "open", "outline"})
_PREFERRED = frozenset({"title", "heading", "authority"})
_SLOT = frozenset({"name", "attributes", "words", "heading"})


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing an introduction says; an absent pattern matches nothing."""

    name: str
    attributes: frozenset[str]
    words: re.Pattern[str] | None
    heading: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class Expansion:
    """Words of a document for those of a question; `asked` None: for every question."""

    asked: re.Pattern[str] | None
    add: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Specialist:
    """One field of the domain. Immutable after loading."""

    name: str
    crops: tuple[str, ...]
    kinds: Mapping[str, float]
    keywords: Mapping[str, float]
    expansions: tuple[Expansion, ...]
    sources: Mapping[str, re.Pattern[str]]
    open: tuple[re.Pattern[str], ...]
    outline: tuple[Slot, ...]

    def score(self, query: Query) -> float:
        """Return the sum of the weights of the keywords and entities in a question, 0 where its crop is another."""
        crops = [e.term for e in query.entities if e.kind == "crop"]
        if self.crops and not any(is_same_crop(asked, own) for asked in crops for own in self.crops):
            return 0.0
        text = search_form(query.standalone)
        return (sum(weight for word, weight in self.keywords.items() if word in text)
                + sum(self.kinds.get(kind, 0.0) for kind in {e.kind for e in query.entities}))


class Specialists:
    """All specialists of a folder and the general one; `problems` name the files left out, in Chinese."""

    def __init__(self, general: Specialist, others: Sequence[Specialist], problems: Sequence[str] = ()) -> None:
        self.general = general
        self.others = tuple(others)
        self.problems = tuple(problems)

    @classmethod
    def load(cls, folder: Path) -> Specialists:
        """Read every TOML file of a folder; a broken one is named in `problems` and left out.

        Raises SettingsError where general.toml cannot be read: questions of no field fall to it.
        """
        try:
            general = _specialist(folder / _GENERAL)
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise SettingsError(f"专题文件 {folder / _GENERAL} 无法读取（{_said(error)}）：请恢复该文件") from error
        others: list[Specialist] = []
        problems: list[str] = []
        for path in sorted(folder.glob("*.toml")):
            if path.name != _GENERAL:
                try:
                    others.append(_specialist(path))
                except (OSError, ValueError, TypeError, AttributeError) as error:
                    problems.append(f"专题文件 {path.name} 有误（{_said(error)}），已略过：请改正该文件")
        return cls(general, others, problems)

    def choose(self, query: Query) -> Specialist:
        """Return the specialist with the highest score, of equals the first by file name; the general one at 0."""
        best = max(self.others, key=lambda one: one.score(query), default=self.general)
        return best if best.score(query) > 0 else self.general

    def expansion(self, query: Query, specialist: Specialist, lexicon: Lexicon) -> tuple[str, ...]:
        """Return the tokens a document would have for what is asked, without those of the question, each once."""
        text = search_form(query.standalone)
        rules = [*self.general.expansions, *(specialist.expansions if specialist is not self.general else ())]
        words = [word for rule in rules if rule.asked is None or rule.asked.search(text) for word in rule.add]
        tokens = [token for word in words for token in lexicon.tokens(word)]
        return tuple(t for t in dict.fromkeys(tokens) if t not in query.tokens)


def preferred(specialist: Specialist, candidate: Candidate) -> bool:
    """Tell whether a candidate is from a source the specialist turns to first: by title, headings or authority."""
    meta = candidate.document.meta
    texts = {"title": meta.title, "heading": " ".join(candidate.chunk.heading), "authority": meta.authority}
    return any(pattern.search(texts[where]) for where, pattern in specialist.sources.items())


def _specialist(path: Path) -> Specialist:
    """Read one file. Raises ValueError, TypeError or AttributeError for a mistake in it."""
    data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    _known(data, _KEYS, "项")
    for key in ("keywords", "kinds"):
        _weights(data.get(key, {}), key)
    if not isinstance(data.get("name"), str) or not data["name"].strip():
        raise ValueError("缺少 name（专题名）")
    sources = data.get("prefer", {})
    _known(sources, _PREFERRED, "prefer 的项")
    return Specialist(
        data["name"].strip(), tuple(_texts(data.get("crops", []), "crops")), dict(data.get("kinds", {})),
        {search_form(word): weight for word, weight in data.get("keywords", {}).items()},
        tuple(_expansion(one) for one in data.get("expand", ())),
        {where: pattern for where, words in sources.items() if (pattern := _any(words, f"prefer.{where}"))},
        tuple(_compiled(pattern, "open") for pattern in _texts(data.get("open", []), "open")),
        tuple(_slot(one) for one in data.get("outline", ())),
    )


def _expansion(table: Mapping[str, Any]) -> Expansion:
    _known(table, frozenset({"asked", "add"}), "expand 的项")
    add = tuple(_texts(table.get("add", []), "expand.add"))
    if not add:
        raise ValueError("expand 缺少 add（要加的词）")
    return Expansion(_any(table.get("asked", []), "expand.asked"), add)


def _slot(table: Mapping[str, Any]) -> Slot:
    _known(table, _SLOT, "outline 的项")
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("outline 缺少 name（小标题）")
    attributes = frozenset(_texts(table.get("attributes", []), "outline.attributes"))
    return Slot(name, attributes, *(_any(table.get(key, []), f"outline.{key}") for key in ("words", "heading")))


def _known(table: Mapping[str, Any], known: frozenset[str], what: str) -> None:
    for key in table:
        if key not in known:
            raise ValueError(f"不认识的{what}“{key}”，可用的有 {'、'.join(sorted(known))}")


def _weights(table: Mapping[str, Any], name: str) -> None:
    for word, weight in table.items():
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < 1000:
            raise ValueError(f"{name} 的“{word}”应是大于 0 的数字，现在是 {weight!r}")


def _texts(value: object, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
        raise TypeError(f"{name} 应是一列词，写成 [\"甲\", \"乙\"]")
    return value


def _any(value: object, name: str) -> re.Pattern[str] | None:
    words = _texts(value, name)
    return _compiled("|".join(f"(?:{_compiled(word, name).pattern})" for word in words), name) if words else None


def _compiled(pattern: str, name: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{name} 里的式子“{pattern}”写错了：{error}") from error


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
