"""Questions whose answer is a row of facts: lists with conditions, what to do at a given value, one value of one thing.

list    找出安全间隔期不超过7天、能防稻飞虱的药
value   pH低于5.5怎么办; 海拔2300米能种咖啡吗
direct  戊唑醇防小麦赤霉病每亩用量多少

A question that asks anything beside that is none of these: wrong recognitions are worse than misses.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nongda.answer.options import parse_options
from nongda.errors import SettingsError
from nongda.index.fact_ranges import FILE_NAME, Constraint, RangeReader
from nongda.index.families import PROBLEM_KINDS
from nongda.index.subjects import named
from nongda.language.lexicon import Lexicon
from nongda.language.text import any_of, fold, search_form
from nongda.records import Entity, Quantity, Query

Form = Literal["list", "value", "direct"]
_SENTENCE = re.compile(r"[^。？！；;?!\n]+[。？！；;?!\n]*")
_CONTENT = re.compile(r"(?:%|克/升|g/l|亿|单位|国际单位)", re.IGNORECASE)  # what a product holds is no condition
_NO_VALUE = (*PROBLEM_KINDS, "symptom", "variety", "weather", "processing", "part", "stage", "tool", "pathogen")
_SUBJECTS = ("product", "variety", "nutrient", "pathogen")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list is made of: a kind of the lexicon, and the kind of what it is against ("" for any)."""

    name: str
    kind: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A question for the table of facts; names are standard terms.

    `attributes` are the keys that are asked, `constraints` the conditions, `within` says that a range in the documents
    must lie inside the asked one whatever the attribute (适宜海拔在1500米以下的品种), `fitness` that a value question
    wants to know whether the crop will grow.
    """

    form: Form
    wanted: Wanted | None
    attributes: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    crops: tuple[str, ...]
    targets: tuple[str, ...]
    subjects: tuple[str, ...]
    text: str
    within: bool = False
    fitness: bool = False


class FactForms:
    """The patterns of fact_questions.toml with its reader of ranges; immutable."""

    def __init__(self, data: Mapping[str, Any], reader: RangeReader) -> None:
        self.reader = reader
        self._wanted = [(Wanted(row["name"], row["kind"], row.get("target", "")), tuple(row["words"])) for row in data["wanted"]]
        self._lists = [(wanted, [re.compile(p.replace("{0}", "|".join(words))) for p in data["list"]["patterns"]])
                       for wanted, words in self._wanted]
        self._refuses = any_of(data["list"]["refuses"])
        self._groups = any_of(data["list"]["groups"])
        self._within = any_of(data["list"]["within"])
        self._values = any_of(data["value"]["patterns"])
        self._value_refuses = any_of(data["value"]["refuses"])
        self.fitness = any_of(data["value"]["fitness"])
        self.suits = any_of(data["value"]["suits"])
        self.acts = any_of(data["value"]["acts"])
        self._asks = any_of(data["asks"]["words"])
        self.product = _product_form(data["forms"]["words"])

    @classmethod
    def load(cls, folder: Path) -> FactForms:
        """Read fact_questions.toml and units.toml of a domain folder. Raises SettingsError that names the file."""
        path = folder / FILE_NAME
        reader = RangeReader.load(folder)
        try:
            return cls(tomllib.loads(path.read_text(encoding="utf-8")), reader)
        except (OSError, ValueError, KeyError, TypeError, re.error) as error:
            raise SettingsError(f"条件问法表 {path} 无法读取（{error}）：请恢复该文件") from error

    def wanted(self, text: str) -> tuple[Wanted, str] | None:
        """Return what a text asks a list of, the most special name first, and the words that ask it.

        None for a list on a whole group of crops, of which the documents name only some.
        """
        if self._groups.search(text):
            return None
        for wanted, patterns in self._lists:
            for pattern in patterns:
                if match := pattern.search(text):
                    return wanted, match.group()
        return None

    def refuses(self, rest: str) -> bool:
        """Tell whether the rest of a list question asks something else."""
        return bool(self._refuses.search(rest))

    def is_within(self, text: str) -> bool:
        """Tell whether the documents' own range is meant: 适宜海拔, 要求."""
        return bool(self._within.search(text))

    def asks_what_to_do(self, text: str) -> bool:
        """Tell whether a text asks something and each of its sentences that asks wants to know what a value means."""
        if self._value_refuses.search(text):
            return False
        asking = [s for s in _SENTENCE.findall(text) if self._asks.search(s) or "？" in s or "?" in s]
        return bool(asking) and all(self._values.search(s) for s in asking)

    def attributes(self, text: str) -> tuple[str, ...]:
        """Return the keys of the attributes that a text asks for."""
        return tuple(key for key, a in self.reader.attributes.items() if a.asks.search(text))


