"""The two commands, run for real in a folder of their own: a small app, small packages, no network."""

import ast
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pip
import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "packaging"
sys.path.insert(0, str(SCRIPTS))
start = importlib.import_module("start")

APP = """
import json, os, sys, time
home = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(home, "seen.jsonl"), "a", encoding="utf-8") as out:
    out.write(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}) + "\\n")
if os.path.exists(os.path.join(home, "wait")):
    time.sleep(60)
sys.exit(3 if os.path.exists(os.path.join(home, "fail-" + sys.argv[1])) else 0)
"""
CHECK = """
import json, sys
with open("seen.jsonl", "a", encoding="utf-8") as out:
    out.write(json.dumps({"argv": ["NAME", *sys.argv[1:]]}) + "\\n")
sys.exit(CODE)
"""


def wheel(folder: Path, name: str, version: str, files: dict[str, str]) -> None:
    info = f"{name}-{version}.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)


def pip_wheel(folder: Path) -> None:
    """The pip that runs here, packed again, so that its exact pin can be met without a network."""
    source = Path(pip.__file__).parent
    wheel(folder, "pip", pip.__version__, {
        f"pip/{path.relative_to(source).as_posix()}": path.read_text(encoding="utf-8")
        for path in source.rglob("*") if path.suffix in (".py", ".txt", ".pem", ".typed")})


