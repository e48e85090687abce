"""How long a chunk may grow, and how much of it the next one repeats, by how dense its text is.

1. The density of a text is its quantities and its names per 100 characters.
2. Up to `thin_density` a chunk may be `thin_length` long and nothing is repeated; from `dense_density` on it may be
   `dense_length` long and `dense_overlap` characters of whole sentences are repeated. Between them both follow a line.
   The least length keeps its share of the greatest.
Dense text answers a question with one sentence among many alike, so its chunks are short, and a number that stands
beside a cut is found with either neighbour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nongda.language.units import Units
from nongda.settings import ChunkSettings

Count = Callable[[str], int]
"""How many quantities and names a text holds."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Lengths in characters: of a chunk, and of what it repeats of the one before it."""

    min_length: int
    max_length: int
    overlap: int


def counter(units: Units, names: Count) -> Count:
    """Return what counts a text's quantities with a unit and its names; the caller knows the names."""

    def count(text: str) -> int:
        return sum(bool(quantity.unit) for quantity in units.quantities(text)) + names(text)

    return count


def density(things: int, length: int) -> float:
    """Return how many things there are per 100 characters."""
    return 100 * things / length if length else 0.0


def limits(density: float, settings: ChunkSettings) -> Limits:
    """Return the limits of a chunk whose text is so dense."""
    width = settings.dense_density - settings.thin_density
    share = min(1.0, max(0.0, (density - settings.thin_density) / width)) if width > 0 else float(density > settings.thin_density)
    longest = round(settings.thin_length + share * (settings.dense_length - settings.thin_length))
    shortest = min(longest, round(settings.min_length * longest / settings.max_length))
    return Limits(shortest, longest, round(share * settings.dense_overlap))
