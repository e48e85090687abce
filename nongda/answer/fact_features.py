"""What the fact table says of a sentence: whether it holds a fact of the asked attribute, of what the question names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nongda.index.families import groups_of, is_same_crop, is_same_problem
from nongda.records import Entity, Fact

Facts = Mapping[tuple[str, int], Sequence[Fact]]  # by chunk id and start of the sentence
NO_FACTS: Facts = {}
NOT_ASKED = 0.5
_PROBLEMS = ("disease", "pest")
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
        named = [frozenset().union(*(kinds.get(kind, set()) for kind in group)) for group in (_SUBJECTS, _PROBLEMS, ("crop",))]
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
                   for name_of in (fact.target, fact.subject if fact.kind in _PROBLEMS else "") if name_of)


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
