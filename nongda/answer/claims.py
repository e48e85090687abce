"""What a sentence says, in parts that can be compared: each number with what it is said of, each word with its denial.

Steps of `read_claims`:
1. Cut the text at commas; at 、 and 和 too where numbers stand on both sides (三环唑20克、稻瘟灵100毫升).
2. A number owns the words between the numbers before and after it in its piece; pieces without a number before the
   first one are shared, the others belong to the number that follows, or to the last one.
3. A number's names are those of its piece; in 三环唑20克稻瘟灵100毫升 those on the side where the first number has its
   name. A piece without names takes those of the piece before.
4. 每亩 holds until another 每 is said. 以上, 不超过, 前 and 后 beside a number belong to its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nongda.language.lexicon import Lexicon
from nongda.language.text import fold, has_words
from nongda.language.units import Units, equal_in_value, same_quantity
from nongda.records import Quantity

GROUPS = {"product": "stuff", "nutrient": "stuff", "disease": "target", "pest": "target", "pathogen": "target",
          "crop": "crop", "variety": "crop", "stage": "stage"}
Names = dict[str, tuple[str, ...]]
_CLAUSE = re.compile(r"[，;；。！？!?…\n]|(?<!\d),|,(?!\d)")
_LISTED = re.compile(r"、|或者|以及|[或和与及加混再另兑]")
_BASE = re.compile(
    r"每(?:(?:\d+(?:\.\d+)?)?(亩|公顷|株|平方米|升|千克|公斤|斤|吨|穴|棵|丛|米|桶|袋|克|毫升|个|片|人|头|hm2|m2)|([次天日年]))")
_BASES = {"公顷": "hm2", "平方米": "m2", "升": "L", "千克": "kg", "公斤": "kg", "吨": "t", "棵": "株", "米": "m", "克": "g",
          "毫升": "mL", "小时": "h"}
_UNBASED = frozenset(("天", "日", "h", "min", "s", "℃", "%", "倍", "倍液", "次", "cm", "mm", "年", "月", "个月", "星期", "ppm", "级", ""))
_AT_LEAST = re.compile(r"(?:至少|最少|不低于|不少于|不小于|高于|大于|超过|多于|达到?|[>≥])\s*$")
_NOT_OVER = re.compile(r"(?:不超过|不高于|不大于|不多于|低于|小于|少于|不到|不足|最多|至多|[<≤])\s*$")
_AFTER = (("ge", re.compile(r"\s*(?:及|或)?以上|\s*左右以上")), ("le", re.compile(r"\s*(?:及|或)?以下|\s*(?:以|之)?内")),
          ("after", re.compile(r"\s*(?:以|之)?后")), ("before", re.compile(r"\s*(?:以|之)?前")))


@dataclass(frozen=True, slots=True)
class Claim:
    """A number of a text: its value, what it counts by (每亩: 亩), its bound, words and names it is said of."""

    quantity: Quantity
    surface: str
    base: str
    bound: str
    words: frozenset[str]
    names: Names


def names_of(text: str, lexicon: Lexicon) -> Names:
    """Return the standard names of each group in order; a disease's name also names the crop it begins with."""
    found: dict[str, list[str]] = {}
    for entity in lexicon.entities(text):
        group = GROUPS.get(entity.kind)
        if group:
            found.setdefault(group, []).append(entity.term)
        if entity.kind == "disease":
            crop = crop_of(entity.term, lexicon)
            if crop and crop not in found.setdefault("crop", []):
                found["crop"].append(crop)
    return {group: tuple(terms) for group, terms in found.items() if terms}


def crop_of(disease: str, lexicon: Lexicon) -> str:
    """Return the crop a disease's name begins with (水稻纹枯病), or nothing."""
    for length in range(len(disease) - 2, 1, -1):
        if any(e.kind == "crop" and e.term == disease[:length] for e in lexicon.entities(disease[:length])):
            return disease[:length]
    return ""


def pieces_of(text: str, units: Units) -> list[str]:
    """Cut a text into pieces of one statement each (step 1)."""
    pieces: list[str] = []
    start = 0
    for end in [*(m.end() for m in _CLAUSE.finditer(text)), len(text)]:
        if has_words(text[start:end]):
            pieces += _listed(text[start:end], units)
        start = end
    return pieces


def _listed(clause: str, units: Units) -> list[str]:
    """Cut a clause where numbers stand on both sides of 、 or 和."""
    spans = units.quantities(clause)
    cuts = [m for m in _LISTED.finditer(clause) if not any(q.start < m.end() and m.start() < q.end for q in spans)]
    parts: list[str] = []
    start = 0
    for cut in cuts:
        before = any(start <= q.start < cut.start() for q in spans)
        if before and any(q.start >= cut.end() for q in spans):
            parts.append(clause[start : cut.start()])
            start = cut.end() if cut.group() in ("、", "和", "与", "及") else cut.start()
    return [*parts, clause[start:]]


