"""The pinned packages: exact, complete, what is imported, and free to hand on."""

import ast
import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
# Weak copyleft by file (MPL) asks nothing of a program that uses a package unchanged.
FREE = re.compile(r"MIT|BSD|Apache|PSF|Python Software Foundation|ISC|MPL|Mozilla|Zlib|CC0|Public Domain|Unlicense",
                  re.IGNORECASE)
COPYLEFT = re.compile(r"GPL|GNU|AGPL|SSPL|Commercial|Proprietary", re.IGNORECASE)
SILENT = {"hnswlib": "Apache-2.0", "chroma-hnswlib": "Apache-2.0"}  # read in their sources; no metadata
FORBIDDEN = {"torch", "transformers", "optimum", "sentence-transformers", "tensorflow"}


def read(name: str) -> dict[str, Requirement]:
    """The pins of a list by canonical name; a name may stand in it once."""
    found: dict[str, Requirement] = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        text = re.sub(r"(^|\s)#.*", "", line).strip()
        if text:
            pin = Requirement(text)
            assert canonicalize_name(pin.name) not in found, f"{pin.name} stands twice in {name}"
            found[canonicalize_name(pin.name)] = pin
    return found


RUNTIME, TOOLS = read("requirements.txt"), read("requirements-dev.txt")
HERE = {name: pin for name, pin in {**RUNTIME, **TOOLS}.items() if pin.marker is None or pin.marker.evaluate()}


def direct() -> set[str]:
    """The packages of the list's first block, which the program imports itself."""
    first = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("\n\n")[0]
    return {canonicalize_name(re.split(r"==", line)[0]) for line in first.splitlines() if "==" in line}


@pytest.mark.parametrize("pin", [*RUNTIME.values(), *TOOLS.values()], ids=lambda pin: pin.name)
def test_every_package_has_one_exact_version(pin):
    specifiers = list(pin.specifier)
    assert len(specifiers) == 1 and specifiers[0].operator == "==" and "*" not in specifiers[0].version
    assert pin.url is None


def test_the_lists_do_not_overlap():
    assert not set(RUNTIME) & set(TOOLS)


def test_what_is_installed_is_what_is_pinned():
    assert {name: metadata.version(name) for name in HERE} == \
        {name: next(iter(pin.specifier)).version for name, pin in HERE.items()}


@pytest.mark.parametrize("pins", [RUNTIME, {**RUNTIME, **TOOLS}], ids=["runtime", "tools"])
def test_whatever_a_package_needs_is_pinned_too(pins):
    missing = set()
    for name in set(pins) & set(HERE):
        for text in metadata.requires(name) or []:
            need = Requirement(text)
            wanted = need.marker is None or need.marker.evaluate({"extra": ""})
            if wanted and canonicalize_name(need.name) not in pins:
                missing.add(f"{name} needs {need}")
    assert not missing


def test_the_program_runs_without_the_tools_and_without_training_frameworks():
    assert not FORBIDDEN & {*RUNTIME, *TOOLS}


def test_what_the_program_imports_stands_in_the_first_block():
    owners = metadata.packages_distributions()
    imported = set()
    for path in [ROOT / "app.py", *(ROOT / "nongda").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.split(".")[0])
    packages = {canonicalize_name(owner) for name in imported for owner in owners.get(name, [])}
    assert "gradio" in packages and packages <= direct()


@pytest.mark.parametrize("name", sorted(set(RUNTIME) & set(HERE)))
def test_the_program_may_hand_on_every_package(name):
    about = metadata.metadata(name)
    stated = " ".join([about.get("License-Expression") or "",
                       *(c for c in about.get_all("Classifier") or [] if c.startswith("License"))])
    stated = stated.strip() or (about.get("License") or "")[:200] or SILENT.get(name, "")
    assert FREE.search(stated), f"{name}: {stated!r}"
    assert not COPYLEFT.search(stated), f"{name}: {stated!r}"
