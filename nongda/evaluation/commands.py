"""What `evaluate`, `learn` and `compare` do, one function each; every one prints its result."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import click
import numpy as np
from tqdm import tqdm

from nongda.console import show_adding
from nongda.documents.parse import read_file
from nongda.engine import ROOT, Engine
from nongda.errors import UsageError
from nongda.evaluation import admission, alpha, beir, dataset, intents, sheet
from nongda.evaluation.alpha_report import write_page
from nongda.evaluation.calibrate import explain, gate_cut
from nongda.evaluation.crossvalidate import learn
from nongda.evaluation.labels import look_at
from nongda.evaluation.learn import NOTHING_LEARNED, write_selector
from nongda.evaluation.report import FULL, MAIN, Report, compare, load_runs, write_report
from nongda.evaluation.runner import GoldScorer, Record, describe, gold_key, read_run, run
from nongda.evaluation.sides import Side, load_beside, sample
from nongda.evaluation.stats import interval
from nongda.evaluation.values import Values
from nongda.evaluation.variants import System, Variant, load_variants, share
from nongda.models.rerank import LateInteraction, TokenCache

T = TypeVar("T")
CORPUS, GOLD = ROOT / "assets" / "corpus", ROOT / "assets" / "gold"
UNITS, SELECTOR = ROOT / "assets" / "domain" / "units.toml", ROOT / "assets" / "domain" / "selector.toml"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run: systems, questions, with or without the language model, and where the results go."""

    variants: Sequence[Variant]
    split: str
    generate: bool
    out: Path
    limit: int | None
    fresh: bool

    @property
    def splits(self) -> Sequence[str]:
        """The sides whose questions are asked."""
        return dataset.SPLITS if self.split == "all" else (self.split,)

    @property
    def understood(self) -> Path:
        """The file of how the questions were understood."""
        return self.out / f"intents-{self.split}.jsonl"


