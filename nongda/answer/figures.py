"""Figures of evidence that a sum can use: amounts per mu, hectare or plant, and dilutions, with the words about them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from nongda.answer.tasks import is_pure
from nongda.language.text import fold
from nongda.language.units import Quantity, Units, exact

_NUMBER = r"\d+(?:\.\d+)?(?:\s*[～~—–\-至到]+\s*\d+(?:\.\d+)?)?"
# A table row in words: 每亩用量（克）：40～50. A header with two units (毫升或克) decides nothing.
_HEADED = re.compile(
    rf"(?P<name>[^；;：:|\n。，,（()）]{{0,20}})[（(](?P<unit>[^（()）或、]{{1,10}})[）)]\s*[：:]\s*(?P<value>{_NUMBER})(?=\s*(?:[；;，,。|（(]|$))"
)
_HEADED_TIMES = re.compile(rf"倍数?\s*[：:]\s*(?P<value>{_NUMBER})(?=\s*(?:[；;，,。|（(]|$))")
_BREAK = re.compile(r"[,;、。|()]")
_BOUND = re.compile(
    r"(不(?:得|能|宜|应|可|要)?(?:超过|高于|多于|少于|低于|大于|小于)|至少|最多|最少|不足|超过|低于|高于|[减增][少加产施]?|节省|提高)\s*$"
)
_BOUND_AFTER = re.compile(r"\s*(以上|以下|以内)")
_CONDITIONS = ("不足", "超过", "低于", "高于", "减", "增", "节省", "提高")
_PER_NAMES = {"亩": "每亩", "hm2": "每公顷", "株": "每株", "穴": "每穴"}
_PER_MARK = re.compile(r"每\s*[1一]?\s*(?:亩|公顷|hm2|hm²|ha|株|棵|穴)|[1一]\s*(?:亩|公顷|株|棵|穴)|亩(?=[产用施栽植撒追喷兑放均])")
_WATER = re.compile(r"(?:兑|对|加|用|喷|浇|灌)?(?:清?水|药液|药水|喷液)[量]?\s*(?:各)?\s*$|(?:兑|对)\s*$")
_WATER_AFTER = re.compile(r"\s*(?:的)?(?:清?水(?!剂|分散|乳)|药液|药水)")
_YIELD = re.compile(r"(?<![生投增高稳丰国水特])产(?![区期地园树后前品])|收获(?![后前时])|采收(?![后前时])|收成")
_LEAST_DILUTION = 10


@dataclass(frozen=True, slots=True)
class Figure:
    """An exact figure with its unit; `uses` is verbatim, `shown` is for a formula, `beside` are the words around it."""

    low: Fraction
    high: Fraction
    unit: str
    uses: str
    shown: str
    beside: str
    bound: str  # 不超过, 至少, or ""
    is_water: bool
    is_yield: bool
    is_pure: bool
    text: str


def figures(text: str, units: Units) -> list[Figure]:
    """Find the usable figures of one sentence or table row in words; conditions (超过50公斤时) are none."""
    headed = [m for m in (*_HEADED.finditer(text), *_HEADED_TIMES.finditer(text))]
    found = [_headed(m, units) for m in headed]
    inside, last = [m.span() for m in headed], 0
    for quantity in units.rates(text):
        if not any(a <= quantity.start < b for a, b in inside):
            found.append(_plain(text, quantity, last))
        last = quantity.end
    return [f for f in found if f is not None]


def _headed(match: re.Match[str], units: Units) -> Figure | None:
    groups = match.groupdict()
    name, unit = groups.get("name") or "", groups.get("unit") or "倍"
    read = units.rates(f"{name}：{match['value']}{unit}")
    usable = [q for q in read if "/" in q.unit or q.unit == "倍"]
    if len(usable) != 1:
        return None
    quantity, uses = usable[0], match.group().strip()
    per = _PER_NAMES.get(quantity.unit.partition("/")[2], "")
    shown = f"{per}{match['value']}{unit.split('/')[0]}"
    return Figure(
        exact(quantity.low), exact(quantity.high), quantity.unit, uses, shown, name, "", bool(re.search("水|药液", name)),
        bool(_YIELD.search(name)), is_pure(name), match.string,
    )


def _plain(text: str, quantity: Quantity, last: int) -> Figure | None:
    folded = fold(text)
    per = quantity.unit.partition("/")[2]
    if not per and (quantity.unit != "倍" or quantity.low < _LEAST_DILUTION):
        return None
    if per and per not in _PER_NAMES:
        return None
    lead = _BREAK.split(folded[last : quantity.start])[-1]  # after the figure before it
    tail = _BREAK.split(folded[quantity.end :])[0][:8]
    before, after = _BOUND.search(lead), _BOUND_AFTER.match(tail)
    bound = before[1] if before else {"以上": "至少", "以下": "不超过", "以内": "不超过"}[after[1]] if after else ""
    if bound.startswith(_CONDITIONS):
        return None
    number = text[quantity.start : quantity.end].strip()
    marks = [m for m in _PER_MARK.finditer(folded) if m.end() <= quantity.start]
    is_compound = "/" in number or "每" in number
    start = quantity.start if is_compound or not marks or not per else marks[-1].start()
    shown = number if is_compound or not per else f"{_PER_NAMES[per]}{bound}{number}"
    return Figure(
        exact(quantity.low), exact(quantity.high), quantity.unit, text[start : quantity.end], shown, lead + "…" + tail, bound,
        bool(_WATER.search(lead) or _WATER_AFTER.match(tail)), bool(_YIELD.search(lead)),
        is_pure(lead) or is_pure(tail), text,
    )
