"""The commands `evaluate` and `compare` from the outside, over a small corpus and without weights."""

import io
import json
import shutil

import pytest
from click.testing import CliRunner
from conftest import HashEmbedder
from gold_world import gold_line, parts, questions, real_values, write_corpus
from openpyxl import load_workbook
from test_beir import write as write_set

from nongda.answer.select import Selector
from nongda.engine import ROOT, Engine
from nongda.errors import UsageError
from nongda.evaluate_cli import compare, evaluate, learn
from nongda.evaluation import commands, crossvalidate
from nongda.evaluation.baselines import WordReranker

LEXICON = real_values()._lexicon


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Gold questions, ablations and documents of the small world in the product's places."""
    write_corpus(tmp_path / "corpus")
    gold = tmp_path / "gold"
    (gold / "dev").mkdir(parents=True)
    (gold / "dev" / "topic.jsonl").write_text("\n".join(map(gold_line, questions())), encoding="utf-8")
    documents = [p.relative_to(tmp_path / "corpus").as_posix() for p in sorted((tmp_path / "corpus").rglob("*.md"))]
    (gold / "families.toml").write_text(
        f'[all]\nsplit = "dev"\ntopic = "topic"\ndocuments = {json.dumps(documents, ensure_ascii=False)}\n', encoding="utf-8")
    (gold / "ablations.toml").write_text(
        '[full]\nabout = "all"\nreranker = "words"\n\n[k1]\nabout = "one"\nreranker = "words"\n'
        "settings = { search = { keep = 1 } }\n", encoding="utf-8")
    monkeypatch.setattr(commands, "CORPUS", tmp_path / "corpus")
    monkeypatch.setattr(commands, "GOLD", gold)
    monkeypatch.setattr(commands, "share", lambda engine, generate: parts())
    return tmp_path


def invoke(world, *options):
    arguments = ["--data", str(world / "data"), "--out", str(world / "out"), "--no-generate", *options]
    return CliRunner().invoke(evaluate, arguments, catch_exceptions=False)


def test_systems_run_report_and_sheet_follow_each_other(world):
    result = invoke(world, "--variants", "full,k1")
    assert result.exit_code == 0
    assert "full: citation_f1" in result.output and "k1: citation_f1" in result.output
    runs = world / "out" / "dev-quoted"
    assert len((runs / "full.jsonl").read_text(encoding="utf-8").splitlines()) == len(questions())
    remarks = world / "remarks.md"
    remarks.write_text("What it says.", encoding="utf-8")
    assert invoke(world, "--report", str(world / "report"), "--remarks", str(remarks)).exit_code == 0
    text = (world / "report" / "report.md").read_text(encoding="utf-8")
    assert "What it says." in text and "| `k1`" not in text and "12 answerable" in text
    sheet = world / "sheet.xlsx"
    assert "对照表" in invoke(world, "--variants", "full,k1", "--sheet", str(sheet)).output
    assert sheet.exists() and sheet.with_suffix(".key.json").exists()
    result = CliRunner().invoke(compare, [str(runs / "full.jsonl"), str(runs / "k1.jsonl")])
    assert "12 题" in result.output and "citation_f1" in result.output


def test_a_limit_takes_the_first_questions_of_every_topic(world):
    invoke(world, "--limit", "2")
    records = [json.loads(line) for line in (world / "out" / "dev-quoted" / "full.jsonl").read_text("utf-8").splitlines()]
    assert [record["id"] for record in records] == ["q00", "q01"]


