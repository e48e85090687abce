"""Does a question want a computed amount, and from what: area, plants, water, package, dilution?

Steps of `calculation_asked`:
1. Find what is asked for (几袋, 多少公斤, 兑多少水, 够打几亩). 每亩用多少 asks for the dose itself: nothing to compute.
2. Read the givens: area, plants, water and tanks, package size, product at hand, nutrient content.
3. Take the one sum that the givens allow; with two areas, an area 多 or no given at all there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from nongda.language.numerals import chinese_number
from nongda.language.text import fold
from nongda.language.units import Units, exact
from nongda.records import Quantity

Wanted = Literal["amount", "packages", "plants", "water", "area", "per_mu", "per_hm2"]
COUNTERS = {
    "袋": "袋", "包": "包", "瓶": "瓶", "桶": "桶", "壶": "桶", "株": "株", "棵": "株", "穴": "穴", "蔸": "株", "窝": "穴",
    "分地": "分", "分田": "分", "分菜地": "分", "分稻田": "分", "分水田": "分", "分园": "分",
}
_PACKAGES = "袋包瓶桶箱"
_UNITS = {"公斤": "kg", "千克": "kg", "kg": "kg", "斤": "斤", "克": "g", "g": "g", "毫升": "mL", "ml": "mL", "升": "L", "l": "L", "吨": "t"}
_THINGS = "农?药|药[液水剂]|制剂|.{0,5}[肥料种籽薯苗剂灰氮钾磷酯素脲胺威磷唑啉]|水|才|合适|够|呢|呀|啊|$|[?,。!]"
_ASK = re.compile(
    rf"(?:多少|好多|几多|几)\s*(?:(?P<unit>{'|'.join(_UNITS)})|(?P<package>[{_PACKAGES}])|(?P<tank>壶)|(?P<area>亩)"
    rf"|(?P<plants>[株棵](?:苗|树)?|苗)|(?<!几)(?P<thing>{_THINGS}))(?P<water>(?:清?水|药液|药水)(?![肥稻]))?"
)
_CLAUSE = re.compile(r"[,，。;；?!]")
_ONLY_ONE = r"(?<![\d.一二两三四五六七八九十百千])[1一]\s*"
_PER_ONE = re.compile(rf"每\s*[1一]?\s*[亩株棵穴桶壶]|每公顷|{_ONLY_ONE}(?:亩(?!半)|公顷|株|棵|桶|壶)|亩用|亩施|单株")
# A yield or money; 各 asks for several products at once.
_NO_SUM = re.compile(r"各[要用称放加备]?|亩产|产量|能[收产采摘]|[收产]多少|[收产]几|收成|卖|赚|赔|补贴|保险|损失|减产|增产")
_CONVERTS = re.compile(r"合|折|换|等于|相当|是")
_SEVERAL_TIMES = re.compile(r"(?:[\d二两三四五六七八九十]|几)\s*(?:次|遍|道)")
_WATER_BEFORE = re.compile(r"(?:水|桶|喷雾器|喷雾机|药液|药水|壶)[^,，。;；\d]{0,4}$")
_WATER_AFTER = re.compile(r"\s*(?:的|装的|装)?\s*(?:清?水(?!剂|分|乳)|/?桶|[一每]桶|喷雾|药[液水桶]|背负|电动|壶)")
_DILUTES = re.compile(r"兑|稀释|倍|配|水|喷雾器|药桶")
_BOX = rf"(?P<box>[{_PACKAGES}])"
_PACKAGE_BEFORE = re.compile(rf"(?:每|一|1){_BOX}(?:子)?(?:净|装|里|的|重|含量|有|是|才|为|[^,，。;；\d水]{{1,4}})*$")
_PACKAGE_AFTER = re.compile(rf"\s*(?:装|的)?\s*(?:[/一每1]\s*)?{_BOX}")
_PURE = re.compile(
    r"纯[氮磷钾n]|有效成[分份]|折纯|纯量|氧化钾|五氧化二磷|[氮磷钾][npk]|p[₂2]o[₅5]|k[₂2]o|(?<![a-z])n(?![a-z])|施氮|氮量|吸收氮|[斤克]氮|(?<!有效)[氮磷钾]$"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """An exact number or range in a unit; `words` are the question's own."""

    low: Fraction
    high: Fraction
    unit: str
    words: str


@dataclass(frozen=True, slots=True)
class CalculationTask:
    """What is wanted and what the question gives; areas in their own unit, `unit` is the one asked for or ""."""

    question: str
    wanted: Wanted
    unit: str = ""
    area: Amount | None = None
    plants: Amount | None = None
    density: Amount | None = None  # plants per mu
    water: Amount | None = None  # of one sprayer, or all of it
    water_per_area: Amount | None = None
    package: Amount | None = None
    package_name: str = ""
    product: Amount | None = None
    rate: Amount | None = None  # the dilution that the question itself names
    content: Fraction | None = None  # share of the pure nutrient in the product

    def is_computable(self) -> bool:
        """Tell whether every given is more than nothing."""
        given = (self.area, self.plants, self.density, self.water, self.water_per_area, self.package, self.product)
        return all(amount is None or amount.low > 0 for amount in given) and self.content != 0


