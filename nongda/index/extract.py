"""Facts of a passage, by rules; what is not certain is left out. Start reading at `FactExtractor.facts_of`."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Sequence

from nongda.documents.pieces import heading_above, piece_spans
from nongda.index.attributes import Attributes
from nongda.index.extract_checks import Checks
from nongda.index.extract_phrase import PhraseReader
from nongda.index.extract_sentence import SentenceReader
from nongda.index.extract_table import TableReader
from nongda.index.facts_by_model import ConstrainedWriter, facts_by_model
from nongda.index.names import Names
from nongda.index.places import Place
from nongda.language.lexicon import Lexicon
from nongda.records import Chunk, DocumentMeta, Fact

_MAIN_SHARE, _MAIN_RATE = 0.5, 0.1  # of all crop names, of all pieces
EXTRACTOR_VERSION = 4  # raise it with every change of the rules: stored facts are then made anew


class FactExtractor:
    """Makes facts of passages; not for two threads at once."""

    def __init__(self, lexicon: Lexicon, attributes: Attributes) -> None:
        self.attributes = attributes
        self._names = Names(lexicon, attributes.ignored, attributes.residues)
        self._sentences = SentenceReader(self._names, attributes)
        self._phrases = PhraseReader(self._names, attributes)
        self._tables = TableReader(self._names, attributes, self._sentences)
        self._checks = Checks(self._names, attributes)
        words = repr((sorted(lexicon.standard_names().items()), sorted(lexicon.meanings().items())))
        digest = hashlib.sha256(f"{attributes.version}{words}".encode()).hexdigest()[:16]
        self.version = f"{EXTRACTOR_VERSION}-{digest}"  # of rules, attributes, units and words

    def facts_of_document(self, chunks: Sequence[Chunk], meta: DocumentMeta) -> list[Fact]:
        """Return the facts of all chunks of a document in their order."""
        crops = self._main_crops(chunks, meta)
        return [fact for chunk in chunks for fact in self.facts_of(chunk, meta, crops)]

    def facts_of(self, chunk: Chunk, meta: DocumentMeta, crops: tuple[str, ...] = ()) -> list[Fact]:
        """Return the facts of a chunk in the order of its text, each once.

        `crops` are what its document is about where neither headings nor title name a crop.
        """
        found: list[tuple[Fact, Place]] = []
        for start, end in piece_spans(chunk.text, chunk.kind):
            place = self._place(chunk, meta, (start, end), crops)
            if chunk.kind == "table":
                facts = self._tables.read(chunk.text, place)
            else:
                piece = chunk.text[start:end]
                facts = self._sentences.read(piece, place) + self._phrases.read(piece, place)
            found += [(fact, place) for fact in facts if fact.value.strip()]
        return self._checks.passed(found, chunk)

    def facts_by_model(self, chunk: Chunk, meta: DocumentMeta, span: tuple[int, int], writer: ConstrainedWriter,
                       stop: threading.Event) -> list[Fact]:
        """Return the facts that a language model finds at a span of the chunk's text, as far as the text bears them out."""
        place = self._place(chunk, meta, span, ())
        return facts_by_model(chunk.text[slice(*span)], place, writer, self._names, self.attributes, stop)

    def _main_crops(self, chunks: Sequence[Chunk], meta: DocumentMeta) -> tuple[str, ...]:
        """Return the crop that most crop names of a document are, none where its title names one or none is in most.

        Names in few of the sentences decide nothing: a soil document with one rice field is not about rice.
        """
        if self._names.crops(meta.title):
            return ()
        pieces = [chunk.text[a:b] for chunk in chunks for a, b in piece_spans(chunk.text, chunk.kind)]
        counts = Counter(crop for piece in pieces for crop in self._names.crops(piece))
        crop, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
        is_main = count > _MAIN_SHARE * counts.total() and count >= _MAIN_RATE * len(pieces)
        return (crop,) if crop and is_main else ()

    def _place(self, chunk: Chunk, meta: DocumentMeta, span: tuple[int, int], crops: tuple[str, ...]) -> Place:
        inner = heading_above(chunk.text, span[0]) if chunk.kind != "table" else ""
        headings = tuple(h for h in (inner, *reversed(chunk.heading), meta.title) if h)
        named = next((found for h in headings if (found := self._names.crops(h))), crops)
        return Place(chunk.id, *span, headings, named)
