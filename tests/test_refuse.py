"""What the corpus does not hold is refused, and what it holds is not."""

import pytest
from answer_world import make_candidate
from conftest import ROOT
from test_subjects import BLAST, RUST, TABLE, corpus

from nongda.answer.prompt import NO_ANSWER
from nongda.answer.refuse import Missing, missing_subject, refusal_text
from nongda.answer.understand import understand
from nongda.answer.unlisted import unlisted_names
from nongda.index.subjects import Subjects
from nongda.language.lexicon import Lexicon
from nongda.records import Turn
from nongda.settings import AnswerSettings

PEPPER = ("茄果类蔬菜育苗", [(("一、苗床",), "paragraph", "茄果类用营养钵育苗。"),
                    (("二、辣椒疫病",), "paragraph", "辣椒疫病从茎基部发病。")])
INTERCROP = ("咖啡间作", [(("香蕉",), "paragraph", "间作香蕉时每4株咖啡配1株。"),
                     ((), "paragraph", "有的园子边上有茶园，横水沟宽40厘米。")])
WHEAT = ("小麦条锈病", [((), "paragraph", "条锈病用三唑酮，每亩10克。秆锈病少见。蚜虫用吡虫啉。")])


@pytest.fixture(scope="module")
def domain() -> Lexicon:
    return Lexicon.load(ROOT / "assets" / "domain")


@pytest.fixture(scope="module")
def subjects(domain) -> Subjects:
    return Subjects.of(*corpus(domain, RUST, BLAST, TABLE, PEPPER, INTERCROP, WHEAT), domain)


def query(domain, question, *before):
    return understand(question, [Turn("user", b) for b in before], domain, AnswerSettings())


def missing(domain, subjects, question, *before):
    return missing_subject(query(domain, question, *before), subjects, domain)


@pytest.mark.parametrize("question", [
    "咖啡叶锈病怎么治", "小粒咖啡叶锈病喷什么", "水稻叶瘟用什么药", "稻田里的稻瘟病怎么防", "晚稻破口期打什么药", "黄瓜百菌清隔几天能摘",
    "波尔多液怎么配", "敌百虫怎么稀释", "辣椒疫病怎么办", "辣椒疫病和水稻稻瘟病有什么区别", "番茄育苗用什么", "茄子育苗怎么做",
    "小麦的蚜虫用什么药", "麦田条锈病用什么药", "蔬菜育苗用什么钵", "咖啡园里间作香蕉怎么配", "香蕉套种几株",
    "茶园横水沟挖多宽", "叶子背面有黄粉怎么办", "玉米地旁边的咖啡叶锈病怎么治", "用稻草盖咖啡苗行不行",
    "前茬是油菜的水稻稻瘟病怎么防", "用豆饼给咖啡上肥行吗", "辣椒苗分几块地育", "水稻病怎么防",
])
def test_what_the_corpus_holds_is_not_refused(domain, subjects, question):
    assert missing(domain, subjects, question) is None


@pytest.mark.parametrize(("question", "term", "kind"), [
    ("猕猴桃溃疡病怎么治", "猕猴桃", "crop"), ("茶园怎么选址", "茶树", "crop"), ("烤烟黑胫病怎么治", "烟草", "crop"),
    ("咖啡园里种核桃遮荫株距多大", "核桃", "crop"), ("玉米怎么施肥", "玉米", "crop"),
    ("水稻白叶枯病怎么治", "白叶枯病", "disease"), ("咖啡蛞蝓怎么治", "蛞蝓", "pest"), ("咖啡鼻涕虫怎么治", "蛞蝓", "pest"),
    ("水稻用噻菌铜几克", "噻菌铜", "product"), ("瑰夏抗不抗叶锈病", "瑰夏", "variety"),
    ("咖啡缺钼喷钼酸铵多少", "钼酸铵", "nutrient"), ("水稻的麻点疫霉病怎么治", "麻点疫霉病", "name"),
    ("小麦喷氟环甲唑醇多少克", "氟环甲唑醇", "name"),
    ("稻田镉超标怎么办", "镉", "name"), ("滇禾73这个水稻品种抗不抗稻瘟病", "滇禾73", "name"),
    ("种咖啡政府一亩补贴多少", "补贴", "topic"), ("今年咖啡收购价多少", "价格和花费", "topic"), ("水稻绝收保险赔多少", "保险赔付", "topic"),
])
def test_what_the_corpus_does_not_name_is_missing(domain, subjects, question, term, kind):
    found = missing(domain, subjects, question)
    assert found is not None
    assert (found.term, found.kind) == (term, kind)


