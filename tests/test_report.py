"""A report says what the records hold, with figures, and its page needs no other file."""

import dataclasses
import json
import re
import tomllib

import pytest

from nongda.errors import UsageError
from nongda.evaluation.intents import Label, Understood
from nongda.evaluation.pages import as_html
from nongda.evaluation.pipeline import as_toml
from nongda.evaluation.report import Report, compare, load_runs, write_report
from nongda.evaluation.scoring import METRICS
from nongda.evaluation.sides import Side
from nongda.settings import Settings, override


def record(number, f1, answerable=True, error="", refused=False):
    metrics = {name: [0.0, 0.0] for name in METRICS}
    if answerable:
        metrics |= {name: [f1, 1.0] for name in METRICS if not name.startswith("refusal")}
        metrics["wrong_number"] = metrics["wrong_subject"] = [0.0, 1.0]
    else:
        metrics |= {"refusal_recall": [float(refused), 1.0], "refusal_precision": [float(refused), float(refused)]}
    kind = ("single" if number % 2 else "numeric") if answerable else "unanswerable"
    return {
        "id": f"q{number:02}", "split": "dev", "kind": kind, "topic": "rice",
        "asked": "a", "failed": "", "question": f"第{number}题|多久*喷*一次", "answerable": answerable, "refused": refused, "error": error,
        "cited": ["aaaaaaaa#1"], "evidence": [["aaaaaaaa#2", "bbbbbbbb#1"]] if answerable else [], "metrics": metrics,
        "timings": {"dense": 0.5, "generate": 1.5, "first_token": 1.0, "total": 2.0 + number}, "ranking": ["aaaaaaaa#2"],
    }


FULL = [record(n, 1.0 if n else 0.5, error="" if n else "missing evidence") for n in range(20)]
FULL.append(record(20, 0, answerable=False))
WORSE = [record(n, 0.25, error="wrong chunk") for n in range(20)] + [record(20, 0, answerable=False, refused=True)]
MADE = {"system": {"about": "as it is"}, "settings": {"search": {"keep": 5}}, "generate": True, "command": "app.py evaluate",
        "version": "0", "python": "3", "machine": "Linux", "corpus": "c0ffee", "domain": "d", "code": "c",
        "packages": {"numpy": "2"}, "models": {"m.gguf": "abc"}}
PUBLIC = {"agri": [{"id": f"q{n}", "systems": {s: dict.fromkeys(("ndcg@10", "mrr@10", "recall@5", "recall@20"), v)
                                              for s, v in (("bm25", 0.2), ("dense", 0.6), ("hybrid", 0.4),
                                                           ("hybrid+rerank", 0.7))}} for n in range(30)]}


def report(remarks=""):
    runs = {"full": FULL, "simple_rag": WORSE, "k1": WORSE}
    return Report(runs, dict.fromkeys(runs, MADE), PUBLIC, remarks, seed=1)


def test_comparing_counts_shared_questions_and_finds_the_significant_difference():
    rows = {row["metric"]: row for row in compare(FULL, WORSE[:-3], seed=1)}
    assert rows["citation_f1"]["questions"] == 18
    assert rows["citation_f1"]["a"] == pytest.approx((17 + 0.5) / 18)
    assert rows["citation_f1"]["b"] == 0.25
    assert rows["citation_f1"]["significant"] and rows["citation_f1"]["p"] < 0.01
    assert not rows["wrong_number"]["significant"]


def test_a_system_that_was_asked_fewer_questions_is_compared_on_those_and_says_how_many():
    text = Report({"full": FULL, "few": WORSE[:5]}, {"full": MADE, "few": MADE}, {}, "", 1).markdown()
    row = next(line for line in text.splitlines() if line.startswith("| `few`"))
    assert row.startswith("| `few` | as it is | 5 | 0.250 [") and "| -0.650 |" in row  # 0.9 on the five, not 0.975


def test_p_values_of_the_table_are_adjusted_for_the_number_of_systems():
    def p_of(others):
        runs = {"full": FULL, **dict.fromkeys(others, WORSE)}
        text = Report(runs, dict.fromkeys(runs, MADE), {}, "", 1).markdown()
        return float(next(line for line in text.splitlines() if line.startswith("| `a`")).split(" | ")[5].rstrip(" *"))

    assert p_of("abcd") == pytest.approx(4 * p_of("a"), rel=0.01)


@pytest.mark.parametrize("key", ["corpus", "models", "generate", "domain", "version"])
def test_runs_made_by_different_means_give_no_report(key):
    other = {**MADE, key: {"m.gguf": "other"} if key == "models" else "x"}
    with pytest.raises(UsageError, match=f"other.*{key}"):
        Report({"full": FULL, "other": WORSE}, {"full": MADE, "other": other}, {}, "", 1)


def test_a_system_without_the_language_model_stands_in_the_same_report():
    runs = {"full": FULL, "no_generator": WORSE}
    text = Report(runs, {"full": MADE, "no_generator": {**MADE, "models": {}}}, {}, "", 1).markdown()
    assert "| `no_generator` | – | 21 | 0.250 [" in text and "| `full` | m | 21 | 0.975 [" in text


def test_a_run_without_the_language_model_reports_no_times():
    text = Report({"full": FULL}, {"full": {**MADE, "generate": False}}, {}, "", 1).markdown()
    assert "## Time" not in text and "quotes only" in text


def test_questions_that_failed_are_counted_in_the_open():
    broken = [{**FULL[0], "failed": "模型出错"}, *FULL[1:]]
    assert "1 questions failed and count as wrong." in Report({"full": broken}, {"full": MADE}, {}, "", 1).markdown()