_ONE_MU = Amount(Fraction(1), Fraction(1), "亩", "1亩")


@lru_cache(maxsize=4)
def counted(units: Units) -> Units:
    """Return the table with the counters of farm supplies: 袋, 瓶, 桶, 株, 分地."""
    return units.extended(COUNTERS)


@dataclass(frozen=True, slots=True)
class _Givens:
    text: str
    rates: tuple[Quantity, ...]

    def amount(self, quantity: Quantity) -> Amount:
        words = self.text[quantity.start : quantity.end]
        return Amount(exact(quantity.low), exact(quantity.high), quantity.unit, words)

    def before(self, quantity: Quantity) -> str:
        return self.text[: quantity.start]

    def after(self, quantity: Quantity) -> str:
        return self.text[quantity.end :]


def calculation_asked(question: str, units: Units) -> CalculationTask | None:
    """Return the sum that the question wants; None when it asks for a dose, a time, a price, or gives too little."""
    text = fold(question)
    givens = _Givens(text, tuple(counted(units).rates(text)))
    asks = [m for m in _ASK.finditer(text) if not _NO_SUM.search(_clause(text, m))]
    converted = _conversion_asked(text, asks)
    if converted or not asks or _SEVERAL_TIMES.search(text):
        return converted and CalculationTask(question, *converted)
    areas = _areas(givens)
    if areas is None:
        return None
    package, name = _package(givens)
    waters, tanks = _waters(givens, package), _tank_count(givens)
    for ask in asks:
        task = CalculationTask(
            question, "amount", _UNITS.get(ask["unit"] or "", ""), area=areas[0] if areas else None, plants=_plants(givens),
            density=_one(givens, "株/亩"), water=_times(waters, tanks), water_per_area=_water_per_area(givens, bool(waters)),
            package=package, package_name=name or (ask["package"] or ""), product=_product(givens, package, waters),
            rate=_one(givens, "倍"), content=_content(text),
        )
        found = _solvable(task, ask, text)
        if found and found.is_computable():
            return found
    return None


def _solvable(task: CalculationTask, ask: re.Match[str], text: str) -> CalculationTask | None:
    clause = _clause(text, ask)
    for_one = _PER_ONE.search(clause)
    is_water = bool(ask["water"]) or ask["thing"] == "水" or (bool(ask["unit"]) and text[ask.end() :].startswith("水"))
    is_tank = ask["tank"] or (ask["package"] == "桶" and task.water)
    if is_water or is_tank:
        has_rate = task.product is not None or (task.area is not None and not for_one)
        return replace(task, wanted="water", unit="") if has_rate and not (ask["thing"] and not is_water) else None
    if ask["area"]:
        has_product = task.product is not None and task.area is None and re.search(r"够|能|可以|打|用|施|撒|管", clause)
        return replace(task, wanted="area", unit="亩") if has_product else None
    if task.water and (ask["unit"] or ask["thing"] is not None) and _DILUTES.search(text):
        return task
    if task.water_per_area and (task.area or ask["unit"]) and re.search("倍|折|药水|药液", text):
        return task
    if for_one:
        one_mu = re.search(_ONLY_ONE + "亩", clause) and ask["package"] and task.package and not task.area
        return replace(task, wanted="packages", unit="", area=_ONE_MU) if one_mu else None
    if ask["plants"]:
        return replace(task, wanted="plants", unit="株") if task.area else None
    if task.area or task.plants:
        return replace(task, wanted="packages" if ask["package"] else "amount")
    return None


def _clause(text: str, ask: re.Match[str]) -> str:
    """The words before what is asked, as far as the last comma."""
    return _CLAUSE.split(text[: ask.start()])[-1] + ask.group()


def _conversion_asked(text: str, asks: list[re.Match[str]]) -> tuple[Wanted, str] | None:
    """每公顷30公斤，一亩合多少: both areas are named, and one is asked for the other."""
    for ask in asks:
        clause = _clause(text, ask) + _CLAUSE.split(text[ask.end() :] + ",")[0]
        others, unit = text.replace(clause, ""), _UNITS.get(ask["unit"] or "", "")
        if not _CONVERTS.search(clause):
            continue
        if re.search(r"(?:每|一|1|到)\s*亩", clause) and re.search("公顷|hm|ha", text):
            return "per_mu", unit
        if re.search(r"(?:每|一|1|到)\s*公顷", clause) and re.search(r"每亩|一亩|/亩|亩[用施]", others):
            return "per_hm2", unit
    return None


