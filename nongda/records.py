"""The frozen values that travel between stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["paragraph", "list", "table"]
AnswerKind = Literal["quoted", "checked", "computed", "refused", "question"]
NoteKind = Literal["law", "interval", "registered", "trust", "contradiction", "arithmetic", "checked"]
SURELY_READ = 0.9  # confidence of recognition from which on a passage needs no look at the picture
DocumentState = Literal["active", "superseded", "retired", "removed"]
Intent = Literal["fact", "how_to", "diagnosis", "comparison", "yes_no", "choice", "arithmetic"]


@dataclass(frozen=True, slots=True)
class DocumentMeta:
    """What a document says of itself; empty where it says nothing."""

    title: str = ""
    region: str = ""
    date: str = ""
    stage: str = ""
    authority: str = ""
    sample: bool = False
    sources: tuple[str, ...] = ()
    valid_until: str = ""  # the last day on which it holds, ISO 8601
    replaces: str = ""  # the title of what it takes the place of
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stored passage. `id` is `docid#cid`; `text` is shown and quoted, `search_text` is what search sees."""

    id: str
    doc_id: str
    position: int
    text: str
    search_text: str
    kind: BlockKind
    page: int | None
    heading: tuple[str, ...]
    confidence: float = 1.0  # of recognition, 1 where none was needed
    off_topic: bool = False  # speaks of nothing in the domain; ranked lower


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of the knowledge base, without its text. Only active ones are searched; all can be read by citation."""

    id: str
    source: str  # file name
    meta: DocumentMeta
    pages: int | None
    characters: int
    chunks: int
    added_at: str  # ISO 8601, UTC
    state: DocumentState = "active"
    superseded_by: str = ""  # the id of its newer edition
    warnings: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()  # ids of documents with nearly the same text
    origin: str = ""  # the pack or watched folder that brought it, "" where added by hand
    off_topic: int = 0  # chunks that speak of nothing in the domain
    doubtful: int = 0  # pages that recognition read badly, or not at all


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry of a ranking; a ranking is a list of hits, best first, ties by chunk id."""

    chunk_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk on its way to the answer; `ranks` counts from 1 and `scores` are raw, per channel that found it."""

    chunk: Chunk
    document: StoredDocument
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A term of the lexicon found in a question, under its standard name."""

    term: str
    kind: str
    surface: str  # as the reader wrote it


@dataclass(frozen=True, slots=True)
class Reading:
    """A word of the reader's taken for a standard term: an alias, a misspelling, pinyin, another language."""

    surface: str  # as the reader wrote it
    term: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or a range with its unit symbol; `start` and `end` are offsets in the text."""

    low: float
    high: float
    unit: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Query:
    """A question understood: `standalone` stands without the conversation, `canonical` is what search sees.

    `corrected` is the question as asked but for misspellings. `parts` are whole questions, one for each thing asked, ()
    for a single hop; `left` are those beyond what one answer takes up. `quantities` have their offsets in `standalone`.
    """

    original: str
    standalone: str
    canonical: str
    tokens: tuple[str, ...]
    entities: tuple[Entity, ...] = ()
    corrected: str = ""
    readings: tuple[Reading, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    intent: Intent = "fact"
    hops: int = 1
    parts: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """What one sentence, list item or table row says of one thing, cited like text.

    `subject` (of `kind`), `crop` and `target` (the disease or pest) are standard terms, "" where the text names none.
    `attribute` is a key of facts.toml; `value` and `condition` are verbatim. A quantity has `low`, `high` (infinite where
    open) and `unit`, others None, None and "". `start` and `end` are offsets in the chunk's text.
    """

    chunk_id: str
    subject: str
    kind: str
    crop: str
    target: str
    attribute: str
    value: str
    low: float | None
    high: float | None
    unit: str
    condition: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One sentence, list item or table row of a chunk; `start` and `end` are offsets in the chunk's text."""

    chunk_id: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation resolved for the reader; `quote` is verbatim from the chunk's text."""

    id: str
    doc: str
    source: str
    page: int | None
    heading: tuple[str, ...]
    quote: str
    authority: str = ""
    region: str = ""
    date: str = ""
    stage: str = ""
    remark: str = ""  # why the source may not fit the question, "" where it does


@dataclass(frozen=True, slots=True)
class Note:
    """What the reader must know beside the answer: a law, an interval, a contradiction; with its own citations."""

    kind: NoteKind
    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage has ended; `candidates` is filled when there is evidence to show, `ranking` has all chunk ids."""

    name: str
    seconds: float
    candidates: tuple[Candidate, ...] = ()
    ranking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the answer's text, already checked; all of them joined are the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer; `timings` are seconds per stage. Notes of kinds "law" and "trust" are shown before the text.

    `kind`: the document's own words, sentences checked against them, a figure computed, a refusal, a question back.
    """

    question: str
    standalone: str
    text: str
    refused: bool
    citations: tuple[Citation, ...] = ()
    evidence: tuple[Candidate, ...] = ()
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    stopped: bool = False
    kind: AnswerKind = "quoted"
    notes: tuple[Note, ...] = ()
    choices: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()


Event = Stage | Delta | Answer


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A ranking with the time of each stage in seconds."""

    candidates: tuple[Candidate, ...]
    timings: Mapping[str, float] = field(default_factory=dict)
