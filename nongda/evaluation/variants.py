"""Systems to compare, as data: each says what differs from the full one, and is built from shared models."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nongda.documents.chunk import CHUNKER_VERSION
from nongda.documents.identify import sha256_hex
from nongda.engine import ROOT, Engine, Models, TextEmbedder
from nongda.errors import UsageError
from nongda.evaluation.baselines import PairEmbedder, SimpleRag, WordReranker
from nongda.index.ingest import PassageEmbedder
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.models.generate import LockedGenerator
from nongda.models.manifest import load_manifest
from nongda.models.rerank import LateInteraction, Reranker, TokenCache
from nongda.records import AddEvent, Event, Turn
from nongda.settings import Settings, override

ABLATIONS = "ablations.toml"
_ALLOWED = {
    "splitter": ("embedder", "pairs", "window"), "reranker": ("late", "words", "none"),
    **dict.fromkeys(("terms", "aliases", "history", "simple"), (True, False)),
}
_CACHED_PASSAGES = 4000  # all passages of the corpus: the ablations rerank the same ones again and again


@dataclass(frozen=True, slots=True)
class Variant:
    """A named system; every field but the name and its words has the full system's value by default."""

    name: str
    about: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    terms: bool = True
    aliases: bool = True
    history: bool = True
    splitter: str = "embedder"  # embedder, pairs, window
    reranker: str = "late"  # late, words, none
    simple: bool = False


def load_variants(path: Path) -> dict[str, Variant]:
    """Read the ablation file. Raises UsageError for an unknown key or value."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        variants = {name: Variant(name, **values) for name, values in data.items()}
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"消融试验文件 {path} 无法读取（{error}）：请改正或恢复该文件") from error
    for variant in variants.values():
        for key, allowed in _ALLOWED.items():
            if getattr(variant, key) not in allowed:
                raise UsageError(f"消融试验文件 {path} 的 [{variant.name}] 里 {key} 的值不认识：可用的有 {allowed}")
        parts = variant.settings.values() if isinstance(variant.settings, dict) else (None,)
        if not all(isinstance(part, dict) for part in parts):
            raise UsageError(f"消融试验文件 {path} 的 [{variant.name}] 里 settings 应写成 {{ search = {{ keep = 1 }} }} 的样子")
    return variants


@dataclass(frozen=True, slots=True)
class Parts:
    """What all variants of one run share: loaded once."""

    base: Settings
    models: Models
    generator: LockedGenerator | None
    root: Path = ROOT


class RememberingEmbedder:
    """An embedder that embeds no sentence twice: systems that differ in one stage meet the same ones again."""

    def __init__(self, embedder: TextEmbedder) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32, L2-normalised."""
        return self._embedder.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32, L2-normalised."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, self._embedder.embed_queries(missing), strict=True))
        return np.stack([self._known[text] for text in texts])

    def token_vectors(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[NDArray[np.float32]]:
        """Return one (tokens, dimension) array a text."""
        return self._embedder.token_vectors(texts, kind)

    def token_spans(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[list[tuple[int, int]]]:
        """Return the character offsets of the same tokens."""
        return self._embedder.token_spans(texts, kind)


def share(engine: Engine, generate: bool) -> Parts:
    """Load the models of an engine for the variants; without `generate` no language model.

    Then times are not the point, and what was embedded once is kept; with it everything is as the reader has it.
    Raises UsageError when there is no room for the language model.
    """
    models = engine.models
    if generate:
        generator = engine.generator
        if generator is None:
            raise UsageError("内存不够，装不下语言模型：请关闭其他程序，或用 --profile lite，或加 --no-generate")
        return Parts(engine.settings, models, generator)
    embedder = RememberingEmbedder(models.embedder)
    tokens = TokenCache(embedder, _CACHED_PASSAGES)
    return Parts(engine.settings, Models(embedder, embedder, LateInteraction(tokens), tokens), None)


class System:
    """A variant that answers, over a knowledge base of its own."""

    def __init__(self, variant: Variant, parts: Parts, corpus: Path, work: Path) -> None:
        self.variant = variant
        self.settings = override(parts.base, variant.settings, f"{ABLATIONS} [{variant.name}]")
        self._parts = parts
        self._corpus = corpus
        domain = parts.root / "assets" / "domain"
        self._lexicon = Lexicon.load(domain, variant.terms, variant.aliases)
        models = Models(parts.models.embedder, self._splitter(), self._reranker(), parts.models.tokens)
        folder = work / f"knowledge-{self._knowledge_key()}"
        manifest = load_manifest(parts.root / "models" / "manifest.toml")
        self.engine = Engine(self.settings, Store(folder), manifest, self._lexicon, "lite", parts.root, models,
                             parts.generator)

    def close(self) -> None:
        """Close its knowledge base."""
        self.engine.close()

    def prepare(self) -> Iterator[AddEvent]:
        """Add the corpus to the knowledge base; quick where an earlier run has done it."""
        yield from self.engine.add(sorted(self._corpus.rglob("*.md")))

    def ask(self, question: str, history: Sequence[Turn]) -> Iterator[Event]:
        """Answer one question."""
        turns = history if self.variant.history else ()
        if self.variant.simple:
            return SimpleRag(self.engine, self._parts.generator).ask(question, turns)
        return self.engine.ask(question, turns)

    def _splitter(self) -> PassageEmbedder | None:
        choices: dict[str, PassageEmbedder | None] = {
            "embedder": self._parts.models.embedder, "pairs": PairEmbedder(), "window": None,
        }
        return choices[self.variant.splitter]

    def _reranker(self) -> Reranker | None:
        choices: dict[str, Reranker | None] = {
            "late": self._parts.models.reranker, "words": WordReranker(self._lexicon), "none": None,
        }
        return choices[self.variant.reranker]

    def _knowledge_key(self) -> str:
        """Variants whose passages are the same share a knowledge base."""
        files = [*sorted(self._corpus.rglob("*.md")), *sorted((self._parts.root / "assets" / "domain").iterdir())]
        contents = [sha256_hex(path.read_bytes()) for path in files]
        chosen = [self.variant.terms, self.variant.aliases, self.variant.splitter, dataclasses.asdict(self.settings.chunk),
                  self._parts.models.embedder.name, CHUNKER_VERSION, contents]
        return sha256_hex(json.dumps(chosen).encode())[:12]
