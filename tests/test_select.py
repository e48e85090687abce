"""Which sentences are chosen, by probabilities set by hand."""

import dataclasses
import math
import tomllib

import numpy as np
import pytest
from answer_world import make_candidate, make_selector
from conftest import ROOT, HashEmbedder

from nongda.answer.asked import Asking
from nongda.answer.features import FEATURES
from nongda.answer.select import (
    GATE,
    Described,
    Selector,
    _facet_vectors,
    described,
    gate_features,
    select,
    softmax,
)
from nongda.answer.sentences import Passages, Sentence
from nongda.answer.understand import understand
from nongda.errors import SettingsError
from nongda.models.rerank import TokenCache
from nongda.records import Evidence
from nongda.settings import AnswerSettings

REAL = ROOT / "assets" / "domain" / "selector.toml"


@pytest.fixture
def make(lexicon):
    """Sentences of passages ("甲乙" is two of one, "甲|乙" one of each) with one feature: log of each list's chances."""
    def build(texts: str, *chances):
        sentences = []
        for number, passage in enumerate(texts.split("|")):
            candidate = make_candidate(lexicon, passage, f"aaaaaaaa#{number}")
            start = 0
            for text in passage.split("/"):
                evidence = Evidence(candidate.chunk.id, text, start, start + len(text))
                start += len(text) + 1
                none = frozenset()
                sentences.append((candidate, Sentence(evidence, text, text, none, none, none, none, none, none,
                                                      np.eye(2, dtype=np.float16), np.eye(2, dtype=np.float16))))
        matrices = []
        for row in chances:
            matrix = np.zeros((len(sentences), len(FEATURES)))
            matrix[:, FEATURES.index("late")] = np.log(row)
            matrices.append(matrix)
        return Described(tuple(sentences), tuple(matrices))
    return build


def chosen(found, **cuts):
    selection = select(found, make_selector({"late": 1.0}, **cuts))
    return [(one.scored.evidence.text, one.facet) for one in selection.chosen]


EVEN = {"facet_share": 0.5, "same_passage": 0.3, "another": 0.9}
ALONE = {"facet_share": 0.5, "same_passage": 1.1, "another": 1.1}  # nothing comes along


def test_the_likeliest_sentence_is_chosen(make):
    found = make("甲|乙|丙", (0.2, 0.7, 0.1), (0.2, 0.7, 0.1))
    assert chosen(found, **EVEN) == [("乙", 0)]


def test_each_facet_takes_its_best_sentence_the_whole_question_counted_in(make):
    whole, first, second = (0.5, 0.3, 0.2), (0.8, 0.1, 0.1), (0.1, 0.1, 0.8)
    found = make("甲|乙|丙", whole, first, second)
    # For the second facet: √(0.5·0.1) = 0.22, √(0.3·0.1) = 0.17, √(0.2·0.8) = 0.40.
    assert chosen(found, **EVEN) == [("甲", 0), ("丙", 1)]
    # With a quarter for the facet: 0.5^¾·0.1^¼ = 0.33, 0.2^¾·0.8^¼ = 0.28.
    assert chosen(found, **{**EVEN, "facet_share": 0.25}) == [("甲", 0)]


def test_what_answers_two_facets_is_said_once_for_the_first(make):
    found = make("甲|乙", (0.9, 0.1), (0.9, 0.1), (0.8, 0.2))
    assert chosen(found, **EVEN) == [("甲", 0)]


def holding(found, **parts):
    """Return the sentences with other parts: a list each, one entry a sentence."""
    changed = [dataclasses.replace(s, **{name: frozenset(values[i]) for name, values in parts.items()})
               for i, (_, s) in enumerate(found.sentences)]
    return dataclasses.replace(found, sentences=tuple((c, s) for (c, _), s in zip(found.sentences, changed, strict=True)))


def test_a_facet_s_later_sentence_is_a_new_one_where_repeating_costs_more_than_it_is_better(make):
    found = make("甲|乙", (0.9, 0.1), (0.9, 0.1), (0.9, 0.1))  # better by log 9 = 2.197
    assert chosen(found, **EVEN, repeat=2.19) == [("甲", 0)]
    assert chosen(found, **EVEN, repeat=2.20) == [("甲", 0), ("乙", 1)]


def test_the_asked_kind_of_value_speaks_for_a_sentence(make):
    found = make("甲|乙", (0.9, 0.1), (0.9, 0.1))
    found.matrices[1][:, FEATURES.index("values")] = (0, 1)
    assert chosen(found, **ALONE, value=2.19) == [("甲", 0)]
    assert chosen(found, **ALONE, value=2.20) == [("乙", 0)]


