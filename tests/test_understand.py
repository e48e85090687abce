import time

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from nongda.answer.asked import Asking
from nongda.answer.understand import asked_text, check_question, understand
from nongda.errors import UsageError
from nongda.language.lexicon import Lexicon
from nongda.language.spelling import Spelling
from nongda.records import Query, Reading, Turn
from nongda.settings import AnswerSettings

SETTINGS = AnswerSettings()
DOMAIN = ROOT / "assets" / "domain"
WORDS, ASKING = Lexicon.load(DOMAIN), Asking.load(DOMAIN)
PIECES = ("咖啡", "叶锈病", "那", "呢", "？", "，", "和", "几天", "怎么办", "20克", "A. ")
SPELLING = Spelling.load(DOMAIN, WORDS)


def ask(*questions: str) -> Query:
    """Understand the last of several questions with all that the product knows."""
    history = [Turn("user", question) for question in questions[:-1]]
    return understand(questions[-1], history, WORDS, SETTINGS, ASKING, SPELLING)



@pytest.mark.parametrize("question", ["", "   ", "？？", "🌱", "……"])
def test_a_question_of_no_words_is_refused_in_words(question):
    with pytest.raises(UsageError, match="没有文字"):
        check_question(question, SETTINGS)


def test_a_question_of_20000_characters_is_refused_with_its_length():
    with pytest.raises(UsageError, match="20000 个字，最多 2000"):
        check_question("咖" * 20000, SETTINGS)


def test_a_question_with_its_own_subject_stands_alone(lexicon):
    history = [Turn("user", "水稻稻瘟病怎么治"), Turn("assistant", "喷药。")]
    query = understand("咖啡叶锈病怎么防治", history, lexicon, SETTINGS)
    assert query.standalone == "咖啡叶锈病怎么防治"
    assert [e.term for e in query.entities] == ["咖啡", "叶锈病"]


@pytest.mark.parametrize("follow_up", ["那多久打一次药", "它怎么传播", "每亩用多少", "严重吗？"])
def test_a_follow_up_takes_crop_and_disease_from_the_turn_before(lexicon, follow_up):
    history = [Turn("user", "咖啡叶锈病怎么防治"), Turn("assistant", "喷波尔多液。")]
    query = understand(follow_up, history, lexicon, SETTINGS)
    assert query.standalone == f"咖啡叶锈病怎么防治；{follow_up}"
    assert query.original == follow_up


def test_a_follow_up_with_another_disease_asks_the_same_of_it(lexicon):
    history = [Turn("user", "咖啡叶锈病怎么防治"), Turn("assistant", "喷药。")]
    assert understand("那炭疽病呢", history, lexicon, SETTINGS).standalone == "咖啡炭疽病怎么防治"


def test_only_the_last_two_questions_are_carried_over(lexicon):
    history = [Turn("user", "水稻稻瘟病怎么治"), Turn("assistant", "甲"), Turn("user", "今天天气好"),
               Turn("assistant", "乙"), Turn("user", "你好"), Turn("assistant", "丙")]
    query = understand("多久一次", history, lexicon, SETTINGS)
    assert "水稻" not in query.standalone


def test_what_the_assistant_said_is_never_carried_over(lexicon):
    history = [Turn("user", "咖啡怎么种"), Turn("assistant", "小麦也可以种")]
    assert "小麦" not in understand("那采收呢", history, lexicon, SETTINGS).standalone


def test_search_sees_standard_terms(lexicon):
    query = understand("洋芋晚疫病用３０克药", [], lexicon, SETTINGS)
    assert query.canonical == "马铃薯晚疫病用30g药"
    assert "马铃薯" in query.tokens


def test_no_turns_to_rewrite_from_leaves_the_question_as_it_is(lexicon):
    history = [Turn("user", "咖啡叶锈病怎么防治"), Turn("assistant", "喷药。")]
    assert understand("那多久一次", history, lexicon, AnswerSettings(rewrite_turns=0)).standalone == "那多久一次"


@pytest.mark.parametrize(("questions", "standalone"), [
    (("玉米红蜘蛛打什么药", "那棉花呢"), "棉花红蜘蛛打什么药"),  # a new crop takes the old one's place
    (("玉米蓟马怎么治", "换成棉花呢？"), "棉花蓟马怎么治"),  # within a name too
    (("水稻稻瘟病用三环唑行吗", "稻瘟灵呢"), "水稻稻瘟病用稻瘟灵行吗"),
    (("棉花红蜘蛛打什么药，一亩用多少", "那蚜虫呢"), "棉花蚜虫打什么药，一亩用多少"),
    (("水稻稻瘟病用三环唑行吗", "那一亩用多少", "隔几天打一次"), "水稻稻瘟病三环唑一亩用多少；隔几天打一次"),  # over two turns
    (("咖啡叶锈病怎么防治", "那炭疽病打什么药"), "咖啡；那炭疽病打什么药"),  # asks of its own problem: only the crop is missing
    (("咖啡叶锈病怎么防治", "尿素一亩用多少"), "咖啡；尿素一亩用多少"),
    (("咖啡园荫蔽度多少合适", "怎么剪枝"), "咖啡；怎么剪枝"),
    (("咖啡叶锈病怎么防治", "要是下雨呢"), "咖啡叶锈病怎么防治；要是下雨呢"),
    (("咖啡叶锈病怎么防治", "为什么"), "咖啡叶锈病怎么防治；为什么"),
    (("番茄早疫病怎么治", "棉花枯萎病呢"), "棉花枯萎病怎么治"),
    (("那呢",), "那呢"),
])
def test_a_follow_up_is_completed_from_the_conversation(questions, standalone):
    assert ask(*questions).standalone == standalone


