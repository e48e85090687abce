"""The GGUF language model, through llama-cpp-python: chat template, streaming, a stop that stops."""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypedDict

from nongda.errors import GenerationError, WeightsError

logger = logging.getLogger(__name__)
_TEMPLATE_TOKENS = 8  # what a chat template adds around one message, with room to spare
_SEED = 7


class Message(TypedDict):
    """One chat message in the form that chat templates take."""

    role: str
    content: str


class Generator(Protocol):
    """What the answer needs of a language model."""

    name: str
    context: int  # tokens

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
        ...

    def generate(self, messages: Sequence[Message], max_tokens: int, temperature: float,
                 stop: threading.Event) -> Iterator[str]:
        """Yield pieces of the reply; their join is the whole text. Ends early once `stop` is set."""
        ...


class LlamaGenerator:
    """A loaded GGUF model. Not safe for two threads: the engine holds the lock."""

    def __init__(self, path: Path, context: int, threads: int, gpu_layers: int = 0) -> None:
        """Load the model; WeightsError when the file cannot be used."""
        import llama_cpp  # loads native code: after the CPU has been checked

        self.name = path.name
        self.context = context
        self._stop = threading.Event()
        try:
            self._llama: Any = llama_cpp.Llama(
                model_path=str(path), n_ctx=context, n_batch=256, n_threads=threads or None,
                n_threads_batch=threads or None, n_gpu_layers=gpu_layers, seed=_SEED, verbose=False,
            )
        except (ValueError, RuntimeError, OSError) as error:
            raise WeightsError(f"模型文件 {path.name} 无法加载（{error}）：请运行 setup 命令重新取得") from error
        # Kept as an attribute: the C side holds only a pointer to it.
        self._abort = llama_cpp.ggml_abort_callback(lambda _: self._stop.is_set())
        llama_cpp.llama_set_abort_callback(self._llama.ctx, self._abort, ctypes.c_void_p(0))

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self._llama.tokenize(text.encode("utf-8"), add_bos=False, special=False))

    def generate(self, messages: Sequence[Message], max_tokens: int, temperature: float,
                 stop: threading.Event) -> Iterator[str]:
        """Yield pieces of the reply. GenerationError when the prompt does not fit or the model fails."""
        needed = sum(self.count_tokens(m["content"]) + _TEMPLATE_TOKENS for m in messages) + max_tokens
        if needed > self.context:
            raise GenerationError(f"提示词有 {needed} 个词元，超过模型的 {self.context}：请缩短问题或清空对话")
        self._stop = stop
        try:
            for part in self._llama.create_chat_completion(
                messages=list(messages), max_tokens=max_tokens, temperature=temperature, top_p=0.9,
                repeat_penalty=1.05, stream=True,
            ):
                if stop.is_set():
                    return
                piece = part["choices"][0]["delta"].get("content")
                if piece:
                    yield piece
        except (RuntimeError, ValueError) as error:
            self._llama.reset()  # a decode cut short leaves the cache half-filled
            if stop.is_set():
                return
            raise GenerationError(f"语言模型 {self.name} 出错（{error}）：请重试，仍不行请重新启动程序") from error

    def close(self) -> None:
        """Free the model's memory."""
        self._llama.close()


class LockedGenerator:
    """One model, many readers: a second question waits its turn, and can be stopped while it waits."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._lock = threading.Lock()
        self.name = generator.name
        self.context = generator.context

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self._generator.count_tokens(text)

    def generate(self, messages: Sequence[Message], max_tokens: int, temperature: float,
                 stop: threading.Event) -> Iterator[str]:
        """Yield pieces of the reply once the model is free."""
        while not self._lock.acquire(timeout=0.1):
            if stop.is_set():
                return
        try:
            yield from self._generator.generate(messages, max_tokens, temperature, stop)
        finally:
            self._lock.release()
