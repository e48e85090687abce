"""What a sentence's facts say of a question, by hand."""

import pytest

from nongda.answer.fact_features import AskedNames, by_sentence, fact_features
from nongda.records import Entity, Fact


def fact(attribute="dose", subject="三环唑", kind="product", crop="水稻", target="稻瘟病", start=0, chunk="aaaaaaaa#0") -> Fact:
    return Fact(chunk, subject, kind, crop, target, attribute, "20克", 20.0, 20.0, "g/亩", "", start, start + 9)


def names(**kinds: str) -> AskedNames:
    return AskedNames.of([Entity(term, kind, term) for kind, term in kinds.items()])


ASKED = frozenset({"dose"})


@pytest.mark.parametrize(("facts", "asked", "expected"), [
    ([fact()], names(product="三环唑", disease="稻瘟病"), [1.0, 1.0]),
    ([fact()], names(product="三环唑"), [1.0, 1.0]),
    ([fact(target="")], names(product="三环唑", disease="稻瘟病"), [1.0, 0.5]),
    ([fact()], names(), [1.0, 0.0]),
    ([fact()], names(product="井冈霉素"), [-1.0, 0.0]),
    ([fact()], names(disease="纹枯病"), [-1.0, 0.0]),
    ([fact()], names(crop="小麦"), [-1.0, 0.0]),
    ([fact(crop="茄果类", target="")], names(crop="番茄"), [1.0, 0.0]),
    ([fact(subject="井冈霉素"), fact()], names(product="三环唑"), [1.0, 1.0]),
    ([fact("spray_interval")], names(product="三环唑"), [0.0, 0.0]),
    ([], names(product="三环唑"), [0.0, 0.0]),
])
def test_a_fact_of_the_asked_attribute_counts_unless_it_is_of_another_thing(facts, asked, expected):
    assert fact_features(facts, ASKED, asked) == expected


def test_a_question_that_asks_no_attribute_is_undecided():
    assert fact_features([fact()], frozenset(), names(product="三环唑")) == [0.5, 0.0]


def test_facts_are_found_by_the_sentence_they_were_read_from():
    one, two, other = fact(start=0), fact("times", start=0), fact(start=12)
    assert by_sentence([one, two, other]) == {("aaaaaaaa#0", 0): [one, two], ("aaaaaaaa#0", 12): [other]}
