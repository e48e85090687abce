"""The command line as a person meets it: separate processes, real weights, exit codes, one sentence."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from conftest import ROOT

from nongda.cli import cli

DOCUMENT = "# 咖啡叶锈病\n\n咖啡叶锈病发生时叶背有橙黄色粉末。发病初期喷0.5%波尔多液，每隔15天喷一次，连喷3次。\n"


def run(*arguments: str, data=None, stdin: str = ""):
    command = [sys.executable, str(ROOT / "app.py"), *arguments]
    if data is not None:
        command += ["--data", str(data)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", input=stdin, check=False)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "资料 库"
    path = tmp_path_factory.mktemp("docs") / "叶锈病.md"
    path.write_text(DOCUMENT, encoding="utf-8")
    result = run("add", str(path), data=folder)
    assert result.returncode == 0, result.stderr
    return folder


def test_docs_lists_the_document_as_json(data):
    documents = json.loads(run("docs", "--json", data=data).stdout)
    assert [(d["source"], d["meta"]["title"], d["chunks"]) for d in documents] == [("叶锈病.md", "咖啡叶锈病", 1)]


def test_ask_json_prints_one_object_with_the_agreed_keys(data):
    result = run("ask", "咖啡叶锈病喷什么药", "--json", "--profile", "lite", data=data)
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert set(answer) == {"question", "standalone", "answer", "kind", "refused", "citations", "notes", "choices", "readings",
                           "warnings", "timings", "models"}
    assert set(answer["citations"][0]) == {"id", "doc", "source", "page", "heading", "quote", "authority", "region",
                                           "date", "stage", "remark"}
    assert {"understand", "bm25", "dense", "fuse", "rerank", "first_token", "generate", "total"} <= set(answer["timings"])
    assert set(answer["models"]) == {"generator", "embedder", "reranker"}
    assert "波尔多液" in answer["answer"]


def test_search_json_has_ranks_of_both_channels(data):
    results = json.loads(run("search", "叶锈病", "--json", data=data).stdout)["results"]
    assert set(results[0]) == {"id", "score", "ranks", "source", "page", "heading", "text"}
    assert results[0]["ranks"] == {"bm25": 1, "dense": 1}
    only = json.loads(run("search", "叶锈病", "--json", "--mode", "bm25", "--no-rerank", "-k", "1", data=data).stdout)
    assert only["results"][0]["ranks"] == {"bm25": 1, "dense": None}


def test_batch_answers_line_by_line_and_a_bad_line_does_not_stop_the_rest(data, tmp_path):
    batch = tmp_path / "问题.jsonl"
    lines = [{"id": "a", "question": "水稻稻瘟病用什么药"}, {"id": "b", "question": "？？"},
             {"id": "c", "question": "那多久喷一次", "history": [{"role": "user", "content": "咖啡叶锈病怎么治"}]}]
    batch.write_text("\n".join(json.dumps(x, ensure_ascii=False) for x in lines) + "\n坏行\n", encoding="utf-8")
    result = run("ask", "--batch", str(batch), "--profile", "lite", data=data)
    assert result.returncode == 0, result.stderr
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [a["id"] for a in answers] == ["a", "b", "c", 4]
    assert answers[0]["refused"] is True
    assert "没有文字" in answers[1]["error"]
    assert answers[2]["standalone"] == "咖啡叶锈病怎么治；那多久喷一次"
    assert "不是 JSON" in answers[3]["error"]


BAD_USE = [
    (["ask"], "请给出一个问题"),
    (["ask", "？？"], "没有文字"),
    (["ask", "咖" * 20000], "20000 个字"),
    (["ask", "咖啡", "--history", "/没有这个文件"], "无法读取"),
    (["search"], "用法不对"),
    (["没有的命令"], "用法不对"),
    (["search", "咖啡", "--mode", "magic"], "用法不对"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD_USE)
def test_bad_use_is_one_sentence_and_exit_2(data, arguments, words):
    result = run(*arguments, data=data if arguments[0] in ("ask", "search") else None)
    assert result.returncode == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


def test_a_failure_is_one_sentence_and_exit_1(data):
    result = run("remove", "00000000", data=data)
    assert (result.returncode, len(result.stderr.strip().splitlines())) == (1, 1)
    assert "00000000" in result.stderr


def test_adding_a_bad_file_says_so_and_leaves_the_knowledge_base_as_it_was(data, tmp_path):
    wrong = [tmp_path / "图.xyz", tmp_path / "空.md", tmp_path / "坏.docx", tmp_path / "空 文件夹"]
    wrong[3].mkdir()
    wrong[0].write_text("x", encoding="utf-8")
    wrong[1].write_text("", encoding="utf-8")
    wrong[2].write_bytes(b"PK\x03\x04broken")
    before = run("docs", "--json", data=data).stdout
    result = run("add", *map(str, wrong), data=data)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr + result.stdout
    reports = [line for line in result.stdout.splitlines() if line.startswith("--------")]
    assert len(reports) == len(wrong)
    assert run("docs", "--json", data=data).stdout == before


def test_a_broken_database_and_an_unknown_setting_are_one_sentence(tmp_path):
    (tmp_path / "corpus.db").write_bytes(b"not a database at all, " * 100)
    result = run("docs", data=tmp_path)
    assert (result.returncode, len(result.stderr.strip().splitlines())) == (1, 1)
    assert "损坏" in result.stderr
    other = tmp_path / "b"
    other.mkdir()
    (other / "settings.toml").write_text("[answer]\ntemprature = 0.5\n", encoding="utf-8")
    result = run("docs", data=other)
    assert result.returncode == 1
    assert "answer.temprature" in result.stderr


def test_doctor_reports_and_says_what_is_missing(data, tmp_path):
    sound = run("doctor", "--json", "--profile", "lite", data=data)
    assert sound.returncode == 0
    assert json.loads(sound.stdout)["problems"] == []
    empty = run("doctor", "--profile", "lite", data=tmp_path / "leer")
    assert empty.returncode == 1
    assert "还没有资料" in empty.stdout


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_has_help_and_stands_in_the_readme(name):
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0
    assert cli.commands[name].help
    assert f"`{name}" in (ROOT / "README.md").read_text(encoding="utf-8")
