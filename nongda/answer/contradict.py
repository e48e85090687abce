"""Where two documents disagree: the same thing measured for the same subject, with values that do not meet.

Precision comes before recall, because a note that sees a contradiction where there is none takes the reader's trust:
1. A statement is a quantity with what it measures (a fixed list: 安全间隔期, 海拔, 亩用量...), read from one sentence or
   row. Its words are those before the sentence's first value and those of its own clause.
2. Two statements are compared when they measure the same thing in comparable units, of the same crop and the same
   disease, pest or product, and name the same stages, varieties, places, parts, formulations and conditions.
3. They contradict when no value of the one meets any value of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nongda.answer.cite import marker, resolve
from nongda.answer.evidence import ScoredEvidence, headed_text, heading_of
from nongda.index.families import is_same_crop
from nongda.language.lexicon import Lexicon
from nongda.language.text import clause_spans, fold
from nongda.language.units import Units
from nongda.records import Candidate, Entity, Note, Quantity

_MOST_NOTES = 2
_COUNTERS = {"天": "天"}
_ENDLESS = 1e12  # infinity cannot be converted between units exactly
_ABOUT = 0.1  # 左右 widens a value by this share


@dataclass(frozen=True, slots=True)
class _Measure:
    """What can be compared: its words, its units, the kind of name it needs beside it, and whether 宜 must be said."""

    name: str
    words: re.Pattern[str]
    units: frozenset[str]
    of: Literal["product", "dose", "problem", ""]
    suits: bool


def _measure(name: str, words: str, units: str, of: Literal["product", "dose", "problem", ""] = "", suits: bool = False) -> _Measure:
    return _Measure(name, re.compile(words), frozenset(units.split()), of, suits)


# Texts are folded, so their commas, colons and semicolons are half-width.
_MEASURES = (
    _measure("安全间隔期", r"安全间隔期|采收间隔期|(?:采收|收获|采果|采摘|收割)前", "天", of="product"),
    _measure("用药间隔", r"(?:每隔|间隔|相隔|隔)[^,。;]{0,3}$", "天", of="problem"),
    _measure("亩用量", r"", "g/亩 mL/亩 kg/亩 L/亩 g/hm2 mL/hm2 kg/hm2 L/hm2", of="dose"),
    _measure("稀释倍数", r"", "倍", of="dose"),
    _measure("适宜温度", r"温|℃", "℃", of="problem", suits=True),
    _measure("适宜湿度", r"湿度", "%", of="problem", suits=True),
    _measure("适宜海拔", r"海拔", "m", suits=True),
    _measure("适宜年均温", r"年平?均气?温|年平均温度", "℃", suits=True),
    _measure("适宜降水量", r"降水量|降雨量|年雨量", "mm", suits=True),
    _measure("适宜酸碱度", r"ph|酸碱度", "", suits=True),
    _measure("适宜荫蔽度", r"荫蔽度|郁闭度|遮荫度|遮阴度", "%", suits=True),
    _measure("贮藏含水量", r"含水量|含水率|水分含量", "%", suits=True),
    _measure("发酵时间", r"发酵", "h"),
)
_SUITS = re.compile(r"(?<![不便])宜|适(?!量|当|时|应|用)|要求|规定|标准")
_NO_CLAIM = re.compile(r"例如|比如|譬如|举例|假如|假设|如果|若(?!虫)|试验|测定|对照|处理")  # an example or an experiment
_CROP, _PRODUCTS, _PROBLEMS = frozenset({"crop"}), frozenset({"product"}), frozenset({"disease", "pest", "pathogen"})
_CROP_GROUPS = re.compile(r"叶菜|根菜|蔬菜|果树|果菜|[一-龥]{2}类(?=蔬菜|作物)|茄果|瓜类|豆类|十字花科|柑橘|花卉|茶叶|药材")
_CONTEXT = frozenset({"variety", "stage", "place", "part", "nutrient", "processing"})
_WATER = re.compile(r"(?:(?<![降含])水(?!分)|药液)[^,。;\d]{0,3}$")
_CONDITIONS = re.compile(
    r"早稻|中稻|晚稻|单季|双季|春[播作玉麦]|夏[播玉]|冬[作种麦]|秋[播作]|幼树|大树|成树|老树|小树|苗|雨季|旱季|干季|雨天|晴天|高温|低温|冬|春|夏|秋"
    r"|大棚|温室|露地|设施|盆栽|水田|旱地|坡地|梯田|平地|洼地|沙土|黏土|轻病|重病|严重|轻|初期|盛期|末期|前期|后期|预防|治疗|叶面|灌根|拌种|浸种|涂"
    r"|喷雾|土施|沟施|撒施|基肥|底肥|追肥|第[一二三四五六]|首次|再次|每次|每年|全年|白天|夜间|机收|手工|试验|室内|田间|飞机|无人机|低容量|[一二三四1-4]代"
    r"|播[前种后]|移栽|定植|返青|分蘖|拔节|孕穗|破口|抽穗|齐穗|扬花|灌浆|乳熟|蜡熟|成熟|喇叭口|心叶|抽雄|吐丝|现蕾|初花|盛花|花期|坐果|膨大|转色|采后"
    r"|不[能宜要可应得]|禁止|避免|不足|以外|混|加|单用|复配|密植|稀植|矮秆|高秆|间作|套种|套作|单作|纯林|有机|绿色|无公害|国标|标准|出口|日晒|水洗|蜜处理"
)
_FORMS = re.compile(r"乳油|可湿性粉剂|水分散粒剂|悬浮种衣剂|悬浮剂|可溶性?粉剂|水剂|粉剂|颗粒剂|微乳剂|水乳剂|油剂|烟剂|种衣剂")
_STRENGTH = re.compile(r"\d+(?:\.\d+)?\s*(?:%|亿)(?=[^,。;、]{0,2}[\u4e00-\u9fff]{2})")
_AT_LEAST = re.compile(r"(?:至少|最少|不低于|不少于|不小于|(?<!不)(?:高于|大于|超过|多于)|达到?|[>≥])\s*$")
_AT_MOST = re.compile(r"(?:不超过|不高于|不大于|不多于|(?<!不)(?:低于|小于|少于)|不到|不足|最多|至多|[<≤])\s*$")
_COLUMN_UNIT = re.compile(r"\(([^():;]+)\)[^:;]*:[^;]*$")
_OVER, _UNDER = re.compile(r"\s*(?:及|或)?以上"), re.compile(r"\s*(?:及|或)?(?:以下|以内|之内|内)")
_ROUGHLY = re.compile(r"\s*(?:左右|上下)")


@dataclass(frozen=True, slots=True)
class _Statement:
    measure: _Measure
    value: Quantity
    crops: frozenset[str]
    products: frozenset[str]
    problems: frozenset[str]
    context: frozenset[str]


def contradictions(chosen: Sequence[ScoredEvidence], pool: Sequence[ScoredEvidence], lexicon: Lexicon,
                   units: Units) -> list[Note]:
    """Return a note for each chosen piece of evidence that another document in the pool contradicts, at most two.

    The note quotes both verbatim with their citations; where dates differ the newer document stands first.
    """
    counting = units.extended(_COUNTERS)
    read = {_key(s): _statements(s, lexicon, counting) for s in (*chosen, *pool)}
    notes: dict[frozenset[tuple[str, int]], Note] = {}
    for one in chosen:
        for other in pool:
            if one.candidate.chunk.doc_id == other.candidate.chunk.doc_id:
                continue
            measure = _disagreement(read[_key(one)], read[_key(other)], counting)
            if measure:
                notes.setdefault(frozenset({_key(one), _key(other)}), _note(measure, one, other))
    return list(notes.values())[:_MOST_NOTES]


def _key(scored: ScoredEvidence) -> tuple[str, int]:
    return scored.evidence.chunk_id, scored.evidence.start


def _disagreement(mine: Sequence[_Statement], its: Sequence[_Statement], units: Units) -> str:
    """Return what two sentences disagree on, or nothing; any value of theirs that meets another clears the measure."""
    found: list[str] = []
    met: set[str] = set()
    for one in mine:
        for other in its:
            value = units.convert(other.value, one.value.unit) if one.measure is other.measure else None
            if value is None:
                continue
            if one.value.low <= value.high and value.low <= one.value.high:
                met.add(one.measure.name)
            elif _same_thing(one, other):
                found.append(one.measure.name)
    return next((name for name in found if name not in met), "")


def _same_thing(one: _Statement, other: _Statement) -> bool:
    if (one.products, one.problems, one.context) != (other.products, other.problems, other.context):
        return False
    needed = {"product": one.products, "dose": one.products, "problem": one.problems, "": one.crops}
    if not needed[one.measure.of]:
        return False
    return any(is_same_crop(a, b) for a in one.crops for b in other.crops)


def _statements(scored: ScoredEvidence, lexicon: Lexicon, units: Units) -> list[_Statement]:
    text = fold(headed_text(scored.evidence, scored.candidate))
    quantities = [_with_column_unit(text, q, units) for q in units.rates(text)]
    above = (heading_of(scored.evidence, scored.candidate), scored.candidate.document.meta.title)
    found: list[_Statement] = []
    for quantity in quantities:
        before, after = _scope(text, quantity, quantities)
        if scored.candidate.chunk.kind == "table":
            after = text[quantity.end :]
        scope = f"{before} {after}"
        measure = next((m for m in _MEASURES if _measures(m, quantity, before, scope)), None)
        if measure is not None and not _is_aside(text, quantity) and not _NO_CLAIM.search(scope):
            found.append(_statement(measure, _bounded(text, quantity), scope, above, lexicon))
    return found


def _is_aside(text: str, quantity: Quantity) -> bool:
    """A product's strength and the water it is mixed with are no values to compare."""
    return bool(_STRENGTH.match(text, quantity.start) or _WATER.search(text[: quantity.start]))


