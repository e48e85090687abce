"""Open ranges: 不超过7天 and 5.5以下 have no lower end, 至少3次 and 30℃以上 no upper one."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from nongda.records import Quantity

# Of folded text right before and right after a number.
_NOT_OVER = re.compile(
    r"(?:不(?:得|能|宜|应|可|要)?(?:超过|高于|大于|多于|超出)|(?<!不)(?<!不[得能宜应可要])(?:低于|小于|少于)|不到|不足|最多|至多|上限(?:为|是)?|[<≤])\s*$")
_AT_LEAST = re.compile(
    r"(?:至少|最少|下限(?:为|是)?|不(?:得|能|宜|应|可|要)?(?:低于|少于|小于)|(?<!不)(?<!不[得能宜应可要])(?:超过|高于|大于|多于)|[>≥])\s*$")
_ABOVE = re.compile(r"\s*(?:及其?|或)?(?:以上|之上)")
_BELOW = re.compile(r"\s*(?:及其?|或)?(?:以下|以内|之内|之下)")
_HEADER_HIGH = re.compile(r"最多|上限|不超过|以内|最高限")
_HEADER_LOW = re.compile(r"最少|下限|至少|不低于")


@dataclass(frozen=True, slots=True)
class Bounded:
    """A quantity's ends, infinite where open, and where the words of number and bound begin and end."""

    low: float
    high: float
    start: int
    end: int


def bounded(folded: str, quantity: Quantity, header: str = "") -> Bounded | None:
    """Read the words beside a quantity of a folded text; None for a range with a bound, which says neither.

    `header` is a column's name whose words count where the cell has none of its own.
    """
    before, after = folded[: quantity.start], folded[quantity.end :]
    low, high, start, end = quantity.low, quantity.high, quantity.start, quantity.end
    under, over = _NOT_OVER.search(before), _AT_LEAST.search(before)
    above, below = _ABOVE.match(after), _BELOW.match(after)
    if sum(x is not None for x in (under, over, above, below)) > 1:
        return None
    if (under or over) and low != high:
        return None
    if under or below:
        low = -math.inf
    elif over or above:
        high = math.inf
    elif low == high and _HEADER_HIGH.search(header):
        low = -math.inf
    elif low == high and _HEADER_LOW.search(header):
        high = math.inf
    start = under.start() if under else over.start() if over else start
    end += len(above.group()) if above else len(below.group()) if below else 0
    return Bounded(low, high, start, end)
