"""Sums over a cited figure, done by program: area x dose, dilution, per hectare to per mu; the formula is shown.

Steps of `calculate`:
1. Find the figures of the evidence that fit the task: of the area, of the plant, or a dilution (see `figures`).
2. Several that differ fit: one beside `subject` is taken, otherwise there is no answer; nothing is guessed.
3. Compute with exact fractions, low and high of a range apart; round for the reader only; whole packages round up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from nongda.answer.amounts import NAMES, equals, in_words, said, sign_of, span
from nongda.answer.figures import Figure, figures, same_material
from nongda.answer.tasks import Amount, CalculationTask, calculation_asked, counted, is_pure
from nongda.language.units import Units

__all__ = ["Calculation", "CalculationTask", "calculate", "calculation_asked"]

_PER_NAMES = {"亩": "亩", "hm2": "公顷", "株": "株", "穴": "穴"}
_LIQUID = re.compile(r"乳油|水剂|悬浮剂|悬浮种衣剂|微乳剂|水乳剂|可溶液剂|油剂|微囊")
_SOLID = re.compile(r"粉剂|可湿性粉|水分散粒剂|可溶粉|粒剂|晶体|原粉|粉末|硫酸铜|尿素|生石灰")
_MIXING_TABLE = re.compile(r"加药|桶加|ppm|算法")
_MOST_PACKAGES = 100  # for one mu or one plant; more says that the figure is of something else
_PERIODS = {"每次": "这是一次的用量", "每年": "这是一年的用量"}
_ONE_KILOGRAM = "水1升按1公斤算"
_ONE_GRAM = "药1毫升按1克算"
_PURE_ONLY = "这是纯量（有效成分或纯养分），不是商品的重量"


@dataclass(frozen=True, slots=True)
class Calculation:
    """A result with its formula; `uses` is verbatim from the text, `note` says what was assumed ("" for nothing)."""

    result: str
    formula: str
    uses: str
    note: str = ""


def calculate(task: CalculationTask, figure_text: str, units: Units, subject: str = "") -> Calculation | None:
    """Compute what the task wants from the one figure of the text that fits; None where none fits or several differ.

    `figure_text` is one sentence or a table row in words, or the question itself when it gives its own figure.
    `subject` (a product) chooses among figures for several. Grams and millilitres are never put for each other.
    """
    found = [f for f in figures(figure_text, counted(units)) if _fits(f, task, units)]
    figure = _only(found, subject, units)
    if figure is None:
        return None
    return _method(task, figure)(task, figure, units)


def _method(task: CalculationTask, figure: Figure) -> Callable[[CalculationTask, Figure, Units], Calculation | None]:
    if task.wanted in ("per_mu", "per_hm2"):
        return _converted
    if figure.unit == "倍":
        return _water_for_product if task.wanted == "water" else _product_in_water
    return _covered_area if task.wanted == "area" else _total


def _fits(figure: Figure, task: CalculationTask, units: Units) -> bool:
    numerator, _, per = figure.unit.partition("/")
    if figure.unit == "倍":
        return _dilution_fits(figure, task)
    if task.wanted in ("per_mu", "per_hm2"):
        return per == ("hm2" if task.wanted == "per_mu" else "亩")
    if not per or figure.is_other or figure.is_pure != is_pure(task.question) or not same_material(figure, task):
        return False
    if task.wanted == "water":
        unit = "m3" if re.search("[浇灌]", task.question) else "L"
        is_liquid = (numerator == "m3") == (unit == "m3") and bool(units.factor(numerator, "L") or units.factor(numerator, "kg"))
        return bool(task.area) and per in ("亩", "hm2") and figure.is_water and is_liquid
    if task.wanted == "plants":
        return numerator == "株" and per in ("亩", "hm2")
    if task.water or task.water_per_area or figure.is_water:
        return False
    at_hand = task.product if task.wanted == "area" else task.package if task.wanted == "packages" else None
    wanted_unit = at_hand.unit if at_hand else task.unit
    is_material = units.factor(numerator, "g") is not None or units.factor(numerator, "L") is not None
    if not is_material or (wanted_unit and units.factor(numerator, wanted_unit) is None):
        return False
    if re.search("肥", task.question) and units.factor(numerator, "g") is None:
        return False
    if per in ("株", "穴"):
        return task.plants is not None and task.plants.unit == per or (per == "株" and bool(task.area and task.density))
    return per in ("亩", "hm2") and (task.area is not None or task.wanted == "area") and task.density is None


def _dilution_fits(figure: Figure, task: CalculationTask) -> bool:
    """The dilution that the question names, or else one of a product, not a row of a mixing table."""
    if figure.bound or (task.rate and (task.rate.low, task.rate.high) != (figure.low, figure.high)):
        return False
    if not task.rate and _MIXING_TABLE.search(figure.text):
        return False
    return bool(task.product and not task.area) if task.wanted == "water" else bool(
        task.wanted == "amount" and (task.water or task.water_per_area)
    )


def _only(found: list[Figure], subject: str, units: Units) -> Figure | None:
    """The figure, when all that fit say the same; otherwise those with the subject beside them.

    A document's own rounding from hectare to mu (1111 and 74 plants) is no difference.
    """
    if subject and len(found) > 1:
        found = [f for f in found if subject in f.beside] or found
    first = next((f for f in found if f.unit.endswith("/亩")), found[0] if found else None)
    return first if first and all(_agrees(f, first, units) for f in found) else None


def _agrees(figure: Figure, first: Figure, units: Units) -> bool:
    factor = units.factor(figure.unit, first.unit)
    if factor is None or figure.bound != first.bound:
        return False
    slack = Fraction(3, 100) if figure.unit.endswith("/hm2") and first.unit.endswith("/亩") else Fraction(0)
    pairs = ((figure.low * factor, first.low), (figure.high * factor, first.high))
    return all(abs(one - other) <= slack * other for one, other in pairs)


def _total(task: CalculationTask, figure: Figure, units: Units) -> Calculation | None:
    numerator, _, per = figure.unit.partition("/")
    low, high, formula = figure.low, figure.high, figure.shown
    if per in ("亩", "hm2"):
        area = task.area
        factor = units.factor(area.unit, per) if area and area.unit != "分" else units.factor("亩", per)
        if area is None or factor is None:
            return None
        factor = factor / 10 if area.unit == "分" else factor
        low, high = low * area.low * factor, high * area.high * factor
        step = "" if factor == 1 else f"（{span(area.low * factor, area.high * factor)}{_PER_NAMES[per]}）"
        formula += f" × {said(area)}{step}"
    elif task.plants:
        low, high = low * task.plants.low, high * task.plants.high
        formula += f" × {said(task.plants)}"
    elif task.area and task.density:
        factor = units.factor(task.area.unit, "亩") or Fraction(1, 10)
        plants = (task.area.low * factor * task.density.low, task.area.high * factor * task.density.high)
        low, high = low * plants[0], high * plants[1]
        formula += f" × {said(task.area)} × 每亩{said(task.density)}"
    if task.content:
        low, high = low / task.content, high / task.content
        formula += f" ÷ {span(task.content * 100, task.content * 100)}%"
    return _finished(task, figure, units, Amount(low, high, numerator, ""), formula)


def _finished(task: CalculationTask, figure: Figure, units: Units, total: Amount, formula: str) -> Calculation | None:
    """Write the total in the wanted unit; then packages or tanks, whole ones rounded up."""
    shown = in_words(total, task.unit, units)
    result, formula = figure.bound + shown, f"{formula} {sign_of(total, task.unit, units)} {figure.bound}{shown}"
    size, name = (task.package, task.package_name or "袋") if task.wanted == "packages" else (task.water, "桶")
    if task.wanted == "packages" and size is None:
        return Calculation(result, formula, figure.uses, _notes(figure, f"每{name}净重多少没有说，{name}数＝总量÷每{name}净重"))
    if task.wanted not in ("packages", "water") or size is None:
        return Calculation(result, formula, figure.uses, _notes(figure, _PURE_ONLY if figure.is_pure and not task.content else ""))
    factor, note = units.factor(total.unit, size.unit), ""
    if factor is None and task.wanted == "water":
        weight, litres = units.factor(total.unit, "kg"), units.factor(total.unit, "L")
        by_size = units.factor("L" if weight else "kg", size.unit)
        factor, note = by_size and (weight or litres or 0) * by_size, _ONE_KILOGRAM
    if not factor or (task.wanted == "packages" and figure.low * factor > _MOST_PACKAGES * size.high):
        return None
    low, high = total.low * factor / size.high, total.high * factor / size.low
    whole = f"{span(Fraction(math.ceil(low)), Fraction(math.ceil(high)))}{name}"
    each = f"每{name}{said(size)}"
    formula += f"；÷ {each} {equals(low, high)} {span(low, high)}{name}，备{whole}"
    return Calculation(f"{figure.bound}{whole}（{shown}，{each}，整{name}向上取）", formula, figure.uses, _notes(figure, note))


def _notes(figure: Figure, note: str) -> str:
    return "；".join(part for part in (note, _PERIODS.get(figure.period, "")) if part)


def _converted(task: CalculationTask, figure: Figure, units: Units) -> Calculation | None:
    numerator, _, _ = figure.unit.partition("/")
    factor, sign, per = (Fraction(1, 15), "÷", "亩") if task.wanted == "per_mu" else (Fraction(15), "×", "公顷")
    amount = Amount(figure.low * factor, figure.high * factor, numerator, "")
    shown = f"每{per}{figure.bound}{in_words(amount, task.unit, units)}"
    formula = f"{figure.shown} {sign} 15 {sign_of(amount, task.unit, units)} {shown}"
    return Calculation(shown, formula, figure.uses, "1公顷＝15亩")


def _product_in_water(task: CalculationTask, figure: Figure, units: Units) -> Calculation | None:
    water = task.water or task.water_per_area
    if water is None:
        return None
    unit = water.unit.partition("/")[0]
    by_volume = units.factor(unit, "mL")
    grams = by_volume or units.factor(unit, "g")
    if grams is None:
        return None
    area = task.area if task.water is None else None
    low, high = water.low * grams / figure.high, water.high * grams / figure.low
    if area:
        to_mu = units.factor(area.unit, "亩") or Fraction(1, 10)
        low, high = low * area.low * to_mu, high * area.high * to_mu
    form = _form(task, figure)
    name, notes = NAMES[form or ("mL" if by_volume else "g")], []
    shown = f"{span(low, high)}{name}"
    if not form:
        shown, name = f"{span(low, high)}毫升", "毫升"
        notes = [f"粉剂为{span(low, high)}克"]
    notes += [] if by_volume else [_ONE_KILOGRAM]
    notes += [_ONE_GRAM] if (form == "g") == bool(by_volume) and form else []
    per = "每亩" if water.unit.endswith("/亩") and not area else ""
    amount = f"{per}{said(water)}水" + (f" × {said(area)}" if area else "")
    return Calculation(f"{per}{shown}", f"{amount} ÷ {figure.shown} {equals(low, high)} {shown}", figure.uses, "；".join(notes))


def _form(task: CalculationTask, figure: Figure) -> str:
    """Is the product weighed or measured? As the question asks, else by the formulation's name, else unknown."""
    if task.unit in ("g", "kg", "斤"):
        return "g"
    if task.unit in ("mL", "L"):
        return "mL"
    is_liquid, is_solid = (bool(p.search(task.question + figure.text)) for p in (_LIQUID, _SOLID))
    return "" if is_liquid == is_solid else "mL" if is_liquid else "g"


