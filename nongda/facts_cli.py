"""The command `facts`: what the table of facts holds, by attribute, drawn at random, or found by a word."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click

from nongda.console import print_json
from nongda.documents.pieces import header_above, piece_spans
from nongda.engine import Engine
from nongda.errors import UsageError
from nongda.options import with_engine
from nongda.records import Fact

_COLUMNS = ("attribute", "subject", "crop", "target", "value", "low", "high", "unit", "condition", "chunk_id", "heading",
            "text")
_BY_MODEL = 10  # sentences that the model reads


@click.command(help="事实表：各属性的条数，或抽样、按词查看")
@with_engine
@click.option("--sample", type=click.IntRange(1, 10_000), help="随机抽取这么多条，连同原文")
@click.option("--seed", type=int, default=7, show_default=True, help="随机种子")
@click.option("--find", "words", help="只看含有这个词的事实")
@click.option("--by-model", is_flag=True, help=f"由语言模型按语法读随机的几句（默认 {_BY_MODEL} 句），只显示核对无误的")
@click.option("--json", "as_json", is_flag=True, help="输出 JSON")
def facts(engine: Engine, sample: int | None, seed: int, words: str | None, by_model: bool, as_json: bool) -> None:
    """Show facts with the text they are quoted from, or count them."""
    if by_model:
        _show(engine, list(_by_model(engine, sample or _BY_MODEL, seed)), as_json)
        return
    table = engine.facts()
    if sample is None and words is None:
        counts = table.count_by_attribute()
        names = {a.key: a.name for a in engine.fact_extractor().attributes.by_key.values()}
        if as_json:
            print_json({"total": sum(counts.values()), "attributes": counts})
            return
        for key, count in counts.items():
            click.echo(f"{count}\t{key}\t{names.get(key, '')}")
        click.echo(f"共 {sum(counts.values())} 条")
        return
    found = table.select()
    if words is not None:
        found = [f for f in found if any(words in part for part in (f.subject, f.crop, f.target, f.value, f.condition))]
    if sample is not None:
        found = random.Random(seed).sample(found, min(sample, len(found)))
    _show(engine, found, as_json)


def _show(engine: Engine, found: Sequence[Fact], as_json: bool) -> None:
    rows = [_row(engine, fact) for fact in found]
    if as_json:
        print_json(rows)
        return
    click.echo("\t".join(_COLUMNS))
    for row in rows:
        click.echo("\t".join("" if row[c] is None else " ".join(str(row[c]).split()) for c in _COLUMNS))


def _row(engine: Engine, fact: Fact) -> dict[str, Any]:
    """Return a fact with its headings and the text it is quoted from, a table row under its header."""
    chunk = engine.chunk(fact.chunk_id)
    if chunk is None:
        return {**asdict(fact), "heading": "", "text": ""}
    header = header_above(chunk.text, fact.start) if chunk.kind == "table" else []
    text = chunk.text[fact.start : fact.end]
    shown = f"| {' | '.join(header)} | → {text}" if header else text
    return {**asdict(fact), "low": _finite(fact.low), "high": _finite(fact.high), "heading": " / ".join(chunk.heading),
            "text": shown}


def _finite(number: float | None) -> float | str | None:
    """JSON has no infinity."""
    return str(number) if number is not None and number in (float("inf"), float("-inf")) else number


def _by_model(engine: Engine, count: int, seed: int) -> Iterator[Fact]:
    """Yield what the model finds in sentences with a number, drawn at random."""
    writer = engine.generator
    if writer is None:
        raise UsageError("这台电脑没有可用的语言模型，不能用 --by-model：请运行 setup 命令取得")
    extractor = engine.fact_extractor()
    pieces = [(chunk, document.meta, span) for document in engine.documents() for chunk in engine.chunks_of(document.id)
              if chunk.kind != "table" for span in piece_spans(chunk.text, chunk.kind)
              if any(c.isdigit() for c in chunk.text[slice(*span)])]
    for chunk, meta, span in random.Random(seed).sample(pieces, min(count, len(pieces))):
        yield from extractor.facts_by_model(chunk, meta, span, writer, threading.Event())
