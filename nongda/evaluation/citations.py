"""The citation threshold as a curve: how many citations are right, and how many sentences get theirs.

1. Clauses of passages are reworded as a small model rewords: a third of the characters left out.
2. Each is held against all evidence, and once more without its own document: there every citation is wrong.
3. A citation is right when the best evidence at or over the threshold is of the clause's own passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongda.answer.cite import supports
from nongda.answer.compress import score_evidence
from nongda.answer.evidence import ScoredEvidence
from nongda.answer.retrieve import QueryEmbedder
from nongda.evaluation.calibrate import CLAUSES_PER_CHUNK, clauses_of, reworded
from nongda.evaluation.plots import lines
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Query

_STEPS = 101


@dataclass(frozen=True, slots=True)
class CitationCurve:
    """Precision and recall (n,) at each threshold (n,), over `clauses` sentences with and without their document."""

    thresholds: NDArray[np.float64]
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    clauses: int

    @property
    def f1(self) -> NDArray[np.float64]:
        """The harmonic mean of both at each threshold (n,)."""
        return 2 * self.precision * self.recall / np.maximum(self.precision + self.recall, 1e-12)

    @property
    def best(self) -> int:
        """The place of the threshold with the highest F1; of several, the middle one."""
        places = np.flatnonzero(self.f1 >= self.f1.max() - 1e-12)
        return int(places[len(places) // 2])


def citation_curve(candidates: Sequence[Candidate], embedder: QueryEmbedder, lexicon: Lexicon) -> CitationCurve:
    """Sweep the threshold over 0 to 1; the candidates must come from at least two documents to be told apart."""
    evidence = score_evidence(Query("", "", "", ()), candidates, embedder, lexicon)
    scores: list[float] = []
    right: list[bool] = []
    clauses = 0
    for candidate in candidates:
        others = [s for s in evidence if s.candidate.chunk.doc_id != candidate.chunk.doc_id]
        for clause in map(reworded, clauses_of(candidate.chunk.text)[:CLAUSES_PER_CHUNK]):
            clauses += 1
            for pool in (evidence, others):
                score, chunk_id = _best(clause, pool, embedder, lexicon)
                scores.append(score)
                right.append(chunk_id == candidate.chunk.id)
    return _swept(np.asarray(scores), np.asarray(right), clauses)


def _best(clause: str, evidence: Sequence[ScoredEvidence], embedder: QueryEmbedder, lexicon: Lexicon) -> tuple[float, str]:
    found = supports(frozenset(lexicon.tokens(clause)), embedder.embed_queries([lexicon.canonical(clause)])[0], evidence)
    return (found[0].score, found[0].scored.evidence.chunk_id) if found else (0.0, "")


def _swept(scores: NDArray[np.float64], right: NDArray[np.bool_], clauses: int) -> CitationCurve:
    thresholds = np.linspace(0, 1, _STEPS)
    cited = scores[None, :] >= thresholds[:, None]
    hits = (cited & right).sum(axis=1)
    number = cited.sum(axis=1)
    precision = np.where(number > 0, hits / np.maximum(number, 1), 1.0)
    return CitationCurve(thresholds, precision, hits / max(1, clauses), clauses)


def citation_report(curve: CitationCurve, embedder: str, in_use: float, figure: str) -> str:
    """Return the measurement as Markdown with the curve's figure."""
    shown = sorted({curve.best, int(np.abs(curve.thresholds - in_use).argmin()), *range(50, 96, 5)})
    rows = "\n".join(
        f"| {curve.thresholds[i]:.2f} | {curve.precision[i]:.3f} | {curve.recall[i]:.3f} | {curve.f1[i]:.3f} |" for i in shown)
    return (
        "# Citation threshold\n\n"
        "A written sentence is cited with the evidence that supports it best: half the cosine of both, half the share of\n"
        "its words that the evidence holds, when this reaches the threshold.\n\n"
        f"Measured with {embedder} on {curve.clauses} clauses of the sample documents, a third of the characters of each left\n"
        "out, as a small model rewords. Each is asked for twice: with all documents, and without its own, where every\n"
        "citation is wrong. A citation is right when it names the clause's own passage.\n\n"
        f"Highest F1 {curve.f1[curve.best]:.3f} at **{curve.thresholds[curve.best]:.2f}** (in use: {in_use:g}).\n\n"
        f"![precision and recall over the threshold]({figure})\n\n"
        f"| threshold | precision | recall | F1 |\n| ---: | ---: | ---: | ---: |\n{rows}\n\n"
        "The threshold only says where a sentence comes from. Whether it may be shown is decided by comparing its numbers,\n"
        "names and denials with that evidence.\n"
    )


def write_citation_report(curve: CitationCurve, embedder: str, in_use: float, folder: Path) -> None:
    """Write citation-threshold.md and its figure into a folder that exists."""
    figure = lines(curve.thresholds, {"precision": curve.precision, "recall": curve.recall, "F1": curve.f1},
                   "citation threshold", float(curve.thresholds[curve.best]))
    (folder / "citation-threshold.svg").write_text(figure, encoding="utf-8", newline="\n")
    text = citation_report(curve, embedder, in_use, "citation-threshold.svg")
    (folder / "citation-threshold.md").write_text(text, encoding="utf-8", newline="\n")
