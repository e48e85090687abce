"""Late interaction by hand-computed vectors and with the real embedder; cross-encoders on tiny ONNX models."""

import numpy as np
import onnx as onnx_format
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from tokenizers.processors import TemplateProcessing
from weights import lite

from nongda.errors import WeightsError
from nongda.models.embed import Embedder
from nongda.models.rerank import CrossEncoder, LateInteraction, TokenCache, relevance

AXES = {"咖": (1, 0, 0), "锈": (0, 1, 0), "药": (0, 0, 1), "病": (0, 0.6, 0.8)}


class AxisEmbedder:
    """One vector a character, of three axes; counts what it was asked to embed."""

    name = "axes"

    def __init__(self) -> None:
        self.passages: list[str] = []

    def token_vectors(self, texts, kind):
        if kind == "passage":
            self.passages += texts
        return [np.array([AXES[c] for c in text], np.float32).reshape(-1, 3) for text in texts]

    def token_spans(self, texts, kind):
        return [[(i, i + 1) for i in range(len(text))] for text in texts]


def test_the_score_is_the_mean_of_each_question_token_s_best_cosine():
    scores = LateInteraction(TokenCache(AxisEmbedder())).score("锈药", ["锈咖", "病", "锈药咖", "咖", ""])
    np.testing.assert_allclose(scores, [0.5, 0.7, 1.0, 0.0, 0.0], atol=1e-3)
    assert scores.dtype == np.float32 and scores.shape == (5,)


def test_the_passage_s_own_direction_counts_with_its_share():
    scores = LateInteraction(TokenCache(AxisEmbedder()), passage_share=0.25).score("锈药", ["锈咖咖咖", "锈药", "病"])
    np.testing.assert_allclose(scores, [0.75 * 0.5 + 0.25 * 0.25, 1.0, 0.75 * 0.7 + 0.25 * 0.8], atol=1e-3)


def test_a_question_without_tokens_and_no_passages_give_plain_zeros():
    reranker = LateInteraction(TokenCache(AxisEmbedder()))
    assert reranker.score("", ["锈", "药"]).tolist() == [0, 0]
    assert reranker.score("锈", []).shape == (0,)


def test_passages_are_embedded_once_and_the_oldest_leave_the_cache():
    embedder = AxisEmbedder()
    reranker = LateInteraction(TokenCache(embedder, 2))
    first = reranker.score("锈", ["锈", "药", "锈"])
    assert embedder.passages == ["锈", "药"]
    np.testing.assert_array_equal(reranker.score("锈", ["锈", "药", "锈"]), first)
    assert embedder.passages == ["锈", "药"]
    reranker.score("锈", ["咖"])  # pushes 药 out: 锈 was used last
    reranker.score("锈", ["锈"])
    reranker.score("锈", ["药"])
    assert embedder.passages == ["锈", "药", "咖", "药"]


def test_a_passage_s_tokens_know_their_place_in_the_text():
    tokens = TokenCache(AxisEmbedder()).passages(["锈药"])[0]
    assert tokens.vectors.tolist() == [[0, 1, 0], [0, 0, 1]] and tokens.spans == ((0, 1), (1, 2))


def test_a_question_s_tokens_know_their_place_in_it():
    tokens = TokenCache(AxisEmbedder()).question("锈药")
    assert tokens.spans == ((0, 1), (1, 2))
    assert tokens.vectors.dtype == np.float16 and tokens.vectors.tolist() == [[0, 1, 0], [0, 0, 1]]


def test_a_cache_of_nothing_still_scores():
    reranker = LateInteraction(TokenCache(AxisEmbedder(), 0))
    assert reranker.score("锈", ["药", "锈"]).tolist() == [0, 1]


def test_the_real_embedder_puts_the_answering_passage_first():
    model, folder = lite("embedder")
    reranker = LateInteraction(TokenCache(Embedder.load(folder, model.options, threads=2)))
    passages = [
        "咖啡鲜果采后八小时内脱皮。",
        "叶锈病发病时叶背布满橙黄色粉状孢子，可喷波尔多液。",
        "今天天气很好。",
    ]
    scores = reranker.score("咖啡叶子背面有黄粉是什么病", passages)
    assert int(scores.argmax()) == 1
    assert 0 < scores.min() and scores.max() <= 1.001


def characters_tokenizer() -> Tokenizer:
    """One token a character: the digits' ids are their value plus 10."""
    vocabulary = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, **{str(digit): digit + 10 for digit in range(10)}}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Split("", "isolated")
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return tokenizer


