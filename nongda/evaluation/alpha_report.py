"""The page on BM25's share in the fusion: curves by kind of question, the learned rule, what it is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nongda.evaluation import plots
from nongda.evaluation.alpha import ALPHAS, EVEN, GAIN, METRICS, Ranked, Table, p_values
from nongda.evaluation.pages import SIGNIFICANT, bracketed, number, p_value, table
from nongda.evaluation.stats import Interval, Sample, interval

NAME = "fusion-alpha"
_DRAWN = ("recall@12", "mrr@10")
_TABLE_STEP = 2  # every second alpha has a row

Groups = Mapping[str, NDArray[np.bool_]]


def groups(found: Table) -> dict[str, NDArray[np.bool_]]:
    """Return the questions in halves, by number of words and by rarity, each name with its bound."""
    words, rarity = found.features["words"], found.features["rarity"]
    few, common = float(np.median(words)), float(np.median(rarity))
    return {
        "all": np.ones(len(words), dtype=np.bool_),
        f"at most {few:.0f} words": words <= few, f"over {few:.0f} words": words > few,
        f"common words (mean rarity to {common:.2f})": rarity <= common, "rare words": rarity > common,
    }


def write_page(folder: Path, ranked: Sequence[Ranked], public: Mapping[str, Sequence[Ranked]], rrf_k: int, seed: int) -> Path:
    """Write fusion-alpha.md and its figures into a folder, from the dev questions and public sets. Returns the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    dev = Table.of(ranked, rrf_k)
    parts = [_title(len(dev.gains), rrf_k)]
    halves = groups(dev)
    for metric in _DRAWN:
        name = f"{NAME}-{metric.split('@')[0]}.svg"
        (folder / name).write_text(_figure(dev, halves, metric, seed), encoding="utf-8", newline="\n")
        parts.append(f"![{metric} over the share of BM25]({name})")
    parts.append("## The rule\n\n" + rule_part(dev, seed))
    parts += [f"## Dev questions: {name} ({int(own.sum())})\n\n{curve_table(dev, own, seed)}" for name, own in halves.items()]
    for name, found in ((name, Table.of(queries, rrf_k)) for name, queries in public.items()):
        own = np.ones(len(found.gains), dtype=np.bool_)
        parts.append(f"## Public set {name} ({len(found.gains)} queries)\n\n{rule_part(found, seed)}\n\n{curve_table(found, own, seed)}")
    path = folder / f"{NAME}.md"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8", newline="\n")
    return path


def _title(count: int, rrf_k: int) -> str:
    return (
        "# BM25's share in the fusion\n\nBM25 counts alpha and dense retrieval 1 - alpha in reciprocal rank fusion"
        f" (k = {rrf_k}, the first 20 of either). {count} answerable dev questions, measured on the fused ranking, before"
        " reranking, against the passages that prove the answer; the first 20 are what the reranker gets. Brackets hold 95 %"
        " intervals (item bootstrap), p values are of paired permutation tests.\n\nA rule gives questions of few words, or of"
        f" common ones, an alpha of their own. It must gain {GAIN} in the mean of all four metrics where it is learned, else"
        " there is none; it is measured on topics that it was not learned from. Made by"
        " `python app.py evaluate --alpha FOLDER --beir SET ...`."
    )


def rule_part(found: Table, seed: int) -> str:
    """Return the learned rule, those of the folds, and what they are worth on questions they have not seen."""
    whole = found.learned(np.ones(len(found.gains), dtype=np.bool_))
    places, rules = found.unseen()
    fixed, ruled = found.gains[:, EVEN], found.at(places)
    ps = p_values(fixed, ruled, seed)
    rows = [[metric, bracketed(_interval(fixed[:, m], seed)), bracketed(_interval(ruled[:, m], seed)),
             f"{ruled[:, m].mean() - fixed[:, m].mean():+.3f}", p_value(ps[m])] for m, metric in enumerate(METRICS)]
    listed = "\n".join(f"- without fold {fold}: {rule}" for fold, rule in enumerate(rules, start=1))
    better = [metric for m, metric in enumerate(METRICS) if ps[m] < SIGNIFICANT and ruled[:, m].mean() > fixed[:, m].mean()]
    worse = [metric for m, metric in enumerate(METRICS) if ps[m] < SIGNIFICANT and ruled[:, m].mean() < fixed[:, m].mean()]
    verdict = f"Significantly better than 0.5 for all: {', '.join(better) or 'nothing'}; worse: {', '.join(worse) or 'nothing'}."
    head = ["metric", "0.5 for all", "rule, unseen topics", "change", "p"]
    return f"Learned from all: **{whole}**.\n\n{listed}\n\n{table(head, rows)}\n\n{verdict}"


def curve_table(found: Table, own: NDArray[np.bool_], seed: int) -> str:
    """Return the metrics of some questions, a row for every second alpha."""
    rows = [[number(float(ALPHAS[place]))[:4], *(bracketed(_interval(found.gains[own, place, m], seed)) for m in range(len(METRICS)))]
            for place in range(0, len(ALPHAS), _TABLE_STEP)]
    return table(["alpha", *METRICS], rows)


def _figure(found: Table, halves: Groups, metric: str, seed: int) -> str:
    """Curves with intervals: all questions, those of few words and those of many."""
    m = METRICS.index(metric)
    shown = list(halves.items())[:3]
    points = {name: {round(100 * float(alpha)): _interval(found.gains[own, place, m], seed) for place, alpha in enumerate(ALPHAS)}
              for name, own in shown}
    return plots.curve(points, f"share of BM25 in the fusion (%); {metric}")


def _interval(values: NDArray[np.float64], seed: int) -> Interval:
    return interval(Sample(values, np.ones(len(values))), np.random.default_rng(seed))
