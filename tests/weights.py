"""The real lite weights for the tests that need them: fetched when missing, a failure in words when that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from nongda.errors import WeightsError
from nongda.models.fetch import fetch
from nongda.models.manifest import Model, load_manifest

MODELS = Path(__file__).resolve().parent.parent / "models"


def lite(role: str) -> tuple[Model, Path]:
    """Return the lite profile's model for a role ("generator" or "embedder") and the path to load."""
    model: Model = getattr(load_manifest(MODELS / "manifest.toml").select("lite"), role)
    try:
        return model, fetch(model, MODELS / "weights")
    except WeightsError as error:
        pytest.fail(f"these tests need the real lite weights: {error}", pytrace=False)
