"""Facts of a sentence or list item: each number with what it is, whose it is, and under which condition.

A number gives a fact only when all of this is certain; else it is left out:
1. Nothing in the sentence or clause denies, doubts or only supposes it; it stands in no brackets.
2. Its unit and the words beside it name one attribute (`Attributes.of_number`).
3. One term owns it: of the words since the last number, else right behind it, else of the clause, else of the nearest
   clause before, else of the nearest heading. Two terms in the deciding place are one too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nongda.index.attributes import Attribute, Attributes
from nongda.index.bounds import Bounded, bounded
from nongda.index.families import GROUPS, PROBLEM_KINDS
from nongda.index.names import Name, Names, distinct, of_kinds, tiers
from nongda.index.places import CLAUSE_BREAK, Place
from nongda.index.qualifiers import after, content_of, heading_words, qualifiers, trimmed
from nongda.language.text import fold
from nongda.records import Fact, Quantity

_BRACKETS = re.compile(r"\([^()]*\)|“[^”]*”|「[^」]*」|\"[^\"]*\"")
_WHEN = re.compile(
    r"(?:(?<!小)时|时候|(?<![前之])后|(?<!以)前|期间?|阶段|天气|季节?|年份|\d月(?:[上中下]旬|初|底|末)?"
    r"|的(?:[\u4e00-\u9fff]{0,4}?(?:田|园|地|土壤|地块|果园|棚))?)[,、]?$")
_WHEN_INSIDE = re.compile(
    r"^[^,:;]{0,22}?(?:时(?!间|候|期)|时候|[初末盛]期|期(?!间|限)|期间|后\d+(?:[~-]\d+)?[天日]|(?<![目])前(?!期|后)"
    r"|后(?!期|代)|季|\d月(?:[上中下]旬|初|底|末)?"
    r"|的[\u4e00-\u9fff]{0,4}?(?:田|园|地|土壤|地块|果园|棚))(?=[每用喷施应可宜追再又撒浇灌打的,、]|$)")
_UNKNOWN = re.compile(
    r"[\u4e00-\u9fff]{1,4}(?:病(?![菌斑叶株情原害程部残虫毒田果丛穗区级])|蝽|蚜(?![量虫株])|螨(?![量株卵])"
    r"|蛾|螟|蠹|蚧|虱|蝇|天牛|线虫|瓢虫|象甲)")
_LIST_BEGINS = ("、", "和", "与", "及", "加", "或")
_DATE = re.compile(r"月[上中下]?旬?\s*\d+(?:\s*[~—–至-]+\s*\d+)?日$")
_EACH = re.compile(r"[各均]")
_JOINED = re.compile(r"(?:、|,|和|与|及|或者?|以及|等|\s)*")
LASTING = frozenset({"disease", "pest", "product", "variety", "crop", "soil"})  # what a heading says holds for all below it
_LOOSE = frozenset({"practice", "processing", "soil", "place"})  # these belong to their own clause
_CONTENT_UNITS = frozenset({"%", "g/L", "亿"})
_FORMULATION = re.compile(r"的?(?:乳油|可湿|悬浮|水剂|水分散|可溶|粉剂|颗粒|微乳|水乳)")
_IN_LISTS = re.compile(r"\d+(?:\.\d+)?%|可湿性粉剂|乳油|悬浮剂|水剂|水分散粒剂")
_LONGEST_CONDITION = 40


@dataclass(frozen=True, slots=True)
class Owner:
    """What a fact is about; `sure` is False where two terms might be it."""

    term: str = ""
    kind: str = ""
    sure: bool = True


@dataclass(frozen=True, slots=True)
class _Number:
    """A quantity of the sentence with its clause, and where the words that are its own begin."""

    quantity: Quantity
    clause: tuple[int, int]
    since: int


class SentenceReader:
    """Reads sentences by the attributes of facts.toml."""

    def __init__(self, names: Names, attributes: Attributes) -> None:
        self._names = names
        self._attributes = attributes

    def read(self, text: str, place: Place) -> list[Fact]:
        """Return the facts of one sentence."""
        folded = fold(text)
        if self._attributes.rejected["sentence"].search(folded):
            return []
        names = self._names.of(text)
        found: list[Fact] = []
        last: dict[str, int] = {}
        listed: Attribute | None = None
        for number in self._numbers(text, folded, names):
            clause = folded[slice(*number.clause)]
            quantity = number.quantity
            lead = folded[number.since : quantity.start]
            tail = folded[quantity.end : number.clause[1]]
            attribute = self._attributes.of_number(quantity.unit, lead, tail, clause, folded)
            attribute = attribute or self._continued(folded, names, number, listed, clause)
            listed = attribute
            if attribute is None or self._attributes.rejected["clause"].search(clause):
                continue
            ends = bounded(folded, quantity)
            if ends is not None and ends.high >= attribute.least:
                told = attribute.tail.match(folded[ends.end : number.clause[1]]) if attribute.says else None
                ends = replace(ends, end=ends.end + (told.end() if told else 0))
                found += self._facts(text, folded, names, number, attribute, ends, place, last.get(attribute.key, 0))
                last[attribute.key] = ends.end
        return found

    def _continued(self, folded: str, names: Sequence[Name], number: _Number, listed: Attribute | None,
                   clause: str) -> Attribute | None:
        """A list goes on with what it began: 每亩施尿素10公斤、过磷酸钙25公斤."""
        quantity = number.quantity
        if listed is None or not listed.near or quantity.unit not in listed.units or listed.veto.search(clause):
            return None
        words = folded[number.since : quantity.start]
        begins = number.since > number.clause[0] and words.startswith(_LIST_BEGINS)
        held = of_kinds(names, listed.kinds, number.since, quantity.start)
        return listed if begins and len(held) == 1 and held[0].end == quantity.start else None

    def _numbers(self, text: str, folded: str, names: Sequence[Name]) -> Iterator[_Number]:
        brackets = [m.span() for m in _BRACKETS.finditer(folded)]
        breaks = [m.end() for m in CLAUSE_BREAK.finditer(folded)]
        before = 0
        for quantity in self._attributes.units.rates(text):
            if self._is_content(folded, quantity, names) or _DATE.search(folded[: quantity.end]):
                continue
            start = max((b for b in breaks if b <= quantity.start), default=0)
            end = min((b - 1 for b in breaks if b > quantity.end), default=len(text))
            number = _Number(quantity, (start, max(end, quantity.end)), max(start, before))
            before = quantity.end
            is_one_of_two = "/" in (folded[quantity.start - 1 : quantity.start], folded[quantity.end : quantity.end + 1])
            if not is_one_of_two and not any(a < quantity.start < b for a, b in brackets):
                yield number

    def _is_content(self, folded: str, quantity: Quantity, names: Sequence[Name]) -> bool:
        """What a product holds: 75%三环唑, 25克/升高效氯氟氰菊酯, 稻瘟灵40%乳油."""
        after = folded[quantity.end : quantity.end + 8]
        beside = any(0 <= n.start - quantity.end <= 1 and n.kind in ("product", "nutrient") for n in names)
        return quantity.unit in _CONTENT_UNITS and (beside or bool(_FORMULATION.match(after)))

    def _facts(self, text: str, folded: str, names: Sequence[Name], number: _Number, attribute: Attribute, ends: Bounded,
               place: Place, since: int) -> list[Fact]:
        owners = self.owners(folded, names, number, attribute, place)
        crop = self.crop(text, names, number, place)
        told = self._condition(text, folded, names, number, attribute, ends, owners, since)
        facts = []
        for owner in owners:
            target = owner.term if owner.kind in PROBLEM_KINDS else self._target(names, number, attribute, place, folded)
            if not owner.sure or not crop.sure or (attribute.near and not owner.term):
                continue
            if not owner.term and crop.term and "crop" in attribute.kinds:
                owner = crop
            if owner.kind == "crop" and not attribute.crop_if.search(folded[slice(*number.clause)]):
                continue
            if owner.kind == "crop" and "disease" in attribute.kinds and self._is_of_problems(names, place):
                continue
            condition = self._with_role(told, owner, attribute, place)
            if condition is not None and (owner.term or target) and len(condition) >= attribute.least_said:
                value = text[ends.start : ends.end]
                facts.append(Fact(place.chunk_id, owner.term, owner.kind, crop.term, target, attribute.key, value,
                                  ends.low, ends.high, number.quantity.unit, condition, place.start, place.end))
        return facts

    def _is_of_problems(self, names: Sequence[Name], place: Place) -> bool:
        """Tell whether the headings, not the sentence, name the crop and are about its diseases or pests."""
        about = fold("".join(place.headings))
        return not of_kinds(names, ("crop",)) and bool(re.search("病|虫|菌|螟|螨|蚜|蛾", about))

    def _with_role(self, condition: str, owner: Owner, attribute: Attribute, place: Place) -> str | None:
        """Return the condition with what the number is for, which the nearest heading may say; None where nothing does."""
        work = owner.term if owner.kind in ("practice", "processing") else ""
        if attribute.role.search(fold(condition + work)):
            return condition
        heading = heading_words(next(iter(place.headings), ""))
        return "；".join(filter(None, (condition, heading))) if attribute.role.search(fold(heading)) else None

    def owners(self, folded: str, names: Sequence[Name], number: _Number, attribute: Attribute, place: Place) -> list[Owner]:
        """Return whose a number is: one term, several that share it (各), or one Owner that is not sure."""
        start, at = number.clause[0], number.quantity.start
        names = [n for n in names if not self._attributes.sources.match(folded, n.end)]
        regions = [of_kinds(names, attribute.kinds, number.since, at), _right(folded, names, number, attribute),
                   of_kinds(names, attribute.kinds, start, at)]
        breaks = [0, *(m.end() for m in CLAUSE_BREAK.finditer(folded[:start]))]
        firm = [k for k in attribute.kinds if k not in _LOOSE]
        regions += [of_kinds(names, firm, a, start) for a in reversed(breaks)]
        for region in regions:
            for tier in tiers(attribute.kinds):
                found = distinct(n for n in region if n.kind in tier)
                if len(found) > 1 and _EACH.search(folded[found[-1].end : at]) and _is_list(folded, found):
                    return [Owner(n.term, n.kind) for n in found if not n.mixed]
                if found:
                    sure = len(found) == 1 and not found[0].mixed
                    return [Owner(found[0].term, found[0].kind, sure)]
        if attribute.near:
            return [Owner()]
        above = self._above(folded, attribute, place)
        return [Owner(above.term, above.kind, not (above.kind in PROBLEM_KINDS and unknown_problem(folded, names)))]

    def _above(self, folded: str, attribute: Attribute, place: Place) -> Owner:
        """Return the term of the nearest heading that names any of these kinds; none where it names several crops."""
        kinds = [k for k in attribute.kinds if k in LASTING]
        if self._attributes.groups.search(folded):
            kinds = [k for k in kinds if k not in ("crop", "variety")]
        for heading in place.headings:
            names = self._names.of(heading)
            for tier in tiers(kinds):
                found = distinct(n for n in names if n.kind in tier)
                if found:
                    one = len(found) == 1 and not (tier & PROBLEM_KINDS and unknown_problem(fold(heading), names))
                    return from_heading(found[0]) if one else Owner(sure=not tier & PROBLEM_KINDS)
        return Owner()

    def crop(self, text: str, names: Sequence[Name], number: _Number, place: Place) -> Owner:
        """Return the crop of a number: of its clause, of what is before it, of the headings.

        A crop that only comes later is for another number; a word for several crops is none, or one of the groups.
        """
        at = number.quantity.start
        crops = of_kinds(names, ("crop",))
        for region in ([n for n in crops if number.clause[0] <= n.start < number.clause[1]],
                       [n for n in crops if n.end <= at]):
            found = distinct(region)
            if found:
                return Owner(found[0].term, "crop", len(found) == 1)
        if group := self._attributes.groups.search(fold(text)):
            return Owner(group.group() if group.group() in GROUPS else "", "crop", not crops)
        field = self._names.crops(text)
        above = field if field else place.crops
        return Owner(above[0], "crop") if len(above) == 1 and not crops else Owner(sure=not above and not crops)

    def _target(self, names: Sequence[Name], number: _Number, attribute: Attribute, place: Place, folded: str) -> str:
        before = of_kinds(names, PROBLEM_KINDS, 0, number.quantity.start)
        own = [n for n in before if n.start >= number.clause[0]]
        if not own and unknown_problem(folded, names, *number.clause):
            return ""
        found = distinct(own or before)
        if found:
            return found[0].term if len(found) == 1 else ""
        if not attribute.scope or of_kinds(names, PROBLEM_KINDS) or unknown_problem(folded, names):
            return ""
        for heading in place.headings:
            found = distinct(of_kinds(self._names.of(heading), PROBLEM_KINDS))
            if found:
                return found[0].term if len(found) == 1 else ""
        return ""

    def _condition(self, text: str, folded: str, names: Sequence[Name], number: _Number, attribute: Attribute,
                   ends: Bounded, owners: Sequence[Owner], since: int) -> str:
        """Return what limits a number: the clause before it that says when, and the words of its own clause."""
        start = number.clause[0]
        parts: list[str] = []
        previous = max((m.end() for m in CLAUSE_BREAK.finditer(folded[: max(0, start - 1)])), default=0)
        clause_before = trimmed(text, folded, previous, start - 1) if start else ""
        others = [n for n in of_kinds(names, PROBLEM_KINDS, previous, start) if n.term not in {o.term for o in owners}]
        if _WHEN.search(fold(clause_before)) and 2 <= len(clause_before) <= _LONGEST_CONDITION and not others:
            parts.append(clause_before)
        if attribute.says:
            parts.append(trimmed(text, folded, max(start, since), ends.start))
            parts.append(after(text, folded, ends.end, number.clause[1]))
        elif inside := _WHEN_INSIDE.match(folded[start : ends.start]):
            parts.append(trimmed(text, folded, start, start + inside.end()))
        group = self._attributes.groups.search(text)
        if group and group.group() not in GROUPS and not of_kinds(names, ("crop",)):
            parts.append(group.group())
        parts += self._limits(text, folded, names, number, ends, owners, "".join(parts))
        return "；".join(p for p in dict.fromkeys(parts) if p and p not in {o.term for o in owners})

    def _limits(self, text: str, folded: str, names: Sequence[Name], number: _Number, ends: Bounded,
                owners: Sequence[Owner], told: str) -> list[str]:
        """Return what is not told yet: how the owner is written, what a product holds, the words that limit the number."""
        parts: list[str] = []
        for owner in owners:  # what is written may be more exact than the standard term
            own = [n for n in names if n.term == owner.term and n.start < ends.start]
            own = [n for n in own if n.start >= number.clause[0]] or own
            written = {text[n.start : n.end] for n in own}
            parts += [w for w in written if w != owner.term and w not in told and len(written) == 1]
            if owner.kind == "product" and own:
                parts.append(content_of(text, folded, own[-1], number.clause[1]))
        words = qualifiers(text, folded, names, self._attributes.qualifiers, (ends.start, ends.end), number.clause,
                           number.since)
        return parts + [w for w in words if w not in told and w not in "".join(o.term for o in owners)]


def from_heading(name: Name) -> Owner:
    """Return the owner that a heading names: below 酸性土壤 every class of soil may be described."""
    return Owner("土壤" if name.kind == "soil" else name.term, name.kind)


def _right(folded: str, names: Sequence[Name], number: _Number, attribute: Attribute) -> list[Name]:
    """A product right behind its amount: 20克三环唑, 20克75%三环唑可湿性粉剂."""
    if "product" not in attribute.kinds and "nutrient" not in attribute.kinds:
        return []
    end = number.quantity.end
    gap = re.match(r"的?(?:\d+(?:\.\d+)?(?:%|克/升)的?)?", folded[end:])
    reach = end + (gap.end() if gap else 0)
    return [n for n in names if n.start == reach and n.kind in ("product", "nutrient")]


def unknown_problem(folded: str, names: Sequence[Name], start: int = 0, end: int | None = None) -> bool:
    """Tell whether a disease or pest seems to be named between two offsets that the lexicon does not know."""
    found = _UNKNOWN.finditer(folded, start, len(folded) if end is None else end)
    return any(not any(n.start < m.end() <= n.end for n in names) for m in found)


def _is_list(folded: str, names: Sequence[Name]) -> bool:
    pairs = zip(names, names[1:], strict=False)
    return all(_JOINED.fullmatch(_IN_LISTS.sub("", folded[a.end : b.start])) for a, b in pairs)
