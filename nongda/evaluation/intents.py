"""Are questions understood? Their intents and hops, labelled by hand, against what `understand` says.

assets/gold/intents.tsv: id, intent, hops, parted by tabs; lines that begin with # say what was labelled by.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from nongda.answer.asked import Asking
from nongda.answer.understand import understand
from nongda.engine import ROOT, Engine
from nongda.errors import UsageError
from nongda.evaluation.dataset import GoldQuestion
from nongda.evaluation.pages import bracketed, escaped, number, table
from nongda.evaluation.runner import Record, read_run
from nongda.evaluation.sides import IntervalOf
from nongda.evaluation.stats import Sample
from nongda.language.spelling import Spelling
from nongda.records import Intent, Query

FILE = "intents.tsv"
DOMAIN = ROOT / "assets" / "domain"
INTENTS: tuple[str, ...] = get_args(Intent)
HOPS = ("single", "multi")
_HEAD = ["id", "intent", "hops"]
LISTED = "\n\n### Taken wrongly"


@dataclass(frozen=True, slots=True)
class Label:
    """What a question asks for, and how many things have to be looked up."""

    intent: str
    hops: int


@dataclass(frozen=True, slots=True)
class Understood:
    """The labels, and the records of a finished measurement; either may be empty."""

    labels: Mapping[str, Label] = field(default_factory=dict)
    records: Sequence[Record] = ()

    @classmethod
    def load(cls, labels: Path, records: Path) -> Understood:
        """Read what there is of both. Raises UsageError for a broken file."""
        return cls(load_labels(labels) if labels.exists() else {}, read_run(records) if records.exists() else ())


def load_labels(path: Path) -> dict[str, Label]:
    """Read the labels by question id. Raises UsageError that names the file and line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"问法标注文件 {path} 无法读取（{error}）：请恢复该文件") from error
    labels: dict[str, Label] = {}
    for place, line in enumerate(lines, start=1):
        cells = line.split("\t")
        if not line.strip() or line.startswith("#") or cells == _HEAD:
            continue
        if len(cells) != 3 or cells[0] in labels or cells[1] not in INTENTS or not cells[2].isdecimal() or cells[2] == "0":
            raise UsageError(f"问法标注文件 {path} 第 {place} 行应是一个没写过的题号、问法（{'、'.join(INTENTS)}）和步数，"
                             f"用制表符隔开，现在是“{line}”：请改正")
        labels[cells[0]] = Label(cells[1], int(cells[2]))
    return labels


def reading(engine: Engine) -> Callable[[GoldQuestion], Query]:
    """Return what understands gold questions as the engine does; no model is loaded."""
    asking = Asking.load(DOMAIN)
    spelling = Spelling.load(DOMAIN, engine.lexicon) if engine.settings.has("spelling") else None
    return lambda question: understand(question.question, question.history, engine.lexicon, engine.settings.answer, asking, spelling)


def measure(questions: Sequence[GoldQuestion], labels: Mapping[str, Label], engine: Engine) -> Iterator[Record]:
    """Yield a record per labelled question. Raises UsageError when there is none."""
    labelled = [question for question in questions if question.id in labels]
    if not labelled:
        raise UsageError(f"{FILE} 里没有这些题目的标注：请补充")
    understood = reading(engine)
    for question in labelled:
        query, label = understood(question), labels[question.id]
        yield {
            "id": question.id, "split": question.split, "kind": question.kind, "question": question.question,
            "intent": label.intent, "hops": label.hops, "found_intent": query.intent, "found_hops": query.hops,
            "parts": list(query.parts),
        }


def right_intent(record: Record) -> bool:
    """Tell whether the intent is the labelled one."""
    return bool(record["intent"] == record["found_intent"])


def right_hops(record: Record) -> bool:
    """Tell whether a question is rightly of one hop or of several."""
    return hop_class(record["hops"]) == hop_class(record["found_hops"])


def hop_class(hops: int) -> str:
    """Return "single" or "multi"."""
    return HOPS[hops > 1]


def section(records: Sequence[Record], interval_of: IntervalOf) -> str:
    """Return the report's section, "" without records: accuracies, confusion tables, every question taken wrongly."""
    if not records:
        return ""
    intents = _accuracy(records, right_intent, interval_of)
    hops = _accuracy(records, right_hops, interval_of)
    exact = sum(r["hops"] == r["found_hops"] for r in records)
    intent_table = _confusion([(r["intent"], r["found_intent"]) for r in records], INTENTS)
    hop_table = _confusion([(hop_class(r["hops"]), hop_class(r["found_hops"])) for r in records], HOPS)
    wrong = [r for r in records if not (right_intent(r) and right_hops(r))]
    return (
        f"## Questions understood\n\n{len(records)} questions, labelled by hand. Intent: {intents} right."
        f" One hop or several: {hops} right (the very number: {exact} of {len(records)}).\n\n"
        f"### Intent: labelled (rows) and found (columns)\n\n{intent_table}\n\n"
        f"### Hops: labelled (rows) and found (columns)\n\n{hop_table}{LISTED}: {len(wrong)}\n\n"
        + "\n".join(_line(r) for r in wrong)
    ).rstrip()


def write_records(path: Path, records: Sequence[Record], interval_of: IntervalOf) -> str:
    """Write the records as lines and their section beside them. Returns what to print: the section but for its list."""
    text = section(records, interval_of)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text(lines, encoding="utf-8", newline="\n")
    page = path.with_suffix(".md")
    page.write_text(text + "\n", encoding="utf-8", newline="\n")
    return f"{text.split(LISTED)[0]}\n\n结果已写入 {path} 和 {page}"


def _accuracy(records: Sequence[Record], right: Callable[[Record], bool], interval_of: IntervalOf) -> str:
    return bracketed(interval_of(Sample.of([(float(right(r)), 1.0) for r in records])))


def _confusion(pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> str:
    """Return a table of counts with each row's recall, and each column's precision below."""
    counts = Counter(pairs)
    rows = [[name, *(str(counts[name, other]) for other in names), _share(counts[name, name], sum(counts[name, o] for o in names))]
            for name in names]
    precision = [_share(counts[name, name], sum(counts[o, name] for o in names)) for name in names]
    return table(["", *names, "recall"], [*rows, ["precision", *precision, ""]])


def _share(part: int, whole: int) -> str:
    return number(part / whole if whole else float("nan"))


def _line(record: Record) -> str:
    intent = record["intent"] if right_intent(record) else f"{record['intent']} taken for {record['found_intent']}"
    hops = f"{record['hops']}" if right_hops(record) else f"{record['hops']} taken for {record['found_hops']}"
    question = escaped(" ".join(str(record["question"]).split()))
    return f"- `{record['id']}` {question} ({intent}; hops {hops})"
