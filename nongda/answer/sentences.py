"""What the selection needs to know of a passage's sentences; it depends on the passage alone and is kept.

A sentence's vectors are those of its tokens in the whole passage: there they have met its title and headings.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongda.answer.asked import Asking
from nongda.answer.evidence import headed_text, heading_of, split_evidence
from nongda.answer.instructions import quotable
from nongda.language.lexicon import Lexicon
from nongda.models.rerank import TokenCache
from nongda.records import Candidate, Evidence

_KEPT = 600  # passages
Names = frozenset[tuple[str, str]]  # (kind, standard term)
Amounts = frozenset[tuple[float, float, str]]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of evidence that stands alone: `text` with its table header, `near` also with its heading."""

    evidence: Evidence
    text: str
    near: str
    heading: frozenset[str]  # tokens
    tokens: frozenset[str]  # of `near`
    path_tokens: frozenset[str]  # of `near`, all headings and the title
    names: Names  # of `near`
    problems: Names  # diseases and pests of its heading
    amounts: Amounts
    vectors: NDArray[np.float16]  # (tokens, dimension)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage's sentences in reading order, with what they share."""

    sentences: tuple[Sentence, ...]
    tokens: frozenset[str]
    path: Names  # of title and headings
    title: Names


class Passages:
    """Takes passages apart, each once."""

    def __init__(self, tokens: TokenCache, lexicon: Lexicon, asking: Asking, size: int = _KEPT) -> None:
        self._tokens = tokens
        self._lexicon = lexicon
        self._asking = asking
        self._size = size
        self._kept: OrderedDict[tuple[str, str], Passage] = OrderedDict()

    def of(self, candidates: list[Candidate]) -> list[Passage]:
        """Return a passage for each candidate."""
        keys = [(c.chunk.id, c.chunk.search_text) for c in candidates]
        missing = [c for c, key in zip(candidates, keys, strict=True) if key not in self._kept]
        vectors = self._tokens.passages([c.chunk.search_text for c in missing])
        made = {(c.chunk.id, c.chunk.search_text): self._apart(c, found.vectors, found.spans)
                for c, found in zip(missing, vectors, strict=True)}
        passages = [made[key] if key in made else self._kept[key] for key in keys]
        for key, passage in zip(keys, passages, strict=True):
            self._kept[key] = passage
            self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return passages

    def _apart(self, candidate: Candidate, vectors: NDArray[np.float16], spans: tuple[tuple[int, int], ...]) -> Passage:
        chunk, title = candidate.chunk, candidate.document.meta.title
        path = " ".join((title, *chunk.heading))
        path_names, path_tokens = self._names(path), frozenset(self._lexicon.tokens(path))
        evidence = quotable(split_evidence(candidate), chunk.text)
        places = self._places(evidence, chunk.text, chunk.search_text)
        ends = np.array([end for _, end in spans])
        sentences = []
        for one, (start, end) in zip(evidence, places, strict=True):
            first, last = np.searchsorted(ends, (start, end), side="right")
            sentences.append(self._sentence(one, candidate, path_tokens, vectors[first : max(last, first + 1)]))
        return Passage(tuple(sentences), frozenset(self._lexicon.tokens(chunk.search_text)), path_names, self._names(title))

    def _sentence(self, evidence: Evidence, candidate: Candidate, path_tokens: frozenset[str],
                  vectors: NDArray[np.float16]) -> Sentence:
        text, heading = headed_text(evidence, candidate), heading_of(evidence, candidate)
        near = f"{heading}：{text}"
        last = heading if not candidate.chunk.heading else f"{heading} {candidate.chunk.heading[-1]}"
        tokens = frozenset(self._lexicon.tokens(near))
        problems = frozenset(n for n in self._names(last) if n[0] in ("disease", "pest"))
        amounts = frozenset((q.low, q.high, q.unit) for q in self._asking.units_of(text))
        return Sentence(evidence, text, near, frozenset(self._lexicon.tokens(heading)), tokens, tokens | path_tokens,
                        self._names(near), problems, amounts, vectors)

    def _names(self, text: str) -> Names:
        return frozenset((e.kind, e.term) for e in self._lexicon.entities(text))

    def _places(self, evidence: list[Evidence], text: str, search_text: str) -> list[tuple[int, int]]:
        """Return where each piece stands in the search text, which has other lengths than the text."""
        places: list[tuple[int, int]] = []
        cursor = 0
        for one in evidence:
            form = self._lexicon.canonical(text[one.start : one.end]).strip()
            start = search_text.find(form, cursor)
            if start < 0:  # a word that crosses the sentence's border was replaced: begin where the last one ended
                start = cursor
            cursor = start + len(form)
            places.append((start, cursor))
        return places
