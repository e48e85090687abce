"""Repacks multilingual-e5-small from its 4-bit container into ONNX and tokenizer.json, without any loss.

1. Read the container: header, unigram vocabulary, normaliser table, tensor directory.
2. Move the 4-bit blocks: the container keeps weight j and j+16 of a block of 32 in one byte, ONNX Runtime
   keeps neighbours (2j, 2j+1) in one byte. Nibbles and scales keep their values.
3. Write the BERT encoder as a graph over MatMulNBits and GatherBlockQuantized, and the tokenizer as JSON.

The same input gives the same bytes on every machine, so the manifest can pin the result's sha256.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

from nongda.errors import WeightsError

BLOCK = 32  # weights that share one scale
MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
Array = npt.NDArray[Any]
_FLOAT = int(TensorProto.FLOAT)


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix in 4 bits: `nibbles` (rows, columns) uint8 0-15, `scales` (rows, columns / 32) float32."""

    nibbles: Array
    scales: Array


@dataclass(frozen=True, slots=True)
class Container:
    """What the container holds; dense tensors are flat float32."""

    hidden: int
    layers: int
    heads: int
    epsilon: float
    special: Mapping[str, int]  # bos, eos, pad, unk
    pieces: tuple[tuple[str, float], ...]
    normaliser: Mapping[str, str]
    dense: Mapping[str, Array]
    packed: Mapping[str, Blocks]


