"""Passages become short evidence: the sentences, list items and table rows that may answer the question.

A small model reads 100 tokens a second on two cores, so what does not help costs seconds and adds mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence

from nongda.answer.evidence import ScoredEvidence, headed_text, split_evidence, with_heading
from nongda.answer.instructions import quotable
from nongda.answer.retrieve import QueryEmbedder
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Query

_WORD_WEIGHT = 0.3  # of word overlap beside cosine, whose useful range for e5 is about 0.15 wide


def score_evidence(query: Query, candidates: Sequence[Candidate], embedder: QueryEmbedder,
                   lexicon: Lexicon) -> list[ScoredEvidence]:
    """Score all evidence of the candidates by cosine with the question and shared words, in reading order."""
    pieces = [(e, c) for c in candidates for e in quotable(split_evidence(c), c.chunk.text)]
    if not pieces:
        return []
    texts = [with_heading(e, c) for e, c in pieces]
    vectors = embedder.embed_queries([query.canonical, *texts])
    wanted = frozenset(query.tokens)
    scored: list[ScoredEvidence] = []
    for (evidence, candidate), text, vector in zip(pieces, texts, vectors[1:], strict=True):
        tokens = frozenset(lexicon.tokens(text))
        overlap = len(wanted & tokens) / max(1, len(wanted))
        score = float(vector @ vectors[0]) + _WORD_WEIGHT * overlap
        scored.append(ScoredEvidence(evidence, candidate, tokens, vector, score))
    return scored


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