def test_each_side_of_a_comparison_takes_a_sentence_of_its_own_side(make):
    even = (0.25,) * 4
    found = holding(make("甲|乙|丙|丁", even, even, even), path_tokens=({"炭疽病"}, (), {"叶锈病"}, ()))
    compared = dataclasses.replace(found, sides=(frozenset({"叶锈病"}), frozenset({"炭疽病"})))
    assert chosen(compared, **ALONE, side=1.0) == [("丙", 0), ("甲", 1)]
    assert chosen(found, **ALONE, side=1.0) == [("甲", 0)]


def test_what_speaks_of_both_sides_or_of_neither_stands_under_none(make):
    found = holding(make("甲|乙|丙|丁", (0.25,) * 4, (0.25,) * 4, (0.25,) * 4),
                    path_tokens=({"炭疽病"}, {"叶锈病", "炭疽病"}, {"叶锈病"}, ()))
    compared = dataclasses.replace(found, sides=(frozenset({"叶锈病"}), frozenset({"炭疽病"})))
    assert chosen(compared, **EVEN) == [("丙", 0), ("甲", 1), ("乙", 2), ("丁", 2)]


def test_another_amount_of_what_is_asked_in_the_same_passage_is_of_something_else_and_stays_out(make):
    days, other, grams = {(7.0, 7.0, "天")}, {(10.0, 10.0, "天")}, {(20.0, 20.0, "g")}
    cuts = {**EVEN, "same_passage": 0.29}
    chances = (0.4, 0.3, 0.3)
    found = make("甲/乙/丙", chances, chances)
    found.matrices[1][:, FEATURES.index("values")] = 1
    assert chosen(holding(found, amounts=(days, other, grams)), **cuts) == [("甲", 0), ("丙", 0)]
    assert chosen(holding(found, amounts=(days, days | other, grams)), **cuts) == [("甲", 0), ("乙", 0), ("丙", 0)]  # 7天 again
    found.matrices[1][:, FEATURES.index("values")] = (1, 0, 1)  # days are not what is asked
    assert chosen(holding(found, amounts=(days, other, grams)), **cuts) == [("甲", 0), ("乙", 0), ("丙", 0)]


@pytest.mark.parametrize(("subject", "named", "second"), [(1.0, False, "丙"), (1.0, True, "乙"), (0.0, False, "乙")])
def test_a_later_facet_stays_with_the_disease_that_an_earlier_one_found(make, subject, named, second):
    found = make("甲|乙|丙", (0.4, 0.3, 0.3), (0.9, 0.05, 0.05), (0.02, 0.5, 0.48))
    rust, blight = {("disease", "叶锈病")}, {("disease", "炭疽病")}
    found = dataclasses.replace(holding(found, names=[rust, blight, rust]), names_problem=named)
    assert chosen(found, **EVEN, subject=subject) == [("甲", 0), (second, 1)]


def test_the_heading_s_disease_goes_before_those_the_sentence_names(make):
    found = make("甲|乙|丙", (0.4, 0.3, 0.3), (0.9, 0.05, 0.05), (0.02, 0.5, 0.48))
    rust, blight = {("disease", "叶锈病")}, {("disease", "炭疽病")}
    found = holding(found, names=[rust, rust | blight, ()], problems=[(), blight, ()])
    assert chosen(found, **EVEN, subject=1.0) == [("甲", 0), ("丙", 1)]


def test_from_the_same_passage_a_likely_sentence_comes_along_from_another_only_one_close_to_the_best(make):
    chances = (0.45, 0.30, 0.25)
    assert chosen(make("甲/乙|丙", chances, chances), **{**EVEN, "same_passage": 0.30 - 1e-9}) == [("甲", 0), ("乙", 0)]
    assert chosen(make("甲/乙|丙", chances, chances), **{**EVEN, "same_passage": 0.31}) == [("甲", 0)]
    assert chosen(make("甲|乙|丙", chances, chances), **{**EVEN, "another": 0.30 / 0.45 - 1e-9}) == [("甲", 0), ("乙", 0)]
    assert chosen(make("甲|乙|丙", chances, chances), **{**EVEN, "another": 0.67}) == [("甲", 0)]


def test_what_comes_along_from_another_passage_belongs_to_the_facet_it_answers_best(make):
    whole = (0.35, 0.33, 0.32)
    second = make("甲|乙|丙", whole, (0.6, 0.2, 0.2), (0.2, 0.45, 0.35))
    assert chosen(second, **EVEN) == [("甲", 0), ("乙", 1), ("丙", 1)]
    first = make("甲|乙|丙", whole, (0.45, 0.2, 0.35), (0.2, 0.6, 0.2))
    assert chosen(first, **EVEN) == [("甲", 0), ("丙", 0), ("乙", 1)]


