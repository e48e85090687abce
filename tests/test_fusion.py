"""Short questions change the weights of the fusion, when the pipeline says so."""

import pytest

from nongda.answer.fusion import fusion_weights
from nongda.records import Query
from nongda.settings import Settings, override

SHORT = {"search": {"short_tokens": 3, "short_bm25_weight": 0.25}}


def weights(words, **changes):
    query = Query("问", "问", "问", tuple("词" * words))
    return fusion_weights(query, override(Settings(), SHORT | changes, "test"))


@pytest.mark.parametrize(("words", "bm25"), [(1, 0.25), (3, 0.25), (4, 1.0), (40, 1.0)])
def test_a_question_of_at_most_so_many_words_has_the_other_weight(words, bm25):
    assert weights(words) == {"bm25": bm25, "dense": 1.0}


def test_without_the_stage_all_questions_have_the_same_weights():
    assert weights(2, stages_off=["dynamic_fusion"]) == {"bm25": 1.0, "dense": 1.0}


def test_a_ranking_that_is_switched_off_stays_off_and_the_other_stays_as_it_is():
    for name, other in (("bm25", "dense"), ("dense", "bm25")):
        found = weights(2, search={**SHORT["search"], f"{name}_weight": 0.0})
        assert found[name] == 0 and found[other] == 1


def test_a_question_without_words_is_no_short_one():
    assert weights(0)["bm25"] == 1.0
