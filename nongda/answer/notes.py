"""What the reader must know beside the answer: the law first, intervals of products, sources that contradict."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nongda.answer.companions import product_notes
from nongda.answer.contradict import contradictions
from nongda.answer.domain import Domain
from nongda.answer.evidence import ScoredEvidence, headed_text, heading_of, with_heading
from nongda.answer.retrieve import Indexes
from nongda.index.families import PROBLEM_KINDS
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Note, Query

_MOST_TOLD = 1  # products only quoted that get a warning each; the others share one
_SAYS_WHAT_IT_IS = r"(?:是|叫|属于|原因：|病害：|害虫：|病因：)[^，。；：]{0,8}"
_POOL = 60  # best sentences among which a contradiction is looked for


def crops_of(query: Query, quotes: Sequence[ScoredEvidence], lexicon: Lexicon) -> set[str]:
    """Return the crops a question names; without any those of the quoted documents' titles."""
    named = {e.term for e in query.entities if e.kind == "crop"}
    titles = " ".join(dict.fromkeys(s.candidate.document.meta.title for s in quotes))
    return named or {e.term for e in lexicon.entities(titles) if e.kind == "crop"}


def without_recipes(quotes: Sequence[ScoredEvidence], query: Query, domain: Domain) -> list[ScoredEvidence]:
    """Return the quotes that give no recipe of a product forbidden on these crops."""
    crops = crops_of(query, quotes, domain.lexicon)
    return [s for s in quotes if not domain.law.withheld(with_heading(s.evidence, s.candidate), crops)]


def speaks_of_all(query: Query, scored: ScoredEvidence, lexicon: Lexicon) -> bool:
    """Tell whether a sentence with its passage's headings names every disease, pest and product of the question.

    A product must stand in the sentence or its heading: a dose in the next sentence is another product's.
    """
    near = lexicon.canonical(with_heading(scored.evidence, scored.candidate))
    places = {"product": near, "disease": scored.candidate.chunk.search_text, "pest": scored.candidate.chunk.search_text}
    return all(lexicon.canonical(e.term) in places[e.kind] for e in query.entities if e.kind in places)


def named_problem(query: Query, quotes: Sequence[ScoredEvidence], lexicon: Lexicon) -> str:
    """Return the one disease or pest that the likeliest quote names, in its own words, or its heading; "" where the question has named one.

    The quote must say what it is; a name in passing or in a table that tells several apart is none.
    """
    if any(e.kind in PROBLEM_KINDS for e in query.entities):
        return ""
    best = max(quotes, key=lambda s: s.score)
    text, heading = headed_text(best.evidence, best.candidate), heading_of(best.evidence, best.candidate)
    names = {e.term: e.surface for e in lexicon.entities(text) if e.kind in PROBLEM_KINDS}
    if names:
        name = next(iter(names.values()))
        return name if len(names) == 1 and re.search(rf"{_SAYS_WHAT_IT_IS}{re.escape(name)}", text) else ""
    named = [e.surface for e in lexicon.entities(heading) if e.kind in PROBLEM_KINDS]
    return heading if named == [heading] and best.candidate.chunk.kind != "table" else ""


def notes_for(query: Query, quotes: Sequence[ScoredEvidence], ranked: Sequence[ScoredEvidence], indexes: Indexes,
              domain: Domain) -> list[Note]:
    """Return the notes of an answer, law first; `quotes` are what it quotes, withheld recipes among them."""
    texts = [headed_text(s.evidence, s.candidate) for s in quotes]
    said = "\n".join([query.standalone, *texts])
    crops = crops_of(query, quotes, domain.lexicon)
    notes = domain.law.notes(query.standalone, crops)
    asked = domain.law.find(query.standalone)
    others = "、".join(r.name for r in domain.law.find("\n".join(texts)) if r not in asked)
    notes += domain.law.notes(others, crops, most=_MOST_TOLD if not asked else 0)
    products = [e.term for e in domain.lexicon.entities(said) if e.kind == "product"]
    companions = product_notes(products, crops, lambda text, k: _lexical(text, k, indexes, domain.lexicon), domain.lexicon,
                               domain.law, said)
    quoted = {s.evidence.text for s in quotes}
    notes += [note for note in companions if not all(c.quote in quoted for c in note.citations)]
    return notes + contradictions(quotes, ranked[:_POOL], domain.lexicon, domain.lexicon.units)


def _lexical(text: str, k: int, indexes: Indexes, lexicon: Lexicon) -> list[Candidate]:
    hits = indexes.lexical.search(lexicon.tokens(text), k)
    return [candidate for hit in hits if (candidate := indexes.candidate(hit))]
