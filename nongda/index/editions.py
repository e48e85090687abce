"""Which documents are one work: editions by title and date, near-duplicates by MinHash (Broder, 1997).

A newer edition takes the place of an older one where both have the same title but for years and edition marks, both are
dated, and neither authority nor region differ: two counties may give their notices the same name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from rensa import RMinHash

from nongda.index.store import Store
from nongda.language.text import fold
from nongda.records import DocumentMeta

LIKE = 0.8  # Jaccard likeness of shingles from which on the reader is told
_HASHES, _SEED = 128, 7
_MANY = 1 << 16  # titles remembered: each new document is compared with all
_SHINGLE = 5  # characters
_SHORTEST_TITLE = 4  # characters of a title that tells a work
_YEAR = r"(?:19|20)\d\d"
_MARKS = re.compile(
    rf"{_YEAR}\s*(?:年度?)?(?:\s*\d{{1,2}}\s*月(?:\s*\d{{1,2}}\s*日)?)?|第\s*[一二三四五六七八九十\d]+\s*[版次]|"
    r"[(（【\[]?(?:最新|修订|新|旧|试行|第?[一二三四五六七八九十\d]+版|修订版|修订稿|试行稿|更新版?)[)）】\]]")
_DATE = re.compile(rf"({_YEAR})(?:\D+(\d{{1,2}})(?!\d))?(?:\D+(\d{{1,2}})(?!\d))?")


@dataclass(frozen=True, slots=True)
class Known:
    """What is compared of a document that is searched."""

    id: str
    meta: DocumentMeta
    signature: bytes


@dataclass(frozen=True, slots=True)
class Standing:
    """What a new document is to those that are there.

    `supersedes` are older editions, `superseded_by` is a newer one, `similar` are others with nearly the same text, the
    likest first, with their likeness.
    """

    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    similar: tuple[tuple[str, float], ...] = ()


def signature_of(text: str) -> bytes:
    """Return the MinHash of a text's letters and digits: 128 little-endian uint32."""
    letters = "".join(c for c in fold(text) if c.isalnum())
    minhash = RMinHash(num_perm=_HASHES, seed=_SEED)
    minhash.update(sorted({letters[i : i + _SHINGLE] for i in range(max(1, len(letters) - _SHINGLE + 1))}))
    return np.array(minhash.digest(), dtype="<u4").tobytes()


def likeness(one: bytes, others: Sequence[bytes]) -> list[float]:
    """Return the estimated Jaccard likeness of a text to others by their signatures; 0 where one has none of this length."""
    length = 4 * _HASHES
    if len(one) != length:
        return [0.0] * len(others)
    rows = np.frombuffer(b"".join(other if len(other) == length else bytes(length) for other in others), dtype="<u4")
    same = (rows.reshape(len(others), _HASHES) == np.frombuffer(one, dtype="<u4")).mean(axis=1)
    return [float(share) if len(other) == length else 0.0 for share, other in zip(same, others, strict=True)]


@lru_cache(maxsize=_MANY)
def title_key(title: str) -> str:
    """Return what the editions of one work have in common in their titles; "" where a title tells too little."""
    key = "".join(c for c in _MARKS.sub("", fold(title)) if c.isalnum())
    return key if len(key) >= _SHORTEST_TITLE else ""


def edition_date(meta: DocumentMeta) -> tuple[int, ...]:
    """Return year, month and day of a document as far as it says them, else the year in its title, else ()."""
    for text in (meta.date, meta.title):
        match = _DATE.search(fold(text))
        if match:
            return tuple(int(part) for part in match.groups() if part)
    return ()


def known_documents(store: Store) -> list[Known]:
    """Return what is compared of all documents that are searched."""
    rows = store.rows("SELECT id, title, date, region, authority, signature FROM documents WHERE state = 'active'")
    return [Known(row["id"], DocumentMeta(row["title"], row["region"], row["date"], "", row["authority"]),
                  bytes(row["signature"] or b"")) for row in rows]


def standing(meta: DocumentMeta, signature: bytes, known: Sequence[Known], replaces: str = "") -> Standing:
    """Tell what a new document is to the known ones; `replaces` is the id of the document whose file it was, or ""."""
    older = [replaces] if any(other.id == replaces for other in known) else []
    newer = ""
    named = title_key(meta.replaces) if meta.replaces else ""
    for other in known:
        if other.id in older:
            continue
        if other.id == meta.replaces or (named and title_key(other.meta.title) == named):
            older.append(other.id)
        elif (order := _order(meta, other.meta)) > 0:
            older.append(other.id)
        elif order < 0 and not replaces:
            newer = other.id
    others = [other for other in known if other.id not in older and other.id != newer]
    shares = zip(others, likeness(signature, [other.signature for other in others]), strict=True)
    alike = sorted(((other.id, share) for other, share in shares if share >= LIKE), key=lambda pair: (-pair[1], pair[0]))
    return Standing(tuple(older), newer, tuple(alike))


def _order(meta: DocumentMeta, other: DocumentMeta) -> int:
    """Return 1 where the first is a newer edition of the other, -1 where it is an older one, else 0."""
    key = title_key(meta.title)
    if not key or key != title_key(other.title):
        return 0
    if any(a and b and a != b for a, b in ((meta.authority, other.authority), (meta.region, other.region))):
        return 0
    mine, theirs = edition_date(meta), edition_date(other)
    shared = min(len(mine), len(theirs))
    if not shared or mine[:shared] == theirs[:shared]:
        return 0
    return 1 if mine > theirs else -1
