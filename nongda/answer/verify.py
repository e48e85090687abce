"""No number and no product reaches the reader unless the cited text holds it."""

from __future__ import annotations

import re

from nongda.answer.evidence import ScoredEvidence, headed_text
from nongda.language.lexicon import Lexicon
from nongda.language.units import supported
from nongda.records import Query

# A list's number is no quantity: 1. 2) 3、 but not 1.5 or 10~20.
LIST_MARK = re.compile(r"^(?:\s*(?:\d{1,2}(?:[.)）](?!\d)|、)\s*|[-*•]\s+|【[^】]*】\s*|#+\s*))+")
_MIN_GROUNDED = 0.7  # of a sentence's words; small models add connecting words of their own
_CHECKED_KINDS = frozenset({"product", "disease", "pest", "crop", "pathogen"})


def unsupported(sentence: str, scored: ScoredEvidence, lexicon: Lexicon) -> list[str]:
    """Return what the sentence claims and its evidence does not hold: numbers with unit, names.

    A number must stand in the evidence sentence itself, the same with the same unit; a name may also stand in
    the passage's headings and title.
    """
    known = lexicon.units.quantities(headed_text(scored.evidence, scored.candidate))
    wrong = [sentence[q.start : q.end] for q in lexicon.units.quantities(sentence) if not supported(q, known)]
    context = scored.candidate.chunk.search_text
    for entity in lexicon.entities(sentence):
        if entity.kind in _CHECKED_KINDS and lexicon.canonical(entity.term) not in context:
            wrong.append(entity.surface)
    return wrong


def grounded(tokens: frozenset[str], scored: ScoredEvidence, query: Query) -> bool:
    """Tell whether nearly all words of a sentence are the evidence's or the question's: the rest is invention."""
    known = scored.tokens | set(query.tokens)
    return len(tokens & known) >= _MIN_GROUNDED * len(tokens)


def quoted(scored: ScoredEvidence) -> str:
    """Return evidence as a sentence of the answer: the document's own words; a table row named by its header."""
    text = LIST_MARK.sub("", " ".join(headed_text(scored.evidence, scored.candidate).split()))
    return text if text[-1] in "。！？!?；;" else text + "。"
