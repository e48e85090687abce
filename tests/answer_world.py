"""A small world for the answer layer's tests: candidates made by hand, indexes over them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from conftest import ROOT, HashEmbedder
from test_fact_search import table_of

from nongda.answer.answerer import Answerer
from nongda.answer.domain import Domain
from nongda.answer.features import FEATURES
from nongda.answer.retrieve import Indexes
from nongda.answer.say import Parts
from nongda.answer.select import CUTS, GATE, Selector
from nongda.answer.sentences import Passages
from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.index.lexical import LexicalIndex
from nongda.index.subjects import Subjects
from nongda.index.vectors import VectorIndex
from nongda.language.lexicon import Lexicon
from nongda.models.generate import LockedGenerator
from nongda.models.rerank import TokenCache
from nongda.records import Answer, Candidate, Chunk, DocumentMeta, Event, StoredDocument, Turn
from nongda.settings import AnswerSettings, Settings, override


def make_candidate(lexicon: Lexicon, text: str, chunk_id: str = "aaaaaaaa#0", title: str = "咖啡叶锈病",
                   heading: tuple[str, ...] = (), kind: str = "paragraph", score: float = 1.0,
                   dense: float = 1.0, **meta: str) -> Candidate:
    """Return a candidate whose search text is made as ingestion makes it."""
    doc_id = chunk_id.split("#")[0]
    search_text = lexicon.canonical(" ".join((title, *heading)) + "\n" + text)
    chunk = Chunk(chunk_id, doc_id, int(chunk_id.split("#")[1]), text, search_text, kind, None, heading)
    document = StoredDocument(doc_id, f"{title}.md", DocumentMeta(title=title, **meta), None, len(text), 1, "2026-01-01")
    return Candidate(chunk, document, score, {"dense": 1}, {"dense": dense})


def make_indexes(candidates: Sequence[Candidate], lexicon: Lexicon, embedder) -> Indexes:
    """Return indexes over the candidates' chunks."""
    chunks = {c.chunk.id: c.chunk for c in candidates}
    texts = [c.search_text for c in chunks.values()]
    vectors = embedder.embed_passages(texts) if texts else np.zeros((0, embedder.dimension), dtype=np.float32)
    tokens = [(c.id, lexicon.tokens(c.search_text)) for c in chunks.values()]
    return Indexes(1, LexicalIndex(tokens, 1.5, 0.75),
                   VectorIndex(None, list(chunks), list(range(len(chunks))), vectors, 1000),
                   {c.document.id: c.document for c in candidates}, chunks.get,
                   Subjects.of(chunks.values(), [c.document for c in candidates], lexicon))


def make_selector(weights: dict[str, float], gate: dict[str, float] | None = None, **cuts: float) -> Selector:
    """Return a selector with weights and CUTS set by hand; all others are 0, and the gate is open unless it is given."""
    chosen = {**dict.fromkeys(CUTS, 0.0), "facet_share": 0.5, "same_passage": 0.2, "another": 0.8, **cuts}
    return Selector(np.array([weights.get(name, 0.0) for name in FEATURES]),
                    np.array([(gate or {}).get(name, 0.0) for name in GATE]), **chosen)


WORDS = make_selector({"words_near": 10.0, "values": 1.0})  # by shared words, so that learning anew changes no test


def make_domain(lexicon: Lexicon, selector: Selector = WORDS) -> Domain:
    """Return the product's domain with these words and a selector by hand."""
    return replace(Domain.load(ROOT / "assets" / "domain", lexicon), selector=selector)


def make_answerer(domain: Domain, generator=None, stages_off: Sequence[str] = (), **options) -> Answerer:
    """Return an answerer without weights; `options` are AnswerSettings, a generator is locked as the engine locks it."""
    embedder = HashEmbedder()
    tokens = TokenCache(embedder)
    locked = LockedGenerator(generator) if generator is not None else None
    return Answerer(Parts(domain, embedder, tokens, Passages(tokens, domain.lexicon, domain.asking), None, locked,
                          override(Settings(answer=AnswerSettings(**options)), {"stages_off": list(stages_off)}, "test")))


def events_of(domain: Domain, question: str, candidates: Sequence[Candidate], generator=None, history: Sequence[Turn] = (),
              stop: threading.Event | None = None, as_written: frozenset[str] = frozenset(), with_facts: bool = False,
              **options) -> list[Event]:
    """Return all events of one question over these passages; `with_facts`: with what is read from them as facts."""
    answerer = make_answerer(domain, generator, **options)
    answerer = answerer.taking_as_written(as_written) if as_written else answerer
    indexes = make_indexes(candidates, domain.lexicon, HashEmbedder())
    if with_facts:
        extractor = FactExtractor(domain.lexicon, Attributes.load(ROOT / "assets" / "domain"))
        facts = [fact for c in candidates for fact in extractor.facts_of(c.chunk, c.document.meta)]
        indexes = replace(indexes, facts=table_of(facts))
    return list(answerer.answer(question, history, indexes, stop or threading.Event()))


def ask(domain: Domain, question: str, candidates: Sequence[Candidate], generator=None, **options) -> Answer:
    """Return the answer to one question over these passages."""
    answer = events_of(domain, question, candidates, generator, **options)[-1]
    assert isinstance(answer, Answer)
    return answer
