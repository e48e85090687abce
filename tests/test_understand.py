import pytest

from nongda.answer.understand import check_question, understand
from nongda.errors import UsageError
from nongda.records import Turn
from nongda.settings import AnswerSettings

SETTINGS = AnswerSettings()


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
