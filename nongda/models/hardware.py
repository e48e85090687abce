"""What this machine offers, read without importing anything native, so it can be asked before all else.

Sizes are bytes; in messages 1 GB is 10^9 bytes, as on the label of a disk.
"""

from __future__ import annotations

import ctypes
import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from nongda.errors import WeightsError

GB = 1_000_000_000
# Free memory, best profile first: what "auto" wants to see, and the least with which it works at all
# (model, context, embedder and page together).
COMFORT = {"high": 10 * GB, "standard": 6 * GB, "lite": int(1.5 * GB)}
MIN_MEMORY = {"high": 7 * GB, "standard": 3 * GB, "lite": int(1.5 * GB)}
DISK_RESERVE = GB // 2  # for the knowledge base, beside the weights
DISK_FACTOR = 2  # the weights exist twice while they are being put together
_WINDOWS_FEATURES = {"sse4_2": 38, "avx": 39, "avx2": 40}  # PF_*_INSTRUCTIONS_AVAILABLE
_NO_LIMIT = 1 << 60  # control groups of version 1 write "no limit" as a huge number


def cpu_features(root: Path = Path("/")) -> frozenset[str]:
    """Names of the processor's features as Linux spells them; empty where the system does not tell."""
    if sys.platform == "win32":
        present = ctypes.windll.kernel32.IsProcessorFeaturePresent
        return frozenset(name for name, number in _WINDOWS_FEATURES.items() if present(number))
    for line in _read(root / "proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return frozenset()


def check_cpu(features: frozenset[str] | None = None, machine: str | None = None) -> None:
    """Raise WeightsError when an x86 processor lacks AVX2, which the model engine would crash on."""
    found = cpu_features() if features is None else features
    name = (platform.machine() if machine is None else machine).lower()
    if name in ("x86_64", "amd64") and found and "avx2" not in found:
        raise WeightsError("这台电脑的处理器没有 AVX2 指令，模型无法运行：请换一台 2014 年以后的电脑")


def memory(root: Path = Path("/")) -> tuple[int, int]:
    """(total, available) bytes, the limits of the control group (a container) included."""
    if sys.platform == "win32":
        return _windows_memory()
    info = {}
    for line in _read(root / "proc/meminfo").splitlines():
        name, _, value = line.partition(":")
        info[name] = int(value.split()[0]) * 1024
    total = info.get("MemTotal", 0)
    available = info.get("MemAvailable", total)
    for limit, used in _group_limits(root):
        total, available = min(total, limit), min(available, max(0, limit - used))
    return total, available


def _windows_memory() -> tuple[int, int]:
    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong), ("total", ctypes.c_ulonglong),
                    ("available", ctypes.c_ulonglong), ("rest", ctypes.c_ulonglong * 5)]

    status = Status()
    status.length = ctypes.sizeof(Status)
    ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined,unused-ignore]
    return int(status.total), int(status.available)


def _group_limits(root: Path) -> list[tuple[int, int]]:
    """(limit, used) of this process's memory group and each group around it, versions 1 and 2."""
    found = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        base = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        names = (("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file") if controllers
                 else ("memory.max", "memory.current", "inactive_file"))
        group = base / path.lstrip("/")
        for folder in (group, *group.parents):
            if folder != base and base not in folder.parents:
                break
            limit = _read(folder / names[0]).strip()
            if limit.isdigit() and int(limit) < _NO_LIMIT:
                found.append((int(limit), _group_use(folder, names[1], names[2])))
    return found


def _group_use(folder: Path, usage: str, cache: str) -> int:
    """Bytes in use that the kernel cannot give back: the usage less the idle file cache."""
    used = _read(folder / usage).strip()
    for line in _read(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name == cache and used.isdigit():
            return max(0, int(used) - int(value))
    return int(used) if used.isdigit() else 0


def physical_cores() -> int:
    """Physical cores, at least 1: more threads than these slow the models down."""
    import psutil  # here, because this module is read before any package is installed

    return int(psutil.cpu_count(logical=False) or psutil.cpu_count() or 1)


def free_disk(folder: Path) -> int:
    """Free bytes where `folder` is, or will be once it is made."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def choose_profile(
    requested: str, missing: Mapping[str, int], free_memory: int, disk: int
) -> tuple[str, str]:
    """The profile to use and one sentence that says why; `missing` is bytes still to fetch per profile.

    "auto" keeps to profiles that are already complete, so that a later start needs no network; otherwise
    it takes standard from 6 GB of free memory if the disk allows, else lite. Raises WeightsError when
    memory or disk does not suffice.
    """
    if requested != "auto":
        _require(requested, missing[requested], free_memory, disk)
        return requested, f"使用 {requested} 档（按您的选择；可用内存 {_gb(free_memory)}）"
    complete = [name for name in COMFORT if missing.get(name) == 0]
    fitting = ([name for name in complete if free_memory >= COMFORT[name]]
               + [name for name in complete[-1:] if free_memory >= MIN_MEMORY[name]])
    if fitting:
        return fitting[0], f"使用 {fitting[0]} 档：它的模型已经备好，可用内存 {_gb(free_memory)}"
    if free_memory >= COMFORT["standard"] and disk >= _disk_need(missing["standard"]):
        return "standard", f"使用 standard 档：可用内存 {_gb(free_memory)}，够用"
    _require("lite", missing["lite"], free_memory, disk)
    short = (f"可用内存 {_gb(free_memory)}，standard 档要 {_gb(COMFORT['standard'])}"
             if free_memory < COMFORT["standard"]
             else f"磁盘只剩 {_gb(disk)}，standard 档要 {_gb(_disk_need(missing['standard']))}")
    return "lite", f"使用 lite 档：{short}"


def _disk_need(missing: int) -> int:
    return DISK_FACTOR * missing + DISK_RESERVE if missing else 0


def _require(profile: str, missing: int, free_memory: int, disk: int) -> None:
    if free_memory < MIN_MEMORY[profile]:
        raise WeightsError(f"可用内存只有 {_gb(free_memory)}，{profile} 档至少要 {_gb(MIN_MEMORY[profile])}："
                           "请关掉别的程序再试")
    if disk < _disk_need(missing):
        raise WeightsError(f"磁盘只剩 {_gb(disk)}，{profile} 档要 {_gb(_disk_need(missing))}："
                           "请先腾出空间再试")


def _gb(size: int) -> str:
    return f"{size / GB:.1f} GB"


def _read(path: Path) -> str:
    """The text of a system file; empty where there is none to read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
