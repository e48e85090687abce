"""The page that compares ways of cutting documents."""

import json
import shutil

import pytest
from click.testing import CliRunner
from gold_world import gold_line, parts, questions, write_corpus

from nongda.engine import ROOT
from nongda.errors import UsageError
from nongda.evaluate_cli import evaluate
from nongda.evaluation import chunking, commands
from nongda.evaluation.chunking import METRICS, WAYS, WITHIN, Way, load_labelled, off_topic_part, page
from nongda.evaluation.variants import Variant
from nongda.index.relevance import Relevance


def record(number, ranking, right):
    metrics = {metric: [right, 1.0] for metric in METRICS}
    return {"id": str(number), "answerable": True, "ranking": ranking, "evidence": [["a#1"]], "metrics": metrics}


def way(name, lengths, records):
    return Way(Variant(name, f"about {name}"), lengths, {"dev": records})


def test_passages_count_while_they_fit_into_so_many_characters():
    long = way("fixed_512", {"a#0": 900, "a#1": 512}, [record(0, ["a#0", "a#1"], 1.0)])  # 1,412 of 1,200
    short = way("semantic", {"a#0": 300, "a#1": 200}, [record(0, ["a#0", "a#1"], 1.0)])
    text = "\n".join(page([long, short], 7))
    row = next(line for line in text.splitlines() if line.startswith(f"| {WITHIN} "))
    assert row.split(" | ")[1].startswith("0.000 [") and row.split(" | ")[2].startswith("1.000 [")


def test_sizes_and_differences_stand_in_the_page():
    ways = [way("fixed_512", {"a#0": 512, "a#1": 512, "a#2": 100}, [record(n, ["a#1"], 0.0) for n in range(12)]),
            way("semantic", {"a#0": 200, "a#1": 210}, [record(n, ["a#1"], 1.0) for n in range(12)])]
    text = "\n".join(page(ways, 7))
    assert "| `fixed_512` | about fixed_512 | 3 |" in text and "| 1,124 |" in text
    row = next(line for line in text.splitlines() if line.startswith("| correct "))
    assert "0.000 [0.000, 0.000], p 0.0" in row and "*" in row  # twelve of twelve by chance: 2 in 4,096
    assert row.rstrip(" |").endswith("1.000 [1.000, 1.000]") and "test questions" not in text


@pytest.fixture
def world(tmp_path, monkeypatch):
    write_corpus(tmp_path / "corpus")
    gold = tmp_path / "gold"
    (gold / "dev").mkdir(parents=True)
    (gold / "dev" / "topic.jsonl").write_text("\n".join(map(gold_line, questions())), encoding="utf-8")
    documents = [p.relative_to(tmp_path / "corpus").as_posix() for p in sorted((tmp_path / "corpus").rglob("*.md"))]
    (gold / "families.toml").write_text(
        f'[all]\nsplit = "dev"\ntopic = "topic"\ndocuments = {json.dumps(documents, ensure_ascii=False)}\n', encoding="utf-8")
    splitters = zip(WAYS, ("fixed", "sliding", "semantic", "adaptive"), strict=True)
    (gold / "ablations.toml").write_text('[full]\nabout = "all"\n\n' + "\n".join(
        f'[{name}]\nabout = "{name}"\nreranker = "words"\nsettings = {{ chunk = {{ splitter = "{splitter}" }} }}\n'
        for name, splitter in splitters), encoding="utf-8")
    shutil.copy(ROOT / "assets" / "gold" / "off_topic.jsonl", gold)
    monkeypatch.setattr(commands, "CORPUS", tmp_path / "corpus")
    monkeypatch.setattr(commands, "GOLD", gold)
    for module in (commands, chunking):
        monkeypatch.setattr(module, "share", lambda engine, generate: parts())
    return tmp_path


def invoke(world, *options):
    arguments = ["--data", str(world / "data"), "--out", str(world / "out"), "--no-generate", *options]
    return CliRunner().invoke(evaluate, arguments, catch_exceptions=False)


def test_the_page_is_made_from_finished_runs_and_says_which_are_missing(world):
    folder = world / "docs"
    with pytest.raises(UsageError, match=r"请先运行 evaluate --no-generate --variants fixed_512,sliding,semantic,adaptive"):
        invoke(world, "--chunking", str(folder))
    invoke(world, "--limit", "2", "--variants", ",".join(WAYS))
    run = world / "out" / "dev-quoted" / "adaptive.jsonl"
    run.rename(run.with_suffix(".kept"))
    with pytest.raises(UsageError, match=r"dev 题还没有 adaptive 的结果"):
        invoke(world, "--chunking", str(folder))
    run.with_suffix(".kept").rename(run)
    assert str(folder / "chunking.md") in invoke(world, "--chunking", str(folder)).output
    text = (folder / "chunking.md").read_text(encoding="utf-8")
    assert "## The 2 dev questions" in text and "| off topic, test |" in text and all(f"| `{name}` |" in text for name in WAYS)


def test_labels_that_cannot_be_read_are_named(tmp_path):
    path = tmp_path / "off_topic.jsonl"
    for text in ("{", '{"split": "dev"}', '{"split": "dev", "off": true, "kind": "", "title": "", "heading": 1, "text": ""}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"off_topic\.jsonl"):
            load_labelled(path)


def test_wrong_marks_are_counted_and_listed(tmp_path, lexicon):
    rows = [("dev", True, "甲、乙两位同志到食堂就餐。"), ("dev", False, "请凭饭卡到食堂就餐。"), ("test", False, "叶锈病要先剪叶。")]
    path = tmp_path / "off_topic.jsonl"
    path.write_text("\n".join(json.dumps({"split": s, "off": o, "kind": "句", "title": "", "heading": [], "text": t}) for s, o, t in rows),
                    encoding="utf-8")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.md").write_text("# 咖啡\n\n叶锈病的孢子随风传播。\n", encoding="utf-8")
    text = off_topic_part(Relevance.load(ROOT / "assets" / "domain", lexicon), load_labelled(path), tmp_path / "corpus", [])
    assert "| off topic, dev | 1 | 1 |" in text and "| on topic, dev | 1 | 1 |" in text and "| on topic, test | 1 | 0 |" in text
    assert "| blocks of the sample documents | 1 | 0 |" in text
    assert text.endswith("Wrongly marked or wrongly not marked:\n\n- dev, 句: 请凭饭卡到食堂就餐。")
