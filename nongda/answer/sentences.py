"""What the selection needs to know of a passage's sentences; it depends on the passage alone and is kept.

A sentence has two sets of token vectors: of itself behind its title and headings, which finds the right sentence
better, and of its place in the passage, which is there already from ranking.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nongda.answer.asked import Asking
from nongda.answer.evidence import headed_text, heading_of, split_evidence
from nongda.answer.instructions import quotable
from nongda.index.families import PROBLEM_KINDS
from nongda.language.lexicon import Lexicon
from nongda.models.rerank import PassageTokens, TokenCache
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
    problems: Names  # diseases and pests of the nearest heading that names any, or of the title
    amounts: Amounts
    vectors: NDArray[np.float16]  # (tokens, dimension), of the sentence by itself
    inside: NDArray[np.float16]  # the same of its tokens within the passage


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
        self._alone = TokenCache(tokens.embedder, 0)  # kept here, with the passage
        self._lexicon = lexicon
        self._asking = asking
        self._size = size
        self._kept: OrderedDict[tuple[str, str], Passage] = OrderedDict()

    def of(self, candidates: Sequence[Candidate]) -> list[Passage]:
        """Return a passage for each candidate."""
        keys = [(c.chunk.id, c.chunk.search_text) for c in candidates]
        missing = [c for c, key in zip(candidates, keys, strict=True) if key not in self._kept]
        made = dict(zip([(c.chunk.id, c.chunk.search_text) for c in missing], self._apart(missing), strict=True))
        passages = [made[key] if key in made else self._kept[key] for key in keys]
        for key, passage in zip(keys, passages, strict=True):
            self._kept[key] = passage
            self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return passages

    def _apart(self, candidates: Sequence[Candidate]) -> list[Passage]:
        pieces = [quotable(split_evidence(c), c.chunk.text) for c in candidates]
        texts = [self._lexicon.canonical(f"{_path(c)} {heading_of(e, c)}：{headed_text(e, c)}")
                 for c, evidence in zip(candidates, pieces, strict=True) for e in evidence]
        alone = iter(self._alone.passages(texts))
        whole = self._tokens.passages([c.chunk.search_text for c in candidates])
        return [self._passage(c, evidence, tokens, [next(alone).vectors for _ in evidence])
                for c, evidence, tokens in zip(candidates, pieces, whole, strict=True)]

    def _passage(self, candidate: Candidate, evidence: Sequence[Evidence], tokens: PassageTokens,
                 alone: Sequence[NDArray[np.float16]]) -> Passage:
        chunk, path = candidate.chunk, _path(candidate)
        path_tokens = frozenset(self._lexicon.tokens(path))
        ends = np.array([end for _, end in tokens.spans])
        sentences = []
        places = self._places(evidence, chunk.text, chunk.search_text)
        for one, (start, end), vectors in zip(evidence, places, alone, strict=True):
            first, last = np.searchsorted(ends, (start, end), side="right")
            inside = tokens.vectors[first : max(last, first + 1)]
            sentences.append(self._sentence(one, candidate, path_tokens, vectors, inside))
        return Passage(tuple(sentences), frozenset(self._lexicon.tokens(chunk.search_text)), self._names(path),
                       self._names(candidate.document.meta.title))

    def _sentence(self, evidence: Evidence, candidate: Candidate, path_tokens: frozenset[str],
                  vectors: NDArray[np.float16], inside: NDArray[np.float16]) -> Sentence:
        text, heading = headed_text(evidence, candidate), heading_of(evidence, candidate)
        near = f"{heading}：{text}"
        tokens = frozenset(self._lexicon.tokens(near))
        problems = self._problems_of([heading, *reversed(candidate.chunk.heading), candidate.document.meta.title])
        amounts = frozenset((q.low, q.high, q.unit) for q in self._asking.units_of(text))
        return Sentence(evidence, text, near, frozenset(self._lexicon.tokens(heading)), tokens, tokens | path_tokens,
                        self._names(near), problems, amounts, vectors, inside)

    def _problems_of(self, levels: Sequence[str]) -> Names:
        """Return the diseases and pests of the nearest level that names any: its own heading, those above, the title."""
        named = (frozenset(n for n in self._names(level) if n[0] in PROBLEM_KINDS) for level in levels)
        return next((names for names in named if names), frozenset())

    def _names(self, text: str) -> Names:
        return frozenset((e.kind, e.term) for e in self._lexicon.entities(text))

    def _places(self, evidence: Sequence[Evidence], text: str, search_text: str) -> list[tuple[int, int]]:
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


def _path(candidate: Candidate) -> str:
    return " ".join(part for part in (candidate.document.meta.title, *candidate.chunk.heading) if part)
