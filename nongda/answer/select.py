"""Which candidates may answer this question at all, and which sentences to quote when writing fails."""

from __future__ import annotations

from collections.abc import Sequence

from nongda.answer.evidence import ScoredEvidence
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Query

_NAMED_KINDS = ("disease", "pest", "product")
UNFINISHED = ("？", "?", "：", ":")  # a question or an announcement answers nothing by itself
_WORD_WEIGHT = 0.1  # beside cosines whose useful range is about 0.1 wide


def relevant(query: Query, candidates: Sequence[Candidate], lexicon: Lexicon, cut: float) -> list[Candidate]:
    """Return the candidates that are about the question's subject and near enough to it.

    1. A question that names a crop drops passages that speak of other crops only.
    2. A disease, pest or product that is named must stand in one of the passages.
    3. The nearest passage must reach `cut`, a value of `relevance` for the embedder in use.
    """
    crops = {e.term for e in query.entities if e.kind == "crop"}
    kept = [c for c in candidates if not crops or _speaks_of(c, crops, lexicon)]
    for kind in _NAMED_KINDS:
        named = {e.term for e in query.entities if e.kind == kind}
        if named and not any(_names(c, named, lexicon) for c in kept):
            return []
    nearest = max((relevance(query, c, lexicon) for c in kept), default=0.0)
    return kept if nearest >= cut else []


def relevance(query: Query, candidate: Candidate, lexicon: Lexicon) -> float:
    """Return how near a passage is to the question: a cosine, plus a tenth of the share of words it holds.

    The cosine is the reranker's where there is one, else the embedder's. On calibration questions neither
    separates alone: e5 finds every question about agriculture near, words alone miss paraphrases.
    """
    words = set(query.tokens)
    held = len(words & set(lexicon.tokens(candidate.chunk.search_text))) / max(1, len(words))
    cosine = candidate.scores.get("rerank", candidate.scores.get("dense", 0.0))
    return cosine + _WORD_WEIGHT * held


def _speaks_of(candidate: Candidate, crops: set[str], lexicon: Lexicon) -> bool:
    present = {e.term for e in lexicon.entities(candidate.chunk.search_text) if e.kind == "crop"}
    return not present or any(_related(a, b) for a in crops for b in present)


def _names(candidate: Candidate, terms: set[str], lexicon: Lexicon) -> bool:
    return any(lexicon.canonical(term) in candidate.chunk.search_text for term in terms)


def _related(one: str, other: str) -> bool:
    """小粒种咖啡 is 咖啡: standard names of kinds contain the name of the whole."""
    return one in other or other in one


def best_quotes(scored: Sequence[ScoredEvidence], most: int, chunk_id: str = "") -> list[ScoredEvidence]:
    """Return at most `most` neighbouring sentences of one passage, in reading order; of a table the best row.

    1. The anchor is the best sentence of the passage `chunk_id`, or of all, its passage's rank counted in.
    2. Of the windows around the anchor the one with the highest sum of scores is quoted: a cure stands beside its
       disease, and sentences from several passages would mix their subjects.
    Questions and announcements (…如下：) answer nothing by themselves and are passed over.
    """
    usable = [s for s in scored if not s.evidence.text.endswith(UNFINISHED)]
    inside = [s for s in usable if s.evidence.chunk_id == chunk_id] if chunk_id else usable
    if not inside:
        return []
    anchor = max(inside, key=lambda s: s.score + s.candidate.score)
    if anchor.candidate.chunk.kind == "table":
        return [anchor]
    passage = [s for s in usable if s.evidence.chunk_id == anchor.evidence.chunk_id]
    place = passage.index(anchor)
    windows = [passage[start : start + most] for start in range(max(0, place - most + 1), place + 1)]
    return max(windows, key=lambda window: sum(s.score for s in window))