@pytest.mark.parametrize(("question", "term", "crop", "elsewhere"), [
    ("小麦稻瘟病怎么治", "稻瘟病", "小麦", ("水稻",)), ("水稻条锈病怎么治", "条锈病", "水稻", ("小麦",)),
    ("小麦穗颈瘟怎么治", "穗颈瘟", "小麦", ("水稻",)), ("水稻秆锈病怎么治", "秆锈病", "水稻", ("小麦",)),
    ("辣椒喷百菌清隔几天摘", "百菌清", "辣椒", ("黄瓜",)), ("咖啡能打三环唑吗", "三环唑", "咖啡", ("水稻",)),
])
def test_a_disease_or_product_of_another_crop_is_a_near_miss(domain, subjects, question, term, crop, elsewhere):
    found = missing(domain, subjects, question)
    assert found is not None
    assert (found.term, found.crop, found.elsewhere) == (term, crop, elsewhere)


def test_a_follow_up_is_judged_with_the_subject_it_carries(domain, subjects):
    assert missing(domain, subjects, "那多久打一次", "咖啡叶锈病怎么治") is None
    found = missing(domain, subjects, "那多久打一次", "小麦稻瘟病怎么治")
    assert found is not None and found.term == "稻瘟病"


def test_the_real_corpus_is_not_needed_for_an_empty_one(domain):
    found = missing(domain, Subjects.of([], [], domain), "咖啡叶锈病怎么治")
    assert found is not None and found.term == "咖啡"


# what is said

def test_a_near_miss_says_what_is_there_instead_and_where(domain, subjects):
    asked = query(domain, "小麦稻瘟病怎么治")
    text = refusal_text(asked, missing_subject(asked, subjects, domain), (), subjects)
    assert text == f"{NO_ANSWER}。资料里有水稻稻瘟病，没有小麦稻瘟病。最接近的资料：《稻瘟病的识别》。"


def test_a_crop_that_is_missing_is_answered_with_the_crops_that_are_there(domain, subjects):
    asked = query(domain, "猕猴桃怎么修剪")
    text = refusal_text(asked, missing_subject(asked, subjects, domain), (), subjects)
    assert text.startswith(f"{NO_ANSWER}。资料里讲的作物是")
    assert "没有猕猴桃" in text


def test_a_disease_that_is_missing_is_answered_with_the_crop_s_own_diseases(subjects, domain):
    text = refusal_text(query(domain, "水稻白叶枯病"), Missing("白叶枯病", "disease", "水稻"), (), subjects)
    assert text == f"{NO_ANSWER}。资料里水稻有叶瘟、稻瘟病等，没有白叶枯病。"


def test_a_refusal_for_other_reasons_names_the_nearest_titles_once(domain, subjects):
    candidates = [make_candidate(domain, "甲", "aaaaaaaa#0", "甲书"), make_candidate(domain, "乙", "aaaaaaaa#1", "甲书"),
                  make_candidate(domain, "丙", "bbbbbbbb#0", "乙书"), make_candidate(domain, "丁", "cccccccc#0", "丙书")]
    assert refusal_text(query(domain, "咖啡"), None, candidates, subjects) == f"{NO_ANSWER}。最接近的资料：《甲书》、《乙书》。"


def test_every_refusal_begins_with_the_fixed_sentence(domain, subjects):
    for item in (None, Missing("镉", "name"), Missing("补贴", "topic"), Missing("茶树", "crop"), Missing("瑰夏", "variety", "咖啡")):
        assert refusal_text(query(domain, "问题"), item, (), subjects).startswith(NO_ANSWER)


# names by their form

@pytest.mark.parametrize(("text", "names"), [
    ("玉米田里的麻斑萤叶甲多", ["麻斑萤叶甲"]), ("这是什么病", []), ("得了哪种病", []), ("咖啡叶锈病", []), ("烂根病", []), ("有蚜虫", []),
    ("喷了氟环甲唑醇", ["氟环甲唑醇"]), ("土里砷多", ["砷"]), ("速效磷多少", []), ("用砷酸铅", []),
    ("水稻病多", []), ("稻田螟虫多", []), ("叶子病了", []), ("真菌病用什么", []), ("每隔7天换药防抗性", []), ("亩产500抗倒", []),
    ("滇禾73抗不抗病", ["滇禾73"]), ("kx907抗锈病吗", ["kx907"]), ("云蔗08这个品种", ["云蔗08"]), ("马缨丹扁蝽多", ["马缨丹扁蝽"]),
])
def test_a_name_is_known_by_its_ending(domain, text, names):
    assert [n.shown for n in unlisted_names(text, domain)] == names
