"""What the machine must offer before anything is installed."""

import importlib
import os
import subprocess
import sys
import sysconfig
from collections import namedtuple
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
checks = importlib.import_module("checks")
hardware = importlib.import_module("nongda.models.hardware")
Usage = namedtuple("Usage", "total used free")
GB = 1_000_000_000
posix = pytest.mark.skipif(sys.platform == "win32", reason="compilers of Linux")


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A folder without `.venv`, on a machine whose PATH has no compiler."""
    (tmp_path / "requirements.txt").write_text("pip==26.0\nllama-cpp-python==1.0\n", encoding="utf-8")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CXX", raising=False)
    return tmp_path


def program(path: Path) -> None:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_supported_pythons_pass(version):
    checks.check_python(version, True)


@pytest.mark.parametrize(("version", "wide", "words"), [
    ((3, 10), True, "Python 3.10，"), ((3, 14), True, "Python 3.14，"), ((3, 12), False, "Python 3.12 32 位，")])
def test_another_python_is_named_with_what_to_install(version, wide, words):
    with pytest.raises(checks.SetupError, match=words):
        checks.check_python(version, wide)


def test_a_processor_without_avx2_is_refused_before_anything_is_built(monkeypatch):
    monkeypatch.setattr(hardware, "cpu_features", lambda: frozenset({"sse4_2"}))
    monkeypatch.setattr(hardware.platform, "machine", lambda: "x86_64")
    with pytest.raises(checks.SetupError, match="AVX2"):
        checks.check_processor(ROOT)


def test_too_little_disk_names_the_place_and_both_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda place: Usage(9 * GB, 7 * GB, int(2.9 * GB)))
    with pytest.raises(checks.SetupError, match=r"只剩 2\.9 GB，安装要 3\.0 GB") as caught:
        checks.check_room(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_too_little_memory_names_both_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda place: Usage(99 * GB, 0, 99 * GB))
    monkeypatch.setattr(hardware, "memory", lambda: (4 * GB, int(1.4 * GB)))
    with pytest.raises(checks.SetupError, match=r"只有 1\.4 GB，安装要 1\.5 GB"):
        checks.check_room(tmp_path)
    monkeypatch.setattr(hardware, "memory", lambda: (4 * GB, int(1.5 * GB)))
    checks.check_room(tmp_path)


@posix
def test_a_missing_compiler_is_one_sentence_with_the_command_to_run(bare):
    with pytest.raises(checks.SetupError, match="sudo apt install build-essential python3-dev"):
        checks.check_compiler(bare)


@posix
@pytest.mark.parametrize("name", ["c++", "g++", "clang++"])
def test_any_usual_compiler_will_do(bare, monkeypatch, name):
    program(bare / "bin" / name)
    (bare / "Python.h").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda key: str(bare))
    checks.check_compiler(bare)


@posix
def test_missing_headers_of_python_are_named(bare, monkeypatch):
    program(bare / "bin/g++")
    monkeypatch.setattr(sysconfig, "get_path", lambda key: str(bare / "none"))
    with pytest.raises(checks.SetupError, match="python3-dev"):
        checks.check_compiler(bare)


@posix
def test_what_is_built_already_needs_no_compiler_but_another_version_does(bare):
    site = bare / ".venv/lib/python3.11/site-packages"
    (site / "llama_cpp_python-0.9.dist-info").mkdir(parents=True)
    with pytest.raises(checks.SetupError):
        checks.check_compiler(bare)
    (site / "llama_cpp_python-1.0.dist-info").mkdir()
    checks.check_compiler(bare)


@posix
@pytest.mark.parametrize(("answer", "found"), [(r"C:\VS\2022", True), ("", False)])
def test_the_windows_compiler_is_found_through_its_installer(bare, monkeypatch, answer, found):
    folder = bare / "Microsoft Visual Studio/Installer"
    folder.mkdir(parents=True)
    (folder / "vswhere.exe").write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\n")
    (folder / "vswhere.exe").chmod(0o755)
    monkeypatch.setenv("ProgramFiles(x86)", str(bare))
    assert checks.has_msvc() is found
    monkeypatch.setattr(sys, "platform", "win32")
    if found:
        checks.check_compiler(bare)
    else:
        with pytest.raises(checks.SetupError, match="Visual Studio Build Tools"):
            checks.check_compiler(bare)


def test_a_pin_is_read_without_its_marker(tmp_path):
    (tmp_path / "requirements.txt").write_text('# a\nhnswlib==0.8.0; sys_platform != "win32"\nother==1\n')
    assert checks.pin(tmp_path, "hnswlib") == "0.8.0"
    with pytest.raises(checks.SetupError, match="requirements.txt"):
        checks.pin(tmp_path, "nothing")


@posix
def test_an_older_python_is_told_so_instead_of_failing_to_read_the_program(tmp_path):
    """The two files that every Python reads first keep to the syntax of 3.7."""
    code = "import ast, sys; [ast.parse(open(p, encoding='utf-8').read(), feature_version=(3, 7)) " \
           "for p in sys.argv[1:]]"
    paths = [str(ROOT / "packaging" / name) for name in ("start.py", "checks.py")]
    assert subprocess.run([sys.executable, "-c", code, *paths], check=False,
                          env={**os.environ, "PYTHONUTF8": "1"}).returncode == 0
