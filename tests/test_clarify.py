"""A question back where one name means several things, and none where the question says which."""

import pytest
from conftest import ROOT
from test_subjects import corpus

from nongda.answer.clarify import clarification
from nongda.answer.understand import understand
from nongda.index.subjects import Subjects
from nongda.language.lexicon import Lexicon
from nongda.records import Turn
from nongda.settings import AnswerSettings

CORPUS = (
    ("马铃薯地下害虫", [(("一、小地老虎",), "paragraph", "小地老虎白天躲在土里，夜里咬断嫩茎。用糖醋液诱杀。"),
                 (("二、蛴螬",), "paragraph", "蛴螬身体弯成马蹄形，啃食薯块。用白僵菌拌土。")]),
    ("玉米害虫", [(("一、玉米螟",), "paragraph", "玉米螟在心叶上蛀出排孔。用赤眼蜂。"),
              (("二、草地贪夜蛾",), "paragraph", "草地贪夜蛾头上有倒Y纹。用乙基多杀菌素。"),
              (("三、黏虫",), "paragraph", "黏虫成群吃光叶片。用敌百虫。")]),
    ("小麦锈病", [(("一、条锈病",), "paragraph", "条锈病的孢子堆成行。"), (("二、叶锈病",), "paragraph", "叶锈病的孢子堆散乱。"),
              (("三、秆锈病",), "paragraph", "秆锈病长在茎秆上。")]),
    ("咖啡叶锈病", [(("一、防治",), "paragraph", "叶锈病雨季前喷波尔多液。")]),
    ("咖啡天牛", [(("一、旋皮天牛",), "paragraph", "旋皮天牛在树干基部旋食。"),
              (("二、灭字脊虎天牛",), "paragraph", "灭字脊虎天牛蛀入木质部。")]),
    ("辣椒炭疽病", [(("一、防治",), "paragraph", "辣椒炭疽病清除病果。")]),
    ("咖啡炭疽病", [(("一、防治",), "paragraph", "咖啡炭疽病剪除枯枝。")]),
    ("水稻二化螟", [(("一、防治",), "paragraph", "二化螟造成枯心苗。")]),
)


@pytest.fixture(scope="module")
def domain() -> Lexicon:
    return Lexicon.load(ROOT / "assets" / "domain")


@pytest.fixture(scope="module")
def subjects(domain) -> Subjects:
    return Subjects.of(*corpus(domain, *CORPUS), domain)


def ask(domain, subjects, question, *before):
    query = understand(question, [Turn("user", b) for b in before], domain, AnswerSettings())
    return clarification(query, subjects, domain)


AMBIGUOUS = [
    ("土蚕怎么治", ("小地老虎怎么治", "蛴螬怎么治")),
    ("马铃薯土蚕怎么治", ("马铃薯小地老虎怎么治", "马铃薯蛴螬怎么治")),
    ("洋芋地里有土蚕，怎么办", ("洋芋地里有小地老虎,怎么办", "洋芋地里有蛴螬,怎么办")),
    ("打玉米虫用什么药", ("玉米螟用什么药", "草地贪夜蛾用什么药", "黏虫用什么药")),
    ("苞谷打玉米虫用什么药", ("苞谷玉米螟用什么药", "苞谷草地贪夜蛾用什么药", "苞谷黏虫用什么药")),
    ("黄锈病怎么治", ("叶锈病怎么治", "条锈病怎么治")),
    ("小麦黄锈病怎么治", ("小麦叶锈病怎么治", "小麦条锈病怎么治")),
    ("小麦黄疸怎么治", ("小麦条锈病怎么治", "小麦叶锈病怎么治", "小麦秆锈病怎么治")),
    ("麦子起黄疸怎么办", ("麦子条锈病怎么办", "麦子叶锈病怎么办", "麦子秆锈病怎么办")),
    ("咖啡钻心虫怎么治", ("咖啡灭字脊虎天牛怎么治", "咖啡旋皮天牛怎么治")),
    ("钻心虫怎么治", ("玉米螟怎么治", "二化螟怎么治", "灭字脊虎天牛怎么治", "旋皮天牛怎么治")),
    ("炭疽病怎么治", ("辣椒炭疽病怎么治", "咖啡炭疽病怎么治")),
    ("叶锈病怎么治", ("小麦叶锈病怎么治", "咖啡叶锈病怎么治")),
]
DECIDED = [
    "马铃薯小地老虎怎么治", "土蚕（小地老虎）怎么治", "土蚕夜里咬断嫩茎怎么治", "土蚕弯成马蹄形怎么治", "玉米钻心虫怎么治",
    "水稻钻心虫怎么治", "打玉米虫头上有倒Y纹用什么药", "咖啡黄锈病怎么治",
    "黄锈病的孢子堆成行怎么治", "咖啡钻心虫在树干基部旋食怎么治", "辣椒炭疽病怎么治", "炭疽病要不要剪除枯枝",
    "叶锈病雨季前喷什么", "咖啡叶锈病怎么治", "小麦条锈病怎么治", "蛴螬怎么治", "咖啡怎么施肥", "棉花乌米怎么治",
    "卷叶虫怎么治",
]


@pytest.mark.parametrize(("question", "choices"), AMBIGUOUS)
def test_a_name_with_several_readings_is_asked_back_with_whole_questions(domain, subjects, question, choices):
    found = ask(domain, subjects, question)
    assert found is not None
    assert found.choices == choices
    assert found.text.endswith("？") and found.text.count("？") == 1


@pytest.mark.parametrize("question", DECIDED)
def test_a_question_that_says_which_is_not_asked_back(domain, subjects, question):
    assert ask(domain, subjects, question) is None


@pytest.mark.parametrize(("question", "choices"), [a for a in AMBIGUOUS if "黄" not in a[0]])
def test_a_choice_is_not_asked_back_again(domain, subjects, question, choices):
    assert [ask(domain, subjects, c) for c in choices] == [None] * len(choices)


def test_the_conversation_decides(domain, subjects):
    assert ask(domain, subjects, "那炭疽病呢", "辣椒怎么育苗") is None


def test_readings_that_lead_to_the_same_passage_are_not_asked_apart(domain):
    one = Subjects.of(*corpus(domain, ("地下害虫", [((), "paragraph", "小地老虎和蛴螬都用白僵菌。")])), domain)
    assert ask(domain, one, "土蚕怎么治") is None


def test_an_empty_corpus_asks_nothing(domain):
    assert ask(domain, Subjects.of([], [], domain), "土蚕怎么治") is None
