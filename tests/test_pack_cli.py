"""The command pack as a province and a station meet it: from a key to an undone pack."""

import pytest
from click.testing import CliRunner, Result

from nongda.cli import cli
from nongda.engine import ROOT, Engine
from nongda.errors import DocumentError, UsageError
from nongda.index.store import Store
from nongda.loading import Models
from nongda.models.manifest import load_manifest
from nongda.models.rerank import TokenCache
from nongda.pack_cli import pack

RUST_2024 = "# 咖啡叶锈病防治通知（2024年）\n\n发布日期：2024-03-01\n\n发病初期剪除病枝，集中烧毁。每7天查一次园。\n"
RUST_2025 = "# 咖啡叶锈病防治通知（2025年）\n\n发布日期：2025-03-01\n\n发病初期剪除病枝，带出园外烧毁。每5天查一次园。\n"


@pytest.fixture
def run(tmp_path, monkeypatch, lexicon, embedder):
    """Run a command with the data folder of a province or a station, with a small domain and embedder."""
    manifest = load_manifest(ROOT / "models" / "manifest.toml")
    models = Models(embedder, None, None, TokenCache(embedder))
    monkeypatch.setattr(Engine, "open", lambda settings, data, profile: Engine(
        settings, Store(data), manifest, lexicon, profile, ROOT, models))
    monkeypatch.chdir(tmp_path)

    def command(site: str, *arguments: str) -> Result:
        group, rest = (pack, arguments[1:]) if arguments[0] == "pack" else (cli, arguments)
        return CliRunner().invoke(group, [*rest, "--data", str(tmp_path / site)], standalone_mode=False)

    return command


@pytest.fixture
def key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return CliRunner().invoke(pack, ["key", "make", "试验省站"], standalone_mode=False)


def test_a_pack_goes_from_the_province_to_a_station_and_is_undone(run, key, tmp_path):
    assert "试验省站.key" in key.output and "打电话核对" in key.output
    for site, name, text in (("省", "新.md", RUST_2025), ("县", "旧.md", RUST_2024)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert run(site, "add", name).exit_code == 0
    made = run("省", "pack", "make", "县站-2026.05", "--key", "试验省站.key", "--date", "2026-05-01")
    assert made.exit_code == 0 and "已写入并读回核对：县站-2026.05.ndpack" in made.output
    refused = run("县", "pack", "check", "县站-2026.05.ndpack").exception
    assert isinstance(refused, DocumentError) and "pack trust" in str(refused)
    assert "已信任“试验省站”" in run("县", "pack", "trust", "试验省站.pub").output
    assert run("县", "pack", "trusted").output.endswith("试验省站\n共 1 个信任的公钥\n")
    before = run("县", "docs", "--json").output
    check = run("县", "pack", "check", "县站-2026.05.ndpack").output
    assert run("县", "docs", "--json").output == before
    added = run("县", "pack", "add", "县站-2026.05.ndpack").output
    for output in (check, added):
        assert "新资料：1\n" in output and "被新版代替：1\n" in output and "已在知识库：0 份\n" in output
    assert "已添加知识包“县站-2026.05”" in added and "计算" not in added
    assert "没有改动" in run("县", "pack", "add", "县站-2026.05.ndpack").output
    assert "2026-05-01 制作" in run("县", "pack", "list").output
    assert "移除资料 1 份，恢复资料 1 份、叫法 0 个" in run("县", "pack", "undo").output
    assert run("县", "docs", "--json").output == before
    assert run("县", "pack", "list").output == "共 0 个知识包\n"


def test_documents_are_chosen_and_withdrawn_by_their_ids(run, key, tmp_path):
    for name, text in (("甲.md", RUST_2025), ("乙.md", "# 天牛\n\n剪除虫枝。\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert run("省", "add", name).exit_code == 0
    first, second = (line.split()[0] for line in run("省", "docs").output.splitlines()[:2])
    made = run("省", "pack", "make", "a.ndpack", "--key", "试验省站.key", "--documents", first, "--retire", f"{second}=已停用")
    assert "1 份资料，停用 1 份" in made.output
    for arguments, says in ((("--documents", "00000000"), "00000000"), (("--retire", "甲"), "8 位编号"), (("--date", "五月"), "不是日期")):
        result = run("省", "pack", "make", "b.ndpack", "--key", "试验省站.key", *arguments)
        assert isinstance(result.exception, UsageError) and says in str(result.exception)
    assert not (tmp_path / "b.ndpack").exists()


def test_a_missing_pack_and_a_missing_key_are_errors(run, tmp_path):
    assert isinstance(run("县", "pack", "add", "没有.ndpack").exception, DocumentError)
    assert isinstance(run("县", "pack", "trust", "没有.pub").exception, UsageError)
    assert isinstance(run("县", "pack", "undo").exception, UsageError)
    assert isinstance(run("省", "pack", "make", "a", "--key", "没有.key").exception, UsageError)


def test_a_key_is_never_written_over(key):
    again = CliRunner().invoke(pack, ["key", "make", "试验省站"], standalone_mode=False)
    assert isinstance(again.exception, UsageError) and "已经存在" in str(again.exception)
