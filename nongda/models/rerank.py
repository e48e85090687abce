"""Orders passages by how well they answer a question: token by token, or with a cross-encoder."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from nongda.errors import WeightsError
from nongda.models.onnx import (
    MODEL_FILE,
    TOKENIZER_FILE,
    encodable,
    open_session,
    open_tokenizer,
    run_batches,
)

Scores = npt.NDArray[np.float32]
CACHED_PASSAGES = 256  # about 50 MB for chunks of 300 characters
WINDOW_OVERLAP = 0.25  # of a window, so that a sentence cut by one window is whole in the next


class TokenEmbedder(Protocol):
    """What late interaction needs of an embedding model."""

    name: str

    def token_vectors(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Scores]:
        """Return one (tokens, dimension) float32 array a text, each row L2-normalised."""
        ...

    def token_spans(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[list[tuple[int, int]]]:
        """Return the character offsets of the same tokens."""
        ...


class Reranker(Protocol):
    """Scores passages against a question."""

    name: str

    def score(self, question: str, passages: Sequence[str]) -> Scores:
        """Return one score per passage, (n,) float32, higher is better."""
        ...


@dataclass(frozen=True, slots=True)
class PassageTokens:
    """A passage's token vectors (tokens, dimension) float16, each L2-normalised, and where each stands in the text."""

    vectors: npt.NDArray[np.float16]
    spans: tuple[tuple[int, int], ...]


