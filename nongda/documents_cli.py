"""The commands about documents: thin wrappers around the library."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from nongda.console import print_json, show_adding
from nongda.documents.parse import PAGED, PARSERS
from nongda.engine import Engine
from nongda.errors import UsageError
from nongda.index.life import EDITABLE
from nongda.library import show as show_id
from nongda.options import with_engine
from nongda.records import DocumentState, StoredDocument

STATES: Mapping[DocumentState, str] = {
    "active": "使用中", "superseded": "已有新版", "retired": "已停用", "removed": "已移除",
}
_PAUSE = 5.0  # seconds between two looks at a folder
_LABELS = {"title": "标题", "region": "地区", "date": "日期", "stage": "生育期", "authority": "来源单位",
           "valid_until": "有效期至", "tags": "标签，用逗号分开"}


@click.command(help=f"添加资料或整个文件夹（{' '.join([*PARSERS, *PAGED])}）")
@with_engine
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
def add(engine: Engine, paths: tuple[Path, ...]) -> None:
    """Add files, and all files in folders; exit 1 when one could not be added."""
    if show_adding(engine.add(paths)):
        raise SystemExit(1)


@click.command(help="让知识库跟上一个文件夹：新的、改过的、移走的文件（--watch 一直关注）")
@with_engine
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--watch", is_flag=True, help="一直关注，按 Ctrl+C 结束")
def sync(engine: Engine, folder: Path, watch: bool) -> None:
    """Bring the knowledge base up to a folder; exit 1 when a file could not be added."""
    failed = show_adding(engine.library.sync(folder))
    while watch:
        time.sleep(_PAUSE)
        failed = show_adding(engine.library.sync(folder), quiet=True)
    if failed:
        raise SystemExit(1)


@click.command(help="移除一份资料（引用过的段落仍可用 show 查看；--forget 彻底删除）")
@with_engine
@click.argument("docid")
@click.option("--forget", is_flag=True, help="彻底删除，引用也不能再查看")
def remove(engine: Engine, docid: str, forget: bool) -> None:
    """Remove a document by its id."""
    document = engine.remove(docid, forget)
    click.echo(f"已移除 {document.id} {document.meta.title}（{document.source}）")


@click.command(help="列出资料")
@with_engine
@click.option("--json", "as_json", is_flag=True, help="输出 JSON")
def docs(engine: Engine, as_json: bool) -> None:
    """List the documents."""
    documents = engine.documents()
    if as_json:
        print_json([asdict(d) for d in documents])
        return
    for document in documents:
        state = "" if document.state == "active" else f"  〔{STATES[document.state]}〕"
        click.echo(f"{document.id}  {document.meta.title}  {document.source}  {document.chunks} 段{state}")
        for remark in remarks(document):
            click.echo(f"          提示：{remark}")
    click.echo(f"共 {len(documents)} 份资料")


def remarks(document: StoredDocument) -> list[str]:
    """Return what the reader should know of a document, a sentence each."""
    found = list(document.warnings)
    if document.doubtful:
        found.append(f"有 {document.doubtful} 页识别得不可靠或没有收入")
    if document.off_topic:
        found.append(f"有 {document.off_topic} 段与农业无关，检索时排在后面")
    return found


@click.command(help="查看一份资料，或引用编号所指的原文（旧版、已移除的也能查）")
@with_engine
@click.argument("any_id", metavar="ID")
def show(engine: Engine, any_id: str) -> None:
    """Show what an id names that was ever cited."""
    document, chunk = show_id(engine.library, any_id.strip().strip("[]"))
    meta = document.meta
    click.echo(f"{document.id}  {meta.title}（{document.source}）〔{STATES[document.state]}〕")
    if document.superseded_by:
        click.echo(f"新版：{document.superseded_by}")
    about = [part for part in (meta.authority, meta.region, meta.date, meta.stage, *meta.tags) if part]
    if about:
        click.echo("来源：" + " · ".join(about))
    if meta.valid_until:
        click.echo(f"有效期至：{meta.valid_until}")
    for passage in [chunk] if chunk else engine.chunks_of(document.id):
        place = " / ".join([*([f"第 {passage.page} 页"] if passage.page else []), *passage.heading])
        click.echo(f"\n[{passage.id}] {place}\n{passage.text}")


@click.command(help="停用一份资料（不再用来回答，可恢复）")
@with_engine
@click.argument("docid")
def retire(engine: Engine, docid: str) -> None:
    """Take a document out of use."""
    document = engine.library.retire(docid)
    click.echo(f"已停用 {document.id} {document.meta.title}")


@click.command(help="恢复使用一份停用的资料或旧版")
@with_engine
@click.argument("docid")
def restore(engine: Engine, docid: str) -> None:
    """Take a document into use again."""
    document = engine.library.restore(docid)
    click.echo(f"已恢复使用 {document.id} {document.meta.title}")


@click.command(help="更改一份资料的标题、日期、地区等")
@with_engine
@click.argument("docid")
def describe(engine: Engine, docid: str, **changes: str | None) -> None:
    """Change what is known of a document; the next question uses it."""
    given = {key: value for key, value in changes.items() if value is not None}
    if not given:
        raise UsageError("请用选项写明要改什么，如 --date 2024-03（加 --help 查看全部）")
    document = engine.library.describe(docid, given)
    click.echo(f"已更改 {document.id} {document.meta.title}")


for _key in EDITABLE:
    describe = click.option("--" + _key.replace("_", "-"), _key, default=None, help=_LABELS[_key])(describe)


@click.command(help="用原始文件重建知识库（更换模型或分段规则之后）")
@with_engine
def rebuild(engine: Engine) -> None:
    """Make the knowledge base anew; the old one stays until the end."""
    show_adding(engine.rebuild())
    click.echo(f"重建完成：{len(engine.documents())} 份资料")


DOCUMENT_COMMANDS = (add, sync, remove, docs, show, retire, restore, describe, rebuild)
