"""Each feature of a sentence, once by hand."""

import numpy as np
import pytest
from answer_world import make_candidate
from conftest import ROOT

from nongda.answer.asked import Asked, Asking, Facet
from nongda.answer.features import FEATURES, Wanted, describe
from nongda.answer.sentences import Passage, Sentence
from nongda.answer.understand import understand
from nongda.records import Evidence
from nongda.settings import AnswerSettings

RARITY = {"叶锈病": 1.0, "波尔多液": 3.0}
QUESTION = np.array([[1, 0], [0, 1]], np.float32)


@pytest.fixture(scope="module")
def asking() -> Asking:
    return Asking.load(ROOT / "assets" / "domain")


def make_sentence(text="清除病叶。", start=0, heading=(), near="", tokens=(), path_tokens=(), names=(), problems=(), amounts=(),
                  vectors=((1, 0),), inside=((1, 0),)) -> Sentence:
    evidence = Evidence("aaaaaaaa#0", text, start, start + len(text))
    return Sentence(evidence, text, near or text, frozenset(heading), frozenset(tokens), frozenset(path_tokens), frozenset(names),
                    frozenset(problems), frozenset(amounts), np.array(vectors, np.float16), np.array(inside, np.float16))


def make_passage(*sentences, tokens=(), title=()) -> Passage:
    return Passage(sentences, frozenset(tokens), frozenset(), frozenset(title))


def column(name, lexicon, asking, candidates, passages, question="怎么办", tokens=("叶锈病", "波尔多液"), values=(), vectors=QUESTION):
    """Return one feature of all sentences."""
    query = understand(question, [], lexicon, AnswerSettings())
    facet = Facet(question, frozenset(values))
    wanted = Wanted(query, Asked("fact", (facet,)), question, frozenset(tokens), vectors, facet.values)
    matrix = describe(wanted, candidates, passages, lexicon, asking, lambda token: RARITY[token])
    assert matrix.shape == (sum(len(p.sentences) for p in passages), len(FEATURES))
    return matrix[:, FEATURES.index(name)].tolist()


@pytest.fixture
def one(lexicon, asking):
    """A feature of one sentence, which is all there is."""
    def measure(name, sentence, *, candidate=None, passage=None, **asked):
        candidate = candidate or make_candidate(lexicon, "叶锈病喷波尔多液。")
        (value,) = column(name, lexicon, asking, [candidate], [passage or make_passage(sentence)], **asked)
        return value
    return measure


@pytest.fixture
def two(lexicon, asking):
    """A feature of two sentences of one passage: (1, 0) and (0.6, 0.8)."""
    def measure(name, **changes):
        vectors = {"vectors": ((0.6, 0.8),), "inside": ((0.6, 0.8),), **changes}
        passage = make_passage(make_sentence(), make_sentence(start=9, **vectors))
        return column(name, lexicon, asking, [make_candidate(lexicon, "甲")], [passage])
    return measure


@pytest.mark.parametrize(("name", "values"), [
    ("late", (0.5, 0.7)),  # means of (1, 0) and of (0.6, 0.8)
    ("late_gap", (-0.2, 0)), ("late_inside", (0.5, 0.7)), ("inside_gap", (-0.2, 0)),
    ("cosine", (0.7071, 0.9899)),  # with (1, 1) / √2
    ("cosine_gap", (-0.2828, 0)),
    ("best_in_passage", (1.6899, 1.6899)),  # 0.7 + 0.9899
    ("neighbour", (1.6899, 1.2071)),
])
def test_likeness_is_measured_token_by_token_and_as_a_whole(two, name, values):
    assert two(name) == pytest.approx(values, abs=1e-3)


def test_likeness_inside_the_passage_is_another_than_that_of_the_sentence_alone(two):
    assert two("late", inside=((0, 0),)) == pytest.approx((0.5, 0.7), abs=1e-3)
    assert two("late_inside", inside=((0, 0),)) == pytest.approx((0.5, 0), abs=1e-3)


