"""Set up whatever is still missing, then open 农答 (`start.py`) or run its tests (`start.py test`).

Standard library only. Each step is skipped when it is done, and a stopped run goes on where it was:
1. the machine: Python, processor, memory, disk, and a compiler while packages have yet to be built;
2. `.venv` and the exact packages of requirements.txt, with a stamp once all of them are in;
3. `app.py setup`: the weights of the profile and the sample knowledge base;
4. `app.py serve`, or ruff, mypy and pytest.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from checks import SetupError, check_compiler, check_processor, check_python, check_room, pin

ROOT = Path(__file__).resolve().parent.parent
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy")
# Settings that would make pip install elsewhere than into the environment it runs in.
FOREIGN = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_HASHES")


class Terminated(KeyboardInterrupt):
    """The program was asked to end by the system, not by the keyboard."""


def main(argv: list[str], root: Path = ROOT) -> int:
    """Run the command line and return its exit code; every failure is one sentence."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console of another code page must not stop the set-up
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _terminate)
    try:
        return run_tests(argv[1:], root) if argv[:1] == ["test"] else run_app(argv, root)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"文件或磁盘出错：{error}，请检查权限和剩余空间后再试（file or disk error）", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("\n已停止，下次会接着做（stopped; the next run goes on from here）")
        return 130


def _terminate(number: int, frame: object) -> None:
    raise Terminated


def run_app(argv: list[str], root: Path) -> int:
    """Set up what is missing and open the page."""
    parser = argparse.ArgumentParser(prog="start.py", allow_abbrev=False, description="准备并打开农答；"
                                     "start.py test 运行测试（set up and open NongDa; test: run its tests）")
    parser.add_argument("--profile", choices=("lite", "standard", "high", "auto"), default="auto",
                        help="模型档位，auto 按可用内存和磁盘（which models）")
    parser.add_argument("--data", help="资料库文件夹（data folder）")
    options, rest = parser.parse_known_args(argv)
    shared = ["--profile", options.profile] + (["--data", options.data] if options.data else [])
    python = prepare(root, ["requirements.txt"])
    app = [python, str(root / "app.py")]
    code = call([*app, "setup", *shared], child_env(os.environ))
    if code:
        return code
    try:
        return call([*app, "serve", *shared, *rest], child_env(os.environ, offline=True))
    except KeyboardInterrupt:  # the usual way to close the page, which says so itself
        return 0


def run_tests(argv: list[str], root: Path) -> int:
    """Set up what is missing, run the checks and the tests; the code is pytest's, or 1 for a failed check."""
    python = prepare(root, ["requirements.txt", "requirements-dev.txt"])
    os.chdir(root)
    code = call([python, "app.py", "setup", "--profile", "lite"], child_env(os.environ))
    if code:
        return code
    env = child_env(os.environ, proxies=False)
    checks = [call([python, "-m", *check], env) for check in (["ruff", "check", "."], ["mypy"])]
    code = call([python, "-m", "pytest", "--cov=nongda", *argv], env)
    return code or max(map(bool, checks))


def say(text: str) -> None:
    """Print one line at once, also into a pipe."""
    print(text, flush=True)


def child_env(environ: os._Environ[str] | dict[str, str], proxies: bool = True,
              offline: bool = False) -> dict[str, str]:
    """The environment of a child: UTF-8, no analytics, no stale certificate path, loopback never proxied."""
    env = {name: value for name, value in environ.items() if name not in FOREIGN}
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if name in env and not os.path.exists(env[name]):
            del env[name]
    if offline or not proxies:
        env = {name: value for name, value in env.items() if name.lower() not in PROXIES}
    if offline:
        env["HF_HUB_OFFLINE"] = "1"
    others = env.pop("NO_PROXY", "") or env.pop("no_proxy", "")
    env.pop("no_proxy", None)
    env["NO_PROXY"] = ",".join(filter(None, ["localhost,127.0.0.1", others]))
    env.update(PYTHONUTF8="1", GRADIO_ANALYTICS_ENABLED="False", PIP_USER="0")
    return env


def call(command: list[str], env: dict[str, str]) -> int:
    """Run a child in the foreground and return its exit code; when we are stopped, it ends first."""
    with subprocess.Popen(command, env=env) as child:
        try:
            return child.wait()
        except KeyboardInterrupt as stop:
            end(child, ask=isinstance(stop, Terminated))
            raise


