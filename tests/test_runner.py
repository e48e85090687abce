"""A run is a line a question: it goes on after a kill, and never mixes two systems."""

import dataclasses
import json

import numpy as np
import pytest
from gold_world import families, make_system, questions, real_values, write_corpus
from weights import lite

from nongda.engine import ROOT, Engine
from nongda.errors import GenerationError, UsageError, WeightsError
from nongda.evaluation.report import compare
from nongda.evaluation.runner import GoldScorer, describe, read_run, run
from nongda.evaluation.variants import System, Variant, share
from nongda.records import Answer, Note, Reading, Stage
from nongda.settings import Settings, override


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    write_corpus(folder / "corpus")
    system = make_system(folder / "corpus", folder / "work")
    list(system.prepare())
    scorer = GoldScorer(system, folder / "corpus", families(), real_values())
    made_by = describe(system, folder / "corpus", ROOT / "models" / "weights", False, "app.py evaluate")
    return system, scorer, made_by


class Counting:
    """A system that counts its questions, and may be broken on the way."""

    def __init__(self, system, change=lambda event: event):
        self.system, self.change, self.asked = system, change, []

    def ask(self, question, history):
        self.asked.append(question)
        for event in self.system.ask(question, history):
            yield self.change(event)


class Failing:
    """A system whose model fails."""

    def ask(self, question, history):
        raise GenerationError("模型出错")
        yield


def records(world, out, system=None, asked=None, made_by=None):
    whole, scorer, description = world
    return list(run(system or whole, asked or questions(), scorer, out, made_by or description))


def test_every_question_gets_a_line_with_its_scores(world, tmp_path):
    out = tmp_path / "full.jsonl"
    found = records(world, out)
    assert [r["id"] for r in found] == [q.id for q in questions()]
    assert read_run(out) == json.loads(json.dumps(found))
    first = found[0]
    assert first["evidence"][0][0] in first["ranking"]
    assert "每隔3天" in first["answer"] and first["metrics"]["correct"] == [1, 1]
    assert first["metrics"]["citation_recall"] == [1, 1] and first["error"] == ""
    assert first["timings"]["total"] > 0
    assert json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))["system"]["name"] == "full"


def test_a_killed_run_goes_on_where_it_stopped(world, tmp_path):
    out = tmp_path / "full.jsonl"
    whole = records(world, out)
    lines = out.read_text(encoding="utf-8").splitlines(keepends=True)
    out.write_text("".join(lines[:5]) + lines[5][:40], encoding="utf-8")  # killed in the middle of a line
    counting = Counting(world[0])
    assert [r["id"] for r in records(world, out, counting)] == [r["id"] for r in whole]
    assert counting.asked == [q.question for q in questions()[5:]]
    assert [r["answer"] for r in read_run(out)] == [r["answer"] for r in whole]


def test_a_run_of_fewer_questions_keeps_the_others_in_the_file(world, tmp_path):
    out = tmp_path / "full.jsonl"
    records(world, out)
    counting = Counting(world[0])
    assert len(records(world, out, counting, questions()[:2])) == 2
    assert counting.asked == [] and len(read_run(out)) == len(questions())


def test_a_run_killed_inside_a_character_goes_on(world, tmp_path):
    out = tmp_path / "full.jsonl"
    records(world, out, asked=questions()[:2])
    data = out.read_bytes()
    out.write_bytes(data[: data.rindex("咖啡".encode()) + 1])
    counting = Counting(world[0])
    records(world, out, counting, questions()[:2])
    assert len(counting.asked) == 1 and len(read_run(out)) == 2


def test_a_run_whose_description_is_gone_is_not_continued(world, tmp_path):
    out = tmp_path / "full.jsonl"
    records(world, out)
    out.with_suffix(".json").unlink()
    with pytest.raises(UsageError, match=r"full\.json "):
        records(world, out)
    assert len(read_run(out)) == len(questions())


