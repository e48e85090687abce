"""Pip's output in words: bytes and time left, elapsed time, and one sentence for a failure."""

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "packaging"))
pip_run = importlib.import_module("pip_run")


def lines(*output: str) -> "pip_run.Progress":
    progress = pip_run.Progress()
    for line in output:
        progress.read(line)
    return progress


def test_a_download_shows_bytes_and_time_left():
    progress = lines("  Downloading demo-1.0-py3-none-any.whl (40.0 MB)", "Progress 10000000 of 40000000")
    # a quarter in 5 s: three quarters take 15 s more
    assert progress.text(progress.began + 5) == "下载 demo-1.0-py3-none-any.whl 10.0/40.0 MB，还需 0:15"


def test_a_download_from_an_address_shows_the_file_name_only():
    progress = lines("Downloading http://127.0.0.1:9/a/b/demo-1.0.tar.gz (1 MB)", "Progress 1000000 of 1000000")
    assert progress.text(progress.began + 1) == "下载 demo-1.0.tar.gz 1.0/1.0 MB"


def test_building_llama_says_how_long_it_takes_and_what_is_left():
    progress = lines("  Building wheel for llama-cpp-python (pyproject.toml): started")
    assert progress.text(progress.began + 65).endswith("，已用 1:05，约还需 6:55")
    assert progress.text(progress.began + 500).endswith("，已用 8:20")
    assert "约 8 分钟" in progress.notice


def test_the_next_step_forgets_the_last_ones_figures():
    progress = lines("Downloading a.whl (2 MB)", "Progress 1000000 of 2000000",
                     "Installing collected packages: a, b, c")
    assert progress.text(progress.began + 3) == "安装 3 个软件包，已用 0:03"


def test_a_line_fits_the_terminal_in_chinese_too():
    assert pip_run.fit("下载 a", 10) == "下载 a   "  # 2+2+1+1 columns of 9, and three spaces
    assert pip_run.fit("下载软件包", 8) == "下载软 "  # 6 columns of 7; the next character needs two
    assert pip_run.fit("", 4) == "   "


def test_retries_count_from_the_first_one():
    progress = lines("WARNING: Retrying (Retry(total=4))")
    progress.began -= 30
    progress.read("WARNING: Retrying (Retry(total=3))")
    assert progress.text(progress.began + 31).endswith("，已用 0:31")


@pytest.mark.parametrize(("output", "words"), [
    (["WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(Temporary failure in "
      "name resolution)'", "ERROR: No matching distribution found for demo==1.0"], "没有网络"),
    (["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"], "磁盘空间不够"),
    (["  ERROR: Failed building wheel for llama-cpp-python", "ERROR: Failed to build installable wheels"],
     "编译没有成功"),
    (["fine", "ERROR: demo has no such version"], "ERROR: demo has no such version"),
    ([], "软件包没有装成"),
])
def test_each_failure_is_one_sentence(output, words):
    sentence = pip_run.explain(output, "install.log")
    assert words in sentence and "\n" not in sentence


def test_output_goes_to_the_log_and_the_code_comes_back(tmp_path, capsys):
    code = "print('Collecting demo'); print('Progress 1 of 2'); import sys; sys.exit(4)"
    log = tmp_path / "install.log"
    result, kept = pip_run.run_pip([sys.executable, "-c", code], tmp_path, dict(os.environ), log)
    assert (result, kept) == (4, ["Collecting demo"])
    assert log.read_text(encoding="utf-8") == "Collecting demo\n"


def test_a_silent_build_still_shows_the_time_that_passes(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pip_run, "TICK", 1.0)
    code = "import time; print('  Building wheel for demo (pyproject.toml): started'); time.sleep(3.5)"
    pip_run.run_pip([sys.executable, "-c", code], tmp_path, dict(os.environ), tmp_path / "install.log")
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) >= 2 and all(line.startswith("编译 demo，已用 0:0") for line in shown)


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
def test_a_stop_also_ends_the_compilers_that_pip_started(tmp_path):
    inner = "import time, pathlib; pathlib.Path('inner').touch(); time.sleep(60)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    code = f"import sys; sys.path.insert(0, {str(Path(pip_run.__file__).parent)!r}); import os, pathlib, pip_run\n" \
           f"pip_run.run_pip([sys.executable, '-c', {outer!r}], pathlib.Path('.'), dict(os.environ), " \
           "pathlib.Path('install.log'))"
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.DEVNULL) as child:
        until = time.monotonic() + 20
        while not (tmp_path / "inner").exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert (tmp_path / "inner").exists()
        child.send_signal(signal.SIGINT)
        child.wait(timeout=15)
    left = [path for path in Path("/proc").glob("[0-9]*/cwd") if _same(path, tmp_path)]
    assert not left


def _same(link: Path, folder: Path) -> bool:
    try:
        return link.resolve() == folder.resolve()
    except OSError:
        return False
