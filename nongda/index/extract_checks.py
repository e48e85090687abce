"""What is left out or told apart among the facts of one passage, after they are read: by its rows, headings and roles."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from nongda.documents.pieces import cells_of, header_above
from nongda.index.attributes import Attributes
from nongda.index.families import PROBLEM_KINDS, is_same_problem
from nongda.index.names import Names, of_kinds
from nongda.index.places import CLAUSE_BREAK, Place
from nongda.index.qualifiers import heading_words
from nongda.index.table_heads import Heads
from nongda.language.text import fold
from nongda.records import Chunk, Fact

_LONGEST_PART = 40
_LONGEST_HEADING = 16
_OPEN_KINDS = frozenset({"crop", "variety", "disease", "pest", "pathogen"})  # their pH and humidity need a role
_TREATED = re.compile("用药|施药|防治|喷药")
_OF_TABLE = re.compile("下表|表中|表内|数值|取自|以下")
_SOURCES = re.compile("资料|一份|另一|各地")  # a sentence may give several sources' figures
_EXAMPLES = re.compile("算例|举例|例题")
_Cells = list[str]


class Checks:
    """Looks at read facts once more; what stays doubtful is left out."""

    def __init__(self, names: Names, attributes: Attributes) -> None:
        self._names = names
        self._attributes = attributes
        self._heads = Heads(attributes)

    def passed(self, read: Sequence[tuple[Fact, Place]], chunk: Chunk) -> list[Fact]:
        """Return the facts of a chunk that may stand, their conditions completed, in their order, each once."""
        unique = {f: place for f, place in read if not _EXAMPLES.search(next(iter(place.headings[:-1]), ""))}
        placed = {self._with_origin(self._short(fact), chunk, place): place for fact, place in unique.items()}
        apart = self._told_apart(list(placed), chunk)
        by_span = {place.start: place for place in unique.values()}
        checked = (self._with_role(fact, by_span[fact.start], chunk.kind == "table") for fact in apart)
        return list(dict.fromkeys(f for f in checked if f is not None and not self._is_doubtful(f)))

    def _short(self, fact: Fact) -> Fact:
        """Cut a condition's overlong parts at their first clause."""
        parts = fact.condition.split("；")
        return replace(fact, condition="；".join(p if len(p) <= _LONGEST_PART else _first_clause(p) for p in parts))

    def _with_origin(self, fact: Fact, chunk: Chunk, place: Place) -> Fact:
        """Add the place or source that the nearest heading or a table's caption is about: 波兰, 湖北方案."""
        if fact.kind == "place":
            return fact
        caption = chunk.text[: chunk.text.find("|")].strip() if chunk.kind == "table" else ""
        about = [clause for clause in CLAUSE_BREAK.split(caption) if _OF_TABLE.search(clause)]
        headings = [heading_words(h) for h in place.headings[:-1]]
        for said in (next((h for h in headings if self._origins(h)), ""), *about):
            new = self._origins(said)
            if len(new) == 1 and not self._origins(fact.condition):  # of several, which one?
                words = [said] if len(said) <= _LONGEST_HEADING and not self._foreign(fact, said) else new
                fact = replace(fact, condition=_joined(fact.condition, words))
        return fact

    def _origins(self, words: str) -> list[str]:
        found = [m.group() for m in self._attributes.origins.finditer(words)]
        found += [words[n.start : n.end] for n in of_kinds(self._names.of(words), ("place",))]
        return list(dict.fromkeys(w for w in found if not any(w != o and w in o for o in found)))

    def _told_apart(self, facts: list[Fact], chunk: Chunk) -> list[Fact]:
        """Add to facts that differ only in their value what tells their rows apart; leave out those that stay alike."""
        changed: dict[Fact, Fact] = {}
        if chunk.kind == "table":
            for group in _alike(facts):
                changed |= dict(zip(group, self._by_column(group, chunk.text), strict=True))
        facts = [changed.get(fact, fact) for fact in facts]
        alike = {fact for group in _alike(facts) for fact in group if not self._is_of_sources(group, chunk)}
        return [fact for fact in facts if fact not in alike]

    def _is_of_sources(self, group: Sequence[Fact], chunk: Chunk) -> bool:
        """Tell whether one sentence gives all of these, as the figures of several sources."""
        spans = {(fact.start, fact.end) for fact in group}
        return chunk.kind != "table" and len(spans) == 1 and bool(_SOURCES.search(chunk.text[slice(*min(spans))]))

    def _by_column(self, group: list[Fact], text: str) -> list[Fact]:
        header = header_above(text, group[0].start)
        rows = [cells_of(text[fact.start : fact.end]) for fact in group]
        if any(len(row) != len(header) for row in rows):
            return group
        held = [_column_of(fact, row) for fact, row in zip(group, rows, strict=True)]
        for column, name in enumerate(header):
            cells = [row[column] for row in rows]
            is_other = column not in held and not self._heads.plays(name, "source")
            is_told = column < min(held) or self._heads.of(name).attribute is None
            if is_other and is_told and all(cells) and len(set(cells)) == len({(f.start) for f in group}) > 1:
                said = [self._heads.of(name).name] if column else []
                problem = [n.term for n in of_kinds(self._names.of(name), PROBLEM_KINDS)]
                target = problem[0] if len(problem) == 1 and column else ""  # 疮痂病风险 tells of this disease
                return [replace(fact, condition=_joined(fact.condition, [*said, cell]), target=fact.target or target)
                        for fact, cell in zip(group, cells, strict=True)]
        return group

    def _with_role(self, fact: Fact, place: Place, is_table: bool) -> Fact | None:
        """Return a fact of a table with what its number is for, which its heading may say; None where nothing does."""
        attribute = self._attributes.by_key[fact.attribute]
        role = attribute.table_role if is_table else None
        work = fact.subject if fact.kind in ("practice", "processing") else ""
        if role is None or (fact.kind not in _OPEN_KINDS and not work) or role.search(fold(fact.condition + work)):
            return fact
        heading = heading_words(next(iter(place.headings), ""))
        is_said = len(heading) <= _LONGEST_PART and role.search(fold(heading)) and not self._foreign(fact, heading)
        return replace(fact, condition=_joined(fact.condition, [heading])) if is_said else None

    def _is_doubtful(self, fact: Fact) -> bool:
        parts = fact.condition.split("；")
        is_treatment = fact.attribute == "time" and fact.kind == "crop" and any(_TREATED.search(p) for p in parts)
        return is_treatment or any(len(p) > _LONGEST_PART or self._foreign(fact, p) for p in parts)

    def _foreign(self, fact: Fact, words: str) -> bool:
        """Tell whether words name only diseases or pests that are not the fact's."""
        problems = of_kinds(self._names.of(words), PROBLEM_KINDS)
        own = [t for t in (fact.subject, fact.target) if t]
        return bool(problems) and not any(
            is_same_problem(p.term, t) or p.term in t or t in words for p in problems for t in own)


def _alike(facts: Iterable[Fact]) -> list[list[Fact]]:
    """Return the groups of quantities that differ only in their value."""
    groups: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.low is not None or fact.attribute == "time":
            groups[fact.subject, fact.crop, fact.target, fact.attribute, fact.condition].append(fact)
    return [g for g in groups.values() if len({(f.low, f.high, f.unit, f.value if f.low is None else "") for f in g}) > 1]


def _column_of(fact: Fact, row: _Cells) -> int:
    return next((i for i, cell in reversed(list(enumerate(row))) if fact.value in cell), 0)


def _first_clause(text: str) -> str:
    found = CLAUSE_BREAK.search(fold(text))
    return text[: found.start()] if found else text


def _joined(condition: str, words: Sequence[str]) -> str:
    return "；".join(filter(None, (condition, *words)))
