"""What a question wants, by its words: every intent, in standard words and in dialect."""

import pytest
from conftest import ROOT

from nongda.answer.asked import Asking
from nongda.answer.intent import Triggers, templates
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def words() -> Lexicon:
    return Lexicon.load(DOMAIN)


@pytest.fixture(scope="module")
def asking() -> Asking:
    return Asking.load(DOMAIN)


@pytest.mark.parametrize(("question", "intent"), [
    ("稻子叶子发黄咋整", "how_to"), ("苞谷钻心虫咋个办", "how_to"), ("洋芋晚疫病咋搞才治得住", "how_to"), ("咖啡苗啷个栽", "how_to"),
    ("有没有什么好法子治红蜘蛛", "how_to"), ("咖啡修剪分几步", "how_to"), ("能不能告诉我蚜虫怎么治", "how_to"),
    ("咖啡苗期立枯病的防治方法", "how_to"), ("晚疫病啥药管用", "how_to"),
    ("氮肥施多了会怎样", "fact"),
    ("这样打药得行不", "yes_no"), ("尿素拌种中不中", "yes_no"), ("小苗要得不", "yes_no"), ("药还管用不", "yes_no"),
    ("苗晒过了没？", "yes_no"),
    ("棉花耐盐不耐盐", "yes_no"), ("雨后补喷要不要得", "yes_no"), ("石灰和尿素可以一起撒吗？", "yes_no"),
    ("一亩要放好多尿素", "fact"), ("啥子时候下种", "fact"), ("这药要隔好久打一道", "fact"), ("新品种产量怎么样", "fact"),
    ("叶锈病打哪种药", "how_to"), ("这是碱土还是盐土", "choice"), ("多深的土合适，怎么挖", "how_to"),
    ("为什么不能用菊酯打红蜘蛛", "fact"), ("什么叫荫蔽度", "fact"),
    ("麦子叶子上起黄粉是啥子病", "diagnosis"), ("苗子倒了一片，咋搞的", "diagnosis"),
    ("稻子为啥不抽穗", "diagnosis"), ("果子上的眼是什么虫咬的", "diagnosis"),
    ("叶边焦了是差啥肥", "diagnosis"), ("咖啡叶子卷起来了", "diagnosis"), ("棉花蕾掉得厉害是怎么回事", "diagnosis"),
    ("条锈病和叶锈病咋区分", "comparison"), ("早稻和晚稻各打几次药", "comparison"), ("尿素跟碳铵哪个划算", "comparison"),
    ("三亩地每亩撒20公斤一共要多少公斤", "arithmetic"), ("15升水兑500倍要放多少毫升药", "arithmetic"),
    ("行距2米株距1米，一亩栽多少棵", "arithmetic"),
    ("哪种药治白粉病？A. 腈菌唑 B. 霜霉威", "choice"),
])
def test_an_intent_is_known_by_its_words(asking, words, question, intent):
    assert asking.of(question, words).intent == intent


@pytest.mark.parametrize("clause", [
    "前几天下过雨", "这几年产量低", "打了什么药都不管用", "不管怎么打", "试了好几种药", "没什么虫", "中间几个小穗先枯，",
    "动不动就下雨", "看看土好不好，",
    "下面几种药里，", "叶子不怎么绿",
])
def test_words_of_asking_that_ask_nothing_are_no_question(asking, clause):
    assert not asking.triggers.asks(clause)


@pytest.mark.parametrize("clause", [
    "怕热不？", "还能进去干活不", "坑要挖好深", "药打完了没？",
    "耐盐不耐盐", "咋整", "要好多药", "是抗还是感",
])
def test_words_of_asking_in_dialect_ask(asking, clause):
    assert asking.triggers.asks(clause)


def test_a_recipe_of_two_things_compares_nothing(asking, words):
    assert asking.of("硫酸铜和生石灰各称多少克", words).kind == "fact"


def test_the_first_clause_that_asks_decides(asking, words):
    assert asking.of("这是什么病，还来得及打药不？", words).intent == "diagnosis"
    assert asking.of("还来得及打药不，这是什么病？", words).intent == "yes_no"


def test_a_question_in_traditional_characters_has_the_same_intent(asking, words):
    assert asking.of("馬鈴薯晚疫病怎麼辦", words).intent == "how_to"


def test_names_stand_in_templates_as_their_kinds(words):
    assert templates("咖啡叶锈病用三唑酮", words) == "<crop><disease>用<product>"


def test_there_are_at_least_300_triggers_in_the_data():
    import tomllib

    data = tomllib.loads((DOMAIN / "triggers.toml").read_text(encoding="utf-8"))
    intents = ("fact", "how_to", "diagnosis", "comparison", "yes_no", "arithmetic")
    entries = [entry for name in intents for key in data[name] for entry in data[name][key]]
    assert len(entries) == len(set(entries)) >= 300


@pytest.mark.parametrize("content", [None, "[weights", "[weights]\nstrong = 3\n", '[asks]\nwords = ["("]\n'])
def test_a_missing_or_broken_table_is_an_error_that_names_it(tmp_path, content):
    if content is not None:
        (tmp_path / "triggers.toml").write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"triggers\.toml"):
        Triggers.load(tmp_path)