class Place:
    """A made-up program folder with Chinese characters and a space in its path."""

    def __init__(self, base: Path) -> None:
        self.root, self.wheels = base / "农答 程序", base / "wheels"
        self.wheels.mkdir()
        shutil.copytree(SCRIPTS, self.root / "packaging", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("nongda/__init__.py", "nongda/errors.py", "nongda/models/__init__.py",
                     "nongda/models/hardware.py"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "app.py").write_text(APP, encoding="utf-8")
        pip_wheel(self.wheels)
        wheel(self.wheels, "llama_cpp_python", "1.0", {"llama_cpp.py": ""})
        wheel(self.wheels, "demo", "1.0", {"demo.py": ""})
        for name, code in (("ruff", 0), ("mypy", 0), ("pytest", 7)):
            text = CHECK.replace("NAME", name).replace("CODE", str(code))
            wheel(self.wheels, name, "1.0", {f"{name}/__init__.py": "", f"{name}/__main__.py": text})
        self.require("demo==1.0")
        (self.root / "requirements-dev.txt").write_text("ruff==1.0\nmypy==1.0\npytest==1.0\n")

    def require(self, *lines: str) -> None:
        pins = [f"pip=={pip.__version__}", "llama-cpp-python==1.0", *lines]
        (self.root / "requirements.txt").write_text("# 说明\n" + "\n".join(pins) + "\n", encoding="utf-8")

    def environ(self, **extra: str) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "COV_"))}
        return {**env, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_RETRIES": "0",
                "PIP_FIND_LINKS": self.wheels.as_uri(), "PYTHONUTF8": "1", **extra}

    def run(self, *argv: str, **extra: str) -> subprocess.CompletedProcess[str]:
        (self.root / "seen.jsonl").unlink(missing_ok=True)
        command = [sys.executable, str(self.root / "packaging/start.py"), *argv]
        return subprocess.run(command, cwd=self.wheels.parent, env=self.environ(**extra), encoding="utf-8",
                              capture_output=True, timeout=120, check=False)

    def seen(self) -> list[dict]:
        path = self.root / "seen.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] \
            if path.exists() else []


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder after its first start, and what that start gave back."""
    place = Place(tmp_path_factory.mktemp("first"))
    result = place.run("--profile", "lite", "--data", "资料 库", "--port", "7861",
                       http_proxy="http://127.0.0.1:9", SSL_CERT_FILE="/nowhere/cert.pem")
    return place, result, place.seen()


@pytest.fixture
def ready(first):
    """The folder after its first start, brought back to that state."""
    place = first[0]
    place.require("demo==1.0")
    for name in ("wait", "fail-setup", "fail-serve"):
        (place.root / name).unlink(missing_ok=True)
    return place


def sentence(result: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in result.stdout + result.stderr
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_the_first_start_installs_everything_then_sets_up_and_serves(first):
    place, result, seen = first
    assert result.returncode == 0, result.stdout + result.stderr
    assert [entry["argv"] for entry in seen] == [
        ["setup", "--profile", "lite", "--data", "资料 库"],
        ["serve", "--profile", "lite", "--data", "资料 库", "--port", "7861"],
    ]
    assert {entry["cwd"] for entry in seen} == {str(place.wheels.parent)}  # a path means what the reader meant
    python = start.ensure_environment(place.root)
    assert subprocess.run([python, "-c", "import demo, llama_cpp"], check=False).returncode == 0
    assert start.probe(python).split()[1] == pip.__version__


def test_only_serving_goes_without_proxies_and_hub_and_neither_sees_a_stale_certificate(first):
    setup, serve = (entry["env"] for entry in first[2])
    assert setup["http_proxy"] == "http://127.0.0.1:9" and "HF_HUB_OFFLINE" not in setup
    assert "http_proxy" not in serve and serve["HF_HUB_OFFLINE"] == "1"
    for env in (setup, serve):
        assert "SSL_CERT_FILE" not in env
        assert env["NO_PROXY"].startswith("localhost,127.0.0.1")
        assert env["PYTHONUTF8"] == "1" and env["GRADIO_ANALYTICS_ENABLED"] == "False"


def test_the_second_start_runs_no_pip_and_needs_no_compiler_and_no_packages(ready, tmp_path):
    log = (ready.root / ".venv/install.log").read_bytes()
    result = ready.run(PIP_FIND_LINKS=tmp_path.as_uri(), PATH=str(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr
    assert [entry["argv"][0] for entry in ready.seen()] == ["setup", "serve"]
    assert (ready.root / ".venv/install.log").read_bytes() == log


def test_a_changed_list_is_installed_and_a_failed_one_leaves_no_stamp(ready):
    ready.require("demo==2.0")
    result = ready.run()
    assert result.returncode == 1 and "install.log" in sentence(result) and not ready.seen()
    wheel(ready.wheels, "demo", "2.0", {"demo.py": ""})
    assert ready.run().returncode == 0 and len(ready.seen()) == 2


def test_without_a_network_the_first_start_says_so(ready):
    ready.require("demo==3.0")
    result = ready.run(PIP_NO_INDEX="0", PIP_RETRIES="1", PIP_INDEX_URL="http://127.0.0.1:9/simple")
    assert result.returncode == 1 and "没有网络" in sentence(result) and not ready.seen()


def test_a_failed_setup_is_handed_on_and_nothing_is_served(ready):
    (ready.root / "fail-setup").touch()
    assert ready.run().returncode == 3
    assert [entry["argv"][0] for entry in ready.seen()] == ["setup"]


def test_the_tests_run_after_the_checks_and_their_code_is_the_exit_code(ready):
    result = ready.run("test", "tests/test_x.py", "-k", "某个 名字")
    assert result.returncode == 7, result.stdout + result.stderr
    assert [entry["argv"] for entry in ready.seen()] == [
        ["setup", "--profile", "lite"], ["ruff", "check", "."], ["mypy"],
        ["pytest", "--cov=nongda", "tests/test_x.py", "-k", "某个 名字"],
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
@pytest.mark.parametrize(("number", "to_group"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_a_stop_ends_the_child_and_says_that_the_next_run_goes_on(ready, number, to_group):
    (ready.root / "wait").touch()
    (ready.root / "seen.jsonl").unlink(missing_ok=True)
    with subprocess.Popen([sys.executable, "packaging/start.py"], cwd=ready.root, env=ready.environ(),
                          encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as child:
        until = time.monotonic() + 30
        while not ready.seen() and time.monotonic() < until:
            time.sleep(0.05)
        (os.killpg if to_group else os.kill)(child.pid, number)
        out, err = child.communicate(timeout=30)
    assert child.returncode == 130 and "已停止，下次会接着做" in out
    assert "start.py" not in err, err
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)


def test_a_half_made_environment_is_made_anew(tmp_path):
    broken = tmp_path / ".venv"
    (broken / "bin").mkdir(parents=True)
    (broken / "installed-requirements.txt").write_text("stale")
    python = start.ensure_environment(tmp_path)
    assert start.probe(python).split()[0] == ".".join(map(str, sys.version_info[:3]))
    assert not (broken / "installed-requirements.txt").exists()


def test_a_second_setup_at_the_same_time_is_refused(tmp_path):
    code = f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import start, pathlib\n" \
           f"with start.lock(pathlib.Path({str(tmp_path)!r})): pass"
    run = [sys.executable, "-c", code]
    with start.lock(tmp_path):
        second = subprocess.run(run, capture_output=True, encoding="utf-8", check=False,
                                env={**os.environ, "PYTHONUTF8": "1"})
    assert second.returncode == 1 and "另一个窗口" in second.stderr
    assert subprocess.run(run, check=False).returncode == 0


def test_settings_that_lead_pip_or_python_astray_do_not_reach_the_children():
    given = {"PYTHONPATH": "/x", "PYTHONHOME": "/y", "PIP_TARGET": "/z", "no_proxy": "intranet", "HOME": "/h"}
    env = start.child_env(given)
    assert env["NO_PROXY"] == "localhost,127.0.0.1,intranet" and env["HOME"] == "/h" and env["PIP_USER"] == "0"
    assert not {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "no_proxy"} & set(env)


def test_a_certificate_path_that_exists_is_kept(tmp_path):
    assert start.child_env({"SSL_CERT_DIR": str(tmp_path)})["SSL_CERT_DIR"] == str(tmp_path)


def test_the_scripts_use_the_standard_library_alone_and_are_no_package():
    own = {path.stem for path in SCRIPTS.glob("*.py")} | {"nongda"}
    assert "__init__" not in own
    for path in (SCRIPTS / "start.py", SCRIPTS / "checks.py", SCRIPTS / "pip_run.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else \
                [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names | own, f"{path.name}: {name}"
