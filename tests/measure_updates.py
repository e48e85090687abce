"""Measure how a knowledge base is kept up to date; each part prints a table to standard output.

    python tests/measure_updates.py one FOLDER [500]        one of so many documents changes: what is embedded, seconds
    python tests/measure_updates.py many FOLDER [1000]      so many documents: files a second, time left, stopped, gone on with
    python tests/measure_updates.py two FOLDER [60]         two processes at once
"""

from __future__ import annotations

import collections
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from updates_world import MARKED, NumberEmbedder, content, marked_sentence, orphans, write_documents

from nongda.engine import ROOT, Engine
from nongda.index.store import Store
from nongda.intake import AddEvent, FileReport
from nongda.language.lexicon import Lexicon
from nongda.loading import Models
from nongda.models.manifest import load_manifest
from nongda.settings import Settings

QUESTION = f"{MARKED}整地时每亩施多少有机肥"


class Counted:
    """An embedder that counts the texts that went through it."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.texts = inner, 0

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.texts += len(texts)
        return self.inner.embed_passages(texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def engine_of(data: Path, models: Models | None = None) -> Engine:
    """Open a knowledge base without a language model."""
    manifest, lexicon = load_manifest(ROOT / "models" / "manifest.toml"), Lexicon.load(ROOT / "assets" / "domain")
    return Engine(Settings(), Store(data), manifest, lexicon, "lite", ROOT, models)


def timed(work: Callable[[], Any]) -> tuple[Any, str]:
    """Return what it gives, and its time in words: a busy computer shows in the difference."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, f"{time.perf_counter() - wall:.2f} s ({time.process_time() - cpu:.2f} s of one core)"


def reports(events: Iterable[AddEvent]) -> list[FileReport]:
    return [event for event in events if isinstance(event, FileReport)]