def test_an_answer_reads_by_facet_and_then_as_the_documents_do(make):
    found = make("甲/乙/丙", (0.3, 0.3, 0.4), (0.1, 0.1, 0.8), (0.8, 0.1, 0.1))
    assert chosen(found, **{**EVEN, "same_passage": 0.01}) == [("乙", 0), ("丙", 0), ("甲", 1)]


def test_an_answer_has_six_sentences_at_most(make):
    even = (0.1,) * 10
    assert len(chosen(make("/".join("甲乙丙丁戊己庚辛壬癸"), even, even), **{**EVEN, "same_passage": 0.0})) == 6


@pytest.mark.parametrize("limit", [
    "但雨天不要喷。", "不过要看天气。", "否则会烧叶。", "除非下雨。", "只有成树可以。", "如果不下雨再喷。",
])
def test_a_sentence_that_limits_the_chosen_one_comes_along(make, limit):
    chances = (0.98, 0.01, 0.01)
    assert chosen(make(f"喷药。/{limit}/收果。", chances, chances), **EVEN) == [("喷药。", 0), (limit, 0)]


def test_the_next_passage_limits_nothing_and_what_follows_otherwise_stays_out(make):
    chances = (0.98, 0.01, 0.01)
    assert chosen(make("喷药。|但雨天不要喷。/收果。", chances, chances), **EVEN) == [("喷药。", 0)]
    assert chosen(make("喷药。/雨天少见。/收果。", chances, chances), **EVEN) == [("喷药。", 0)]
    assert chosen(make("收果。/但雨天不要喷。/喷药。", chances[::-1], chances[::-1]), **EVEN) == [("喷药。", 0)]


def test_all_evidence_is_told_best_first_with_its_probability(make):
    found = make("甲|乙|丙", (0.2, 0.7, 0.1), (0.2, 0.7, 0.1))
    ranked = select(found, make_selector({"late": 1.0})).ranked
    assert [(s.evidence.text, round(s.score, 6)) for s in ranked] == [("乙", 0.7), ("甲", 0.2), ("丙", 0.1)]
    assert ranked[0].vector == pytest.approx([1 / math.sqrt(2)] * 2)  # the mean of its tokens, as a unit vector


def test_without_sentences_nothing_is_chosen_and_the_gate_is_shut():
    selection = select(Described((), ()), make_selector({}))
    assert (selection.chosen, selection.ranked) == ((), ()) and selection.gate < 0


def test_probabilities_sum_to_1_and_bear_large_scores():
    assert softmax(np.log([0.2, 0.8])) == pytest.approx([0.2, 0.8])
    assert softmax(np.array([5000.0, 5000.0])) == pytest.approx([0.5, 0.5])


def test_the_gate_sees_the_best_sentence_and_the_most_of_all():
    matrix = np.zeros((2, len(FEATURES)))
    values = {
        "late": (0.2, 0.5), "late_inside": (0.9, 0.1), "cosine": (0.3, 0.4), "words_path": (0.8, 0.6), "words_passage": (0.25, 0.75),
        "names_near": (1, 0.5), "names_path": (0.5, 1), "other_problem": (0, 1), "same_crop": (0.5, 1), "amounts": (1, 0),
        "values": (0.5, 0), "words_near": (0.1, 0.7),
    }
    for name, column in values.items():
        matrix[:, FEATURES.index(name)] = column
    found = dict(zip(GATE, gate_features(matrix, np.log([0.25, 0.75])), strict=True))  # the second is the best
    assert found == pytest.approx({
        "late_most": 0.5, "late": 0.5, "inside_most": 0.9, "cosine": 0.4, "path_most": 0.8, "path": 0.6, "passage": 0.75,
        "passage_most": 0.75, "names_near": 0.5, "names_path": 1, "other_problem": 1, "same_crop": 1, "amounts": 0, "values": 0,
        "amounts_most": 1, "chance": 0.75, "score": math.log(0.75), "near": 0.7,
    })


def test_the_gate_is_the_weighted_sum_over_its_cut(make):
    found = make("甲|乙", (0.25, 0.75), (0.25, 0.75))
    selector = make_selector({"late": 1.0}, {"chance": 4.0}, bias=-1.0, cut=0.5)
    assert select(found, selector).gate == pytest.approx(4 * 0.75 - 1 - 0.5)


