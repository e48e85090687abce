"""No number and no product reaches the reader unless the cited text holds it."""

from __future__ import annotations

import re

from nongda.answer.cite import Support
from nongda.answer.compress import ScoredEvidence, headed_text
from nongda.language.lexicon import Lexicon
from nongda.language.units import supported

# A list's number is no quantity: 1. 2) 3、 but not 1.5 or 10~20.
LIST_MARK = re.compile(r"^\s*(?:\d{1,2}(?:[.)）](?!\d)|、)\s*|[-*•]\s+|【[^】]*】\s*|#+\s*)")
_CHECKED_KINDS = frozenset({"product", "disease", "pest", "crop", "pathogen"})


def unsupported(sentence: str, support: Support, lexicon: Lexicon) -> list[str]:
    """Return what the sentence claims and its evidence does not hold: numbers with unit, names.

    Numbers must stand in the evidence sentence itself or in the passage around it; names may also stand in the
    passage's headings and title.
    """
    passage = support.scored.candidate.chunk.text
    own = f"{headed_text(support.scored.evidence, support.scored.candidate)}\n{passage}"
    known = lexicon.units.quantities(own)
    wrong = [sentence[q.start : q.end] for q in lexicon.units.quantities(sentence) if not supported(q, known)]
    context = support.scored.candidate.chunk.search_text
    for entity in lexicon.entities(sentence):
        if entity.kind in _CHECKED_KINDS and lexicon.canonical(entity.term) not in context:
            wrong.append(entity.surface)
    return wrong


def quoted(scored: ScoredEvidence) -> str:
    """Return evidence as a sentence of the answer: the document's own words; a table row named by its header."""
    text = LIST_MARK.sub("", " ".join(headed_text(scored.evidence, scored.candidate).split()))
    return text if text[-1] in "。！？!?；;" else text + "。"