def read_claims(text: str, lexicon: Lexicon, units: Units) -> tuple[list[Claim], frozenset[str]]:
    """Return the text's numbers with what they are said of, and the words that all of them share."""
    claims: list[Claim] = []
    shared: set[str] = set()
    waiting: set[str] = set()
    names: Names = {}
    base = ""
    for piece in pieces_of(fold(text), units):
        found = units.quantities(piece)
        own = names_of(piece, lexicon)
        if not found:
            (waiting if claims else shared).update(_words(piece, lexicon))
            names, base = {**names, **own}, _kept(_base(piece, base))
            continue
        held = _claims_of_piece(piece, found, {**names, **own}, base, lexicon)
        held[0] = replace(held[0], words=held[0].words | waiting)
        waiting = set()
        claims += held
        names, base = {**names, **own}, _kept(_base(piece, base))
    if claims and waiting:
        claims[-1] = replace(claims[-1], words=claims[-1].words | waiting)
    return claims, frozenset(shared)


def _claims_of_piece(piece: str, found: Sequence[Quantity], names: Names, base: str, lexicon: Lexicon) -> list[Claim]:
    edges = [0, *(q.end for q in found)], [*(q.start for q in found), len(piece)]
    gaps = [piece[a:b] for a, b in zip(*edges, strict=True)]
    inside = [names_of(gap, lexicon) for gap in gaps]
    claims: list[Claim] = []
    for place, quantity in enumerate(found):
        words = _words(gaps[place], lexicon) | _words(gaps[place + 1], lexicon)
        words |= {_said(other) for other in found[max(0, place - 1) : place + 2] if other is not quantity}
        owned = {group: _owner(group, place, found, inside) or terms for group, terms in names.items()}
        words |= _words("，".join(t for terms in owned.values() for t in terms), lexicon)
        before = piece[: quantity.start]
        claims.append(Claim(quantity, piece[quantity.start : quantity.end], _base(before, base),
                            _bound(before, piece[quantity.end :]), frozenset(words), owned))
    return claims


def _owner(group: str, place: int, found: Sequence[Quantity], inside: Sequence[Names]) -> tuple[str, ...]:
    """Return the names on the side of the number where this piece puts them; a strength stands before its product."""
    left, right = inside[place].get(group, ()), inside[place + 1].get(group, ())
    if len({term for names in inside for term in names.get(group, ())}) < 2 or len(found) < 2:
        return ()
    if found[place].unit == "%" and right:
        return right
    first = next((i for i, q in enumerate(found) if q.unit != "%"), place)
    ahead = any(names.get(group) for names in inside[: first + 1])
    nearest = left if ahead else right
    return nearest or next((names[group] for names in reversed(inside[: place + 1]) if names.get(group)), ())


def _words(text: str, lexicon: Lexicon) -> set[str]:
    return {t for t in lexicon.tokens(text) if len(t) > 1 and not t[0].isdigit() and t[0] != "每"}


def _said(quantity: Quantity) -> str:
    return f"{quantity.low:g}~{quantity.high:g}{quantity.unit}"


def _base(text: str, inherited: str) -> str:
    """Return what the last 每 counts by; 每次 and 每天 hold in their own piece only."""
    found = _BASE.findall(text)
    last = (found[-1][0] or found[-1][1]) if found else inherited
    return _BASES.get(last, last)


def _kept(base: str) -> str:
    return "" if base in ("次", "天", "日", "年") else base


def _bound(before: str, after: str) -> str:
    if _NOT_OVER.search(before):
        return "le"
    if _AT_LEAST.search(before):
        return "ge"
    return next((name for name, pattern in _AFTER if pattern.match(after)), "")


def same_claim(one: Claim, other: Claim, units: Units) -> bool:
    """Compare value, bound and base, the units converted: 每亩4斤 is 2公斤/亩, not 每株2公斤 and not 2公斤."""
    if one.bound != other.bound:
        return False
    mine, its = _with_base(one), _with_base(other)
    if mine.unit == "" or its.unit == "":
        return same_quantity(mine, its)
    return same_quantity(mine, its) or equal_in_value(mine, its, units)


def _with_base(claim: Claim) -> Quantity:
    unit = claim.quantity.unit
    if "/" in unit or not claim.base or unit in _UNBASED:
        return claim.quantity
    return replace(claim.quantity, unit=f"{unit}/{claim.base}")


def held(term: str, group: str, context: Names) -> bool:
    """Tell whether a name is one of the context's: itself, its general form, or crop and disease written together."""
    terms = context.get(group, ())
    if term in terms or (group in ("crop", "target") and any(t.endswith(term) for t in terms)):
        return True
    crops = context.get("crop", ())
    return group == "target" and any(term.startswith(c) and term[len(c) :] in terms for c in crops)


def merged(contexts: Iterable[Names]) -> Names:
    """Return all names of several texts."""
    found: dict[str, tuple[str, ...]] = {}
    for names in contexts:
        for group, terms in names.items():
            found[group] = (*found.get(group, ()), *terms)
    return found
