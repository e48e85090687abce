"""Two options of retrieval that ask the language model: a question refined, and a passage that might answer it (HyDE).

What the model writes is only searched with; the reader never sees it. Hypothetical document embeddings: Gao et al., 2023.
"""

from __future__ import annotations

import threading
import tomllib
from dataclasses import dataclass
from pathlib import Path

from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.models.generate import LockedGenerator, Message
from nongda.records import Query
from nongda.settings import AnswerSettings

_LONGEST_QUESTION = 120  # characters of a refined question


@dataclass(frozen=True, slots=True)
class RewritePrompts:
    """What the model is told for each option."""

    refine: str
    hyde: str

    @classmethod
    def load(cls, path: Path) -> RewritePrompts:
        """Read the table [rewrite] of prompts.toml; SettingsError names the file."""
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))["rewrite"]
            return cls(str(table["refine"]).strip(), str(table["hyde"]).strip())
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SettingsError(f"提示词文件 {path} 无法读取（{error}）：请恢复该文件") from error


def refined(query: Query, generator: LockedGenerator, prompts: RewritePrompts, lexicon: Lexicon, settings: AnswerSettings,
            stop: threading.Event) -> str:
    """Return the question in the model's words; "" where it names what the question does not: a term or a number."""
    reply = _reply(prompts.refine, query.standalone, generator, _LONGEST_QUESTION, settings.refine_temperature, stop)
    line = next((line.strip() for line in reply.splitlines() if line.strip()), "")
    known = {entity.term for entity in query.entities}
    new = any(entity.term not in known for entity in lexicon.entities(line))
    numbers = {(q.low, q.high) for q in lexicon.units.quantities(line)}
    given = {(q.low, q.high) for q in lexicon.units.quantities(query.standalone)}
    return line if line and len(line) <= _LONGEST_QUESTION and not new and numbers <= given else ""


def hypothetical(query: Query, generator: LockedGenerator, prompts: RewritePrompts, settings: AnswerSettings,
                 stop: threading.Event) -> str:
    """Return a passage that might answer the question, to search its like."""
    return _reply(prompts.hyde, query.standalone, generator, settings.hyde_tokens, settings.temperature, stop)


def _reply(prompt: str, question: str, generator: LockedGenerator, max_tokens: int, temperature: float,
           stop: threading.Event) -> str:
    messages: list[Message] = [{"role": "system", "content": prompt}, {"role": "user", "content": question}]
    return "".join(generator.generate(messages, max_tokens, temperature, stop)).strip()