def test_answers_of_a_changed_program_are_not_mixed_with_old_ones_but_can_be_scored_anew(world, tmp_path):
    out = tmp_path / "full.jsonl"
    records(world, out, asked=questions()[:3])
    changed = {**world[2], "code": "other"}
    assert len(records(world, out, asked=questions()[:3], made_by=changed)) == 3
    with pytest.raises(UsageError, match="还剩 9 题"):
        records(world, out, made_by=changed)


def test_what_failed_is_asked_again(world, tmp_path):
    out = tmp_path / "full.jsonl"
    records(world, out, Failing(), questions()[:1])
    counting = Counting(world[0])
    found = records(world, out, counting, questions()[:1])
    assert len(counting.asked) == 1 and found[0]["failed"] == "" and len(read_run(out)) == 1


def test_a_broken_installation_stops_the_run(world, tmp_path):
    class Broken:
        def ask(self, question, history):
            raise WeightsError("缺少语言模型")
            yield

    with pytest.raises(WeightsError):
        records(world, tmp_path / "full.jsonl", Broken(), questions()[:1])


def test_a_question_in_new_words_is_asked_again_and_new_gold_is_scored_without_asking(world, tmp_path):
    out = tmp_path / "full.jsonl"
    records(world, out)
    changed = questions()
    changed[0] = dataclasses.replace(changed[0], question="咖啡灌溉工作几天检查一遍")
    changed[1] = dataclasses.replace(changed[1], must=("100天",))
    counting = Counting(world[0])
    found = {r["id"]: r for r in records(world, out, counting, changed)}
    assert counting.asked == ["咖啡灌溉工作几天检查一遍"]
    assert found["q01"]["metrics"]["correct"] == [0, 1]


def test_another_systems_run_is_not_continued(world, tmp_path):
    out = tmp_path / "full.jsonl"
    records(world, out)
    for key in ("settings", "corpus", "domain", "models"):
        with pytest.raises(UsageError, match=rf"{key}.*--fresh"):
            records(world, out, made_by={**world[2], key: "other"})


def test_a_question_that_fails_is_kept_as_a_wrong_answer(world, tmp_path):
    found = records(world, tmp_path / "full.jsonl", Failing(), questions()[:1])
    assert found[0]["failed"] == "模型出错"
    assert found[0]["metrics"]["correct"] == [0, 1] and found[0]["error"] == "no citation"


def noted(event):
    """Adds a note that names a value of a careless answer."""
    if not isinstance(event, Answer):
        return event
    citation = dataclasses.replace(event.citations[0], id="aaaaaaaa#0")
    return dataclasses.replace(event, kind="computed", notes=(Note("law", "停药90天。", (citation, citation)),),
                               readings=(Reading("浇水", "灌溉"),))


def test_a_record_says_how_it_was_answered_and_notes_do_not_count_as_said(world, tmp_path):
    first = records(world, tmp_path / "full.jsonl", Counting(world[0], noted), questions()[:1])[0]
    assert first["answer_kind"] == "computed" and first["notes"] == [["law", "停药90天。", ["aaaaaaaa#0"]]]
    assert first["readings"] == [["浇水", "灌溉"]]
    assert "90" not in first["answer"] and first["metrics"]["wrong_number"] == [0, 1] and first["false"] == []
    failed = records(world, tmp_path / "failed.jsonl", Failing(), questions()[:1])[0]
    assert failed["answer_kind"] == "" and failed["notes"] == failed["readings"] == []


def test_a_record_says_what_is_missing_false_and_quoted(world, tmp_path):
    asked = [dataclasses.replace(questions()[0], must=("3天", "8升|9升"), must_not=("3天", "90天"))]
    first = records(world, tmp_path / "full.jsonl", asked=asked)[0]
    assert (first["missing"], first["false"], first["quoted"]) == (["8升|9升"], ["3天"], [True])
    refused = world[1].scored({**first, "refused": True, "quotes": []}, asked[0])
    assert (refused["missing"], refused["false"], refused["quoted"]) == (["3天", "8升|9升"], [], [False])


