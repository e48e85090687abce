"""The words tab's actions: what is kept, what is said, and that a bad row harms no good one."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from fake_desk import FakeDeskEngine

from nongda.errors import StoreError
from nongda.language.own_words import OwnWord
from nongda.ui.sheets import word_key
from nongda.ui.words import LARGEST_TABLE, WordsDesk

BORER = OwnWord("打虫子", "玉米螟", "pest")


@pytest.fixture
def engine(tmp_path: Path) -> FakeDeskEngine:
    return FakeDeskEngine(tmp_path)


@pytest.fixture
def desk(engine: FakeDeskEngine) -> WordsDesk:
    return WordsDesk(engine)


def table(folder: Path, content: str | bytes, name: str = "词.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_an_added_word_is_kept_and_said_to_hold_from_the_next_question_on(engine: FakeDeskEngine, desk: WordsDesk):
    view = desk.add(" 打虫子 ", "玉米螟", "", "zh")
    assert engine.own_words() == [BORER] and view.added
    assert "已添加“打虫子”，按“玉米螟”理解。从下一问起生效。" in view.message
    assert "打虫子" in view.table and "害虫" in view.table
    (answer,) = [event for event in engine.ask("打虫子用什么药") if hasattr(event, "readings")]
    assert [(reading.surface, reading.term) for reading in answer.readings] == [("打虫子", "玉米螟")]


def test_a_word_that_cannot_be_used_is_named_and_stays_in_the_form(engine: FakeDeskEngine, desk: WordsDesk):
    view = desk.add("打虫子", "玉米明", "", "zh")
    assert engine.own_words() == [] and not view.added
    assert "“打虫子”指向的“玉米明”不是标准名" in view.message and "第 1 行" not in view.message
    assert "已添加" not in view.message


def test_nothing_filled_in_says_what_to_do(engine: FakeDeskEngine, desk: WordsDesk):
    assert "还没有填写" in desk.add(" ", "", "pest", "zh").message
    assert "的标准名是空的" in desk.add("打虫子", "", "", "zh").message
    assert engine.own_words() == []


def test_a_new_standard_name_can_be_added_and_then_be_meant(engine: FakeDeskEngine, desk: WordsDesk):
    assert desk.add("甜高粱", "甜高粱", "crop", "zh").added
    assert desk.add("甜秆", "甜高粱", "", "zh").added
    assert set(engine.own_words()) == {OwnWord("甜高粱", "甜高粱", "crop"), OwnWord("甜秆", "甜高粱", "crop")}


def test_adding_a_word_again_changes_what_it_means(engine: FakeDeskEngine, desk: WordsDesk):
    desk.add("打虫子", "玉米螟", "", "zh")
    assert desk.add("打虫子", "锈病", "", "zh").added
    assert engine.own_words() == [OwnWord("打虫子", "锈病", "disease")]


def test_a_bad_change_leaves_the_word_as_it_was(engine: FakeDeskEngine, desk: WordsDesk):
    desk.add("打虫子", "玉米螟", "", "zh")
    assert not desk.add("打虫子", "没有的名", "", "zh").added
    assert engine.own_words() == [BORER]


def test_a_word_is_removed_by_its_own_button_and_an_old_button_removes_nothing(engine: FakeDeskEngine, desk: WordsDesk):
    desk.add("打虫子", "玉米螟", "", "zh")
    for old in (word_key(OwnWord("打虫子", "锈病", "disease")), "", "[]", "{"):
        assert "已删除" not in desk.remove(old, "zh").message
    assert engine.own_words() == [BORER]
    assert "已删除“打虫子”，从下一问起生效" in desk.remove(word_key(BORER), "zh").message
    assert engine.own_words() == []


def test_the_rows_of_a_table_are_added_and_each_bad_one_is_named_beside_it(
    engine: FakeDeskEngine, desk: WordsDesk, tmp_path: Path
):
    desk.add("打虫子", "玉米螟", "", "zh")
    desk.add("黄病", "锈病", "", "zh")
    view = desk.take_in(table(tmp_path, "别名,标准名,类别\n包米,玉米,\n\n坏词,玉米明,\n打虫子,没有的名,\n黄病,稻瘟病,病害\n"), "zh")
    assert {(word.alias, word.term) for word in engine.own_words()} == {
        ("包米", "玉米"), ("打虫子", "玉米螟"), ("黄病", "稻瘟病")}
    assert "已添加 2 个词语。" in view.message and "有 2 行没有保存" in view.message
    assert "第 4 行“坏词”" in view.message and "第 5 行“打虫子”" in view.message


@pytest.mark.parametrize("content", [
    "包米\t玉米\n".encode("gb18030"), "包米,玉米\r\n".encode("utf-8-sig"),
    codecs.BOM_UTF16_LE + "alias\tterm\n包米\t玉米\n".encode("utf-16-le"),
])
def test_tables_as_spreadsheets_write_them_are_read(engine: FakeDeskEngine, desk: WordsDesk, tmp_path: Path, content: bytes):
    desk.take_in(table(tmp_path, content), "zh")
    assert engine.own_words() == [OwnWord("包米", "玉米", "crop")]


@pytest.mark.parametrize(("content", "said"), [
    (b"", "没有词语"), (b"\n\n", "没有词语"), (b"x" * (LARGEST_TABLE + 1), "太大"), (b"\x00\x01PK\x03\x04" * 99, "编码无法识别"),
])
def test_a_file_that_is_no_table_is_a_sentence_that_names_it(
    engine: FakeDeskEngine, desk: WordsDesk, tmp_path: Path, content: bytes, said: str
):
    view = desk.take_in(table(tmp_path, content), "zh")
    assert said in view.message and "词.csv" in view.message and engine.own_words() == []


def test_a_file_that_is_gone_is_a_sentence(desk: WordsDesk, tmp_path: Path):
    assert "无法读取" in desk.take_in(tmp_path / "没有.csv", "zh").message


@pytest.mark.parametrize("form", ["tsv", "csv"])
def test_what_is_handed_out_can_be_taken_in_again(engine: FakeDeskEngine, desk: WordsDesk, tmp_path: Path, form: str):
    desk.add("打虫子", "玉米螟", "", "zh")
    desk.add("甜高粱", "甜高粱", "crop", "zh")
    before, written = set(engine.own_words()), desk.table(form)
    engine.set_own_words([])
    view = desk.take_in(table(tmp_path, "\ufeff" + written, f"词.{form}"), "zh")
    assert set(engine.own_words()) == before and "没有保存" not in view.message


def test_standard_names_are_suggested_only_while_something_is_typed(desk: WordsDesk):
    assert desk.suggestions(" 玉米 ").count("<option") == 2
    assert "<option" not in desk.suggestions("  ")


def test_problems_of_the_shipped_tables_stand_below_the_words(desk: WordsDesk):
    assert "词表中没有用上的行（2）" in desk.view("zh").table


def test_a_kept_word_that_cannot_be_used_any_more_is_told_in_its_row_and_not_below(
    engine: FakeDeskEngine, desk: WordsDesk, monkeypatch: pytest.MonkeyPatch
):
    desk.add("打虫子", "玉米螟", "", "zh")
    monkeypatch.setattr(engine, "lexicon_problems", lambda: ("自有词第 1 行“打虫子”本身是标准名",))
    table = desk.view("zh").table
    assert table.count("本身是标准名") == 1 and "词表中没有用上" not in table


def test_a_data_folder_that_cannot_be_written_is_a_sentence(
    engine: FakeDeskEngine, desk: WordsDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    desk.add("打虫子", "玉米螟", "", "zh")

    def full(_: object) -> tuple[str, ...]:
        raise StoreError("资料库是只读的：请换一个文件夹")

    monkeypatch.setattr(engine, "set_own_words", full)
    for view in (desk.add("包米", "玉米", "", "zh"), desk.remove(word_key(BORER), "zh"),
                 desk.take_in(table(tmp_path, "包米,玉米"), "zh")):
        assert "资料库是只读的" in view.message and "已" not in view.message and "打虫子" in view.table


def test_own_words_that_cannot_be_read_are_a_sentence(engine: FakeDeskEngine, desk: WordsDesk, monkeypatch: pytest.MonkeyPatch):
    def broken() -> None:
        raise StoreError("资料库打不开：请运行 rebuild")

    monkeypatch.setattr(engine, "own_words", broken)
    assert "资料库打不开" in desk.view("zh").message
    assert desk.table("tsv") == ""
