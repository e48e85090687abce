"""What a knowledge pack says of itself, signed: its documents, their state and every file with size and sum."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_args

from nongda.documents.identify import sha256_hex
from nongda.errors import DocumentError
from nongda.index.life import EDITABLE
from nongda.records import DocumentMeta, DocumentState

FORMAT = 1
MANIFEST, SIGNATURE, WORDS = "manifest.json", "manifest.sig", "words.json"
_PATH = re.compile(r"words\.json|documents/[0-9a-f]{64}|vectors/[0-9a-f]{8}|scans/[0-9a-f]{64}\.json")
_DOC_ID, _SHA, _PACK_ID = re.compile(r"[0-9a-f]{8}"), re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in the pack."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PackedDocument:
    """A document in the pack; `edits` are what people set beside what the file says, `meta` is both together."""

    id: str
    source: str
    sha256: str
    text_sha256: str = ""  # of its words alone, as documents.identify makes it
    meta: DocumentMeta = field(default_factory=DocumentMeta)
    edits: Mapping[str, str] = field(default_factory=dict)
    state: DocumentState = "active"
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class Retired:
    """A document that the maker withdraws, whether it is in the pack or not."""

    id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The signed description. `id` is made of the content alone: neither of name, maker nor day."""

    name: str
    made_at: str  # ISO 8601, UTC
    maker: str = ""
    program: str = ""
    embedder: str = ""
    dimension: int = 0
    chunker: str = ""
    documents: tuple[PackedDocument, ...] = ()
    retire: tuple[Retired, ...] = ()
    words: int = 0
    entries: tuple[Entry, ...] = ()
    id: str = ""
    format: int = FORMAT


_OF_NO_CONTENT = ("id", "name", "made_at", "maker", "program")


def with_id(manifest: Manifest) -> Manifest:
    """Return the manifest with the id of its content."""
    content = {key: value for key, value in asdict(manifest).items() if key not in _OF_NO_CONTENT}
    return replace(manifest, id=sha256_hex(_json(content))[:16])


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return the manifest as it is signed."""
    return _json(asdict(manifest))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1).encode("utf-8") + b"\n"


def format_of(data: bytes) -> int:
    """Return the format that a manifest says it has, 0 where it says none."""
    try:
        found = json.loads(data)["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
    return found if type(found) is int else 0


def read_manifest(data: bytes, source: str) -> Manifest:
    """Return the manifest of the pack `source`. Raises DocumentError where it contradicts itself."""
    try:
        manifest = _manifest(json.loads(data))
        problem = _contradiction(manifest)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problem = f"目录无法读取（{type(error).__name__}）"
    if problem:
        raise DocumentError(f"{source} 的{problem}，没有添加：请省站用本程序重新制作知识包")
    return manifest


def _manifest(raw: dict[str, Any]) -> Manifest:
    documents = tuple(
        PackedDocument(**{**found, "meta": _meta(found["meta"])}) for found in raw["documents"])
    manifest = Manifest(**{
        **raw, "documents": documents, "entries": tuple(Entry(**found) for found in raw["entries"]),
        "retire": tuple(Retired(**found) for found in raw["retire"]),
    })
    for record in (manifest, *manifest.entries, *manifest.documents, *manifest.retire):
        _check_types(record)
    return manifest


def _meta(raw: Mapping[str, Any]) -> DocumentMeta:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
    meta = DocumentMeta(**values)
    _check_types(meta)
    return meta


def _check_types(record: Any) -> None:  # noqa: ANN401
    """Raise TypeError where a field of text, number or truth holds something else."""
    wanted = {"str": str, "int": int, "bool": bool, "tuple[str, ...]": tuple, "Mapping[str, str]": dict}
    for column in fields(record):
        value, kind = getattr(record, column.name), wanted.get(str(column.type))
        if kind is not None and type(value) is not kind:
            raise TypeError(column.name)
        if isinstance(value, tuple) and column.type == "tuple[str, ...]" and not all(type(part) is str for part in value):
            raise TypeError(column.name)


def _contradiction(manifest: Manifest) -> str:
    """Return what is wrong with a manifest, "" where nothing is."""
    paths = [entry.path for entry in manifest.entries]
    ids = [document.id for document in manifest.documents]
    documents = {f"documents/{d.sha256}" for d in manifest.documents}
    if with_id(manifest).id != manifest.id or not _PACK_ID.fullmatch(manifest.id):
        return "编号与内容不符"
    if any(not _PATH.fullmatch(path) for path in paths):
        return f"目录里有不该有的文件名 {next(p for p in paths if not _PATH.fullmatch(p))!r}"
    if len(set(paths)) < len(paths) or len(set(ids)) < len(ids):
        return "目录里有重复的文件"
    if documents != {path for path in paths if path.startswith("documents/")} or (manifest.words > 0) != (WORDS in paths):
        return "目录与文件对不上"
    if any(path.split("/")[1] not in ids for path in paths if path.startswith("vectors/")):
        return "目录里有不属于任何资料的向量"
    if any(path.split("/")[1][:64] not in {d.sha256 for d in manifest.documents} for path in paths if path.startswith("scans/")):
        return "目录里有不属于任何资料的扫描页"
    if any(entry.size < 0 or not _SHA.fullmatch(entry.sha256) for entry in manifest.entries):
        return "目录里有不对的大小或校验码"
    return _bad_document(manifest.documents, manifest.retire)


def _bad_document(documents: Sequence[PackedDocument], retire: Sequence[Retired]) -> str:
    for document in documents:
        if not _DOC_ID.fullmatch(document.id) or document.sha256[:8] != document.id:
            return f"资料 {document.source} 的编号与内容不符"
        if document.source in ("", ".", "..") or set(document.source) & set("/\\\0"):
            return f"资料文件名 {document.source!r} 不能用"
        if document.state not in get_args(DocumentState) or document.state == "removed":
            return f"资料 {document.source} 的状态“{document.state}”不认识"
        if not set(document.edits) <= set(EDITABLE) or not all(type(value) is str for value in document.edits.values()):
            return f"资料 {document.source} 的修改项不认识"
        if document.superseded_by and not _DOC_ID.fullmatch(document.superseded_by):
            return f"资料 {document.source} 的新版编号不对"
    if any(not _DOC_ID.fullmatch(one.id) for one in retire):
        return "停用名单里有不对的编号"
    return ""
