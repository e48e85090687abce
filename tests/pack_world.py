"""Packs made by hand for the tests."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nongda.index.pack import write_pack
from nongda.index.pack_manifest import Manifest, PackedDocument
from nongda.index.pack_sign import SecretKey, sign
from nongda.index.pack_zip import central_header, end_record, local_header

PROVINCE = SecretKey("试验省站", bytes(range(32)))
STRANGER = SecretKey("别处", bytes(32))
MADE_AT = "2026-05-01T08:00:00+00:00"


def packed(data: bytes, source: str = "锈病.md", **more: Any) -> PackedDocument:
    sha256 = hashlib.sha256(data).hexdigest()
    return PackedDocument(sha256[:8], source, sha256, **more)


def small_pack(path: Path, *texts: bytes, key: SecretKey = PROVINCE, **more: Any) -> Manifest:
    """Write a pack of these files without vectors."""
    documents = tuple(packed(text, f"资料{number}.md") for number, text in enumerate(texts))
    sources = {f"documents/{d.sha256}": (lambda text=text: text) for d, text in zip(documents, texts, strict=True)}
    return write_pack(path, Manifest("五月", MADE_AT, documents=documents, **more), sources, key)


def raw_zip(files: list[tuple[str, bytes]]) -> bytes:
    """Return a file of a pack's layout with any entries."""
    body, contents = b"", b""
    for path, data in files:
        crc = zlib.crc32(data)
        contents += central_header(path, len(data), crc, len(body))
        body += local_header(path, len(data), crc) + data
    return body + contents + end_record(len(files), len(contents), len(body))


def forged(manifest: Manifest | Mapping[str, Any], files: Mapping[str, bytes], key: SecretKey = PROVINCE) -> bytes:
    """Return a pack that is rightly signed, whatever its manifest says."""
    head = json.dumps(asdict(manifest) if isinstance(manifest, Manifest) else manifest).encode()
    return raw_zip([("manifest.json", head), ("manifest.sig", sign(head, key)), *files.items()])
