"""Standard terms with their places in a text, and whose a number is among several of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import normalize

from nongda.index.families import PROBLEM_KINDS, is_same_crop
from nongda.index.subjects import named
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.records import Entity

_MIXTURE_MARKS = ("·", "・", "•", "＋", "+")
_MOST_KNOWN = 20_000  # texts
_LIKE = re.compile(r"(?:像|好似|形似|形如|貌似|如同|似)$")  # 像西瓜皮 is of no melon
_OTHER = "□"  # no part of any term
# Kinds that are looked for together: 尿素 and 三环唑 are both put on the field.
_TOGETHER = (frozenset({"product", "nutrient"}), PROBLEM_KINDS)


@dataclass(frozen=True, slots=True)
class Name:
    """A term in a text; `mixed` where it is one part of a mixture (戊唑·多菌灵) that the lexicon has no name for."""

    start: int
    end: int
    term: str
    kind: str
    mixed: bool = False


class Names:
    """Finds the terms of texts; remembers them, for headings are read again for every passage."""

    def __init__(self, lexicon: Lexicon, ignored: frozenset[str] = frozenset(),
                 residues: re.Pattern[str] | None = None) -> None:
        """Leave out ignored terms, and crops before a word for what is left of them (玉米秸秆)."""
        self._lexicon = lexicon
        self._ignored = ignored
        self._residues = residues
        self._known: dict[str, tuple[Name, ...]] = {}
        self._crops: dict[str, tuple[str, ...]] = {}

    def of(self, text: str) -> tuple[Name, ...]:
        """Return the terms of a text in order; words with several readings are left out."""
        if text not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[text] = tuple(self._find(text))
        return self._known[text]

    def crops(self, text: str) -> tuple[str, ...]:
        """Return the crops a text names, field words (稻田, 茶园) among them; the general one of 小麦 and 冬小麦."""
        if text not in self._crops:
            if len(self._crops) >= _MOST_KNOWN:
                self._crops.clear()
            idle = {e.term for e in self._lexicon.entities(text)} - {n.term for n in self.of(text)}
            found = [e.term for e in named(text, self._lexicon) if e.kind == "crop" and e.term not in idle]
            self._crops[text] = tuple(t for t in found if not any(
                is_same_crop(o, t) and len(o) < len(t) for o in found))
        return self._crops[text]

    def _put(self, form: str, start: int, end: int) -> Iterable[Name]:
        inner = {search_form(e.term): e for e in self._lexicon.entities(form[start:end])}
        for match in self._lexicon.find(form[start:end]):
            entity = inner.get(match.terms[0]) if len(match.terms) == 1 else None
            if entity is not None and start + match.end == end and entity.kind in ("product", "nutrient"):
                yield Name(start + match.start, end, entity.term, entity.kind)

    def _is_idle(self, entity: Entity, form: str, start: int, end: int) -> bool:
        if entity.kind == "crop" and _LIKE.search(form[:start]):
            return True
        is_residue = entity.kind == "crop" and self._residues is not None and self._residues.match(form, end)
        return bool(is_residue) or entity.term in self._ignored

    def _find(self, text: str) -> Iterable[Name]:
        text = "".join(c if len(normalize("NFKC", c)) == 1 else _OTHER for c in text)  # ℃ is two characters in search form
        form = search_form(text)
        if len(form) != len(text):
            return  # offsets would be those of another text
        entities = {search_form(e.term): e for e in self._lexicon.entities(text)}
        for match in self._lexicon.find(form):
            entity = entities.get(match.terms[0]) if len(match.terms) == 1 else None
            if entity is not None and not self._is_idle(entity, form, match.start, match.end):
                around = form[match.start - 1 : match.start], form[match.end : match.end + 1]
                mixed = any(mark and mark in _MIXTURE_MARKS for mark in around)
                yield Name(match.start, match.end, entity.term, entity.kind, mixed)
                if entity.kind == "practice":  # 施石灰 is a work with 石灰
                    yield from self._put(form, match.start + 1, match.end)


def tiers(kinds: Sequence[str]) -> list[frozenset[str]]:
    """Return the kinds to look for one after another; kinds that are looked for together are one tier."""
    found: list[frozenset[str]] = []
    for kind in kinds:
        tier = next((group for group in _TOGETHER if kind in group), frozenset({kind})) & frozenset(kinds)
        if tier not in found:
            found.append(tier)
    return found


def of_kinds(names: Iterable[Name], kinds: Iterable[str], start: int = 0, end: int | None = None) -> list[Name]:
    """Return the names of some kinds that lie between two offsets."""
    wanted = frozenset(kinds)
    return [n for n in names if n.kind in wanted and n.start >= start and (end is None or n.end <= end)]


def distinct(names: Iterable[Name]) -> list[Name]:
    """Return one name per term; of crops that are kinds of one another only the last one named."""
    kept: dict[str, Name] = {}
    for name in names:
        same = [t for t, n in kept.items() if n.kind == name.kind == "crop" and is_same_crop(t, name.term)]
        for term in same:
            del kept[term]
        kept[name.term] = name
    return list(kept.values())
