"""Passages as evidence: sentences, list items and table rows, each with the heading and header it stands under."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongda.language.text import has_words, sentence_spans
from nongda.records import Candidate, Evidence

SENTENCE_ENDS = "。！？!?；;"
UNFINISHED = ("？", "?", "：", ":")  # a question or an announcement answers nothing by itself
_MAX_HEADING = 20  # characters
_NO_HEADING = re.compile(r"[。！？!?；;：:，,|]|^\s*(?:\d+[.、)）]|[-*•（(])")


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
    if chunk.kind == "table":
        return _table_rows(chunk.id, chunk.text)
    spans = [(a, b) for a, b in sentence_spans(chunk.text) if has_words(chunk.text[a:b])]
    said = [(a, b) for a, b in spans if not _is_heading(chunk.text, a, b)]
    return [Evidence(chunk.id, chunk.text[a:b], a, b) for a, b in said or spans]


def _is_heading(text: str, start: int, end: int) -> bool:
    """A short line of its own without punctuation or list mark: the heading of a section that joined this chunk."""
    alone = text[:start].rstrip(" ").endswith("\n") or not text[:start].strip()
    ends = text[end:].lstrip(" ").startswith("\n")
    return alone and ends and end - start <= _MAX_HEADING and not _NO_HEADING.search(text[start:end])


def heading_of(evidence: Evidence, candidate: Candidate) -> str:
    """Return the nearest heading above a piece of evidence: inside the chunk, else the chunk's last, else the title."""
    text = candidate.chunk.text
    inner = [text[a:b] for a, b in sentence_spans(text[: evidence.start] + "\n") if _is_heading(text, a, b)]
    return (inner or list(candidate.chunk.heading) or [candidate.document.meta.title])[-1]


def _table_rows(chunk_id: str, text: str) -> list[Evidence]:
    rows: list[Evidence] = []
    position = 0
    lines = text.splitlines(keepends=True)
    header_done = not any(_is_rule(line) for line in lines)
    for line in lines:
        start, position = position, position + len(line)
        row = line.strip()
        if _is_rule(line):
            header_done = True
        elif header_done and has_words(row):
            offset = start + line.index(row)
            rows.append(Evidence(chunk_id, row, offset, offset + len(row)))
    return rows


def _is_rule(line: str) -> bool:
    stripped = line.strip()
    return stripped.startswith("|") and "-" in stripped and not set(stripped) - set("|-: ")


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def headed_text(evidence: Evidence, candidate: Candidate) -> str:
    """Return evidence that stands alone: a table row with its header's names before each cell."""
    if candidate.chunk.kind != "table" or not evidence.text.startswith("|"):
        return evidence.text
    before = candidate.chunk.text[: evidence.start].splitlines()
    rules = [i for i, line in enumerate(before) if _is_rule(line)]
    if not rules or rules[0] == 0:
        return evidence.text
    names, cells = _cells(before[rules[0] - 1]), _cells(evidence.text)
    pairs = [f"{name}：{cell}" for name, cell in zip(names, cells, strict=False) if cell]
    return "；".join(pairs)


def with_heading(evidence: Evidence, candidate: Candidate) -> str:
    """A sentence rarely repeats its subject; the nearest heading names it."""
    return f"{heading_of(evidence, candidate)}：{headed_text(evidence, candidate)}"
