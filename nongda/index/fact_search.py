"""Facts found by conditions: SQL with ranges for each condition, joined by subject, product form and crop.

Steps of `search`:
1. Each condition is one query on its attribute in every unit that compares with the asked one, the bounds converted.
2. The facts are grouped by subject, label (25%可湿性粉剂 is not 50%乳油) and crop; what a product is good for on rice
   says nothing of cabbage.
3. A group fits where each condition holds for all that the documents say of it; where sources differ, or a range lies
   only in part in the asked one, it fits in part.
4. Targets (the disease or pest) are proven by any fact of the same subject and crop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nongda.index.fact_ranges import Constraint, Fits, Range, RangeReader
from nongda.index.facts import FactTable
from nongda.index.families import groups_of, is_same_crop, is_same_problem
from nongda.records import Fact

Fit = Literal["full", "part", "none", "other"]  # other: not in a unit that compares
_SQL: Mapping[Fits, str] = {
    "within": "low >= ? AND high <= ?",
    "contains": "low <= ? AND high >= ?",
    "value": "CASE WHEN low > -9e999 THEN low ELSE high END >= ? AND CASE WHEN high < 9e999 THEN high ELSE low END <= ?",
}
LabelOf = Callable[[Fact], str]


@dataclass(frozen=True, slots=True)
class Row:
    """One subject on one crop: for each condition the facts on it, for each target those that name it.

    `distance` is how far its nearest value is from the first condition that fails, in the unit asked.
    """

    subject: str
    label: str
    crop: str
    fit: Fit
    values: tuple[tuple[Fact, ...], ...]
    targets: tuple[tuple[Fact, ...], ...]
    distance: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """Rows that fit, rows that fit in part, those that do not (nearest first).

    `other` are told in a unit that does not compare (millilitres for grams), of `unknown` a condition is not told.
    """

    full: tuple[Row, ...] = ()
    part: tuple[Row, ...] = ()
    none: tuple[Row, ...] = ()
    other: tuple[Row, ...] = ()
    unknown: tuple[Row, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing near was found."""
        return not (self.full or self.part or self.none or self.other or self.unknown)


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for: a kind of subject, conditions on it, targets it is against, crops; () is any."""

    kind: str
    constraints: tuple[Constraint, ...]
    targets: tuple[str, ...] = ()
    crops: tuple[str, ...] = ()
    within: bool = False  # the documents' range must lie inside the asked one, whatever the attribute


def fit_of(fact: Fact, constraint: Constraint, fits: Fits, reader: RangeReader) -> Fit | None:
    """Tell how far a fact satisfies a condition; None where they measure different things."""
    own, factor = reader.range_of(fact), reader.factor(constraint.unit, fact.unit)
    if own is None or factor is None or fact.attribute != constraint.attribute:
        return None
    asked = constraint.range.times(factor)
    own = own.limit() if fits == "value" else own
    if asked.within(own) if fits == "contains" else own.within(asked):
        return "full"
    return "part" if own.overlaps(asked) else "none"


def satisfying(table: FactTable, constraint: Constraint, fits: Fits, reader: RangeReader) -> list[Fact]:
    """Return the facts that satisfy a condition fully, by one query with a range for each unit that compares."""
    units = sorted({f.unit for f in table.select("attribute = ? AND low IS NOT NULL", [constraint.attribute])})
    conditions, parameters = [], []
    for unit in units:
        factor = reader.factor(constraint.unit, unit)
        if factor is None:
            continue
        asked = constraint.range.times(factor)
        conditions.append(f"(unit = ? AND {_SQL[fits]})")
        parameters += [unit, asked.low, asked.high]
    if not conditions:
        return []
    found = table.select(f"attribute = ? AND ({' OR '.join(conditions)})", [constraint.attribute, *parameters])
    return [f for f in found if fit_of(f, constraint, fits, reader) == "full"]  # a bound that is left out itself


def search(asked: Search, table: FactTable, reader: RangeReader, label_of: LabelOf = lambda fact: "",
           allowed: Callable[[Fact], bool] = lambda fact: True) -> Found:
    """Return all subjects of the asked kind by how they fit; `allowed` leaves facts out (banned products)."""
    per_constraint = [_facts(asked, c, table, allowed) for c in asked.constraints]
    proofs = [[f for f in table.of(target=t) if _subject(f, asked.kind) and allowed(f)] for t in asked.targets]
    good = [frozenset(satisfying(table, c, _fits(asked, c, reader), reader)) for c in asked.constraints]
    rows: dict[str, list[Row]] = {"full": [], "part": [], "none": [], "other": []}
    for subject, label, crop in _keys(per_constraint, asked.kind, label_of):
        row = _row(asked, (subject, label, crop), per_constraint, good, proofs, reader, label_of)
        if row is not None:
            rows[row.fit].append(row)
    known = {(r.subject, r.crop) for found in rows.values() for r in found}
    full, part, none, other = (tuple(sorted(_once(rows[fit]), key=_order)) for fit in ("full", "part", "none", "other"))
    return Found(full, part, none, other, _unknown(asked, proofs, per_constraint, known))


def _once(rows: Sequence[Row]) -> list[Row]:
    """Leave out a row without a crop that says what one of the same subject with a crop says."""
    said = {(row.subject, *(_values(facts) for facts in row.values)) for row in rows if row.crop}
    return [row for row in rows if row.crop or (row.subject, *(_values(facts) for facts in row.values)) not in said]


def _values(facts: Sequence[Fact]) -> frozenset[tuple[float | None, float | None, str]]:
    return frozenset((f.low, f.high, f.unit) for f in facts)


def _fits(asked: Search, constraint: Constraint, reader: RangeReader) -> Fits:
    return "within" if asked.within else reader.attributes[constraint.attribute].fits


def _facts(asked: Search, constraint: Constraint, table: FactTable, allowed: Callable[[Fact], bool]) -> list[Fact]:
    found = table.select("attribute = ? AND low IS NOT NULL", [constraint.attribute])
    return [f for f in found if _subject(f, asked.kind) and _of_crop(f, asked.crops) and allowed(f)]


def _subject(fact: Fact, kind: str) -> str:
    """Return what a fact is about where it is of this kind; a fact without a subject may be about its crop."""
    if fact.kind == kind:
        return fact.subject
    return fact.crop if kind == "crop" and not fact.subject else ""


def _of_crop(fact: Fact, crops: Sequence[str]) -> bool:
    return not crops or any(same_crop(fact.crop, crop) for crop in crops)


def same_crop(named: str, asked: str) -> bool:
    """Tell whether a fact on one crop serves another: the same, a kind of it, or its group (茄果类 for 番茄)."""
    return bool(named) and (is_same_crop(named, asked) or named in groups_of(asked))


def _keys(per_constraint: Sequence[Sequence[Fact]], kind: str, label_of: LabelOf) -> list[tuple[str, str, str]]:
    """Return the groups; facts without a label join those of their subject that have one."""
    keys = {(_subject(f, kind), label_of(f), f.crop) for facts in per_constraint for f in facts}
    labelled = {(subject, crop) for subject, label, crop in keys if label}
    return sorted(key for key in keys if key[1] or (key[0], key[2]) not in labelled)


def _row(asked: Search, key: tuple[str, str, str], per_constraint: Sequence[Sequence[Fact]],
         good: Sequence[frozenset[Fact]], proofs: Sequence[Sequence[Fact]], reader: RangeReader,
         label_of: LabelOf) -> Row | None:
    """Return the row of one group; None where a condition or a target has no fact."""
    subject, label, crop = key
    values = [tuple(f for f in facts if _subject(f, asked.kind) == subject and f.crop == crop and label_of(f) in (label, "")
                    and _against(f, asked)) for facts in per_constraint]
    named = _named(asked, subject, crop, proofs)
    if not all(values) or not all(named):
        return None
    fits: list[Fit] = []
    distances: list[float] = []
    for constraint, facts, satisfied in zip(asked.constraints, values, good, strict=True):
        each = [fit_of(f, constraint, _fits(asked, constraint, reader), reader) for f in facts]
        comparable = [(f, fit) for f, fit in zip(facts, each, strict=True) if fit is not None]
        if not comparable:
            return Row(subject, label, crop, "other", tuple(values), tuple(named), math.inf)
        fits.append(_joined([("full" if f in satisfied else fit) for f, fit in comparable]))
        distances.append(min(_distance(f, constraint, _fits(asked, constraint, reader), reader) for f, _ in comparable))
    worst: Fit = "none" if "none" in fits else "part" if "part" in fits else "full"
    return Row(subject, label, crop, worst, tuple(values), tuple(named), max(distances))


def _against(fact: Fact, asked: Search) -> bool:
    """Tell whether a value may be meant for the asked targets: the dose against one disease is none against another."""
    return not asked.targets or not fact.target or any(is_same_problem(fact.target, t) for t in asked.targets)


def _joined(fits: Iterable[Fit]) -> Fit:
    """What several statements on the same thing make together: all must hold, and one that does is a part."""
    found = set(fits)
    return found.pop() if len(found) == 1 else "part"


def _named(asked: Search, subject: str, crop: str, proofs: Sequence[Sequence[Fact]]) -> list[tuple[Fact, ...]]:
    """Return for each target the facts that prove it, the asked name itself and the same crop first."""
    return [
        tuple(sorted((f for f in facts if _subject(f, asked.kind) == subject and _proves(f, crop)),
                     key=lambda f, t=target: (f.target != t, f.crop != crop, f.chunk_id, f.start)))  # type: ignore[misc]
        for target, facts in zip(asked.targets, proofs, strict=True)
    ]


def _proves(fact: Fact, crop: str) -> bool:
    """A target's fact without a crop proves it for any; a value without a crop belongs to no crop's target."""
    return not fact.crop or (bool(crop) and is_same_crop(fact.crop, crop))


def _distance(fact: Fact, constraint: Constraint, fits: Fits, reader: RangeReader) -> float:
    own, factor = reader.range_of(fact), reader.factor(fact.unit, constraint.unit)
    if own is None or factor is None:
        return math.inf
    return (own.limit() if fits == "value" else own).times(factor).distance(constraint.range)


def _unknown(asked: Search, proofs: Sequence[Sequence[Fact]], per_constraint: Sequence[Sequence[Fact]],
             known: set[tuple[str, str]]) -> tuple[Row, ...]:
    """Return the subjects that meet all targets and of which some condition is not said for the crop."""
    rows = []
    keys = {(_subject(f, asked.kind), f.crop) for f in (proofs[0] if proofs else ()) if _of_crop(f, asked.crops)}
    for subject, crop in sorted(keys):
        if any(subject == s and (crop == c or not crop or is_same_crop(c, crop)) for s, c in known):
            continue
        named = _named(asked, subject, crop, proofs)
        values = tuple(tuple(f for f in facts if _subject(f, asked.kind) == subject and f.crop == crop and _against(f, asked))
                       for facts in per_constraint)
        if all(named):
            rows.append(Row(subject, "", crop, "none", values, tuple(named), math.inf))
    return tuple(rows)


def _order(row: Row) -> tuple[float, tuple[float, ...], str, str, str]:
    """The nearest first, then the smallest value of the first condition, then by name."""
    lowest = tuple(min((f.high if f.high is not None else math.inf) for f in facts) for facts in row.values[:1])
    return row.distance, lowest, row.subject, row.label, row.crop


def same_subject(named: str, asked: str) -> bool:
    """Tell whether a fact's subject serves the asked one: the same, or a kind of it."""
    return bool(named) and (is_same_problem(named, asked) or is_same_crop(named, asked))


