"""The rules a gold question has to satisfy, each broken once; and the real set, which has to satisfy all."""

import dataclasses

import pytest
from gold_world import families, questions, real_values, write_corpus

from nongda.evaluation.admission import Balance, problems, read_corpus
from nongda.evaluation.commands import gold_problems
from nongda.evaluation.dataset import GoldEvidence, Passage
from nongda.records import Turn

VALUES = real_values()
NO_BALANCE = Balance(0, 0, 0, 0, 0.0)
FIRST = questions()[0]
QUOTE = FIRST.evidence[0].passages[0]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder)
    return read_corpus(folder, families()[0].documents)


def of(corpus, *changed, balance=NO_BALANCE):
    return "\n".join(problems(changed, families(), corpus, VALUES, balance))


def test_sound_questions_are_admitted(corpus):
    assert problems(questions(), families(), corpus, VALUES, NO_BALANCE) == []


def evidence(doc=QUOTE.doc, quote=QUOTE.quote):
    return GoldEvidence((Passage(doc, quote),))


BROKEN = {
    "不属于任何一组：": None,
    "里没有“": {"evidence": (evidence(quote="咖啡灌溉工作每隔4天检查一次"),)},
    "没有资料": {"evidence": (evidence(doc="咖啡/99.md"),)},
    "属于另一边": {"split": "test"},
    "引文长 5 字": {"evidence": (evidence(quote="每隔3天检"),)},
    "有 4 条证据": {"evidence": (evidence(),) * 4},
    "有 0 条证据": {"evidence": ()},
    "must 是空的": {"must": ()},
    "在证据里找不到": {"must": ("5天",)},
    "就在证据里": {"must_not": ("3天",)},
    "must_not 是空的": {"must_not": ()},
    "既是 must 又是": {"must": ("检查",), "must_not": ("检查",)},
    "不认识": {"kind": "easy"},
    "follow_up 要有": {"history": (Turn("user", "咖啡怎么灌溉"),)},
    "不能回答的题": {"answerable": False},
    "不属于任何一组资料": {"topic": "tea"},
    "照抄": {"question": "请问咖啡灌溉工作每隔3天检查一次。这一段是为了让段落足够长吗"},
}  # fmt: skip


@pytest.mark.parametrize("words", BROKEN)
def test_a_broken_rule_is_named(corpus, words):
    changes = BROKEN[words]
    if changes is None:
        assert words in of({**corpus, "咖啡/new.md": "新"}, FIRST)
    else:
        assert words in of(corpus, dataclasses.replace(FIRST, **changes))


def test_near_duplicates_and_repeated_ids_are_named(corpus):
    twin = dataclasses.replace(FIRST, id="other", question=FIRST.question + "呢")
    assert "几乎一样" in of(corpus, FIRST, twin)
    assert "用了 2 次" in of(corpus, FIRST, dataclasses.replace(questions()[5], id=FIRST.id))


def test_families_name_each_document_once_and_only_those_there_are(corpus):
    names = families()[0].documents
    twice = [dataclasses.replace(families()[0], documents=(*names, names[0], "咖啡/99.md"))]
    found = "\n".join(problems(questions(), twice, corpus, VALUES, NO_BALANCE))
    assert f"{names[0]} 没有这份资料，或写了不止一次" in found and "咖啡/99.md 没有这份资料" in found


def test_a_small_or_lopsided_set_is_not_admitted(corpus):
    found = of(corpus, *questions(), balance=Balance(topics=frozenset({"topic"})))
    for words in ("answerable: 只有 12", "unanswerable: 只有 0", "topic topic: 只有 12", "kind multi: 只有 0", "split test: 只有 0"):
        assert words in found


def test_the_gold_set_of_the_product_is_admitted():
    assert gold_problems(VALUES) == []
