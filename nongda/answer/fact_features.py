"""What the fact table says of a sentence: whether it holds a fact of the asked attribute, of what the question names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nongda.index.facts import FactTable
from nongda.index.families import PROBLEM_KINDS, groups_of, is_same_crop, is_same_problem
from nongda.records import Entity, Fact, Hit

Facts = Mapping[tuple[str, int], Sequence[Fact]]  # by chunk id and start of the sentence
NO_FACTS: Facts = {}
NOT_ASKED = 0.5
_CROP = 0.25  # what the asked crop adds to a fact's match
_SUBJECTS = ("product", "variety", "nutrient", "pathogen")


def by_sentence(facts: Iterable[Fact]) -> Facts:
    """Return the facts by the sentence, list item or row that they are read from."""
    found: dict[tuple[str, int], list[Fact]] = {}
    for fact in facts:
        found.setdefault((fact.chunk_id, fact.start), []).append(fact)
    return found


@dataclass(frozen=True, slots=True)
class AskedNames:
    """The standard terms of a question that a fact may agree with or contradict."""

    subjects: frozenset[str]
    problems: frozenset[str]
    crops: frozenset[str]

    @classmethod
    def of(cls, entities: Iterable[Entity]) -> AskedNames:
        """Sort a question's entities."""
        kinds: dict[str, set[str]] = {}
        for entity in entities:
            kinds.setdefault(entity.kind, set()).add(entity.term)
        named = [frozenset().union(*(kinds.get(kind, set()) for kind in group)) for group in (_SUBJECTS, PROBLEM_KINDS, ("crop",))]
        return cls(*named)

    def contradicts(self, fact: Fact) -> bool:
        """Tell whether a fact is of another product, disease, pest or crop than the question names."""
        other_subject = fact.kind in _SUBJECTS and self.subjects and not self._is_subject(fact)
        other_problem = fact.target and self.problems and not self._is_target(fact)
        other_crop = fact.crop and self.crops and not any(
            is_same_crop(fact.crop, crop) or fact.crop in groups_of(crop) for crop in self.crops)
        return bool(other_subject or other_problem or other_crop)

    def named(self, fact: Fact) -> float:
        """Return the share of the question's products, diseases and pests that a fact is about; 0 where it names none."""
        asked = [found for found, names in ((self._is_subject(fact), self.subjects), (self._is_target(fact), self.problems)) if names]
        return sum(asked) / len(asked) if asked else 0.0

    def _is_subject(self, fact: Fact) -> bool:
        return any(is_same_problem(fact.subject, name) for name in self.subjects if fact.subject)

    def _is_target(self, fact: Fact) -> bool:
        return any(is_same_problem(name_of, name) for name in self.problems
                   for name_of in (fact.target, fact.subject if fact.kind in PROBLEM_KINDS else "") if name_of)


def part_hits(table: FactTable, attributes: Iterable[str], entities: Iterable[Entity]) -> list[Hit]:
    """Rank passages by their facts of these attributes: of the crop, the product, the disease or pest that a part names.

    A fact of another one does not count; nor does one of nothing that is named.
    """
    wanted, names = list(attributes), AskedNames.of(entities)
    best: dict[str, float] = {}
    for fact in table.select(f"attribute IN ({', '.join('?' * len(wanted))})", wanted) if wanted else ():
        if not names.contradicts(fact) and (share := names.named(fact)):
            score = share + (_CROP if fact.crop and names.crops else 0.0)
            best[fact.chunk_id] = max(best.get(fact.chunk_id, 0.0), score)
    return [Hit(chunk_id, score) for chunk_id, score in sorted(best.items(), key=lambda item: (-item[1], item[0]))]


def fact_features(facts: Sequence[Fact], attributes: frozenset[str], names: AskedNames) -> list[float]:
    """Return whether one of the facts has an asked attribute and contradicts no name, and the share of names it has.

    0.5 and 0 where no attribute is asked; -1 and 0 where all facts of the asked attributes are of something else.
    """
    if not attributes:
        return [NOT_ASKED, 0.0]
    own = [fact for fact in facts if fact.attribute in attributes]
    fitting = [fact for fact in own if not names.contradicts(fact)]
    if not fitting:
        return [-1.0 if own else 0.0, 0.0]
    return [1.0, max(names.named(fact) for fact in fitting)]
