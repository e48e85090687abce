"""The commands `evaluate`, `learn` and `compare`: options here, the work in nongda.evaluation, imported when needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from nongda.engine import Engine
from nongda.errors import UsageError
from nongda.options import with_engine

SEED = 7
_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(help="用标准题集评测，比较各种配置，写出报告")
@with_engine
@click.option("--split", type=click.Choice(["dev", "test", "all"]), default="dev", help="题目：dev 调试用，test 只用来报告")
@click.option("--variants", default="full", help="系统名，逗号分隔，或 all；见 assets/gold/ablations.toml")
@click.option("--no-generate", is_flag=True, help="不用语言模型，只摘录原文，几分钟完成")
@click.option("--out", type=_FOLDER, default=None, help="结果文件夹（默认数据文件夹下的 evaluation），中断后再运行会接着做")
@click.option("--limit", type=click.IntRange(1), default=None, help="每个主题最多几题")
@click.option("--fresh", is_flag=True, help="不接着以前的结果，重新开始")
@click.option("--seed", type=int, default=SEED, help="抽样的随机种子")
@click.option("--check", is_flag=True, help="只检查题集是否合格")
@click.option("--cuts", is_flag=True, help="只用 dev 题测定各系统的 answer.gate")
@click.option("--intents", is_flag=True, help="只看问法和步数判断得对不对（标注见 assets/gold/intents.tsv）")
@click.option("--alpha", type=_FOLDER, default=None, help="用 dev 题测定融合权重的曲线，写到这个文件夹；可加 --beir")
@click.option("--chunking", type=_FOLDER, default=None, help="比较几种切段办法（先跑完它们），写到这个文件夹；可加 --beir")
@click.option("--beir", type=_FOLDER, multiple=True, help="公开检索测试集（BEIR 格式文件夹），可多次给出")
@click.option("--report", type=_FOLDER, default=None, help="用已完成的结果写报告到这个文件夹")
@click.option("--remarks", type=_FILE, default=None, help="写进报告开头的说明文字（Markdown 文件）")
@click.option("--sheet", type=_FILE, default=None, help="把已完成的结果写成评判表（.xlsx）")
@click.option("--most", type=click.IntRange(1), default=50, help="评判表最多多少题")
@click.option("--score-sheet", type=_FILE, multiple=True, help="统计评判人填好的评判表，可给出两份")
@click.option("--key", type=_FILE, default=None, help="评判表的对照表（.key.json）")
def evaluate(engine: Engine, split: str, variants: str, no_generate: bool, out: Path | None, limit: int | None, fresh: bool,
             seed: int, check: bool, cuts: bool, intents: bool, alpha: Path | None, chunking: Path | None, beir: tuple[Path, ...],
             report: Path | None, remarks: Path | None, sheet: Path | None, most: int, score_sheet: tuple[Path, ...],
             key: Path | None) -> None:
    """Run systems over the gold questions, or one of the other works an option asks for."""
    from nongda.evaluation import commands  # no other command needs it, and it takes a second
    from nongda.evaluation.chunking import measure_chunking

    plan = commands.Plan(commands.chosen_variants(variants), split, not no_generate,
                         out or engine.data_dir / "evaluation", limit, fresh)
    works: dict[str, tuple[object, Callable[[], None]]] = {
        "--check": (check, lambda: commands.show_gold_problems(engine)),
        "--cuts": (cuts, lambda: commands.measure_cuts(engine, plan)),
        "--intents": (intents, lambda: commands.measure_intents(engine, plan, seed)),
        "--alpha": (alpha, lambda: commands.measure_alpha(engine, plan, alpha or Path(), beir, seed)),
        "--chunking": (chunking, lambda: measure_chunking(engine, plan, chunking or Path(), beir, seed)),
        "--beir": (beir if alpha is None and chunking is None else (), lambda: commands.run_beirs(engine, beir, plan.out)),
        "--report": (report, lambda: commands.make_report(plan, report or Path(), remarks, seed)),
        "--sheet": (sheet, lambda: commands.make_sheet(plan, sheet or Path(), seed, most)),
        "--score-sheet": (score_sheet, lambda: commands.score_sheets(score_sheet, key)),
    }
    asked = [name for name, (value, _) in works.items() if value]
    if len(asked) > 1:
        raise UsageError(f"{'、'.join(asked)} 一次只能用一个：请分开运行")
    if asked:
        works[asked[0]][1]()
    else:
        commands.run_all(engine, plan)


@click.command(help="用 dev 题重新学习选句和判断能否回答的权重，说明它在没见过的主题上有多好")
@with_engine
@click.option("--out", type=_FILE, default=None, help="写到哪个文件（默认 assets/domain/selector.toml）")
def learn(engine: Engine, out: Path | None) -> None:
    """Learn selector.toml anew; minutes. Uses the knowledge base that `evaluate` makes."""
    from nongda.evaluation import commands  # no other command needs it, and it takes a second

    commands.learn_selector(engine, engine.data_dir / "evaluation", out or commands.SELECTOR)


@click.command(help="比较两个评测结果，说明哪些差别显著")
@click.argument("first", type=_FILE, metavar="A")
@click.argument("second", type=_FILE, metavar="B")
@click.option("--seed", type=int, default=SEED, help="随机种子")
def compare(first: Path, second: Path, seed: int) -> None:
    """Compare two runs (.jsonl) question by question."""
    from nongda.evaluation import commands  # no other command needs it, and it takes a second
    from nongda.evaluation.runner import read_run

    commands.show_comparison(read_run(first), read_run(second), seed)