def test_records_of_something_else_cannot_be_compared():
    with pytest.raises(UsageError, match="asked|metrics"):
        compare([{"id": "q", "systems": {}}], FULL, 1)


def test_runs_without_a_common_question_cannot_be_compared():
    with pytest.raises(UsageError, match="没有相同"):
        compare(FULL, [{**r, "id": "x"} for r in WORSE], seed=1)


def test_the_report_holds_the_numbers_worked_out_by_hand():
    text = report("The remarks.").markdown()
    assert "20 answerable and 1 unanswerable" in text and "The remarks." in text
    assert "| citation_f1 | 0.975 [" in text  # (19 + 0.5) / 20
    row = next(line for line in text.splitlines() if line.startswith("| `simple_rag` | as it is |"))
    assert "-0.725" in row and "*" in row
    assert "### Missing evidence: 1 (5.0%)" in text and "### Wrong chunk: 0 (0.0%)" in text
    assert "## Missed questions: 1 of 21" in text  # 0.5 for `correct` is no miss, the answer to the unanswerable one is
    assert "### Answered, but unanswerable: 1" in text
    assert "| unanswerable | 1 | – [–, –] |" in text and "| single | 10 | 1.000 [1.000, 1.000] |" in text
    assert "| rice | 20 | 0.975 |" in text
    assert "| 1 | 0.250 [" in text and "| 5 | 0.975 [" in text
    latency = next(line for line in text.splitlines() if line.startswith("| generate |"))
    assert latency.endswith("75.0% |")
    assert "| total | 12.000 |" in text  # the median of 2 … 22
    assert "| hybrid+rerank | 0.700 [0.700, 0.700] |" in text
    for words in ("app.py evaluate", "c0ffee", "m.gguf: sha256 abc", "keep = 5"):
        assert words in text


def test_questions_cannot_break_the_page():
    text = report().markdown()
    assert r"第0题\|多久\*喷\*一次" in text
    assert "<script>" not in as_html("# a\n\n<script>alert(1)</script>", {})


def test_the_page_needs_no_other_file_and_the_same_runs_give_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_report(report(), tmp_path / name)
    page = (tmp_path / "one" / "report.html").read_text(encoding="utf-8")
    figures = {path.stem for path in (tmp_path / "one" / "plots").glob("*.svg")}
    assert figures == {"ablations", "bootstrap", "errors", "latency", "latency-shares", "passages", "side-by-side"}
    assert page.count("<svg ") == len(figures)
    assert not re.search(r'(?:src|href)="(?!#)[^"]', re.sub(r'xlink:href="#[^"]*"', "", page))
    for path in (tmp_path / "one").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_a_report_needs_the_full_system():
    with pytest.raises(UsageError, match="full"):
        Report({"k1": WORSE}, {"k1": MADE}, {}, "", 1)


def test_runs_are_read_in_the_order_of_their_questions(tmp_path):
    lines = [json.dumps(r) for r in reversed(FULL)]
    (tmp_path / "full.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "full.json").write_text(json.dumps(MADE), encoding="utf-8")
    runs, made_by = load_runs(tmp_path, ["full", "k1"])
    assert [r["id"] for r in runs["full"]] == [r["id"] for r in FULL] and list(runs) == ["full"]
    assert made_by["full"]["corpus"] == "c0ffee"


def test_an_empty_group_of_questions_does_not_stop_the_report():
    only = [record(n, 0, answerable=False, refused=True) for n in range(3)]
    text = Report({"full": only}, {"full": MADE}, {}, "", 1).markdown()
    assert "| citation_f1 | – [–, –] |" in text
    assert "| refusal_recall | 1.000 [1.000, 1.000] |" in text


def test_questions_understood_and_hops_stand_in_the_report_where_they_are_labelled():
    labels = {f"q{n:02}": Label("fact", 1 + n % 2) for n in range(20)}
    read = [{"id": "q01", "question": "问", "intent": "fact", "found_intent": "how_to", "hops": 2, "found_hops": 2}]
    runs = {"full": FULL, "no_facts": WORSE}
    text = Report(runs, dict.fromkeys(runs, MADE), {}, "", 1, understood=Understood(labels, read)).markdown()
    for words in ("## Questions understood", "Intent: 0.000 [", "## By hops", "multi hop, correct (n=10)", "## Time by hops",
                  "## recall@5 by kind of question"):
        assert words in text
    assert "| `full, m` | 11.00 | 12.00 | 1.000 [" in text and "remembered" not in text  # medians of 2, 4 … 20 and of 3, 5 … 21
    quoted = {**MADE, "generate": False}
    beside = [Side("no_generator", MADE | {"models": {}}, FULL)]
    for sides, shown in ((beside, "| `no_generator` | 11.00"), ((), "remembered: a reader waits longer")):
        assert shown in Report({"full": FULL}, {"full": quoted}, {}, "", 1, sides, Understood(labels)).markdown()
    plain = report().markdown()
    assert "## By hops" not in plain and "## Questions understood" not in plain


def test_the_pipeline_is_printed_as_it_was_in_force():
    settings = dataclasses.asdict(override(Settings(), {"stages_off": ["facts"], "search": {"keep": 7}}, "test"))
    text = as_toml(json.loads(json.dumps(settings)))
    assert '  # "facts",' in text and '  "chain",' in text and "keep = 7" in text
    assert override(Settings(), tomllib.loads(text), "test") == override(Settings(), {"stages_off": ["facts"], "search": {"keep": 7}}, "t")
    made = {**MADE, "settings": settings}
    assert "```toml\n" + text in Report({"full": FULL}, {"full": made}, {}, "", 1).markdown()
