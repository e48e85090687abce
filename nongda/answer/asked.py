"""What a question asks for: its intent, its facets, and the kinds of value that would answer each of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nongda.answer.intent import QuestionKind, Triggers
from nongda.answer.options import parse_options
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.text import any_of
from nongda.language.units import Units
from nongda.records import Intent, Quantity

_CLAUSE = re.compile(r"(?:[^，。？；！?;!,\n]|,(?=\d))+(?:[，。？；！?;!\n]|,(?!\d))*")
_ENUMERATED = re.compile(r"(?:、|和|跟|与|以及|还有|并且)")
_TWO_NAMED = re.compile(
    r"(?P<before>.*?)(?P<one>[^，、和跟与]{1,8})(?:和|、|跟|与)(?P<other>[^，、和跟与]{1,10}?)"
    r"(?P<ask>(?:要求|各|分别|应该?|该|要|是|为|得|在|选)*(?:多少|几|多大|多高|怎样|什么).*)"
)
_CONTENT = re.compile(r"[\u4e00-\u9fff](?<![左以的时之为是，。])")  # 40%稻瘟灵: what a product holds, no share
_CONTENT_BEFORE = re.compile(r"\d[\d.]*%?$")
# What two things are compared by: the first kind of which a question names two, joined by a word.
_COMPARED = ("disease", "pest", "variety", "product", "place", "stage", "crop")
_JOINT = re.compile(r"和|跟|与|、|比|同(?![一样时])")
_JOINED = re.compile(
    r"(?P<one>[^，。？、；：]{1,14}?)(?:，?和|跟|与|同(?![一样时]))"
    r"(?P<other>[^，。？、；：]{1,18}?)(?=的?(?:区别|不同|差别)|各|分别|相比|比|哪|谁|，|有什么|[，。？（]|$)"
)


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing a question asks; `values` names the kinds of value that would answer it.

    `told` is what the text begins with that asks nothing: 叶背有黄粉，; of two things compared it is the other side's
    words that the text has not.
    """

    text: str
    values: frozenset[str]
    told: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart; a choice question's `options` are (letter, text).

    `intent` is `kind`, but for alternatives without letters and sums over the question's own numbers.
    """

    kind: QuestionKind
    facets: tuple[Facet, ...]
    options: tuple[tuple[str, str], ...] = ()
    sides: tuple[str, ...] = ()  # the two things compared, as written
    intent: Intent = "fact"

    @property
    def values(self) -> frozenset[str]:
        """Return the kinds of value of all facets."""
        return frozenset().union(*(facet.values for facet in self.facets))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two things that a text names with a word between, and what is left of it without the one or the other."""

    sides: tuple[str, str]
    alone: tuple[str, str]

    @classmethod
    def at(cls, stem: str, one: tuple[int, int], joint: tuple[int, int], other: tuple[int, int]) -> _Pair:
        """Part a text at the offsets of its sides; what both ends say (按2米栽和按3米栽) is said once."""
        before, after = _CONTENT_BEFORE.sub("", stem[: one[0]]), stem[other[1] :]
        named = (stem[len(before) : one[1]], stem[other[0] : other[1]])
        of_one, of_other = stem[one[1] : joint[0]], stem[joint[1] : other[0]]
        first = before + named[0] + of_one.removesuffix("，") + after.removeprefix(of_one)
        second = before.removesuffix(of_other) + of_other + named[1] + after
        sides = named[0] + (of_one if of_one.isascii() else ""), (of_other if of_other[:1].isdigit() else "") + named[1]
        return cls(sides, (first, second))


@dataclass(frozen=True, slots=True)
class _Value:
    words: re.Pattern[str]
    units: frozenset[str]
    names: frozenset[str]
    says: re.Pattern[str] | None


