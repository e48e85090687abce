"""The page on chunking: ways of cutting documents compared on the gold questions, and passages marked as off topic."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from nongda.documents.parse import parse_file
from nongda.engine import ROOT, Engine
from nongda.errors import UsageError
from nongda.evaluation import beir, commands
from nongda.evaluation.metrics import evidence_recall
from nongda.evaluation.pages import bracketed, p_value, table
from nongda.evaluation.report import load_runs
from nongda.evaluation.runner import Record
from nongda.evaluation.sides import sample
from nongda.evaluation.stats import Sample, holm, interval, permutation_p
from nongda.evaluation.variants import Parts, System, Variant, load_variants, share
from nongda.index.relevance import Relevance

NAME = "chunking.md"
WAYS = ("fixed_512", "sliding", "semantic", "adaptive")
BASE = "semantic"
SPLITS = ("dev", "test")
LABELS = "off_topic.jsonl"
METRICS = ("recall@5", "mrr@10", "citation_f1", "correct")
READ = 1200  # characters of passages, about five semantic ones
WITHIN = f"recall in {READ:,} characters"


@dataclass(frozen=True, slots=True)
class Way:
    """A way of cutting: its system, the length of each passage in characters, its records of each split."""

    variant: Variant
    lengths: Mapping[str, int]
    records: Mapping[str, Sequence[Record]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A passage labelled by hand."""

    split: str
    off: bool
    kind: str
    title: str
    heading: tuple[str, ...]
    text: str


