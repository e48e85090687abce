"""Passages that speak of nothing in the domain: contents, imprints, agendas, canteen notices.

1. Names and plain words of the domain (each once) and amounts in agronomic units count per 100 characters.
2. A heading or a title that names something of the domain counts besides: what stands in its section belongs to it.
3. Words that agronomy has no use for are taken off, per 100 characters, and once more in a heading.
4. A score below the least is off topic. A short passage has the benefit of the doubt: only words of step 3 say that it is
   off topic, of a long one the silence does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.text import any_of, search_form

_MARKS = re.compile(r"[\s|:-]+")  # of tables; they are no text


@dataclass(frozen=True, slots=True)
class Cuts:
    """The weights and the least score of relevance.toml; `short` in characters."""

    least: float
    doubt: float
    short: float
    word: float
    amount: float
    heading: float
    title: float
    foreign: float
    contents: float
    foreign_heading: float


class Relevance:
    """Tells passages of the domain from others. Immutable; safe to use from several threads."""

    def __init__(self, lexicon: Lexicon, cuts: Cuts, kinds: Mapping[str, float], words: re.Pattern[str],
                 units: frozenset[str], foreign: re.Pattern[str], contents: re.Pattern[str]) -> None:
        self._lexicon = lexicon
        self._cuts = cuts
        self._kinds = dict(kinds)
        self._words = words
        self._units = units
        self._foreign = foreign
        self._contents = contents

    @classmethod
    def load(cls, folder: Path, lexicon: Lexicon) -> Relevance:
        """Read relevance.toml of a domain folder. Raises SettingsError that names the file."""
        path = folder / "relevance.toml"
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            cuts = Cuts(**{name: float(value) for name, value in data["cuts"].items()})
            kinds = {str(kind): float(weight) for kind, weight in data["kinds"].items()}
            words, foreign, contents = (any_of(data[table]["patterns"]) for table in ("words", "foreign", "contents"))
            return cls(lexicon, cuts, kinds, words, frozenset(data["amounts"]["units"]), foreign, contents)
        except (OSError, ValueError, KeyError, AttributeError, TypeError, re.error) as error:
            raise SettingsError(f"领域数据 {path} 无法读取（{error}）：请恢复该文件") from error

    def is_off_topic(self, title: str, heading: Sequence[str], text: str) -> bool:
        """Tell whether a passage speaks of nothing in the domain, wherever it stands."""
        return self.score(title, heading, text) < self._cuts.least

    def score(self, title: str, heading: Sequence[str], text: str) -> float:
        """Return how much a passage is of the domain: 3 and more as a rule where it is, about 0 where it is not."""
        cuts, above, form = self._cuts, " ".join(heading), search_form(text)
        length = len(_MARKS.sub("", form))
        per = 100 / max(length, cuts.short)
        score = (self._named(form) + cuts.doubt * max(0.0, cuts.short - length)) * per
        score += cuts.heading * min(1.0, self._named(above)) + cuts.title * min(1.0, self._named(title))
        score -= cuts.foreign_heading * bool(self._foreign.search(search_form(above)))
        score -= (cuts.foreign * len(self._foreign.findall(form)) + cuts.contents * len(self._contents.findall(form))) * per
        if score < cuts.least:  # seldom, and amounts take the longest to find
            amounts = sum(quantity.unit in self._units for quantity in self._lexicon.units.rates(text))
            score += cuts.amount * per * amounts
        return score

    def _named(self, text: str) -> float:
        names = sum(self._kinds.get(entity.kind, 0.0) for entity in self._lexicon.entities(text))
        return names + self._cuts.word * len(set(self._words.findall(search_form(text))))
