"""Run as a process of its own: imports the program once, then forks a child for every command line it reads.

A line on standard input is a JSON object: `arguments` of app.py, `output` (a file for what it prints), `phase` (a file
whose first byte always says what the child does). The driver answers with the child's process id, then its exit code.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cv2  # noqa: F401  (imported once, before the forks: reading files imports them when they are needed)
import docx  # noqa: F401
import onnxruntime  # noqa: F401
import openpyxl  # noqa: F401
import pptx  # noqa: F401
import rapidocr  # noqa: F401

import nongda.index.ingest
import nongda.library
from nongda.cli import main
from nongda.documents.ocr import PageReader
from nongda.index.store import Store
from nongda.models.embed import Embedder

PHASES = ("start", "reading", "recognition", "embedding", "writing", "taking over")


class Phases:
    """Writes into the first byte of a file what the process does at the moment."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 1)

    @contextmanager
    def during(self, name: str) -> Iterator[None]:
        before = self._map[0]
        if PHASES[before] != "taking over":  # whatever is done in it belongs to it
            self._map[0] = PHASES.index(name)
        try:
            yield
        finally:
            self._map[0] = before

    def around(self, owner: Any, name: str, phase: str) -> None:
        """Say so for the time of a function."""
        inner = getattr(owner, name)

        def outer(*arguments: Any, **options: Any) -> Any:
            with self.during(phase):
                return inner(*arguments, **options)

        setattr(owner, name, outer)

    def from_here(self, owner: Any, name: str, phase: str) -> None:
        """Say so from the call of a function on."""
        inner: Callable[..., Any] = getattr(owner, name)

        def outer(*arguments: Any, **options: Any) -> Any:
            self._map[0] = PHASES.index(phase)
            return inner(*arguments, **options)

        setattr(owner, name, outer)

    def watch_writes(self) -> None:
        """Say so from the first statement of a write until it is committed."""
        inner = Store.write

        @contextmanager
        def write(store: Store) -> Iterator[Any]:
            with self.during("writing"), inner(store) as database:
                yield database

        Store.write = write  # type: ignore[method-assign]


def child(task: dict[str, Any]) -> None:
    output = os.open(task["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    phases = Phases(Path(task["phase"]))
    phases.watch_writes()
    phases.around(PageReader, "read", "recognition")
    phases.around(Embedder, "embed_passages", "embedding")
    phases.around(nongda.library, "take_over", "taking over")
    phases.from_here(nongda.index.ingest, "read_file", "reading")
    phases.from_here(nongda.library, "rebuild", "reading")
    sys.argv = ["app.py", *task["arguments"]]
    try:
        main()
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(int(end.code or 0))  # threads of libraries that were there before the fork cannot be ended here


def say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            child(json.loads(line))
        say(process)
        say(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
