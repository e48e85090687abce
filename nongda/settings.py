"""All numbers a station may change, frozen, read from TOML; an unknown key is an error that names it."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nongda.errors import SettingsError

# The least value of each number that is not allowed down to zero, or that may go below it.
_LEAST = {
    "chunk.max_length": 1, "chunk.max_sentence": 1, "chunk.window": 1, "search.candidates": 1, "search.keep": 1,
    "search.hnsw_m": 2, "search.hnsw_ef_construction": 1, "answer.context": 1, "answer.max_tokens": 1,
    "answer.max_question": 1, "answer.gate": -1000, "gpu_layers": -1,  # -1: all layers
}
_WORDS = {"answer.style": ("quote", "write")}


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Lengths in characters; `similarity_cut` is a cosine of neighbouring sentences, for the embedder in use."""

    min_length: int = 200
    max_length: int = 600
    max_sentence: int = 350
    similarity_cut: float = 0.896
    overlap: int = 0
    window: int = 500
    window_overlap: int = 100
    window_snap: int = 80


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Retrieval: BM25 constants, fusion constant and weights, how many candidates are reranked and kept.

    A ranking whose weight is 0 is not asked for.
    """

    bm25_k1: float = 1.5
    bm25_b: float = 0.75
    rrf_k: int = 60
    bm25_weight: float = 1.0
    dense_weight: float = 1.0
    candidates: int = 20
    keep: int = 12
    exact_below: int = 2000  # vectors; under this the exact search costs a millisecond
    hnsw_m: int = 32
    hnsw_ef_construction: int = 128

    def __post_init__(self) -> None:
        """Raise SettingsError when nothing would be searched."""
        if not self.bm25_weight and not self.dense_weight:
            raise SettingsError("设置里 search.bm25_weight 和 search.dense_weight 都是 0，什么也检索不到：请至少改一项")


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Writing: context in tokens, history in turns and characters, thresholds from the `calibrate` command."""

    context: int = 4096
    max_tokens: int = 240
    temperature: float = 0.2
    rewrite_turns: int = 2
    history_turns: int = 8
    history_characters: int = 800
    cite_threshold: float = 0.708
    gate: float = 0.0  # least score at which a question counts as answerable; -1000: never refuse for likeness
    max_question: int = 2000  # characters
    style: str = "quote"  # "write": the model's own sentences, each checked


@dataclass(frozen=True, slots=True)
class Settings:
    """One object for the whole program; built once by the engine's caller and passed in."""

    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    threads: int = 0  # 0: as many as the machine has physical cores
    gpu_layers: int = 0


def load_settings(path: Path) -> Settings:
    """Read settings from a TOML file; a file that does not exist means the defaults.

    Raises SettingsError for broken TOML, an unknown key, a value of the wrong type or below its least.
    """
    if not path.exists():
        return Settings()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Notepad may begin it with a mark
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"设置文件 {path} 无法读取（{error}）：请改正或删除该文件") from error
    settings: Settings = _build(Settings, data, str(path), "")
    return settings


def override(settings: Settings, changes: Mapping[str, Any], where: str) -> Settings:
    """Return settings with some values replaced, given as in the file; SettingsError as for the file."""
    merged = {key: dict(value) if isinstance(value, dict) else value for key, value in asdict(settings).items()}
    for key, value in changes.items():
        merged[key] = {**merged[key], **value} if isinstance(merged.get(key), dict) and isinstance(value, dict) else value
    result: Settings = _build(Settings, merged, where, "")
    return result


def _build(cls: type[Any], data: dict[str, Any], path: str, prefix: str) -> Any:  # noqa: ANN401
    defaults = cls()
    known = {f.name: getattr(defaults, f.name) for f in dataclasses.fields(cls)}
    values: dict[str, Any] = {}
    for key, value in data.items():
        name = prefix + key
        if key not in known:
            raise SettingsError(f"设置文件 {path} 里有不认识的项“{name}”：请删除它，可用的项有 {'、'.join(known)}")
        default = known[key]
        if dataclasses.is_dataclass(default):
            if not isinstance(value, dict):
                raise SettingsError(f"设置文件 {path} 的“{name}”应是一个小节，写成 [{name}]")
            values[key] = _build(type(default), value, path, name + ".")
        elif isinstance(default, str):
            values[key] = _word(value, path, name)
        else:
            values[key] = _number(value, default, path, name)
    return cls(**values)


def _word(value: object, path: str, name: str) -> str:
    if not isinstance(value, str) or value not in _WORDS[name]:
        raise SettingsError(f"设置文件 {path} 的“{name}”应是 {'、'.join(_WORDS[name])} 之一，现在是 {value!r}")
    return value


def _number(value: object, default: int | float, path: str, name: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SettingsError(f"设置文件 {path} 的“{name}”应是数字，现在是 {value!r}")
    least = _LEAST.get(name, 0)
    if not math.isfinite(value) or value < least:
        raise SettingsError(f"设置文件 {path} 的“{name}”应是不小于 {least} 的数字，现在是 {value!r}")
    if isinstance(default, int):
        if value != int(value):
            raise SettingsError(f"设置文件 {path} 的“{name}”应是整数，现在是 {value!r}")
        return int(value)
    return float(value)
