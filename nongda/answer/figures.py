"""Figures of evidence that a sum can use: amounts per mu, hectare or plant, and dilutions, with the words about them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from nongda.answer.tasks import CalculationTask, is_pure
from nongda.language.text import fold
from nongda.language.units import Units, exact
from nongda.records import Quantity

_NUMBER = r"\d+(?:\.\d+)?(?:\s*[～~—–\-至到]+\s*\d+(?:\.\d+)?)?"
# Nothing else may follow in the cell: 50（收益最好）；150（产量最高） are two figures.
_CELL_END = r"(?=\s*(?:[（(][^（()）\d]*[）)])?\s*(?:。|$|[；;|](?:[^；;|：:]*[：:]|\s*$)))"
# A table row in words: 每亩用量（克）：40～50. A header with two units (毫升或克) decides nothing.
_HEADED = re.compile(
    rf"(?P<name>[^；;：:|\n。，,（()）]{{0,20}})[（(](?P<unit>[^（()）或、]{{1,10}})[）)]\s*[：:]\s*(?P<value>{_NUMBER}){_CELL_END}"
)
_HEADED_TIMES = re.compile(rf"倍数?\s*[：:]\s*(?P<value>{_NUMBER}){_CELL_END}")
_BREAK = re.compile(r"[,;、。|()]")
_BOUND = re.compile(
    r"(不(?:得|能|宜|应|可|要)?(?:超过|高于|多于|少于|低于|大于|小于)|至少|最多|最少|不足|超过|低于|高于|[减增][少加产施]?|节省|提高)\s*$"
)
_BOUND_AFTER = re.compile(r"\s*(以上|以下|以内)")
_CONDITIONS = ("不足", "超过", "低于", "高于", "减", "增", "节省", "提高")
_PER_NAMES = {"亩": "每亩", "hm2": "每公顷", "株": "每株", "穴": "每穴"}
_PER_MARK = re.compile(r"每\s*[1一]?\s*(?:亩|公顷|hm2|hm²|ha|株|棵|穴)|[1一]\s*(?:亩|公顷|株|棵|穴)|亩(?=[产用施栽植撒追喷兑放均])")
_WATER = re.compile(r"药液|药水|[兑对加用浇灌喷]清?水|喷液|水量|底墒水|喷\s*$|[兑对]\s*$")
_PRODUCT_END = re.compile(r"(?:药|剂|药量|制剂量|用量)[:：]?\s*$")
_WATER_AFTER = re.compile(r"\s*(?:的)?(?:清?水(?!剂|分散|乳)|药液|药水)")
# Not what is put on the field: a yield, an uptake, a loss, the sand and bran that a product is mixed with.
_YIELD = re.compile(r"(?<![生投增高稳丰国水特])产(?![区期地园树后前品])|收获(?![后前时])|采收(?![后前时])|收成")
_OTHER = re.compile(r"吸收|冲刷|冲走|流失|带走|损失|生豆|鲜果|细土|细?沙|毒土|干土|麦麸|饵料|碎土|土壤质量")
_WARNED = re.compile(r"/|时(?!期)|桶|的?喷雾器|[^,，。]{0,6}(?:过量|过多|伤土|药害|中毒)")  # after a number: a condition, a speed
_REJECTED = re.compile(r"不能(?:直接)?照[用搬]|不能当作|不能套用|不采用|不推荐|不宜直接|不必强求|是错的|有误|不可信")
_TIMES = re.compile(r"(?P<each>每次|一次)|(?P<year>每年|全年|一年|[·/]年)")
_OF_YIELD = re.compile(r"总产|单产|产量|亩产")
_PUTS = re.compile(r"[施用撒追播下喷灌浇]")
_PURE_AFTER = re.compile(r"\s*[氮磷钾](?!肥|磷|钾|硼|宝)")
_MATERIALS = re.compile(
    r"尿素|复合肥|专用肥|配方肥|石灰|石膏|有机肥|农家肥|厩肥|堆肥|饼肥|草木灰|过磷酸钙|钙镁磷肥|硫酸钾|氯化钾|磷酸二氢钾|碳铵|硫酸铵|硼砂|硫酸锌|硫酸镁"
)
_SEED = re.compile(r"种子|种薯|用种|播种|籽种|种量|多少种|草种|稻种|麦种|[斤克]种(?!植|子剂)")
_SEED_DOSE = re.compile(r"用种|种量|种子|种薯|播种|播量|亩播|草种|稻种|麦种")
_FORMULATION = re.compile(r"乳油|悬浮剂|可湿性粉剂|水剂|水分散粒剂|可溶粉剂|烟剂")
_PESTICIDE = re.compile(r"[打买喷农用倒加兑]药|药剂|药水|瓶药|袋药|多少药")
_PARTED = re.compile(r"[^\d一二两三四五六七八九十百半]*,")  # 按每亩折算，58公斤…: the comma parts them
_LEAST_DILUTION = 100  # below, only 倍液 and 稀释 say that it is one
_DILUTES = re.compile("稀释|倍数|倍液")


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
    is_other: bool  # a yield, an uptake, a carrier
    is_pure: bool
    text: str
    period: str = ""  # 每次 or 每年, where the text says so


def figures(text: str, units: Units) -> list[Figure]:
    """Find the usable figures of one sentence or table row in words; conditions (超过50公斤时) are none."""
    if _REJECTED.search(text):
        return []  # the document itself says that its figure is not for use
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
    if not per and quantity.unit != "倍":
        return None
    shown = f"{per}{match['value']}{unit.split('/')[0]}"
    return Figure(
        exact(quantity.low), exact(quantity.high), quantity.unit, uses, shown, name, "", bool(re.search("水|药液|喷液", name)),
        bool(_YIELD.search(name) or _OTHER.search(name)), is_pure(name), match.string, _period(uses),
    )


def _plain(text: str, quantity: Quantity, last: int) -> Figure | None:
    folded = fold(text)
    per, number = quantity.unit.partition("/")[2], text[quantity.start : quantity.end].strip()
    lead = _BREAK.split(folded[last : quantity.start])[-1]  # after the figure before it
    tail = _BREAK.split(folded[quantity.end :])[0][:8]
    bound = _bound(lead, tail)
    is_dilution = quantity.unit == "倍" and (quantity.low >= _LEAST_DILUTION or bool(_DILUTES.search(lead + number)))
    is_condition = bound.startswith(_CONDITIONS) or _WARNED.match(tail) or number[0] in "万千百"
    if is_condition or not (is_dilution or per in _PER_NAMES):
        return None
    start, shown = quantity.start, number
    if per and "/" not in number and "每" not in number:
        mark = [m for m in _PER_MARK.finditer(folded) if m.end() <= quantity.start][-1]
        start, between = mark.start(), folded[mark.end() : quantity.start]
        if _PARTED.match(between) or (quantity.unit.startswith("株") and "," in between):
            return None
        shown = f"{_PER_NAMES[per]}{bound}{number}"
    of_yield = bool(_OF_YIELD.search(folded[max(0, start - 25) : start])) and not _PUTS.search(lead)
    is_water = quantity.unit.startswith("m3") or bool(_WATER_AFTER.match(tail))
    return Figure(
        exact(quantity.low), exact(quantity.high), quantity.unit, text[start : quantity.end], shown, lead + "…" + tail, bound,
        is_water or bool(_WATER.search(lead) and not _PRODUCT_END.search(lead)),
        of_yield or bool(_YIELD.search(lead) or _OTHER.search(lead) or _OTHER.match(tail)),
        is_pure(lead) or is_pure(tail) or bool(_PURE_AFTER.match(tail)), text,
        _period(folded[max(0, start - 6) : quantity.start]),
    )


def _period(words: str) -> str:
    match = _TIMES.search(words)
    return "" if match is None else "每次" if match["each"] else "每年"


def _bound(lead: str, tail: str) -> str:
    """不超过, 至少 and their like beside a number; 以上 and 以下 after it say the same."""
    before, after = _BOUND.search(lead), _BOUND_AFTER.match(tail)
    if before:
        return before[1]
    return {"以上": "至少", "以下": "不超过", "以内": "不超过"}[after[1]] if after else ""


def same_material(figure: Figure, task: CalculationTask) -> bool:
    """Urea is no lime, a fertiliser no pesticide: what the question names must stand by the figure or in its text.

    Seed must stand by the figure itself. A question that names nothing takes any figure.
    """
    asked, beside, said = _materials(task.question), _materials(figure.beside), _materials(figure.text)
    if "种" in asked and task.wanted != "plants":
        return bool(_SEED_DOSE.search(figure.beside)) and not beside - {"种"}
    if asked == {"药"}:
        return beside <= {"药"} and (said <= {"药", "种"} or bool(beside))
    if asked - {"药", "种"}:
        return bool(asked & (beside or said))
    return not (re.search("肥", task.question) and _FORMULATION.search(figure.text))


def _materials(text: str) -> set[str]:
    found = {m.group() for m in _MATERIALS.finditer(text)}
    return found | ({"种"} if _SEED.search(text) else set()) | ({"药"} if _PESTICIDE.search(text) else set())
