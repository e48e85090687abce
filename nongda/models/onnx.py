"""Opens ONNX models and their tokenizers for use on the processor, and runs them in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from nongda.errors import WeightsError

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
BATCH_TOKENS = 1024  # padded tokens in one run: stays in the processor's cache, fastest of 512 to 8192


def open_session(path: Path, threads: int = 0) -> onnxruntime.InferenceSession:
    """Open a model on the processor; `threads` 0 means one per physical core. Raises WeightsError."""
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Lengths change with every batch: a plan for one shape does not fit the next.
    options.enable_mem_pattern = False
    # Waiting threads must not take the processor from the language model.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not path.is_file():
        raise WeightsError(f"缺少模型文件 {path}：请运行 setup 取得")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors have no public base class
        raise WeightsError(f"模型文件 {path} 无法加载（{error}）：请运行 setup 重新取得") from error


def open_tokenizer(path: Path) -> Tokenizer:
    """Open tokenizer.json; nothing in a text counts as a special token. Raises WeightsError."""
    if not path.is_file():
        raise WeightsError(f"缺少分词器文件 {path}：请运行 setup 取得")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise WeightsError(f"分词器文件 {path} 无法加载（{error}）：请运行 setup 重新取得") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def encodable(text: str) -> str:
    """Replace lone surrogates, which a console can hand in and no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def run_batches(
    session: onnxruntime.InferenceSession,
    sequences: Sequence[Sequence[int]],
    types: Sequence[Sequence[int]] = (),
) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
    """Run sequences of token ids, longest first, and yield (index, first output's row) for each.

    Rows of a batch are padded to the longest; the caller cuts a row to its own length. `types` are the
    segment ids, used by models that ask for token_type_ids.
    """
    names = {item.name for item in session.get_inputs()}
    order = sorted(range(len(sequences)), key=lambda index: (-len(sequences[index]), index))
    start = 0
    while start < len(order):
        width = len(sequences[order[start]])
        batch = order[start : start + max(1, BATCH_TOKENS // max(1, width))]
        start += len(batch)
        feed: dict[str, npt.NDArray[np.int64]] = {
            "input_ids": _padded([sequences[index] for index in batch], width),
            "attention_mask": _padded([[1] * len(sequences[index]) for index in batch], width),
        }
        if "token_type_ids" in names:
            feed["token_type_ids"] = _padded([types[index] if types else [] for index in batch], width)
        rows: Any = session.run(None, {name: value for name, value in feed.items() if name in names})[0]
        yield from zip(batch, rows, strict=True)


def _padded(rows: Sequence[Sequence[int]], width: int) -> npt.NDArray[np.int64]:
    # 0 stands in every vocabulary; the attention mask hides it.
    array = np.zeros((len(rows), width), np.int64)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return array
