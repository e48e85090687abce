"""Systems side by side, also those of other language models, and one system by kind of question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nongda.evaluation.dataset import KINDS, UNANSWERABLE
from nongda.evaluation.pages import bracketed, number, table
from nongda.evaluation.runner import Record, read_made_by, read_run
from nongda.evaluation.stats import Interval, Sample

# From the plainest to the whole; simple_rag with a language model is free writing.
SIDES = ("simple_rag", "one_sentence", "three_sentences", "no_selector", "no_generator", "full", "written")
_NONE = "–"  # no language model, no times
_SAME = ("corpus", "domain", "version")
_COLUMNS = ("correct", "citation_f1", "wrong_number", "wrong_subject", "refusal_precision", "refusal_recall", "wrongly_refused")
_BY_KIND = ("correct", "citation_f1", "wrong_number")

IntervalOf = Callable[[Sample], Interval]


@dataclass(frozen=True, slots=True)
class Side:
    """A finished run: its system's name, what made it, its records."""

    name: str
    made_by: Mapping[str, Any]
    records: Sequence[Record]

    @property
    def generator(self) -> str:
        """The language model's file without its ending, a dash where none was used."""
        files = [Path(name) for name in self.made_by["models"] if name.endswith(".gguf")]
        return files[0].stem if files and self.made_by["generate"] else _NONE

    @property
    def label(self) -> str:
        """The system with its language model."""
        return self.name if self.generator == _NONE else f"{self.name}, {self.generator}"


def load_beside(folder: Path, full: Mapping[str, Any]) -> tuple[list[Side], list[str]]:
    """Read the runs in the folders beside a run folder that asked the same split, as dev-written beside dev-quoted.

    Returns those over the same documents and domain as `full`, and which others are left out and why.
    """
    found: list[Side] = []
    left_out: list[str] = []
    for other in sorted(folder.parent.glob(f"{folder.name.split('-')[0]}-*")):
        for name in SIDES if other != folder else ():
            path = other / f"{name}.jsonl"
            if not path.exists():
                continue
            made_by = read_made_by(path)
            differing = [key for key in _SAME if made_by.get(key) != full.get(key)]
            if differing:
                left_out.append(f"{other.name}/{name}（不同的项：{'、'.join(differing)}）")
            else:
                found.append(Side(name, made_by, sorted(read_run(path), key=lambda record: str(record["id"]))))
    return found, left_out


def in_order(sides: Sequence[Side]) -> list[Side]:
    """Return the systems that are compared, in their order, each with each language model once.

    A system that writes, run without a language model, has only quoted and is left out.
    """
    first = {(s.name, s.generator): s for s in reversed(sides) if (s.name, s.generator) != ("written", _NONE)}
    return sorted((s for s in first.values() if s.name in SIDES), key=lambda s: (SIDES.index(s.name), s.generator != _NONE, s.generator))


def sample(records: Sequence[Record], metric: str) -> Sample:
    """Return a metric of a run's records, in their order."""
    return Sample.of([(r["metrics"][metric][0], r["metrics"][metric][1]) for r in records])


def side_by_side(sides: Sequence[Side], interval_of: IntervalOf) -> str:
    """Return the tables of all systems: all questions first, then the most important metrics by kind of question."""
    rows = []
    for side in sides:
        cells = [bracketed(interval_of(sample(side.records, metric))) for metric in _COLUMNS]
        seconds = number(sample(side.records, "seconds").value) if side.made_by["generate"] else _NONE
        rows.append([f"`{side.name}`", side.generator, str(len(side.records)), *cells, seconds])
    about = "\n".join(f"- `{name}`: {text}" for name, text in {s.name: s.made_by["system"]["about"] for s in sides}.items())
    parts = ["## Side by side", about, table(["system", "language model", "n", *_COLUMNS, "seconds"], rows)]
    for metric in _BY_KIND:
        kinds = [kind for kind in KINDS if any(r["kind"] == kind for side in sides for r in side.records)]
        rows = [[side.label, *(_cell(side.records, kind, metric, interval_of) for kind in kinds)] for side in sides]
        parts += [f"### {metric} by kind of question", table(["system", *kinds], rows)]
    return "\n\n".join(parts)


def _cell(records: Sequence[Record], kind: str, metric: str, interval_of: IntervalOf) -> str:
    return bracketed(interval_of(sample([r for r in records if r["kind"] == kind], metric)))


def by_kind(records: Sequence[Record], interval_of: IntervalOf) -> str:
    """Return a row per kind of question; `refused` counts all refusals, right ones where nothing can be answered."""
    metrics = ("correct", "citation_f1", "wrong_number", "wrong_subject")
    rows = []
    for kind in (*KINDS, UNANSWERABLE):
        own = [record for record in records if record["kind"] == kind]
        if own:
            refused = Sample.of([(float(record["refused"]), 1.0) for record in own])
            cells = [bracketed(interval_of(found)) for found in (*(sample(own, metric) for metric in metrics), refused)]
            rows.append([kind, str(len(own)), *cells])
    return "## By kind\n\n" + table(["kind", "questions", *metrics, "refused"], rows)


def how_answered(records: Sequence[Record]) -> str:
    """Return how the answers came about, and what was noted beside them; "" for records that do not say."""
    answered = [record for record in records if record.get("answer_kind")]
    if not answered:
        return ""
    rows = []
    for kind, count in Counter(str(record["answer_kind"]) for record in answered).most_common():
        own = [record for record in answered if record["answer_kind"] == kind and record["answerable"]]
        rows.append([kind, str(count), str(len(own)), number(sample(own, "correct").value)])
    notes = Counter(kind for record in answered for kind in {note[0] for note in record["notes"]})
    noted = "、".join(f"{kind} {count}" for kind, count in notes.most_common()) or "none"
    head = ["answers", "questions", "of them answerable", "correct of these"]
    return ("## How questions were answered\n\n" + table(head, rows)
            + f"\n\nQuestions with notes beside the answer, which do not count for its scores: {noted}.")
