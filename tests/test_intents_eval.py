"""What questions ask for: labels by hand, against what the program reads, and what several hops cost and gain."""

import numpy as np
import pytest

from nongda.engine import ROOT, Engine
from nongda.errors import UsageError
from nongda.evaluation.dataset import GoldQuestion, load_questions
from nongda.evaluation.hops import added_time, by_hops, median_difference, recall_by_kind
from nongda.evaluation.intents import (
    INTENTS,
    Label,
    Understood,
    load_labels,
    measure,
    reading,
    section,
    write_records,
)
from nongda.evaluation.scoring import METRICS
from nongda.evaluation.stats import interval
from nongda.records import Turn
from nongda.settings import Settings, override

LABELS = ROOT / "assets" / "gold" / "intents.tsv"


def of(found):
    return interval(found, np.random.default_rng(1))


@pytest.fixture
def engine(tmp_path):
    engine = Engine.open(Settings(), tmp_path)
    yield engine
    engine.close()


def test_every_gold_question_has_a_label_and_every_label_its_question():
    labels = load_labels(LABELS)
    assert set(labels) == {question.id for question in load_questions(ROOT / "assets" / "gold")}
    assert {label.intent for label in labels.values()} == set(INTENTS)
    assert all(1 <= label.hops <= 6 for label in labels.values())


def test_a_comparison_has_two_sides_at_least_and_a_choice_is_labelled_as_one():
    labels = load_labels(LABELS)
    for question in load_questions(ROOT / "assets" / "gold", ["dev"]):
        if question.kind == "comparison":
            assert labels[question.id].intent == "comparison" and labels[question.id].hops >= 2
        if question.kind == "choice":
            assert labels[question.id].intent == "choice"


