"""How a question is searched: itself, its parts, and what else ranks passages for it, each with a weight.

A question of a single hop goes the sparse-led path: BM25 and dense retrieval of the question itself. One of several hops
is also searched part by part, all at once (adaptive routing; the parts come from decompose.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from nongda.language.lexicon import Lexicon
from nongda.records import Hit

Ranking = Callable[[], list[Hit]]


@dataclass(frozen=True, slots=True)
class Part:
    """A whole question about one thing that the reader's question asks, as search sees it."""

    canonical: str
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """What is searched beside the question; `weights` by ranking name, 1 where none is given.

    Rankings of part n are named "bm25/n" and "dense/n". `part_keep` passages of each part are looked at in any case.
    """

    parts: tuple[Part, ...] = ()
    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    part_keep: int = 3


def parts_of(texts: Iterable[str], lexicon: Lexicon) -> tuple[Part, ...]:
    """Return questions as search sees them."""
    return tuple(Part(lexicon.canonical(text), tuple(lexicon.question_tokens(text))) for text in texts)