def _water_for_product(task: CalculationTask, figure: Figure, units: Units) -> Calculation | None:
    product = task.product
    if product is None:
        return None
    base = "L" if units.factor(product.unit, "L") else "kg"
    factor = units.factor(product.unit, base)
    if factor is None:
        return None
    water = Amount(product.low * factor * figure.low, product.high * factor * figure.high, base, "")
    shown = in_words(water, base, units)
    formula = f"{said(product)} × {figure.shown} {equals(water.low, water.high)} {shown}水"
    note = _ONE_KILOGRAM if base == "L" else _ONE_KILOGRAM + "，药按重量配"
    if task.water is None:
        return Calculation(f"{shown}水", formula, figure.uses, note)
    tank = units.factor(task.water.unit, "L") or units.factor(task.water.unit, "kg")
    if tank is None:
        return None
    low, high = water.low / (task.water.high * tank), water.high / (task.water.low * tank)
    tanks = f"{span(low, high)}桶"
    formula += f"；÷ 每桶{said(task.water)} {equals(low, high)} {tanks}"
    return Calculation(f"{shown}水（约{tanks}，每桶{said(task.water)}）", formula, figure.uses, note)


def _covered_area(task: CalculationTask, figure: Figure, units: Units) -> Calculation | None:
    numerator, _, per = figure.unit.partition("/")
    product = task.product
    factor, to_mu = units.factor(product.unit, numerator) if product else None, units.factor(per, "亩")
    if product is None or factor is None or to_mu is None or not figure.low:
        return None
    low, high = product.low * factor * to_mu / figure.high, product.high * factor * to_mu / figure.low
    formula = f"{said(product)} ÷ {figure.shown} {equals(low, high)} {span(low, high)}亩"
    return Calculation(f"{span(low, high)}亩", formula, figure.uses, "1公顷＝15亩" if per == "hm2" else "")
