"""Kill the program at random moments of `add`, `sync` and `rebuild`, and look at what is left each time.

    python tests/measure_kills.py FOLDER [add=50] [sync=20] [rebuild=20] [real=5]     the table goes to standard output

The command line runs in children of a driver that has imported the program once; `real` more kills of `add` hit
`python app.py` itself. A kill waits until the child does what it is to be hit in, then a random time. After each:
integrity check, every document that was reported is there as an uninterrupted run stores it, nothing stands half, search
finds it. At last the run goes on to its end and must give the same.
"""

from __future__ import annotations

import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from intake_world import files, sentence, write
from updates_world import Content, content, differences, document, orphans

from nongda.engine import ROOT, Engine
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.loading import Models
from nongda.models.manifest import load_manifest
from nongda.settings import Settings

PHASES = ("start", "reading", "recognition", "embedding", "writing", "taking over")  # as kill_driver.py writes them
STATE = 11  # column of the documents in updates_world
_MOMENT = 0.02  # seconds of a random wait inside a phase
_LONGEST = 300.0  # seconds of one run on a busy computer


class Driver:
    """Runs command lines of the program in forked children, one at a time."""

    def __init__(self, folder: Path) -> None:
        self.output, self.phase = folder / "output.txt", folder / "phase"
        self.phase.write_bytes(b"\0")
        self._process = subprocess.Popen([sys.executable, str(TESTS / "kill_driver.py")], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)

    def start(self, *arguments: object) -> int:
        self.output.write_text("")
        self.phase.write_bytes(b"\0")
        task = {"arguments": [str(a) for a in arguments], "output": str(self.output), "phase": str(self.phase)}
        print(json.dumps(task), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def end(self) -> int:
        """Wait for the child; return its exit code, below 0 where it was killed."""
        return int(self._process.stdout.readline())

    def run(self, *arguments: object) -> int:
        self.start(*arguments)
        return self.end()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()

    def reported(self) -> set[str]:
        """Return the ids of the documents that the output says are stored; the last line may be cut off."""
        lines = self.output.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        return {line[:8] for line in lines if "：已添加" in line or "：已在知识库中" in line or "：已恢复使用" in line}

    def phase_now(self) -> str:
        return PHASES[self.phase.read_bytes()[0]]


class Looker:
    """Looks at a knowledge base as a second process: one set of models serves all looks."""

    def __init__(self) -> None:
        self._models: Models | None = None
        self._lexicon = Lexicon.load(ROOT / "assets" / "domain")

    def look(self, data: Path, wanted: list[Content], confirmed: set[str], questions: dict[str, str]) -> list[str]:
        """Return what is wrong; [] where all is well."""
        store = Store(data)
        engine = Engine(Settings(), store, load_manifest(ROOT / "models" / "manifest.toml"), self._lexicon, "lite", ROOT,
                        self._models)
        try:
            wrong = [] if store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}] else ["integrity check"]
            found = content(store)
            ids = set(found["documents"])
            wrong += [f"confirmed and not there: {sorted(confirmed - ids)}"] if confirmed - ids else []
            wrong += [*orphans(found), *half_replaced(found, wanted[0])]
            wrong += [first for i in ids if all(found_ := [list(differences(found, one, {i})) for one in wanted])
                      for first in found_[0][:1]]
            wrong += [f"counted otherwise: {d.id}" for d in store.documents() if d.chunks != len(found["chunks"][d.id])]
            asked = sorted(ids & set(questions))
            if asked:
                doc_id = random.choice(asked)
                self._models = engine.models
                hits = [c.chunk.doc_id for c in engine.search(questions[doc_id]).candidates]
                wrong += [] if doc_id in hits else [f"search does not find {doc_id}: {hits}"]
            return wrong
        finally:
            engine.close()


def half_replaced(found: Content, wanted: Content) -> Iterator[str]:
    """Yield documents that are searched beside the one that takes their place."""
    for doc_id, rows in wanted["documents"].items():
        state, newer = rows[0][STATE], rows[0][STATE + 1]
        if state == "superseded" and newer in found["documents"] and found["documents"][doc_id][0][STATE] == "active":
            yield f"{doc_id} is searched beside its new edition {newer}"


