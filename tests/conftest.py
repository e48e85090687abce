"""Shared fixtures: a small domain, a deterministic embedder, a store, a generator with queued replies."""

from __future__ import annotations

import hashlib
import signal
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units

ROOT = Path(__file__).resolve().parent.parent
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background; its children would ignore stops too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@lru_cache(maxsize=4096)
def _letter_vector(letter: str) -> np.ndarray:
    values = np.frombuffer(hashlib.sha512(letter.encode()).digest(), np.uint8).astype(np.float32) - 127.5
    return values / np.linalg.norm(values)


class HashEmbedder:
    """Vectors from character pairs, and a token a character: texts that share words are near; always the same."""

    name = "hash-embedder"
    dimension = 64

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Return (n, 64) float32, L2-normalised."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            letters = "".join(text.split()) or " "
            for i in range(len(letters)):
                digest = hashlib.sha256(letters[i : i + 2].encode()).digest()
                vectors[row, digest[0] % self.dimension] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        """Embed as passages are embedded."""
        return self.embed_passages(texts)

    def token_vectors(self, texts: Sequence[str], kind: str) -> list[np.ndarray]:
        """Return (characters, 64) float32 a text: the same character has the same unit vector everywhere."""
        return [np.array([_letter_vector(c) for c in "".join(t.split())], np.float32).reshape(-1, 64) for t in texts]

    def token_spans(self, texts: Sequence[str], kind: str) -> list[list[tuple[int, int]]]:
        """Return where each character that is no white space stands."""
        return [[(i, i + 1) for i, c in enumerate(t) if not c.isspace()] for t in texts]


class QueuedGenerator:
    """Says the queued replies in pieces of three characters, and remembers what it was asked."""

    name = "queued.gguf"
    context = 4096

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.prompts: list[list[dict[str, str]]] = []

    def count_tokens(self, text: str) -> int:
        """One token a character."""
        return len(text)

    def generate(self, messages, max_tokens, temperature, stop: threading.Event) -> Iterator[str]:
        """Yield the next reply."""
        self.prompts.append(list(messages))
        reply = self.replies.pop(0)
        for start in range(0, len(reply), 3):
            if stop.is_set():
                return
            yield reply[start : start + 3]


@pytest.fixture(scope="session")
def units() -> Units:
    return Units({"公斤": "kg", "千克": "kg", "克": "g", "毫升": "mL", "升": "L", "亩": "亩", "天": "天", "倍液": "倍液",
                  "倍": "倍", "米": "m", "厘米": "cm", "%": "%", "℃": "℃", "次": "次"})


@pytest.fixture(scope="session")
def lexicon(units: Units) -> Lexicon:
    kinds = {
        "咖啡": "crop", "小粒种咖啡": "crop", "水稻": "crop", "小麦": "crop", "马铃薯": "crop", "玉米": "crop",
        "叶锈病": "disease", "炭疽病": "disease", "稻瘟病": "disease", "晚疫病": "disease", "天牛": "pest", "蚜虫": "pest",
        "波尔多液": "product", "三唑酮": "product", "2,4-滴": "product", "Bt-781": "product", "吡唑醚菌酯": "product",
        "尿素": "nutrient", "修剪": "practice", "采收": "practice",
    }
    aliases = {"洋芋": ("马铃薯",), "苞谷": ("玉米",), "锈病": ("叶锈病",), "阿拉比卡": ("小粒种咖啡",),
               "土蚕": ("天牛", "蚜虫")}
    return Lexicon(kinds, aliases, units, ["的", "了", "是", "什么", "怎么", "怎么办", "吗", "呢"])


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def fresh_store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "知识 库")
    yield store
    store.close()
