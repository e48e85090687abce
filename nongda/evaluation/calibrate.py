"""Thresholds for the embedder in use: each is measured on the sample documents, chosen and explained.

e5 squeezes its cosines into a narrow band, so a value from a paper about another embedder means nothing here.
1. Chunk cut: neighbouring sentences of one section against neighbours across a heading.
2. Citation threshold: a clause written with a third of its words left out, as a small model rewords, against its own
   passage, and against the best of all other documents.
3. Gate: its score for the dev questions that the samples answer, and for the others; 0 is where the learn command has
   put the cut. Another embedder needs that command first: the weights are learned from its similarities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongda.answer.cite import supports
from nongda.answer.compress import score_evidence
from nongda.answer.evidence import ScoredEvidence
from nongda.answer.retrieve import QueryEmbedder
from nongda.documents.clean import clean
from nongda.documents.parse import parse_file
from nongda.engine import ROOT, Engine
from nongda.errors import UsageError
from nongda.evaluation.dataset import GoldQuestion, load_questions
from nongda.index.prepare import PassageEmbedder
from nongda.language.lexicon import Lexicon
from nongda.language.text import clause_spans, has_words, sentence_spans
from nongda.records import Candidate, Query, Turn

CLAUSES_PER_CHUNK = 2
_MOST_CHUNKS = 40
_MIN_CLAUSE = 8  # characters; a shorter clause says too little to be found again


@dataclass(frozen=True, slots=True)
class Cut:
    """A chosen threshold and how well it separates `above` from `below`."""

    name: str
    value: float
    above: NDArray[np.float64]
    below: NDArray[np.float64]

    @property
    def kept(self) -> float:
        """The share of `above` at or over the cut."""
        return float((self.above >= self.value).mean())

    @property
    def rejected(self) -> float:
        """The share of `below` under the cut."""
        return float((self.below < self.value).mean())


def best_cut(name: str, above: Sequence[float], below: Sequence[float]) -> Cut:
    """Choose the value that maximises kept + rejected (Youden, 1950), midway between samples."""
    high, low = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    values = np.unique(np.concatenate([high, low]))
    middles = (values[1:] + values[:-1]) / 2 if values.size > 1 else values
    cuts = [Cut(name, float(value), high, low) for value in middles]
    return max(cuts, key=lambda cut: cut.kept + cut.rejected)


def explain(cut: Cut, above: str, below: str) -> str:
    """Return the choice in words."""
    return (
        f"{cut.name} = {cut.value:.3f}\n"
        f"  {above}：{cut.above.size} 个，中位数 {np.median(cut.above):.3f}，不低于该值的占 {cut.kept:.1%}\n"
        f"  {below}：{cut.below.size} 个，中位数 {np.median(cut.below):.3f}，低于该值的占 {cut.rejected:.1%}"
    )


def chunk_cut(paths: Sequence[Path], embedder: PassageEmbedder) -> Cut:
    """Measure neighbouring sentences within sections and across headings."""
    within: list[float] = []
    across: list[float] = []
    for path in paths:
        blocks = [b for b in clean(parse_file(path)).blocks if b.kind != "table"]
        sentences = [(b.text[s:e], b.heading) for b in blocks for s, e in sentence_spans(b.text)]
        sentences = [(text, heading) for text, heading in sentences if has_words(text)]
        vectors = embedder.embed_passages([text for text, _ in sentences])
        for i in range(len(sentences) - 1):
            same = sentences[i][1] == sentences[i + 1][1]
            (within if same else across).append(float(vectors[i] @ vectors[i + 1]))
    return best_cut("chunk.similarity_cut", within, across)


def cite_threshold(candidates: Sequence[Candidate], embedder: QueryEmbedder, lexicon: Lexicon) -> Cut:
    """Measure the support of single clauses by their own passage, and by the best of the other passages."""
    nothing = Query("", "", "", ())
    evidence = [s for c in candidates for s in score_evidence(nothing, [c], embedder, lexicon)]
    own: list[float] = []
    foreign: list[float] = []
    for candidate in candidates:
        inside = [s for s in evidence if s.candidate is candidate]
        outside = [s for s in evidence if s.candidate.chunk.doc_id != candidate.chunk.doc_id]
        for clause in map(reworded, clauses_of(candidate.chunk.text)[:CLAUSES_PER_CHUNK]):
            own.append(_support(clause, inside, embedder, lexicon))
            foreign.append(_support(clause, outside, embedder, lexicon))
    return best_cut("answer.cite_threshold", own, foreign)


def clauses_of(text: str) -> list[str]:
    """Return a passage's clauses that are long enough to be found again, table rows left out."""
    clauses = [text[a:b].strip("，。；：、 ") for a, b in clause_spans(text)]
    return [c for c in clauses if len(c) >= _MIN_CLAUSE and "|" not in c]


def reworded(clause: str) -> str:
    """Leave a third of the characters out, as a small model's own words do."""
    return "".join(c for place, c in enumerate(clause) if place // 2 % 3 != 2)


def _support(clause: str, evidence: Sequence[ScoredEvidence], embedder: QueryEmbedder, lexicon: Lexicon) -> float:
    vector = embedder.embed_queries([lexicon.canonical(clause)])[0]
    found = supports(frozenset(lexicon.tokens(clause)), vector, evidence)
    return found[0].score if found else 0.0


def gate_cut(questions: Sequence[GoldQuestion], score: Callable[[str, Sequence[Turn]], float]) -> Cut:
    """Measure the gate's scores of answerable and unanswerable questions; both mistakes cost the same.

    The gate learned from these questions: of others it lets more of the wrong ones through than this says.
    """
    scores = [(q.answerable, score(q.question, q.history)) for q in questions]
    cut = best_cut("answer.gate", [s for a, s in scores if a], [s for a, s in scores if not a])
    return replace(cut, value=round(cut.value, 3))


def calibrate(engine: Engine, root: Path = ROOT) -> Iterator[str]:
    """Measure all three on the sample documents, which must be in the knowledge base; yield each choice in words."""
    paths = sorted((root / "assets" / "corpus").rglob("*.md"))
    yield explain(chunk_cut(paths, engine.embedder), "同一节里相邻的句子", "隔着标题的相邻句子")
    found = {c.chunk.id: c for path in paths for c in engine.search(path.stem, k=100).candidates}
    if not found:
        raise UsageError("知识库里没有示例资料，无法校准：请先运行 setup 命令")
    sample = [found[i] for i in sorted(found)][:: max(1, len(found) // _MOST_CHUNKS)]
    yield explain(cite_threshold(sample, engine.embedder, engine.lexicon), "分句与它自己的段落", "分句与别的资料里最像的句子")
    questions = load_questions(root / "assets" / "gold", ["dev"])
    yield explain(gate_cut(questions, engine.answerable), "资料能回答的问题", "资料不能回答的问题")
