"""Passages as evidence: sentences, list items and table rows, each with the heading and header it stands under."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongda.documents.pieces import cells_of, header_above, heading_above, piece_spans
from nongda.records import Candidate, Evidence

SENTENCE_ENDS = "。！？!?；;"
UNFINISHED = ("？", "?", "：", ":")  # a question or an announcement answers nothing by itself


@dataclass(frozen=True, slots=True)
class ScoredEvidence:
    """A piece of evidence with its vector (dim,) and its worth for the question."""

    evidence: Evidence
    candidate: Candidate
    tokens: frozenset[str]
    vector: NDArray[np.float32]
    score: float


def split_evidence(candidate: Candidate) -> list[Evidence]:
    """Split a chunk into evidence; a table row keeps its own text, its header is given by `headed_text`."""
    chunk = candidate.chunk
    return [Evidence(chunk.id, chunk.text[a:b], a, b) for a, b in piece_spans(chunk.text, chunk.kind)]


def heading_of(evidence: Evidence, candidate: Candidate) -> str:
    """Return the nearest heading above a piece of evidence: inside the chunk, else the chunk's last, else the title."""
    inner = heading_above(candidate.chunk.text, evidence.start)
    return inner or [candidate.document.meta.title, *candidate.chunk.heading][-1]


def headed_text(evidence: Evidence, candidate: Candidate) -> str:
    """Return evidence that stands alone: a table row with its header's names before each cell."""
    if candidate.chunk.kind != "table" or not evidence.text.startswith("|"):
        return evidence.text
    names = header_above(candidate.chunk.text, evidence.start)
    if not names:
        return evidence.text
    cells = cells_of(evidence.text)
    pairs = [f"{name}：{cell}" for name, cell in zip(names, cells, strict=False) if cell]
    return "；".join(pairs)


def with_heading(evidence: Evidence, candidate: Candidate) -> str:
    """A sentence rarely repeats its subject; the nearest heading names it."""
    return f"{heading_of(evidence, candidate)}：{headed_text(evidence, candidate)}"
