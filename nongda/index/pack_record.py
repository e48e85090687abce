"""Which packs were added, and what each of them changed, so that it can be undone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from nongda.index.store import Store
from nongda.language.own_words import OwnWord
from nongda.records import DocumentState


@dataclass(frozen=True, slots=True)
class Life:
    """Whether a document is searched, and by what it was superseded."""

    state: DocumentState
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class LifeChange:
    """What a pack made of a document that was there before."""

    id: str
    before: Life
    after: Life


@dataclass(frozen=True, slots=True)
class Description:
    """What people set of a document beside its file, and the entries concerned as they then read."""

    edits: Mapping[str, str]
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Redescription:
    """What a pack made of the description of a document that was there before."""

    id: str
    before: Description
    after: Description


@dataclass(frozen=True, slots=True)
class WordChange:
    """What a pack made of one alias; `before` is None where the station had no such word."""

    form: str
    before: OwnWord | None
    after: OwnWord


@dataclass(frozen=True, slots=True)
class Record:
    """What a pack held and what adding it changed. `documents` are all it holds, with their state at the maker's, `edits`
    what the maker set of them.
    """

    documents: Mapping[str, str] = field(default_factory=dict)
    edits: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    retire: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    lives: tuple[LifeChange, ...] = ()
    descriptions: tuple[Redescription, ...] = ()
    words: tuple[WordChange, ...] = ()
    words_before: tuple[OwnWord, ...] = ()
    words_after: tuple[OwnWord, ...] = ()


@dataclass(frozen=True, slots=True)
class AddedPack:
    """A pack that the station has added; times are ISO 8601, UTC."""

    id: str
    name: str
    made_at: str
    added_at: str
    signer: str
    record: Record


def added_packs(store: Store) -> list[AddedPack]:
    """Return the packs that were added and not undone, in the order in which they were added."""
    return [AddedPack(row["id"], row["name"], row["made_at"], row["added_at"], row["signer"], _record(json.loads(row["undo"])))
            for row in store.rows("SELECT * FROM packs ORDER BY added_at, rowid")]


def keep(store: Store, pack_id: str, name: str, made_at: str, signer: str, record: Record) -> None:
    """Write down, inside a write, that a pack was added."""
    with store.write() as db:
        db.table("packs").insert({
            "id": pack_id, "name": name, "made_at": made_at, "added_at": datetime.now(UTC).isoformat(), "signer": signer,
            "undo": _json(record)})


def rewrite(store: Store, pack_id: str, record: Record) -> None:
    """Put another record in the place of a pack's, inside a write."""
    with store.write() as db:
        db.table("packs").update(pack_id, {"undo": _json(record)})


def forget(store: Store, pack_id: str) -> None:
    """Drop a pack's record, inside a write."""
    with store.write() as db:
        db.table("packs").delete(pack_id)


def _json(record: Record) -> str:
    return json.dumps(asdict(record), ensure_ascii=False)


def _record(raw: Mapping[str, Any]) -> Record:
    return Record(
        dict(raw["documents"]), dict(raw["edits"]), tuple(raw["retire"]), tuple(raw["added"]),
        tuple(LifeChange(found["id"], Life(**found["before"]), Life(**found["after"])) for found in raw["lives"]),
        tuple(Redescription(d["id"], Description(**d["before"]), Description(**d["after"])) for d in raw["descriptions"]),
        tuple(WordChange(w["form"], OwnWord(**w["before"]) if w["before"] else None, OwnWord(**w["after"])) for w in raw["words"]),
        _words(raw["words_before"]), _words(raw["words_after"]))


def _words(raw: Sequence[Mapping[str, str]]) -> tuple[OwnWord, ...]:
    return tuple(OwnWord(**word) for word in raw)
