"""Measure a scan of many pages: progress, constant memory, stopped by the stop event, by Ctrl+C and by a kill, gone on with.

    python tests/measure_scan.py FOLDER [pages=500] [seconds=480]     the table goes to standard output

The pages are grey pictures of 100 dpi; each is read anew, none is another's copy.
"""

from __future__ import annotations

import io
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from fpdf import FPDF
from pdf_world import HEIGHT, WIDTH, Sheet, picture_of
from updates_world import CROPS

from nongda.engine import ROOT, Engine
from nongda.index.store import Store
from nongda.intake import FileReport, Progress
from nongda.settings import Settings

_MARKS = (20, 50, 100, 200, 300, 400, 500)


def write_scan(path: Path, pages: int) -> None:
    """Write a PDF whose pages are pictures, each with its own figures."""
    document = FPDF(unit="pt", format=(WIDTH, HEIGHT))
    for number in range(1, pages + 1):
        chosen, sheet = random.Random(number), Sheet()
        crop = chosen.choice(CROPS)
        sheet.centred(WIDTH / 2, HEIGHT - 80, f"第{number}页 {crop}", 18)
        sheet.prose(72, HEIGHT - 120, WIDTH - 144, "\n".join(
            f"{crop}第{n}次追肥每亩施尿素{chosen.randint(3, 40)}公斤，兑水浇施，间隔{chosen.randint(5, 30)}天。" for n in range(1, 6)),
            14, 26)
        stream = io.BytesIO()
        picture_of(sheet, 100).convert("L").save(stream, "JPEG", quality=70)
        document.add_page()
        document.image(stream, 0, 0, WIDTH, HEIGHT)
    document.output(str(path))


def memory(process: str = "self") -> tuple[int, int]:
    """Return the memory of a process now and at its peak, in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")  # getrusage counts the parent's peak too
    return tuple(int(status.split(name)[1].split()[0]) // 1024 for name in ("VmRSS:", "VmHWM:"))  # type: ignore[return-value]


def kept(data: Path) -> int:
    store = Store(data)
    found = store.rows("SELECT COUNT(*) AS n FROM scans")
    store.close()
    return int(found[0]["n"])


def pages_read(data: Path, scan: Path, stop: threading.Event) -> Iterator[tuple[int, int, float | None]]:
    """Add the scan in this process; yield the page, of how many, the time left."""
    engine = Engine.open(Settings(), data, "lite")
    try:
        for event in engine.library.add([scan], stop):
            if isinstance(event, Progress) and event.stage == "reading":
                yield event.done, event.total, event.left
            elif isinstance(event, FileReport):
                print(f"| report | {event.status}: {event.message} | | {'；'.join(event.warnings)[:80]} |")
    finally:
        engine.close()


def first(data: Path, scan: Path, seconds: float) -> None:
    """Read until the time is over, then stop by the stop event."""
    stop, begun, asked, last = threading.Event(), time.perf_counter(), 0.0, 0
    print("| page | seconds so far | said to be left | MB now, peak |\n|---|---|---|---|")
    for page, total, left in pages_read(data, scan, stop):
        last = page
        if page in _MARKS or page % 100 == 0:
            print(f"| {page} of {total} | {time.perf_counter() - begun:.0f} | {left and round(left)} | {memory()} |", flush=True)
        if time.perf_counter() - begun > seconds and not stop.is_set():
            stop.set()
            asked = time.perf_counter()
    if asked:
        print(f"| {last}, stop event | ended {time.perf_counter() - asked:.1f} s later | | {memory()} |", flush=True)


def struck(data: Path, scan: Path, number: int) -> None:
    """Go on in `app.py add`, hit it with a signal after some more pages; say what was kept."""
    before = kept(data)
    begun = time.perf_counter()
    program = subprocess.Popen([sys.executable, "-u", str(ROOT / "app.py"), "add", str(scan), "--data", str(data), "--profile",
                                "lite"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while kept(data) < before + 3 and program.poll() is None:
        time.sleep(0.5)
    reached, peak = time.perf_counter() - begun, memory(str(program.pid))[1]
    program.send_signal(number)
    said = program.communicate()[0].strip().splitlines()
    print(f"| {signal.Signals(number).name} after 3 more pages | kept {before} -> {kept(data)} | the third new page stood after "
          f"{reached:.0f} s | exit {program.returncode} {said[-1:]}, peak {peak} MB |", flush=True)


def main(folder: Path, pages: int, seconds: float) -> int:
    """Print the table; the exit code is the number of pages that are kept and were read twice."""
    scan, data = folder / f"扫描{pages}页.pdf", folder / "知识库"
    folder.mkdir(parents=True, exist_ok=True)
    if not scan.is_file():
        write_scan(scan, pages)
    shutil.rmtree(data, ignore_errors=True)
    print(f"{pages} pages, {scan.stat().st_size / 2**20:.0f} MB\n")
    first(data, scan, seconds)
    before = kept(data)
    if before < pages - 8:
        struck(data, scan, signal.SIGINT)
        struck(data, scan, signal.SIGKILL)
    begun, known = time.perf_counter(), kept(data)
    for page, _, _ in pages_read(data, scan, threading.Event()):
        if page == known:
            print(f"| {known} pages that are kept | passed in {time.perf_counter() - begun:.1f} s with the start | | {memory()} |")
        if page >= min(known + 3, pages):
            break
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it, and so would children
    numbers = [float(argument.split("=")[-1]) for argument in sys.argv[2:]] + [500, 480][len(sys.argv) - 2:]
    sys.exit(main(Path(sys.argv[1]), round(numbers[0]), numbers[1]))
