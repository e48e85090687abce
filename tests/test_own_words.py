"""A station's own words: what is taken, what is named, and files that spreadsheets write and read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.documents.parse_text import decode
from nongda.errors import UsageError
from nongda.language.lexicon_table import KINDS
from nongda.language.own_words import MOST_ROWS, OwnWord, format_table, parse_table

WORD = st.text(st.sampled_from("虎皮病玉米a1·-"), min_size=1, max_size=6)


def taken(lexicon, *rows: OwnWord) -> list[tuple[str, str, str]]:
    return [(row.alias, row.term, row.kind) for row in lexicon.check_own(rows)[0]]


def wrong(lexicon, *rows: OwnWord) -> list[str]:
    return list(lexicon.check_own(rows)[1])


# rows

def test_an_alias_gets_the_kind_of_its_term_and_a_new_term_its_own(lexicon):
    rows = OwnWord(" 虎皮病 ", "叶锈病", "作物"), OwnWord("阿婆菜", "阿婆菜", "作物"), OwnWord("婆菜", "阿婆菜")
    assert taken(lexicon, *rows) == [
        ("虎皮病", "叶锈病", "disease"), ("阿婆菜", "阿婆菜", "crop"), ("婆菜", "阿婆菜", "crop")]


def test_an_alias_of_an_alias_is_kept_with_the_standard_term(lexicon):
    rows = OwnWord("洋芋蛋", "洋芋"), OwnWord("大棒", "小棒"), OwnWord("小棒", "苞穀")
    assert taken(lexicon, *rows) == [
        ("洋芋蛋", "马铃薯", "crop"), ("大棒", "玉米", "crop"), ("小棒", "玉米", "crop")]


@pytest.mark.parametrize(("row", "says"), [
    (OwnWord("", "玉米"), "别名是空的"),
    (OwnWord("棒子", " "), "标准名是空的"),
    (OwnWord("棒" * 41, "玉米"), "超过 40 个字"),
    (OwnWord("？！", "玉米"), "不是词"),
    (OwnWord("=1+2", "玉米"), "不是词"),
    (OwnWord("玉米", "水稻"), "本身是标准名"),
    (OwnWord("玉米", "玉米", "作物"), "本身已是标准名"),
    (OwnWord("阿婆菜", "阿婆菜", "蔬"), "类别“蔬”不认识"),
    (OwnWord("黑胡子", "土蚕"), "有几种意思（天牛、蚜虫）"),
    (OwnWord("黑胡子", "叶锈"), "相近的标准名有 叶锈病"),
    (OwnWord("黑胡子", "千里光虫"), "要添加新的标准名"),
])
def test_what_is_wrong_with_a_row_is_one_sentence_and_the_others_are_taken(lexicon, row, says):
    good, problems = lexicon.check_own([row, OwnWord("虎皮病", "叶锈病")])
    assert [g.alias for g in good] == ["虎皮病"]
    assert len(problems) == 1
    assert problems[0].startswith("第 1 行")
    assert says in problems[0]
    assert "没有保存：" in problems[0]


def test_a_circle_is_named_at_each_of_its_rows(lexicon):
    problems = wrong(lexicon, OwnWord("甲疯", "乙疯"), OwnWord("乙疯", "丙疯"), OwnWord("丙疯", "甲疯"))
    assert [p.split("”")[0] for p in problems] == ["第 1 行“甲疯", "第 2 行“乙疯", "第 3 行“丙疯"]
    assert all("绕了一圈" in p for p in problems)


def test_the_first_usable_row_of_a_word_counts(lexicon):
    good, problems = lexicon.check_own([OwnWord("棒子", "没有"), OwnWord("棒子", "玉米"), OwnWord("棒 子", "x"),
                                        OwnWord("棒子", "水稻")])
    assert [(g.alias, g.term) for g in good] == [("棒子", "玉米")]
    assert [p.split("行")[0] for p in problems] == ["第 1 ", "第 3 ", "第 4 "]
    assert "与第 2 行重复" in problems[2]


def test_no_more_rows_than_a_station_can_need_are_taken(lexicon):
    good, problems = lexicon.check_own([OwnWord(f"叫法{n}", "玉米") for n in range(MOST_ROWS + 2)])
    assert (len(good), len(problems)) == (MOST_ROWS, 2)


@settings(deadline=None)
@given(st.lists(st.builds(OwnWord, WORD | st.just(""), WORD | st.just("玉米"), st.sampled_from(["", "作物", "pest"])), max_size=8))
def test_each_row_is_taken_named_or_empty_and_what_is_taken_is_taken_again(lexicon, rows):
    good, problems = lexicon.check_own(rows)
    assert len(good) + len(problems) == sum(bool(r.alias or r.term) for r in rows)
    assert lexicon.check_own(good) == (good, ())
    known = lexicon.with_own(good)
    for row in good:
        assert known.names_of(row.alias) == (row.term,)
        assert known.standard_names()[row.term] == row.kind


# in use

def test_own_words_are_read_and_the_shipped_lexicon_stays_as_it_is(lexicon):
    own = lexicon.with_own([OwnWord("虎皮病", "叶锈病"), OwnWord("阿婆菜", "阿婆菜", "作物"), OwnWord("洋芋", "阿婆菜")])
    assert own.canonical("洋芋虎皮病") == "阿婆菜叶锈病"  # an own alias goes before a shipped one
    assert [(e.term, e.kind) for e in own.entities("阿婆菜")] == [("阿婆菜", "crop")]
    assert own.tokens("虎皮病") == lexicon.tokens("叶锈病")
    assert lexicon.canonical("洋芋虎皮病") == "马铃薯虎皮病"
    assert own.without(["虎皮病"]).tokens("虎皮病")[0] == "虎皮病"


def test_an_own_word_that_has_lost_its_term_is_among_the_problems(lexicon):
    own = lexicon.with_own([OwnWord("虎皮病", "没有的病", "disease")])
    assert own.problems[0].startswith("自有词第 1 行“虎皮病”指向的“没有的病”不是标准名")
    assert own.entities("虎皮病") == ()


# tables

@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("text", [
    "别名\t标准名\t类别\n虎皮病\t叶锈病\t\n阿婆菜\t阿婆菜\t作物\n", "虎皮病,叶锈病\r\n阿婆菜,阿婆菜,作物\r\n",
    "alias,term,note\n虎皮病,叶锈病\n\"阿婆菜\",\"阿婆菜\",作物",
])
def test_tables_of_spreadsheets_are_read_in_their_encodings(lexicon, encoding, text):
    rows = parse_table(decode(text.encode(encoding), "词.csv"), "词.csv")
    assert taken(lexicon, *rows) == [("虎皮病", "叶锈病", "disease"), ("阿婆菜", "阿婆菜", "crop")]


def test_a_problem_names_the_row_of_the_table(lexicon):
    rows = parse_table("别名,标准名\n虎皮病,叶锈病\n\n独一栏\n坏,没有的病名\n", "词.csv")
    assert [p.split("”")[0] for p in wrong(lexicon, *rows)] == ["第 4 行“独一栏", "第 5 行“坏"]


def test_a_table_that_is_none_is_an_error_of_use():
    with pytest.raises(UsageError, match=r"词\.csv 第 1 行"):
        parse_table("甲,\"" + "长" * 200_000 + "\"", "词.csv")


@settings(deadline=None)
@given(st.lists(st.builds(OwnWord, WORD, WORD, st.sampled_from(["crop", "pest"])), max_size=6), st.sampled_from(["\t", ","]))
def test_a_table_written_is_read_back(rows, delimiter):
    back = parse_table(format_table(rows, delimiter), "词")
    assert back[1:] == [OwnWord(r.alias, r.term, KINDS[r.kind]) for r in rows]
    assert back[0] == OwnWord("", "")  # the header keeps the rows' numbers


@pytest.mark.parametrize("alias", ["用", "怎么", "12", "7天", "防治", "多少"])
def test_a_word_of_every_question_is_no_name_of_a_disease(lexicon, alias):
    good, problems = lexicon.check_own([OwnWord(alias, "叶锈病")])
    assert good == () and "请写得更具体" in problems[0]
