"""Runs one system over the gold questions: one JSON line a question, so that a killed run goes on where it stopped.

A run is two files: NAME.jsonl, a record a question, and NAME.json, what made it (settings, versions, weights).
1. Prepare the knowledge base; find for every question the chunks that prove its evidence.
2. Keep the records of an earlier run made by the same system, scored anew with today's gold; what failed is asked again.
3. Ask the others, one record each, flushed at once.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nongda import __version__
from nongda.documents.identify import document_id, file_sha256, sha256_hex
from nongda.errors import GenerationError, UsageError
from nongda.evaluation.causes import proves
from nongda.evaluation.dataset import Family, GoldEvidence, GoldQuestion, chunks_of_evidence
from nongda.evaluation.scoring import Outcome, score
from nongda.evaluation.values import Values
from nongda.evaluation.variants import System
from nongda.records import Answer, Stage

Record = dict[str, Any]
_STATE = ("system", "settings", "corpus", "domain", "models", "generate", "version")  # what must be the same to go on
# What answers are made by; the evaluation and the page are not part of it.
_CODE = ("engine.py", "records.py", "settings.py", "language/*.py", "documents/*.py", "models/*.py", "index/*.py", "answer/*.py")
_PACKAGES = ("llama-cpp-python", "onnxruntime", "tokenizers", "numpy", "jieba", "hnswlib", "chroma-hnswlib", "sqlite-utils")


class GoldScorer:
    """Scores records of one system: knows which of its chunks prove what."""

    def __init__(self, system: System, corpus: Path, families: Sequence[Family], values: Values) -> None:
        paths = corpus.rglob("*.md")
        ids = {path.relative_to(corpus).as_posix(): document_id(path.read_bytes()) for path in paths}
        self._ids = ids
        self._chunks = {doc: system.engine.chunks_of(doc_id) for doc, doc_id in ids.items()}
        general = {doc for family in families if family.general for doc in family.documents}
        self._crops = {ids[doc]: "" if doc in general else doc.split("/")[0] for doc in ids}
        self._values = values

    def evidence(self, question: GoldQuestion) -> list[frozenset[str]]:
        """Return the chunk ids that prove each piece of evidence. Raises UsageError for a quote that is nowhere."""
        return [chunks_of_evidence(piece, self._chunks) for piece in question.evidence]

    def scored(self, record: Record, question: GoldQuestion) -> Record:
        """Return the record with the metrics that today's gold gives its outcome."""
        evidence = self.evidence(question)
        outcome = Outcome(record["answer"], record["refused"], tuple(record["cited"]), tuple(record["ranking"]),
                          record["timings"])
        result = score(question, outcome, evidence, self._crops, self._values)
        said = "" if record["refused"] else record["answer"]
        return {
            **record, "gold": gold_key(question), "kind": question.kind, "topic": question.topic, "split": question.split,
            "answerable": question.answerable, "evidence": [sorted(piece) for piece in evidence],
            "metrics": {name: list(pair) for name, pair in result.metrics.items()}, "error": result.error,
            "missing": [value for value in question.must if not self._values.holds(said, value)],
            "false": [value for value in question.must_not if self._values.holds(said, value)],
            "quoted": [self._is_quoted(piece, record["quotes"]) for piece in question.evidence],
        }

    def _is_quoted(self, piece: GoldEvidence, quotes: Sequence[Sequence[str]]) -> bool:
        """Tell whether one of the quotes, each (chunk id, source, words), holds the words that prove this piece."""
        return any(
            chunk_id.split("#")[0] == self._ids.get(passage.doc) and proves(words, passage.quote)
            for passage in piece.passages for chunk_id, _, words in quotes
        )


def describe(system: System, corpus: Path, weights: Path, generate: bool, command: str) -> dict[str, Any]:
    """Return what made a run: enough to make it again, and to see that two runs differ."""
    root = weights.parent.parent
    return {
        "system": dataclasses.asdict(system.variant), "settings": dataclasses.asdict(system.settings),
        "corpus": digest(corpus.rglob("*.md")), "domain": digest((root / "assets" / "domain").rglob("*.*")),
        "code": digest(path for part in _CODE for path in (root / "nongda").glob(part)),
        "models": _weights_used(system, weights, generate), "generate": generate, "version": __version__,
        "packages": _installed(_PACKAGES), "python": platform.python_version(),
        "machine": f"{platform.system()}, {os.cpu_count()} CPUs", "command": command,
    }


def _installed(names: Iterable[str]) -> dict[str, str]:
    """Return versions; of the two packages that carry hnswlib a machine has one."""
    present = {str(d.name).lower(): d.version for d in importlib.metadata.distributions()}
    return {name: present[name] for name in names if name in present}


def digest(files: Iterable[Path]) -> str:
    """Return one SHA-256 of the files' names and contents."""
    found = hashlib.sha256()
    for path in sorted(files):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def _weights_used(system: System, weights: Path, generate: bool) -> dict[str, str]:
    names = [system.engine.models.embedder.name]
    generator = system.engine.generator if generate else None
    names += [generator.name] if generator else []
    files = [p for name in names for p in sorted([weights / name, *(weights / name).rglob("*")]) if p.is_file()]
    return {path.relative_to(weights).as_posix(): file_sha256(path) for path in files}