def test_of_several_tokens_the_best_for_each_of_the_question_counts(one):
    assert one("late", make_sentence(vectors=((1, 0), (0, 1)))) == pytest.approx(1.0)


def test_a_sentence_or_a_question_without_tokens_is_like_nothing(one):
    assert one("late", make_sentence(vectors=np.zeros((0, 2)))) == one("cosine", make_sentence(vectors=np.zeros((0, 2)))) == 0
    assert one("late", make_sentence(), vectors=np.zeros((0, 2), np.float32)) == 0


def test_only_a_sentence_of_the_same_passage_is_a_neighbour(lexicon, asking):
    candidates = [make_candidate(lexicon, "甲", f"aaaaaaaa#{i}") for i in range(2)]
    passages = [make_passage(make_sentence()), make_passage(make_sentence())]
    assert column("neighbour", lexicon, asking, candidates, passages) == [0, 0]


@pytest.mark.parametrize(("name", "part"), [("words_near", "tokens"), ("words_path", "path_tokens"), ("words_heading", "heading")])
def test_shared_words_count_by_their_rarity(one, name, part):
    assert one(name, make_sentence(**{part: ("波尔多液", "雨季")})) == pytest.approx(0.75)
    assert one(name, make_sentence(**{part: ("雨季",)})) == 0
    assert one(name, make_sentence(**{part: ("叶锈病", "波尔多液")})) == 1


def test_words_of_the_passage_count_for_all_its_sentences(one):
    assert one("words_passage", None, passage=make_passage(make_sentence(), tokens=("叶锈病",))) == pytest.approx(0.25)


def test_a_question_without_words_shares_none(one):
    assert one("words_near", make_sentence(tokens=("叶锈病",)), tokens=()) == 0


def ranked(lexicon):
    """Three passages, two of one document, found at places 2 and 4 and nowhere."""
    first = make_candidate(lexicon, "甲", "aaaaaaaa#0", score=0.9)
    second = make_candidate(lexicon, "乙", "aaaaaaaa#1", score=0.7)
    third = make_candidate(lexicon, "丙", "bbbbbbbb#0", score=0.6)
    first.ranks.update(bm25=2, dense=4)
    second.ranks.clear()
    return [first, second, third]


@pytest.mark.parametrize(("name", "values"), [
    ("bm25_rank", (1 / 2, 1 / 60, 1 / 60)), ("dense_rank", (1 / 4, 1 / 60, 1)), ("rank", (1, 1 / 2, 1 / 3)),
    ("rerank_gap", (0, -0.2, -0.3)), ("document_share", (2 / 3, 2 / 3, 1 / 3)),
])
def test_the_place_of_the_passage_among_the_others(lexicon, asking, name, values):
    passages = [make_passage(make_sentence()) for _ in range(3)]
    assert column(name, lexicon, asking, ranked(lexicon), passages) == pytest.approx(values)


def test_the_reranker_s_score_comes_before_the_fused_one(lexicon, asking):
    candidates = ranked(lexicon)[:2]
    candidates[0].scores.update(rerank=0.1)
    candidates[1].scores.update(rerank=0.5)
    passages = [make_passage(make_sentence()) for _ in candidates]
    assert column("rerank_gap", lexicon, asking, candidates, passages) == pytest.approx((-0.4, 0))


def test_named_diseases_and_products_stand_near_or_in_the_passage(one, lexicon):
    question = "叶锈病喷波尔多液几次"
    sentence = make_sentence(near="叶锈病：喷三唑酮。")
    assert one("names_near", sentence, question=question) == pytest.approx(0.5)
    assert one("names_path", sentence, question=question) == 1  # 叶锈病喷波尔多液 is the passage's text
    other = make_candidate(lexicon, "炭疽病喷三唑酮。", title="咖啡炭疽病")
    assert one("names_path", sentence, question=question, candidate=other) == 0
    assert one("names_near", sentence, question="咖啡几月采收") == one("names_path", sentence, question="咖啡几月采收") == 0.5


