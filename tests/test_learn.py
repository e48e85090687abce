"""Learning the selector: gradients by hand, what must not matter, what is written, and that only dev is read."""

import dataclasses
import tomllib

import numpy as np
import pytest
from gold_world import families, make_system, questions, real_values, write_corpus
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.answer.features import FEATURES
from nongda.answer.select import GATE, Selector
from nongda.errors import SettingsError, UsageError
from nongda.evaluation import crossvalidate
from nongda.evaluation.crossvalidate import (
    FOLDS,
    GRID,
    START,
    Composer,
    folds,
    held_out_weights,
    learn,
    measure_gate,
    plain_weights,
    ranking_measures,
)
from nongda.evaluation.dataset import GoldQuestion
from nongda.evaluation.labels import label, look_at, without_proof
from nongda.evaluation.learn import (
    GATE_SIGNS,
    LOST,
    NOTHING_LEARNED,
    GateRow,
    Listed,
    gate_cut,
    gate_rows,
    learn_gate,
    learn_sentences,
    selector_text,
    sentence_gradient,
    write_selector,
)
from nongda.evaluation.runner import GoldScorer

SEEDS = st.integers(0, 2**32 - 1)


def random_lists(seed, count=4, features=3):
    """Questions with 3 to 6 sentences; the first feature speaks for the proof."""
    random = np.random.default_rng(seed)
    lists = []
    for _ in range(count):
        matrix = random.normal(size=(random.integers(3, 7), features))
        proof = np.arange(len(matrix)) == random.integers(len(matrix))
        matrix[proof, 0] += 1.0
        lists.append((matrix, proof))
    return lists


def test_the_gradient_of_two_sentences_is_that_of_a_sum_by_hand():
    listed = Listed.of([(np.array([[1.0], [0.0]]), np.array([True, False]))])
    assert sentence_gradient(np.array([0.0]), listed, 2.0) == pytest.approx([-0.5])  # P = 1/2
    assert sentence_gradient(np.array([np.log(3)]), listed, 0.0) == pytest.approx([-0.25])  # P = 3/4
    assert sentence_gradient(np.array([np.log(3)]), listed, 2.0) == pytest.approx([-0.25 + 2 * np.log(3)])


def test_of_two_proofs_either_will_do():
    listed = Listed.of([(np.array([[2.0], [0.0], [0.0]]), np.array([True, True, False]))])
    # P = 2/3 at 0: all sentences pull with 2/3, the proving ones with 1
    assert sentence_gradient(np.array([0.0]), listed, 0.0) == pytest.approx([2 / 3 - 1.0])


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_the_gradient_is_the_slope_of_the_loss(seed):
    listed = Listed.of(random_lists(seed))
    weights = np.random.default_rng(seed).normal(size=3)

    def loss(at):
        ends = [*listed.starts[1:], len(listed.proof)]
        total = 0.0
        for start, end in zip(listed.starts, ends, strict=True):
            powers = np.exp(listed.matrix[start:end] @ at)
            total -= np.log(powers[listed.proof[start:end]].sum() / powers.sum())
        return (total + 0.5 * 4.0 * at @ at) / len(listed.starts)

    slope = [(loss(weights + step) - loss(weights - step)) / 2e-5 for step in np.eye(3) * 1e-5]
    assert sentence_gradient(weights, listed, 4.0) == pytest.approx(slope, abs=1e-5)


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_order_of_sentences_and_questions_does_not_change_the_weights(seed):
    lists = random_lists(seed)
    random = np.random.default_rng(seed + 1)
    mixed = []
    for place in random.permutation(len(lists)):
        matrix, proof = lists[place]
        order = random.permutation(len(proof))
        mixed.append((matrix[order], proof[order]))
    assert learn_sentences(mixed) == pytest.approx(learn_sentences(lists), abs=1e-6)


@given(SEEDS, st.floats(0.01, 100.0))
@settings(max_examples=15, deadline=None)
def test_a_feature_in_another_unit_gets_a_weight_in_that_unit(seed, factor):
    lists = random_lists(seed)
    scaled = [(matrix * [factor, 1.0, 1.0], proof) for matrix, proof in lists]
    assert learn_sentences(scaled) * [factor, 1.0, 1.0] == pytest.approx(learn_sentences(lists), abs=1e-6)


