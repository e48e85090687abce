"""The engine builds and wires everything once, and holds the one lock around the language model."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nongda.answer.answerer import Answerer
from nongda.answer.domain import Domain
from nongda.answer.look import Looked
from nongda.answer.plan import plan
from nongda.answer.retrieve import Indexes, Mode, retrieve
from nongda.answer.say import Parts
from nongda.answer.select import select
from nongda.answer.sentences import Passages
from nongda.answer.understand import understand
from nongda.checkup import checkup
from nongda.index.caches import Caches
from nongda.index.extract import FactExtractor
from nongda.index.facts import FactTable
from nongda.index.ingest import check_writer
from nongda.index.packs import Packs
from nongda.index.prepare import Preparer
from nongda.index.refresh import follow_words, refresh_facts
from nongda.index.reword import differing_forms, keep_own_words
from nongda.index.store import Store
from nongda.intake import AddEvent
from nongda.language.lexicon import Lexicon
from nongda.language.own_words import OwnWord
from nongda.language.text import search_form
from nongda.library import Library
from nongda.loading import Loader, Models, TextEmbedder
from nongda.models.generate import LockedGenerator
from nongda.models.hardware import check_cpu
from nongda.models.manifest import Manifest, load_manifest
from nongda.preparers import Preparers
from nongda.records import Candidate, Chunk, Event, SearchResult, StoredDocument, Turn
from nongda.settings import Settings

logger = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parent.parent


class Engine:
    """Everything the page and the command line can do. Open it once; close it at the end."""

    def __init__(self, settings: Settings, store: Store, manifest: Manifest, lexicon: Lexicon, profile: str,
                 root: Path, models: Models | None = None, generator: LockedGenerator | None = None) -> None:
        self.settings = settings
        self.data_dir = store.folder
        self._store = store
        self._shipped = self._lexicon = lexicon
        self._own_words: tuple[OwnWord, ...] = ()
        self._words_revision = -1
        self._profile = profile
        self._root = root
        self._loader = Loader(manifest, profile, root / "models" / "weights", settings, models, generator)
        self._preparers = Preparers(root / "assets" / "domain", settings, self._loader, store)
        self._caches = Caches(lexicon, settings.search, store.folder)
        self.library = Library(store, self._preparer, self._index_now)
        self.packs = Packs(store, lexicon, lambda words: self._preparers.preparer(store, words), root / "assets" / "keys")
        self._loading = threading.Lock()
        self._indexes: Indexes | None = None
        self._domain: Domain | None = None
        self._answering: Answerer | None = None
        self._follow_words()

    @classmethod
    def open(cls, settings: Settings, data_dir: Path, profile: str = "auto", root: Path = ROOT) -> Engine:
        """Open the data folder and the domain; loads no model yet.

        Raises StoreError, SettingsError or WeightsError with a sentence for the reader.
        """
        check_cpu()
        manifest = load_manifest(root / "models" / "manifest.toml")
        lexicon = Lexicon.load(root / "assets" / "domain")
        return cls(settings, Store(data_dir), manifest, lexicon, profile, root)

    def close(self) -> None:
        """Close the data folder."""
        self.library.stop_watching()
        self._caches.close()
        self._store.close()

    def _preparer(self, store: Store) -> Preparer:
        with self._loading:
            self._follow_words()
        return self._preparers.preparer(store, self._lexicon)

    # models

    def load(self) -> None:
        """Load the models and indexes now instead of at the first question (seconds)."""
        self._loader.models()
        self._loader.generator()
        self._current_indexes()

    @property
    def models(self) -> Models:
        """The models but for the language model, loaded when first asked for; another engine may share them."""
        return self._loader.models()

    @property
    def generator(self) -> LockedGenerator | None:
        """The language model, loaded when first asked for; None where this computer has no room for it."""
        return self._loader.generator()

    @property
    def lexicon(self) -> Lexicon:
        """The domain's words."""
        return self._lexicon

    @property
    def embedder(self) -> TextEmbedder:
        """The embedder in use, loaded when first asked for."""
        return self._loader.models().embedder

    def _follow_words(self) -> None:
        """Take over the station's own words where any process has changed them."""
        revision = self._store.revision()
        if revision != self._words_revision:
            self._words_revision, words = revision, tuple(self._store.own_words())
            if words != self._own_words:
                self._own_words, self._lexicon = words, self._shipped.with_own(words)
                self._caches.take_over(self._lexicon)
                self._indexes = self._domain = self._answering = None

    def _current_indexes(self) -> Indexes:
        """Return the caches, made anew when any process has changed the documents."""
        models = self._loader.models()
        with self._loading:
            self._follow_words()
            if self._indexes is None or self._indexes.revision != self._store.revision():
                check_writer(self._store, models.embedder)
                refresh_facts(self._store, self.fact_extractor())
                self._indexes = self._fresh_indexes(models.embedder.dimension)
            return self._indexes

    def _fresh_indexes(self, dimension: int) -> Indexes:
        revision, documents = self._store.revision(), self._store.active()
        found = self._caches.at(self._store.rows, documents, dimension)
        return Indexes(revision, found.lexical, found.vectors, {d.id: d for d in documents}, self._store.chunk,
                       found.subjects, self._store.facts())

    def _index_now(self, doc_id: str) -> None:
        """Read a new document into the caches, so that the next question has no pause."""
        document = self._store.document(doc_id)
        if document is not None:
            self._caches.prepare(self._store.rows, [document], self._loader.models().embedder.dimension)

    # questions

    def ask(self, question: str, history: Sequence[Turn] = (), stop: threading.Event | None = None,
            as_written: frozenset[str] = frozenset()) -> Iterator[Event]:
        """Answer one question: stages as they end, checked words, last the Answer.

        Words of `as_written` are searched as they stand, under no standard term.
        """
        answerer = self._answerer().taking_as_written(as_written) if as_written else self._answerer()
        yield from answerer.answer(question, history, self._current_indexes(), stop or threading.Event())

    def look(self, question: str, history: Sequence[Turn] = ()) -> Looked:
        """Return the sentences that may answer a question, with their features, without an answer."""
        return self._answerer().look_at(question, history, self._current_indexes())

    def _words(self) -> Domain:
        """Return the domain's data with the station's own words of today."""
        with self._loading:
            self._follow_words()
            if self._domain is None:
                self._domain = Domain.load(self._root / "assets" / "domain", self._lexicon)
            return self._domain

    def _answerer(self) -> Answerer:
        models, generator, domain = self._loader.models(), self._loader.generator(), self._words()
        with self._loading:
            if self._answering is None:
                passages = Passages(models.tokens, domain.lexicon, domain.asking)
                self._answering = Answerer(Parts(domain, models.embedder, models.tokens, passages, models.reranker,
                                                 generator, self.settings))
            return self._answering

    def search(self, question: str, mode: Mode = "hybrid", rerank: bool = True, k: int = 5) -> SearchResult:
        """Rank passages for a question as an answer finds them, without the language model and without an answer."""
        models, domain, settings = self._loader.models(), self._words(), self.settings
        indexes = self._current_indexes()
        spelling = domain.spelling if settings.has("spelling") else None
        query = understand(question, (), domain.lexicon, settings.answer, domain.asking, spelling)
        route = plan(query, indexes, models.embedder, domain, settings, None, threading.Event()) if mode == "hybrid" else None
        found: tuple[Candidate, ...] = ()
        timings: dict[str, float] = {}
        reranker = models.reranker if rerank else None
        for stage in retrieve(query, indexes, models.embedder, reranker, settings.search, mode, k, route):
            timings[stage.name] = round(stage.seconds, 4)
            found = stage.candidates or found
        return SearchResult(found[:k], timings)

    def answerable(self, question: str, history: Sequence[Turn] = ()) -> float:
        """Return how surely the passages answer a question: the gate's score, 0 where the gate opens."""
        return select(self.look(question, history).described, self._answerer().selector).gate

    # the station's own words

    def own_words(self) -> list[OwnWord]:
        """Return the station's own words in the reader's order."""
        return self._store.own_words()

    def set_own_words(self, rows: Sequence[OwnWord]) -> tuple[str, ...]:
        """Keep these rows as the station's own words; the next question uses them.

        Returns a sentence for each row that cannot be used and is left out. Raises StoreError.
        """
        self._store.check_writable()
        words, problems = self._shipped.check_own(rows)
        forms, before = differing_forms(self._store.own_words(), words), self.fact_extractor().version
        changed = self._shipped.with_own(words)
        keep_own_words(self._store, words, changed, lambda texts: self._loader.models().embedder.embed_passages(texts))
        follow_words(self._store, before, self._preparers.extractor(changed), forms)
        with self._loading:
            self._follow_words()
        return problems

    def lexicon_problems(self) -> tuple[str, ...]:
        """Return a sentence for each line of the word tables, shipped or own, that is not used."""
        return self._lexicon.problems

    def terms(self, part: str) -> list[str]:
        """Return at most 20 standard names that hold this part, those that begin with it first, shorter ones first."""
        form = search_form(part)
        found = [(not search_form(name).startswith(form), len(name), name) for name in self._lexicon.standard_names()
                 if form in search_form(name)]
        return [name for _, _, name in sorted(found)[:20]]

    # documents

    def note(self, name: str) -> str:
        """Return a note kept in the data folder, or ""."""
        return self._store.meta().get(name, "")

    def set_note(self, name: str, value: str) -> None:
        """Keep a note in the data folder."""
        self._store.set_note(name, value)

    def add(self, paths: Sequence[Path], stop: threading.Event | None = None) -> Iterator[AddEvent]:
        """Add files, and all files in folders, with progress and one report each; the next question uses them."""
        yield from self.library.add(paths, stop)

    def fact_extractor(self) -> FactExtractor:
        """Return what makes facts of passages, by the attributes of the domain."""
        return self._preparers.extractor(self._lexicon)

    def facts(self) -> FactTable:
        """Return the table of facts, made anew first where other rules or words made it."""
        refresh_facts(self._store, self.fact_extractor())
        return self._store.facts()

    def remove(self, doc_id: str, forget: bool = False) -> StoredDocument:
        """Remove a document; StoreError when there is none of this id."""
        return self.library.remove(doc_id, forget)

    def documents(self) -> list[StoredDocument]:
        """Return all documents but removed ones, oldest first."""
        return self._store.documents()

    def chunks_of(self, doc_id: str) -> list[Chunk]:
        """Return the passages of a document in reading order."""
        return self._store.chunks_of(doc_id)

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return the passage a citation names; an id from before a rebuild leads to where its text is now."""
        return self.library.chunk(chunk_id)

    def rebuild(self) -> Iterator[AddEvent]:
        """Make the knowledge base anew from its original files; until the end the old one stays as it is."""
        yield from self.library.rebuild()

    # state

    def doctor(self) -> dict[str, Any]:
        """Describe this installation: what is here, what is wrong, what to do."""
        return checkup(self._profile, self._store, self._loader, self._current_indexes, self._lexicon.problems)
