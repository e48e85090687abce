"""The command `pack`: knowledge packs, made by a province, added and undone by a station."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import NoReturn, TypeVar

import click
from tqdm import tqdm

from nongda.engine import Engine
from nongda.errors import UsageError
from nongda.index.pack import SUFFIX
from nongda.index.pack_manifest import Manifest, Retired
from nongda.index.pack_plan import Plan
from nongda.index.pack_sign import make_key
from nongda.intake import Progress
from nongda.options import with_engine

_FILE = click.Path(path_type=Path, dir_okay=False)
_RETIRE = re.compile(r"([0-9a-f]{8})(?:[=:：](.*))?", re.DOTALL)
_SHOWN = 20  # documents listed one by one
_STAGES: Mapping[str, str] = {"reading": "页", "embedding": "段"}
Result = TypeVar("Result")


@click.group(help="知识包：make 制作，check 检查，add 添加，undo 撤销，list 列出；key make 制作密钥，trust 信任公钥，trusted 列出")
def pack() -> None:
    """Hold the commands."""


@pack.group(help="省站的密钥")
def key() -> None:
    """Hold the commands of keys."""


@key.command("make", help="制作一对密钥：NAME.key 自己保管，NAME.pub 发给各站")
@click.argument("name")
def make_key_pair(name: str) -> None:
    """Make a key; needs no knowledge base."""
    public, secret_file, public_file = make_key(Path(name))
    click.echo(f"私钥 {secret_file}：只留在省站，另存一份备份，不要放进知识包的 U 盘")
    click.echo(f"公钥 {public_file}：发给各站，用 pack trust 命令信任")
    click.echo(f"密钥编号 {_spaced(public.id)}：请各站打电话核对")


@pack.command(help="把本知识库的资料做成知识包，签名、写入并读回核对")
@with_engine
@click.argument("path", type=_FILE, metavar="FILE")
@click.option("--key", "key_file", type=_FILE, required=True, help="私钥文件 NAME.key")
@click.option("--documents", multiple=True, help="资料编号（可重复，或用逗号分开）；默认 all：在用的和旧版的全部资料")
@click.option("--words/--no-words", default=True, help="是否带上自有词（默认带上）")
@click.option("--retire", multiple=True, help="停用的资料：编号，或 编号=原因（可重复）")
@click.option("--name", default="", help="知识包的名称（默认用文件名）")
@click.option("--date", "made_at", default="", help="打包时间（默认现在）；同样的内容、时间和密钥，做出的文件逐字节相同")
def make(engine: Engine, path: Path, key_file: Path, documents: tuple[str, ...], words: bool, retire: tuple[str, ...],
         name: str, made_at: str) -> None:
    """Make a pack."""
    path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
    chosen = [part for text in documents for part in re.split(r"[,，\s]+", text) if part]
    with _Bytes() as bar:
        manifest = engine.packs.make(path, key_file, name, None if chosen in ([], ["all"]) else chosen, words,
                                     [_retired(text) for text in retire], made_at, bar)
    click.echo(f"已写入并读回核对：{path}（{path.stat().st_size / 2**20:.1f} MiB）")
    _describe(manifest)


def _retired(text: str) -> Retired:
    match = _RETIRE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"--retire {text} 不是资料编号：请写 8 位编号，或 编号=原因")
    return Retired(match[1], " ".join((match[2] or "").split()))


@pack.command(help="检查知识包：签名、校验码、版本，以及添加后会改动什么；什么也不改")
@with_engine
@click.argument("path", type=_FILE, metavar="FILE")
def check(engine: Engine, path: Path) -> None:
    """Check a pack and say what adding it would change."""
    with _Bytes() as bar:
        found = engine.packs.open(path, bar)
    click.echo(f"{path.name} 完整，由“{found.signer.name}”签名（密钥编号 {_spaced(found.signer.id)}）")
    _describe(found.manifest)
    planned = engine.packs.plan(found)
    click.echo("已经添加过，再添加不会有改动" if planned.added_before else "添加后会有这些改动：")
    if not planned.added_before:
        _show(engine, planned)


@pack.command(help="添加知识包：全部添加，或者什么也不改")
@with_engine
@click.argument("path", type=_FILE, metavar="FILE")
def add(engine: Engine, path: Path) -> None:
    """Check and add a pack."""
    with _Bytes() as bar:
        found = engine.packs.open(path, bar)
    result = _followed(engine.packs.add(found))
    if result is None or result.plan.added_before:
        click.echo(f"知识包“{found.manifest.name}”已经添加过，没有改动")
        return
    click.echo(f"已添加知识包“{found.manifest.name}”（编号 {found.manifest.id}），撤销用 pack undo 命令")
    _show(engine, result.plan)
    if result.embedded:
        click.echo(f"其中 {result.embedded} 段没有可用的向量，已在本机计算")


@pack.command(help="撤销一个知识包（编号或名称，默认最后添加的），恢复添加前的样子")
@with_engine
@click.argument("which", required=False, default="", metavar="[ID]")
def undo(engine: Engine, which: str) -> None:
    """Undo a pack."""
    undone = engine.packs.undo(which)
    counts = f"移除资料 {len(undone.removed)} 份，恢复资料 {len(undone.returned)} 份、叫法 {undone.words} 个"
    click.echo(f"已撤销知识包“{undone.name}”：{counts}")
    for sentence in undone.stays:
        click.echo(f"留下：{sentence}")


@pack.command("list", help="列出添加过的知识包")
@with_engine
def list_packs(engine: Engine) -> None:
    """List the packs that were added."""
    packs = engine.packs.added()
    for one in packs:
        click.echo(f"{one.id}  {one.name}  {one.made_at[:10]} 制作  {one.added_at[:10]} 添加  {one.signer}  "
                   f"{len(one.record.added)} 份资料")
    click.echo(f"共 {len(packs)} 个知识包")


@pack.command(help="信任一个公钥（.pub 文件）：以后接受用它签名的知识包")
@with_engine
@click.argument("path", type=_FILE, metavar="FILE.pub")
def trust(engine: Engine, path: Path) -> None:
    """Trust a key."""
    public = engine.packs.trust(path)
    click.echo(f"已信任“{public.name}”的公钥，密钥编号 {_spaced(public.id)}：请打电话与省站核对，不一致就删除 "
               f"{engine.data_dir / 'keys' / (public.id + '.pub')}")


@pack.command(help="列出信任的公钥")
@with_engine
def trusted(engine: Engine) -> None:
    """List the trusted keys."""
    keys = engine.packs.trusted()
    for public in keys:
        click.echo(f"{_spaced(public.id)}  {public.name}")
    click.echo(f"共 {len(keys)} 个信任的公钥")


def _spaced(key_id: str) -> str:
    return " ".join(key_id[i : i + 4] for i in range(0, len(key_id), 4))


def _describe(manifest: Manifest) -> None:
    click.echo(f"名称 {manifest.name}，编号 {manifest.id}，{manifest.made_at[:10]} 由 {manifest.maker} 制作（程序 {manifest.program}）："
               f"{len(manifest.documents)} 份资料，停用 {len(manifest.retire)} 份，{manifest.words} 个叫法")


def _show(engine: Engine, planned: Plan) -> None:
    names = {d.id: f"{d.id} {d.meta.title or d.source}" for d in engine.documents()}
    names |= {one.document.id: f"{one.document.id} {one.document.meta.title or one.document.source}" for one in planned.new}
    notes = {"superseded": "，作为旧版", "retired": "，停用"}
    _list("新资料", [names[one.document.id] + notes.get(one.life.state, "") for one in planned.new])
    _list("被新版代替", [f"{names.get(old, old)} → {new}" for old, new in planned.replaced.items()])
    _list("停用", [names.get(i, i) + (f"：{reason}" if reason else "") for i, reason in planned.retired.items()])
    _list("恢复使用", [names.get(doc_id, doc_id) for doc_id in planned.restored])
    _list("说明改动", [names.get(change.id, change.id) for change in planned.descriptions])
    click.echo(f"已在知识库：{len(planned.there)} 份")
    _list("叫法", [f"{change.after.alias} → {change.after.term}" + (f"（原为 {change.before.term}）" if change.before else "")
                 for change in planned.words])
    for problem in planned.problems:
        click.echo(f"提示：叫法{problem}")


def _list(title: str, lines: list[str]) -> None:
    click.echo(f"{title}：{len(lines)}")
    for line in lines[:_SHOWN]:
        click.echo(f"  {line}")
    if len(lines) > _SHOWN:
        click.echo(f"  ……另有 {len(lines) - _SHOWN} 个")


def _followed(steps: Generator[Progress, None, Result]) -> Result:
    """Show progress and return what comes out."""
    with tqdm(unit="份", disable=None, leave=False) as bar:
        try:
            while True:
                step = next(steps)
                bar.total = step.files
                bar.update(step.index - 1 - bar.n)
                bar.set_postfix_str(f"{step.path} {step.done}/{step.total} {_STAGES[step.stage]}")
        except StopIteration as end:
            result: Result = end.value
            return result


class _Bytes:
    """A progress bar of the bytes of a pack that were checked."""

    def __enter__(self) -> _Bytes:
        self._bar: tqdm[NoReturn] = tqdm(unit="B", unit_scale=True, disable=None, leave=False, desc="核对")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.close()

    def __call__(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)
