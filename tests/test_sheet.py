"""Judges see answers without systems; their sheets are read back whatever they did to the rest."""

import io
import json

import pytest
from openpyxl import load_workbook

from nongda.errors import UsageError
from nongda.evaluation.sheet import LABELS, Judgement, read_sheet, summarise, write_sheet


def record(question_id, answer):
    return {"id": question_id, "question": "=1+1多久喷一次" if question_id == "q1" else "多久喷一次", "history": [],
            "answer": answer, "quotes": [["aaaaaaaa#1", "11-叶锈病.md", "每隔2～3个星期"]]}


RUNS = {
    "full": [record(f"q{n}", f"两三周一次[aaaaaaaa#{n}]。") for n in range(1, 7)],
    "simple_rag": [record(f"q{n}", "七天一次。") for n in range(1, 7)],
}


def cells(path):
    return list(load_workbook(io.BytesIO(path.read_bytes()))["评判"].iter_rows(min_row=2, values_only=True))


def fill(path, label_of):
    book = load_workbook(io.BytesIO(path.read_bytes()))
    for row in book["评判"].iter_rows(min_row=2):
        row[6].value = label_of(row[4].value)
    book.save(path)


def test_the_sheet_hides_which_system_answered(tmp_path):
    path = tmp_path / "sheet.xlsx"
    key = write_sheet(RUNS, path, seed=1, most=4)
    rows = cells(path)
    assert len(rows) == 8 and {row[3] for row in rows} == {"系统1", "系统2"}
    text = json.dumps(rows, ensure_ascii=False)
    assert "full" not in text and "simple_rag" not in text and "aaaaaaaa#" not in text
    codes = json.loads(key.read_text(encoding="utf-8"))
    assert len({tuple(order.values()) for order in codes.values()}) == 2  # the order changes from question to question
    for row in rows:
        assert (codes[row[1]][row[3]] == "full") == ("两三周" in row[4])


def test_labels_are_chosen_from_a_list_and_explained(tmp_path):
    path = tmp_path / "sheet.xlsx"
    write_sheet(RUNS, path, seed=1, most=4)
    book = load_workbook(io.BytesIO(path.read_bytes()))
    choice = book["评判"].data_validations.dataValidation[0]
    assert choice.formula1 == '"a,b,c,d"' and str(choice.sqref) == "G2:G9"
    assert [row[0] for row in book["说明"].iter_rows(values_only=True)] == list(LABELS)


def test_a_question_that_looks_like_a_formula_stays_text(tmp_path):
    path = tmp_path / "sheet.xlsx"
    write_sheet(RUNS, path, seed=1, most=6)
    book = load_workbook(io.BytesIO(path.read_bytes()))
    found = [row[2] for row in book["评判"].iter_rows(min_row=2) if row[1].value == "q1"]
    assert {(cell.value, cell.data_type) for cell in found} == {("=1+1多久喷一次", "s")}


@pytest.mark.parametrize("answer", ["每隔3天[2]。", "每隔3天【2】。", "每隔3天[aaaaaaaa#1]。", "资料原文：每隔3天。",
                                    "每隔3天。\n\n参考资料：[aaaaaaaa#1]", "每隔3\x07天。"])  # fmt: skip
def test_nothing_in_an_answer_gives_its_system_away(tmp_path, answer):
    path = tmp_path / "sheet.xlsx"
    write_sheet({"full": [record("q2", answer)]}, path, seed=1, most=1)
    assert cells(path)[0][4] == "每隔3天。"


def test_a_filled_sheet_gives_each_system_its_labels(tmp_path):
    path = tmp_path / "judge.xlsx"
    key = write_sheet(RUNS, path, seed=2, most=6)
    fill(path, lambda answer: "Ａ" if "两三周" in answer else "D：错误")
    judge = read_sheet(path, key)
    assert len(judge.labels) == 12
    assert {label for (_, system), label in judge.labels.items() if system == "full"} == {"a"}
    assert summarise([judge]) == [
        "judge  full  n=6  a 100.0%  b 0.0%  c 0.0%  d 0.0%", "judge  simple_rag  n=6  a 0.0%  b 0.0%  c 0.0%  d 100.0%",
    ]


def test_two_judges_agree_as_worked_out_by_hand():
    one = Judgement("甲", {(f"q{n}", "full"): label for n, label in enumerate("aabb")})
    other = Judgement("乙", {(f"q{n}", "full"): label for n, label in enumerate("aaab")})
    assert summarise([one, other])[-1] == "甲 与 乙：共同评判 4 条，一致率 75.0%，Cohen's kappa 0.500"
    assert "没有共同" in summarise([one, Judgement("丙", {("q9", "full"): "a"})])[-1]


@pytest.mark.parametrize(("label", "words"), [("x", "第 2 行"), ("c或d", "第 2 行"), ("basically", "第 2 行"), (None, "还没有标签")])
def test_a_sheet_with_bad_or_no_labels_is_an_error(tmp_path, label, words):
    path = tmp_path / "sheet.xlsx"
    key = write_sheet(RUNS, path, seed=1, most=2)
    fill(path, lambda answer: label)
    with pytest.raises(UsageError, match=words):
        read_sheet(path, key)


def test_a_file_that_is_no_sheet_is_named(tmp_path):
    path = tmp_path / "sheet.xlsx"
    key = write_sheet(RUNS, path, seed=1, most=2)
    path.write_text("text", encoding="utf-8")
    with pytest.raises(UsageError, match=r"sheet\.xlsx"):
        read_sheet(path, key)


def test_systems_without_a_common_question_give_no_sheet(tmp_path):
    with pytest.raises(UsageError, match="共同"):
        write_sheet({"full": RUNS["full"][:1], "other": RUNS["full"][1:]}, tmp_path / "s.xlsx", 1, 5)