@dataclass(frozen=True, slots=True)
class Condition:
    """A fact whose condition, or own range, speaks of the asked value; `range` is in the unit asked."""

    fact: Fact
    range: Range
    fit: Fit
    stated: bool  # in the fact's condition; False: its own value is a range of the attribute (what a crop wants)


def conditions(constraint: Constraint, table: FactTable, reader: RangeReader,
               text_of: Callable[[Fact], str] = lambda fact: fact.condition) -> list[Condition]:
    """Return the facts that speak of the asked attribute, those whose range holds the value first.

    A range that lies inside the asked one (4.5～5.5 for pH低于5.5) is spoken of fully too. `text_of` is the fact's
    condition, or all that it quotes.
    """
    words = reader.attributes[constraint.attribute].words
    found = []
    for fact in table.select():
        own = reader.range_of(fact) if fact.attribute == constraint.attribute else None
        if own is not None:
            found += _condition(fact, own, fact.unit, constraint, reader, stated=False)
            continue
        text = text_of(fact)
        for part in reader.read(text) if words.search(text) else ():
            if part.attribute == constraint.attribute:
                found += _condition(fact, part.range, part.unit, constraint, reader, stated=True)
    places: dict[Fit, int] = {"full": 0, "part": 1, "none": 2, "other": 3}
    return sorted(found, key=lambda c: (places[c.fit], c.range.distance(constraint.range), c.range.off(constraint.range),
                                        not c.stated, c.fact.chunk_id, c.fact.start))


def _condition(fact: Fact, own: Range, unit: str, constraint: Constraint, reader: RangeReader, stated: bool) -> list[Condition]:
    factor = reader.factor(unit, constraint.unit)
    if factor is None:
        return []
    here, asked = own.times(factor), constraint.range
    lies_inside = here.within(Range(asked.low, asked.high)) and here.overlaps(asked)  # 4.5～5.5 for pH低于5.5
    fit: Fit = "full" if asked.within(here) or lies_inside else "part" if here.overlaps(asked) else "none"
    return [Condition(fact, here, fit, stated)]