def test_learning_comes_to_rest():
    lists = random_lists(5, count=30)
    weights = learn_sentences(lists)
    listed = Listed.of(lists)
    deviation = listed.matrix.std(axis=0)
    standard = Listed((listed.matrix - listed.matrix.mean(axis=0)) / deviation, listed.proof, listed.starts)
    assert np.abs(sentence_gradient(weights * deviation, standard, 10.0)).max() < 1e-6
    assert weights[0] > abs(weights[1]) + abs(weights[2])


def test_a_feature_that_never_changes_has_no_weight():
    lists = [(np.column_stack([matrix, np.full(len(matrix), 0.1)]), proof) for matrix, proof in random_lists(3)]
    assert learn_sentences(lists)[3] == 0.0
    assert learn_sentences(lists)[:3] == pytest.approx(learn_sentences(random_lists(3)))


def test_questions_without_a_proof_teach_nothing():
    lists = random_lists(3)
    lost = (np.ones((2, 3)), np.array([False, False]))
    assert learn_sentences([lost, *lists, lost]) == pytest.approx(learn_sentences(lists))
    with pytest.raises(UsageError, match="没有一道题"):
        learn_sentences([lost])


def gate_learned(rows, sign=0.0):
    return learn_gate(rows, np.array([sign]))


def gate_of(*rows):
    return [GateRow(np.array([value]), answerable) for value, answerable in rows]


def test_the_gate_is_even_between_its_two_kinds_wherever_they_lie():
    weights, bias = gate_learned(gate_of((-1.0, False), (1.0, True)))
    assert weights[0] > 0 and bias == pytest.approx(0.0, abs=1e-9)
    moved, shifted = gate_learned(gate_of((4.0, False), (6.0, True)))
    assert moved == pytest.approx(weights) and shifted == pytest.approx(-5 * weights[0])
    # each of the two rows pulls with 1 - sigmoid(w), the penalty with 10 w: w = (2/10) / (1 + exp(w))
    assert weights[0] == pytest.approx((2 / 10) / (1 + np.exp(weights[0])), abs=1e-6)


def test_a_gates_weight_has_the_sign_it_is_given_or_is_nothing():
    rows = gate_of((-1.0, False), (1.0, True))
    assert gate_learned(rows, 1.0)[0] == pytest.approx(gate_learned(rows)[0])
    assert gate_learned(rows, -1.0) == (pytest.approx([0.0]), pytest.approx(0.0, abs=1e-6))
    signs = dict(zip(GATE, GATE_SIGNS, strict=True))
    assert signs["late"] == 1.0 and [name for name, sign in signs.items() if sign < 0] == ["other_problem"]


def test_questions_without_an_answer_and_without_their_proof_count_alike():
    right = gate_of((0.0, True), (0.0, True), (1.0, True), (1.0, True))
    whole, taken_out = gate_of((0.0, False)), [GateRow(np.array([1.0]), False, whole=False)] * 3
    weights, bias = gate_learned([*right, *whole, *taken_out])  # one against three: two against two
    assert weights[0] == pytest.approx(0.0, abs=1e-6) and bias == pytest.approx(0.0, abs=1e-6)
    weights, _ = gate_learned([*right, *whole, *gate_of((1.0, False)) * 3])  # of one kind each counts once
    assert weights[0] < -0.05


def test_a_gate_needs_both_kinds_of_questions():
    with pytest.raises(UsageError, match="请补充题目"):
        gate_learned(gate_of((1.0, True), (2.0, True)))


def test_the_cut_gives_up_two_of_a_hundred_answerable_questions():
    scores = [float(i) for i in range(100)]
    assert sum(score < gate_cut(scores) for score in scores) == 100 * LOST
    assert gate_cut([-np.inf, *scores]) == gate_cut(scores)
    assert gate_cut([-np.inf]) == 0.0


def some_selector():
    random = np.random.default_rng(1)
    return dataclasses.replace(NOTHING_LEARNED, weights=random.normal(size=len(FEATURES)) * 30,
                               gate=random.normal(size=len(GATE)), bias=-3.25, cut=0.5, **START)


