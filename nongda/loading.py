"""Loads the models, each once and when first asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nongda.answer.retrieve import QueryEmbedder
from nongda.documents.ocr import PageReader
from nongda.errors import WeightsError
from nongda.index.prepare import PassageEmbedder
from nongda.models.embed import Embedder
from nongda.models.fetch import locate
from nongda.models.generate import LlamaGenerator, LockedGenerator
from nongda.models.hardware import memory, physical_cores
from nongda.models.manifest import Manifest, Model
from nongda.models.rerank import LateInteraction, Reranker, TokenCache, TokenEmbedder
from nongda.settings import Settings

_PROFILES_BEST_FIRST = ("high", "standard", "lite")
_SPARE_MEMORY = 1_500_000_000  # bytes beside the model file: context, embedder, page


class TextEmbedder(PassageEmbedder, QueryEmbedder, TokenEmbedder, Protocol):
    """An embedding model for documents, questions and single tokens."""


@dataclass(frozen=True)
class Models:
    """The models of an engine but for the language model; engines that differ in something else share them."""

    embedder: TextEmbedder
    splitter: PassageEmbedder | None  # says where chunks end; None: windows of fixed length
    reranker: Reranker | None
    tokens: TokenCache  # of the same embedder


class Loader:
    """Holds a profile's models; safe to ask from several threads.

    Who brings `models` brings all of them: then a `generator` of None means to do without.
    """

    def __init__(self, manifest: Manifest, profile: str, weights: Path, settings: Settings, models: Models | None,
                 generator: LockedGenerator | None) -> None:
        self._manifest = manifest
        self._profile = profile
        self._weights = weights
        self._settings = settings
        self._loading = threading.Lock()
        self._models = models
        self._generator = generator
        self._reader: PageReader | None = None
        self._generator_loaded = models is not None

    @property
    def threads(self) -> int:
        """How many threads models use."""
        return self._settings.threads or physical_cores()

    def models(self) -> Models:
        """Return the models but for the language model. Raises WeightsError."""
        with self._loading:
            if self._models is None:
                model = self._manifest.select("lite" if self._profile == "auto" else self._profile).embedder
                embedder = Embedder.load(locate(model, self._weights), model.options, self.threads)
                tokens = TokenCache(embedder)
                self._models = Models(embedder, embedder, LateInteraction(tokens), tokens)
            return self._models

    def reader(self) -> PageReader:
        """Return what reads pictures of pages; its models load at the first page."""
        with self._loading:
            if self._reader is None:
                self._reader = PageReader(self.threads)
            return self._reader

    def generator(self) -> LockedGenerator | None:
        """Return the language model; None when this computer has no room for any that is here: then quotes serve."""
        with self._loading:
            if not self._generator_loaded:
                model = self._choose()
                if model is not None:
                    most = self._settings.answer.context
                    generator = LlamaGenerator(locate(model, self._weights), min(most, model.options.context or most), self.threads,
                                               self._settings.gpu_layers)
                    self._generator = LockedGenerator(generator)
                self._generator_loaded = True
            return self._generator

    def _choose(self) -> Model | None:
        if self._profile != "auto":
            return self._manifest.select(self._profile).generator
        present = [m for m in self._generators() if (self._weights / m.path).exists()]
        if not present:
            raise WeightsError("缺少语言模型：请运行 setup 命令取得")
        available = memory()[1]
        return next((m for m in present if m.bytes + _SPARE_MEMORY <= available), None)

    def _generators(self) -> list[Model]:
        """Return the pinned generators of the profiles, best first."""
        return [
            model for profile in _PROFILES_BEST_FIRST for model in self._manifest.models
            if model.role == "generator" and model.pinned and profile in model.profiles
        ]
