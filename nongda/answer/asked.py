"""What a question asks for: its kind, its facets, and the kinds of value that would answer each of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from nongda.answer.options import parse_options
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units
from nongda.records import Quantity

QuestionKind = Literal["fact", "how_to", "diagnosis", "comparison", "yes_no", "choice"]
_KINDS: tuple[QuestionKind, ...] = ("comparison", "yes_no", "diagnosis", "how_to")  # the first that fits
_CLAUSE = re.compile(r"(?:[^，。？；！?;!,\n]|,(?=\d))+(?:[，。？；！?;!\n]|,(?!\d))*")
_ASKS = re.compile(
    r"什么|啥|哪|几|多少|怎|咋|吗|呢|谁|何|为何|是否|能否|可否|还是|(.)[不没]\1|多(?:久|长|宽|深|高|大|远|厚|重|浓|冷|热)"
)
_ANY_NUMBER = re.compile(r"^前几(?:天|年|次)|[这近]几(?:天|年|次)|几(?:天|年|个|次|乎)?(?:前|来|乎)")  # 前几天, 这几年, 几乎 ask nothing
_CONTENT = re.compile(r"[\u4e00-\u9fff](?<![左以的时之为是，。])")  # 40%稻瘟灵: what a product holds, no share
# What two things are compared by: the first kind of which a question names two, joined by a word.
_COMPARED = ("disease", "pest", "variety", "product", "place", "stage", "crop")
_JOINT = re.compile(r"和|跟|与|、|比|同(?![一样时])")
_JOINED = re.compile(
    r"(?P<one>[^，。？、；：]{1,14}?)(?:和|跟|与|同(?![一样时]))"
    r"(?P<other>[^，。？、；：]{1,14}?)(?=的?(?:区别|不同|差别)|各|分别|相比|比|哪|谁|，|有什么|[，。？]|$)"
)


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing a question asks; `values` names the kinds of value that would answer it."""

    text: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart; a choice question's `options` are (letter, text)."""

    kind: QuestionKind
    facets: tuple[Facet, ...]
    options: tuple[tuple[str, str], ...] = ()
    sides: tuple[str, ...] = ()  # the two things compared, as written

    @property
    def values(self) -> frozenset[str]:
        """Return the kinds of value of all facets."""
        return frozenset().union(*(facet.values for facet in self.facets))


@dataclass(frozen=True, slots=True)
class _Value:
    words: re.Pattern[str]
    units: frozenset[str]
    names: frozenset[str]
    says: re.Pattern[str] | None


class Asking:
    """The tables of asked.toml with their patterns; immutable."""

    def __init__(self, values: Mapping[str, Mapping[str, list[str]]], kinds: Mapping[str, list[str]], units: Units) -> None:
        self._values = {
            name: _Value(_any(table["words"]), frozenset(table["units"]), frozenset(table.get("names", ())),
                         _any(table["says"]) if "says" in table else None)
            for name, table in values.items()
        }
        self._kinds = {name: _any(patterns) for name, patterns in kinds.items()}
        self._units = units

    @classmethod
    def load(cls, folder: Path) -> Asking:
        """Read asked.toml and units.toml of a domain folder. Raises SettingsError that names the file."""
        path = folder / "asked.toml"
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            return cls(data["values"], data["kinds"], Units.load(folder / "units.toml", ("units", "counters")))
        except (OSError, ValueError, KeyError, TypeError, re.error) as error:
            raise SettingsError(f"问法表 {path} 无法读取（{error}）：请恢复该文件") from error

    def of(self, question: str, lexicon: Lexicon) -> Asked:
        """Take a question apart."""
        stem, found = parse_options(question)
        options = tuple((option.letter, option.text) for option in found)
        facets = tuple(Facet(text, self._wanted(text)) for text in _facets(stem))
        if options:
            return Asked("choice", facets, options)
        kind: QuestionKind = next((k for k in _KINDS if self._kinds[k].search(stem)), "fact")
        sides = self._sides(stem, lexicon) if kind == "comparison" else ()
        if sides:
            facets = tuple(Facet(_without(stem, other), self._wanted(stem)) for other in reversed(sides))
        return Asked(kind, facets, (), sides)

    def _sides(self, stem: str, lexicon: Lexicon) -> tuple[str, ...]:
        """Return the two things compared: two quantities of one unit, two terms of one kind, or what 和 joins."""
        quantities = [q for q in self._units.quantities(stem) if q.unit]
        pairs = [(stem[a.start : a.end].strip(), stem[b.start : b.end].strip())
                 for a, b in pairwise(quantities) if a.unit == b.unit]
        entities = [e for e in lexicon.entities(stem) if e.surface in stem]
        for kind in _COMPARED:
            pairs += pairwise(e.surface for e in entities if e.kind == kind)
        for one, other in pairs:
            between = stem.partition(one)[2].partition(other)
            if one not in other and other not in one and between[1] and _JOINT.search(between[0]):
                return one, other
        joined = _JOINED.search(stem)
        return (joined["one"], joined["other"]) if joined else ()

    def _wanted(self, text: str) -> frozenset[str]:
        return frozenset(name for name, value in self._values.items() if value.words.search(text))

    def units_of(self, text: str) -> list[Quantity]:
        """Return the quantities of a text; counters (次, 天, 株) are units here."""
        return self._units.quantities(text)

    def quantities(self, text: str, wanted: Iterable[str]) -> list[str]:
        """Return the different quantities of the wanted kinds, as a text has them."""
        units = frozenset().union(*(self._values[name].units for name in wanted))
        found = {(q.low, q.high, q.unit): text[q.start : q.end].strip() for q in self.units_of(text)
                 if q.unit in units and not (q.unit == "%" and _CONTENT.match(text[q.end :]))}
        return list(found.values())

    def held(self, text: str, wanted: Iterable[str], units: frozenset[str], names: frozenset[str]) -> frozenset[str]:
        """Return which of the wanted kinds of value a text holds, given its units and the kinds of names new in it."""
        return frozenset(
            name for name in wanted
            if units & self._values[name].units or names & self._values[name].names
            or ((says := self._values[name].says) is not None and says.search(text))
        )


def _without(text: str, part: str) -> str:
    """Return the text without one of its parts and the word that joined it."""
    return re.sub(rf"(?:和|跟|与|同|、)?{re.escape(part)}(?:和|跟|与|同|、)?", "", text, count=1)


def _facets(stem: str) -> list[str]:
    """Return the clauses that ask, each with the clauses before it that only tell; all of it where none asks."""
    facets: list[str] = []
    told = ""
    for clause in _CLAUSE.findall(stem):
        if _ASKS.search(_ANY_NUMBER.sub("", clause)):
            facets.append((told + clause).strip())
            told = ""
        else:
            told += clause
    if not facets:
        return [stem.strip()]
    if told.strip():
        facets[-1] += told
    return facets


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns))