def _measures(measure: _Measure, quantity: Quantity, before: str, scope: str) -> bool:
    is_said = measure.words.search(before) and (not measure.suits or _SUITS.search(scope))
    return bool(is_said) and quantity.unit in (measure.units or {""})


def _statement(measure: _Measure, value: Quantity, scope: str, above: Sequence[str], lexicon: Lexicon) -> _Statement:
    names, heading, title = (lexicon.entities(text) for text in (scope, *above))
    levels = {"product": [names], "dose": [names, heading, title], "problem": [names, heading], "": [names, heading]}
    crops = _terms(names, _CROP) or frozenset(_CROP_GROUPS.findall(scope)) or _nearest([heading, title], _CROP)
    # A dose is for the title's problem; elsewhere one that the lexicon lacks would pass for the title's.
    problems = _nearest(levels[measure.of], _PROBLEMS)
    context = _terms([*names, *heading], _CONTEXT) | frozenset(_CONDITIONS.findall(scope))
    if measure.of in ("product", "dose"):
        context |= frozenset(_FORMS.findall(scope)) | frozenset(m.group() for m in _STRENGTH.finditer(scope))
    return _Statement(measure, value, crops, _terms(names, _PRODUCTS), problems, context)


def _nearest(levels: Iterable[Sequence[Entity]], kinds: frozenset[str]) -> frozenset[str]:
    """Return the names of the first level that has any: the words themselves, the heading, the title."""
    return next((found for level in levels if (found := _terms(level, kinds))), frozenset())


