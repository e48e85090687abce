"""Take in the folder of `intake_world` and ask for each file: what is found, seconds and peak memory of each format.

    python tests/measure_intake.py FOLDER        the table goes to standard output
    python tests/measure_intake.py FOLDER NAME   one file, in a process of its own: seconds and peak memory alone
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

from intake_world import files, write

from nongda.documents.ocr import PageReader
from nongda.documents.parse import parse_file
from nongda.engine import Engine
from nongda.intake import FileReport
from nongda.settings import Settings


def main(folder: Path) -> int:
    """Print the table; the exit code is the number of files of which something was not found."""
    made = files()
    write(folder / "资料", made)
    engine = Engine.open(Settings(), folder / "知识库", "lite")
    paths = [folder / "资料" / file.name for file in made]
    reports = {Path(e.path).name: e for e in engine.add(paths) if isinstance(e, FileReport)}
    missed = 0
    print("| file | seconds to read | peak MB | seconds to add | chunks | found | warnings |\n|---|---|---|---|---|---|---|")
    for file in made:
        report, alone = reports[file.name], _alone(folder, file.name)
        texts = [c.chunk.text for c in engine.search(file.question).candidates if c.chunk.doc_id == report.doc_id]
        texts += [chunk.text for chunk in engine.chunks_of(report.doc_id)] if texts else []
        absent = [word for word in file.words if not any(word in text for text in texts)]
        missed += bool(absent)
        print(f"| {file.kind} | {alone['seconds']:.2f} | {alone['peak']:.0f} | {report.seconds:.2f} | {report.chunks} | "
              f"{'yes' if not absent else 'NO: ' + '、'.join(absent)} | {'；'.join(report.warnings)} |")
    engine.close()
    print(f"\n{len(made)} files, {len(made) - missed} found, {sum(r.status == 'failed' for r in reports.values())} failed")
    return missed


def _alone(folder: Path, name: str) -> dict[str, float]:
    command = [sys.executable, __file__, str(folder), name]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def one(path: Path) -> None:
    """Print how long reading one file takes, and the peak memory of this process."""
    started = time.perf_counter()
    parse_file(path, PageReader(2))
    status = Path("/proc/self/status").read_text(encoding="ascii")  # getrusage counts the parent's memory too
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(json.dumps({"seconds": time.perf_counter() - started, "peak": peak}))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        one(Path(sys.argv[1]) / "资料" / sys.argv[2])
    else:
        sys.exit(main(Path(sys.argv[1])))
