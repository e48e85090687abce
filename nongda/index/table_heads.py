"""What the headers and row labels of a table name: an attribute, a unit, the role of a column."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from nongda.index.attributes import Attribute, Attributes
from nongda.language.text import fold

_UNIT = re.compile(r"^(?P<name>.*?)(?:\((?:单位:)?(?P<unit>[^()]*)\)|[\s,;]*单位:\s*(?P<stated>[^()\s]+))\s*$")
_TWO_UNITS = re.compile(r"或|/\d|、")


@dataclass(frozen=True, slots=True)
class Head:
    """A header or a row's label: `words` is all of it, `name` what stands before the brackets with its unit.

    `scale` belongs to the unit (万株). The unit is "?" where two are given.
    """

    words: str
    name: str
    unit: str | None
    attribute: Attribute | None
    scale: float = 1.0


class Heads:
    """Reads headers and labels, each once."""

    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes
        self._known: dict[str, Head] = {}

    def of(self, words: str) -> Head:
        """Return what a header or label names."""
        if words not in self._known:
            match = _UNIT.match(fold(words))
            name = words[: match.end("name")] if match else words
            given = re.split("[,，]", match["unit"] or match["stated"] or "")[0] if match else ""
            unit, scale = self._unit(name, given) if given else (None, 1.0)
            self._known[words] = Head(words, name, unit, self._attributes.of_header(words, name, unit), scale)
        return self._known[words]

    def of_caption(self, words: str) -> Head:
        """Return the unit that a caption gives all columns: 表2 施肥量（单位：公斤/亩）; none where it gives none."""
        return self.of(words if "单位" in words else "")

    def limits(self, header: str, attribute: Attribute) -> bool:
        """Tell whether a column's cells limit those of an attribute; other cells of the same one (用量 苗期) do not."""
        is_same = self.of(header).attribute is attribute
        return self.plays(header, "condition") and not self.plays(header, "source") and not is_same

    def plays(self, header: str, role: str) -> bool:
        """Tell whether a column has a role of facts.toml: crop, target, product, subject, source, condition, label."""
        return bool(self._attributes.columns[role].search(fold(header)))

    def with_unit_of(self, head: Head, corner: Head) -> Head:
        """A label without a unit has that of the table's corner: 项目（℃）."""
        if corner.unit is None or head.unit is not None:
            return head
        attribute = head.attribute or self._attributes.of_header(head.words, head.name, corner.unit)
        fits = attribute is not None and corner.unit in attribute.units
        return replace(head, unit=corner.unit, attribute=attribute) if fits else head

    def _unit(self, name: str, given: str) -> tuple[str | None, float]:
        if _TWO_UNITS.search(given):
            return "?", 1.0  # 克或毫升: the cells have no certain unit
        found = self._attributes.units.rates(f"{name}：1{given}")
        fits = found and found[-1].end == len(name) + 2 + len(given) and found[-1].unit
        return (found[-1].unit, found[-1].low) if fits else (None, 1.0)


def first_of(pattern: re.Pattern[str], text: str) -> str:
    """Return what a pattern finds first in a header; "" where nothing."""
    match = pattern.search(fold(text))
    return match.group() if match else ""


def without(text: str, part: str) -> str:
    """Return what a header or cell says beside a part of it."""
    return re.sub(r"[\s的:：约（）()每度]", "", fold(text).replace(fold(part), "", 1))
