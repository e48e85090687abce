"""Run as a process of its own: children that add a folder are killed at one statement after another.

With `again`, it adds the folder once beside another process that does the same, and prints what was reported.
Else prints a JSON object: the number of statements, and what was wrong after each kill.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import cache
from pathlib import Path

from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer
from nongda.index.store import Store
from nongda.intake import FileReport
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units
from nongda.settings import ChunkSettings
from tests.conftest import HashEmbedder
from tests.updates_world import content, differences, orphans

POINTS = 12


@cache  # it reads a large dictionary
def lexicon() -> Lexicon:
    return Lexicon({"咖啡": "crop", "天牛": "pest"}, {}, Units({}), [])


def add(data: Path, sources: Path, die_at: int = -1, told: int = 1) -> int:
    """Add a folder, write a line for each report to `told`; die before statement `die_at`. Returns the statements."""
    store, count = Store(data), 0

    def step(statement: str) -> None:
        nonlocal count
        count += 1
        if count == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    store.rows("SELECT 1")
    store._db.conn.set_trace_callback(step)
    ingester = Ingester(Preparer(store, lexicon(), HashEmbedder(), None, ChunkSettings()))
    for event in ingester.add(sorted(sources.iterdir())):
        if isinstance(event, FileReport):
            os.write(told, f"{event.status} {event.doc_id}\n".encode())
    store.close()
    return count


def killed(data: Path, sources: Path, die_at: int) -> list[str]:
    """Add in a child that dies; return the ids that it reported."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        add(data, sources, die_at, writing)
        os._exit(0)
    os.close(writing)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    with open(reading, encoding="ascii") as pipe:
        return [line.split()[1] for line in pipe]


def main(folder: Path) -> None:
    sources, null = folder / "资料", os.open(os.devnull, os.O_WRONLY)
    statements = add(folder / "whole", sources, told=null)
    whole = Store(folder / "whole")
    wanted, wrong = content(whole), list[str]()
    for number in range(POINTS):
        data = folder / str(number)
        reported = killed(data, sources, 1 + (statements - 1) * number // (POINTS - 1))
        store = Store(data)
        found = content(store)
        ids = set(found["documents"])
        wrong += [*orphans(found), *differences(found, wanted, ids), *(f"{i} is lost" for i in set(reported) - ids)]
        wrong += [] if store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}] else ["integrity"]
        store.close()
        add(data, sources, told=null)
        store = Store(data)
        wrong += differences(content(store), wanted, set(wanted["documents"]))
        store.close()
    whole.close()
    sys.stdout.write(json.dumps({"statements": statements, "wrong": wrong}))


if __name__ == "__main__":
    if sys.argv[2:] == ["again"]:
        add(Path(sys.argv[1]) / "库", Path(sys.argv[1]) / "资料")
    else:
        main(Path(sys.argv[1]))