def test_what_is_written_is_read_back(tmp_path):
    path, selector = tmp_path / "selector.toml", some_selector()
    write_selector(path, selector, 240)
    read = Selector.load(path)
    assert read.weights == pytest.approx(selector.weights, abs=5.1e-5) and read.gate == pytest.approx(selector.gate, abs=5.1e-5)
    assert (read.bias, read.cut) == (-3.25, 0.5)
    assert {name: getattr(read, name) for name in START} == START
    assert selector_text(read, 240) == path.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["selector.toml"]


def test_the_file_says_what_made_it_and_has_a_weight_a_line():
    selector = dataclasses.replace(some_selector(), weights=np.full(len(FEATURES), -0.00001))
    lines = selector_text(selector, 240).splitlines()
    assert lines[0].startswith("#") and "240 dev questions" in lines[1] and "app.py learn" in lines[1]
    assert f"{FEATURES[0]} = 0.0000" in lines and "-0.0000" not in "\n".join(lines)
    assert list(tomllib.loads("\n".join(lines))["gate"]) == list(GATE)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(UsageError, match="nowhere"):
        write_selector(tmp_path / "nowhere" / "selector.toml", some_selector(), 1)


@pytest.mark.parametrize("change", [("late = ", "later = "), ("[gate]\n", "[gate]\nold = 1.0\n")])
def test_weights_of_other_features_say_that_learn_must_run(tmp_path, change):
    path = tmp_path / "selector.toml"
    path.write_text(selector_text(some_selector(), 240).replace(*change, 1), encoding="utf-8")
    with pytest.raises(SettingsError, match="learn") as error:
        Selector.load(path)
    assert str(path) in str(error.value) and ("later" in str(error.value) or "old" in str(error.value))


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """The small world's questions looked at, in six topics, with one that its documents do not answer."""
    folder = tmp_path_factory.mktemp("learn")
    write_corpus(folder / "corpus")
    asked = [dataclasses.replace(q, topic=f"t{place % 6}") for place, q in enumerate(questions())]
    asked += [GoldQuestion(f"u{n}", "dev", f"t{n}", "unanswerable", "咖啡渣能不能喂猪", False) for n in range(5)]
    asked.append(GoldQuestion("u5", "dev", "t5", "unanswerable", "香蕉套袋用什么颜色的纸", False))  # no passage may speak of it
    system = make_system(folder / "corpus", folder / "work")
    try:
        list(system.prepare())
        scorer = GoldScorer(system, folder / "corpus", families(), real_values())
        return list(look_at(asked, system.engine, scorer))
    finally:
        system.close()


def test_a_sentence_that_holds_the_quote_is_its_proof_and_vectors_are_let_go(examples):
    first = examples[0]
    proving = [s.evidence.text for (_, s), right in zip(first.looked.described.sentences, first.proof, strict=True) if right]
    assert proving == ["咖啡灌溉工作每隔3天检查一次。"]
    assert first.pieces == (frozenset(np.flatnonzero(first.proof)),)
    assert all(s.vectors.size == s.inside.size == 0 for _, s in first.looked.described.sentences)
    assert not examples[-1].proof.any()


def test_the_quotes_words_in_another_passage_are_no_proof(examples):
    first = examples[0]
    assert not label(first.question, first.looked, [frozenset({"00000000#0"})]).proof.any()


def test_without_the_proof_distances_are_those_to_the_best_that_is_left(examples):
    first = examples[0]
    left = without_proof(first)
    gone = sum(passage in first.chunks[0] for passage in first.passages)
    assert 0 < gone and len(left) == len(first.matrix) - gone
    gap, value = FEATURES.index("late_gap"), FEATURES.index("late")
    assert left[:, gap] == pytest.approx(left[:, value] - left[:, value].max())
    assert first.matrix[:, gap].max() == 0.0  # what was learned from is as it was


def test_the_gate_sees_an_answerable_question_with_and_without_its_proof(examples):
    weights = plain_weights(examples, ("late",))
    assert [(row.answerable, row.whole) for row in gate_rows(examples[0], weights)] == [(True, True), (False, False)]
    assert [(row.answerable, row.whole) for row in gate_rows(examples[-2], weights)] == [(False, True)]
    assert gate_rows(examples[-1], weights) == []


def test_a_question_without_any_sentence_counts_as_refused(examples):
    weights = [plain_weights(examples, ("late",))] * len(examples)
    report = measure_gate(examples, weights, folds(examples))
    assert report.counts == (12, 12, 6)
    assert report.unanswerable * 6 >= 1 and report.answerable == pytest.approx(1 / 12)


