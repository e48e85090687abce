"""A report of finished runs as Markdown with figures, and the same as one HTML file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nongda.errors import UsageError
from nongda.evaluation import beir, plots
from nongda.evaluation.causes import missed
from nongda.evaluation.hops import added_time, by_hops, recall_by_kind
from nongda.evaluation.intents import Understood, section
from nongda.evaluation.pages import SIGNIFICANT, as_html, bracketed, listed, number, p_value, table
from nongda.evaluation.pipeline import as_toml
from nongda.evaluation.runner import Record, read_made_by, read_run
from nongda.evaluation.scoring import ERRORS, HEADLINES, METRICS
from nongda.evaluation.sides import Side, by_kind, how_answered, in_order, sample, side_by_side
from nongda.evaluation.stats import Interval, Sample, bootstrap, holm, interval, permutation_p

FULL, SIMPLE = "full", "simple_rag"
MAIN = "citation_f1"
_LOWER_IS_BETTER = ("wrong_number", "wrong_name", "wrong_subject", "wrongly_refused", "seconds")
_ABLATION_COLUMNS = ("recall@5", "mrr@10", "correct", "wrong_number", "refusal_recall", "wrongly_refused", "seconds")
_PERCENTILES = (50, 90, 95, 99)
_NOT_STAGES = ("total", "first_token")
_TIMED = (FULL, "no_generator")
_COMMON = ("corpus", "domain", "generate", "version")
_TESTED = (MAIN, "correct")  # what the ablation table has p values for

Runs = Mapping[str, Sequence[Record]]


def compare(one: Sequence[Record], other: Sequence[Record], seed: int,
            metrics: Sequence[str] = METRICS) -> list[dict[str, Any]]:
    """Compare two runs on the questions both have; a row per metric that counts for any of them.

    Raises UsageError when they share no question.
    """
    pairs = _shared(one, other)
    if not pairs:
        raise UsageError("两个评测结果没有相同的题目，无法比较：请检查文件")
    rows: list[dict[str, Any]] = []
    for metric in metrics:
        first, last = (sample([pair[side] for pair in pairs], metric) for side in (0, 1))
        if first.denominators.any() or last.denominators.any():
            p = permutation_p(first, last, np.random.default_rng(seed))
            rows.append({"metric": metric, "questions": len(pairs), "a": first.value, "b": last.value,
                         "difference": last.value - first.value, "p": p, "significant": p < SIGNIFICANT})
    return rows


def _shared(one: Sequence[Record], other: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Return the records of the questions that both were asked in the same words."""
    try:
        second = {(record["id"], record["asked"]): record for record in other if record["metrics"]}
        return [(r, second[r["id"], r["asked"]]) for r in one if r["metrics"] and (r["id"], r["asked"]) in second]
    except (KeyError, TypeError) as error:
        raise UsageError(f"评测结果里缺少 {error}：请给出 evaluate 写下的 .jsonl 文件") from error


