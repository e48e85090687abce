"""The real embedder against the values of the wheel's own engine, and against long, odd and no texts."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from weights import lite

from nongda.errors import WeightsError
from nongda.models import onnx
from nongda.models.embed import Embedder
from nongda.models.manifest import ModelOptions

CANONICAL = json.loads((Path(__file__).parent / "data" / "e5_canonical.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def e5() -> Embedder:
    model, folder = lite("embedder")
    return Embedder.load(folder, model.options, threads=2)


@pytest.mark.parametrize("entry", CANONICAL, ids=lambda entry: entry["text"][:8])
def test_vectors_are_those_of_the_wheel_s_own_engine(e5, entry):
    embed = e5.embed_queries if entry["kind"] == "query" else e5.embed_passages
    vector, wanted = embed([entry["text"]])[0], np.array(entry["vector"])
    np.testing.assert_allclose(vector[: len(wanted)], wanted, atol=0.004)
    cosine = vector[: len(wanted)] @ wanted / np.linalg.norm(vector[: len(wanted)]) / np.linalg.norm(wanted)
    assert cosine > 0.9998


def test_there_are_twelve_canonical_texts_of_thirty_two_values():
    assert [len(entry["vector"]) for entry in CANONICAL] == [32] * 12


def test_a_question_is_nearest_to_the_passage_that_answers_it(e5):
    passages = ["叶锈病发病时叶背布满橙黄色粉状孢子。", "咖啡鲜果采后八小时内脱皮。", "每亩施尿素 10 公斤。"]
    scores = e5.embed_passages(passages) @ e5.embed_queries(["咖啡叶子背面有黄粉是什么病"])[0]
    assert int(scores.argmax()) == 0


def test_vectors_are_unit_float32_rows_in_the_order_of_the_texts(e5):
    texts = ["短", "很长的一段文字，" * 40, "中等长度的一句话。"]
    together = e5.embed_passages(texts)
    assert together.shape == (3, 384) == (3, e5.dimension) and together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for row, text in zip(together, texts, strict=True):
        assert row @ e5.embed_passages([text])[0] > 0.9999


def test_questions_and_passages_have_their_own_prefix(e5):
    assert e5.embed_queries(["咖啡"])[0] @ e5.embed_passages(["咖啡"])[0] < 0.999


@pytest.mark.parametrize("tokens", [1, 506, 507, 508, 509, 510, 511, 512, 513, 2000])
def test_any_length_gives_a_vector_and_one_row_per_token(e5, tokens):
    text = "咖啡" * (tokens - 1)  # one token a word, and one for the leading space
    text = text or "咖"
    count = e5.count_tokens(text)
    assert count == (tokens if tokens > 1 else 2)
    assert e5.embed_passages([text]).shape == (1, 384)
    rows = e5.token_vectors([text], "passage")[0]
    assert rows.shape == (count - 1, 384)  # the leading space belongs to the prefix
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_the_end_of_a_long_text_still_counts(e5):
    filler, ending = "今天天气很好，我们去公园散步。" * 120, "咖啡叶锈病用三唑酮防治。" * 40
    question = e5.embed_queries(["咖啡叶锈病用什么药"])[0]
    plain, ended = e5.embed_passages([filler, filler + ending])
    assert ended @ question > plain @ question + 0.01


def test_windows_are_joined_by_the_mean_weighted_with_their_tokens(e5):
    short = dataclasses.replace(e5.options, max_tokens=26)
    narrow = Embedder("narrow", e5._session, e5._tokenizer, short)
    text = "咖啡" * 30
    windows = narrow._windows([text], "passage")
    assert len(windows) == 2 and all(len(window.ids) <= 26 for window in windows)
    assert sum(window.body.stop - window.body.start for window in windows) == narrow.count_tokens(text) - 1
    weighted = np.zeros(384, np.float32)
    for index, hidden in narrow._run(windows):
        weighted += (windows[index].body.stop - windows[index].body.start) * hidden.mean(axis=0)
    np.testing.assert_allclose(
        narrow.embed_passages([text])[0], weighted / np.linalg.norm(weighted), atol=1e-5
    )


def test_token_rows_leave_out_prefix_and_special_tokens(e5):
    rows = e5.token_vectors(["咖啡"], "query")[0]
    assert len(rows) == e5.count_tokens("咖啡") - 1  # the leading space belongs to the prefix
    assert [len(rows) for rows in e5.token_vectors(["", "咖啡", ""], "passage")][::2] == [0, 0]


def test_token_spans_are_the_places_of_the_token_rows(e5):
    texts = ["水稻稻瘟病用20%三环唑", "", "咖啡 叶锈病" * 200]
    for text, rows, spans in zip(texts, e5.token_vectors(texts, "passage"), e5.token_spans(texts, "passage"), strict=True):
        assert len(rows) == len(spans)
        assert "".join(text[a:b] for a, b in spans).replace(" ", "") == text.replace(" ", "")


def test_no_texts_give_no_rows(e5):
    assert e5.embed_queries([]).shape == (0, 384) == e5.embed_passages([]).shape
    assert e5.token_vectors([], "query") == []


@pytest.mark.parametrize("text", ["", " ", "？？", "🌽", "\ud800", "</s><s>", "a\x00b", "𠮷㐂"])
def test_odd_texts_have_finite_unit_vectors(e5, text):
    vector = e5.embed_queries([text])[0]
    assert np.isfinite(vector).all() and abs(np.linalg.norm(vector) - 1) < 1e-5


def test_special_words_in_a_text_are_only_words(e5):
    assert e5.count_tokens("</s>") > 1


def test_batches_hold_no_more_tokens_than_allowed(e5, monkeypatch):
    monkeypatch.setattr(onnx, "BATCH_TOKENS", 64)
    sizes = []

    class Watched:
        def get_inputs(self):
            return e5._session.get_inputs()

        def run(self, names, feed):
            sizes.append(feed["input_ids"].size)
            return e5._session.run(names, feed)

    sequences = [[0, 5, 6, 2]] * 50 + [[0] + [7] * 98 + [2]]
    rows = dict(onnx.run_batches(Watched(), sequences))
    assert set(rows) == set(range(51)) and sizes[0] == 100 and max(sizes[1:]) <= 64


def test_a_missing_or_damaged_model_is_one_sentence(e5, tmp_path):
    with pytest.raises(WeightsError, match=r"tokenizer\.json.*setup"):
        Embedder.load(tmp_path, ModelOptions())
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsError, match="无法加载"):
        Embedder.load(tmp_path, ModelOptions())
    (tmp_path / "tokenizer.json").write_text(e5._tokenizer.to_str(), encoding="utf-8")
    with pytest.raises(WeightsError, match=r"缺少模型文件.*model\.onnx"):
        Embedder.load(tmp_path, ModelOptions())
    (tmp_path / "model.onnx").write_bytes(b"broken")
    with pytest.raises(WeightsError, match=r"model\.onnx.*无法加载"):
        Embedder.load(tmp_path, ModelOptions())


def test_a_dimension_that_contradicts_the_manifest_is_refused(e5):
    with pytest.raises(WeightsError, match="384 维.*512 维"):
        Embedder("x", e5._session, e5._tokenizer, ModelOptions(dimension=512))


def test_cls_pooling_takes_the_first_token(e5):
    first = Embedder("cls", e5._session, e5._tokenizer, dataclasses.replace(e5.options, pooling="cls"))
    windows = first._windows(["咖啡"], "query")
    _, hidden = next(first._run(windows))
    np.testing.assert_allclose(
        first.embed_queries(["咖啡"])[0], hidden[0] / np.linalg.norm(hidden[0]), atol=1e-6
    )
