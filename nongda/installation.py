"""What must be in place before the first question: weights and the sample documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from nongda.documents.identify import sha256_hex
from nongda.engine import ROOT, Engine
from nongda.intake import AddEvent
from nongda.models.fetch import Progress, fetch, is_present
from nongda.models.hardware import choose_profile, free_disk, memory
from nongda.models.manifest import Manifest, Model, load_manifest

_CHOSEN_BY_AUTO = ("standard", "lite")
_OFFERED = "samples_offered"


def fetch_weights(requested: str, progress: Progress, say: Callable[[str], None], root: Path = ROOT) -> str:
    """Fetch the models the profile still lacks and return the profile; says which one and why.

    Raises WeightsError when memory, disk or all sources fail; an interrupted fetch goes on the next time.
    """
    manifest = load_manifest(root / "models" / "manifest.toml")
    weights = root / "models" / "weights"
    profiles = _CHOSEN_BY_AUTO if requested == "auto" else (requested,)
    missing = {
        profile: sum(m.bytes for m in models_of(manifest, profile) if not is_present(m, weights))
        for profile in profiles
    }
    profile, reason = choose_profile(requested, missing, memory()[1], free_disk(weights))
    say(reason)
    for model in models_of(manifest, profile):
        fetch(model, weights, progress=progress)
    return profile


def models_of(manifest: Manifest, profile: str) -> list[Model]:
    """Return the models a profile needs."""
    selection = manifest.select(profile)
    return [m for m in (selection.embedder, selection.reranker, selection.generator) if m is not None]


def add_samples(engine: Engine, root: Path = ROOT) -> Iterator[AddEvent]:
    """Add the sample documents that were never offered to this data folder; a removed one does not come back."""
    paths = sorted((root / "assets" / "corpus").rglob("*.md"))
    hashes = {path: sha256_hex(path.read_bytes()) for path in paths}
    offered = set(json.loads(engine.note(_OFFERED) or "[]"))
    fresh = [path for path in paths if hashes[path] not in offered]
    if fresh:
        yield from engine.add(fresh)
        engine.set_note(_OFFERED, json.dumps(sorted(offered | set(hashes.values()))))