def test_the_whole_question_is_described_first_and_then_each_facet(lexicon):
    asking = Asking.load(ROOT / "assets" / "domain")
    tokens = TokenCache(HashEmbedder())
    question = "叶锈病用什么药，隔几天喷一次"
    query, asked = understand(question, [], lexicon, AnswerSettings()), asking.of(question, lexicon)
    candidate = make_candidate(lexicon, "叶锈病喷波尔多液。隔10天再来。", title="叶锈病")
    passages = Passages(tokens, lexicon, asking).of([candidate])
    found = described(query, asked, [candidate], passages, tokens, lexicon, asking, lambda token: 1.0)
    assert [(c.chunk.id, s.evidence.text) for c, s in found.sentences] == [
        ("aaaaaaaa#0", "叶锈病喷波尔多液。"), ("aaaaaaaa#0", "隔10天再来。")]
    held = [matrix[:, FEATURES.index("any_value")].tolist() for matrix in found.matrices]
    assert held == [[1, 1], [1, 0], [0, 1]]  # a product, and days


class Placing(HashEmbedder):
    """The first number of a token's vector is its place in the text that was embedded."""

    def token_vectors(self, texts, kind):
        return [np.array([[place, 1.0] for place, _ in spans], np.float32) for spans in self.token_spans(texts, kind)]


def test_a_facet_s_vectors_are_those_of_its_words_within_the_whole_question(lexicon):
    asking = Asking.load(ROOT / "assets" / "domain")
    question = "锈病用什么药，隔几天喷"  # as search sees it: 叶锈病用什么药,隔几天喷
    query, asked = understand(question, [], lexicon, AnswerSettings()), asking.of(question, lexicon)
    none = [None] * len(asked.facets)
    vectors = _facet_vectors(query, asked, TokenCache(Placing()).question(query.canonical), TokenCache(Placing()), lexicon, none)
    assert query.canonical == "叶锈病用什么药,隔几天喷"
    assert [rows[:, 0].tolist() for rows in vectors] == [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11]]


def test_a_facet_whose_words_do_not_stand_in_the_question_is_embedded_by_itself(lexicon):
    asking = Asking.load(ROOT / "assets" / "domain")
    question = "叶锈病和炭疽病有什么区别"
    query, asked = understand(question, [], lexicon, AnswerSettings()), asking.of(question, lexicon)
    none = [None] * len(asked.facets)
    vectors = _facet_vectors(query, asked, TokenCache(Placing()).question(query.canonical), TokenCache(Placing()), lexicon, none)
    assert [facet.text for facet in asked.facets] == ["叶锈病有什么区别", "炭疽病有什么区别"]
    assert [rows[:, 0].tolist() for rows in vectors] == [list(range(8)), [4, 5, 6, 7, 8, 9, 10, 11]]  # the second stands there


def test_the_words_that_part_two_sides_are_those_the_other_has_not(lexicon):
    asking = Asking.load(ROOT / "assets" / "domain")
    tokens = TokenCache(HashEmbedder())
    question = "咖啡叶锈病和咖啡炭疽病有什么区别"
    query, asked = understand(question, [], lexicon, AnswerSettings()), asking.of(question, lexicon)
    candidate = make_candidate(lexicon, "叶锈病病斑橙黄色。")
    found = described(query, asked, [candidate], Passages(tokens, lexicon, asking).of([candidate]), tokens, lexicon, asking,
                      lambda token: 1.0)
    assert "叶锈病" in found.sides[0] and "炭疽病" in found.sides[1]
    assert not found.sides[0] & found.sides[1] and found.names_problem


def test_the_product_s_own_weights_are_numbers():
    selector = Selector.load(REAL)
    assert (len(selector.weights), len(selector.gate)) == (len(FEATURES), len(GATE))
    assert np.isfinite([*selector.weights, *selector.gate, selector.bias, selector.cut]).all()
    assert 0 <= selector.facet_share <= 1 and 0 < selector.same_passage < 1 and 0 < selector.another <= 1


@pytest.mark.parametrize("change", [("late =", "later ="), ("cut =", "cute ="), ("[gate]", "[gates]"), ("bias = ", "bias = '甲' #")])
def test_missing_or_broken_weights_are_an_error_that_names_the_file(tmp_path, change):
    text = REAL.read_text(encoding="utf-8")
    assert change[0] in text
    path = tmp_path / "selector.toml"
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    assert tomllib.loads(path.read_text(encoding="utf-8"))
    with pytest.raises(SettingsError, match=r"selector\.toml"):
        Selector.load(path)


def test_a_missing_file_of_weights_is_an_error_that_names_it(tmp_path):
    with pytest.raises(SettingsError, match="weights-of-nobody"):
        Selector.load(tmp_path / "weights-of-nobody.toml")
