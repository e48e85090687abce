"""Systems side by side: in their order, each with its language model, only over the same documents."""

import json

import numpy as np
from test_report import FULL, MADE, WORSE, record

from nongda.evaluation.report import Report
from nongda.evaluation.sides import Side, by_kind, how_answered, in_order, load_beside, side_by_side
from nongda.evaluation.stats import interval

QUOTED = {**MADE, "generate": False, "models": {"e/model.onnx": "1"}}
LARGER = {**MADE, "models": {"e/model.onnx": "1", "qwen-3b.gguf": "2"}}


def interval_of(found):
    return interval(found, np.random.default_rng(1))


def rows_of(text, start):
    return [line for line in text.splitlines() if line.startswith(start)]


def test_a_side_is_called_by_its_system_and_its_language_model():
    assert Side("full", QUOTED, FULL).label == "full"
    assert Side("full", LARGER, FULL).label == "full, qwen-3b"
    assert Side("full", {**LARGER, "generate": False}, FULL).label == "full"


def test_sides_stand_in_one_order_each_once_and_other_systems_are_left_out():
    given = [Side("written", LARGER, FULL), Side("full", LARGER, FULL), Side("full", QUOTED, FULL), Side("k1", QUOTED, FULL),
             Side("simple_rag", MADE, WORSE), Side("full", LARGER, WORSE), Side("written", QUOTED, FULL)]
    found = in_order(given)
    assert [side.label for side in found] == ["simple_rag, m", "full", "full, qwen-3b", "written, qwen-3b"]
    assert found[2].records is FULL  # the first of two


def test_the_tables_hold_the_numbers_worked_out_by_hand():
    text = side_by_side([Side("simple_rag", QUOTED, WORSE), Side("full", LARGER, FULL)], interval_of)
    first, last = rows_of(text, "| `simple_rag`")[0], rows_of(text, "| `full`")[0]
    assert first.startswith("| `simple_rag` | – | 21 | 0.250 [0.250, 0.250] |") and first.endswith("| – |")  # no times of quotes
    assert last.startswith("| `full` | qwen-3b | 21 | 0.975 [") and last.endswith("| 0.975 |")
    assert "- `full`: as it is" in text
    assert "### correct by kind of question\n\n| system | single | numeric |" in text
    kinds = rows_of(text, "| full, qwen-3b")
    assert len(kinds) == 3 and kinds[0].startswith("| full, qwen-3b | 1.000 [1.000, 1.000] | 0.950 [")  # 9.5 of 10


def test_the_kinds_of_question_have_intervals_and_their_refusals():
    text = by_kind([*FULL[:4], record(5, 0, answerable=False, refused=True), record(6, 0, answerable=False)], interval_of)
    assert rows_of(text, "| single")[0].startswith("| single | 2 | 1.000 [1.000, 1.000] |")
    assert rows_of(text, "| numeric")[0].startswith("| numeric | 2 | 0.750 [0.500, 1.000] |")
    assert rows_of(text, "| unanswerable")[0].startswith("| unanswerable | 2 | – [–, –] |")
    assert rows_of(text, "| unanswerable")[0].endswith("| 0.500 [0.000, 1.000] |")
    assert not rows_of(text, "| choice")


def test_answers_are_counted_by_how_they_came_about_and_their_notes_by_question():
    law = ["law", "禁用。", ["aaaaaaaa#1"]]
    answered = [{**FULL[1], "answer_kind": "quoted", "notes": [law, law]}, {**FULL[0], "answer_kind": "quoted", "notes": [law]},
                {**FULL[2], "answer_kind": "computed", "notes": []}, {**FULL[20], "answer_kind": "refused", "notes": []}]
    text = how_answered(answered)
    assert rows_of(text, "| quoted") == ["| quoted | 2 | 2 | 0.750 |"]
    assert rows_of(text, "| refused") == ["| refused | 1 | 0 | – |"]
    assert text.endswith("scores: law 2.")
    assert how_answered(FULL) == ""  # records of before


def write(folder, name, made_by, records):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    (folder / f"{name}.json").write_text(json.dumps(made_by), encoding="utf-8")


def test_runs_in_folders_beside_are_read_when_they_are_over_the_same_documents(tmp_path):
    write(tmp_path / "dev-written", "full", MADE, FULL)
    write(tmp_path / "dev-quoted", "full", QUOTED, list(reversed(FULL)))
    write(tmp_path / "dev-quoted", "k1", QUOTED, WORSE)
    write(tmp_path / "dev-standard", "written", LARGER, FULL)
    write(tmp_path / "dev-old", "full", {**MADE, "corpus": "other", "version": "1"}, FULL)
    write(tmp_path / "test-written", "full", MADE, WORSE)
    found, left_out = load_beside(tmp_path / "dev-written", MADE)
    assert [side.label for side in found] == ["full", "written, qwen-3b"]
    assert [r["id"] for r in found[0].records] == [r["id"] for r in FULL]
    assert left_out == ["dev-old/full（不同的项：corpus、version）"]


def test_a_report_has_the_sides_of_other_folders_but_compares_only_its_own():
    text = Report({"full": FULL}, {"full": MADE}, {}, "", 1, [Side("full", LARGER, WORSE)]).markdown()
    assert rows_of(text, "| `full` | m | 21 | 0.975 [") and rows_of(text, "| `full` | qwen-3b | 21 | 0.250 [")
    assert "plots/side-by-side.svg" in text and "## Ablations" not in text
    assert "## Side by side" not in Report({"full": FULL}, {"full": MADE}, {}, "", 1).markdown()
