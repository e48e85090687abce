"""The attributes of facts.toml: what a fact may say, by which words of a text and in which units."""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nongda.errors import SettingsError
from nongda.language.text import fold
from nongda.language.units import Units

FILE_NAME = "facts.toml"
ValueKind = Literal["quantity", "term", "text"]
_DECIDING = (FILE_NAME, "units.toml")
_NEVER, _ANY = re.compile(r"(?!)"), re.compile("")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: `header` is searched in table headers, `lead`, `sure`, `tail` and `veto` around a number.

    `kinds` are the kinds of its subject, the preferred first; a subject must stand in the same sentence or row where
    `near`. `scope`: the disease or pest may come from a heading. `says`: the words before the number are a condition.
    `unless` is searched in the whole sentence; `crop_if` in the clause, before a crop becomes the subject.
    `valid` must be in a text. `by_unit`: a number in one of its units needs no words. `least` is the smallest number
    of a sentence, `least_said` the fewest characters of its condition. `role` must be found in the condition: what the
    number is for (适宜, 致死, 催芽); `table_role` in that of a table's fact.
    """

    key: str
    name: str
    value: ValueKind
    header: re.Pattern[str]
    lead: re.Pattern[str]
    tail: re.Pattern[str]
    sure: re.Pattern[str]
    veto: re.Pattern[str]
    unless: re.Pattern[str]
    crop_if: re.Pattern[str]
    valid: re.Pattern[str]
    units: frozenset[str]
    kinds: tuple[str, ...]
    near: bool
    scope: bool
    says: bool
    by_unit: bool
    least: float
    least_said: int
    role: re.Pattern[str]
    table_role: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class Attributes:
    """All of facts.toml; `version` changes with it and with the units."""

    by_key: Mapping[str, Attribute]
    columns: Mapping[str, re.Pattern[str]]
    rejected: Mapping[str, re.Pattern[str]]
    phrases: Mapping[str, tuple[re.Pattern[str], ...]]
    groups: re.Pattern[str]  # words for several crops at once
    qualifiers: re.Pattern[str]  # words that change what a number means
    residues: re.Pattern[str]  # behind a crop's name: its straw
    elements: Mapping[str, re.Pattern[str]]  # nutrients by the headers of their columns
    origins: re.Pattern[str]  # in a heading: whose numbers follow
    sources: re.Pattern[str]  # behind a name: where something is written
    ignored: frozenset[str]  # terms that are attributes themselves
    units: Units
    version: str

    @classmethod
    def load(cls, folder: Path) -> Attributes:
        """Read facts.toml and units.toml of a domain folder. SettingsError names a file that cannot be read."""
        path = folder / FILE_NAME
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            further = {str(k): str(v) for k, v in data["units"].items()}
            units = Units.load(folder / "units.toml", ("units", "counters")).extended(further)
            return cls(
                {key: _attribute(key, table) for key, table in data["attributes"].items()},
                {name: re.compile(pattern) for name, pattern in data["columns"].items()},
                {name: re.compile(pattern) for name, pattern in data["rejected"].items()},
                _phrases(data["phrases"]), re.compile(data["groups"]["words"]),
                re.compile(data["qualifiers"]["words"]), re.compile(data["residues"]["words"]),
                {term: re.compile(pattern) for term, pattern in data["elements"].items()},
                re.compile(data["origins"]["words"]), re.compile(data["sources"]["words"]), frozenset(data["ignored"]["terms"]),
                units, _digest(folder),
            )
        except (OSError, ValueError, KeyError, AttributeError, TypeError, re.error) as error:
            raise SettingsError(f"属性表 {path} 无法读取（{error}）：请恢复该文件") from error

    def of_header(self, words: str, name: str, unit: str | None) -> Attribute | None:
        """Return the attribute that a header names, by all its words or by those before its unit, or None."""
        folded = fold(words)
        for attribute in self.by_key.values():
            fits = unit is None or unit in attribute.units or not attribute.units
            if fits and (attribute.header.search(folded) or attribute.header.search(name)):
                return attribute
        return next((a for a in self.by_key.values() if a.by_unit and unit in a.units), None)

    def of_number(self, unit: str, lead: str, tail: str, clause: str, sentence: str = "") -> Attribute | None:
        """Return the attribute of a number by its unit and the folded words before, after and all around it."""
        for attribute in self.by_key.values():
            if unit in attribute.units and attribute.value == "quantity" and not (
                    attribute.veto.search(clause) or attribute.unless.search(sentence)):
                sure = attribute.sure.search(clause) and attribute.lead.search(lead)
                told = attribute.lead.search(lead) or attribute.tail.search(tail) if attribute.sure is _NEVER else sure
                if told or attribute.by_unit:
                    return attribute
        return None


def _attribute(key: str, table: Mapping[str, Any]) -> Attribute:
    def pattern(name: str, default: re.Pattern[str] = _NEVER) -> re.Pattern[str]:
        return re.compile(table[name]) if name in table else default

    return Attribute(
        key, str(table["name"]), table["value"], pattern("header"), pattern("lead"), pattern("tail"), pattern("sure"),
        pattern("veto"), pattern("unless"), pattern("crop_if", _ANY), pattern("valid", _ANY),
        frozenset(table.get("units", ())), tuple(table["kinds"]), bool(table.get("near")),
        bool(table.get("scope")), bool(table.get("says")), bool(table.get("by_unit")), float(table.get("least", -math.inf)),
        int(table.get("least_said", 0)), pattern("role", _ANY),
        pattern("table_role") if "table_role" in table else None,
    )


def _phrases(table: Mapping[str, Any]) -> dict[str, tuple[re.Pattern[str], ...]]:
    """Compile the phrases; MONTHS and OPERATION stand for the two longest parts."""
    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern.replace("MONTHS", f"(?:{table['months']})").replace("OPERATION", table["operation"]))

    return {name: tuple(map(compiled, [found] if isinstance(found, str) else found)) for name, found in table.items()}


def _digest(folder: Path) -> str:
    parts = (folder / name for name in _DECIDING)
    return hashlib.sha256(b"\0".join(p.read_bytes() for p in parts)).hexdigest()[:16]
