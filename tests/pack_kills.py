"""Run as a process of its own: children are killed at one statement after another of adding and of undoing a pack.

Prints a JSON object: for each deed the number of its statements, and what each child left behind, "before" or "after".
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from functools import cache
from pathlib import Path

from nongda.index.packs import Packs
from nongda.index.prepare import Preparer
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units
from nongda.settings import ChunkSettings
from tests.conftest import HashEmbedder

POINTS = 8


@cache  # it reads a large dictionary
def lexicon() -> Lexicon:
    return Lexicon({"咖啡": "crop", "叶锈病": "disease", "天牛": "pest", "蚜虫": "pest"}, {}, Units({}), [])


def packs_of(folder: Path) -> Packs:
    store = Store(folder)
    return Packs(store, lexicon(), lambda words: Preparer(store, words, HashEmbedder(), None, ChunkSettings()), folder / "none")


def content(folder: Path) -> list[object]:
    packs = packs_of(folder)
    tables = ("SELECT id, state, superseded_by FROM documents WHERE state != 'removed' ORDER BY id", "SELECT id FROM packs",
              "SELECT id, search_text, tokens, length(vector) AS v FROM chunks WHERE tokens != '' ORDER BY id",
              "SELECT doc_id, length(data) AS n FROM originals ORDER BY doc_id", "SELECT * FROM own_words ORDER BY position")
    assert packs.store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    found: list[object] = [packs.store.rows(sql) for sql in tables]
    packs.store.close()
    return found


def do(folder: Path, pack: Path, deed: str, die_at: int = -1) -> int:
    """Add or undo; die before statement `die_at`. Returns the number of statements."""
    packs, count = packs_of(folder), 0

    def step(statement: str) -> None:
        nonlocal count
        count += 1
        if count == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    packs.store.rows("SELECT 1")
    packs.store._db.conn.set_trace_callback(step)
    if deed == "add":
        list(packs.add(packs.open(pack)))
    else:
        packs.undo()
    packs.store.close()
    return count


def in_child(folder: Path, pack: Path, deed: str, die_at: int = -1) -> int:
    """Add or undo in a child: the thread pools of libraries do not outlive a fork. Returns the number of statements."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, str(do(folder, pack, deed, die_at)).encode())
        os._exit(0)
    os.close(writing)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(reading, "rb") as pipe:
        count = pipe.read()
    assert code == (0 if count else -signal.SIGKILL) and bool(count) == (die_at < 0)
    return int(count or 0)


def left_behind(start: Path, pack: Path, deed: str) -> tuple[int, list[str], Path]:
    whole = start.with_name(f"{deed} whole")
    shutil.copytree(start, whole)
    statements = in_child(whole, pack, deed)
    ends = {"before": content(start), "after": content(whole)}
    assert ends["before"] != ends["after"]
    found = []
    for number in range(POINTS):
        folder = start.with_name(f"{deed} {number}")
        shutil.copytree(start, folder)
        in_child(folder, pack, deed, 1 + (statements - 1) * number // (POINTS - 1))
        now = content(folder)
        found.append(next((name for name, end in ends.items() if end == now), f"neither: {now}"))
        if found[-1] == "before":
            in_child(folder, pack, deed)
        assert content(folder) == ends["after"]
    return statements, found, whole


def main(station: Path, pack: Path) -> None:
    lexicon()
    added = left_behind(station, pack, "add")
    undone = left_behind(added[2], pack, "undo")
    sys.stdout.write(json.dumps({"add": added[:2], "undo": undone[:2]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
