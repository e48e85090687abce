"""A public set is read, indexed and measured; the four systems see the same passages."""

import json

import pytest
from conftest import HashEmbedder

from nongda.errors import UsageError
from nongda.evaluation.baselines import WordReranker
from nongda.evaluation.beir import METRICS, SYSTEMS, BeirRetriever, evaluate_beir, load_beir
from nongda.settings import SearchSettings

PASSAGES = {"p1": "叶锈病用波尔多液", "p2": "玉米播种要早", "p3": "修剪在采收之后"}


def write(folder, qrels="q1\tp1\t1\nq2\tp3\t1\nq2\tp2\t0\n"):
    rows = [{"_id": i, "title": "", "text": text} for i, text in PASSAGES.items()]
    queries = [{"_id": "q1", "text": "叶锈病用什么"}, {"_id": "q2", "text": "什么时候修剪"}, {"_id": "q3", "text": "无关"}]
    for name, found in (("corpus", rows), ("queries", queries)):
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in found)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + qrels, encoding="utf-8")
    return folder


def test_a_set_is_read_without_queries_that_nothing_answers(tmp_path):
    data = load_beir(write(tmp_path))
    assert data.name == tmp_path.name
    assert list(data.queries) == ["q1", "q2"]
    assert data.relevant == {"q1": {"p1": 1}, "q2": {"p3": 1}}


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_or_broken_file_is_named(tmp_path, name):
    write(tmp_path)
    (tmp_path / name).write_text("x\n{broken\n", encoding="utf-8")
    with pytest.raises(UsageError, match=tmp_path.name):
        load_beir(tmp_path)


def test_every_system_is_measured_on_every_query(tmp_path, lexicon):
    data = load_beir(write(tmp_path))
    retriever = BeirRetriever(data, lexicon, HashEmbedder(), WordReranker(lexicon), SearchSettings())
    assert list(retriever.embed()) == [3]
    found = list(evaluate_beir(data, retriever))
    assert [r["id"] for r in found] == ["q1", "q2"]
    for record in found:
        assert set(record["systems"]) == set(SYSTEMS)
        assert all(set(measured) == set(METRICS) for measured in record["systems"].values())
    assert found[0]["systems"]["bm25"] == {"ndcg@10": 1, "mrr@10": 1, "recall@5": 1, "recall@20": 1}
    assert found[0]["systems"]["hybrid+rerank"]["mrr@10"] == 1
