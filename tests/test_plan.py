"""How a question is searched: which rankings the stages bring in, and when the language model is asked."""

import dataclasses
import threading

import pytest
from answer_world import make_candidate, make_domain, make_indexes
from conftest import HashEmbedder, QueuedGenerator

from nongda.answer.plan import plan
from nongda.answer.understand import understand
from nongda.models.generate import LockedGenerator
from nongda.settings import AnswerSettings, SearchSettings, Settings, override


@pytest.fixture(scope="module")
def domain(lexicon):
    return make_domain(lexicon)


@pytest.fixture(scope="module")
def indexes(lexicon):
    return make_indexes([make_candidate(lexicon, "叶锈病喷波尔多液。"), make_candidate(lexicon, "采收红果。", "bbbbbbbb#0")], lexicon,
                        HashEmbedder())


def planned(question, domain, indexes, settings=Settings(), generator=None):  # noqa: B008
    query = understand(question, [], domain.lexicon, AnswerSettings(), domain.asking)
    locked = LockedGenerator(generator) if generator else None
    return plan(query, indexes, HashEmbedder(), domain, settings, locked, threading.Event())


def test_a_question_of_a_single_hop_asks_no_model(domain, indexes):
    generator = QueuedGenerator()  # has nothing to say: a call would raise
    route = planned("咖啡叶锈病喷什么药？", domain, indexes, generator=generator)
    assert route.parts == () and generator.prompts == []
    assert list(route.rankings) == ["facts"]


def test_each_part_of_a_question_is_searched_by_words_by_vectors_and_by_facts(domain, indexes):
    settings = Settings(search=SearchSettings(part_weight=0.5))
    route = planned("咖啡叶锈病喷什么药？隔几天再喷？", domain, indexes, settings)
    assert [part.canonical for part in route.parts] == ["咖啡叶锈病喷什么药?", "咖啡叶锈病喷药,隔几天再喷?"]
    assert list(route.rankings) == ["facts", "facts/1", "facts/2"]
    assert {route.weights[f"{name}/{n}"] for name in ("bm25", "dense", "facts") for n in (1, 2)} == {0.5}


def test_without_the_stage_facts_no_ranking_of_facts_is_made(domain, indexes):
    settings = override(Settings(), {"stages_off": ["facts"]}, "here")
    assert planned("咖啡叶锈病喷什么药？隔几天再喷？", domain, indexes, settings).rankings == {}


def test_a_hypothetical_passage_is_embedded_and_ranks_what_is_like_it(domain, indexes):
    settings = override(Settings(), {"stages_on": ["hyde"]}, "here")
    route = planned("咖啡怎么摘？", domain, indexes, settings, QueuedGenerator("采收红果。"))
    assert route.rankings["hyde"]()[0].chunk_id == "bbbbbbbb#0"


def test_a_refined_question_is_one_more_part(domain, indexes):
    settings = override(Settings(), {"stages_on": ["refine"]}, "here")
    route = planned("咖啡咋个摘？", domain, indexes, settings, QueuedGenerator("咖啡怎样采摘？"))
    assert [part.canonical for part in route.parts] == ["咖啡怎样采摘?"]
    assert route.weights["bm25/1"] == settings.search.part_weight


def test_options_that_need_a_model_are_left_out_without_one(domain, indexes):
    settings = override(Settings(), {"stages_on": ["refine", "hyde"]}, "here")
    route = planned("咖啡怎么摘？", domain, indexes, settings)
    assert route.parts == () and list(route.rankings) == ["facts"]


def test_the_specialists_words_are_a_ranking_of_their_own_where_they_have_a_weight(domain, indexes):
    settings = Settings(search=SearchSettings(specialist_weight=0.3))
    route = planned("咖啡叶锈病怎么治？", domain, indexes, settings)
    assert route.weights["specialists"] == 0.3
    assert "aaaaaaaa#0" in {hit.chunk_id for hit in route.rankings["specialists"]()}


def test_parts_written_by_the_model_are_searched_where_that_is_chosen(domain, indexes):
    settings = dataclasses.replace(Settings(), answer=AnswerSettings(decompose="model"))
    generator = QueuedGenerator("咖啡叶锈病喷什么药？\n咖啡叶锈病隔几天喷？")
    route = planned("咖啡叶锈病喷什么药？隔几天再喷？", domain, indexes, settings, generator)
    assert [part.canonical for part in route.parts] == ["咖啡叶锈病喷什么药?", "咖啡叶锈病隔几天喷?"]
    assert len(generator.prompts) == 1