class Report:
    """Everything a report says, section by section; figures are collected on the way."""

    def __init__(self, runs: Runs, made_by: Mapping[str, Mapping[str, Any]], public: Mapping[str, Sequence[Record]],
                 remarks: str, seed: int, beside: Sequence[Side] = (), understood: Understood | None = None) -> None:
        if not runs.get(FULL):
            raise UsageError("报告需要 full 系统的结果：请先运行 evaluate --variants full")
        for name, made in made_by.items():
            differing = _differing(made, made_by[FULL])
            if differing:
                raise UsageError(f"{name} 与 full 的结果不能放进一份报告（不同的项：{'、'.join(differing)}）：请重新运行 evaluate")
        self._runs = runs
        self._made_by = made_by
        self._public = public
        self._remarks = remarks
        self._seed = seed
        self._understood = understood or Understood()
        self._sides = in_order([*(Side(name, made_by[name], runs[name]) for name in runs), *beside])
        self.figures: dict[str, str] = {}

    def markdown(self) -> str:
        """Return the report."""
        sections = (
            self._title(), self._remarks.strip(), self._overall(), self._side_by_side(), by_kind(self._runs[FULL], self._of),
            by_hops(self._runs, self._understood.labels, self._of, self._seed), self._by_topic(), how_answered(self._runs[FULL]),
            section(self._understood.records, self._of), missed(self._runs[FULL], self._looked_at), self._errors(), self._ablations(),
            recall_by_kind(self._runs, self._of, self._seed), self._kept(), self._latency(),
            self._times_by_hops(), self._public_sets(), self._origin(),
        )
        return "\n\n".join(section for section in sections if section) + "\n"

    @property
    def _looked_at(self) -> int:
        return int(self._made_by[FULL]["settings"]["search"]["keep"])

    def _of(self, found: Sample) -> Interval:
        return interval(found, np.random.default_rng(self._seed))

    def _interval(self, records: Sequence[Record], metric: str) -> Interval:
        return self._of(sample(records, metric))

    def _figure(self, name: str, svg: str) -> str:
        self.figures[name] = svg
        return f"![{name.replace('-', ' ')}](plots/{name}.svg)"

    def _title(self) -> str:
        full = self._runs[FULL]
        answerable = sum(r["answerable"] for r in full)
        failed = sum(bool(r["failed"]) for r in full)
        splits = ", ".join(sorted({r["split"] for r in full}))
        mode = "with the language model" if self._made_by[FULL]["generate"] else "quotes only, no language model"
        trouble = f" {failed} questions failed and count as wrong." if failed else ""
        return (
            f"# Evaluation on the {splits} questions\n\n{answerable} answerable and {len(full) - answerable} unanswerable"
            f" questions; {mode}.{trouble} Brackets hold 95 % intervals (item bootstrap, 5,000 resamples); p values are of paired"
            f" permutation tests (5,000 shuffles, p = (c + 1) / (n + 1)) against `full`; seed {self._seed}. A rate of"
            " 0 or 1 has a bracket without width; of n questions it may still be off by 3 / n."
        )

    def _overall(self) -> str:
        names = [name for name in (FULL, SIMPLE) if name in self._runs]
        p = {}
        if SIMPLE in names:
            p = {row["metric"]: p_value(row["p"]) for row in compare(self._runs[FULL], self._runs[SIMPLE], self._seed)}
        rows = [[metric + (" (lower is better)" if metric in _LOWER_IS_BETTER else ""),
                 *(bracketed(self._interval(self._runs[name], metric)) for name in names),
                 *([p.get(metric, "")] if p else [])] for metric in HEADLINES]
        sizes = [f"{name} (n={len(self._runs[name])})" for name in names]
        drawn = {n: bootstrap(sample(self._runs[n], MAIN), np.random.default_rng(self._seed)) for n in names}
        picture = self._figure("bootstrap", plots.histograms(drawn, "citation F1"))
        return "## Overall\n\n" + table(["metric", *sizes, *(["p"] if p else [])], rows) + "\n\n" + picture

    def _ablations(self) -> str:
        names = [name for name in self._runs if not _is_k(name)]
        if len(names) < 2:
            return ""
        intervals = {name: self._interval(self._runs[name], MAIN) for name in names}
        others = [name for name in names if name != FULL]
        changes = {name: {row["metric"]: row for row in compare(self._runs[FULL], self._runs[name], self._seed, _TESTED)}
                   for name in others}
        adjusted = {m: dict(zip(others, holm([changes[n][m]["p"] if m in changes[n] else 1.0 for n in others]),
                                strict=True)) for m in _TESTED}
        columns = [m for m in _ABLATION_COLUMNS if m != "seconds" or self._made_by[FULL]["generate"]]
        rows = []
        for name in names:
            tested = [cell for m in _TESTED for cell in _change(changes.get(name, {}).get(m), adjusted[m].get(name))]
            records = self._runs[name]
            rows.append([f"`{name}`", str(self._made_by[name]["system"]["about"]), str(len(records)),
                         bracketed(intervals[name]), *tested, *(number(sample(records, m).value) for m in columns)])
        picture = self._figure("ablations", plots.bars(intervals, "citation F1"))
        head = ["system", "what differs", "n", "citation F1", "change", "p", "change of correct", "p", *columns]
        return (
            "## Ablations\n\nChanges are against `full` on the questions both were asked; p values are adjusted for the"
            " number of systems (Holm); * is below 0.05.\n\n" + table(head, rows) + "\n\n" + picture
        )

    def _kept(self) -> str:
        ks = {int(name[1:]): records for name, records in self._runs.items() if _is_k(name)}
        ks[self._looked_at] = self._runs[FULL]
        if len(ks) < 2:
            return ""
        metrics = (MAIN, "citation_recall", "correct")
        points = {m: {k: self._interval(records, m) for k, records in ks.items()} for m in metrics}
        rows = [[str(k), *(bracketed(points[m][k]) for m in metrics)] for k in sorted(ks)]
        picture = self._figure("passages", plots.curve(points, "passages looked at (K)"))
        return "## Passages looked at\n\n" + table(["K", *metrics], rows) + "\n\n" + picture

    def _side_by_side(self) -> str:
        if len(self._sides) < 2:
            return ""
        own = Side(FULL, self._made_by[FULL], self._runs[FULL]).label
        found = {side.label: self._interval(side.records, "correct") for side in self._sides}
        picture = self._figure("side-by-side", plots.bars(found, "correct", own))
        return side_by_side(self._sides, self._of) + "\n\n" + picture

    def _by_topic(self) -> str:
        groups: dict[str, list[Record]] = {}
        for record in self._runs[FULL]:
            if record["answerable"]:
                groups.setdefault(record["topic"], []).append(record)
        columns = (MAIN, "recall@5", "correct", "wrong_number", "wrongly_refused")
        rows = [[name, str(len(records)), *(number(sample(records, m).value) for m in columns)]
                for name, records in sorted(groups.items())]
        return "## By topic\n\n" + table(["topic", "questions", *columns], rows)

    def _errors(self) -> str:
        answerable = [r for r in self._runs[FULL] if r["answerable"]]
        counts = Counter(r["error"] for r in answerable)
        share = {name: counts[name] / max(1, len(answerable)) for name in ERRORS}
        picture = self._figure("errors", plots.shares(share, "share of the answerable questions"))
        text = ["## Citation errors", picture]
        for name in ERRORS:
            text.append(f"### {name.capitalize()}: {counts[name]} ({share[name]:.1%})")
            text.append(listed(r for r in answerable if r["error"] == name))
        return "\n\n".join(part for part in text if part)

    def _latency(self) -> str:
        timings = [r["timings"] for r in self._runs[FULL] if r["timings"].get("total")]
        if not timings or not self._made_by[FULL]["generate"]:
            return ""  # a run without the language model remembers what it embedded: its times are no reader's
        totals = [t["total"] for t in timings]
        marks = {f"p{q}": float(np.percentile(totals, q)) for q in _PERCENTILES}
        stages = [name for name in dict.fromkeys(s for t in timings for s in t) if name not in _NOT_STAGES]
        sums = {name: sum(t.get(name, 0.0) for t in timings) for name in stages}
        part = {name: value / max(1e-9, sum(sums.values())) for name, value in sums.items()}
        rows = [[name, *(f"{np.percentile([t.get(name, 0.0) for t in timings], q):.3f}" for q in _PERCENTILES),
                 f"{part[name]:.1%}" if name in part else ""] for name in [*stages, "total"]]
        pictures = [self._figure("latency", plots.distribution(totals, marks)),
                    self._figure("latency-shares", plots.shares(part, "share of the time"))]
        head = ["stage", *(f"p{q} (s)" for q in _PERCENTILES), "share"]
        return "## Time\n\n" + table(head, rows) + "\n\n" + "\n\n".join(pictures)

    def _times_by_hops(self) -> str:
        """Of runs with a language model at hand, also those beside: the others remember what they embedded."""
        fresh = {side.label: side.records for side in self._sides if side.made_by["generate"] and side.name in _TIMED}
        return added_time(fresh or {FULL: self._runs[FULL]}, self._understood.labels, not fresh, self._seed)

    def _public_sets(self) -> str:
        parts = []
        for name, records in self._public.items():
            rows = []
            for system in beir.SYSTEMS:
                samples = {m: Sample.of([(r["systems"][system][m], 1.0) for r in records]) for m in beir.METRICS}
                dense = Sample.of([(r["systems"]["dense"]["mrr@10"], 1.0) for r in records])
                p = "" if system == "dense" else p_value(permutation_p(samples["mrr@10"], dense, np.random.default_rng(self._seed)))
                rows.append([system, *(bracketed(interval(s, np.random.default_rng(self._seed))) for s in samples.values()), p])
            head = ["system", *beir.METRICS, "p of MRR against dense"]
            parts.append(f"### {name}: {len(records)} queries\n\n" + table(head, rows))
        return "## Public retrieval sets\n\n" + "\n\n".join(parts) if parts else ""

    def _origin(self) -> str:
        full = self._made_by[FULL]
        packages = ", ".join(f"{name} {version}" for name, version in full["packages"].items())
        lines = [*(f"- `{name}`: `{made['command']}`" for name, made in self._made_by.items()),
                 f"- 农答 {full['version']}, Python {full['python']}, {full['machine']}; {packages}",
                 *(f"- {part}: sha256 {full[part]}" for part in ("corpus", "domain", "code")),
                 *(f"- {name}: sha256 {sha}" for name, sha in full["models"].items())]
        pipeline = as_toml(full["settings"])
        return "## What made it\n\n" + "\n".join(lines) + f"\n\nThe pipeline of `full`:\n\n```toml\n{pipeline}\n```"


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write report.md with plots/, and report.html, which needs no other file. Returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plots").mkdir(exist_ok=True)
    text = report.markdown()
    (folder / "report.md").write_text(text, encoding="utf-8")
    for name, svg in report.figures.items():
        (folder / "plots" / f"{name}.svg").write_text(svg, encoding="utf-8")
    (folder / "report.html").write_text(as_html(text, report.figures), encoding="utf-8")
    return [folder / "report.md", folder / "report.html"]


def load_runs(folder: Path, names: Iterable[str]) -> tuple[dict[str, list[Record]], dict[str, dict[str, Any]]]:
    """Read the finished runs of these names in a folder: records by question id, and what made them."""
    runs: dict[str, list[Record]] = {}
    made_by: dict[str, dict[str, Any]] = {}
    for name in names:
        path = folder / f"{name}.jsonl"
        if path.exists():
            runs[name] = sorted(read_run(path), key=lambda record: str(record["id"]))
            made_by[name] = read_made_by(path)
    return runs, made_by


def _differing(made: Mapping[str, Any], full: Mapping[str, Any]) -> list[str]:
    """Return what two runs may not differ in; a system without the language model has fewer models."""
    differing = [key for key in _COMMON if made.get(key) != full.get(key)]
    return differing if made["models"].items() <= full["models"].items() else [*differing, "models"]


def _is_k(name: str) -> bool:
    return bool(re.fullmatch(r"k\d+", name))


def _change(row: Mapping[str, Any] | None, adjusted: float | None) -> tuple[str, str]:
    return ("", "") if row is None or adjusted is None else (f"{row['difference']:+.3f}", p_value(adjusted))
