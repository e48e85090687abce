"""What the command line prints and reads: JSON objects, progress, conversations. Knows nothing of the engine."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import click
from tqdm import tqdm

from nongda.errors import UsageError
from nongda.records import AddEvent, Answer, Candidate, Delta, FileReport, Turn


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
        "refused": answer.refused, "citations": [asdict(c) for c in answer.citations],
        "warnings": list(answer.warnings), "timings": dict(answer.timings), "models": dict(answer.models),
    }


def print_answer(events: Iterable[object]) -> None:
    """Print sentences as they come, then warnings and the cited words."""
    for event in events:
        if isinstance(event, Delta):
            click.echo(event.text, nl=False)
        elif isinstance(event, Answer):
            click.echo()
            for warning in event.warnings:
                click.echo(f"提示：{warning}")
            for citation in event.citations:
                place = " / ".join([citation.source, *citation.heading])
                click.echo(f"[{citation.id}] {place}：{citation.quote}")


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
                    name = Path(event.path).name
                    tqdm.write(f"{event.doc_id or '--------'}  {name}：{event.message}", file=sys.stdout)
                for warning in event.warnings:
                    tqdm.write(f"          提示：{warning}", file=sys.stdout)
            else:
                bar.total = event.files
                bar.set_postfix_str(f"{Path(event.path).name} {event.done}/{event.total} 段")
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