class TokenCache:
    """Token vectors of questions and passages; passages are kept, since ranking and selection both need them."""

    def __init__(self, embedder: TokenEmbedder, size: int = CACHED_PASSAGES) -> None:
        self.name = embedder.name
        self.embedder = embedder
        self._size = size
        self._cache: OrderedDict[str, PassageTokens] = OrderedDict()

    def questions(self, texts: Sequence[str]) -> list[Scores]:
        """Return one (tokens, dimension) float32 array a question."""
        return self.embedder.token_vectors(texts, "query")

    def question(self, text: str) -> PassageTokens:
        """Return a question's tokens with their places in it."""
        vectors, spans = self.questions([text])[0], self.embedder.token_spans([text], "query")[0]
        return PassageTokens(vectors.astype(np.float16), tuple(spans))

    def passages(self, texts: Sequence[str]) -> list[PassageTokens]:
        """Return the tokens of each passage, from the cache where they are known."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._cache]
        vectors = self.embedder.token_vectors(missing, "passage")
        spans = self.embedder.token_spans(missing, "passage")
        made = {text: PassageTokens(rows.astype(np.float16), tuple(places))
                for text, rows, places in zip(missing, vectors, spans, strict=True)}
        found = [made[text] if text in made else self._cache[text] for text in texts]
        for text, tokens in zip(texts, found, strict=True):
            self._cache[text] = tokens
            self._cache.move_to_end(text)
        while len(self._cache) > self._size:
            self._cache.popitem(last=False)
        return found


class LateInteraction:
    """MaxSim over the embedder's token vectors (Khattab and Zaharia 2020, ColBERT), without any training.

    `passage_share` is the weight of the other direction: how well the passage's tokens find one in the question.
    """

    def __init__(self, tokens: TokenCache, passage_share: float = 0.0) -> None:
        self.name = f"late-interaction ({tokens.name})"
        self._tokens = tokens
        self._passage_share = passage_share

    def score(self, question: str, passages: Sequence[str]) -> Scores:
        """Return the mean over the question's tokens of the best cosine in each passage, (n,) float32.

        With a `passage_share` the same mean over the passage's tokens is mixed in. A question or a passage
        without tokens scores 0.
        """
        asked = self._tokens.questions([question])[0]
        scores = np.zeros(len(passages), np.float32)
        if not len(asked):
            return scores
        for number, tokens in enumerate(self._tokens.passages(passages)):
            if len(tokens.vectors):
                cosines = asked @ tokens.vectors.T.astype(np.float32)
                asked_found, passage_found = cosines.max(axis=1).mean(), cosines.max(axis=0).mean()
                scores[number] = asked_found + self._passage_share * (passage_found - asked_found)
        return scores


class CrossEncoder:
    """An ONNX sequence classifier over (question, passage) pairs, with one, two or three outputs."""

    def __init__(
        self, name: str, session: onnxruntime.InferenceSession, tokenizer: Tokenizer, max_tokens: int = 512
    ) -> None:
        outputs = session.get_outputs()[0].shape[-1]
        if isinstance(outputs, int) and outputs not in (1, 2, 3):
            raise WeightsError(f"重排模型 {name} 有 {outputs} 个输出，只支持 1 到 3 个：请换一个重排模型")
        self.name = name
        self._session = session
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._room = max_tokens - tokenizer.num_special_tokens_to_add(is_pair=True)

    @classmethod
    def load(cls, folder: Path, threads: int = 0, max_tokens: int = 512) -> CrossEncoder:
        """Load model.onnx and tokenizer.json of a folder. Raises WeightsError when one is unusable."""
        tokenizer = open_tokenizer(folder / TOKENIZER_FILE)
        return cls(folder.name, open_session(folder / MODEL_FILE, threads), tokenizer, max_tokens)

    def score(self, question: str, passages: Sequence[str]) -> Scores:
        """Return the relevance of each passage, (n,) float32; of a long passage the best window counts."""
        pairs = [(n, *pair) for n, passage in enumerate(passages) for pair in self._pairs(question, passage)]
        owners, ids, types = [p[0] for p in pairs], [p[1] for p in pairs], [p[2] for p in pairs]
        scores = np.full(len(passages), -np.inf, np.float32)
        for index, logits in run_batches(self._session, ids, types):
            owner = owners[index]
            scores[owner] = max(scores[owner], relevance(logits))
        return scores

    def _pairs(self, question: str, passage: str) -> list[tuple[list[int], list[int]]]:
        """Return (ids, segment ids) for as many windows as the passage needs beside the question.

        Windows are cut as text: an Encoding that was cut drags all its other pieces along, and theirs.
        """
        body = self._offsets(passage)
        # A short passage leaves more room for the question; half the window is always the question's to use.
        asked = self._shortened(question, max(self._room // 2, self._room - len(body)))
        size = self._room - len(self._offsets(asked))
        step = size - int(size * WINDOW_OVERLAP)
        starts = range(0, max(1, len(body) - size + step), step)
        windows = [body[start : start + size] for start in starts]
        texts = [passage[window[0][0] : window[-1][1]] if window else "" for window in windows]
        return [self._fitted(self._tokenizer.encode(encodable(asked), encodable(text))) for text in texts]

    def _fitted(self, pair: Encoding) -> tuple[list[int], list[int]]:
        """Drop passage tokens over the limit: a window by itself may make one more than in its text."""
        end = max((i + 1 for i, side in enumerate(pair.sequence_ids) if side == 1), default=0)
        start = end - max(0, len(pair.ids) - self._max_tokens)
        return pair.ids[:start] + pair.ids[end:], pair.type_ids[:start] + pair.type_ids[end:]

    def _shortened(self, question: str, budget: int) -> str:
        """Keep the start and the end of a question that is too long: the request stands in one of them."""
        offsets = self._offsets(question)
        if len(offsets) <= budget:
            return question
        end = offsets[len(offsets) - budget // 2 :]
        return question[: offsets[budget - budget // 2 - 1][1]] + (question[end[0][0] :] if end else "")

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        return list(self._encode(text).offsets)

    def _encode(self, text: str) -> Encoding:
        return self._tokenizer.encode(encodable(text), add_special_tokens=False)


def relevance(logits: npt.NDArray[np.float32]) -> float:
    """Turn a classifier's outputs into one log-odds: the last class (relevant, entailed) against the others.

    One output is that number already.
    """
    row = np.atleast_1d(logits).astype(np.float64)
    if len(row) == 1:
        return float(row[0])
    return float(row[-1] - np.logaddexp.reduce(row[:-1]))
