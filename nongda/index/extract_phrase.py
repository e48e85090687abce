"""Facts of a sentence that are no quantities: pathogen, part, time of work, and what a product is used against."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nongda.index.attributes import Attributes
from nongda.index.families import PROBLEM_KINDS
from nongda.index.names import Name, Names, distinct, of_kinds
from nongda.index.places import CLAUSE_BREAK, Place
from nongda.language.text import fold
from nongda.records import Fact

_LIST_MARKS = re.compile(r"(?:、|,|和|与|及|或者?|以及|\s|\d+(?:\.\d+)?%|的)*")


class PhraseReader:
    """Reads sentences by the phrases of facts.toml."""

    def __init__(self, names: Names, attributes: Attributes) -> None:
        self._names = names
        self._attributes = attributes

    def read(self, text: str, place: Place) -> list[Fact]:
        """Return the facts of one sentence; none of a clause that denies or doubts."""
        folded, rejected = fold(text), self._attributes.rejected
        if rejected["sentence"].search(folded):
            return []
        names = self._names.of(text)
        found: list[Fact] = []
        starts = [0, *(m.end() for m in CLAUSE_BREAK.finditer(folded))]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            if not rejected["clause"].search(folded[start:end]):
                found += self._of_problem(text, folded, names, (start, end), place)
                found += self._times(text, folded, names, (start, end), place)
                found += self._targets(text, folded, names, (start, end), place)
        return found

    def _of_problem(self, text: str, folded: str, names: Sequence[Name], clause: tuple[int, int],
                    place: Place) -> list[Fact]:
        """Return what a disease comes from and which parts it attacks."""
        found = []
        for key in ("pathogen", "part"):
            for match in self._matches(key, folded, clause):
                start, end = match.span("value")
                inside = of_kinds(names, ("part",) if key == "part" else ("pathogen", "disease", "pest"), start, end)
                owner = self._problem(names, clause, match.start(), place)
                if owner and (inside or key == "pathogen") and owner.kind in self._attributes.by_key[key].kinds:
                    found.append(_fact(place, owner, key, text[start:end].strip(), self._crop(names, clause, place),
                                       owner.term))
        return found

    def _problem(self, names: Sequence[Name], clause: tuple[int, int], at: int, place: Place) -> Name | None:
        """Return the one disease or pest named before a place in its clause, else in the nearest heading."""
        texts = [of_kinds(names, PROBLEM_KINDS, clause[0], at), of_kinds(names, PROBLEM_KINDS, 0, clause[0])]
        texts += [of_kinds(self._names.of(h), PROBLEM_KINDS) for h in place.headings]
        found = next((distinct(found) for found in texts if found), [])
        return found[0] if len(found) == 1 else None

    def _crop(self, names: Sequence[Name], clause: tuple[int, int], place: Place) -> str:
        own = of_kinds(names, ("crop",), *clause)
        found = [n.term for n in distinct(own or of_kinds(names, ("crop",), 0, clause[1]))] or list(place.crops)
        return found[0] if len(found) == 1 else ""

    def _times(self, text: str, folded: str, names: Sequence[Name], clause: tuple[int, int], place: Place) -> list[Fact]:
        """Return when work is done, with the clause as condition; a clause with two periods is left out."""
        found = list(self._matches("time", folded, clause))
        crop = self._crop(names, clause, place)
        if len({m.span("value") for m in found}) != 1 or not crop:
            return []
        start, end = found[0].span("value")
        work = distinct(of_kinds(names, ("practice",), found[0].start(), found[0].end()))
        owner = work[0] if len(work) == 1 else Name(0, 0, crop, "crop")
        said = text[slice(*clause)].strip(" ，,。；;、")
        return [_fact(place, owner, "time", text[start:end], crop, "", said)]

    def _targets(self, text: str, folded: str, names: Sequence[Name], clause: tuple[int, int],
                 place: Place) -> list[Fact]:
        """Return the products that a clause names for one disease or pest: 丙环唑防治纹枯病, 药剂可选噻嗪酮、吡蚜酮."""
        products = of_kinds(names, ("product",), *clause)
        is_mix = any(n.mixed for n in products) or self._attributes.phrases["mixes"][0].search(folded, *clause)
        if not products or is_mix:
            return []
        problems = of_kinds(names, PROBLEM_KINDS, *clause)
        last = max(n.end for n in products)
        for problem in problems:
            between = self._without_crops(names, folded, last, problem.start)
            if problem.start >= last and self._attributes.phrases["treats"][0].search(between):
                return self._used(text, products, folded, names, clause, place, problem)
        first = products[0].start
        before = re.sub(r"\d+(?:\.\d+)?%$", "", folded[clause[0] : first])
        owner = self._problem(names, clause, first, place)
        if owner and owner in names and self._attributes.phrases["lists"][0].search(before):
            return self._used(text, products, folded, names, clause, place, owner)
        return []

    def _used(self, text: str, products: Sequence[Name], folded: str, names: Sequence[Name], clause: tuple[int, int],
              place: Place, problem: Name) -> list[Fact]:
        pairs = zip(products, products[1:], strict=False)
        if not all(_LIST_MARKS.fullmatch(folded[a.end : b.start]) for a, b in pairs):
            return []
        crop = self._crop(names, clause, place)
        return [_fact(place, n, "target", text[problem.start : problem.end], crop, problem.term) for n in distinct(products)]

    def _without_crops(self, names: Sequence[Name], folded: str, start: int, end: int) -> str:
        crops = [n for n in of_kinds(names, ("crop",), start, end) if n.end == end]
        return folded[start : crops[0].start if crops else end]

    def _matches(self, key: str, folded: str, clause: tuple[int, int]) -> list[re.Match[str]]:
        return [m for p in self._attributes.phrases[key] for m in p.finditer(folded, *clause)]


def _fact(place: Place, owner: Name, key: str, value: str, crop: str, target: str, condition: str = "") -> Fact:
    return Fact(place.chunk_id, owner.term, owner.kind, crop, target, key, value, None, None, "", condition,
                place.start, place.end)
