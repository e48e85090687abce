"""Systems to compare, as data: each says what differs from the full one, and is built from shared models."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nongda.documents.chunk import CHUNKER_VERSION
from nongda.documents.identify import sha256_hex
from nongda.engine import ROOT, Engine
from nongda.errors import UsageError
from nongda.evaluation.baselines import NearestSentences, PairEmbedder, SimpleRag, WordReranker
from nongda.index.prepare import PassageEmbedder
from nongda.index.store import Store
from nongda.intake import AddEvent
from nongda.language.lexicon import Lexicon
from nongda.loading import Models, TextEmbedder
from nongda.models.generate import LockedGenerator
from nongda.models.manifest import load_manifest
from nongda.models.rerank import LateInteraction, Reranker, TokenCache
from nongda.records import Event, Turn
from nongda.settings import OPTIONAL_STAGES, Settings, override

ABLATIONS = "ablations.toml"
_ALLOWED = {
    "splitter": ("embedder", "pairs", "window"), "reranker": ("late", "words", "none"),
    **dict.fromkeys(("terms", "aliases", "history", "simple", "generator"), (True, False)),
}
_SELECTOR = "selector.toml"
# What passages and their search texts are made with.
_PASSAGE_FILES = ("lexicon.tsv", "aliases.tsv", "units.toml", "stopwords.txt", "relevance.toml")


@dataclass(frozen=True, slots=True)
class Variant:
    """A named system; every field but the name and its words has the full system's value by default."""

    name: str
    about: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    stages_off: Sequence[str] = ()
    stages_on: Sequence[str] = ()
    terms: bool = True
    aliases: bool = True
    history: bool = True
    splitter: str = "embedder"  # embedder, pairs, window
    reranker: str = "late"  # late, words, none
    generator: bool = True  # False: without the language model
    selector: Mapping[str, Any] = field(default_factory=dict)  # sentence: weights, all others 0; cuts: those that differ
    sentences: int = 0  # over 0: as many sentences by plain likeness, without the other stages
    simple: bool = False


def load_variants(path: Path) -> dict[str, Variant]:
    """Read the ablation file. Raises UsageError for an unknown key or value."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        variants = {name: Variant(name, **values) for name, values in data.items()}
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"消融试验文件 {path} 无法读取（{error}）：请改正或恢复该文件") from error
    for variant in variants.values():
        where = f"消融试验文件 {path} 的 [{variant.name}] 里"
        for key, allowed in _ALLOWED.items():
            if getattr(variant, key) not in allowed:
                raise UsageError(f"{where} {key} 的值不认识：可用的有 {allowed}")
        if type(variant.sentences) is not int or variant.sentences < 0:
            raise UsageError(f"{where} sentences 应是句数，如 3")
        for key in ("stages_off", "stages_on"):
            stages = getattr(variant, key)
            if not isinstance(stages, (list, tuple)) or not OPTIONAL_STAGES.issuperset(map(str, stages)):
                raise UsageError(f"{where} {key} 应是一列能开关的步骤，可用的有 {'、'.join(sorted(OPTIONAL_STAGES))}")
        for key, example in (("settings", "search = { keep = 1 }"), ("selector", "sentence = { late = 1.0 }")):
            value = getattr(variant, key)
            if not isinstance(value, dict) or not all(isinstance(part, dict) for part in value.values()):
                raise UsageError(f"{where} {key} 应写成 {{ {example} }} 的样子")
    return variants


@dataclass(frozen=True, slots=True)
class Parts:
    """What all variants of one run share: loaded once."""

    base: Settings
    models: Models
    generator: LockedGenerator | None
    root: Path = ROOT


class RememberingEmbedder:
    """An embedder that embeds no sentence twice: systems that differ in one stage meet the same ones again.

    Token vectors of passages are kept in half precision, as the product keeps them (300 MB for 50 documents).
    """

    def __init__(self, embedder: TextEmbedder) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}
        self._tokens: dict[str, NDArray[np.float16]] = {}

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
        if kind == "query":
            return self._embedder.token_vectors(texts, kind)
        missing = [text for text in dict.fromkeys(texts) if text not in self._tokens]
        for text, vectors in zip(missing, self._embedder.token_vectors(missing, kind), strict=True):
            self._tokens[text] = vectors.astype(np.float16)
        return [self._tokens[text].astype(np.float32) for text in texts]

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
    tokens = TokenCache(embedder)
    return Parts(engine.settings, Models(embedder, embedder, LateInteraction(tokens), tokens), None)


class System:
    """A variant that answers, over a knowledge base of its own."""

    def __init__(self, variant: Variant, parts: Parts, corpus: Path, work: Path) -> None:
        self.variant = variant
        changes = {**variant.settings, "stages_off": variant.stages_off, "stages_on": variant.stages_on}
        self.settings = override(parts.base, changes, f"{ABLATIONS} [{variant.name}]")
        self._parts = parts
        self._corpus = corpus
        domain = parts.root / "assets" / "domain"
        root = _with_selector(parts.root, work / f"domain-{variant.name}", variant) if variant.selector else parts.root
        self._lexicon = Lexicon.load(domain, variant.terms, variant.aliases)
        models = Models(parts.models.embedder, self._splitter(), self._reranker(), parts.models.tokens)
        folder = work / f"knowledge-{self._knowledge_key()}"
        manifest = load_manifest(parts.root / "models" / "manifest.toml")
        self.engine = Engine(self.settings, Store(folder), manifest, self._lexicon, "lite", root, models,
                             parts.generator if variant.generator else None)

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
            return SimpleRag(self.engine, self.engine.generator).ask(question, turns)
        if self.variant.sentences:
            return NearestSentences(self.engine, self.variant.sentences).ask(question, turns)
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
        domain = self._parts.root / "assets" / "domain"
        files = [*sorted(self._corpus.rglob("*.md")), *(domain / name for name in _PASSAGE_FILES)]
        contents = [sha256_hex(path.read_bytes()) for path in files]
        chosen = [self.variant.terms, self.variant.aliases, self.variant.splitter, dataclasses.asdict(self.settings.chunk),
                  self._parts.models.embedder.name, CHUNKER_VERSION, contents]
        return sha256_hex(json.dumps(chosen).encode())[:12]


def _with_selector(root: Path, copy: Path, variant: Variant) -> Path:
    """Copy the domain's data into a folder of the run, with the variant's selector. Returns the copy's root.

    Raises UsageError for a weight or a cut that does not exist.
    """
    domain = copy / "assets" / "domain"
    shutil.copytree(root / "assets" / "domain", domain, dirs_exist_ok=True)
    learned = tomllib.loads((domain / _SELECTOR).read_text(encoding="utf-8"))
    unknown = [f"{part}.{name}" for part, values in variant.selector.items() for name in values if name not in learned.get(part, {})]
    if unknown:
        raise UsageError(f"{ABLATIONS} 的 [{variant.name}] 里 selector 有不认识的项：{'、'.join(unknown)}")
    changed = {part: {**values, **variant.selector.get(part, {})} for part, values in learned.items()}
    if "sentence" in variant.selector:
        changed["sentence"] = dict.fromkeys(learned["sentence"], 0.0) | variant.selector["sentence"]
    parts = ["\n".join([f"[{part}]", *(f"{name} = {float(value)}" for name, value in values.items())])
             for part, values in changed.items()]
    (domain / _SELECTOR).write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return copy
