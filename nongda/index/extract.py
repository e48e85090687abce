"""Facts of a passage, by rules; what is not certain is left out. Start reading at `FactExtractor.facts_of`."""

from __future__ import annotations

import hashlib
import threading

from nongda.documents.pieces import heading_above, piece_spans
from nongda.index.attributes import Attributes
from nongda.index.extract_phrase import PhraseReader
from nongda.index.extract_sentence import SentenceReader
from nongda.index.extract_table import TableReader
from nongda.index.facts_by_model import ConstrainedWriter, facts_by_model
from nongda.index.names import Names
from nongda.index.places import Place
from nongda.language.lexicon import Lexicon
from nongda.records import Chunk, DocumentMeta, Fact

EXTRACTOR_VERSION = 1  # raise it with every change of the rules: stored facts are then made anew


class FactExtractor:
    """Makes facts of passages; not for two threads at once."""

    def __init__(self, lexicon: Lexicon, attributes: Attributes) -> None:
        self.attributes = attributes
        self._names = Names(lexicon, attributes.ignored, attributes.residues)
        self._sentences = SentenceReader(self._names, attributes)
        self._phrases = PhraseReader(self._names, attributes)
        self._tables = TableReader(self._names, attributes, self._sentences)
        words = repr((sorted(lexicon.standard_names().items()), sorted(lexicon.meanings().items())))
        digest = hashlib.sha256(f"{attributes.version}{words}".encode()).hexdigest()[:16]
        self.version = f"{EXTRACTOR_VERSION}-{digest}"  # of rules, attributes, units and words

    def facts_of(self, chunk: Chunk, meta: DocumentMeta) -> list[Fact]:
        """Return the facts of a chunk in the order of its text, each once."""
        found: list[Fact] = []
        for start, end in piece_spans(chunk.text, chunk.kind):
            place = self._place(chunk, meta, start, end)
            if chunk.kind == "table":
                found += self._tables.read(chunk.text, place)
            else:
                found += self._sentences.read(chunk.text[start:end], place)
                found += self._phrases.read(chunk.text[start:end], place)
        return list(dict.fromkeys(f for f in found if f.value.strip()))

    def facts_by_model(self, chunk: Chunk, meta: DocumentMeta, span: tuple[int, int], writer: ConstrainedWriter,
                       stop: threading.Event) -> list[Fact]:
        """Return the facts that a language model finds at a span of the chunk's text, as far as the text bears them out."""
        place = self._place(chunk, meta, *span)
        return facts_by_model(chunk.text[slice(*span)], place, writer, self._names, self.attributes, stop)

    def _place(self, chunk: Chunk, meta: DocumentMeta, start: int, end: int) -> Place:
        inner = heading_above(chunk.text, start) if chunk.kind != "table" else ""
        headings = tuple(h for h in (inner, *reversed(chunk.heading), meta.title) if h)
        crops = next((crops for h in headings if (crops := self._names.crops(h))), ())
        return Place(chunk.id, start, end, headings, crops)