def end(child: subprocess.Popen, ask: bool) -> None:  # type: ignore[type-arg]
    """Let a child finish after Ctrl-C, which the terminal sent to it as well; else ask, then insist."""
    if ask:
        child.terminate()
    for insist in (child.terminate, child.kill):
        try:
            child.wait(timeout=10)
            return
        except subprocess.TimeoutExpired:
            insist()


def prepare(root: Path, lists: list[str]) -> str:
    """Steps 1 and 2; returns the path of the environment's Python. Raises SetupError."""
    check_python(sys.version_info[:2], sys.maxsize > 2**32)
    check_processor(root)
    with lock(root):
        python = ensure_environment(root)
        version = probe(python)
        for name in lists:
            stamp = root / ".venv" / f"installed-{name}"
            wanted = fingerprint(root / name, version)
            if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
                check_room(root)
                check_compiler(root)
                install(root, python, name)
                part = stamp.with_suffix(".tmp")
                part.write_text(wanted, encoding="utf-8")
                os.replace(part, stamp)
    return python


@contextmanager
def lock(root: Path) -> Iterator[None]:
    """Let one set-up at a time into this folder. Raises SetupError when another one is at work."""
    name = hashlib.sha256(str(root).encode()).hexdigest()[:16]
    with open(Path(tempfile.gettempdir(), f"nongda-setup-{name}.lock"), "a+") as handle:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise SetupError("另一个窗口正在做准备：请等它完成，或先把它停下"
                             "（another set-up is running）") from error
        yield


def ensure_environment(root: Path) -> str:
    """Make `.venv` where it is missing, broken or half made; returns the path of its Python."""
    venv = root / ".venv"
    python = str(venv / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))
    if probe(python):
        return python
    if importlib.util.find_spec("ensurepip") is None:
        raise SetupError("缺少 Python 的 venv 模块：请运行 sudo apt install python3-venv python3-dev，"
                         "再运行一次（python3-venv needed）")
    if venv.exists():
        say("虚拟环境不完整，重新建立（making .venv anew）")
        shutil.rmtree(venv)
    say("建立虚拟环境 .venv（making .venv）")
    made = subprocess.run([sys.executable, "-m", "venv", str(venv)], capture_output=True, check=False,
                          encoding="utf-8", errors="replace")
    if made.returncode or not probe(python):
        last = (made.stderr + made.stdout).strip().splitlines()[-1:] or ["?"]
        raise SetupError(f"虚拟环境 .venv 没有建成（{last[0]}）：请检查权限和剩余空间后再试"
                         "（cannot make .venv）")
    return python


def probe(python: str) -> str:
    """Versions of an environment's Python and pip, such as "3.11.7 26.3"; empty when it does not work."""
    query = "import sys, pip; assert (3, 11) <= sys.version_info[:2] <= (3, 13); " \
            "print('.'.join(map(str, sys.version_info[:3])), pip.__version__)"
    try:
        answer = subprocess.run([python, "-c", query], capture_output=True, check=False, encoding="utf-8",
                                env=child_env(os.environ))
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def fingerprint(requirements: Path, version: str) -> str:
    """What a stamp holds: the Python that packages were installed for and the hash of their list."""
    return version.split()[0] + " " + hashlib.sha256(requirements.read_bytes()).hexdigest()


def install(root: Path, python: str, name: str) -> None:
    """Install one list of packages with the pip that it is pinned to. Raises SetupError."""
    from pip_run import explain, run_pip  # here: an older Python cannot read it, and must still be told so

    base, wanted = root / "requirements.txt", pin(root, "pip")
    log = root / ".venv" / "install.log"
    env = child_env(os.environ)
    say(f"安装 {name} 里的软件包，记录在 {log}（installing packages）")
    bounds = [] if name == base.name else ["--constraint", str(base)]
    tasks = [["--progress-bar", "raw", *bounds, "--requirement", str(root / name)]]
    if probe(python).split()[1] != wanted:
        tasks.insert(0, [f"pip=={wanted}"])
    for task in tasks:
        code, output = run_pip([python, "-m", "pip", "install", "--no-input", *task], root, env, log)
        if code:
            raise SetupError(explain(output, str(log)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
