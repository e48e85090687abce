"""Run pip with its progress in words: bytes and time left of a download, elapsed time of a build."""

from __future__ import annotations

import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import unicodedata
from collections import deque
from pathlib import Path

LLAMA_BUILD = 8 * 60  # seconds on two cores; four cores take half
TICK = 15.0  # seconds between two lines where the output is not a terminal
MB = 1_000_000
TAIL = 400  # lines of output kept to explain a failure

# What pip's output says about a failure, most telling first, and the sentence for it.
CAUSES = (
    (r"No space left on device|Errno 28|not enough space",
     "磁盘空间不够：请腾出 3 GB 以上再运行一次，会接着做（disk full）"),
    (r"Failed building wheel|failed-wheel-build|CMAKE_CXX_COMPILER|Failed to build",
     "编译没有成功：请按 {log} 末尾的说明补齐编译器后再运行一次（build failed）"),
    (r"NewConnectionError|NameResolutionError|name resolution|getaddrinfo failed|Network is unreachable|"
     r"timed out|ProxyError|Max retries|Connection (?:refused|reset|aborted)|SSLError|CERTIFICATE_VERIFY",
     "下载没有成功，看来没有网络：请检查网络和代理，连上后再运行一次，会接着做（no network）"),
)


def run_pip(command: list[str], root: Path, env: dict[str, str], log: Path) -> tuple[int, list[str]]:
    """Run pip, show its progress, append its output to `log`; returns the exit code and the last lines.

    The child gets a process group of its own where there are such, so that a stop also ends the compilers.
    """
    lines: queue.Queue[str | None] = queue.Queue()
    kept: deque[str] = deque(maxlen=TAIL)
    progress = Progress()
    with open(log, "a", encoding="utf-8", buffering=1) as record, subprocess.Popen(
        command, cwd=root, env={**env, "PYTHONUNBUFFERED": "1"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
        start_new_session=sys.platform != "win32",
    ) as child:
        threading.Thread(target=_pump, args=(child, lines), daemon=True).start()
        try:
            while (line := _next(lines)) is not None:
                if line:
                    if not line.startswith("Progress "):
                        record.write(line + "\n")
                        kept.append(line)
                    progress.read(line)
                progress.show()
            return child.wait(), list(kept)
        except KeyboardInterrupt:
            _end(child)
            raise
        finally:
            progress.close()


def explain(output: list[str], log: str) -> str:
    """One sentence for a failed run of pip, from its last lines."""
    text = "\n".join(output)
    for pattern, sentence in CAUSES:
        if re.search(pattern, text):
            return sentence.format(log=log)
    errors = [line.strip() for line in output if line.lstrip().lower().startswith("error")] or output[-1:]
    reason = errors[-1] if errors else "?"
    return f"软件包没有装成（{reason[:200]}）：详情见 {log}，改正后再运行一次（installation failed）"


class Progress:
    """Pip's output as one moving line on a terminal, or as a line now and then in a pipe."""

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty()
        self.task = "准备"
        self.began = self.shown = time.monotonic()
        self.done = self.size = self.expected = 0
        self.notice = ""
        self.fresh = True

    def read(self, line: str) -> None:
        """Take one line of pip's output."""
        if match := re.fullmatch(r"Progress (\d+) of (\d+)", line):
            self.done, self.size = int(match[1]), int(match[2])
        elif match := re.match(r"\s*Downloading (\S+)", line):
            self._start(f"下载 {match[1].rsplit('/', 1)[-1]}")
        elif match := re.match(r"\s*Building wheel for (\S+) .*: started", line):
            if match[1] == "llama-cpp-python":
                self._start("编译 llama.cpp", LLAMA_BUILD)
                self.notice = "现在编译 llama.cpp，约 8 分钟，忙时更久（building llama.cpp takes about 8 minutes）"
            else:
                self._start(f"编译 {match[1]}")
        elif match := re.match(r"Installing collected packages: (.*)", line):
            self._start(f"安装 {len(match[1].split(','))} 个软件包")
        elif "Retrying (" in line:
            if "重试" not in self.task:
                self._start("没有连上，正在重试")
        elif re.match(r"\s*(Collecting|Preparing|Installing build|Getting requirements|Processing)", line):
            if self.task.startswith(("下载", "编译")):
                self._start("查找软件包")

    def _start(self, task: str, expected: int = 0) -> None:
        self.task, self.expected, self.began = task, expected, time.monotonic()
        self.done = self.size = 0
        self.fresh = expected > 0 or "重试" in task

    def text(self, now: float) -> str:
        """The state in words; `now` is a reading of the monotonic clock in seconds."""
        elapsed = now - self.began
        if self.size:
            part = f"{self.task} {self.done / MB:.1f}/{self.size / MB:.1f} MB"
            left = elapsed * (self.size - self.done) / self.done if self.done else 0
            return part + (f"，还需 {clock(left)}" if self.done < self.size else "")
        part = f"{self.task}，已用 {clock(elapsed)}"
        return part + (f"，约还需 {clock(self.expected - elapsed)}" if self.expected > elapsed else "")

    def show(self) -> None:
        """Write the state when it is time to: often on a terminal, seldom in a pipe."""
        now = time.monotonic()
        if self.notice:
            self.close()
            print(self.notice, flush=True)
            self.notice = ""
        if self.terminal and now - self.shown >= 0.2:
            print("\r" + fit(self.text(now)), end="", flush=True)
            self.shown = now
        elif not self.terminal and (self.fresh or now - self.shown >= TICK):
            print(self.text(now), flush=True)
            self.shown, self.fresh = now, False

    def close(self) -> None:
        """Leave the moving line."""
        if self.terminal:
            print("\r" + fit("") + "\r", end="", flush=True)


def clock(seconds: float) -> str:
    """A duration as minutes and seconds, such as 7:05."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def fit(text: str, columns: int = 0) -> str:
    """Text cut or filled to one line of a terminal, less one column; Chinese characters take two."""
    room = (columns or shutil.get_terminal_size().columns) - 1
    kept = ""
    for character in text:
        wide = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if wide > room:
            break
        kept, room = kept + character, room - wide
    return kept + " " * room


def _pump(child: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    for line in child.stdout or ():
        lines.put(line.rstrip())
    lines.put(None)


def _next(lines: queue.Queue[str | None]) -> str | None:
    """The next line, an empty one after a second of silence, None at the end."""
    try:
        return lines.get(timeout=1)
    except queue.Empty:
        return ""


def _end(child: subprocess.Popen[str]) -> None:
    """End pip and the compilers it started."""
    for name in ("SIGINT", "SIGKILL"):
        if sys.platform == "win32":
            child.terminate()
        else:
            os.killpg(child.pid, getattr(signal, name))
        try:
            child.wait(timeout=10)
            return
        except subprocess.TimeoutExpired:
            continue
