"""What a machine must offer before anything is installed; each lack is one sentence that says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

GB = 1_000_000_000
INSTALL_DISK = 3 * GB  # packages 1.2 GB, and as much again while they are unpacked and built
INSTALL_MEMORY = int(1.5 * GB)  # two compilers side by side


class SetupError(Exception):
    """A step cannot be done; the message is one sentence that says what to do."""


def pin(root: Path, name: str) -> str:
    """The exact version of a package in requirements.txt."""
    for line in (root / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}=="):
            return line.partition("==")[2].split(";")[0].strip()
    raise SetupError(f"requirements.txt 里没有 {name}：文件不完整，请重新取得程序"
                     "（requirements.txt is damaged）")


def check_python(version: tuple[int, ...], wide: bool) -> None:
    """Raise SetupError unless this is a 64-bit Python 3.11 to 3.13."""
    if not (3, 11) <= version <= (3, 13) or not wide:
        kind = ".".join(map(str, version)) + ("" if wide else " 32 位")
        raise SetupError(f"这是 Python {kind}，需要 64 位的 3.11、3.12 或 3.13：请安装后用它再运行本程序"
                         "（64-bit Python 3.11 to 3.13 needed）")


def check_processor(root: Path) -> None:
    """Raise SetupError when the processor cannot run the models; asked before eight minutes of building."""
    sys.path.insert(0, str(root))
    from nongda.errors import NongDaError
    from nongda.models.hardware import check_cpu

    try:
        check_cpu()
    except NongDaError as error:
        raise SetupError(f"{error}（this processor has no AVX2）") from error


def check_room(root: Path) -> None:
    """Raise SetupError when disk or memory does not suffice to install the packages."""
    from nongda.models.hardware import memory

    for folder in (root, Path(tempfile.gettempdir())):
        free = shutil.disk_usage(folder).free
        if free < INSTALL_DISK:
            raise SetupError(f"{folder} 所在的磁盘只剩 {free / GB:.1f} GB，安装要 {INSTALL_DISK / GB:.1f} "
                             "GB：请先腾出空间（too little disk space）")
    free = memory()[1]
    if free < INSTALL_MEMORY:
        raise SetupError(f"可用内存只有 {free / GB:.1f} GB，安装要 {INSTALL_MEMORY / GB:.1f} GB："
                         "请关掉别的程序再试（too little memory）")


def check_compiler(root: Path) -> None:
    """Raise SetupError when packages that are built here have yet to be built and nothing can build them."""
    built = f"llama_cpp_python-{pin(root, 'llama-cpp-python')}.dist-info"
    if any(list((root / ".venv").glob(f"{lib}/site-packages/{built}")) for lib in ("Lib", "lib/python*")):
        return
    if sys.platform == "win32":
        if not has_msvc():
            raise SetupError("缺少 C++ 编译器：请安装 Visual Studio Build Tools，勾选“使用 C++ 的桌面开发”，"
                             "再运行一次（C++ compiler needed）")
        return
    if not any(map(shutil.which, filter(None, (os.environ.get("CXX"), "c++", "g++", "clang++")))):
        raise SetupError("缺少 C++ 编译器：请运行 sudo apt install build-essential python3-dev，"
                         "再运行一次（C++ compiler needed）")
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise SetupError("缺少 Python 的头文件：请运行 sudo apt install python3-dev，"
                         "再运行一次（Python headers needed）")


def has_msvc() -> bool:
    """Whether Windows has Microsoft's C++ compiler, on the path or where its installer puts it."""
    if shutil.which("cl"):
        return True
    programs = os.environ.get("ProgramFiles(x86)", r"C:\Program Files (x86)")
    finder = Path(programs, "Microsoft Visual Studio", "Installer", "vswhere.exe")
    if not finder.exists():
        return False
    query = [str(finder), "-products", "*", "-property", "installationPath",
             "-requires", "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"]
    return bool(subprocess.run(query, capture_output=True, check=False).stdout.strip())