def strike(driver: Driver, process: int, target: str, after: int) -> str:
    """Kill a child in a phase, once it has reported that many files; return the phase it was in, "" where it was faster."""
    begun = time.monotonic()
    if target == "any time":
        after, pause = 0, random.uniform(0.3, 5.0)
    else:
        pause = random.uniform(0, _MOMENT)
    while time.monotonic() - begun < _LONGEST:
        if not _alive(process):
            return ""
        if target == "any time" or (driver.phase_now() == target and len(driver.reported()) >= after):
            break
        time.sleep(0.001)
    time.sleep(pause)
    where = driver.phase_now()
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return ""
    return where


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Course:
    """Kills of one command; each look that finds something wrong is printed."""

    def __init__(self, name: str, driver: Driver, looker: Looker) -> None:
        self.name, self.driver, self.looker = name, driver, looker
        self.hits: collections.Counter[str] = collections.Counter()
        self.wrong = self.rounds = self.confirmed = 0

    def check(self, when: str, wrong: list[str]) -> None:
        self.wrong += bool(wrong)
        if sum(self.hits.values()) % 10 == 0:
            print(f"{self.name}: {sum(self.hits.values())} kills, {when}", file=sys.stderr, flush=True)
        for sentence_ in wrong:
            print(f"WRONG, {self.name}, {when}: {sentence_[:400]}", file=sys.stderr, flush=True)

    def row(self) -> str:
        """Return the line of the table."""
        hits = "、".join(f"{phase} {self.hits[phase]}" for phase in PHASES if self.hits[phase])
        return (f"| {self.name} | {sum(self.hits.values())} ({hits}) | {self.confirmed} | {self.wrong} | {self.rounds} |")


def targets(phases: tuple[str, ...]) -> Iterator[str]:
    while True:
        yield from phases


def kill_adding(course: Course, kills: int, folder: Path, sources: Path, wanted: list[Content], questions: dict[str, str],
                arguments: tuple[str, ...]) -> None:
    """Kill `add` or `sync` again and again; where it comes to its end, the result is compared and a new round begins.

    A document must always be as one of `wanted` has it: the end, or before it the beginning.
    """
    data, confirmed = folder / "data", set[str]()
    _restart(folder, data)
    for target in targets(("reading", "writing", "embedding", "any time", "recognition", "writing", "embedding")):
        if sum(course.hits.values()) >= kills:
            break
        process = course.driver.start(*arguments, sources, "--data", data, "--profile", "lite")
        where = strike(course.driver, process, target, random.randint(0, 4))
        code = course.driver.end()
        confirmed |= course.driver.reported()
        course.hits[where] += bool(where)
        if not where and code:
            course.check(f"exit {code}", [course.driver.output.read_text(encoding="utf-8")[-1000:]])
        course.check(f"killed in {where}", course.looker.look(data, wanted, confirmed, questions))
        if not where:
            _finish(course, data, wanted[0], confirmed)
            _restart(folder, data)
            confirmed = set()
    course.driver.run(*arguments, sources, "--data", data, "--profile", "lite")
    _finish(course, data, wanted[0], confirmed | course.driver.reported())


def _restart(folder: Path, data: Path) -> None:
    shutil.rmtree(data, ignore_errors=True)
    if (folder / "begin").is_dir():
        shutil.copytree(folder / "begin", data)


def _finish(course: Course, data: Path, wanted: Content, confirmed: set[str]) -> None:
    course.rounds += 1
    course.confirmed += len(confirmed)
    store = Store(data)
    found = content(store)
    ids = set(wanted["documents"]) | set(found["documents"])
    course.check("at the end", [*differences(found, wanted, ids)])
    store.close()


def kill_rebuilding(course: Course, kills: int, folder: Path, before: Content, after: Content) -> None:
    """Kill `rebuild`: the old knowledge base or the new one is there, whole; left-over files do not pile up."""
    data, doc_ids = folder / "data", set(before["documents"])
    _restart(folder, data)
    for target in targets(("taking over", "writing", "any time", "taking over", "embedding", "reading")):
        if sum(course.hits.values()) >= kills:
            break
        process = course.driver.start("rebuild", "--data", data, "--profile", "lite")
        where = strike(course.driver, process, target, random.randint(0, 8) if target != "taking over" else 0)
        course.driver.end()
        course.hits[where] += bool(where)
        store = Store(data)
        found = content(store)
        whole = store.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
        store.close()
        done = not list(differences(found, after, doc_ids))
        if not whole or not (done or not list(differences(found, before, doc_ids))):
            course.check(f"killed in {where}", ["neither the old knowledge base nor the new one"])
        if not where or done:
            course.rounds += 1
            course.check("left over", [str(p) for p in data.glob("rebuild-*")] if not where else [])
            _restart(folder, data)
    course.driver.run("rebuild", "--data", data, "--profile", "lite")
    store = Store(data)
    course.check("at the end", [*differences(content(store), after, doc_ids), *map(str, data.glob("rebuild-*"))])
    store.close()


def kill_program(course: Course, kills: int, folder: Path, sources: Path, wanted: Content, questions: dict[str, str]) -> None:
    """Kill `python app.py add` itself after one more report each time."""
    data, confirmed = folder / "data", set[str]()
    shutil.rmtree(data, ignore_errors=True)
    while sum(course.hits.values()) < kills:
        with course.driver.output.open("w") as output:
            program = subprocess.Popen([sys.executable, "-u", str(ROOT / "app.py"), "add", str(sources), "--data", str(data),
                                        "--profile", "lite"], stdout=output, stderr=output)
            wanted_reports = len(confirmed) + random.randint(1, 6)
            while program.poll() is None and len(course.driver.reported()) < wanted_reports:
                time.sleep(0.01)
            time.sleep(random.uniform(0, 0.5))
            program.kill()
            program.wait()
        confirmed |= course.driver.reported()
        course.hits["start"] += 1
        course.check("app.py killed", course.looker.look(data, [wanted], confirmed, questions))
    course.driver.run("add", sources, "--data", data, "--profile", "lite")
    _finish(course, data, wanted, confirmed | course.driver.reported())