def run(system: System, questions: Sequence[GoldQuestion], scorer: GoldScorer, out: Path,
        made_by: Mapping[str, Any]) -> Iterator[Record]:
    """Yield the record of every question, old ones first; records of other questions stay in the file.

    Raises UsageError when `out` is another system's run, or when the program has changed and questions are left.
    """
    by_id = {question.id: question for question in questions}
    before = _earlier(out, made_by)
    kept = {r["id"]: r for r in before if not (r["id"] in by_id and (r["failed"] or r["asked"] != _asked(by_id[r["id"]])))}
    done = {i: scorer.scored(kept[i], by_id[i]) for i in by_id if i in kept}
    left = [question for question in questions if question.id not in done]
    _check_code(out, before, left, made_by)
    if not before:
        _write(out.with_suffix(".json"), json.dumps(made_by, ensure_ascii=False, indent=1))
    _write(out, "".join(_line(record) for record in {**kept, **done}.values()))
    yield from done.values()
    with out.open("a", encoding="utf-8", newline="\n") as file:
        for question in left:
            record = scorer.scored(_ask(system, question), question)
            file.write(_line(record))
            file.flush()
            yield record


def _earlier(out: Path, made_by: Mapping[str, Any]) -> list[Record]:
    """Return the records of an earlier run of the same system."""
    if not out.exists():
        return []
    before = read_made_by(out)
    now = json.loads(json.dumps(made_by, ensure_ascii=False))
    changed = [key for key in _STATE if before.get(key) != now.get(key)]
    if changed:
        raise UsageError(
            f"{out} 是另一种配置的结果（不同的项：{'、'.join(changed)}）：请换一个 --out 文件夹，或加 --fresh 重新开始"
        )
    return read_run(out)


def _check_code(out: Path, before: Sequence[Record], left: Sequence[GoldQuestion], made_by: Mapping[str, Any]) -> None:
    if before and left and read_made_by(out).get("code") != made_by.get("code"):
        raise UsageError(f"{out} 由改动前的程序写成，还剩 {len(left)} 题：请换一个 --out 文件夹，或加 --fresh 重新开始")


def read_made_by(out: Path) -> dict[str, Any]:
    """Read what made a run. Raises UsageError when its file is missing or damaged."""
    path = out.with_suffix(".json")
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"评测结果的说明文件 {path} 无法读取（{error}）：请恢复该文件，或加 --fresh 重新开始") from error
    return found


def read_run(path: Path) -> list[Record]:
    """Read a run's records; a last line cut short by a kill is left out. Raises UsageError for an unreadable file."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"评测结果 {path} 无法读取（{error}）：请检查路径") from error
    records: list[Record] = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                records.append(json.loads(line.decode("utf-8")))
        except ValueError as error:
            if number < len(lines):
                raise UsageError(f"评测结果 {path} 第 {number} 行损坏（{error}）：请加 --fresh 重新开始") from error
    return records


def gold_key(question: GoldQuestion) -> str:
    """Return a short digest of a question with its gold: tells whether a record was scored with it."""
    return sha256_hex(repr(question).encode())[:12]


def _asked(question: GoldQuestion) -> str:
    words = [question.question, *(turn.content for turn in question.history)]
    return sha256_hex(json.dumps(words).encode())[:12]


def _ask(system: System, question: GoldQuestion) -> Record:
    """Ask and keep what is needed to score, list and judge; a question that fails counts as a wrong answer."""
    ranking: tuple[str, ...] = ()
    answer, failed = None, ""
    try:
        for event in system.ask(question.question, question.history):
            if isinstance(event, Stage) and event.ranking:
                ranking = event.ranking
            elif isinstance(event, Answer):
                answer = event
    except (UsageError, GenerationError) as error:
        failed = str(error)
    record: Record = {
        "id": question.id, "asked": _asked(question), "question": question.question,
        "history": [dataclasses.asdict(turn) for turn in question.history], "standalone": "", "answer": "",
        "refused": False, "cited": [], "quotes": [], "ranking": list(ranking), "timings": {}, "warnings": [], "failed": failed,
        "answer_kind": "", "notes": [], "readings": [],
    }
    if answer is not None:
        record |= {
            "standalone": answer.standalone, "answer": answer.text, "refused": answer.refused,
            "cited": list(dict.fromkeys(c.id for c in answer.citations)),
            "quotes": [[c.id, c.source, c.quote] for c in answer.citations], "timings": dict(answer.timings),
            "warnings": list(answer.warnings), "answer_kind": answer.kind,
            "notes": [[note.kind, note.text, list(dict.fromkeys(c.id for c in note.citations))] for note in answer.notes],
            "readings": [[reading.surface, reading.term] for reading in answer.readings],
        }
    return record


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)
