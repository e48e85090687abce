"""The stages of the pipeline and all numbers a station may change, frozen, read from TOML.

assets/pipeline.toml declares them for the program; a station's settings.toml changes some of them. An unknown key is an
error that names it.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from nongda.errors import SettingsError

# The least value of each number that is not allowed down to zero, or that may go below it.
_LEAST = {
    "chunk.max_length": 1, "chunk.thin_length": 1, "chunk.dense_length": 1, "chunk.max_sentence": 1, "chunk.window": 1,
    "search.candidates": 1, "search.keep": 1,
    "search.hnsw_m": 2, "search.hnsw_ef_construction": 1, "answer.context": 1, "answer.max_tokens": 1, "answer.hyde_tokens": 1,
    "answer.max_question": 1, "answer.gate": -1000, "gpu_layers": -1,  # -1: all layers
}
_WORDS = {
    "chunk.splitter": ("semantic", "adaptive", "fixed", "sliding"),
    "answer.style": ("quote", "write"), "answer.decompose": ("rules", "model"),
}

# All stages in the program's order, and which of them a pipeline may leave out.
STAGES = (
    "understand", "spelling", "ask_back", "specialists", "decompose", "refine", "hyde", "bm25", "dense", "facts",
    "dynamic_fusion", "fuse", "rerank", "lookup", "select", "gate", "decide", "chain", "notes",
)
OPTIONAL_STAGES = frozenset({
    "spelling", "ask_back", "specialists", "decompose", "refine", "hyde", "facts", "dynamic_fusion", "rerank", "lookup",
    "gate", "chain", "notes",
})
_STAGES_OFF = frozenset({"refine", "hyde"})  # a call of the language model each


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Lengths in characters; `similarity_cut` is a cosine of neighbouring sentences, for the embedder in use.

    Densities are quantities and names per 100 characters, for the splitter "adaptive".
    """

    splitter: str = "semantic"
    min_length: int = 200
    max_length: int = 600
    max_sentence: int = 350
    similarity_cut: float = 0.896
    overlap: int = 0
    window: int = 500
    window_overlap: int = 100
    window_snap: int = 80
    thin_density: float = 4.0
    thin_length: int = 800
    dense_density: float = 10.0
    dense_length: int = 400
    dense_overlap: int = 120


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Retrieval: BM25 constants, fusion constant and weights, how many candidates are reranked and kept.

    A ranking whose weight is 0 is not asked for. `short_bm25_weight` stands for `bm25_weight` in questions of at most
    `short_tokens` words (0: in none).
    """

    bm25_k1: float = 1.5
    bm25_b: float = 0.75
    rrf_k: int = 60
    bm25_weight: float = 1.0
    dense_weight: float = 1.0
    part_weight: float = 1.0  # of each sub-question's rankings
    fact_weight: float = 1.0  # of the passages that facts point to
    specialist_weight: float = 0.0  # of BM25 with the specialist's words added
    off_topic_weight: float = 0.5  # of the score of a passage that speaks of nothing in the domain
    short_tokens: int = 0
    short_bm25_weight: float = 1.0
    candidates: int = 20
    keep: int = 12
    exact_below: int = 30_000  # vectors; under this the exact search takes 20 ms, and building a graph a minute
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
    refine_temperature: float = 0.1
    decompose_temperature: float = 0.5
    hyde_tokens: int = 120
    rewrite_turns: int = 2
    history_turns: int = 8
    history_characters: int = 800
    cite_threshold: float = 0.708
    gate: float = 0.0  # least score at which a question counts as answerable; -1000: never refuse for likeness
    max_question: int = 2000  # characters
    decompose: str = "rules"  # "model": the language model parts questions of several hops
    style: str = "quote"  # "write": the model's own sentences, each checked


@dataclass(frozen=True, slots=True)
class Settings:
    """One object for the whole program; built once by the engine's caller and passed in."""

    stages: tuple[str, ...] = tuple(name for name in STAGES if name not in _STAGES_OFF)
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    threads: int = 0  # 0: as many as the machine has physical cores
    gpu_layers: int = 0

    def has(self, stage: str) -> bool:
        """Tell whether the pipeline has a stage."""
        return stage in self.stages


def load_settings(path: Path, pipeline: Path | None = None) -> Settings:
    """Read the program's pipeline and over it the station's settings; a station without a file has the program's.

    The station's file may switch stages with `stages_off` and `stages_on`. Raises SettingsError for broken TOML, an
    unknown key or stage, a value of the wrong type or below its least, a stage out of order or missing.
    """
    settings = Settings() if pipeline is None else override(Settings(), _read(pipeline), str(pipeline))
    return override(settings, _read(path), str(path)) if path.exists() else settings


def override(settings: Settings, changes: Mapping[str, Any], where: str) -> Settings:
    """Return settings with some values replaced, given as in the station's file; SettingsError as for the file."""
    merged = {key: dict(value) if isinstance(value, dict) else value for key, value in asdict(settings).items()}
    for key, value in changes.items():
        merged[key] = {**merged[key], **value} if isinstance(merged.get(key), dict) and isinstance(value, dict) else value
    _switch(merged, where)
    result: Settings = _build(Settings, merged, where, "")
    return result


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Notepad may begin it with a mark
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"设置文件 {path} 无法读取（{error}）：请改正、恢复或删除该文件") from error


def _switch(merged: dict[str, Any], path: str) -> None:
    """Take `stages_off` and `stages_on` out of the values, and their stages out of and into `stages`."""
    off, on = (_stage_names(merged.pop(key, ()), path, key) for key in ("stages_off", "stages_on"))
    for name in off:
        if name not in OPTIONAL_STAGES:
            raise SettingsError(f"设置文件 {path} 的“stages_off”里的“{name}”关不得，没有它答不成：请删去")
        if name in on:
            raise SettingsError(f"设置文件 {path} 里“{name}”既在“stages_on”又在“stages_off”：请删去一处")
    if off or on:
        now = _stage_names(merged["stages"], path, "stages")
        merged["stages"] = tuple(name for name in STAGES if (name in now or name in on) and name not in off)


def _stage_names(value: object, path: str, name: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise SettingsError(f"设置文件 {path} 的“{name}”应是一列步骤名，写成 [\"facts\", \"chain\"]，现在是 {value!r}")
    for stage in value:
        if stage not in STAGES:
            raise SettingsError(f"设置文件 {path} 的“{name}”里有不认识的步骤“{stage}”：可用的有 {'、'.join(STAGES)}")
    return tuple(value)


def _pipeline(value: object, path: str) -> tuple[str, ...]:
    """Return a whole pipeline: every stage that must be there, in the program's order."""
    names = _stage_names(value, path, "stages")
    for one, other in pairwise(names):
        if STAGES.index(one) >= STAGES.index(other):
            wrong = f"“{one}”写了两次，请删去一个" if one == other else f"“{other}”应写在“{one}”前面"
            raise SettingsError(f"设置文件 {path} 的“stages”次序不对：{wrong}")
    missing = [name for name in STAGES if name not in names and name not in OPTIONAL_STAGES]
    if missing:
        raise SettingsError(f"设置文件 {path} 的“stages”里缺少“{'”“'.join(missing)}”，没有它答不成：请补上")
    return names


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
        elif isinstance(default, tuple):
            values[key] = _pipeline(value, path)
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
