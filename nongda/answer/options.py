"""A question with choices (A. … B. …): its stem, its options, and the one that stands in the evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nongda.answer.polarity import content, denies
from nongda.language.lexicon import Lexicon
from nongda.language.text import fold, sentence_spans
from nongda.language.units import Units
from nongda.records import Quantity

_MARK = re.compile(r"[(\[]?\s*([a-h])\s*(?:[.、:)\]](?!\d+\s*[.、:)\]])|\s(?=\S))\s*")
_BOUNDARY = re.compile(r"(?:^|[\s。？?！!；;，,：:、.…（(\[)）])$")
_STANDS = 0.75  # of an option's characters; farmers write 袋里的土面, documents 袋土表面
# A clause with one word answers no question that asks for the other: 最抗 against 最容易得.
_OPPOSITES = (("抗", "易"), ("抗", "感"), ("多", "少"), ("高", "低"), ("早", "晚"), ("早", "迟"), ("轻", "重"), ("大", "小"),
              ("深", "浅"), ("快", "慢"), ("长", "短"))
_STAGE = re.compile(r"苗期|成株|幼[龄树]|投产|分蘖|拔节|孕穗|抽穗|扬花|灌浆|乳熟|花期|初期|前期|中期|盛期|后期|雨季|旱季")
_MOST = "最"
_CLAUSE = re.compile(r"[，,；;。]+")


@dataclass(frozen=True, slots=True)
class Option:
    """One choice: its letter (A, B, …) and its text without it."""

    letter: str
    text: str


def parse_options(question: str) -> tuple[str, list[Option]]:
    """Return the stem and the options, lettered from A without gaps; no options, the whole question, where none are.

    Reads A. A、 A） (A) in any width, on one line or several. A letter inside a word (维生素A、维生素B) opens no list.
    """
    folded = fold(question)
    marks: list[re.Match[str]] = []
    for match in _MARK.finditer(folded):
        before = folded[: match.start()]
        expected = "abcdefgh"[len(marks)] if len(marks) < 8 else ""
        at_boundary = _BOUNDARY.search(before) if not marks else not re.search(r"[a-z]$", before)
        if match[1] == expected and at_boundary:
            marks.append(match)
    if len(marks) < 2:
        return question.strip(), []
    ends = [*(m.start() for m in marks[1:]), len(question)]
    texts = [question[m.end() : end] for m, end in zip(marks, ends, strict=True)]
    texts[-1] = re.split(r"[？?\n]", texts[-1], maxsplit=1)[0]
    options = [Option(m[1].upper(), t.strip().rstrip("。；;，,、 ")) for m, t in zip(marks, texts, strict=True)]
    if not all(option.text for option in options):
        return question.strip(), []
    return question[: marks[0].start()].strip(), options


def rule_option(stem: str, options: Sequence[Option], texts: Sequence[str], lexicon: Lexicon,
                units: Units) -> Option | None:
    """Return the only option that stands in the evidence, else the only one in the clause nearest to the stem.

    All quantities of an option must stand, as quantities; of its other characters three quarters. What stands only in
    a denying clause (不宜用…) is not chosen.
    """
    standing = [option for option in options if _stands(option.text, " ".join(texts), lexicon, units)]
    if len(standing) < 2:
        return next((o for o in standing if _is_said(o, texts, stem, lexicon, units)), None)
    return _nearest(stem, standing, _clauses(texts), lexicon, units)


def _nearest(stem: str, standing: Sequence[Option], clauses: Sequence[str], lexicon: Lexicon,
             units: Units) -> Option | None:
    asked = content(stem, lexicon)
    fitting = [c for c in _joined(clauses, standing, lexicon, units) if _fits(stem, c)]
    if _MOST in stem:
        fitting = [c for c in fitting if _MOST in c] or fitting
    named = frozenset().union(*(content(o.text, lexicon) for o in standing))
    scored: dict[int, set[str]] = {}
    for clause in fitting:
        held = {o.letter for o in standing if _stands(o.text, clause, lexicon, units)}
        if held:
            scored.setdefault(len(asked & (content(clause, lexicon) - named)), set()).update(held)
    most = max(scored, default=0)
    if not most or len(scored[most]) != 1:
        return None
    return next(option for option in standing if option.letter in scored[most])


def _opposite(stem: str, clause: str) -> bool:
    pairs = [*_OPPOSITES, *((b, a) for a, b in _OPPOSITES)]
    return any(a in stem and b not in stem and b in clause and a not in clause for a, b in pairs)


def _joined(clauses: Sequence[str], standing: Sequence[Option], lexicon: Lexicon, units: Units) -> list[str]:
    """Join what follows an option to it up to the next option: 条锈病要求凉爽 goes on with 来得最早."""
    joined: list[str] = []
    for clause in clauses:
        if joined and not any(_stands(o.text, clause, lexicon, units) for o in standing):
            joined[-1] += "，" + clause
        else:
            joined.append(clause)
    return joined


def _is_said(option: Option, texts: Sequence[str], stem: str, lexicon: Lexicon, units: Units) -> bool:
    holding = [clause for clause in _clauses(texts) if _stands(option.text, clause, lexicon, units)]
    return not holding or any(_fits(stem, clause) for clause in holding)


def _fits(stem: str, clause: str) -> bool:
    """Tell whether a clause may answer: as affirming or denying as the stem, of no other stage, not its opposite."""
    asked, said = set(_STAGE.findall(stem)), set(_STAGE.findall(clause))
    other_stage = bool(asked and said) and not asked & said
    return denies(clause) == denies(stem) and not other_stage and not _opposite(stem, clause)


def _clauses(texts: Sequence[str]) -> list[str]:
    sentences = [text[a:b] for text in texts for a, b in sentence_spans(text)]
    return [clause for sentence in sentences for clause in _CLAUSE.split(sentence) if clause.strip()]


def _stands(option: str, text: str, lexicon: Lexicon, units: Units) -> bool:
    wanted, present = units.quantities(option), units.quantities(text)
    if not all(any(_same(quantity, other) for other in present) for quantity in wanted):
        return False
    own = content(_without(option, wanted), lexicon)
    share = len(own & content(text, lexicon)) / len(own) if own else 1.0
    return share >= _STANDS and bool(wanted or own)


def _same(one: Quantity, other: Quantity) -> bool:
    """A table's cell has its unit in the header: a bare number there equals one with a unit."""
    return (one.low, one.high) == (other.low, other.high) and (one.unit == other.unit or not other.unit)


def _without(text: str, quantities: Sequence[Quantity]) -> str:
    for quantity in reversed(quantities):
        text = text[: quantity.start] + " " + text[quantity.end :]
    return text
