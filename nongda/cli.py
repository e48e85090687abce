"""The command line: thin wrappers around the engine. Every error is one sentence on standard error."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any, Literal, NoReturn

import click

from nongda import __version__
from nongda.console import (
    ByteBars,
    answer_object,
    batch_item,
    last_answer,
    print_answer,
    print_json,
    read_json,
    read_turns,
    result_object,
    show_adding,
)
from nongda.documents_cli import DOCUMENT_COMMANDS
from nongda.engine import Engine
from nongda.errors import NongDaError, UsageError
from nongda.evaluate_cli import compare, evaluate, learn
from nongda.facts_cli import facts
from nongda.installation import add_samples, fetch_weights
from nongda.options import data_option, settings_of, with_engine
from nongda.pack_cli import pack
from nongda.words_cli import words


@click.group(help="农答：离线农技问答。不带命令时打开页面。")
@click.version_option(__version__, "--version", help="显示版本")
def cli() -> None:
    """Hold the commands."""


@cli.command(help="打开页面（只在本机）")
@with_engine
@click.option("--port", type=click.IntRange(1, 65535), default=None, help="端口（默认 7860，被占用时换一个）")
@click.option("--no-browser", is_flag=True, help="不自动打开浏览器")
def serve(engine: Engine, port: int | None, no_browser: bool) -> None:
    """Open the desk app."""
    from nongda.ui.layout import launch  # gradio takes seconds to import; other commands do without

    engine.library.start_watching()
    launch(engine, port, not no_browser, None)


@cli.command(help="取得模型并建立示例知识库")
@data_option
@click.option("--no-samples", is_flag=True, help="不添加示例资料")
def setup(data: Path, profile: str, no_samples: bool) -> None:
    """Fetch what is missing, with progress; quick when all is there."""
    with ByteBars() as bars:
        chosen = fetch_weights(profile, bars, click.echo)
    if no_samples:
        return
    engine = Engine.open(settings_of(data), data, chosen)
    try:
        failed = show_adding(add_samples(engine), quiet=True)
        click.echo(f"知识库已就绪：{len(engine.documents())} 份资料")
    finally:
        engine.close()
    if failed:
        raise SystemExit(1)


@cli.command(help="检索资料段落，不写回答")
@with_engine
@click.argument("question")
@click.option("--mode", type=click.Choice(["hybrid", "bm25", "dense"]), default="hybrid", help="检索方式")
@click.option("--no-rerank", is_flag=True, help="不重排")
@click.option("-k", "k", type=click.IntRange(1, 100), default=5, help="返回多少段")
@click.option("--json", "as_json", is_flag=True, help="输出 JSON")
def search(engine: Engine, question: str, mode: Literal["hybrid", "bm25", "dense"], no_rerank: bool, k: int,
           as_json: bool) -> None:
    """Rank passages for a question."""
    result = engine.search(question, mode, not no_rerank, k)
    if as_json:
        print_json({"question": question, "results": [result_object(c) for c in result.candidates],
                     "timings": dict(result.timings)})
        return
    for candidate in result.candidates:
        place = " / ".join([candidate.document.source, *candidate.chunk.heading])
        click.echo(f"[{candidate.chunk.id}] {candidate.score:.4f} {place}\n{candidate.chunk.text}\n")
    if not result.candidates:
        click.echo("没有找到相关段落")


@cli.command(help="回答一个问题，或一批问题")
@with_engine
@click.argument("question", required=False)
@click.option("--json", "as_json", is_flag=True, help="输出 JSON")
@click.option("--history", type=click.Path(path_type=Path), help="对话历史文件：[{role, content}]")
@click.option("--batch", type=click.Path(path_type=Path), help="问题文件，每行一个 JSON：{id, question, history?}")
def ask(engine: Engine, question: str | None, as_json: bool, history: Path | None, batch: Path | None) -> None:
    """Answer with citations; a refusal is an answer too."""
    if (question is None) == (batch is None):
        raise UsageError("请给出一个问题，或用 --batch 给出问题文件（二者选一）")
    if batch is not None:
        _ask_batch(engine, batch)
    elif question is not None:
        turns = read_turns(read_json(history), str(history)) if history else []
        if as_json:
            print_json(answer_object(last_answer(engine.ask(question, turns))))
        else:
            print_answer(engine.ask(question, turns))


@cli.command(help="检查安装：模型、知识库、内存")
@with_engine
@click.option("--json", "as_json", is_flag=True, help="输出 JSON")
def doctor(engine: Engine, as_json: bool) -> None:
    """Describe this installation; exit 1 when something must be done."""
    report = {"version": __version__, "python": sys.version.split()[0], **engine.doctor()}
    if as_json:
        print_json(report)
    else:
        for key, value in report.items():
            if key != "problems":
                click.echo(f"{key}: {json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value}")
        click.echo("\n".join(f"问题：{p}" for p in report["problems"]) or "一切正常")
    if report["problems"]:
        raise SystemExit(1)


@cli.command(help="为当前向量模型重新测定阈值，并说明理由")
@with_engine
def calibrate(engine: Engine) -> None:
    """Measure the thresholds of settings.toml for the embedder in use."""
    from nongda.evaluation.calibrate import calibrate as measure  # no other command needs it

    for sentence in measure(engine):
        click.echo(sentence)


for command in DOCUMENT_COMMANDS:
    cli.add_command(command)
cli.add_command(evaluate)
cli.add_command(learn)
cli.add_command(compare)
cli.add_command(words)
cli.add_command(pack)
cli.add_command(facts)


def main() -> NoReturn:
    """Run the command line; the only place that catches everything."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    try:
        cli.main(sys.argv[1:] or ["serve"], prog_name="app.py", standalone_mode=False)
        code = 0
    except click.ClickException as error:
        code = _fail(f"命令用法不对：{error.format_message()}（加 --help 查看用法）", 2)
    except UsageError as error:
        code = _fail(str(error), 2)
    except NongDaError as error:
        code = _fail(str(error), 1)
    except (KeyboardInterrupt, click.Abort):
        code = _fail("已停止", 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on; no message at exit
        code = 1
    except Exception as error:
        if os.environ.get("NONGDA_DEBUG"):
            raise
        code = _fail(f"程序出错（{type(error).__name__}: {error}）：请设 NONGDA_DEBUG=1 再运行一次，把输出发给支持人员", 1)
    sys.exit(code)


def _fail(message: str, code: int) -> int:
    click.echo(message, err=True)
    return code

def _ask_batch(engine: Engine, path: Path) -> None:
    """Answer JSON lines one by one; a bad line becomes an object with its error, the others go on."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"问题文件 {path} 无法读取（{error}）：请检查路径，并存为 UTF-8") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        item: dict[str, Any] = {}
        try:
            item = batch_item(line, f"{path} 第 {number} 行")
            turns = read_turns(item.get("history", []), f"{path} 第 {number} 行")
            result = answer_object(last_answer(engine.ask(item["question"], turns)))
        except UsageError as error:
            result = {"question": item.get("question"), "error": str(error)}
        print_json({"id": item.get("id", number), **result})
        sys.stdout.flush()