@pytest.mark.parametrize("line", ["a\tfact", "a\twish\t1", "a\tfact\t0", "a\tfact\tone", "a\tfact\t1\t2", "b\tfact\t1", "a fact 1"])
def test_a_broken_label_is_named_with_its_line(tmp_path, line):
    path = tmp_path / "intents.tsv"
    path.write_text(f"# rules\nid\tintent\thops\nb\tfact\t1\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"intents\.tsv 第 4 行"):
        load_labels(path)


def test_a_missing_label_file_is_an_error_where_it_is_measured_and_nothing_where_it_is_reported(tmp_path):
    with pytest.raises(UsageError, match="无法读取"):
        load_labels(tmp_path / "intents.tsv")
    assert Understood.load(tmp_path / "intents.tsv", tmp_path / "r.jsonl") == Understood()


def gold(number, text, history=()):
    return GoldQuestion(f"q{number}", "dev", "topic", "single", text, True, history)


def test_questions_are_read_as_the_engine_reads_them(engine):
    understood = reading(engine)
    assert understood(gold(1, "玉米螟和粘虫的为害部位有什么区别？")).intent == "comparison"
    history = (Turn("user", "咖啡叶锈病用波尔多液预防，头一遍什么时候打？"), Turn("assistant", "雨季以前。"))
    assert "咖啡叶锈病" in understood(gold(2, "那一年下来总共要喷几遍？", history)).standalone


def test_without_the_stage_spelling_a_question_is_read_as_it_is_written(tmp_path):
    engine = Engine.open(override(Settings(), {"stages_off": ["spelling"]}, "test"), tmp_path)
    assert reading(engine)(gold(1, "shuidao怎么施肥")).corrected == "shuidao怎么施肥"
    engine.close()


def test_only_labelled_questions_are_measured(engine):
    asked = [gold(1, "玉米螟和粘虫有什么区别？"), gold(2, "咖啡叶锈病打什么药？")]
    found = list(measure(asked, {"q1": Label("comparison", 2)}, engine))
    assert [r["id"] for r in found] == ["q1"]
    assert (found[0]["intent"], found[0]["hops"], found[0]["found_intent"]) == ("comparison", 2, "comparison")
    with pytest.raises(UsageError, match=r"intents\.tsv"):
        list(measure(asked, {"q9": Label("fact", 1)}, engine))


def read(number, intent, found_intent, hops=1, found_hops=1):
    return {"id": f"q{number}", "question": f"第{number}题|问*什么*", "intent": intent, "found_intent": found_intent,
            "hops": hops, "found_hops": found_hops}


RECORDS = [read(1, "fact", "fact"), read(2, "fact", "how_to"), read(3, "choice", "choice", 3, 2), read(4, "yes_no", "yes_no", 1, 2)]


def test_the_section_counts_what_was_taken_for_what():
    text = section(RECORDS, of)
    assert "Intent: 0.750 [" in text and "several: 0.750 [" in text and "the very number: 2 of 4" in text
    assert "| fact | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0.500 |" in text
    assert "| choice | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 1.000 |" in text
    assert "| diagnosis | 0 | 0 | 0 | 0 | 0 | 0 | 0 | – |" in text
    assert "| precision | 1.000 | 0.000 | – | – | 1.000 | 1.000 | – |  |" in text
    assert "| single | 2 | 1 | 0.667 |" in text and "| multi | 0 | 1 | 1.000 |" in text
    assert r"- `q2` 第2题\|问\*什么\* (fact taken for how_to; hops 1)" in text
    assert "- `q4` " in text and "(yes_no; hops 1 taken for 2)" in text and "`q3`" not in text  # 3 and 2 are both several
    assert section([], of) == ""


def test_what_is_measured_is_written_and_printed_without_its_list(tmp_path):
    path = tmp_path / "out" / "intents-dev.jsonl"
    printed = write_records(path, RECORDS, of)
    assert Understood.load(tmp_path / "none.tsv", path).records == RECORDS
    assert "`q2`" in path.with_suffix(".md").read_text(encoding="utf-8")
    assert "| fact | 1 | 1 |" in printed and "`q2`" not in printed and str(path) in printed


def record(number, correct, seconds=1.0, kind="multi", answerable=True):
    metrics = {name: [0.0, 0.0] for name in METRICS} | {name: [float(correct), 1.0] for name in ("correct", "recall@5")}
    return {"id": f"q{number}", "kind": kind, "answerable": answerable, "metrics": metrics, "timings": {"total": seconds}}


HOPS = {f"q{n}": Label("fact", 1 + n % 2) for n in range(40)}


def test_right_answers_are_counted_by_hops_and_against_the_system_without_facts():
    full = [record(n, 1) for n in range(40)] + [record(99, 0), record(1, 0, answerable=False)]
    without = [record(n, n % 2 == 0) for n in range(40)]
    text = by_hops({"full": full, "no_facts": without, "k1": without}, HOPS, of, seed=1)
    assert "single hop, correct (n=20)" in text and "multi hop, correct (n=20)" in text
    assert "| `full` | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] |  |  |" in text
    row = next(line for line in text.splitlines() if line.startswith("| `no_facts`"))
    assert "| 1.000 [1.000, 1.000] | 0.000 [0.000, 0.000] | +1.000 | 0.0002 * |" in row
    assert "k1" not in text and by_hops({"full": full}, {}, of, seed=1) == ""


def test_the_time_that_several_hops_add_is_a_difference_of_medians():
    runs = {"full": [record(n, 1, seconds=2.0 if n % 2 else 1.5) for n in range(40)]}
    text = added_time(runs, HOPS, remembered=True, seed=1)
    assert "| `full` | 1.50 | 2.00 | 0.500 [0.500, 0.500] |" in text and "remembered" in text
    assert "remembered" not in added_time(runs, HOPS, remembered=False, seed=1)
    assert added_time({"full": [{**r, "timings": {}} for r in runs["full"]]}, HOPS, False, 1) == ""


def test_an_added_time_has_an_interval_that_holds_it():
    found = median_difference([2, 3, 4, 5, 9], [1, 1, 2, 2], np.random.default_rng(1))
    assert found.value == 2.5 and found.low < 2.5 < found.high


def test_recall_by_kind_says_what_aliases_are_worth_on_colloquial_questions():
    full = [record(n, 1, kind="colloquial" if n < 20 else "single") for n in range(40)]
    bare = [record(n, n >= 10, kind="colloquial" if n < 20 else "single") for n in range(40)]
    text = recall_by_kind({"full": full, "no_aliases": bare}, of, seed=1)
    assert "| system | single | colloquial |" in text
    assert "| `no_aliases` | 1.000 [1.000, 1.000] | 0.500 [" in text
    assert "Aliases, on colloquial questions: +0.500 (p 0.00" in text
    assert recall_by_kind({"full": full}, of, seed=1) == ""
