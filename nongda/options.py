"""Options of the commands that use a knowledge base: the data folder and the profile."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from nongda.engine import ROOT, Engine
from nongda.settings import Settings, load_settings


def settings_of(data: Path) -> Settings:
    """Return the program's pipeline with what the data folder's settings.toml changes; SettingsError names the mistake."""
    return load_settings(data / "settings.toml", ROOT / "assets" / "pipeline.toml")


def data_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --data and --profile, which every command takes."""
    command = click.option("--data", type=click.Path(path_type=Path), envvar="NONGDA_DATA",
                           default=ROOT / "index", help="数据文件夹（默认 index，或环境变量 NONGDA_DATA）")(command)
    return click.option("--profile", type=click.Choice(["auto", "lite", "standard", "high"]), default="auto",
                        help="档位：lite 省内存，standard 标准，auto 自动")(command)


def with_engine(command: Callable[..., Any]) -> Callable[..., Any]:
    """Open the engine for a command and close it afterwards."""

    @data_option
    @wraps(command)
    def run(data: Path, profile: str, **options: Any) -> None:  # noqa: ANN401
        engine = Engine.open(settings_of(data), data, profile)
        try:
            command(engine, **options)
        finally:
            engine.close()

    return run
