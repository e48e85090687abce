"""What documents speak of, kept in the data folder: reading it from the text takes seconds for a thousand passages.

A file of its own, not the knowledge base: it may be deleted at any time, and whatever is wrong with it only costs the
time to read the documents again.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from nongda.index.subject_reader import DocumentSubjects, Mention, Place, Subject

logger = logging.getLogger(__name__)
FILE_NAME = "subjects.cache"
_BUSY_SECONDS = 2
_PLACES: tuple[Place, ...] = ("title", "heading", "text")
Entry = tuple[str, str]  # fingerprint and content


class SubjectCache:
    """Contents by document id, each with the fingerprint of what it was read from."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def read(self, ids: Sequence[str]) -> dict[str, Entry]:
        """Return what is kept of these documents, at most a few hundred."""
        marks = ", ".join("?" * len(ids))
        found = self._query(f"SELECT id, fingerprint, content FROM subjects WHERE id IN ({marks})", ids)
        return {str(i): (str(fingerprint), str(content)) for i, fingerprint, content in found}

    def keep_only(self, ids: Iterable[str]) -> None:
        """Drop what is kept of other documents."""
        gone = {str(i) for i, in self._query("SELECT id FROM subjects", ())} - set(ids)
        self.write({}, gone)

    def write(self, entries: Mapping[str, Entry], gone: Iterable[str] = ()) -> None:
        """Keep these and drop those that are gone; a damaged file is made anew."""
        if not (entries or gone):
            return
        try:
            self._write(self._path, entries, gone)
        except sqlite3.OperationalError as error:  # locked by a second process, a full or read-only medium
            logger.info("%s not written: %s", self._path, error)
        except sqlite3.DatabaseError as error:
            logger.warning("%s is damaged (%s); made anew", self._path, error)
            self._make_anew(self._path, entries)

    def _query(self, sql: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        if not self._path.is_file():
            return []
        try:
            with closing(self._open(self._path)) as connection:
                return connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            logger.info("%s is not usable (%s)", self._path, error)
            return []

    def _make_anew(self, path: Path, entries: Mapping[str, Entry]) -> None:
        try:
            path.unlink()
            self._write(path, entries, ())
        except (OSError, sqlite3.Error) as error:
            logger.warning("%s not written: %s", path, error)

    def _write(self, path: Path, entries: Mapping[str, Entry], gone: Iterable[str]) -> None:
        with closing(self._open(path)) as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS subjects (id TEXT PRIMARY KEY, fingerprint TEXT, content TEXT)")
            connection.executemany("DELETE FROM subjects WHERE id = ?", [(i,) for i in gone])
            connection.executemany("INSERT OR REPLACE INTO subjects VALUES (?, ?, ?)", [(i, *e) for i, e in entries.items()])

    def _open(self, path: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(str(path), timeout=_BUSY_SECONDS)
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection


def to_content(piece: DocumentSubjects) -> str:
    """Return what takes long to read of a document, as JSON; chunks by their place in the document."""
    places = {chunk_id: n for n, chunk_id in enumerate(piece.search_texts)}
    mentions = {term: [[places[m.chunk_id], _PLACES.index(m.place), sorted(m.crops)] for m in where]
                for term, where in piece.mentions.items()}
    subjects = [[places[i], s.crops, s.diseases, s.pests, s.products] for i, s in piece.subjects.items()]
    beside = {crop: sorted(terms) for crop, terms in piece.beside.items()}
    return json.dumps([piece.main_crops, mentions, piece.kinds, subjects, beside, piece.text_beside], ensure_ascii=False,
                      separators=(",", ":"))


def from_content(content: str, doc_id: str, rest: DocumentSubjects) -> DocumentSubjects | None:
    """Return a document's piece: the content of `to_content` and the rest; None where the content is damaged."""
    ids = list(rest.search_texts)
    try:
        main_crops, mentions, kinds, subjects, beside, text_beside = json.loads(content)
        return DocumentSubjects(
            rest.title, tuple(main_crops), _mentions(mentions, doc_id, ids), kinds,
            {ids[n]: Subject(*(tuple(names) for names in found)) for n, *found in subjects},
            {crop: frozenset(terms) for crop, terms in beside.items()}, text_beside, rest.search_texts, rest.headings,
            rest.text)
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        logger.info("what is kept of %s is damaged (%s)", doc_id, error)
        return None


def _mentions(found: Mapping[str, Any], doc_id: str, ids: list[str]) -> dict[str, tuple[Mention, ...]]:
    scopes: dict[tuple[str, ...], frozenset[str]] = {}
    return {term: tuple(Mention(ids[n], doc_id, _PLACES[place], scopes.setdefault(tuple(crops), frozenset(crops)))
                        for n, place, crops in where) for term, where in found.items()}