class Asking:
    """The tables of asked.toml with their patterns, and the triggers of triggers.toml; immutable."""

    def __init__(self, values: Mapping[str, Mapping[str, list[str]]], triggers: Triggers, units: Units) -> None:
        self._values = {
            name: _Value(any_of(table["words"]), frozenset(table["units"]), frozenset(table.get("names", ())),
                         any_of(table["says"]) if "says" in table else None)
            for name, table in values.items()
        }
        self.triggers = triggers
        self._units = units

    @classmethod
    def load(cls, folder: Path) -> Asking:
        """Read asked.toml, triggers.toml and units.toml of a domain folder. Raises SettingsError that names the file."""
        path = folder / "asked.toml"
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))["values"]
            return cls(values, Triggers.load(folder), Units.load(folder / "units.toml", ("units", "counters")))
        except (OSError, ValueError, KeyError, TypeError, re.error) as error:
            raise SettingsError(f"问法表 {path} 无法读取（{error}）：请恢复该文件") from error

    def of(self, question: str, lexicon: Lexicon) -> Asked:
        """Take a question apart."""
        stem, found = parse_options(question)
        options = tuple((option.letter, option.text) for option in found)
        parted = self._parted(stem)
        facets = tuple(Facet((told + ask).strip(), self._wanted(told + ask), told.strip()) for told, ask in parted)
        if options:
            return Asked("choice", facets, options, intent="choice")
        pair = self._pair(stem, lexicon)
        asking = [ask for _, ask in parted if self.triggers.asks(ask)]
        kind = self.triggers.kind(stem, asking, lexicon, pair is not None)
        sides: tuple[str, ...] = ()
        if kind == "comparison" and pair:
            sides = pair.sides
            facets = tuple(Facet(alone, self._wanted(stem)) for alone in pair.alone)
        return Asked(kind, facets, (), sides, self.triggers.intent(stem, kind, asking, lexicon))

    def _parted(self, stem: str) -> list[tuple[str, str]]:
        """Return (what is told before, what asks): each clause that asks, taken apart where it asks several things."""
        clauses = _CLAUSE.findall(stem)
        asks = [self.triggers.asks(clause) for clause in clauses]
        topics = [self.triggers.only_names(clause) for clause in clauses]
        if all(topic for ask, topic in zip(asks, topics, strict=True) if ask):
            topics = [False] * len(clauses)
        found: list[tuple[str, str]] = []
        told = ""
        for clause, ask, topic in zip(clauses, asks, topics, strict=True):
            if not ask or topic:
                told += clause
                continue
            first, *more = self._enumerated(clause)
            found += [(told, first), *(("", one) for one in more)]
            told = ""
        if not found:
            return [("", stem)]
        if told.strip():
            found[-1] = (found[-1][0], found[-1][1] + told)
        return found

    def _enumerated(self, clause: str) -> list[str]:
        """Part a clause that asks several things: 喷哪种药、配多大浓度; 海拔和气温要求多少."""
        pieces: list[str] = []
        start = 0
        for match in _ENUMERATED.finditer(clause):
            rest = clause[match.end() :]
            if self.triggers.asks(clause[start : match.start()]) and self.triggers.asks(rest):
                pieces.append(clause[start : match.start()])
                start = match.end()
        if pieces:
            return [*pieces, clause[start:]]
        named = _TWO_NAMED.fullmatch(clause.strip())
        if named and not self.triggers.asks(named["before"] + named["one"] + named["other"]):
            one, other = self._wanted(named["one"]), self._wanted(named["other"])
            if one and other and not one & other:
                return [named["before"] + named["one"] + named["ask"], named["other"] + named["ask"]]
        return [clause]

    def _pair(self, stem: str, lexicon: Lexicon) -> _Pair | None:
        """Return the two things compared: two quantities of one unit, two terms of one kind, or what 和 joins."""
        pairs = [(a, b) for a, b in pairwise(self._sizes(stem)) if a[2] == b[2]]
        entities = [(start, start + len(e.surface), e.kind) for e in lexicon.entities(stem) if (start := stem.find(e.surface)) >= 0]
        for kind in _COMPARED:
            pairs += pairwise(e for e in entities if e[2] == kind)
        for one, other in pairs:
            joints = list(_JOINT.finditer(stem, one[1], max(one[1], other[0])))
            if joints and stem[one[0] : one[1]] != stem[other[0] : other[1]]:
                return _Pair.at(stem, one[:2], joints[-1].span(), other[:2])
        joined = _JOINED.search(stem)
        if not joined:
            return None
        return _Pair.at(stem, joined.span("one"), (joined.end("one"), joined.start("other")), joined.span("other"))

    def _sizes(self, stem: str) -> list[tuple[int, int, str]]:
        """Return the quantities with a unit as (start, end, unit); 2米×1米 is one, a product's content none."""
        found: list[tuple[int, int, str]] = []
        for q in self._units.quantities(stem):
            rest = stem[q.end :]
            if not q.unit or (q.unit == "%" and _CONTENT.match(rest) and not _JOINT.match(rest)):
                continue
            start = q.start + len(stem[q.start : q.end]) - len(stem[q.start : q.end].lstrip())
            if found and stem[found[-1][1] : start].strip() in ("×", "x", "X", "*", "乘"):
                found[-1] = (found[-1][0], q.end, q.unit)
            else:
                found.append((start, q.end, q.unit))
        return found

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
