"""Where the text of old citations is now: id_map.json, written by each rebuild that moves text."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from nongda.errors import StoreError

_SHINGLE = 8  # characters; runs of this length are seldom in two passages
ID_MAP_NAME = "id_map.json"


def moved_ids(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Map each old chunk id (id -> text) whose text moved to the new id that holds most of its text.

    The same text comes first, then a chunk that holds all of it, then the most shared runs of characters; text
    that is nowhere any more is left out.
    """
    letters = {new_id: _letters(text) for new_id, text in new.items()}
    shingles = {new_id: _shingles(found) for new_id, found in letters.items()}
    moved: dict[str, str] = {}
    for old_id, text in old.items():
        if new.get(old_id) == text:
            continue
        own = _letters(text)
        wanted = _shingles(own)
        scores = {new_id: (found == own, own in found, len(wanted & shingles[new_id]))
                  for new_id, found in letters.items()}
        best = max(scores, key=lambda new_id: scores[new_id], default=None)
        if best is not None and any(scores[best]):
            moved[old_id] = best
    return moved


def _letters(text: str) -> str:
    return "".join(text.split())


def _shingles(letters: str) -> set[str]:
    return {letters[i : i + _SHINGLE] for i in range(max(1, len(letters) - _SHINGLE + 1))}


def write_id_map(folder: Path, entry: Mapping[str, object]) -> None:
    """Append one rebuild's map to id_map.json, atomically; old citations are resolved with it.

    The same map again is that of a rebuild that was cut short after writing it; it must not count twice.
    """
    path = folder / ID_MAP_NAME
    entries = read_id_map(folder)
    if entries and entries[-1]["map"] == entry["map"]:
        entries.pop()
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump([*entries, entry], file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_id_map(folder: Path) -> list[dict[str, object]]:
    """Return all rebuilds' maps, oldest first; each has `map` from old to new ids."""
    path = folder / ID_MAP_NAME
    if not path.exists():
        return []
    try:
        return [{**entry, "map": dict(entry["map"])} for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{path} 已损坏（{error}）：请改名或删除该文件，旧引用将不能再查") from error
