"""The domain's data that answers are made with, loaded once from its folder."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from nongda.answer.asked import Asking
from nongda.answer.chain import Schema
from nongda.answer.decide import Prompts
from nongda.answer.fact_question import FactForms
from nongda.answer.law import PesticideLaw
from nongda.answer.place_and_stage import Fitting
from nongda.answer.rewrite import RewritePrompts
from nongda.answer.select import Selector
from nongda.answer.specialists import Specialists
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.spelling import Spelling
from nongda.language.units import Units


@dataclass(frozen=True, slots=True)
class Domain:
    """Words, ways of asking, learned weights, law, places, specialists, the chain and prompts.

    `units` knows counters (次, 天, 株) too.
    """

    lexicon: Lexicon
    units: Units
    asking: Asking
    selector: Selector
    law: PesticideLaw
    fitting: Fitting
    prompts: Prompts
    writing: str
    rewriting: RewritePrompts
    specialists: Specialists
    chain: Schema
    fact_forms: FactForms
    spelling: Spelling

    def attributes_of(self, text: str) -> frozenset[str]:
        """Return the keys of facts.toml that a question, or a part of one, asks for: by its words, else by its link of the chain."""
        return frozenset(self.fact_forms.attributes(text)) or self.chain.attributes_of(text)

    @classmethod
    def load(cls, folder: Path, lexicon: Lexicon) -> Domain:
        """Read the tables of a domain folder. Raises SettingsError that names the file."""
        return cls(
            lexicon, Units.load(folder / "units.toml", ("units", "counters")), Asking.load(folder),
            Selector.load(folder / "selector.toml"), PesticideLaw.load(folder / "restricted.toml"), Fitting.load(folder),
            Prompts.load(folder / "prompts.toml"), _writing_prompt(folder / "prompts.toml"),
            RewritePrompts.load(folder / "prompts.toml"), Specialists.load(folder / "specialists"), Schema.load(folder / "chain.toml"),
            FactForms.load(folder), Spelling.load(folder, lexicon),
        )


def _writing_prompt(path: Path) -> str:
    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8"))["answer"]).strip()
    except (OSError, ValueError, KeyError) as error:
        raise SettingsError(f"提示词文件 {path} 无法读取（{error}）：请恢复该文件") from error