def measure_chunking(engine: Engine, plan: commands.Plan, folder: Path, sets: Sequence[Path], seed: int) -> None:
    """Write the page from finished runs without a language model. Raises UsageError where a run is missing."""
    variants = [v for name, v in load_variants(commands.GOLD / "ablations.toml").items() if name in WAYS]
    runs = {split: load_runs(commands.run_folder(plan.out, split, generate=False), WAYS)[0] for split in SPLITS}
    runs = {split: found for split, found in runs.items() if found}
    for split, found in runs.items():
        if missing := [name for name in WAYS if name not in found]:
            raise UsageError(f"{split} 题还没有 {'、'.join(missing)} 的结果：请先运行 evaluate --no-generate --split {split}"
                             f" --variants {','.join(missing)}")
    if not runs:
        raise UsageError(f"{plan.out} 里没有结果：请先运行 evaluate --no-generate --variants {','.join(WAYS)}")
    parts = share(engine, generate=False)
    ways = [Way(v, _lengths(v, parts, plan.out), {split: found[v.name] for split, found in runs.items()}) for v in variants]
    relevance = Relevance.load(ROOT / "assets" / "domain", engine.lexicon)
    text = [*page(sorted(ways, key=lambda way: WAYS.index(way.variant.name)), seed),
            off_topic_part(relevance, load_labelled(commands.GOLD / LABELS), commands.CORPUS, sets)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_text("\n\n".join(text) + "\n", encoding="utf-8", newline="\n")
    click.echo(f"说明已写入 {folder / NAME}")


def _lengths(variant: Variant, parts: Parts, out: Path) -> dict[str, int]:
    """Return the length of each passage of a system's knowledge base, made now where it is not there."""
    system = System(variant, parts, commands.CORPUS, out)
    try:
        for _ in system.prepare():
            pass
        return {chunk.id: len(chunk.text) for document in system.engine.documents() for chunk in system.engine.chunks_of(document.id)}
    finally:
        system.close()


def page(ways: Sequence[Way], seed: int) -> list[str]:
    """Return the title, the sizes and a table for each split."""
    rows = [[f"`{way.variant.name}`", way.variant.about, str(len(way.lengths)),
             *(f"{np.quantile(list(way.lengths.values()), q):.0f}" for q in (0.05, 0.5, 0.95)), f"{sum(way.lengths.values()):,}"]
            for way in ways]
    head = ["way", "what it does", "passages", "5 %", "median", "95 %", "characters in all"]
    splits = [split for split in SPLITS if split in ways[0].records]
    return [_title(), "## Passages\n\nLengths in characters.\n\n" + table(head, rows), *(_compared(ways, s, seed) for s in splits)]


def _title() -> str:
    return (
        "# Ways of cutting documents\n\nThe same documents, questions and pipeline, only the passages differ; no language"
        " model. A quote that a cut has parted counts as proved by the passage with its longest piece. Longer passages say"
        f" more each: “{WITHIN}” counts what proves the answer in as many of the first passages as fit into"
        f" {READ:,} characters. Brackets hold 95 % intervals (item bootstrap); p values are of paired permutation tests"
        f" against `{BASE}`, adjusted for the number of ways (Holm); * is below 0.05. The weights that choose sentences were"
        f" learned over semantic passages. Made by `python app.py evaluate --no-generate --variants {','.join(WAYS)}` with"
        " `--split dev` and `--split test`, then `python app.py evaluate --chunking FOLDER --beir SET`."
    )


def _compared(ways: Sequence[Way], split: str, seed: int) -> str:
    samples = {way.variant.name: _samples(way, split) for way in ways}
    others = [name for name in samples if name != BASE]
    rows = []
    for metric in (*METRICS, WITHIN):
        raw = [permutation_p(samples[name][metric], samples[BASE][metric], np.random.default_rng(seed)) for name in others]
        adjusted = dict(zip(others, holm(raw), strict=True))
        cells = [bracketed(interval(found[metric], np.random.default_rng(seed)))
                 + (f", p {p_value(adjusted[name])}" if name in adjusted else "") for name, found in samples.items()]
        rows.append([metric, *cells])
    count = len(ways[0].records[split])
    return f"## The {count} {split} questions\n\n" + table(["metric", *(f"`{name}`" for name in samples)], rows)


def _samples(way: Way, split: str) -> dict[str, Sample]:
    records = way.records[split]
    found = {metric: sample(records, metric) for metric in METRICS}
    within = [(evidence_recall(_that_fit(r["ranking"], way.lengths), r["evidence"], len(r["ranking"])), 1.0) if r["answerable"]
              else (0.0, 0.0) for r in records]
    return {**found, WITHIN: Sample.of(within)}


def _that_fit(ranking: Sequence[str], lengths: Mapping[str, int]) -> list[str]:
    """Return the first passages that hold at most `READ` characters together."""
    ends = np.cumsum([lengths.get(chunk_id, READ + 1) for chunk_id in ranking])
    return [chunk_id for chunk_id, end in zip(ranking, ends, strict=True) if end <= READ]


def load_labelled(path: Path) -> list[Labelled]:
    """Read the passages labelled by hand. Raises UsageError that names the file."""
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return [Labelled(**{**row, "heading": tuple(row["heading"])}) for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"标注文件 {path} 无法读取（{error}）：请恢复该文件") from error


def off_topic_part(relevance: Relevance, labelled: Sequence[Labelled], corpus: Path, sets: Sequence[Path]) -> str:
    """Return what is marked as off topic: labelled passages, blocks of the documents, passages of public sets."""
    marked = {id(one): relevance.is_off_topic(one.title, one.heading, one.text) for one in labelled}
    rows = []
    for off, name in ((True, "off topic"), (False, "on topic")):
        for split in SPLITS:
            own = [one for one in labelled if one.off == off and one.split == split]
            rows.append([f"{name}, {split}", str(len(own)), str(sum(marked[id(one)] for one in own))])
    blocks, false = _alarms(relevance, corpus)
    rows.append(["blocks of the sample documents", str(blocks), str(len(false))])
    for data in map(beir.load_beir, sets):
        rows.append([f"passages of {data.name}", str(len(data.passages)),
                     str(sum(relevance.is_off_topic("", (), text) for text in data.passages.values()))])
    wrong = [one for one in labelled if marked[id(one)] != one.off]
    lines = [f"- {one.split}, {one.kind}: {_short(one.text)}" for one in wrong]
    lines += [f"- sample document: {_short(text)}" for text in false]
    return (
        "## Passages off topic\n\nMarked ones stay in the knowledge base, but count less in the ranking. Words and weights are"
        " those of `assets/domain/relevance.toml`, chosen on the dev labels. Labelled passages stand alone, most without a"
        " title of the domain.\n\n" + table(["passages", "number", "marked"], rows)
        + "\n\nWrongly marked or wrongly not marked:\n\n" + ("\n".join(lines) or "none")
    )


def _alarms(relevance: Relevance, corpus: Path) -> tuple[int, list[str]]:
    """Return how many blocks the sample documents have, and those that are marked."""
    count, false = 0, []
    for path in sorted(corpus.rglob("*.md")):
        document = parse_file(path)
        count += len(document.blocks)
        false += [b.text for b in document.blocks if relevance.is_off_topic(document.meta.title, b.heading, b.text)]
    return count, false


def _short(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= 50 else line[:49] + "…"
