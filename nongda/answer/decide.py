"""Small closed decisions over the chosen evidence: a verdict, a letter, scores of sentences. Nothing is written freely.

Rules over the document's own words come first (polarity.py, options.py). The model's part is one token among given
labels, asked in two orders, because small models favour a place in the list. A model decides only from the cuts that
were measured for it; one without cuts decides nothing. Unsure means no verdict: the quote alone is shown.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nongda.answer.options import Option, rule_option
from nongda.answer.polarity import Reply, asks_verdict, rule_verdict
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units
from nongda.models.generate import Chooser, Message

LETTERS = "ABCDEFGHJKLM"
NOTHING = "无"
_UNSURE = 0.5


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a yes/no question; `probability` is that of yes, 0 to 1; `by` says what decided."""

    reply: Reply | Literal["unclear"]
    probability: float
    by: Literal["rule", "model", "none"]


@dataclass(frozen=True, slots=True)
class Cuts:
    """From where on a model's probability is trusted; above 1 it never is."""

    yes: float = 2.0
    no: float = 2.0
    option: float = 2.0


@dataclass(frozen=True, slots=True)
class Prompts:
    """What the model is told for each decision, and the cuts by model file."""

    system: str
    verdict: str
    option: str
    rank: str
    cuts: Mapping[str, Cuts]

    @classmethod
    def load(cls, path: Path) -> Prompts:
        """Read the table [decide] of prompts.toml; SettingsError names the file."""
        try:
            table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["decide"]
            cuts = {name: Cuts(**{k: float(v) for k, v in cut.items()}) for name, cut in table["cuts"].items()}
            texts = {key: str(table[key]).strip() for key in ("system", "verdict", "option", "rank")}
            return cls(**texts, cuts=cuts)
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise SettingsError(f"提示词文件 {path} 无法读取（{error}）：请恢复该文件") from error


@dataclass(frozen=True, slots=True)
class Judge:
    """A model that decides closed questions over evidence; a decision stopped midway is undecided."""

    chooser: Chooser
    prompts: Prompts
    stop: threading.Event

    @property
    def cuts(self) -> Cuts:
        """Return the cuts measured for this model; for another, cuts that it never reaches."""
        return self.prompts.cuts.get(self.chooser.name, Cuts())

    def yes(self, question: str, texts: Sequence[str]) -> float:
        """Return how likely the evidence says yes, 0 to 1: the mean of both orders; 0.5 once stopped."""
        replies = ("可以，是的", "不可以，不是")
        total = 0.0
        for yes, (first, second) in (("A", replies), ("B", replies[::-1])):
            tail = f"{self.prompts.verdict}\nA. {first}\nB. {second}\n只回复字母。"
            chances = self.chooser.choose(self._messages(texts, question, tail), ("A", "B"), self.stop)
            if not chances:
                return _UNSURE
            total += chances[yes]
        return total / 2

    def options(self, stem: str, options: Sequence[Option], texts: Sequence[str]) -> list[float]:
        """Return each option's probability over the evidence, the mean of both orders; empty once stopped."""
        total = [0.0] * len(options)
        letters = LETTERS[: len(options)]
        forwards = list(range(len(options)))
        for order in (forwards, forwards[::-1]):
            lines = "\n".join(f"{a}. {_line(options[place].text)}" for a, place in zip(letters, order, strict=True))
            chances = self.chooser.choose(
                self._messages(texts, stem, f"{lines}\n{self.prompts.option}"), letters, self.stop)
            if not chances:
                return []
            for letter, place in zip(letters, order, strict=True):
                total[place] += chances[letter] / 2
        return total

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how likely each of at most 12 texts answers the question, and last that none does (the sum is 1).

        One reading of the list: a second order would have to read all of it again. Empty once stopped or for no text.
        """
        texts = texts[: len(LETTERS)]
        if not texts:
            return []
        labels = [*LETTERS[: len(texts)], NOTHING]
        listed = [f"{letter}. {_line(text)}" for letter, text in zip(labels, texts, strict=False)]
        chances = self.chooser.choose(self._chat(listed, question, self.prompts.rank), labels, self.stop)
        return [chances[label] for label in labels] if chances else []

    def _messages(self, texts: Sequence[str], question: str, tail: str) -> list[Message]:
        return self._chat([f"- {_line(text)}" for text in texts], question, tail)

    def _chat(self, listed: Sequence[str], question: str, tail: str) -> list[Message]:
        """Evidence first and what differs last: the second order and the next question read only their own words."""
        content = "资料：\n" + "\n".join(listed) + f"\n\n问题：{_line(question)}\n\n{tail}"
        return [{"role": "system", "content": self.prompts.system}, {"role": "user", "content": content}]


def verdict(question: str, texts: Sequence[str], lexicon: Lexicon, units: Units, judge: Judge | None = None) -> Verdict:
    """Return the verdict on a yes/no question over its evidence (each text with its heading).

    The rule's reply stands; without one the model's, beyond its cuts; else it is unclear. Not a yes/no question:
    unclear.
    """
    reply = rule_verdict(question, "\n".join(texts), lexicon, units)
    if reply:
        return Verdict(reply, 1.0 if reply == "yes" else 0.0, "rule")
    if judge is None or not texts or judge.cuts == Cuts() or not asks_verdict(question):
        return Verdict("unclear", _UNSURE, "none")
    yes = judge.yes(question, texts)
    if yes >= judge.cuts.yes:
        return Verdict("yes", yes, "model")
    return Verdict("no", yes, "model") if 1 - yes >= judge.cuts.no else Verdict("unclear", yes, "none")


def chosen_option(stem: str, options: Sequence[Option], texts: Sequence[str], lexicon: Lexicon, units: Units,
                  judge: Judge | None = None) -> Option | None:
    """Return the option that the evidence holds; where the rule is unsure the model's, beyond its cut; else None."""
    by_rule = rule_option(stem, options, texts, lexicon, units)
    if by_rule or judge is None or not options or not texts or judge.cuts.option > 1:
        return by_rule
    chances = judge.options(stem, options, texts)
    best = max(range(len(chances)), key=lambda place: chances[place], default=0)
    return options[best] if chances and chances[best] >= judge.cuts.option else None


def _line(text: str) -> str:
    return " ".join(text.split())
