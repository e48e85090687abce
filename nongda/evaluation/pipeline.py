"""The pipeline that a run was made with, in the form of assets/pipeline.toml."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nongda.settings import STAGES


def as_toml(settings: Mapping[str, Any]) -> str:
    """Return settings as TOML: stages in their order, those that are off as comments, then the numbers by section."""
    lines: list[str] = []
    if "stages" in settings:
        on = settings["stages"]
        lines += ["stages = [", *(f'  "{name}",' if name in on else f'  # "{name}",' for name in STAGES), "]", ""]
    lines += [f"{key} = {_value(value)}" for key, value in settings.items() if key != "stages" and not isinstance(value, dict)]
    for key, part in settings.items():
        if isinstance(part, dict):
            lines += ["", f"[{key}]", *(f"{name} = {_value(value)}" for name, value in part.items())]
    return "\n".join(lines)


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