def _with_column_unit(text: str, quantity: Quantity, units: Units) -> Quantity:
    """A cell's number has the unit of its column's name: 间隔期（天）：14."""
    column = _COLUMN_UNIT.search(text, 0, quantity.start) if not quantity.unit else None
    read = units.quantities(f"1{column[1]}") if column else []
    return replace(quantity, unit=read[0].unit) if read else quantity


def _scope(text: str, quantity: Quantity, quantities: Sequence[Quantity]) -> tuple[str, str]:
    """Return the words before a value and those after it that are said of it.

    Before: what stands before the sentence's first clause with a value, and its own clause. After: the rest of its
    clause and the clauses behind it up to the next value.
    """
    clauses = clause_spans(text)
    valued = [(a, b) for a, b in clauses if any(a <= q.start < b and not _STRENGTH.match(text, q.start) for q in quantities)]
    own = next(((a, b) for a, b in clauses if a <= quantity.start < b), (0, len(text)))
    lead = text[: valued[0][0]] if valued else ""
    end = next((a for a, _ in valued if a > quantity.start), len(text))
    return lead + text[max(own[0], len(lead)) : quantity.start], text[quantity.end : max(end, own[1])]


def _terms(entities: Iterable[Entity], kinds: frozenset[str]) -> frozenset[str]:
    return frozenset(e.term for e in entities if e.kind in kinds)


def _bounded(text: str, quantity: Quantity) -> Quantity:
    """Open a value at the side its words leave open: 15天以上 has no upper end."""
    before, after = text[: quantity.start], text[quantity.end :]
    low, high = quantity.low, quantity.high
    if _ROUGHLY.match(after):
        low, high = low - abs(low) * _ABOUT, high + abs(high) * _ABOUT
    if _AT_LEAST.search(before) or _OVER.match(after):
        high = _ENDLESS
    elif _AT_MOST.search(before) or _UNDER.match(after):
        low = -_ENDLESS
    return replace(quantity, low=low, high=high)


def _note(measure: str, one: ScoredEvidence, other: ScoredEvidence) -> Note:
    first, second = sorted((one, other), key=lambda s: _digits(s.candidate), reverse=True)
    dated = all(_digits(s.candidate) for s in (one, other)) and _digits(first.candidate) != _digits(second.candidate)
    said = [_said(s, age if dated else "") for s, age in ((first, "较新的"), (second, "较早的"))]
    citations = tuple(resolve(s.evidence, s.candidate) for s in (first, second))
    return Note("contradiction", f"两份资料关于{measure}说法不一：{said[0]}；{said[1]}。", citations)


def _said(scored: ScoredEvidence, age: str) -> str:
    meta = scored.candidate.document.meta
    date = f"（{meta.date}）" if age else ""
    title = meta.title or scored.candidate.document.source
    return f"{age}《{title}》{date}写的是“{scored.evidence.text}”{marker(scored.evidence.chunk_id)}"


def _digits(candidate: Candidate) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", candidate.document.meta.date)[:3])