def test_the_right_words_of_another_document_do_not_count_as_quoted(world, tmp_path):
    first = records(world, tmp_path / "full.jsonl", asked=questions()[:1])[0]
    moved = {**first, "quotes": [["aaaaaaaa#0", source, words] for _, source, words in first["quotes"]]}
    assert world[1].scored(moved, questions()[0])["quoted"] == [False]


def test_a_run_from_before_answers_had_kinds_can_be_read_scored_and_continued(world, tmp_path):
    out = tmp_path / "full.jsonl"
    new = ("answer_kind", "notes", "missing", "false", "quoted")
    whole = records(world, out)
    old = [{key: value for key, value in record.items() if key not in new} for record in whole]
    out.write_text("".join(json.dumps(record) + "\n" for record in old[:-1]), encoding="utf-8")
    counting = Counting(world[0])
    found = records(world, out, counting)
    assert len(counting.asked) == 1 and [r["quoted"] for r in found] == [r["quoted"] for r in whole]
    assert "answer_kind" not in found[0] and found[-1]["answer_kind"] == whole[-1]["answer_kind"]


def test_a_damaged_line_in_the_middle_is_an_error(tmp_path):
    path = tmp_path / "full.jsonl"
    path.write_text('{"id": 1}\n{"id"\n{"id": 3}\n', encoding="utf-8")
    with pytest.raises(UsageError, match="第 2 行"):
        read_run(path)
    with pytest.raises(UsageError, match="无法读取"):
        read_run(tmp_path / "missing.jsonl")


def shuffled(event):
    """Ranks in an order that knows nothing of the question."""
    if isinstance(event, Stage) and event.ranking:
        order = np.random.default_rng(len(event.ranking)).permutation(sorted(event.ranking))
        return dataclasses.replace(event, ranking=tuple(order))
    return event


def off_by_one(event):
    """Every citation names the passage after the right one."""
    if not isinstance(event, Answer):
        return event
    moved = []
    for citation in event.citations:
        doc, position = citation.id.split("#")
        moved.append(dataclasses.replace(citation, id=f"{doc}#{int(position) + 1}"))
    return dataclasses.replace(event, citations=tuple(moved))


@pytest.mark.parametrize(("broken", "metric"), [(shuffled, "mrr@10"), (off_by_one, "citation_f1")])
def test_a_broken_stage_is_significantly_worse_in_its_own_metric(world, tmp_path, broken, metric):
    sound = records(world, tmp_path / "full.jsonl")
    worse = records(world, tmp_path / "broken.jsonl", Counting(world[0], broken))
    row = next(r for r in compare(sound, worse, seed=1) if r["metric"] == metric)
    assert row["difference"] < -0.3 and row["significant"]
    untouched = "citation_f1" if metric == "mrr@10" else "mrr@10"
    same = next(r for r in compare(sound, worse, seed=1) if r["metric"] == untouched)
    assert same["difference"] == 0 and not same["significant"]


def test_real_weights_answer_cite_and_score(tmp_path):
    """The whole path with the small models: embedding, reranking, writing, scoring."""
    lite("embedder"), lite("generator")
    write_corpus(tmp_path / "corpus")
    engine = Engine.open(override(Settings(), {"answer": {"style": "write"}}, "test"), tmp_path / "data", "lite")
    system = System(Variant("full"), share(engine, generate=True), tmp_path / "corpus", tmp_path / "work")
    list(system.prepare())
    scorer = GoldScorer(system, tmp_path / "corpus", families(), real_values())
    made_by = describe(system, tmp_path / "corpus", ROOT / "models" / "weights", True, "app.py evaluate")
    found = list(run(system, questions()[1:3], scorer, tmp_path / "full.jsonl", made_by))
    system.close()
    engine.close()
    assert any(name.endswith(".gguf") for name in made_by["models"]) and len(made_by["models"]) == 3
    for record in found:
        assert record["evidence"][0][0] in record["ranking"][:3]
        assert record["metrics"]["correct"] == [1, 1] and record["metrics"]["citation_recall"] == [1, 1]
        assert record["timings"]["generate"] > 0
