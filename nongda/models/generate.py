"""The GGUF language model, through llama-cpp-python: chat template, streaming, closed choices, a stop that stops."""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, cast

import numpy as np

from nongda.errors import GenerationError, WeightsError

if TYPE_CHECKING:
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

logger = logging.getLogger(__name__)
_TEMPLATE_TOKENS = 8  # what a chat template adds around one message, with room to spare
_SEED = 7
# For a model file that brings no template of its own.
_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_MARKS = (("<|", "< |"), ("|>", "| >"), ("<s>", "< s>"), ("</s>", "< /s>"))


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


class Chooser(Protocol):
    """What a closed decision needs of a language model."""

    name: str

    def choose(self, messages: Sequence[Message], labels: Sequence[str], stop: threading.Event) -> dict[str, float]:
        """Return each label's probability as the reply (they sum to 1); empty once `stop` is set."""
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
        self._template = self._read_template()
        self._llama.chat_handler = self._template.to_chat_handler()  # writing and choosing see the same prompt
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
                messages=_unmarked(messages), max_tokens=max_tokens, temperature=temperature, top_p=0.9,
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
            raise self._failure(error) from error

    def choose(self, messages: Sequence[Message], labels: Sequence[str], stop: threading.Event) -> dict[str, float]:
        """Return each label's probability as the reply's first token, over the labels alone; empty once stopped.

        A label is one token (A, 是, 无), else GenerationError. What a grammar over the labels would write at
        temperature 0 is the likeliest of them, so no grammar is needed; the probability says how sure it is. What two
        prompts begin with in common is read once: a second question over the same evidence costs its own words.
        """
        tokens = self._label_tokens(labels)
        if stop.is_set():
            return {}
        self._stop = stop
        try:
            logits = self._next_logits(self._prompt_tokens(messages))[tokens]
        except (RuntimeError, ValueError) as error:
            self._llama.reset()
            if stop.is_set():
                return {}
            raise self._failure(error) from error
        weights = np.exp(logits - logits.max())
        return dict(zip(labels, (weights / weights.sum()).tolist(), strict=True))

    def constrained(self, messages: Sequence[Message], grammar: str, max_tokens: int, stop: threading.Event) -> str:
        """Return a reply that a GBNF grammar allows, at temperature 0; "" once stopped, cut off at `max_tokens`."""
        from llama_cpp.llama_grammar import LlamaGrammar

        self._stop = stop
        try:
            reply = self._llama.create_chat_completion(
                messages=_unmarked(messages), max_tokens=max_tokens, temperature=0.0,
                grammar=LlamaGrammar.from_string(grammar, verbose=False),
            )
        except (RuntimeError, ValueError) as error:
            self._llama.reset()
            if stop.is_set():
                return ""
            raise self._failure(error) from error
        return "" if stop.is_set() else str(reply["choices"][0]["message"]["content"] or "")

    def _label_tokens(self, labels: Sequence[str]) -> list[int]:
        """Return the label's token ids; GenerationError for a label of several tokens, or two of one token."""
        found = [self._llama.tokenize(label.encode("utf-8"), add_bos=False, special=False) for label in labels]
        long = [label for label, ids in zip(labels, found, strict=True) if len(ids) != 1]
        if long or len({ids[0] for ids in found}) < max(1, len(labels)):
            raise GenerationError(f"模型 {self.name} 不能从“{'、'.join(labels)}”里选：每个选项须是不同的单个词元")
        return [int(ids[0]) for ids in found]

    def _prompt_tokens(self, messages: Sequence[Message]) -> list[int]:
        prompt = self._template(messages=cast(Any, _unmarked(messages))).prompt
        tokens: list[int] = self._llama.tokenize(prompt.encode("utf-8"), add_bos=False, special=True)
        if len(tokens) >= self.context:
            raise GenerationError(f"提示词有 {len(tokens)} 个词元，超过模型的 {self.context}：请缩短问题或清空对话")
        return tokens

    def _next_logits(self, tokens: list[int]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return the logits (vocabulary,) after the tokens; the model object's own record of its cache stays true."""
        import llama_cpp

        known = self._llama.input_ids[: min(self._llama.n_tokens, len(tokens) - 1)].tolist()
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(known, tokens, strict=False)))
        self._llama.n_tokens = common  # `eval` cuts the cache here
        self._llama.eval(tokens[common:])
        pointer = llama_cpp.llama_get_logits_ith(self._llama.ctx, -1)
        return np.ctypeslib.as_array(pointer, shape=(self._llama.n_vocab(),)).astype(np.float32)

    def _read_template(self) -> Jinja2ChatFormatter:
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        end = self._llama.token_eos()
        return Jinja2ChatFormatter(
            template=self._llama.metadata.get("tokenizer.chat_template") or _CHATML,
            eos_token=self._llama.detokenize([end], special=True).decode("utf-8", "replace"), bos_token="",
            stop_token_ids=[end],
        )

    def _failure(self, error: Exception) -> GenerationError:
        return GenerationError(f"语言模型 {self.name} 出错（{error}）：请重试，仍不行请重新启动程序")

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

    def choose(self, messages: Sequence[Message], labels: Sequence[str], stop: threading.Event) -> dict[str, float]:
        """Choose once the model is free; empty when stopped first, or when the model cannot choose."""
        choose = getattr(self._generator, "choose", None)
        if choose is None:
            return {}
        while not self._lock.acquire(timeout=0.1):
            if stop.is_set():
                return {}
        try:
            probabilities: dict[str, float] = choose(messages, labels, stop)
            return probabilities
        finally:
            self._lock.release()

    def constrained(self, messages: Sequence[Message], grammar: str, max_tokens: int, stop: threading.Event) -> str:
        """Reply under a grammar once the model is free; "" when stopped first, or when the model cannot."""
        write = getattr(self._generator, "constrained", None)
        if write is None:
            return ""
        while not self._lock.acquire(timeout=0.1):
            if stop.is_set():
                return ""
        try:
            return str(write(messages, grammar, max_tokens, stop))
        finally:
            self._lock.release()


def _unmarked(messages: Sequence[Message]) -> list[Message]:
    """Break the template's own marks inside a message: a document must not close its turn and open the system's."""
    return [{"role": m["role"], "content": _without_marks(m["content"])} for m in messages]


def _without_marks(text: str) -> str:
    for mark, broken in _MARKS:
        text = text.replace(mark, broken)
    return text
