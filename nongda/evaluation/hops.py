"""Questions of one hop and of several: how many are right, and how much longer several take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nongda.evaluation.dataset import KINDS
from nongda.evaluation.intents import HOPS, Label, hop_class
from nongda.evaluation.pages import bracketed, p_value, table
from nongda.evaluation.runner import Record
from nongda.evaluation.sides import IntervalOf, sample
from nongda.evaluation.stats import ROUNDS, Interval, permutation_p

FULL, COLLOQUIAL, RECALL = "full", "colloquial", "recall@5"
# What questions of several hops need beyond others; the systems without it stand in the table.
WITHOUT = ("no_routing", "no_facts", "no_chain", "no_facts_no_chain", "no_specialists")
WORDS = ("no_lexicon", "no_aliases", "no_spelling", "fixed_fusion", "hyde", "refine")

Runs = Mapping[str, Sequence[Record]]


def by_hops(runs: Runs, labels: Mapping[str, Label], interval_of: IntervalOf, seed: int) -> str:
    """Return right answers of single- and multi-hop questions, with and without what serves the latter."""
    names = [name for name in (FULL, *WITHOUT) if name in runs]
    full = _of_hops(runs[FULL], labels)
    if not all(full.values()):
        return ""
    rows = []
    for name in names:
        parts = _of_hops(runs[name], labels)
        cells = [bracketed(interval_of(sample(parts[hop], "correct"))) for hop in HOPS]
        gain, p = _gain(parts["multi"], full["multi"], "correct", seed)
        rows.append([f"`{name}`", *cells, *(["", ""] if name == FULL else [f"{gain:+.3f}", p_value(p)])])
    head = ["system", *(f"{hop} hop, correct (n={len(full[hop])})" for hop in HOPS), "full's gain on multi", "p"]
    return "## By hops\n\nAnswerable questions; p values are not adjusted for the number of systems.\n\n" + table(head, rows)


def _of_hops(records: Sequence[Record], labels: Mapping[str, Label]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {hop: [] for hop in HOPS}
    for record in records:
        if record["answerable"] and record["id"] in labels:
            found[hop_class(labels[record["id"]].hops)].append(record)
    return found


def added_time(runs: Runs, labels: Mapping[str, Label], remembered: bool, seed: int) -> str:
    """Return the median seconds of a question by its hops, and how many more several hops take.

    `remembered`: the runs met passages again that they had embedded before.
    """
    rows = []
    for name, of_run in runs.items():
        times = {hop: _seconds(records) for hop, records in _of_hops(of_run, labels).items()}
        if all(len(found) for found in times.values()):
            added = median_difference(times["multi"], times["single"], np.random.default_rng(seed))
            rows.append([f"`{name}`", *(f"{np.median(times[hop]):.2f}" for hop in HOPS), bracketed(added)])
    if not rows:
        return ""
    caveat = " Passages embedded for an earlier question were remembered: a reader waits longer." if remembered else ""
    head = ["system", *(f"{hop} hop (s)" for hop in HOPS), "added (s)"]
    return f"## Time by hops\n\nMedian seconds a question.{caveat}\n\n" + table(head, rows)


def _seconds(records: Sequence[Record]) -> list[float]:
    return [float(r["timings"]["total"]) for r in records if r["timings"].get("total")]


def median_difference(one: Sequence[float], other: Sequence[float], rng: np.random.Generator) -> Interval:
    """Return median(one) - median(other) with its 95 % bootstrap interval; both are drawn on their own."""
    first, second = (np.asarray(values, dtype=np.float64) for values in (one, other))
    drawn = [np.median(rng.choice(first, len(first))) - np.median(rng.choice(second, len(second))) for _ in range(ROUNDS)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(np.median(first) - np.median(second)), float(low), float(high))


def recall_by_kind(runs: Runs, interval_of: IntervalOf, seed: int) -> str:
    """Return recall@5 by kind of question, for the full system and those that understand or search otherwise."""
    names = [name for name in (FULL, *WORDS, *WITHOUT) if name in runs]
    kinds = [kind for kind in KINDS if any(r["kind"] == kind for r in runs[FULL])]
    if len(names) < 2 or not kinds:
        return ""
    parts = {name: {kind: [r for r in runs[name] if r["kind"] == kind] for kind in kinds} for name in names}
    rows = [[f"`{name}`", *(bracketed(interval_of(sample(parts[name][kind], RECALL))) for kind in kinds)] for name in names]
    text = f"## {RECALL} by kind of question\n\n" + table(["system", *kinds], rows)
    if "no_aliases" in parts and parts[FULL].get(COLLOQUIAL):
        gain, p = _gain(parts["no_aliases"][COLLOQUIAL], parts[FULL][COLLOQUIAL], RECALL, seed)
        text += f"\n\nAliases, on colloquial questions: {gain:+.3f} (p {p_value(p)}, not adjusted)."
    return text


def _gain(one: Sequence[Record], full: Sequence[Record], metric: str, seed: int) -> tuple[float, float]:
    """What the full system gains over another on the questions that both were asked, with its p."""
    other = {r["id"]: r for r in one}
    shared = [r for r in full if r["id"] in other]
    ours, theirs = sample(shared, metric), sample([other[r["id"]] for r in shared], metric)
    return ours.value - theirs.value, permutation_p(ours, theirs, np.random.default_rng(seed))