def write_classifier(folder, outputs: int, max_length: int | None = None, types: bool = False):
    """Write a model whose score is the largest digit among its inputs (its segment 1 alone with `types`).

    With one output it is the logit; with more, it is the last class and the others get 0. A sequence longer
    than `max_length` fails in the model, as it does in a real one with that many positions.
    """
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    nodes = [helper.make_node("Mul", ["input_ids", inputs[-1]], ["masked"])]
    nodes += [
        helper.make_node("ReduceMax", ["masked", "one"], ["best"], keepdims=1),
        helper.make_node("Cast", ["best"], ["as_float"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["as_float", "ten"], ["digit"]),
    ]
    constants = [helper.make_tensor("one", TensorProto.INT64, [1], [1]),
                 helper.make_tensor("ten", TensorProto.FLOAT, [1], [10.0]),
                 helper.make_tensor("last", TensorProto.FLOAT, [1, outputs], [0.0] * (outputs - 1) + [1.0])]  # fmt: skip
    nodes.append(helper.make_node("MatMul", ["digit", "last"], ["product"]))
    final = "product"
    if max_length:
        constants.append(helper.make_tensor("places", TensorProto.FLOAT, [max_length], [0.0] * max_length))
        constants.append(helper.make_tensor("zero", TensorProto.INT64, [1], [0]))
        nodes += [
            helper.make_node("Shape", ["input_ids"], ["length"], start=1, end=2),
            helper.make_node("Slice", ["places", "zero", "length"], ["used"]),
            helper.make_node("Cast", ["masked"], ["masked_float"], to=TensorProto.FLOAT),
            helper.make_node("Add", ["masked_float", "used"], ["placed"]),
            helper.make_node("ReduceSum", ["placed", "one"], ["total"], keepdims=1),
            helper.make_node("Mul", ["total", "nothing"], ["vanished"]),
            helper.make_node("Add", ["product", "vanished"], ["final"]),
        ]
        constants.append(helper.make_tensor("nothing", TensorProto.FLOAT, [1], [0.0]))
        final = "final"
    nodes.append(helper.make_node("Identity", [final], ["logits"]))
    values = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs]
    result = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", outputs])
    graph = helper.make_graph(nodes, "tiny", values, [result], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx_format.checker.check_model(model)
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    characters_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def test_one_output_is_taken_as_it_is(tmp_path):
    encoder = CrossEncoder.load(write_classifier(tmp_path / "重排 模型", 1))
    assert encoder.name == "重排 模型"
    assert encoder.score("1", ["123", "9", "", "40"]).tolist() == [3, 9, 1, 4]
    assert encoder.score("1", []).shape == (0,)


@pytest.mark.parametrize("outputs", [2, 3])
def test_several_outputs_become_one_score_in_the_same_order(tmp_path, outputs):
    encoder = CrossEncoder.load(write_classifier(tmp_path, outputs))
    expected = [digit - np.log(outputs - 1) for digit in (3, 9, 4)]
    np.testing.assert_allclose(encoder.score("1", ["123", "9", "40"]), expected, rtol=1e-6)


def test_relevance_is_the_last_class_against_the_others():
    assert relevance(np.float32([2.5])) == 2.5
    assert relevance(np.array(2.5, np.float32)) == 2.5
    assert relevance(np.float32([1.0, 3.0])) == 2.0
    assert relevance(np.float32([0.0, 0.0, 3.0])) == pytest.approx(3 - np.log(2))


def test_segment_ids_tell_the_passage_from_the_question(tmp_path):
    encoder = CrossEncoder.load(write_classifier(tmp_path, 1, types=True))
    assert encoder.score("9", ["12", "34"]).tolist() == [2, 4]


@pytest.mark.parametrize("length", [11, 12, 13, 14, 50, 2000])
def test_the_end_of_a_long_passage_still_counts(tmp_path, length):
    encoder = CrossEncoder.load(write_classifier(tmp_path, 1, max_length=20), max_tokens=20)
    assert encoder.score("123", ["0" * (length - 1) + "9", "0" * length]).tolist() == [9, 3]


def test_a_long_question_keeps_its_start_and_end_and_leaves_room_for_the_passage(tmp_path):
    encoder = CrossEncoder.load(write_classifier(tmp_path, 1, max_length=20), max_tokens=20)
    assert encoder.score("7" + "0" * 500, ["1" * 100]).tolist() == [7]
    assert encoder.score("0" * 500 + "8", ["1" * 100]).tolist() == [8]
    assert encoder.score("0" * 500, ["1" * 100 + "9"]).tolist() == [9]
    assert encoder.score("0" * 250 + "6" + "0" * 250, ["1" * 100]).tolist() == [1]


def test_a_short_passage_leaves_its_room_to_the_question(tmp_path):
    encoder = CrossEncoder.load(write_classifier(tmp_path, 1, max_length=20), max_tokens=20)
    assert encoder.score("0" * 12 + "6" + "00", ["11"]).tolist() == [6]


def test_no_window_is_longer_than_the_model_takes(tmp_path):
    encoder = CrossEncoder.load(write_classifier(tmp_path, 1), max_tokens=20)
    for question, passage in (("1", "2" * 100), ("1" * 100, "2"), ("1" * 100, "2" * 100), ("", "2" * 18)):
        pairs = encoder._pairs(question, passage)
        assert all(len(ids) == len(types) <= 20 for ids, types in pairs)
        assert all(ids.count(2) == 2 and ids[0] == 1 and ids[-1] == 2 for ids, _ in pairs)


def test_a_window_that_makes_one_token_more_is_cut_before_the_last_separator(tmp_path):
    encoder = CrossEncoder.load(write_classifier(tmp_path, 1), max_tokens=8)
    ids, types = encoder._fitted(encoder._tokenizer.encode("12", "3456"))
    assert ids == [1, 11, 12, 2, 13, 14, 15, 2] and types == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_model_with_five_outputs_is_refused_in_words(tmp_path):
    with pytest.raises(WeightsError, match="5 个输出"):
        CrossEncoder.load(write_classifier(tmp_path, 5))


def test_a_missing_reranker_is_one_sentence(tmp_path):
    with pytest.raises(WeightsError, match="setup"):
        CrossEncoder.load(tmp_path / "none")