def test_labelled_questions_are_measured_and_stand_in_the_report(world):
    with pytest.raises(UsageError, match=r"intents\.tsv 无法读取"):
        invoke(world, "--intents")
    (world / "gold" / "intents.tsv").write_text("id\tintent\thops\nq00\tfact\t1\nq01\tchoice\t2\n", encoding="utf-8")
    output = invoke(world, "--intents").output
    assert "2 questions, labelled by hand. Intent: 0.500 [" in output and "Taken wrongly" not in output
    lines = (world / "out" / "intents-dev.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["found_intent"] for line in lines] == ["fact", "fact"]
    invoke(world)
    invoke(world, "--report", str(world / "report"))
    text = (world / "report" / "report.md").read_text(encoding="utf-8")
    assert "## Questions understood" in text and "choice taken for fact" in text and "single hop, correct (n=1)" in text


def test_the_share_of_bm25_is_measured_on_dev_and_on_public_sets(many_topics, monkeypatch):
    monkeypatch.setattr(Engine, "embedder", property(lambda engine: HashEmbedder()))
    folder = many_topics / "docs"
    output = invoke(many_topics, "--alpha", str(folder), "--beir", str(write_set(many_topics))).output
    text = (folder / "fusion-alpha.md").read_text(encoding="utf-8")
    assert str(folder / "fusion-alpha.md") in output and "Dev questions: all (12)" in text and "## Public set " in text
    assert (folder / "fusion-alpha-recall.svg").read_text(encoding="utf-8").startswith("<svg ")


def test_fresh_starts_again(world):
    invoke(world, "--limit", "1")
    path = world / "out" / "dev-quoted" / "full.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"version": "', '"version": "x'), encoding="utf-8")
    with pytest.raises(UsageError, match="--fresh"):
        invoke(world, "--limit", "1")
    assert invoke(world, "--limit", "1", "--fresh").exit_code == 0


def test_the_cut_of_every_system_is_measured_on_dev(world):
    with pytest.raises(UsageError, match="请补充题目"):
        invoke(world, "--cuts")
    with (world / "gold" / "dev" / "topic.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n" + unanswerable("u"))
    output = invoke(world, "--cuts").output
    assert "保留 100.0% 资料能回答的问题时" in output
    assert "answer.gate = " in output and "full 资料能回答的问题：12 个" in output


def unanswerable(name):
    return json.dumps({"id": name, "kind": "unanswerable", "answerable": False, "question": "咖啡渣能不能喂猪"}, ensure_ascii=False)


@pytest.fixture
def many_topics(world, monkeypatch):
    """The same questions in three topics, and on the test side a file that nobody can read."""
    monkeypatch.setattr(crossvalidate, "GRID", {"another": (0.15, 0.6)})
    dev = world / "gold" / "dev"
    (dev / "topic.jsonl").unlink()
    for topic in range(3):
        lines = [*map(gold_line, questions()[topic::3]), unanswerable(f"u{topic}")]
        (dev / f"topic{topic}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (world / "gold" / "test").mkdir()
    (world / "gold" / "test" / "topic.jsonl").write_bytes(b"\xff not to be read")
    return world


def test_learning_reads_dev_alone_and_writes_the_same_bytes_again(many_topics):
    files = [many_topics / name for name in ("one.toml", "two.toml")]
    before = commands.SELECTOR.read_bytes()
    for path in files:
        arguments = ["--data", str(many_topics / "data"), "--out", str(path)]
        result = CliRunner().invoke(learn, arguments, catch_exceptions=False)
        assert result.exit_code == 0
        assert "按主题 3 折交叉验证，15 题" in result.output and f"选句参数已写入 {path}" in result.output
    assert files[0].read_bytes() == files[1].read_bytes()
    assert "15 dev questions" in files[0].read_text(encoding="utf-8")
    assert Selector.load(files[0]).another in (0.15, 0.6)
    assert commands.SELECTOR.read_bytes() == before


def test_weights_of_an_older_program_do_not_keep_learning_from_starting(many_topics, monkeypatch):
    root = many_topics / "root"
    shutil.copytree(ROOT / "assets" / "domain", root / "assets" / "domain")
    (root / "models").mkdir()
    shutil.copy(ROOT / "models" / "manifest.toml", root / "models")
    old = root / "assets" / "domain" / "selector.toml"
    old.write_text("[sentence]\nlikeness = 1.0\n[gate]\n[cuts]\n", encoding="utf-8")
    monkeypatch.setattr(commands, "ROOT", root)
    result = CliRunner().invoke(learn, ["--data", str(many_topics / "data"), "--out", str(old)], catch_exceptions=False)
    assert result.exit_code == 0
    assert Selector.load(old).weights.any()


def test_a_small_gold_set_does_not_pass_the_check(world):
    (world / "gold" / "test").mkdir()
    shutil.copy(world / "gold" / "dev" / "topic.jsonl", world / "gold" / "test" / "topic.jsonl")
    result = invoke(world, "--check")
    assert result.exit_code == 1
    assert "q00: 编号用了 2 次" in result.output and "属于另一边" in result.output


def test_wrong_use_is_named(world):
    with pytest.raises(UsageError, match="没有名为 tea 的系统：可用的有 full、k1"):
        invoke(world, "--variants", "tea")
    with pytest.raises(UsageError, match="--check、--sheet 一次只能用一个"):
        invoke(world, "--check", "--sheet", str(world / "a.xlsx"))
    with pytest.raises(UsageError, match="--key"):
        invoke(world, "--score-sheet", str(world / "a.xlsx"))
    with pytest.raises(UsageError, match="还没有 full 的评测结果"):
        invoke(world, "--sheet", str(world / "a.xlsx"))


def test_a_report_of_scores_by_older_gold_is_not_written(world):
    invoke(world)
    path = world / "gold" / "dev" / "topic.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('["3天"]', '["三天"]'), encoding="utf-8")
    with pytest.raises(UsageError, match="full 的分数是旧的"):
        invoke(world, "--report", str(world / "report"))
    invoke(world)  # scores anew, asks nothing
    assert invoke(world, "--report", str(world / "report")).exit_code == 0


def test_judges_sheets_are_counted(world):
    invoke(world, "--variants", "full")
    sheet = world / "judge.xlsx"
    invoke(world, "--sheet", str(sheet))
    book = load_workbook(io.BytesIO(sheet.read_bytes()))
    for row in book["评判"].iter_rows(min_row=2):
        row[6].value = "a"
    book.save(sheet)
    output = invoke(world, "--score-sheet", str(sheet), "--key", str(sheet.with_suffix(".key.json"))).output
    assert "judge  full  n=12  a 100.0%" in output


def test_public_sets_are_measured(world, monkeypatch):
    monkeypatch.setattr(Engine, "embedder", property(lambda engine: HashEmbedder()))
    monkeypatch.setattr(commands, "LateInteraction", lambda tokens: WordReranker(LEXICON))
    folder = write_set(world)
    assert "hybrid+rerank" in invoke(world, "--beir", str(folder)).output
    assert len((world / "out" / f"beir-{folder.name}.jsonl").read_text("utf-8").splitlines()) == 2
