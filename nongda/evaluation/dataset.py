"""The gold questions: what is asked, which words of which document prove the answer, what it must hold.

Files: `families.toml` (which documents are on which side) and `<split>/<topic>.jsonl`, one question a line:
    id, kind, question, answerable, and where they apply
    history    [{role, content}]
    evidence   [{doc, quote, also: [{doc, quote}]}]: doc is a path under the corpus folder, the quote its own words;
               any passage of `also` proves the same
    must       values the answer has to hold, alternatives of one value parted by |
    must_not   values of a careless answer: another disease's dose, another product's name
    answer     a reference answer for human judges
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from nongda.errors import UsageError
from nongda.language.text import fold
from nongda.records import Chunk, Turn

KINDS = ("single", "multi", "comparison", "yes_no", "choice", "numeric", "colloquial", "follow_up")
UNANSWERABLE = "unanswerable"
SPLITS = ("dev", "test")
_FIELDS = {"id", "kind", "question", "answerable", "history", "evidence", "must", "must_not", "answer"}
_UNSEEN = frozenset("|*_`#>\\")
_LEAST_SHARE = 0.4  # of a quote that a chunk holds when chunking has cut the quote in two


@dataclass(frozen=True, slots=True)
class Passage:
    """Verbatim words of a document; `doc` is its path under the corpus folder."""

    doc: str
    quote: str


@dataclass(frozen=True, slots=True)
class GoldEvidence:
    """One thing to cite; each of its passages proves it."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with what a right answer cites and holds."""

    id: str
    split: str
    topic: str
    kind: str
    question: str
    answerable: bool
    history: tuple[Turn, ...] = ()
    evidence: tuple[GoldEvidence, ...] = ()
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Documents that stay on one side of the split."""

    name: str
    split: str
    topic: str
    documents: tuple[str, ...]
    general: bool = False  # for all crops


def load_families(folder: Path) -> list[Family]:
    """Read families.toml. Raises UsageError that names the file."""
    path = folder / "families.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return [Family(name, f["split"], f["topic"], tuple(f["documents"]), f.get("general", False))
                for name, f in data.items()]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"资料分组文件 {path} 无法读取（{error}）：请恢复该文件") from error


def load_questions(folder: Path, splits: Sequence[str] = SPLITS) -> list[GoldQuestion]:
    """Read the questions of the given splits, by file and line. Raises UsageError that names the file and line."""
    questions: list[GoldQuestion] = []
    for split in splits:
        paths = sorted((folder / split).glob("*.jsonl"))
        if not paths:
            raise UsageError(f"文件夹 {folder / split} 里没有 .jsonl 题目文件：请检查路径")
        for path in paths:
            try:
                lines = path.read_text(encoding="utf-8-sig").split("\n")
            except (OSError, UnicodeDecodeError) as error:
                raise UsageError(f"题目文件 {path} 无法读取（{error}）：请存为 UTF-8") from error
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    questions.append(_read_question(line, split, path, number))
    return questions


def _read_question(line: str, split: str, path: Path, number: int) -> GoldQuestion:
    where = f"{path} 第 {number} 行"
    try:
        item: dict[str, Any] = json.loads(line)
        unknown = set(item) - _FIELDS
        if unknown:
            raise UsageError(f"{where}有不认识的项 {'、'.join(sorted(unknown))}：请删除")
        if any(isinstance(item.get(name, []), str) for name in ("must", "must_not")):
            raise UsageError(f"{where}的 must 和 must_not 应是列表，写成 [\"3天\"]")
        return GoldQuestion(
            id=item["id"], split=split, topic=path.stem, kind=item["kind"], question=item["question"],
            answerable=item["answerable"], history=tuple(Turn(t["role"], t["content"]) for t in item.get("history", ())),
            evidence=tuple(_read_evidence(e) for e in item.get("evidence", ())),
            must=tuple(item.get("must", ())), must_not=tuple(item.get("must_not", ())), answer=item.get("answer", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{where}无法读取（{type(error).__name__}: {error}）：请改正这一行") from error


def _read_evidence(item: Mapping[str, Any]) -> GoldEvidence:
    passages = [item, *item.get("also", ())]
    return GoldEvidence(tuple(Passage(p["doc"], p["quote"]) for p in passages))


def squeeze(text: str) -> str:
    """Return the text as quotes are compared: folded widths, without space, table borders and marks of emphasis."""
    return "".join(c for c in fold(text).replace("∶", ":") if not c.isspace() and c not in _UNSEEN)


def chunks_of_evidence(evidence: GoldEvidence, chunks: Mapping[str, Sequence[Chunk]]) -> frozenset[str]:
    """Return the ids of the chunks that hold one of the passages; `chunks` are those of each corpus path.

    A quote that chunking has cut in two counts for the chunk with its longest piece. Raises UsageError for a
    quote that no chunk of its document holds.
    """
    found: set[str] = set()
    for passage in evidence.passages:
        ids = _chunks_of_quote(squeeze(passage.quote), chunks.get(passage.doc, ()))
        if not ids:
            raise UsageError(f"{passage.doc} 里没有这段话：“{passage.quote}”：请改正题目的引文或恢复资料")
        found |= ids
    return frozenset(found)


def _chunks_of_quote(quote: str, chunks: Sequence[Chunk]) -> set[str]:
    texts = {chunk.id: squeeze(chunk.text) for chunk in chunks}
    whole = {chunk_id for chunk_id, text in texts.items() if quote in text}
    if whole:
        return whole
    lengths = {chunk_id: _longest_common(quote, text) for chunk_id, text in texts.items()}
    most = max(lengths.values(), default=0)
    if most < _LEAST_SHARE * len(quote):
        return set()
    return {chunk_id for chunk_id, length in lengths.items() if length == most}


def _longest_common(one: str, other: str) -> int:
    return SequenceMatcher(None, one, other, autojunk=False).find_longest_match().size
