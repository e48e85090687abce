"""The weights that BM25 and dense retrieval have in the fusion, by the question's length.

The rule is measured and explained in docs/evaluation/fusion-alpha.md.
"""

from __future__ import annotations

from nongda.records import Query
from nongda.settings import Settings


def fusion_weights(query: Query, settings: Settings) -> dict[str, float]:
    """Return the weights of "bm25" and "dense" for a question, 0 where that ranking is not asked for.

    A question of at most `search.short_tokens` words has `search.short_bm25_weight` for BM25, where the stage
    dynamic_fusion is on and both rankings are used at all.
    """
    search = settings.search
    short = bool(query.tokens) and len(query.tokens) <= search.short_tokens
    both = search.bm25_weight > 0 and search.dense_weight > 0
    changed = short and both and settings.has("dynamic_fusion")
    return {"bm25": search.short_bm25_weight if changed else search.bm25_weight, "dense": search.dense_weight}
