"""What an answer is chosen from: passages of other crops only are left out."""

import pytest
from answer_world import make_answerer, make_candidate, make_domain, make_indexes
from conftest import ROOT, HashEmbedder

from nongda.answer.features import FEATURES
from nongda.answer.look import may_speak_of
from nongda.answer.sentences import Passage
from nongda.answer.understand import understand
from nongda.language.lexicon import Lexicon
from nongda.records import Turn
from nongda.settings import AnswerSettings


@pytest.fixture(scope="module")
def domain():
    return make_domain(Lexicon.load(ROOT / "assets" / "domain"))


def looked(domain, question, *candidates):
    query = understand(question, [], domain.lexicon, AnswerSettings())
    return make_answerer(domain).look(query, candidates, make_indexes(candidates, domain.lexicon, HashEmbedder()))


def test_the_question_is_taken_apart_and_every_sentence_described_for_it_and_its_facets(domain):
    one = make_candidate(domain.lexicon, "叶锈病喷波尔多液。隔10天喷一次。", title="咖啡叶锈病")
    found = looked(domain, "咖啡叶锈病用什么药，隔几天喷", one)
    assert [facet.text for facet in found.asked.facets] == ["咖啡叶锈病用什么药，", "隔几天喷"]
    assert found.candidates == (one,)
    assert [s.evidence.text for _, s in found.described.sentences] == ["叶锈病喷波尔多液。", "隔10天喷一次。"]
    assert [matrix.shape for matrix in found.described.matrices] == [(2, len(FEATURES))] * 3


def test_a_passage_of_another_crop_is_left_out(domain):
    coffee = make_candidate(domain.lexicon, "隔10天喷一次。", "aaaaaaaa#0", "咖啡叶锈病")
    rice = make_candidate(domain.lexicon, "隔7天喷一次。", "bbbbbbbb#0", "水稻稻瘟病")
    assert looked(domain, "咖啡隔几天喷", rice, coffee).candidates == (coffee,)
    assert looked(domain, "隔几天喷", rice, coffee).candidates == (rice, coffee)
    assert looked(domain, "小麦隔几天喷", rice, coffee).candidates == ()


def test_what_is_asked_counts_with_the_conversation_before_it(domain):
    rice = make_candidate(domain.lexicon, "隔7天喷一次。", "bbbbbbbb#0", "水稻稻瘟病")
    query = understand("那隔几天喷", [Turn("user", "咖啡叶锈病打什么药")], domain.lexicon, AnswerSettings())
    found = make_answerer(domain).look(query, [rice], make_indexes([rice], domain.lexicon, HashEmbedder()))
    assert found.candidates == ()
    assert [facet.text for facet in found.asked.facets] == ["那隔几天喷"]  # the facets are the new question's alone


@pytest.mark.parametrize(("crops", "titled", "text", "may"), [
    (("咖啡",), ("咖啡",), "喷药。", True), (("咖啡",), ("小粒种咖啡",), "喷药。", True), (("小粒种咖啡",), ("咖啡",), "喷药。", True),
    (("咖啡",), (), "喷药。", True), ((), ("水稻",), "喷药。", True), (("咖啡",), ("水稻",), "喷药。", False),
    (("咖啡",), ("水稻",), "也可用于咖啡。", True),  # the text names it
    (("咖啡", "水稻"), ("水稻",), "喷药。", True), (("咖啡",), ("水稻", "咖啡"), "喷药。", True),
])
def test_a_passage_may_speak_of_a_crop_its_title_or_text_names_or_where_the_title_names_none(domain, crops, titled, text, may):
    candidate = make_candidate(domain.lexicon, text, title="手册")
    passage = Passage((), frozenset(), frozenset(), frozenset(("crop", crop) for crop in titled))
    assert may_speak_of(frozenset(crops), candidate, passage, domain) is may
