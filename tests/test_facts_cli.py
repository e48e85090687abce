"""The command `facts` over a small knowledge base; no model is loaded."""

import json

import pytest
from click.testing import CliRunner
from conftest import ROOT

from nongda.cli import cli
from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.settings import ChunkSettings

DOCUMENT = """# 水稻用药

噻嗪酮在水稻上的安全间隔期不超过14天。

| 作物 | 药剂 | 安全间隔期（天） |
|---|---|---|
| 水稻 | 50%仲丁威乳油 | 21 |
"""


@pytest.fixture
def data(tmp_path, embedder):
    path = tmp_path / "用药.md"
    path.write_text(DOCUMENT, encoding="utf-8")
    store = Store(tmp_path / "data")
    list(Ingester(Preparer(store, Lexicon.load(ROOT / "assets" / "domain"), embedder, embedder, ChunkSettings())).add([path]))
    store.close()
    return tmp_path / "data"


def run(data, *arguments):
    result = CliRunner().invoke(cli, ["facts", "--data", str(data), *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_facts_are_counted_by_attribute(data):
    assert run(data).splitlines() == ["2\tsafety_interval\t安全间隔期", "共 2 条"]
    assert json.loads(run(data, "--json")) == {"total": 2, "attributes": {"safety_interval": 2}}


def test_a_sample_shows_each_fact_with_its_text_and_a_row_with_its_header(data):
    header, *rows = [line.split("\t") for line in run(data, "--sample", "9", "--seed", "1").splitlines()]
    found = {r[1]: dict(zip(header, r, strict=True)) for r in rows}
    assert (found["噻嗪酮"]["low"], found["噻嗪酮"]["high"]) == ("-inf", "14.0")
    assert found["噻嗪酮"]["text"] == "噻嗪酮在水稻上的安全间隔期不超过14天。"
    assert found["仲丁威"]["text"] == "| 作物 | 药剂 | 安全间隔期（天） | → | 水稻 | 50%仲丁威乳油 | 21 |"


def test_facts_are_found_by_a_word(data):
    found = json.loads(run(data, "--find", "仲丁威", "--json"))
    assert [(f["subject"], f["value"], f["crop"]) for f in found] == [("仲丁威", "21", "水稻")]
    assert json.loads(run(data, "--find", "没有的词", "--json")) == []
