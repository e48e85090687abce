"""Repacking keeps every weight: a tiny container, built here, against the same encoder in plain numpy."""

import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from nongda.errors import WeightsError
from nongda.models.e5_wheel import build_model, read_container, repack, unpack_blocks
from nongda.models.onnx import open_session

HIDDEN, LAYERS, HEADS, FORWARD, POSITIONS = 64, 2, 2, 128, 16
PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0), ("咖", -5.0), ("啡", -5.0),
          ("咖啡", -4.0), ("▁叶", -3.0), ("锈病", -4.5), ("5", -6.0), ("%", -6.0)]  # fmt: skip
NORMALISER = {"\x01": "", "\n": " ", "５": "5", "％": "%"}


def quantise(rows, columns, random):
    """Return 4-bit blocks as the container stores them and the float matrix they stand for."""
    scales = random.uniform(0.01, 0.1, (rows, columns // 32)).astype(np.float16)
    nibbles = random.integers(0, 16, (rows, columns // 32, 32)).astype(np.uint8)
    packed = nibbles[:, :, :16] | (nibbles[:, :, 16:] << 4)
    raw = b"".join(
        scales[r, b].tobytes() + packed[r, b].tobytes() for r in range(rows) for b in range(columns // 32)
    )
    floats = (nibbles.astype(np.float32) - 8) * scales[:, :, None].astype(np.float32)
    return raw, floats.reshape(rows, columns)


def build_container():
    """Return the container's bytes and its weights as float arrays by name."""
    random = np.random.default_rng(7)
    tensors, floats = [], {}

    def matrix(name, rows, columns):
        raw, floats[name] = quantise(rows, columns, random)
        tensors.append((name, 1, rows * columns, raw))

    def vector(name, *shape):
        floats[name] = random.normal(0, 0.2, shape).astype(np.float32)
        tensors.append((name, 0, floats[name].size, floats[name].tobytes()))

    matrix("emb.word", len(PIECES), HIDDEN)
    vector("emb.pos", POSITIONS, HIDDEN)
    vector("emb.type", 2, HIDDEN)
    for name in ("emb.ln.w", "emb.ln.b"):
        vector(name, HIDDEN)
    for layer in range(LAYERS):
        sizes = {part: (HIDDEN, HIDDEN) for part in ("q", "k", "v", "ao")}
        for part, (rows, columns) in {**sizes, "fi": (FORWARD, HIDDEN), "fo": (HIDDEN, FORWARD)}.items():
            matrix(f"l{layer}.{part}.w", rows, columns)
            vector(f"l{layer}.{part}.b", rows)
        for norm in ("aln.w", "aln.b", "oln.w", "oln.b"):
            vector(f"l{layer}.{norm}", HIDDEN)
    head = struct.pack(
        "<4sI7ifi", b"E5S1", 1, HIDDEN, LAYERS, HEADS, FORWARD, len(PIECES), POSITIONS, 2, 1e-12, 32
    )
    blob = [piece.encode() for piece, _ in PIECES]
    offsets = np.concatenate([[0], np.cumsum([len(piece) for piece in blob])]).astype("<u4")
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(offsets[-1])) + offsets.tobytes()
    head += np.array([score for _, score in PIECES], "<f4").tobytes() + b"".join(blob)
    table = b"".join(
        struct.pack("<IB", ord(c), len(to)) + struct.pack(f"<{len(to)}I", *map(ord, to))
        for c, to in NORMALISER.items()
    )
    head += struct.pack("<iI", len(NORMALISER), len(table)) + table + struct.pack("<i", len(tensors))
    start = len(head) + sum(2 + len(name) + 1 + 4 + 8 + 8 for name, *_ in tensors)
    directory, body = b"", b""
    for name, kind, elements, raw in tensors:
        directory += struct.pack(f"<H{len(name)}sBIQQ", len(name), name.encode(), kind, elements,
                                 start + len(body), len(raw))  # fmt: skip
        body += raw
    return head + directory + body, floats


def norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12) * weight + bias


def encoder(ids, w):
    """Run the same BERT encoder in numpy: one sequence of ids -> (length, HIDDEN)."""
    x = norm(w["emb.word"][ids] + w["emb.pos"][: len(ids)] + w["emb.type"][0], w["emb.ln.w"], w["emb.ln.b"])
    for layer in range(LAYERS):
        p = {name.split(".", 1)[1]: value for name, value in w.items() if name.startswith(f"l{layer}.")}
        q, k, v = (x @ p[f"{c}.w"].T + p[f"{c}.b"] for c in "qkv")
        size, mixed = HIDDEN // HEADS, []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            scores = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size))
            mixed.append(scores / scores.sum(-1, keepdims=True) @ v[:, part])
        x = norm(x + np.concatenate(mixed, 1) @ p["ao.w"].T + p["ao.b"], p["aln.w"], p["aln.b"])
        wide = x @ p["fi.w"].T + p["fi.b"]
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(x + wide @ p["fo.w"].T + p["fo.b"], p["oln.w"], p["oln.b"])
    return x


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("e5")
    data, floats = build_container()
    (folder / "e5.bin").write_bytes(data)
    repack(folder / "e5.bin", folder / "模型")
    return folder, floats


def test_the_onnx_model_computes_what_the_container_s_weights_say(packed):
    folder, floats = packed
    session = open_session(folder / "模型" / "model.onnx", 1)
    rows = [[0, 7, 9, 2], [0, 8, 5, 6, 11, 2]]
    ids, mask = np.zeros((2, 6), np.int64), np.zeros((2, 6), np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)], mask[number, : len(row)] = row, 1
    (hidden,) = session.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": mask})
    assert hidden.shape == (2, 6, HIDDEN) and hidden.dtype == np.float32
    for number, row in enumerate(rows):
        wanted, got = encoder(np.array(row), floats), hidden[number, : len(row)]
        cosine = (wanted * got).sum(1) / np.linalg.norm(wanted, axis=1) / np.linalg.norm(got, axis=1)
        assert cosine.min() > 0.999  # the activations, not the weights, are rounded to 8 bits


def test_the_graph_uses_the_four_bit_operators_and_no_dense_matrix(packed):
    folder, _ = packed
    graph = build_model(read_container(folder / "e5.bin")).graph
    operators = [node.op_type for node in graph.node]
    assert operators.count("MatMulNBits") == 6 * LAYERS and operators.count("GatherBlockQuantized") == 1
    attributes = {a.name: a.i for node in graph.node if node.op_type == "MatMulNBits" for a in node.attribute}
    assert (attributes["bits"], attributes["block_size"], attributes["accuracy_level"]) == (4, 32, 4)
    assert [i.name for i in graph.input] == ["input_ids", "attention_mask"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("咖啡", [0, 4, 7, 2]),
        ("叶锈病", [0, 8, 9, 2]),
        ("５％", [0, 4, 10, 11, 2]),
        ("叶\x01锈病\n咖", [0, 8, 9, 4, 5, 2]),
        ("", [0, 2]),
        ("茶", [0, 4, 3, 2]),
    ],
)
def test_the_tokenizer_normalises_and_cuts_as_the_container_says(packed, text, ids):
    tokenizer = Tokenizer.from_file(str(packed[0] / "模型" / "tokenizer.json"))
    assert tokenizer.encode(text).ids == ids


def test_a_pair_of_texts_is_framed_as_the_model_was_trained(packed):
    tokenizer = Tokenizer.from_file(str(packed[0] / "模型" / "tokenizer.json"))
    assert tokenizer.encode("咖啡", "叶").ids == [0, 4, 7, 2, 2, 8, 2]


def test_the_same_container_gives_the_same_bytes_and_replaces_an_old_folder(packed, tmp_path):
    folder, _ = packed
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "old.txt").write_text("x")
    repack(folder / "e5.bin", tmp_path / "again")
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == ["model.onnx", "tokenizer.json"]
    for name in ("model.onnx", "tokenizer.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / "模型" / name).read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


@pytest.mark.parametrize("cut", [0, 3, 30, 60, 400, 5000])
def test_a_container_cut_short_is_one_sentence_and_leaves_no_folder(packed, tmp_path, cut):
    data = (packed[0] / "e5.bin").read_bytes()
    (tmp_path / "cut.bin").write_bytes(data[:cut])
    with pytest.raises(WeightsError, match=r"cut\.bin.*setup"):
        repack(tmp_path / "cut.bin", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_another_file_is_not_taken_for_a_container(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(WeightsError, match="文件头"):
        repack(tmp_path / "a.bin", tmp_path / "out")


def test_a_block_unpacks_as_its_definition_says():
    raw = np.frombuffer(np.float16(0.5).tobytes() + bytes([0x21] * 16), np.uint8)
    blocks = unpack_blocks(raw, 32)
    assert blocks.nibbles.tolist() == [[1] * 16 + [2] * 16] and blocks.scales.tolist() == [[0.5]]


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(1, 4), blocks=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_unpacking_gives_back_every_quantised_weight(rows, blocks, seed):
    raw, floats = quantise(rows, blocks * 32, np.random.default_rng(seed))
    got = unpack_blocks(np.frombuffer(raw, np.uint8), blocks * 32)
    weights = (got.nibbles.reshape(rows, blocks, 32).astype(np.float32) - 8) * got.scales[:, :, None]
    np.testing.assert_array_equal(weights.reshape(rows, -1), floats)


def test_the_tokenizer_file_is_plain_json(packed):
    data = json.loads((packed[0] / "模型" / "tokenizer.json").read_text(encoding="utf-8"))
    assert data["model"]["vocab"][7] == ["咖啡", -4.0] and data["model"]["unk_id"] == 3
