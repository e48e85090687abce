"""The house's order: imports go one way, and importing does no work."""

import ast
import graphlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("nongda.records nongda.intake nongda.errors nongda.settings", "nongda.language", "nongda.documents", "nongda.models",
          "nongda.index", "nongda.answer", "nongda.loading", "nongda.preparers nongda.library nongda.checkup",
          "nongda.engine nongda.installation",
          "nongda.ui nongda.evaluation "
          "nongda.console nongda.options nongda.evaluate_cli nongda.words_cli nongda.documents_cli nongda.pack_cli "
          "nongda.facts_cli nongda.cli", "app")
FORBIDDEN = {"torch", "transformers", "optimum", "sentence_transformers", "tensorflow"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in [ROOT / "app.py", *sorted((ROOT / "nongda").rglob("*.py"))]}


def imports(name: str) -> set[str]:
    """Every module that a file imports, at its top or inside a function, by full name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: imports are written with the full name"
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names
                         if f"{node.module}.{alias.name}" in FILES)
    return found


def layer(name: str) -> int:
    """A module's place in the order; the bare package and empty folders of it lie below everything."""
    if name == "nongda":
        return -1
    for number, members in enumerate(LAYERS):
        if any(name == member or name.startswith(member + ".") for member in members.split()):
            return number
    raise AssertionError(f"{name} has no place in the order of the layers")


@pytest.mark.parametrize("name", FILES)
def test_a_module_imports_only_its_own_layer_and_those_before_it(name):
    above = {other for other in imports(name) if other in FILES and layer(other) > layer(name)}
    assert not above


def test_no_modules_import_each_other_in_a_circle():
    graph = {name: {other for other in imports(name) if other in FILES and other != name} for name in FILES}
    list(graphlib.TopologicalSorter(graph).static_order())


def test_storage_knows_no_models():
    for name in ("nongda.index.store", "nongda.index.migrations"):
        assert not {other for other in imports(name) if other.startswith("nongda.models")}


def test_gradio_is_imported_by_the_modules_of_the_layout_alone():
    users = {name for name in FILES for other in imports(name) if other.split(".")[0].startswith("gradio")}
    assert users and all(name.startswith("nongda.ui.layout") for name in users)


def test_nothing_imports_a_training_framework():
    assert not {(name, other) for name in FILES for other in imports(name) if other.split(".")[0] in FORBIDDEN}


IMPORT_ALL = """
import importlib, json, sys
ours, others = json.loads(sys.stdin.read())
for name in others:  # what a library does when it is imported is not ours to judge
    try:
        importlib.import_module(name)
    except ImportError:
        pass
seen = []
def watch(event, args):
    if event == "open" and not str(args[0]).endswith((".py", ".pyc")) and not isinstance(args[0], int):
        seen.append(f"open {args[0]}")
    elif event.startswith(("socket.", "subprocess.", "sqlite3.", "os.mkdir", "os.remove", "os.rename")):
        seen.append(event)
sys.addaudithook(watch)
for name in ours:
    before = len(seen)
    importlib.import_module(name)
    seen[before:] = [f"{name}: {event}" for event in seen[before:]]
print(json.dumps(seen))
"""


def test_importing_a_module_opens_no_file_and_no_socket():
    ours = [name for name in FILES if name != "app"]
    others = sorted({other for name in ours for other in imports(name) if other not in FILES and other})
    run = subprocess.run([sys.executable, "-B", "-c", IMPORT_ALL], input=json.dumps([ours, others]), cwd=ROOT,
                         capture_output=True, encoding="utf-8", timeout=180, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[-1]) == []
