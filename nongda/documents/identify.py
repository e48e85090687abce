"""Identities that are the same on every machine: of a file, of its text, of a chunk, of a citation."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from nongda.intake import Block
from nongda.language.text import fold

_ID = r"[0-9a-f]{8}#(?:0|[1-9][0-9]*)"
_CHUNK_ID = re.compile(r"([0-9a-f]{8})#(0|[1-9][0-9]*)")

CITATION = re.compile(rf"\[\s*({_ID}(?:\s*[;；,，、]\s*{_ID})*)\s*\]")
"""A citation in a text, `[docid#cid]`; group 1 holds one id or several, parted by ; ， or 、."""


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of the bytes as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file of any size as 64 hex digits; OSError when it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def document_id(data: bytes) -> str:
    """Return the id of a file: the first 8 hex digits of the SHA-256 of its bytes."""
    return sha256_hex(data)[:8]


def text_fingerprint(blocks: Iterable[Block]) -> str:
    """Return a hash of the words alone: the same text in another encoding or format has the same one.

    White space and character width do not count; each heading counts where it first appears.
    """
    pieces: list[str] = []
    path: tuple[str, ...] = ()
    for block in blocks:
        shared = 0
        while shared < min(len(path), len(block.heading)) and path[shared] == block.heading[shared]:
            shared += 1
        pieces.extend(block.heading[shared:])
        pieces.append(block.text)
        path = block.heading
    return sha256_hex("".join(fold("".join(pieces)).split()).encode("utf-8", "surrogatepass"))


def chunk_id(doc_id: str, position: int) -> str:
    """Return the id of the chunk at this position of the document."""
    return f"{doc_id}#{position}"


def parse_chunk_id(text: str) -> tuple[str, int] | None:
    """Return (document id, position), or None where the text is no chunk id."""
    match = _CHUNK_ID.fullmatch(text)
    return (match[1], int(match[2])) if match else None
