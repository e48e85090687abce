"""Turns texts into vectors: one per text for search, one per token for late interaction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from nongda.errors import WeightsError
from nongda.models.manifest import ModelOptions
from nongda.models.onnx import (
    MODEL_FILE,
    TOKENIZER_FILE,
    encodable,
    open_session,
    open_tokenizer,
    run_batches,
)

Vectors = npt.NDArray[np.float32]
Kind = Literal["query", "passage"]
TINY = 1e-12  # keeps a zero vector from being divided by zero


@dataclass(frozen=True, slots=True)
class _Window:
    """A piece of one text as the model takes it; `body` is where the text's own tokens are in `ids`."""

    text: int
    ids: list[int]
    body: slice


class Embedder:
    """An ONNX encoder with its tokenizer; texts beyond the model's window are read in several windows."""

    def __init__(
        self, name: str, session: onnxruntime.InferenceSession, tokenizer: Tokenizer, options: ModelOptions
    ) -> None:
        self.name = name
        self.options = options
        self._session = session
        self._tokenizer = tokenizer
        shape = session.get_outputs()[0].shape
        self.dimension = int(shape[-1]) if isinstance(shape[-1], int) else options.dimension
        if options.dimension not in (0, self.dimension):
            sizes = f"{self.dimension} 维，清单里写的是 {options.dimension} 维"
            raise WeightsError(f"模型 {name} 的向量是 {sizes}：请改正 models/manifest.toml")

    @classmethod
    def load(cls, folder: Path, options: ModelOptions, threads: int = 0) -> Embedder:
        """Load model.onnx and tokenizer.json of a folder. Raises WeightsError when one is unusable."""
        tokenizer = open_tokenizer(folder / TOKENIZER_FILE)
        return cls(folder.name, open_session(folder / MODEL_FILE, threads), tokenizer, options)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: (n, dimension) float32, L2-normalised."""
        return self._embed(texts, "query")

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (n, dimension) float32, L2-normalised."""
        return self._embed(texts, "passage")

    def token_vectors(self, texts: Sequence[str], kind: Kind) -> list[Vectors]:
        """Return per text (its tokens, dimension) float32, each row L2-normalised.

        Special tokens and the prefix are left out; a text without tokens gives no rows.
        """
        windows = self._windows(texts, kind)
        rows: dict[int, Vectors] = {}
        for index, hidden in self._run(windows):
            rows[index] = _normalised(hidden[windows[index].body])
        pieces: list[list[Vectors]] = [[np.zeros((0, self.dimension), np.float32)] for _ in texts]
        for index, window in enumerate(windows):
            pieces[window.text].append(rows[index])
        return [np.concatenate(parts) for parts in pieces]

    def token_spans(self, texts: Sequence[str], kind: Kind) -> list[list[tuple[int, int]]]:
        """Return per text the character offsets of the tokens that `token_vectors` gives, in the same order."""
        prefix = self._prefix(kind)
        encodings = self._tokenizer.encode_batch([prefix + encodable(text) for text in texts])
        return [
            [(max(0, a - len(prefix)), b - len(prefix)) for a, b in encoding.offsets[head:tail]]
            for encoding in encodings for head, tail in [_body(encoding, len(prefix))]
        ]

    def _prefix(self, kind: Kind) -> str:
        return self.options.query_prefix if kind == "query" else self.options.passage_prefix

    def count_tokens(self, text: str) -> int:
        """Count the tokens of the text itself, without prefix and special tokens."""
        return len(self._tokenizer.encode(encodable(text), add_special_tokens=False).ids)

    def _embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        windows = self._windows(texts, kind)
        sums = np.zeros((len(texts), self.dimension), np.float32)
        for index, hidden in self._run(windows):
            window = windows[index]
            pooled = hidden[0] if self.options.pooling == "cls" else hidden.mean(axis=0)
            # Windows of one text are joined by a mean weighted with their share of its tokens.
            sums[window.text] += max(1, window.body.stop - window.body.start) * pooled
        return _normalised(sums)

    def _run(self, windows: Sequence[_Window]) -> Iterator[tuple[int, Vectors]]:
        """Yield (index of the window, its hidden states (tokens, dimension)), longest first."""
        for index, row in run_batches(self._session, [window.ids for window in windows]):
            yield index, row[: len(windows[index].ids)]

    def _windows(self, texts: Sequence[str], kind: Kind) -> list[_Window]:
        """Cut each text into windows of equal length that hold the prefix and the special tokens."""
        prefix = self._prefix(kind)
        encodings = self._tokenizer.encode_batch([prefix + encodable(text) for text in texts])
        windows = []
        for number, encoding in enumerate(encodings):
            ids = encoding.ids
            head, tail = _body(encoding, len(prefix))
            body, frame = ids[head:tail], head + len(ids) - tail
            count = max(1, math.ceil(len(body) / (self.options.max_tokens - frame)))
            size = math.ceil(len(body) / count)
            for start in range(0, max(1, len(body)), max(1, size)):
                part = body[start : start + size]
                place = slice(head, head + len(part))
                windows.append(_Window(number, [*ids[:head], *part, *ids[tail:]], place))
        return windows


def _body(encoding: Encoding, prefix: int) -> tuple[int, int]:
    """Return where the text's own tokens begin and end: after the prefix, before the closing special tokens."""
    tail = len(encoding.ids)
    while tail and encoding.special_tokens_mask[tail - 1]:
        tail -= 1
    inside = (i for i in range(tail) if encoding.offsets[i][1] > prefix)
    return min(next(inside, tail), tail), tail


def _normalised(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = (rows / np.maximum(lengths, TINY)).astype(np.float32)
    return scaled
