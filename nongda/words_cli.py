"""The command `words`: a station's own words, beside the shipped tables."""

from __future__ import annotations

import codecs
from pathlib import Path

import click

from nongda.documents.parse_text import decode
from nongda.engine import Engine
from nongda.errors import StoreError, UsageError
from nongda.language.lexicon_table import KINDS
from nongda.language.own_words import OwnWord, format_table, parse_table
from nongda.language.text import search_form
from nongda.options import with_engine

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group(no_args_is_help=False, help="本站自己的叫法：list 列出，add 添加，remove 删除，import 导入，export 导出，check 检查词表")
def words() -> None:
    """Hold the commands."""


@words.command("list", help="列出本站自己的叫法")
@with_engine
def list_words(engine: Engine) -> None:
    """List the station's own words."""
    rows = engine.own_words()
    for row in rows:
        kind = KINDS.get(row.kind, row.kind)
        click.echo(f"{row.term}（{kind}，新名称）" if row.alias == row.term else f"{row.alias} → {row.term}（{kind}）")
    click.echo(f"共 {len(rows)} 个")


@words.command(help="添加一个叫法；同一叫法再添加一次就改成新的。新的标准名：两处写同一个词，并给出类别")
@with_engine
@click.argument("alias")
@click.argument("term")
@click.option("--kind", default="", help=f"新标准名的类别：{'、'.join(KINDS.values())}")
def add(engine: Engine, alias: str, term: str, kind: str) -> None:
    """Add one word; exit 2 when it cannot be used."""
    problems = _put(engine, [OwnWord(alias, term, kind)])
    if any(problem.startswith("第 1 行") for problem in problems) or not alias.strip():
        raise UsageError("，".join(problems) or "别名是空的，没有保存：请填写")
    _warn(problems)
    click.echo(f"已添加：{alias} → {engine.lexicon.names_of(alias)[0]}" if alias != term else f"已添加：{term}")


@words.command(help="删除一个叫法")
@with_engine
@click.argument("alias")
def remove(engine: Engine, alias: str) -> None:
    """Remove one word; exit 1 when there is none of this name."""
    rows = engine.own_words()
    rest = [row for row in rows if search_form(row.alias) != search_form(alias)]
    if len(rest) == len(rows):
        raise StoreError(f"自有词里没有“{alias}”：用 words list 命令查看现有的词")
    _warn(engine.set_own_words(rest))
    click.echo(f"已删除：{alias}")


@words.command("import", help="从表格文件导入（.csv 或制表符分隔；三栏：别名、标准名、类别），同一叫法以文件为准")
@with_engine
@click.argument("path", type=_FILE, metavar="FILE")
def import_words(engine: Engine, path: Path) -> None:
    """Import a table; exit 1 when a row of it could not be used, the others are kept."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"文件 {path} 无法读取（{error.strerror or error}）：请检查路径") from error
    problems = _put(engine, parse_table(decode(data, path.name), path.name))
    click.echo(f"已导入，现有 {len(engine.own_words())} 个自有词")
    if _warn(problems):
        raise SystemExit(1)


@words.command("export", help="导出到表格文件（.csv 可用表格软件打开，其余为制表符分隔）")
@with_engine
@click.argument("path", type=_FILE, metavar="FILE")
def export_words(engine: Engine, path: Path) -> None:
    """Export the station's own words; a spreadsheet knows by the mark at its begin that a file is UTF-8."""
    rows = engine.own_words()
    text = format_table(rows, "," if path.suffix.lower() == ".csv" else "\t")
    try:
        path.write_bytes(codecs.BOM_UTF8 + text.encode("utf-8"))
    except OSError as error:
        raise UsageError(f"文件 {path} 无法写入（{error.strerror or error}）：请换一个位置") from error
    click.echo(f"已导出 {len(rows)} 个自有词到 {path}")


@words.command(help="检查词表和自有词，列出读不懂而略过的行")
@with_engine
def check(engine: Engine) -> None:
    """Print what was left out of the tables; exit 1 when something was."""
    problems = engine.lexicon.problems
    for problem in problems:
        click.echo(problem)
    if problems:
        raise SystemExit(1)
    click.echo(f"词表没有问题：标准名 {len(engine.lexicon.standard_names())} 个，自有词 {len(engine.own_words())} 个")


def _put(engine: Engine, rows: list[OwnWord]) -> tuple[str, ...]:
    """Keep rows in the place of what their words meant so far, and return what is wrong with them.

    A row that cannot be used leaves what its word meant.
    """
    before = engine.own_words()
    given = {_form(row) for row in rows}
    problems = engine.set_own_words([*rows, *(row for row in before if _form(row) not in given)])
    kept = engine.own_words()
    lost = [row for row in before if _form(row) not in {_form(other) for other in kept}]
    if lost:
        engine.set_own_words([*kept, *lost])
    return problems


def _form(row: OwnWord) -> str:
    return search_form(" ".join(row.alias.split()))


def _warn(problems: tuple[str, ...]) -> bool:
    for problem in problems:
        click.echo(problem, err=True)
    return bool(problems)