def test_a_follow_up_that_only_names_something_asks_what_was_asked():
    query = ask("咖啡叶锈病怎么防治", "那炭疽病呢")
    assert query.intent == "how_to"
    assert asked_text(query, ASKING) == "咖啡炭疽病怎么防治"
    assert asked_text(ask("咖啡叶锈病怎么防治", "那多久打一次"), ASKING) == "那多久打一次"


def test_a_long_question_before_is_carried_over_by_its_names_alone():
    query = ask("我家咖啡得了叶锈病" + "，雨下个不停" * 100 + "怎么治", "那多久打一次")
    assert query.standalone == "咖啡，叶锈病；那多久打一次"


def test_a_query_has_all_that_was_understood():
    query = ask("玉米叶子上起黄粉，是啥子病？三环唑一亩用20克得行不？")
    assert query.intent == "diagnosis" and query.hops == 2
    assert query.parts == ("玉米叶子上起黄粉，是啥子病？", "玉米叶子上起黄粉，三环唑一亩用20克得行不？")
    assert [(q.low, q.unit, query.standalone[q.start : q.end]) for q in query.quantities if q.unit == "g"] == [(20.0, "g", "20克")]
    assert query.corrected == query.original == query.standalone


def test_a_misspelled_name_is_corrected_and_said():
    query = ask("纹哭病怎么治")
    assert query.corrected == query.standalone == "纹枯病怎么治"
    assert query.original == "纹哭病怎么治"
    assert Reading("纹哭病", "纹枯病") in query.readings


def test_words_to_be_read_as_written_keep_no_standard_term():
    assert Reading("洋芋", "马铃薯") in ask("洋芋晚疫病怎么治").readings
    query = understand("洋芋晚疫病怎么治", [], WORDS, SETTINGS, ASKING, SPELLING, frozenset({"洋芋"}))
    assert query.readings == () and "马铃薯" not in query.canonical


def test_without_ways_of_asking_a_query_has_no_parts():
    query = understand("咖啡叶锈病打什么药，隔几天打一次", [], WORDS, SETTINGS)
    assert (query.intent, query.hops, query.parts, query.corrected) == ("fact", 1, (), query.original)


@pytest.mark.parametrize(("question", "terms", "intent"), [
    ("馬鈴薯晚疫病怎麼防治", {"马铃薯", "晚疫病"}, "how_to"), ("How to treat rice blast?", {"稻瘟病"}, "how_to"),
    ("daowenbing zenme fangzhi", {"稻瘟病"}, "how_to"), ("玉米和棉花的蚜虫怎么治", {"玉米", "棉花", "蚜虫"}, "how_to"),
])
def test_other_scripts_and_two_crops_are_understood(question, terms, intent):
    query = ask(question)
    assert terms <= {e.term for e in query.entities}
    assert query.intent == intent


@pytest.mark.parametrize("question", [
    "病", "？病", "7", "A", "呢", "那", "吗", "什么", "A. B.", "A. 能 B. 不能", "，，病，，", "\n病\n\n", "𠮷🌽", "和和和",
])
def test_the_shortest_questions_have_one_hop(question):
    query = ask(question)
    assert query.original == question.strip() and query.hops == 1 and query.parts == ()
    assert ask("咖啡叶锈病怎么防治", question).original == question.strip()


def test_ten_questions_at_once_have_four_parts_and_count_as_ten():
    asked = "海拔多高 株距多宽 几月定植 浇几次水 施多少尿素 打什么药 怎么剪枝 几年结果 几月采收 怎么晒干".split()
    query = ask("咖啡" + "？".join(asked))
    assert len(query.parts) == 4 and query.hops == 10
    assert all("咖啡" in part for part in query.parts)


@pytest.mark.parametrize("unit", ["叶子黄了，", "叶锈病打什么药？", "和", "什么", "隔几天，", "1米和2米", "A. 能 ", "不"])
def test_2000_characters_are_understood_within_seconds(unit):
    question = (unit * 2000)[:2000].strip()
    started = time.perf_counter()
    query = ask("咖啡叶锈病怎么防治", question)
    assert len(query.parts) <= 4
    assert time.perf_counter() - started < 5


@examples(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=12) | st.sampled_from(PIECES), max_size=10))
def test_no_question_raises_anything_but_a_sentence(pieces):
    try:
        query = ask("咖啡叶锈病怎么防治", "".join(pieces))
    except UsageError as error:
        assert "问题" in str(error)
    else:
        assert query.hops >= max(1, len(query.parts)) and query.standalone
        assert all(0 <= q.start < q.end <= len(query.standalone) for q in query.quantities)
