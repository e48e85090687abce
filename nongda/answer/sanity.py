"""Numbers beyond what a field, a sprayer or a drying floor can have: a slip of the pen or of the model."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from nongda.language.lexicon import Lexicon
from nongda.language.text import fold
from nongda.language.units import Units
from nongda.records import Quantity

_NEAR = 8  # characters before a number in which the name of what is measured stands
_PH = re.compile(r"(?<![a-z])ph(?![a-zà-ỹ])|酸碱度")
_SHIFT = re.compile(r"升高|降低|提高|下降|上升|增加|减少|变化|相差")
_EC = re.compile(r"(?<![a-z])ec(?:值)?|电导率")
_EC_UNIT = re.compile(r"\s*(?:ms/cm|ds/m|毫西门子)")
_HOT = re.compile(r"烘|干燥|烤|焙|炒|杀青|蒸|煮|灭菌|消毒|热水|温汤|浸种|沸|开水|发酵|堆|条垛|高温闷棚|闷棚|地膜|贮|加工|燃|焚|窑")
_SHARE = re.compile(r"含水|含量|湿度|持水|饱和|浓度|覆盖|郁闭|荫蔽|遮[阴荫光]|防效|效果|[芽苗活病株虫亡蕾铃果穗粒]率")
_DAYS = re.compile(r"间?隔|间隔期|安全期")
_DOSE = re.compile(r"每(?:亩|公顷|株)(?:用|施|喷|撒|追|冲|浇)*[^，。；、\d]{0,12}$")
_NO_DOSE = ("℃", "h", "min", "s", "mg/kg", "ppm", "lx", "kPa", "MPa", "kW")


@dataclass(frozen=True, slots=True)
class _Place:
    quantity: Quantity
    before: str
    after: str
    text: str
    is_strength: bool  # a product follows at once: 20%三环唑


def implausible(text: str, units: Units, lexicon: Lexicon) -> list[str]:
    """Return, in Chinese, why numbers of a text cannot be right; empty where all can.

    pH 4 to 9, EC 0.1 to 5 mS/cm, -45 to 60 ℃ (heat treatment to 1000), intervals in whole days up to 400, shares up
    to 100 %, dilution 10 to 20000 times, doses by mass or volume. `lexicon` tells a name's number from a value.
    """
    folded = fold(text)
    named = _spans_of_names(folded, lexicon)
    reasons: list[str] = []
    for quantity in units.quantities(text):
        if any(a < quantity.end and quantity.start < b for a, b in named):
            continue
        before, after = folded[max(0, quantity.start - _NEAR) : quantity.start], folded[quantity.end :]
        place = _Place(quantity, before, after, folded, _begins_with_product(after, lexicon))
        reasons += [f"“{text[quantity.start : quantity.end]}”{reason}" for check in _CHECKS if (reason := check(place))]
    return reasons


def _spans_of_names(folded: str, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Names that hold digits (2,4-滴, Bt-781); found only where the search form has the folded text's length."""
    return [(m.start, m.end) for m in lexicon.find(folded) if re.search(r"\d", folded[m.start : m.end])]


def _begins_with_product(after: str, lexicon: Lexicon) -> bool:
    found = lexicon.find(after[:_NEAR])
    return bool(found) and found[0].start == 0 and any(e.kind == "product" for e in lexicon.entities(after[: found[0].end]))


def _acidity(place: _Place) -> str:
    near = _nearest(_PH, place.before) and not _SHIFT.search(place.before)
    return "不像土壤或水的 pH（应在 4～9）" if near and _beyond(place.quantity, 4, 9) and not place.quantity.unit else ""


def _conductivity(place: _Place) -> str:
    stated = place.quantity.unit in ("mS/cm", "dS/m") or (not place.quantity.unit and _EC_UNIT.match(place.after))
    near = not place.quantity.unit and _nearest(_EC, place.before) and not re.match(r"\s*[μuµ]s", place.after)
    return "不像 EC 值（应在 0.1～5 mS/cm）" if (stated or near) and _beyond(place.quantity, 0.1, 5) else ""


def _temperature(place: _Place) -> str:
    if place.quantity.unit != "℃" or re.search(r"积温|有效温|总温", place.text):
        return ""
    most = 1000 if _HOT.search(place.text) else 60
    return f"不像温度（应在 -45～{most} ℃）" if _beyond(place.quantity, -45, most) else ""


def _interval(place: _Place) -> str:
    is_days = place.quantity.unit in ("天", "日") or (not place.quantity.unit and re.match(r"\s*[天日]", place.after))
    if not is_days or not _DAYS.search(place.before):
        return ""
    whole = place.quantity.low == int(place.quantity.low) and place.quantity.high == int(place.quantity.high)
    return "" if whole and 0 < place.quantity.low and place.quantity.high <= 400 else "不像间隔天数（应是 1～400 的整天）"


def _share(place: _Place) -> str:
    if place.quantity.unit != "%" or place.quantity.high <= 100 or _SHIFT.search(place.before):
        return ""
    return "超过了 100%" if place.is_strength or _SHARE.search(place.before) else ""


def _dilution(place: _Place) -> str:
    is_dilution = place.quantity.unit in ("倍", "倍液") or (not place.quantity.unit and place.after.startswith("倍"))
    said = place.after.startswith(("液", "倍液")) or "稀释" in place.before or place.text[: place.quantity.end].endswith("液")
    return "不像稀释倍数（应在 10～20000 倍）" if is_dilution and said and _beyond(place.quantity, 10, 20000) else ""


def _dose(place: _Place) -> str:
    dosed = _DOSE.search(place.text[max(0, place.quantity.start - 20) : place.quantity.start])
    return "不是每亩用量的单位" if dosed and place.quantity.unit in _NO_DOSE else ""


def _nearest(name: re.Pattern[str], before: str) -> bool:
    """Tell whether the name stands before the number with no other number between."""
    found = list(name.finditer(before))
    return bool(found) and not re.search(r"[，。；,;]", before[found[-1].end() :])


def _beyond(quantity: Quantity, least: float, most: float) -> bool:
    return quantity.low < least or quantity.high > most


_CHECKS: tuple[Callable[[_Place], str], ...] = (
    _acidity, _conductivity, _temperature, _interval, _share, _dilution, _dose,
)