class _Cursor:
    """Reads little-endian values one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def array(self, dtype: str, count: int) -> Array:
        values = np.frombuffer(self.data, dtype, count, self.at)
        self.at += values.nbytes
        return values


def repack(bin_path: Path, out_dir: Path) -> None:
    """Write `out_dir` with model.onnx (input_ids, attention_mask -> last_hidden_state) and tokenizer.json.

    The folder appears complete or not at all. Raises WeightsError when the container is damaged.
    """
    try:
        container = read_container(bin_path)
    except (struct.error, ValueError, KeyError, UnicodeDecodeError) as error:
        raise WeightsError(
            f"向量模型文件 {bin_path.name} 已损坏（{error}）：请运行 setup 重新取得"
        ) from error
    temporary = out_dir.with_name(out_dir.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    _write(temporary / MODEL_FILE, build_model(container).SerializeToString(deterministic=True))
    text = json.dumps(build_tokenizer(container), ensure_ascii=False, separators=(",", ":"))
    _write(temporary / TOKENIZER_FILE, text.encode("utf-8"))
    shutil.rmtree(out_dir, ignore_errors=True)
    os.replace(temporary, out_dir)


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def read_container(path: Path) -> Container:
    """Read the container. Raises struct.error, ValueError or KeyError when it is not one or is cut short."""
    cursor = _Cursor(path.read_bytes())
    magic, _version = cursor.take("4sI")
    if magic != b"E5S1":
        raise ValueError("文件头不对")
    hidden, layers, heads, feed_forward, _vocabulary, _positions, _types = cursor.take("7i")
    epsilon, block = cursor.take("fi")
    if block != BLOCK:
        raise ValueError(f"块长 {block}")
    pieces, special = _read_pieces(cursor)
    normaliser = _read_normaliser(cursor)
    dense, packed = _read_tensors(cursor)
    widths = {name: feed_forward if name.endswith(".fo.w") else hidden for name in packed}
    matrices = {name: unpack_blocks(raw, widths[name]) for name, raw in packed.items()}
    return Container(hidden, layers, heads, epsilon, special, pieces, normaliser, dense, matrices)


def _read_pieces(cursor: _Cursor) -> tuple[tuple[tuple[str, float], ...], dict[str, int]]:
    count, bos, eos, pad, unk = cursor.take("5i")
    (blob_bytes,) = cursor.take("Q")
    offsets = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count).tolist()
    blob = cursor.array("u1", blob_bytes).tobytes()
    names = [blob[a:b].decode("utf-8") for a, b in zip(offsets, offsets[1:], strict=False)]
    return tuple(zip(names, scores, strict=True)), {"bos": bos, "eos": eos, "pad": pad, "unk": unk}


def _read_normaliser(cursor: _Cursor) -> dict[str, str]:
    count, _bytes = cursor.take("iI")
    table: dict[str, str] = {}
    for _ in range(count):
        codepoint, length = cursor.take("IB")
        table[chr(codepoint)] = "".join(map(chr, cursor.take(f"{length}I")))
    return table


def _read_tensors(cursor: _Cursor) -> tuple[dict[str, Array], dict[str, Array]]:
    (count,) = cursor.take("i")
    dense: dict[str, Array] = {}
    packed: dict[str, Array] = {}
    for _ in range(count):
        (length,) = cursor.take("H")
        (name,) = cursor.take(f"{length}s")
        kind, _elements, offset, size = cursor.take("BIQQ")
        raw = np.frombuffer(cursor.data, "u1", size, offset)
        if kind == 0:
            dense[name.decode()] = raw.view("<f4")
        else:
            packed[name.decode()] = raw
    return dense, packed


def unpack_blocks(raw: Array, columns: int) -> Blocks:
    """Split 18-byte blocks (float16 scale, 16 bytes) into nibbles and scales; `raw` is flat uint8."""
    blocks = raw.reshape(-1, 2 + BLOCK // 2)
    rows = len(blocks) * BLOCK // columns
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    quants = blocks[:, 2:]
    nibbles = np.concatenate([quants & 15, quants >> 4], axis=1)  # weights 0-15 low, 16-31 high
    return Blocks(nibbles.reshape(rows, columns), scales.reshape(rows, columns // BLOCK))


def _neighbours(nibbles: Array) -> Array:
    """Put two neighbouring nibbles into one byte, the first one low."""
    pairs: Array = (nibbles[:, 0::2] | (nibbles[:, 1::2] << 4)).astype(np.uint8)
    return pairs


class _Graph:
    """Collects nodes and weights; each method returns the name of what it made."""

    def __init__(self, container: Container) -> None:
        self.source = container
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def add(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:  # noqa: ANN401
        self.nodes.append(helper.make_node(operator, inputs, [output], output, domain=domain, **attributes))
        return output

    def weight(self, name: str, values: Array, kind: int = _FLOAT, shape: tuple[int, ...] = ()) -> str:
        dims = shape or values.shape
        self.weights.append(helper.make_tensor(name, kind, dims, values.tobytes(), raw=True))
        return name

    def embed(self, ids: str) -> str:
        table = self.source.packed["emb.word"]
        signed = _neighbours((table.nibbles + 8) & 15)  # INT4 is two's complement: nibble - 8
        data = self.weight("emb.word", signed, TensorProto.INT4, table.nibbles.shape)
        scales = self.weight("emb.word.scales", table.scales)
        return self.add("GatherBlockQuantized", [data, ids, scales], "words", "com.microsoft",
                        gather_axis=0, quantize_axis=1, block_size=BLOCK)  # fmt: skip

    def linear(self, x: str, name: str) -> str:
        matrix = self.source.packed[name + ".w"]
        rows, columns = matrix.nibbles.shape
        shape = (rows, columns // BLOCK, BLOCK // 2)
        data = self.weight(name + ".w", _neighbours(matrix.nibbles), TensorProto.UINT8, shape)
        scales = self.weight(name + ".scales", matrix.scales)
        bias = self.weight(name + ".b", self.source.dense[name + ".b"])
        return self.add("MatMulNBits", [x, data, scales, "", "", bias], name, "com.microsoft",
                        K=columns, N=rows, bits=4, block_size=BLOCK, accuracy_level=4)  # fmt: skip

    def norm(self, x: str, name: str) -> str:
        scale = self.weight(name + ".w", self.source.dense[name + ".w"])
        bias = self.weight(name + ".b", self.source.dense[name + ".b"])
        return self.add("LayerNormalization", [x, scale, bias], name, axis=-1, epsilon=self.source.epsilon)

    def layer(self, x: str, prefix: str, mask: str) -> str:
        query, key, value = (self.linear(x, prefix + part) for part in "qkv")
        inputs, heads = [query, key, value, "", mask], self.source.heads
        mixed = self.add("MultiHeadAttention", inputs, prefix + "mixed", "com.microsoft", num_heads=heads)
        summed = self.add("Add", [x, self.linear(mixed, prefix + "ao")], prefix + "sum1")
        x = self.norm(summed, prefix + "aln")
        wide = self.add("Gelu", [self.linear(x, prefix + "fi")], prefix + "gelu", "com.microsoft")
        summed = self.add("Add", [x, self.linear(wide, prefix + "fo")], prefix + "sum2")
        return self.norm(summed, prefix + "oln")


def build_model(container: Container) -> onnx.ModelProto:
    """Write the encoder as a graph: ids and mask (batch, length) int64 -> (batch, length, hidden) float32."""
    graph = _Graph(container)
    hidden = container.hidden
    # Positions and the one token type are both added to every token: one table, cut to the length in use.
    positions = container.dense["emb.pos"].reshape(-1, hidden)
    token_type = container.dense["emb.type"].reshape(-1, hidden)[0]
    table = graph.weight("emb.pos", (positions + token_type).astype(np.float32))
    zero = graph.weight("zero", np.array([0], np.int64), TensorProto.INT64)
    length = graph.add("Shape", ["input_ids"], "length", start=1, end=2)
    places = graph.add("Slice", [table, zero, length, zero], "places")
    mask = graph.add("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    x = graph.norm(graph.add("Add", [graph.embed("input_ids"), places], "summed"), "emb.ln")
    for number in range(container.layers):
        x = graph.layer(x, f"l{number}.", mask)
    graph.add("Identity", [x], "last_hidden_state")
    shape, int64 = ["batch", "length"], TensorProto.INT64
    inputs = [helper.make_tensor_value_info(n, int64, shape) for n in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("last_hidden_state", _FLOAT, [*shape, hidden])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    body = helper.make_graph(graph.nodes, "e5", inputs, [output], graph.weights)
    return helper.make_model(body, opset_imports=opsets, ir_version=10, producer_name="nongda")


def build_tokenizer(container: Container) -> dict[str, Any]:
    """Describe the unigram tokenizer as tokenizer.json does."""
    pieces = container.pieces
    special = container.special
    names = {role: pieces[index][0] for role, index in special.items()}
    # The container's table is NFKC but for control characters, which vanish or become a space.
    table = container.normaliser.items()
    other = [(c, to) for c, to in table if unicodedata.normalize("NFKC", c) != to]
    replace = []
    for to in sorted({to for _, to in other}):
        codes = "".join(f"\\x{{{ord(c):x}}}" for c, target in sorted(other) if target == to)
        replace.append({"type": "Replace", "pattern": {"Regex": f"[{codes}]"}, "content": to})
    folded = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    space = {"replacement": "▁", "prepend_scheme": "always"}

    def token(role: str) -> dict[str, Any]:
        return {"SpecialToken": {"id": names[role], "type_id": 0}}

    added = [
        {"id": index, "content": pieces[index][0], "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for index in sorted(special.values())
    ]  # fmt: skip
    first = {"Sequence": {"id": "A", "type_id": 0}}
    second = {"Sequence": {"id": "B", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": [*replace, {"type": "NFKC"}, folded]},
        "pre_tokenizer": {"type": "Metaspace", **space, "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token("bos"), first, token("eos")],
            "pair": [token("bos"), first, token("eos"), token("eos"), second, token("eos")],
            "special_tokens": {
                names[r]: {"id": names[r], "ids": [special[r]], "tokens": [names[r]]} for r in ("bos", "eos")
            },
        },
        "decoder": {"type": "Metaspace", **space, "split": True},
        "model": {"type": "Unigram", "unk_id": special["unk"], "vocab": pieces, "byte_fallback": False},
    }