def make_sources(folder: Path) -> dict[str, str]:
    """Write files of every format and three long ones; return the question that finds each of the former, by file name."""
    made = files()
    write(folder, made)
    for number in range(3):
        (folder / f"长{number}.md").write_text(document(9000 + number, 8000), encoding="utf-8")
    return {file.name: file.question for file in made}


def change_sources(folder: Path) -> None:
    """A third of the plain texts say something else, a sixth of all files are gone, some are new, one is renamed."""
    names = sorted(path.name for path in folder.iterdir())
    for number, name in enumerate(names):
        if number % 6 == 5:
            (folder / name).unlink()
        elif name.endswith((".md", ".txt")) and number % 2 == 0:
            data = (folder / name).read_bytes()
            if not data.startswith((b"PK", b"\xff\xfe", b"\xfe\xff")):
                (folder / name).write_bytes(data + b"\r\n" + f"Note {number}.".encode("ascii"))
    for number in range(6):
        text = f"# 新作物{number}整地施肥要点\n\n{sentence('新作物' + str(number), 5000 + number)}\n"
        (folder / f"新{number}.md").write_text(text, encoding="utf-8")


def reference(driver: Driver, folder: Path, name: str, arguments: tuple[object, ...]) -> Content:
    """Run a command to its end in a copy of folder/begin, or a new folder; return what it leaves."""
    data = folder / name
    shutil.rmtree(data, ignore_errors=True)
    if (folder / "begin").is_dir():
        shutil.copytree(folder / "begin", data)
    code = driver.run(*arguments, "--data", data, "--profile", "lite")
    if code:
        raise SystemExit(f"{arguments}: exit {code}\n{driver.output.read_text(encoding='utf-8')[-2000:]}")
    store = Store(data)
    found = content(store)
    store.close()
    return found


def main(folder: Path, wanted_kills: dict[str, int]) -> int:
    """Print the table; the exit code says whether anything was wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = folder / "资料"
    by_name = make_sources(sources)
    driver, looker = Driver(folder), Looker()
    started = time.monotonic()
    clean = reference(driver, folder, "clean", ("add", sources))
    print(f"uninterrupted import: {len(clean['documents'])} documents, "
          f"{sum(map(len, clean['chunks'].values()))} chunks, {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    questions = {doc_id: by_name[rows[0][3]] for doc_id, rows in clean["documents"].items() if rows[0][3] in by_name}
    courses = [Course(name, driver, looker) for name in ("add", "app.py add", "sync", "rebuild")]
    if wanted_kills["add"]:
        kill_adding(courses[0], wanted_kills["add"], folder, sources, [clean], questions, ("add",))
    if wanted_kills["real"]:
        kill_program(courses[1], wanted_kills["real"], folder, sources, clean, questions)
    if wanted_kills["sync"]:
        _sync(courses[2], wanted_kills["sync"], folder, sources, questions)
    if wanted_kills["rebuild"]:
        _rebuild(courses[3], wanted_kills["rebuild"], folder)
    driver.close()
    print("| command | kills (while) | documents confirmed before kills | wrong | runs to the end |\n|---|---|---|---|---|")
    for course in courses:
        print(course.row())
    return sum(course.wrong for course in courses)


def _sync(course: Course, kills: int, folder: Path, sources: Path, questions: dict[str, str]) -> None:
    reference(course.driver, folder, "begin0", ("sync", sources))
    os.rename(folder / "begin0", folder / "begin")
    change_sources(sources)
    wanted = reference(course.driver, folder, "synced", ("sync", sources))
    course_ids = {i: q for i, q in questions.items() if i in wanted["documents"] and wanted["documents"][i][0][STATE] == "active"}
    store = Store(folder / "begin")
    begin = content(store)
    store.close()
    kill_adding(course, kills, folder, sources, [wanted, begin], course_ids, ("sync",))
    shutil.rmtree(folder / "begin")


def _rebuild(course: Course, kills: int, folder: Path) -> None:
    """The knowledge base before has a heading that no rebuild gives, so that before and after can be told."""
    shutil.copytree(folder / "clean", folder / "begin")
    store = Store(folder / "begin")
    with store.write() as database:
        database.execute("UPDATE chunks SET heading = '[\"旧\"]'")
    before: dict[str, Any] = content(store)
    store.close()
    after = reference(course.driver, folder, "rebuilt", ("rebuild",))
    kill_rebuilding(course, kills, folder, before, after)


if __name__ == "__main__":
    numbers = {"add": 50, "sync": 20, "rebuild": 20, "real": 5}
    numbers |= {name: int(value) for name, value in (argument.split("=") for argument in sys.argv[2:])}
    sys.exit(main(Path(sys.argv[1]), numbers))