def _product_form(forms: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of a product with its strength, and its form where it is written: 25%噻嗪酮可湿性粉剂."""
    strength = r"\d[\d.]*\s*(?:%|％|克/升|g/L|亿[^，。；|、]{0,10}/(?:克|毫升))"
    name = r"[^，。；|（()）\d\s]"
    return re.compile(rf"{strength}{name}{{2,16}}?(?P<form>{'|'.join(forms)})|{strength}{name}{{2,12}}")


def fact_question(query: Query, lexicon: Lexicon, forms: FactForms) -> FactQuestion | None:
    """Return the question as one for the table of facts; None where it is not clearly of this kind."""
    if parse_options(query.standalone)[1]:
        return None
    field_crops = [e for e in named(query.standalone, lexicon) if e.kind == "crop" and e not in query.entities]  # 稻田, 茶园
    entities = (*query.entities, *field_crops)
    for text in dict.fromkeys((query.standalone, search_form(query.standalone))):  # the second in simplified characters
        constraints = tuple(forms.reader.read(text))
        if found := _list(text, entities, constraints, forms) or _value(text, entities, constraints, forms):
            return found
    return _direct(search_form(query.standalone), entities, forms)


def _list(text: str, entities: Sequence[Entity], constraints: tuple[Constraint, ...],
          forms: FactForms) -> FactQuestion | None:
    found = forms.wanted(text)
    if found is None or not constraints or _unread(text, constraints, forms.reader):
        return None
    wanted, asking = found
    rest = text.replace(asking, "", 1)
    for constraint in constraints:
        rest = rest.replace(constraint.words, "", 1)
    targets = _terms(entities, PROBLEM_KINDS)
    if forms.refuses(rest) or _is_ambiguous(entities) or any(e.kind == wanted.kind for e in entities if wanted.kind != "crop"):
        return None
    if any(e.kind in ("symptom", "pathogen") for e in entities):
        return None
    crops = () if wanted.kind == "crop" else _terms(entities, ("crop",))
    return FactQuestion("list", wanted, tuple(dict.fromkeys(c.attribute for c in constraints)), constraints, crops,
                        targets, (), text, forms.is_within(text))


def _value(text: str, entities: Sequence[Entity], constraints: tuple[Constraint, ...], forms: FactForms) -> FactQuestion | None:
    attributes = {c.attribute for c in constraints}
    if len(attributes) != 1 or len(constraints) != 1 or not forms.asks_what_to_do(text):
        return None
    if not forms.reader.attributes[constraints[0].attribute].condition or _unread(text, constraints, forms.reader):
        return None
    others = [e for e in entities if e.surface not in fold(constraints[0].words)]  # 海拔 is a word of the weather too
    if _is_ambiguous(entities) or any(e.kind in _NO_VALUE for e in others):
        return None
    subjects, crops = _terms(entities, ("nutrient", "product", "soil")), _terms(entities, ("crop",))
    fitness = bool(forms.fitness.search(text))
    if len(crops) > 1 or (fitness and not crops):
        return None
    return FactQuestion("value", None, (), constraints, crops, (), subjects, text, fitness=fitness)


def _direct(text: str, entities: Sequence[Entity], forms: FactForms) -> FactQuestion | None:
    attributes = forms.attributes(text)
    crops, targets, subjects = _terms(entities, ("crop",)), _terms(entities, PROBLEM_KINDS), _terms(entities, _SUBJECTS)
    if not attributes or not (crops or targets or subjects):
        return None
    return FactQuestion("direct", None, attributes, (), crops, targets, subjects, text)


def _unread(text: str, constraints: Sequence[Constraint], reader: RangeReader) -> bool:
    """Tell whether the text has a number that is part of no condition and no product's name."""
    spans = [(c.start, c.end) for c in constraints]
    return any(not any(a <= q.start and q.end <= b for a, b in spans) and not _is_content(text, q)
               for q in reader.quantities(text))


def _is_content(text: str, quantity: Quantity) -> bool:
    return bool(_CONTENT.search(text[quantity.start : quantity.end + 3]))


def _is_ambiguous(entities: Sequence[Entity]) -> bool:
    surfaces = [(e.surface, e.kind) for e in entities]
    return len(surfaces) != len(set(surfaces))


def _terms(entities: Sequence[Entity], kinds: Collection[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(e.term for e in entities if e.kind in kinds))
