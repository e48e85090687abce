"""Citations: each sentence of an answer gets the id of the evidence that says so, deterministically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongda.answer.evidence import SENTENCE_ENDS, ScoredEvidence
from nongda.records import Candidate, Citation, Evidence


@dataclass(frozen=True, slots=True)
class Support:
    """The evidence nearest to a sentence; `score` is between 0 and 1."""

    scored: ScoredEvidence
    score: float


def supports(tokens: frozenset[str], vector: NDArray[np.float32], evidence: Sequence[ScoredEvidence]) -> list[Support]:
    """Return all evidence by how well it supports a sentence, best first: half cosine, half the share of its words."""
    found: list[Support] = []
    for scored in evidence:
        overlap = len(tokens & scored.tokens) / max(1, len(tokens))
        found.append(Support(scored, 0.5 * max(0.0, float(vector @ scored.vector)) + 0.5 * overlap))
    return sorted(found, key=lambda s: -s.score)


def marker(chunk_id: str) -> str:
    """Return the citation as it stands in the text."""
    return f"[{chunk_id}]"


def marked(sentence: str, chunk_id: str) -> str:
    """Return a sentence with its citation before the mark that ends it; one without such a mark gets a full stop."""
    end = sentence[-1] if sentence[-1] in SENTENCE_ENDS else ""
    return f"{sentence.removesuffix(end)}{marker(chunk_id)}{end or '。'}"


def references(candidates: Sequence[Candidate]) -> str:
    """Return the closing line for an answer in which no sentence could be cited."""
    return "参考资料：" + "".join(marker(c.chunk.id) for c in candidates)


def resolve(evidence: Evidence, candidate: Candidate) -> Citation:
    """Return what a citation shows: the document, the place in it, the words."""
    document, chunk = candidate.document, candidate.chunk
    return Citation(chunk.id, document.meta.title, document.source, chunk.page, chunk.heading, evidence.text)


def whole_passage(candidate: Candidate) -> Citation:
    """Return a whole passage as a citation."""
    text = candidate.chunk.text
    return resolve(Evidence(candidate.chunk.id, text, 0, len(text)), candidate)
