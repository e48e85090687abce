"""The rules a gold question has to satisfy, each broken once; and the real set, which has to satisfy all."""

import dataclasses

import pytest
from gold_world import families, questions, real_values, write_corpus

from nongda.engine import ROOT
from nongda.evaluation.admission import Balance, problems, read_corpus
from nongda.evaluation.dataset import GoldEvidence, Passage, load_families, load_questions
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
    "stands in no family": None,
    "not in": {"evidence": (evidence(quote="咖啡灌溉工作每隔4天检查一次"),)},
    "no document": {"evidence": (evidence(doc="咖啡/99.md"),)},
    "other side": {"split": "test"},
    "a quote of 5": {"evidence": (evidence(quote="每隔3天检"),)},
    "4 pieces": {"evidence": (evidence(),) * 4},
    "0 pieces": {"evidence": ()},
    "must is empty": {"must": ()},
    "does not stand in the evidence": {"must": ("5天",)},
    "stands in the evidence": {"must_not": ("3天",)},
    "both must and must_not": {"must": ("检查",), "must_not": ("检查",)},
    "is not one of": {"kind": "easy"},
    "go together": {"history": (Turn("user", "咖啡怎么灌溉"),)},
    "unanswerable question": {"answerable": False},
    "belongs to no family": {"topic": "tea"},
    "copies": {"question": "请问咖啡灌溉工作每隔3天检查一次。这一段是为了让段落足够长吗"},
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
    assert "near duplicates" in of(corpus, FIRST, twin)
    assert "used 2 times" in of(corpus, FIRST, dataclasses.replace(questions()[5], id=FIRST.id))


def test_a_small_or_lopsided_set_is_not_admitted(corpus):
    found = of(corpus, *questions(), balance=Balance(topics=frozenset({"topic"})))
    for words in ("answerable: 12", "unanswerable: 0", "topic topic: 12", "kind multi: 0", "split test: 0"):
        assert words in found


def test_the_gold_set_of_the_product_is_admitted():
    folder, gold = ROOT / "assets" / "corpus", ROOT / "assets" / "gold"
    documents = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.md"))]
    balance = Balance(topics=frozenset(family.topic for family in load_families(gold)))
    found = problems(load_questions(gold), load_families(gold), read_corpus(folder, documents), VALUES, balance)
    assert found == []
