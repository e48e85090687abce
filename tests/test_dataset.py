"""Gold questions are read whole, and their quotes lead to chunks however the documents are cut."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.errors import UsageError
from nongda.evaluation.dataset import (
    GoldEvidence,
    Passage,
    chunks_of_evidence,
    load_families,
    load_questions,
    squeeze,
)
from nongda.records import Chunk, Turn

LINE = {
    "id": "q1", "kind": "follow_up", "question": "那多久一次", "answerable": True,
    "history": [{"role": "user", "content": "叶锈病怎么治"}],
    "evidence": [{"doc": "a.md", "quote": "每隔2～3个星期", "also": [{"doc": "b.md", "quote": "两三周一次"}]}],
    "must": ["2～3个星期"], "must_not": ["7天"], "answer": "两到三周。",
}  # fmt: skip


def write(folder, *lines):
    (folder / "dev").mkdir()
    text = "\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    (folder / "dev" / "coffee-pests.jsonl").write_text(text, encoding="utf-8")


def test_a_question_is_read_with_its_side_topic_and_evidence(tmp_path):
    write(tmp_path, LINE)
    question = load_questions(tmp_path, ["dev"])[0]
    assert (question.split, question.topic, question.kind) == ("dev", "coffee-pests", "follow_up")
    assert question.history == (Turn("user", "叶锈病怎么治"),)
    assert question.evidence == (GoldEvidence((Passage("a.md", "每隔2～3个星期"), Passage("b.md", "两三周一次"))),)


@pytest.mark.parametrize(("line", "words"), [
    ("{broken", "第 2 行"), ({**LINE, "musts": []}, "musts"), ({"id": "q"}, "kind"), ("[1]", "第 2 行"), ({**LINE, "must": "3天"}, "列表"),
])  # fmt: skip
def test_a_bad_line_is_named(tmp_path, line, words):
    write(tmp_path, LINE, line)
    with pytest.raises(UsageError, match=words):
        load_questions(tmp_path, ["dev"])


def test_a_folder_without_questions_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="test"):
        load_questions(tmp_path, ["test"])


def test_families_that_cannot_be_read_are_an_error(tmp_path):
    with pytest.raises(UsageError, match=r"families\.toml"):
        load_families(tmp_path)
    (tmp_path / "families.toml").write_text('[one]\nsplit = "dev"\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"families\.toml"):
        load_families(tmp_path)


def chunk(position, text):
    return Chunk(f"aaaaaaaa#{position}", "aaaaaaaa", position, text, text, "paragraph", None, ())


def found(quote, *texts):
    chunks = {"a.md": [chunk(i, text) for i, text in enumerate(texts)]}
    return chunks_of_evidence(GoldEvidence((Passage("a.md", quote),)), chunks)


def test_a_quote_is_found_whatever_the_spaces_widths_and_table_borders():
    assert found("1％ 等量式 | 1:1:100", "别的话。", "| 1%等量式 | 1∶1∶100 | 150 |") == {"aaaaaaaa#1"}


def test_overlapping_windows_that_both_hold_the_quote_both_prove_it():
    assert found("每隔7天", "前文每隔7天喷一次", "每隔7天喷一次后文") == {"aaaaaaaa#0", "aaaaaaaa#1"}


def test_a_quote_cut_in_two_counts_for_the_chunk_with_the_longer_piece():
    assert found("雨季以前开始，每隔两三个星期喷一次", "……雨季以前开始，", "每隔两三个星期喷一次。") == {"aaaaaaaa#1"}


def test_a_quote_that_is_nowhere_is_an_error():
    with pytest.raises(UsageError, match=r"a\.md"):
        found("这句话不在资料里面", "完全不同的内容")


@given(st.text(st.sampled_from("咖啡叶锈病每隔7天，。"), min_size=30, max_size=80), st.integers(0, 20), st.integers(8, 15),
       st.integers(1, 70))
def test_every_quote_of_a_text_is_found_however_the_text_is_cut(text, start, length, cut):
    quote = text[start : start + length]
    ids = found(quote, text[:cut], text[cut:])
    assert ids and ids <= {"aaaaaaaa#0", "aaaaaaaa#1"}


def test_squeezing_keeps_words_and_numbers():
    assert squeeze("| *Hemileia* １％ | 1∶1 |") == "hemileia1%1:1"
