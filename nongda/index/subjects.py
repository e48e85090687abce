"""What the knowledge base speaks of: crops, and diseases, pests and products on which crop; joined of its documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from nongda.index.families import is_same_crop, is_same_problem
from nongda.index.subject_reader import (
    DocumentSubjects,
    Mention,
    Subject,
    named,
    read_document,
)
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.records import Chunk, StoredDocument

__all__ = ["Mention", "Subject", "Subjects", "named"]
_STRENGTH: Mapping[str, int] = {"title": 3, "heading": 2, "text": 1}


class Subjects:
    """An immutable index of what documents are about; made of one piece a document, by document id in their order."""

    def __init__(self, pieces: Mapping[str, DocumentSubjects]) -> None:
        self._titles = {i: piece.title for i, piece in pieces.items()}
        self._main_crops = {i: piece.main_crops for i, piece in pieces.items()}
        self._kinds: dict[str, str] = {}
        self._subjects: dict[str, Subject] = {}
        self._search_texts: dict[str, str] = {}
        mentions: dict[str, list[Mention]] = {}
        beside: dict[str, set[str]] = {}
        text_beside: dict[str, list[str]] = {}
        for piece in pieces.values():
            self._kinds.update(piece.kinds)
            self._subjects.update(piece.subjects)
            self._search_texts.update(piece.search_texts)
            for term, where in piece.mentions.items():
                mentions.setdefault(term, []).extend(where)
            for crop, terms in piece.beside.items():
                beside.setdefault(crop, set()).update(terms)
            for crop, text in piece.text_beside.items():
                text_beside.setdefault(crop, []).append(text)
        self._mentions = {term: tuple(where) for term, where in mentions.items()}
        self._beside = {crop: frozenset(terms) for crop, terms in beside.items()}
        self._text_beside = {crop: "\n".join(texts) for crop, texts in text_beside.items()}
        self._headings = "\n".join(sorted({h for piece in pieces.values() for h in piece.headings}))
        self._text = "\n".join(piece.text for piece in pieces.values() if piece.search_texts)

    @classmethod
    def of(cls, chunks: Iterable[Chunk], documents: Iterable[StoredDocument], lexicon: Lexicon) -> Subjects:
        """Read all chunks at once; about 0.8 s for a thousand."""
        texts: dict[str, list[Chunk]] = {}
        for chunk in chunks:
            texts.setdefault(chunk.doc_id, []).append(chunk)
        titles = {d.id: shown_title(d) for d in documents}
        return cls({i: read_document(titles.get(i, ""), texts.get(i, []), lexicon) for i in texts | titles})

    def speaks_of(self, term: str) -> bool:
        """Tell whether a term, or a kind of it, is named anywhere."""
        return bool(self.mentions(term))

    def mentions(self, term: str) -> list[Mention]:
        """Return where a term or a kind of it is named; a term the lexicon lacks is looked up in the words."""
        same = is_same_crop if self._kinds.get(term) == "crop" else is_same_problem
        return [m for other, where in self._mentions.items() if other == term or same(other, term) for m in where]

    def contains(self, words: str) -> bool:
        """Tell whether these very characters stand in a document (search form, white space left out)."""
        return "".join(search_form(words).split()) in self._text

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Tell whether a pattern stands in a document (search form, white space left out)."""
        return bool(pattern.search(self._text))

    def headed(self, words: str) -> bool:
        """Tell whether these very characters stand in a title or heading."""
        return words in self._headings

    def strength(self, term: str) -> int:
        """Return 3 for a term in a title or the main crop of a document, 2 for a heading, 1 for text, 0 for none."""
        main = any(is_same_crop(c, term) for crops in self._main_crops.values() for c in crops)
        return 3 if main else max((_STRENGTH[m.place] for m in self.mentions(term)), default=0)

    def pair(self, term: str, crop: str) -> list[Mention]:
        """Return where a term is named for a crop, or without any crop."""
        return [m for m in self.mentions(term) if not m.crops or any(is_same_crop(c, crop) for c in m.crops)]

    def terms_beside(self, crop: str) -> frozenset[str]:
        """Return the terms of all kinds that stand in the sentences, rows and headings that name a crop."""
        return frozenset().union(*(terms for other, terms in self._beside.items() if is_same_crop(other, crop)))

    def text_beside(self, crop: str) -> str:
        """Return the sentences and rows that name a crop, in search form."""
        return "\n".join(text for other, text in self._text_beside.items() if is_same_crop(other, crop))

    def text_of(self, chunk_ids: Iterable[str]) -> str:
        """Return these chunks as search sees them, with titles and headings."""
        return "\n".join(self._search_texts.get(i, "") for i in sorted(chunk_ids))

    def plain(self, crop: str) -> str:
        """Return the shortest name of the same crop that a document is about: 咖啡 for 小粒种咖啡."""
        return min((c for c in self.crops() if crop.endswith(c)), key=len, default=crop)

    def crops_with(self, term: str) -> list[str]:
        """Return the crops a disease, pest or product is named for; those with a heading or title of it first."""
        weights: Counter[str] = Counter()
        for mention in self.mentions(term):
            for crop in mention.crops:
                weights[crop] += _STRENGTH[mention.place] ** 3
        return [crop for crop, _ in sorted(weights.items(), key=lambda item: (-item[1], item[0]))]

    def diseases_of(self, crop: str) -> list[str]:
        """Return the diseases named for a crop, the most often named first."""
        return self._terms_of(crop, "disease")

    def pests_of(self, crop: str) -> list[str]:
        """Return the pests named for a crop, the most often named first."""
        return self._terms_of(crop, "pest")

    def _terms_of(self, crop: str, kind: str) -> list[str]:
        counts = {
            term: sum(any(is_same_crop(c, crop) for c in m.crops) for m in where)
            for term, where in self._mentions.items() if self._kinds[term] == kind
        }
        return sorted((t for t, n in counts.items() if n), key=lambda t: (-counts[t], t))

    def main_crops(self, doc_id: str) -> tuple[str, ...]:
        """Return the crops a document is about; none where it is about soil, products or the law."""
        return self._main_crops.get(doc_id, ())

    def crops(self) -> list[str]:
        """Return all crops that documents are about, by number of documents."""
        counts = Counter(crop for crops in self._main_crops.values() for crop in crops)
        return [crop for crop, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]

    def subject_of(self, chunk: Chunk) -> Subject:
        """Return what a chunk is about: its headings first, then its title, then its own text."""
        return self._subjects.get(chunk.id, Subject())

    def title(self, doc_id: str) -> str:
        """Return a document's title, or its file name."""
        return self._titles.get(doc_id, "")


def shown_title(document: StoredDocument) -> str:
    """Return a document's title, or its file name."""
    return document.meta.title or document.source
