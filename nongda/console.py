"""What the command line prints and reads: JSON objects, progress, conversations. Knows nothing of the engine."""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import click
from tqdm import tqdm

from nongda.documents.parse import printable
from nongda.errors import UsageError
from nongda.intake import AddEvent, FileReport
from nongda.records import Answer, AnswerKind, Candidate, Citation, NoteKind, Turn

KINDS: Mapping[AnswerKind, str] = {
    "quoted": "摘录原文", "checked": "已核对", "computed": "按公式计算", "refused": "未找到", "question": "请先说明",
}
NOTES: Mapping[NoteKind, str] = {
    "law": "农药法规", "interval": "安全间隔期", "registered": "登记情况", "trust": "资料适用范围", "contradiction": "资料说法不一",
    "arithmetic": "计算过程", "checked": "核对情况",
}
BEFORE_TEXT: tuple[NoteKind, ...] = ("law", "trust")
_TABLE = re.compile(r"(?:^[ \t]*\|.*(?:\n|\Z))+", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s:|-]+")


def print_json(value: object) -> None:
    """Print one object on one line."""
    click.echo(json.dumps(value, ensure_ascii=False))


def read_json(path: Path) -> object:
    """Read a JSON file. Raises UsageError that names it."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UsageError(f"文件 {path} 无法读取（{error}）：请检查路径和格式") from error


def read_turns(value: object, where: str) -> list[Turn]:
    """Check a history; UsageError names the place where it is not [{role, content}]."""
    wrong = UsageError(f"{where} 里的对话历史格式不对：应是 [{{\"role\": \"user\"或\"assistant\", \"content\": 文字}}]")
    if not isinstance(value, list):
        raise wrong
    turns: list[Turn] = []
    for item in value:
        if not isinstance(item, dict) or item.get("role") not in ("user", "assistant"):
            raise wrong
        if not isinstance(item.get("content"), str):
            raise wrong
        turns.append(Turn(item["role"], item["content"]))
    return turns


def last_answer(events: Iterable[object]) -> Answer:
    """Run a question to its end."""
    return next(event for event in events if isinstance(event, Answer))


def answer_object(answer: Answer) -> dict[str, Any]:
    """Return an answer as `ask --json` prints it."""
    return {
        "question": answer.question, "standalone": answer.standalone, "answer": answer.text,
        "kind": answer.kind,
        "readings": [asdict(r) for r in answer.readings],
        "refused": answer.refused, "citations": [asdict(c) for c in answer.citations],
        "notes": [asdict(n) for n in answer.notes], "choices": list(answer.choices),
        "warnings": list(answer.warnings), "timings": dict(answer.timings), "models": dict(answer.models),
    }


def print_answer(events: Iterable[object]) -> None:
    """Print a finished answer: how it came about, what was understood, the law, the text, notes, choices, the cited words.

    Nothing is printed before the end, because what the law forbids must be read before the text, and so must what
    place or stage a source is about.
    """
    answer = last_answer(events)
    kind = "refused" if answer.refused else answer.kind
    first = [note for before in BEFORE_TEXT for note in answer.notes if note.kind == before]
    others = [note for note in answer.notes if note.kind not in BEFORE_TEXT]
    click.echo(f"【{KINDS[kind]}】")
    for reading in answer.readings:
        click.echo(f"已按“{reading.term}”理解“{reading.surface}”")
    for note in first:
        click.echo(f"！{NOTES[note.kind]}：{note.text}")
    click.echo(plain_tables(answer.text, shutil.get_terminal_size().columns))
    for note in others:
        click.echo(f"{NOTES[note.kind]}：{note.text}")
    for number, choice in enumerate(answer.choices, start=1):
        click.echo(f"  {number}. {choice}")
    for warning in answer.warnings:
        click.echo(f"提示：{warning}")
    cited = (*answer.citations, *(citation for note in (*first, *others) for citation in note.citations))
    for citation in dict.fromkeys(cited):
        _print_source(citation)


def plain_tables(text: str, columns: int) -> str:
    """Return a text with its tables of bars as aligned columns, or as a list of rows where a line is too short.

    `columns` is the width of a line; a Chinese character takes two.
    """
    return _TABLE.sub(lambda table: _plain_table(table[0], columns), text)


def _plain_table(table: str, columns: int) -> str:
    lines = [line for line in table.strip().split("\n") if not _RULE.fullmatch(line)]
    rows = [[cell.strip().replace("\\|", "|") for cell in _BAR.split(line.strip().strip("|"))] for line in lines]
    if len(rows) < 2:
        return table
    count = max(len(row) for row in rows)
    rows = [row + [""] * (count - len(row)) for row in rows]
    widths = [max(_width(row[i]) for row in rows) for i in range(count)]
    end = "\n" if table.endswith("\n") else ""
    if sum(widths) + 2 * (count - 1) <= columns:
        aligned = (["".join(cell + " " * (width - _width(cell) + 2) for cell, width in zip(row, widths, strict=True)).rstrip()
                    for row in rows])
        return "\n".join([aligned[0], "-" * min(columns, sum(widths) + 2 * (count - 1)), *aligned[1:]]) + end
    # Without a rule the first row may be no names of columns: then it is a row like the others.
    has_rule = any("-" in line and _RULE.fullmatch(line) for line in table.split("\n"))
    head, rows = (rows[0], rows) if has_rule else ([""] * count, [[], *rows])
    unused = [name for i, name in enumerate(head) if name and not any(row[i] for row in rows[1:])]
    said = ["；".join(f"{name}：{cell}" if name else cell for name, cell in zip(head, row, strict=True) if cell) for row in rows[1:]]
    return "\n".join(f"· {line}" for line in [*filter(None, ["；".join(unused)]), *said]) + end


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WFA" else 1 for character in text)


def _print_source(citation: Citation) -> None:
    place = " / ".join([citation.source, *citation.heading])
    click.echo(f"[{citation.id}] {place}：{citation.quote}")
    about = " · ".join(part for part in (citation.authority, citation.region, citation.date, citation.stage) if part)
    if about:
        click.echo(f"    来源：{about}")
    if citation.remark:
        click.echo(f"    ！请留意：{citation.remark}")


def batch_item(line: str, where: str) -> dict[str, Any]:
    """Read one line of a question file. Raises UsageError that says which line is wrong."""
    try:
        item = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where}不是 JSON（{error}）：每行应是 {{\"id\": 编号, \"question\": 问题}}") from error
    if not isinstance(item, dict) or not isinstance(item.get("question"), str):
        raise UsageError(f"{where}缺少 question：每行应是 {{\"id\": 编号, \"question\": 问题}}")
    return item


def result_object(candidate: Candidate) -> dict[str, Any]:
    """Return a passage as `search --json` prints it."""
    chunk = candidate.chunk
    return {
        "id": chunk.id, "score": round(candidate.score, 6),
        "ranks": {"bm25": candidate.ranks.get("bm25"), "dense": candidate.ranks.get("dense")},
        "source": candidate.document.source, "page": chunk.page, "heading": list(chunk.heading), "text": chunk.text,
    }


def show_adding(events: Iterator[AddEvent], quiet: bool = False) -> int:
    """Show files as they are added; return how many failed."""
    failed = 0
    with tqdm(unit="份", disable=None, leave=False) as bar:
        for event in events:
            if isinstance(event, FileReport):
                bar.total = event.total
                bar.update(1)
                failed += event.status == "failed"
                if event.status == "failed" or not quiet:
                    name = printable(Path(event.path).name)
                    tqdm.write(f"{event.doc_id or '--------'}  {name}：{event.message}", file=sys.stdout)
                for warning in event.warnings:
                    tqdm.write(f"          提示：{warning}", file=sys.stdout)
            else:
                bar.total = event.files
                bar.set_postfix_str(f"{printable(Path(event.path).name)} {event.done}/{event.total} 段")
    return failed


class ByteBars:
    """One progress bar in bytes per file, with the time left."""

    def __init__(self) -> None:
        self._bars: dict[str, tqdm[NoReturn]] = {}

    def __enter__(self) -> ByteBars:
        return self

    def __exit__(self, *_: object) -> None:
        for bar in self._bars.values():
            bar.close()

    def __call__(self, name: str, done: int, total: int) -> None:
        if name not in self._bars:
            self._bars[name] = tqdm(total=total, unit="B", unit_scale=True, desc=name, mininterval=1.0)
        bar = self._bars[name]
        bar.total = total
        bar.update(done - bar.n)