def program(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-u", str(ROOT / "app.py"), *map(str, arguments), "--profile", "lite"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


# one of many documents changes

def one(folder: Path, count: int) -> int:
    """The folder is imported if it is not there yet; then its marked document changes, by `sync` and by `add`."""
    sources, data, marked = folder / "资料", folder / "知识库", count // 2
    if not sources.is_dir():
        write_documents(sources, count, 1000, marked)
    models = engine_of(data).models
    chunks, sentences = Counted(models.embedder), Counted(models.splitter)
    engine = engine_of(data, Models(chunks, sentences, models.reranker, models.tokens))
    print(f"import: {timed(lambda: reports(engine.library.sync(sources)))[1]}; {len(engine.library.documents())} documents")
    path = sources / f"通知{marked:04d}.md"
    text, wrong = path.read_text(encoding="utf-8"), 0
    print("| | texts embedded, of all its passages | sentences compared to cut it | until the report | next question | second |\n"
          "|---|---|---|---|---|---|\n"
          f"| before | | | | {timed(lambda: engine.search(QUESTION))[1]} | {timed(lambda: engine.search(QUESTION))[1]} |")
    text = re_amount(text)
    for name, amount, front in (("sync", 1777, ""), ("(sync)", 1800, "2024-03-05"), ("add", 1888, "2025-03-05")):
        old = next(c.chunk for c in engine.search(QUESTION).candidates if MARKED in c.chunk.text)
        path.write_text((f"---\ndate: {front}\n---\n\n" if front else "") + text.format(amount), encoding="utf-8")
        chunks.texts = sentences.texts = 0
        changed = engine.library.sync(sources) if "sync" in name else engine.library.add([path])
        (report,), until = timed(lambda events=changed: reports(events))
        counted = f"{chunks.texts} of {report.chunks} | {sentences.texts}"
        found, first = timed(lambda: engine.search(QUESTION))
        second = timed(lambda: engine.search(QUESTION))[1]
        shown = "".join(c.chunk.text for c in found.candidates)
        answer = list(engine.ask(QUESTION))[-1]
        kept = engine.library.chunk(old.id)
        good = (f"{amount}公斤" in shown and old.text not in shown and f"{amount}公斤" in answer.text  # type: ignore[union-attr]
                and kept is not None and kept.text == old.text)
        wrong += not good
        print(f"| {name}{'' if good else ' WRONG'} | {counted} | {until} | {first} | {second} |")
    engine.close()
    return wrong


def re_amount(text: str) -> str:
    """Return the text with {} for the amount of its marked sentence."""
    start = text.index(marked_sentence(0).split("0公斤")[0]) + len(marked_sentence(0).split("0公斤")[0])
    return text[:start] + "{}" + text[text.index("公斤", start):]


# many documents

def many(folder: Path, count: int) -> int:
    """Without a model, whose time is the same for each file: what grows with the knowledge base shows."""
    sources = folder / "资料"
    if not sources.is_dir():
        write_documents(sources, count, 1000)
        for number, data in enumerate((b"", b"PK\x03\x04 broken", b"%PDF-1.4 broken", b"\xff\xd8\xff broken")):
            (sources / f"通知{(number + 1) * count // 5:04d}坏{('.txt', '.docx', '.pdf', '.jpg')[number]}").write_bytes(data)
    models = Models(NumberEmbedder(), None, None, None)  # type: ignore[arg-type]
    for name in ("一口气", "分几次"):
        shutil.rmtree(folder / name, ignore_errors=True)
    engine = engine_of(folder / "一口气", models)
    _run_through(engine, sources)
    wanted = len(engine.library.documents())
    engine.close()
    engine = engine_of(folder / "分几次", models)
    wrong = _in_parts(engine, sources, wanted)
    engine.close()
    return wrong


def _run_through(engine: Engine, sources: Path) -> None:
    begun, cpu, seen = time.perf_counter(), time.process_time(), list[tuple[int, int, float, float | None]]()
    print("| files | ms of one core a file, of the last hundred | files/s of all | status so far |\n|---|---|---|---|")
    status: collections.Counter[str] = collections.Counter()
    for report in reports_until(engine.library.add([sources])):
        status[report.status] += 1
        seen.append((report.index, report.total, time.perf_counter() - begun, report.left))
        if report.index % 100 == 0:
            used, cpu = time.process_time() - cpu, time.process_time()
            print(f"| {report.index} | {10 * used:.1f} | {report.index / seen[-1][2]:.1f} | {dict(status)} |", flush=True)
    print_estimates(seen)


def print_estimates(seen: Sequence[tuple[int, int, float, float | None]]) -> None:
    """Print what the program said of the time left, and what it was."""
    print("\n| done | after | said to be left | was left |\n|---|---|---|---|")
    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        index, total, at, left = seen[round(share * len(seen)) - 1]
        print(f"| {index} of {total} | {at:.0f} s | {'-' if left is None else f'{left:.0f} s'} | {seen[-1][2] - at:.0f} s |")


def _in_parts(engine: Engine, sources: Path, wanted: int) -> int:
    """Stop at each third by the stop event; what was added before is skipped."""
    print("\n| run | added | skipped | failed | seconds from stop to end | seconds a skipped file |\n|---|---|---|---|---|---|")
    for number in range(1, 4):
        stop, stopped, status = threading.Event(), 0.0, collections.Counter[str]()
        skipping = time.perf_counter()
        for report in reports_until(engine.library.add([sources], stop)):
            status[report.status] += 1
            if report.status == "skipped":
                last_skip = time.perf_counter()
            if status["added"] >= wanted / 3 and number < 3 and not stop.is_set():
                stop.set()
                stopped = time.perf_counter()
        end = f"{time.perf_counter() - stopped:.2f}" if stopped else ""
        each = f"{(last_skip - skipping) / status['skipped']:.4f}" if status["skipped"] else ""
        print(f"| {number} | {status['added']} | {status['skipped']} | {status['failed']} | {end} | {each} |", flush=True)
    return int(len(engine.library.documents()) != wanted)


def reports_until(events: Iterable[AddEvent]) -> Iterator[FileReport]:
    yield from (event for event in events if isinstance(event, FileReport))


# two processes at once

def two(folder: Path, count: int) -> int:
    """A second process adds while one is open; two add the same folder at the same time; one is stopped by Ctrl+C."""
    shutil.rmtree(folder, ignore_errors=True)
    sources, data = folder / "资料", folder / "知识库"
    write_documents(sources, count, 800)
    shutil.copytree(sources, folder / "两份")
    print("| | |\n|---|---|")
    output, code = _interrupted(sources, data)
    done = output.count("：已添加")
    print(f"| Ctrl+C in `app.py add` after {done} files | exit {code}, {output.strip().splitlines()[-1]} |")
    engine = engine_of(data)
    wrong = int(len(engine.library.documents()) != done or list(orphans(content(engine._store))) != [])
    engine.search(QUESTION)
    (folder / "新.md").write_text(f"# {MARKED}整地施肥\n\n{marked_sentence(1999)}\n", encoding="utf-8")
    program("add", folder / "新.md", "--data", data).communicate()
    found, seconds = timed(lambda: engine.search(QUESTION))
    sees = "1999公斤" in "".join(c.chunk.text for c in found.candidates)
    print(f"| the next question in the open process after `app.py add` in another one | {'the new text' if sees else 'WRONG'}, {seconds} |")
    both = [program("add", path, "--data", data) for path in (sources, folder / "两份")]
    said = [(process.communicate()[0], process.returncode) for process in both]
    for text, code in said:
        counts = {word: text.count(word) for word in ("：已添加", "：已在知识库中", "locked", "正被另一个程序写入")}
        print(f"| `app.py add` beside another one of the same {count} texts | exit {code}, {counts} |")
    sources_now = [document.source for document in engine.library.documents()]
    wrong += (not sees) + (len(sources_now) != count + 1) + (len(set(sources_now)) != count + 1) + any(code for _, code in said)
    wrong += any("locked" in text or "正被另一个" in text for text, _ in said) + bool(list(orphans(content(engine._store))))
    print(f"| documents after it | {len(sources_now)} of {count + 1}, {len(engine.search(QUESTION).candidates)} passages found |")
    engine.close()
    return wrong


def _interrupted(sources: Path, data: Path) -> tuple[str, int]:
    process, lines = program("add", sources, "--data", data), []
    for line in process.stdout or ():
        lines.append(line)
        if "：已添加" in line and sum("：已添加" in each for each in lines) == 5:
            process.send_signal(signal.SIGINT)
    return "".join(lines), process.wait()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it, and so would children
    part, where, *numbers = sys.argv[1:]
    parts = {"one": (one, 500), "many": (many, 1000), "two": (two, 60)}
    sys.exit(parts[part][0](Path(where), int(numbers[0]) if numbers else parts[part][1]))