def _areas(givens: _Givens) -> list[Amount] | None:
    """Areas to work on; None where there is more than one, or one that is only about so much (三亩多)."""
    found: list[Amount] = []
    for quantity in givens.rates:
        if quantity.unit not in ("亩", "hm2", "m2", "分") or givens.before(quantity).endswith("每"):
            continue
        if quantity.unit == "分" and found and found[-1].words.endswith(givens.text[quantity.start : quantity.end]):
            continue  # 三亩五分地 is one area
        amount = givens.amount(quantity)
        rest = re.match(r"\s*([\d一二三四五六七八九半])分(?!之)(?:菜?地|田)?", givens.after(quantity))
        if rest and quantity.unit == "亩":
            tenths = exact(float(rest[1]) if rest[1].isdigit() else chinese_number(rest[1]) or 0.0) / 10
            amount = Amount(amount.low + tenths, amount.high + tenths, "亩", amount.words + rest.group().strip())
        if re.match(r"\s*[多来余几]", givens.after(quantity)):
            return None
        found.append(amount)
    half = re.search(r"(?<![\d一二两三四五六七八九十百每])亩半", givens.text)
    found += [Amount(Fraction(3, 2), Fraction(3, 2), "亩", "一亩半")] if half else []
    values = {(a.low, a.high, a.unit) for a in found}
    return found if len(values) <= 1 else None


def _package(givens: _Givens) -> tuple[Amount | None, str]:
    is_spray = bool(re.search("水|喷雾|倍|药液|配|兑", givens.text))
    for quantity in givens.rates:
        if quantity.unit not in _UNITS.values():
            continue
        match = _PACKAGE_BEFORE.search(givens.before(quantity)) or _PACKAGE_AFTER.match(givens.after(quantity))
        if match and not (match["box"] == "桶" and is_spray):
            return givens.amount(quantity), match["box"]
    return None, ""


def _waters(givens: _Givens, package: Amount | None) -> list[Amount]:
    found = []
    for quantity in givens.rates:
        if quantity.unit not in _UNITS.values() or (package and givens.amount(quantity) == package):
            continue
        if _WATER_BEFORE.search(givens.before(quantity)) or _WATER_AFTER.match(givens.after(quantity)):
            found.append(givens.amount(quantity))
    return found


def _tank_count(givens: _Givens) -> Amount | None:
    counts = [q for q in givens.rates if q.unit == "桶" and (q.low, q.high) != (1, 1)]
    return givens.amount(counts[0]) if len(counts) == 1 else None


def _times(waters: list[Amount], tanks: Amount | None) -> Amount | None:
    if len(waters) != 1:
        return None
    water = waters[0]
    if tanks is None:
        return water
    return Amount(water.low * tanks.low, water.high * tanks.high, water.unit, f"{tanks.words} × {water.words}")


def _water_per_area(givens: _Givens, has_water: bool) -> Amount | None:
    for quantity in givens.rates:
        is_rate = quantity.unit in ("L/亩", "kg/亩", "斤/亩")
        near = _WATER_BEFORE.search(givens.before(quantity)) or _WATER_AFTER.match(givens.after(quantity))
        if is_rate and near and not has_water:
            return givens.amount(quantity)
    return None


def _one(givens: _Givens, unit: str) -> Amount | None:
    found = [q for q in givens.rates if q.unit == unit]
    return givens.amount(found[0]) if len(found) == 1 else None


def _plants(givens: _Givens) -> Amount | None:
    found = [q for q in givens.rates if q.unit in ("株", "穴") and (q.low, q.high) != (1, 1)]
    return givens.amount(found[0]) if len(found) == 1 else None


def _product(givens: _Givens, package: Amount | None, waters: list[Amount]) -> Amount | None:
    """The product at hand: 一瓶100毫升, 两袋 of known size, 手里有500克."""
    if package:
        counts = [q for q in givens.rates if q.unit in ("袋", "包", "瓶", "桶") and (q.low, q.high) != (1, 1)]
        count = givens.amount(counts[0]) if len(counts) == 1 else None
        words = f"{count.words} × {package.words}" if count else package.words
        low, high = (count.low, count.high) if count else (Fraction(1), Fraction(1))
        return Amount(package.low * low, package.high * high, package.unit, words)
    found = [givens.amount(q) for q in givens.rates if q.unit in _UNITS.values()]
    found = [a for a in found if a not in waters]
    return found[0] if len(found) == 1 else None


def _content(text: str) -> Fraction | None:
    """含氮46%的尿素 with a pure nutrient named: the product is what holds it."""
    match = re.search(r"(?:含[^,，。\d]{0,4}(\d+(?:\.\d+)?)\s*%|(\d+(?:\.\d+)?)\s*%(?:的)?含量)", text)
    return Fraction(match[1] or match[2]) / 100 if match and _PURE.search(text) else None


def is_pure(words: str) -> bool:
    """Tell whether a figure is a pure nutrient or active ingredient, not a product as sold."""
    return bool(_PURE.search(fold(words)))