@pytest.mark.parametrize(("heading", "question", "value"), [
    ("炭疽病", "叶锈病怎么治", 1), ("叶锈病", "叶锈病怎么治", 0), ("", "叶锈病怎么治", 0), ("炭疽病", "咖啡怎么治", 0),
])
def test_a_heading_of_another_disease_is_told(one, heading, question, value):
    problems = [("disease", heading)] if heading else []
    assert one("other_problem", make_sentence(problems=problems), question=question) == value


@pytest.mark.parametrize(("title", "question", "value"), [
    ("咖啡", "咖啡叶锈病怎么治", 1), ("小粒种咖啡", "咖啡叶锈病怎么治", 1), ("水稻", "咖啡叶锈病怎么治", 0), ("", "咖啡叶锈病怎么治", 0.5),
    ("水稻", "叶锈病怎么治", 0.5),
])
def test_the_title_s_crop_is_the_question_s(one, title, question, value):
    passage = make_passage(make_sentence(), title=[("crop", title)] if title else ())
    assert one("same_crop", None, passage=passage, question=question) == value


def test_the_question_s_own_amounts_are_looked_for(one):
    sentence = make_sentence(amounts=[(10.0, 10.0, "天"), (20.0, 20.0, "g")])
    assert one("amounts", sentence, question="隔10天喷一次行吗") == pytest.approx(0.5)  # 10天 but not 一次
    assert one("amounts", sentence, question="隔几天喷") == 0.5  # does not apply
    assert one("amounts", make_sentence(), question="隔10天喷") == 0
    assert (one("has_amount", sentence), one("has_amount", make_sentence())) == (1, 0)


def test_values_of_the_wanted_kinds_are_counted(one):
    sentence = make_sentence(amounts=[(10.0, 10.0, "天")])
    assert (one("values", sentence, values=("interval", "dose")), one("any_value", sentence, values=("interval", "dose"))) == (0.5, 1)
    assert (one("values", sentence, values=("dose",)), one("any_value", sentence, values=("dose",))) == (0, 0)
    assert (one("values", sentence), one("any_value", sentence)) == (0.5, 0)  # nothing asked for


def test_a_name_of_the_question_is_no_answer_to_what_name_is_asked(one):
    sentence = make_sentence(names=[("disease", "叶锈病")])
    assert one("any_value", sentence, question="这是什么病", values=("name",)) == 1
    assert one("any_value", sentence, question="叶锈病打什么药", values=("name",)) == 0


@pytest.mark.parametrize(("name", "sentence", "value"), [
    ("length", make_sentence("甲" * 30), 0.5), ("length", make_sentence("甲" * 500), 2.0),
    ("first", make_sentence(start=0), 1), ("first", make_sentence(start=5), 0),
    ("announces", make_sentence("做法如下："), 1), ("announces", make_sentence("怎么治？"), 1), ("announces", make_sentence("喷药。"), 0),
    ("caution", make_sentence("用量以标签为准。"), 1), ("caution", make_sentence("用20克。"), 0),
    ("denies", make_sentence("雨天不宜喷药。"), 1), ("denies", make_sentence("晴天喷药。"), 0),
])
def test_the_form_of_a_sentence(one, name, sentence, value):
    assert one(name, sentence) == value


def test_a_table_row_is_told(one, lexicon):
    assert one("table", make_sentence(), candidate=make_candidate(lexicon, "| 甲 |", kind="table")) == 1
    assert one("table", make_sentence()) == 0


def test_without_sentences_there_are_no_rows(lexicon, asking):
    assert column("late", lexicon, asking, [], []) == []
    assert column("late", lexicon, asking, [make_candidate(lexicon, "甲")], [make_passage()]) == []
