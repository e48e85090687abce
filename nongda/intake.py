"""The frozen values of a file on its way into the knowledge base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nongda.records import BlockKind, DocumentMeta

PageSource = Literal["text", "ocr", "unread"]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document in reading order; the heading path is outermost first."""

    text: str
    kind: BlockKind = "paragraph"
    page: int | None = None  # from 1: a page, slide or sheet; None where the format has none
    heading: tuple[str, ...] = ()
    confidence: float = 1.0  # least of the lines that recognition read; 1 where no recognition was needed


@dataclass(frozen=True, slots=True)
class PageReading:
    """How one page was read.

    `confidence` is the mean of its characters (0 to 1), None where the page has a text layer. `text` is what recognition
    read, "" where there was none. `note` says why the page is doubtful or was left out, "" where nothing is wrong.
    """

    number: int  # from 1
    source: PageSource
    confidence: float | None = None
    text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A file as blocks: what every parser returns. `readings` has every page of a format whose pages are seen."""

    meta: DocumentMeta
    blocks: tuple[Block, ...]
    pages: int | None = None
    warnings: tuple[str, ...] = ()
    readings: tuple[PageReading, ...] = ()
    printed: bool = True  # its pages are of paper, with headers and footers; those of a workbook are not


@dataclass(frozen=True, slots=True)
class PageTurned:
    """A page of a file has been read: `done` of `total`."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it has an id; `text` is the document's own words, `confidence` the least of its blocks."""

    text: str
    kind: BlockKind
    page: int | None
    heading: tuple[str, ...]
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file; `index` of `total` files, counted from 1. `left` is the time left for all, in seconds."""

    path: str
    status: Literal["added", "skipped", "failed"]
    message: str
    index: int
    total: int
    doc_id: str = ""
    chunks: int = 0
    characters: int = 0
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    embedded: int = 0  # chunks that went through the model; the others were known
    left: float | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Work inside one file: `done` of `total` pages read or chunks embedded; `index` of `files` files, counted from 1."""

    path: str
    done: int
    total: int
    index: int
    files: int
    stage: Literal["reading", "embedding"] = "embedding"
    left: float | None = None  # seconds for all files


AddEvent = Progress | FileReport