def chosen_variants(names: str) -> list[Variant]:
    """Return the systems of a comma-separated list, or all. Raises UsageError for a name that is not in the file."""
    known = load_variants(GOLD / "ablations.toml")
    wanted = list(known) if names == "all" else [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise UsageError(f"没有名为 {'、'.join(unknown) or names} 的系统：可用的有 {'、'.join(known)}")
    return [known[name] for name in wanted]


def run_folder(out: Path, split: str, generate: bool) -> Path:
    """Return where the runs of a split lie: written and quoted answers never mix."""
    return out / f"{split}-{'written' if generate else 'quoted'}"


def run_all(engine: Engine, plan: Plan) -> None:
    """Run every system of the plan, with a bar each; what an earlier run finished is not asked again."""
    questions = plan_questions(plan)
    parts = share(engine, plan.generate)
    values = Values.load(engine.lexicon, UNITS)
    folder = run_folder(plan.out, plan.split, plan.generate)
    folder.mkdir(parents=True, exist_ok=True)
    for variant in plan.variants:
        system = System(variant, parts, CORPUS, plan.out)
        try:
            _prepare(system)
            scorer = GoldScorer(system, CORPUS, dataset.load_families(GOLD), values)
            made_by = describe(system, CORPUS, ROOT / "models" / "weights", plan.generate, _command(plan, variant))
            path = folder / f"{variant.name}.jsonl"
            if plan.fresh:
                path.unlink(missing_ok=True)
                path.with_suffix(".json").unlink(missing_ok=True)
            records = list(_bar(run(system, questions, scorer, path, made_by), len(questions), variant.name))
        finally:
            system.close()
        click.echo(f"{variant.name}: {MAIN} {sample(records, MAIN).value:.3f}  correct {sample(records, 'correct').value:.3f}")


def _prepare(system: System) -> None:
    if show_adding(system.prepare(), quiet=True):
        raise UsageError("有示例资料无法加入评测用的知识库：请按上面的提示改正资料")


def _command(plan: Plan, variant: Variant) -> str:
    """The command that makes this run again; folders are this machine's own matter."""
    parts = ["python app.py evaluate", f"--split {plan.split}", f"--variants {variant.name}"]
    parts += [] if plan.generate else ["--no-generate"]
    return " ".join(parts + ([f"--limit {plan.limit}"] if plan.limit else []))


def plan_questions(plan: Plan) -> list[dataset.GoldQuestion]:
    """Return the questions of the plan's split, the first `limit` of every topic."""
    questions = dataset.load_questions(GOLD, plan.splits)
    if plan.limit is None:
        return questions
    seen: dict[str, int] = {}
    kept: list[dataset.GoldQuestion] = []
    for question in questions:
        seen[question.topic] = seen.get(question.topic, 0) + 1
        if seen[question.topic] <= plan.limit:
            kept.append(question)
    return kept


def _bar(items: Iterable[T], total: int, name: str) -> Iterator[T]:
    yield from tqdm(items, total=total, desc=name, unit="题", disable=None)


def measure_cuts(engine: Engine, plan: Plan) -> None:
    """Print the gate's cut of every system of the plan, measured on the dev questions.

    Another reranker has other scores: the cut that keeps as many answerable questions as the full system's cut in use
    makes the comparison one of ranking, not of refusing.
    """
    parts = share(engine, generate=False)
    questions = dataset.load_questions(GOLD, ["dev"])
    if len({question.answerable for question in questions}) < 2:
        raise UsageError("测定 answer.gate 需要能回答的和不能回答的 dev 题：请补充题目")
    full = load_variants(GOLD / "ablations.toml")[FULL]
    kept = 1.0
    for variant in [full, *(v for v in plan.variants if v != full)]:
        system = System(variant, parts, CORPUS, plan.out)
        try:
            _prepare(system)
            cut = gate_cut(questions, system.engine.answerable)
        finally:
            system.close()
        click.echo(explain(cut, f"{variant.name} 资料能回答的问题", "资料不能回答的问题"))
        if variant == full:
            kept = float((cut.above >= system.settings.answer.gate).mean())
        click.echo(f"  保留 {kept:.1%} 资料能回答的问题时: {np.quantile(cut.above, 1 - kept, method='lower'):.3f}")


def learn_selector(engine: Engine, folder: Path, out: Path) -> None:
    """Learn the selector from the dev questions alone, print what it is worth on topics it has not seen, write it.

    Nothing of the selector in use counts: the questions are looked at with a domain that has none.
    """
    questions = dataset.load_questions(GOLD, ["dev"])
    values = Values.load(engine.lexicon, UNITS)
    with tempfile.TemporaryDirectory() as root:
        parts = replace(share(engine, generate=False), root=_without_selector(Path(root)))
        system = System(load_variants(GOLD / "ablations.toml")[FULL], parts, CORPUS, folder)
        try:
            _prepare(system)
            scorer = GoldScorer(system, CORPUS, dataset.load_families(GOLD), values)
            examples = list(_bar(look_at(questions, system.engine, scorer), len(questions), "learn"))
        finally:
            system.close()
    learned = learn(examples, values)
    write_selector(out, learned.selector, len(questions))
    click.echo("\n".join([*learned.lines, f"选句参数已写入 {out}"]))


def _without_selector(root: Path) -> Path:
    """Copy what a system is made from into a folder, with a selector of zeros. Returns the folder."""
    shutil.copytree(ROOT / "assets" / "domain", root / "assets" / "domain")
    (root / "models").mkdir()
    shutil.copy(ROOT / "models" / "manifest.toml", root / "models")
    write_selector(root / "assets" / "domain" / SELECTOR.name, NOTHING_LEARNED, 0)
    return root


def show_gold_problems(engine: Engine) -> None:
    """Print what is wrong with the gold set; exit 1 when there is anything."""
    problems = gold_problems(Values.load(engine.lexicon, UNITS))
    click.echo("\n".join(problems) or "题集合格")
    if problems:
        raise SystemExit(1)


def gold_problems(values: Values) -> list[str]:
    """Return what is wrong with the gold set; an empty list admits it."""
    families = dataset.load_families(GOLD)
    documents = [path.relative_to(CORPUS).as_posix() for path in sorted(CORPUS.rglob("*.md"))]
    corpus = admission.read_corpus(CORPUS, documents)
    balance = admission.Balance(topics=frozenset(family.topic for family in families))
    questions = dataset.load_questions(GOLD)
    return admission.problems(questions, families, corpus, values, balance)


def run_beirs(engine: Engine, folders: Sequence[Path], out: Path) -> None:
    """Measure retrieval on public sets, one after the other."""
    for folder in folders:
        run_beir(engine, folder, out)


def run_beir(engine: Engine, folder: Path, out: Path) -> None:
    """Measure retrieval on a public set and keep a record per query."""
    data = beir.load_beir(folder)
    reranker = LateInteraction(TokenCache(engine.embedder, len(data.passages)))  # queries meet the same passages again
    retriever = beir.BeirRetriever(data, engine.lexicon, engine.embedder, reranker, engine.settings.search)
    for _ in _bar(retriever.embed(), -(-len(data.passages) // beir.EMBED_AT_ONCE), f"{data.name} passages"):
        pass
    records = list(_bar(beir.evaluate_beir(data, retriever), len(data.queries), data.name))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"beir-{data.name}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    for system in beir.SYSTEMS:
        means = {m: sum(r["systems"][system][m] for r in records) / len(records) for m in beir.METRICS}
        click.echo(f"{data.name}  {system:14}" + "  ".join(f"{m} {value:.4f}" for m, value in means.items()))


def measure_intents(engine: Engine, plan: Plan, seed: int) -> None:
    """Print how well the labelled questions of the plan's split are understood, and keep a record of each."""
    labels = intents.load_labels(GOLD / intents.FILE)
    records = list(intents.measure(plan_questions(plan), labels, engine))
    click.echo(intents.write_records(plan.understood, records, lambda found: interval(found, np.random.default_rng(seed))))


def measure_alpha(engine: Engine, plan: Plan, folder: Path, sets: Sequence[Path], seed: int) -> None:
    """Write the page on BM25's share in the fusion, from the dev questions and public sets."""
    questions = dataset.load_questions(GOLD, ["dev"])
    system = System(load_variants(GOLD / "ablations.toml")[FULL], share(engine, generate=False), CORPUS, plan.out)
    try:
        _prepare(system)
        scorer = GoldScorer(system, CORPUS, dataset.load_families(GOLD), Values.load(engine.lexicon, UNITS))
        ranked = list(_bar(alpha.rank_questions(questions, system.engine, scorer.evidence), len(questions), "dev"))
    finally:
        system.close()
    public = {}
    for data in map(beir.load_beir, sets):
        public[data.name] = list(_bar(alpha.rank_set(data, engine), len(data.queries), data.name))
    click.echo(f"说明已写入 {write_page(folder, ranked, public, engine.settings.search.rrf_k, seed)}")


def make_report(plan: Plan, folder: Path, remarks: Path | None, seed: int) -> None:
    """Write a report of all finished runs of the plan's split; runs in the folders beside it stand side by side with them.

    Such a folder has the split's name and a word (dev-written, dev-standard), and is of another language model.
    """
    own = run_folder(plan.out, plan.split, plan.generate)
    runs, made_by = load_runs(own, load_variants(GOLD / "ablations.toml"))
    beside: list[Side] = []
    if FULL in made_by:
        beside, left_out = load_beside(own, made_by[FULL])
        click.echo("".join(f"未列入对比：{name}\n" for name in left_out), nl=False)
    public = {path.stem.removeprefix("beir-"): read_run(path) for path in sorted(plan.out.glob("beir-*.jsonl"))}
    _check_gold_of(plan, {**runs, **{f"并列的 {side.label}": side.records for side in beside}})
    words = read_file(remarks).decode("utf-8", errors="replace") if remarks else ""
    understood = intents.Understood.load(GOLD / intents.FILE, plan.understood)
    for path in write_report(Report(runs, made_by, public, words, seed, beside, understood), folder):
        click.echo(f"报告已写入 {path}")


def _check_gold_of(plan: Plan, runs: Mapping[str, Sequence[Record]]) -> None:
    """Raise UsageError when a run was scored with gold that has been corrected since."""
    gold = {question.id: gold_key(question) for question in dataset.load_questions(GOLD, plan.splits)}
    old = [name for name, records in runs.items() if any(gold.get(str(r["id"])) != r.get("gold") for r in records)]
    if old:
        raise UsageError(f"题目或标准答案改过，{'、'.join(old)} 的分数是旧的：请再运行一次 evaluate，只会重新计分")


def make_sheet(plan: Plan, path: Path, seed: int, most: int) -> None:
    """Write a sheet for judges from the finished runs of the plan's systems."""
    runs, _ = load_runs(run_folder(plan.out, plan.split, plan.generate), [v.name for v in plan.variants])
    missing = [variant.name for variant in plan.variants if variant.name not in runs]
    if missing:
        raise UsageError(f"还没有 {'、'.join(missing)} 的评测结果可以制表：请先运行 evaluate")
    key = sheet.write_sheet(runs, path, seed, most)
    click.echo(f"评判表 {path}，对照表 {key}（不要交给评判人）；说明见 docs/evaluation/评判说明.md")


def score_sheets(paths: Sequence[Path], key: Path | None) -> None:
    """Print what the judges' sheets say. Raises UsageError without the key."""
    if key is None:
        raise UsageError("统计评判表需要对照表：请用 --key 给出制表时写下的 .key.json 文件")
    click.echo("\n".join(sheet.summarise([sheet.read_sheet(path, key) for path in paths])))


def show_comparison(one: Sequence[Record], other: Sequence[Record], seed: int) -> None:
    """Print which differences between two runs are significant."""
    rows = compare(one, other, seed)
    click.echo(f"A {len(one)} 题，B {len(other)} 题，共同的 {rows[0]['questions']} 题；"
               "* 表示 p<0.05（配对置换检验，没有按指标个数校正）")
    for row in rows:
        click.echo(f"{row['metric']:20} A {row['a']:7.3f}  B {row['b']:7.3f}  {row['difference']:+7.3f}  p={row['p']:.4f}"
                   + (" *" if row["significant"] else ""))
