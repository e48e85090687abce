"""Passages become short evidence: the sentences, list items and table rows that may answer the question.

A small model reads 100 tokens a second on two cores, so what does not help costs seconds and adds mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongda.answer.retrieve import QueryEmbedder
from nongda.language.lexicon import Lexicon
from nongda.language.text import has_words, sentence_spans
from nongda.records import Candidate, Evidence, Query

_MAX_HEADING = 20  # characters
_NO_HEADING = re.compile(r"[。！？!?；;：:，,|]|^\s*(?:\d+[.、)）]|[-*•（(])")
_WORD_WEIGHT = 0.3  # of word overlap beside cosine, whose useful range for e5 is about 0.15 wide


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


def _heading_of(evidence: Evidence, candidate: Candidate) -> str:
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


def score_evidence(query: Query, candidates: Sequence[Candidate], embedder: QueryEmbedder,
                   lexicon: Lexicon) -> list[ScoredEvidence]:
    """Score all evidence of the candidates by cosine with the question and shared words, in reading order."""
    pieces = [(e, c) for c in candidates for e in split_evidence(c)]
    if not pieces:
        return []
    texts = [_with_heading(e, c) for e, c in pieces]
    vectors = embedder.embed_queries([query.canonical, *texts])
    wanted = frozenset(query.tokens)
    scored: list[ScoredEvidence] = []
    for (evidence, candidate), text, vector in zip(pieces, texts, vectors[1:], strict=True):
        tokens = frozenset(lexicon.tokens(text))
        overlap = len(wanted & tokens) / max(1, len(wanted))
        score = float(vector @ vectors[0]) + _WORD_WEIGHT * overlap
        scored.append(ScoredEvidence(evidence, candidate, tokens, vector, score))
    return scored


def _with_heading(evidence: Evidence, candidate: Candidate) -> str:
    """A sentence rarely repeats its subject; the nearest heading names it."""
    return f"{_heading_of(evidence, candidate)}：{headed_text(evidence, candidate)}"


def compress(scored: Sequence[ScoredEvidence], max_characters: int) -> list[ScoredEvidence]:
    """Keep the most useful evidence within a length, in reading order, with one neighbour of the best ones.

    The sentence after a good one often holds its condition or its dose.
    """
    order = sorted(range(len(scored)), key=lambda i: -scored[i].score)
    wanted: list[int] = []
    for place, i in enumerate(order):
        wanted.append(i)
        follows = i + 1 < len(scored) and scored[i + 1].evidence.chunk_id == scored[i].evidence.chunk_id
        if place < 3 and follows:
            wanted.append(i + 1)
    kept: set[int] = set()
    used = 0
    for i in wanted:
        length = len(headed_text(scored[i].evidence, scored[i].candidate))
        if i in kept or used + length > max_characters:
            continue
        kept.add(i)
        used += length
    return [scored[i] for i in sorted(kept)]
