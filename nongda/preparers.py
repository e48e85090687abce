"""What reads files into a store, made of the models and the domain's data of today."""

from __future__ import annotations

import threading
from pathlib import Path

from nongda.documents.ocr import PageReader
from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.index.prepare import Preparer
from nongda.index.relevance import Relevance
from nongda.index.scans import Scans
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.loading import Loader
from nongda.settings import Settings


class Preparers:
    """Makes preparers and fact extractors; what depends on the words alone is made once for each lexicon and thread.

    `kept` is the store that remembers what recognition read, also while another store is made anew.
    """

    def __init__(self, domain: Path, settings: Settings, loader: Loader, kept: Store) -> None:
        self._domain = domain
        self._settings = settings
        self._loader = loader
        self._kept = kept
        self._made = threading.local()  # a fact extractor serves one thread

    def preparer(self, store: Store, lexicon: Lexicon) -> Preparer:
        """Return what reads files into a store; loads the embedder. Raises WeightsError."""
        models = self._loader.models()
        extractor, relevance = self._by_words(lexicon)
        return Preparer(store, lexicon, models.embedder, models.splitter, self._settings.chunk, extractor, self._reader,
                        relevance.is_off_topic, _places(lexicon))

    def extractor(self, lexicon: Lexicon) -> FactExtractor:
        """Return what makes facts of passages, by the attributes of the domain."""
        return self._by_words(lexicon)[0]

    def _by_words(self, lexicon: Lexicon) -> tuple[FactExtractor, Relevance]:
        made = self._made.__dict__
        if made.get("lexicon") is not lexicon:
            made["parts"] = (FactExtractor(lexicon, Attributes.load(self._domain)), Relevance.load(self._domain, lexicon))
            made["lexicon"] = lexicon
        parts: tuple[FactExtractor, Relevance] = made["parts"]
        return parts

    def _reader(self, sha256: str) -> PageReader:
        reader = self._loader.reader()
        return reader.with_cache(Scans(self._kept, sha256, reader.name))


def _places(lexicon: Lexicon) -> frozenset[str]:
    return frozenset(name for name, kind in lexicon.standard_names().items() if kind == "place")