def test_a_topic_is_in_one_fold(examples):
    fold_of = folds(examples)
    assert set(fold_of) == set(range(FOLDS))
    topics = {}
    for example, fold in zip(examples, fold_of, strict=True):
        assert topics.setdefault(example.question.topic, fold) == fold


def test_a_question_does_not_teach_the_weights_it_is_judged_by(examples):
    fold_of = folds(examples)
    other = [dataclasses.replace(e, pieces=(frozenset({7}),)) if f == 0 and len(e.matrix) else e
             for e, f in zip(examples, fold_of, strict=True)]
    before, after = held_out_weights(examples, fold_of), held_out_weights(other, fold_of)
    for fold, one, changed in zip(fold_of, before, after, strict=True):
        assert (one == changed).all() == (fold == 0)


def test_first_sentences_are_counted_over_answerable_questions(examples):
    first = examples[0]
    proof = int(np.flatnonzero(first.proof)[0])
    mates = [i for i, passage in enumerate(first.passages) if passage == first.passages[proof] and i != proof]
    others = [i for i, passage in enumerate(first.passages) if passage != first.passages[proof]]

    def measured(order):
        place = FEATURES.index("late")
        matrix = np.zeros_like(first.matrix)
        matrix[order, place] = np.arange(len(order), 0, -1)
        described = dataclasses.replace(first.looked.described, matrices=(matrix,))
        asked = dataclasses.replace(first, looked=dataclasses.replace(first.looked, described=described))
        weights = np.eye(len(FEATURES))[place]
        return list(ranking_measures([asked, examples[-1]], [weights, weights]))

    assert measured([proof]) == [1.0, 1.0, 1.0]
    assert measured([mates[0], others[0], proof]) == [0.0, 1.0, 1.0]
    assert measured([*others[:3], proof]) == [0.0, 0.0, 0.0]


def test_a_cut_moves_only_for_an_answer_that_is_clearly_better(examples, monkeypatch):
    weights = [plain_weights(examples)] * len(examples)
    composer = Composer(examples, weights, folds(examples), real_values())
    assert composer.measure(START)[:, 2:].sum() == 24  # twelve right answers with the one citation they need
    assert composer.best() == START
    many = {**START, "same_passage": 0.0, "another": 0.0}  # six sentences for every question
    assert composer.measure(many)[:, 0].mean() < 0.9
    monkeypatch.setattr(crossvalidate, "START", many)
    moved = composer.best()
    assert moved["another"] in crossvalidate.GRID["another"]
    assert composer.measure(moved)[:, 2:].sum() == pytest.approx(24)


def test_a_fold_is_scored_with_the_cuts_of_the_others(examples, monkeypatch):
    composer = Composer(examples, [plain_weights(examples)] * len(examples), folds(examples), real_values())
    asked = []
    monkeypatch.setattr(Composer, "best", lambda self, left_out=None: asked.append(left_out) or START)
    assert composer.unseen() == pytest.approx(composer.measure(START).mean(axis=0))
    assert asked == sorted(set(composer.fold_of))


def test_every_cut_that_is_not_the_gates_has_a_start_and_a_grid_around_it():
    names = [field.name for field in dataclasses.fields(Selector) if field.name not in ("weights", "gate", "bias", "cut")]
    assert list(START) == list(GRID) == names
    assert all(START[name] in GRID[name] for name in names)


def test_one_topic_cannot_be_cross_validated(examples):
    with pytest.raises(UsageError, match="两个主题"):
        folds(examples[:1])


def test_everything_is_learned_and_said_in_lines(examples, monkeypatch):
    monkeypatch.setattr(crossvalidate, "GRID", {"same_passage": (0.02, 0.1), "another": (0.15, 0.6)})
    learned = learn(examples, real_values())
    text = "\n".join(learned.lines)
    assert "按主题 5 折交叉验证，18 题" in text
    assert sum(line.endswith(" *") for line in learned.lines) == 2
    assert "能回答的 12 题" in text and "资料里没有的 6 题" in text
    assert selector_text(learned.selector, 18) == selector_text(learn(examples, real_values()).selector, 18)
    first = examples[0]
    assert first.proof[int(np.argmax(first.matrix @ learned.selector.weights))]
