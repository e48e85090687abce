"""What must be in place before the first question: weights and the sample documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from nongda.documents.identify import sha256_hex
from nongda.engine import ROOT, Engine
from nongda.models.fetch import ensure
from nongda.models.hardware import choose_profile
from nongda.models.manifest import load_manifest
from nongda.records import AddEvent

_OFFERED = "samples_offered"


def fetch_weights(profile: str, progress: Callable[[str, int, int], None], root: Path = ROOT) -> tuple[str, str]:
    """Fetch what the profile still lacks; return the profile chosen and the sentence that says why."""
    manifest = load_manifest(root / "models" / "manifest.toml")
    raise NotImplementedError(manifest, ensure, choose_profile)


def add_samples(engine: Engine, root: Path = ROOT) -> Iterator[AddEvent]:
    """Add the sample documents that were never offered to this data folder; a removed one does not come back."""
    paths = sorted((root / "assets" / "corpus").rglob("*.md"))
    hashes = {path: sha256_hex(path.read_bytes()) for path in paths}
    offered = set(json.loads(engine.note(_OFFERED) or "[]"))
    fresh = [path for path in paths if hashes[path] not in offered]
    if fresh:
        yield from engine.add(fresh)
        engine.set_note(_OFFERED, json.dumps(sorted(offered | set(hashes.values()))))
