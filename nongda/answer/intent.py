"""What a question wants, by how it is put: rules over the trigger words and templates of triggers.toml, no model.

Steps of `Triggers.intent`:
1. Options (A. … B. …, X还是Y) make it a choice; a sum that its numbers allow, or words of one, arithmetic.
2. Words of comparing make it a comparison: strong ones alone, others where two things compared were found.
3. The first clause that asks decides: the intent of its heaviest trigger, of equal ones the first of _ORDER. Facts beside
   which a way of doing is asked are how_to.
4. No clause asks: words as 防治方法 are read all the same, told signs (叶子黄了) want a diagnosis, anything else a fact.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from nongda.answer.calculate import calculation_asked
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.records import Intent

QuestionKind = Literal["fact", "how_to", "diagnosis", "comparison", "yes_no", "choice"]
_ORDER: tuple[QuestionKind, ...] = ("yes_no", "diagnosis", "how_to", "fact")
_WEIGHTS = ("strong", "means", "usual", "weak")
_CHINESE = str.maketrans(",?!;:", "，？！；：")
_TOPIC = re.compile(r"呢[，。？！；]*$")


class Triggers:
    """The tables of triggers.toml with their patterns; immutable."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        """Compile the patterns. KeyError for a missing table, re.error for a broken pattern."""
        self._weights = {name: int(tables["weights"][name]) for name in _WEIGHTS}
        self._words = {name: {key: _compiled(words) for key, words in tables[name].items()} for name in _ORDER}
        self._comparing = {key: _compiled(tables["comparison"][key]) for key in ("strong", "usual", "not")}
        self._sums, self._alternatives = _compiled(tables["arithmetic"]["strong"]), _compiled(tables["choice"]["words"])
        self._asks, self._idle = _compiled(tables["asks"]["words"]), _compiled(tables["idle"]["words"])
        self._cure, self._cause = _compiled(tables["cure"]["words"]), _compiled(tables["cure"]["told"])
        self._reason, self._deciding = _compiled(tables["reason"]["words"]), _compiled(tables["deciding"]["words"])
        self._carried = re.compile(tables["decompose"]["carried"])
        self.cause, self.prompt = (str(tables["decompose"][key]).strip() for key in ("cause", "prompt"))

    @classmethod
    def load(cls, folder: Path) -> Triggers:
        """Read triggers.toml of a domain folder. Raises SettingsError that names the file."""
        path = folder / "triggers.toml"
        try:
            return cls(tomllib.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, re.error) as error:
            raise SettingsError(f"问法触发词表 {path} 无法读取（{error}）：请恢复该文件") from error

    def asks(self, clause: str) -> bool:
        """Tell whether a clause asks: it has a question word that is no part of 前几天, 什么都没有 and the like."""
        return _any(self._asks, self._plain(clause))

    def only_names(self, clause: str) -> bool:
        """Tell whether a clause only names what the next one asks of: 那氧化钾呢."""
        return bool(_TOPIC.search(_form(clause))) and not self.asks(_TOPIC.sub("", _form(clause)))

    def asks_why(self, clause: str) -> bool:
        """Tell whether a clause asks nothing but the reason of what was asked before it (为什么？)."""
        return _any(self._reason, self._plain(clause))

    def asks_what_decides(self, clause: str) -> bool:
        """Tell whether a clause after a question of yes or no asks for the limit that decides it (离多远才行)."""
        return _any(self._deciding, self._plain(clause))

    def asks_cure(self, clause: str) -> bool:
        """Tell whether a clause asks what to do or to spray against something."""
        return _any(self._cure, self._plain(clause))

    def without_cure(self, clause: str) -> str:
        """Return what a clause tells before it asks for a cure: 稻苗倒了咋办 tells 稻苗倒了; "" where there is nothing."""
        starts = [m.start() for pattern in self._cure if (m := pattern.search(clause))]
        return clause[: min(starts)] if starts else ""

    def tells_signs(self, text: str, lexicon: Lexicon) -> bool:
        """Tell whether a text tells signs of something that it does not name, and no cause."""
        form, signs = _form(text), self._words["diagnosis"]["signs"]
        return _any(signs, form, templates(form, lexicon)) and not _any(self._cause, form)

    def carried(self, clause: str) -> str:
        """Return a clause that asks for a product as if it spoke of it (用什么药治: 用药治); "" for another clause."""
        return self._carried.sub("", clause) if self._carried.search(clause) else ""

    def compares(self, stem: str, has_sides: bool) -> bool:
        """Tell whether a question compares; `has_sides`: two things that may be compared are named."""
        form = self._plain(stem)
        return _any(self._comparing["strong"], form) or (
            has_sides and _any(self._comparing["usual"], form) and not _any(self._comparing["not"], form))

    def kind(self, stem: str, asking: Sequence[str], lexicon: Lexicon, has_sides: bool = False) -> QuestionKind:
        """Return what a question without options wants, sums left aside; `asking` are its clauses that ask."""
        if self.compares(stem, has_sides):
            return "comparison"
        if not asking:
            kind = self._kind_of(stem, lexicon)
            return "diagnosis" if kind == "fact" and self.tells_signs(stem, lexicon) else kind
        kinds = (self._kind_of(clause, lexicon) for clause in asking)
        first = next(kinds)
        return "how_to" if first == "fact" and "how_to" in kinds else first

    def intent(self, stem: str, kind: QuestionKind, asking: Sequence[str], lexicon: Lexicon) -> Intent:
        """Return the intent of a question of a kind: named alternatives and sums over its own numbers come before it."""
        if kind in ("choice", "comparison"):
            return kind
        if asking and _any(self._alternatives, self._plain(asking[0])):
            return "choice"
        is_sum = calculation_asked(stem, lexicon.units) is not None or _any(self._sums, self._plain(stem))
        return "arithmetic" if is_sum and kind in ("fact", "how_to") else kind

    def _kind_of(self, clause: str, lexicon: Lexicon) -> QuestionKind:
        form = self._plain(clause)
        marked = templates(form, lexicon)
        weights = {name: self._heaviest(name, form, marked) for name in _ORDER}
        return max(_ORDER, key=lambda name: weights[name]) if any(weights.values()) else "fact"

    def _heaviest(self, name: QuestionKind, form: str, marked: str) -> int:
        tables = self._words[name]
        return next((self._weights[key] for key in _WEIGHTS if _any(tables.get(key, ()), form, marked)), 0)

    def _plain(self, text: str) -> str:
        form = _form(text)
        for pattern in self._idle:
            form = pattern.sub("", form)
        return form


def templates(form: str, lexicon: Lexicon) -> str:
    """Return a text with each name of the lexicon replaced by its kind: 叶子<symptom>用<product>."""
    parts: list[str] = []
    position = 0
    for match in lexicon.find(form):
        kinds = [entity.kind for entity in lexicon.entities(form[match.start : match.end])]
        parts += [form[position : match.start], f"<{kinds[0]}>" if kinds else form[match.start : match.end]]
        position = match.end
    return "".join(parts) + form[position:]


def _form(text: str) -> str:
    return search_form(text).translate(_CHINESE).strip()


def _compiled(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)


def _any(patterns: Iterable[re.Pattern[str]], *texts: str) -> bool:
    return any(pattern.search(text) for pattern in patterns for text in texts)
