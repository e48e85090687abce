"""Many documents varied from the shipped ones, a small folder of every format, and what a knowledge base holds of them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from nongda.engine import ROOT
from nongda.index.store import Store

CROPS = "水稻 小麦 玉米 棉花 马铃薯 番茄 黄瓜 辣椒 茶树 柑橘 咖啡 甘蔗 烟草 大豆 花生".split()
MARKED = "魔芋"  # a crop of which one document alone speaks
_TABLES = {
    "documents": "SELECT id, sha256, text_sha256, source, title, region, date, stage, authority, pages, characters, state, "
                 "superseded_by, origin, edits, signature FROM documents WHERE state != 'removed' ORDER BY id",
    "originals": "SELECT doc_id, data FROM originals ORDER BY doc_id",
    "chunks": "SELECT id, doc_id, position, page, heading, kind, text, search_text, tokens, confidence, off_topic, search_sha, "
              "vector FROM chunks ORDER BY id",
    "facts": 'SELECT doc_id, chunk_id, subject, kind, crop, target, attribute, value, low, high, unit, condition, start, "end" '
             'FROM facts ORDER BY doc_id, chunk_id, start, "end", attribute, value, target, crop, condition',
    "pages": "SELECT * FROM pages ORDER BY doc_id, number",
}
Content = dict[str, dict[str, list[tuple[Any, ...]]]]  # table -> document -> its rows


@cache
def _paragraphs() -> tuple[str, ...]:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "assets" / "corpus").rglob("*.md"))]
    return tuple(p for text in texts for p in text.split("\n\n") if len(p) > 60 and not p.startswith(("---", "|")))


def marked_sentence(amount: int) -> str:
    return f"{MARKED}整地时每亩施腐熟有机肥{amount}公斤，然后深耕耙平，开好排水沟。"


def document(number: int, characters: int, marked: int = 0) -> str:
    """Return one document of about that many characters; with `marked`, a section with that amount for the marked crop."""
    chosen = random.Random(number)
    crop, parts, size = chosen.choice(CROPS), [], 0
    crop = MARKED if marked else crop
    while size < characters:
        paragraph = chosen.choice(_paragraphs())
        parts.append(f"## {chosen.choice(CROPS)}第{len(parts) + 1}节\n\n{paragraph}\n\n"
                     f"本节第{number}号补充：{crop}每亩用{chosen.randint(1, 99)}克，间隔{chosen.randint(3, 30)}天。")
        size += len(parts[-1])
    if marked:
        parts.insert(1, f"## {MARKED}整地\n\n{marked_sentence(marked)}")
    return f"# {crop}管理通知第{number:04d}号\n\n" + "\n\n".join(parts) + "\n"


def write_documents(folder: Path, count: int, characters: int, marked: int = -1, amount: int = 1234) -> None:
    """Write documents of half to one and a half times that many characters; number `marked` has the marked section."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        length = round(characters * random.Random(-number).uniform(0.5, 1.5))
        text = document(number, length, amount if number == marked else 0)
        (folder / f"通知{number:04d}.md").write_text(text, encoding="utf-8")


class NumberEmbedder:
    """Vectors drawn by the hash of the text: costs next to nothing, the same text has the same one."""

    name = "number-embedder"
    dimension = 384

    def embed_passages(self, texts: list[str]) -> np.ndarray:
        """Return (n, 384) float32, L2-normalised."""
        rows = [np.frombuffer(hashlib.shake_256(text.encode()).digest(384), np.uint8) for text in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(-1, 384) - 127.5
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def content(store: Store) -> Content:
    """Return all that a store holds of its documents; vectors stay bytes."""
    found: Content = {}
    for table, sql in _TABLES.items():
        rows: dict[str, list[tuple[Any, ...]]] = {}
        for row in store.rows(sql):
            rows.setdefault(str(row["id"] if table == "documents" else row["doc_id"]), []).append(tuple(row.values()))
        found[table] = rows
    return found


def differences(found: Content, wanted: Content, ids: set[str]) -> Iterator[str]:
    """Yield where documents of these ids differ; vectors may differ by what another batch rounds."""
    for table, rows in wanted.items():
        for doc_id in ids:
            ours, theirs = found[table].get(doc_id, []), rows.get(doc_id, [])
            if table == "chunks":
                vectors = [np.frombuffer(b"".join(row[-1] for row in side), "<f4") for side in (ours, theirs)]
                if vectors[0].shape != vectors[1].shape or not np.allclose(*vectors, atol=1e-4):
                    yield f"{table} of {doc_id}: other vectors"
                ours, theirs = [row[:-1] for row in ours], [row[:-1] for row in theirs]
            if ours != theirs:
                yield f"{table} of {doc_id}: {len(ours)} rows, wanted {len(theirs)}"


def orphans(found: Content) -> Iterator[str]:
    """Yield rows without their document and documents without their rows."""
    ids = set(found["documents"])
    for table in ("originals", "chunks", "facts", "pages"):
        if table != "pages" and table != "facts" and ids - set(found[table]):
            yield f"documents without {table}: {sorted(ids - set(found[table]))}"
        if set(found[table]) - ids:
            yield f"{table} without document: {sorted(set(found[table]) - ids)}"
