"""Sheets for human judges: blind answers with drop-downs for a label, and what two judges' sheets say.

Each row is one answer under a code that hides the system; the key that tells systems from codes is a second file,
which the judges do not get.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from openpyxl import Workbook, load_workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet.datavalidation import DataValidation

from nongda.errors import UsageError
from nongda.evaluation.runner import Record
from nongda.evaluation.stats import cohen_kappa
from nongda.evaluation.values import without_citations

LABELS = {
    "a": "完全正确：要点齐全，数值正确，引文能证明",
    "b": "基本正确：没有错误，但不完整或多了无关内容",
    "c": "部分错误：有的数值、对象或说法不对，或引文不能证明",
    "d": "错误：会误导生产，或答非所问，或不该拒答而拒答",
}
_HEAD = ("编号", "题号", "问题", "系统代号", "回答", "引用的原文", "标签", "备注")
_WIDTHS = (8, 18, 36, 10, 60, 60, 8, 30)
_LABEL_COLUMN = "G"
_GIVEAWAY = re.compile(r"[\[【]\d+[\]】]|资料原文：|参考资料：.*", re.DOTALL)
_LABEL = re.compile(r"([a-d])(?![a-z或、])")
_SHEET, _GUIDE = "评判", "说明"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's labels by (question id, system)."""

    name: str
    labels: Mapping[tuple[str, str], str]


def write_sheet(runs: Mapping[str, Sequence[Record]], path: Path, seed: int, most: int) -> Path:
    """Write at most `most` questions, drawn at random, with all systems' answers in random order; return the key's path.

    Raises UsageError when the systems did not answer the same questions.
    """
    rng = np.random.default_rng(seed)
    ids = sorted(set.intersection(*({str(r["id"]) for r in records} for records in runs.values())))
    if not ids:
        raise UsageError("这些系统没有共同的题目，无法制表：请先让它们回答同一套题")
    chosen = [ids[place] for place in sorted(rng.permutation(len(ids))[:most])]
    by_id = {name: {str(r["id"]): r for r in records} for name, records in runs.items()}
    rows: list[tuple[str, str]] = []
    codes: dict[str, dict[str, str]] = {}
    for question_id in chosen:
        names = [list(runs)[place] for place in rng.permutation(len(runs))]
        codes[question_id] = {f"系统{number}": name for number, name in enumerate(names, start=1)}
        rows += [(question_id, code) for code in codes[question_id]]
    book = Workbook()
    _fill(book, [(i, code, by_id[codes[i][code]][i]) for i, code in rows])
    try:
        book.save(path)
    except OSError as error:
        raise UsageError(f"评判表 {path} 写不进去（{error}）：请先关闭打开它的程序，并检查文件夹") from error
    key = path.with_suffix(".key.json")
    key.write_text(json.dumps(codes, ensure_ascii=False, indent=1), encoding="utf-8")
    return key


def _fill(book: Workbook, rows: Sequence[tuple[str, str, Record]]) -> None:
    sheet = book.active
    sheet.title = _SHEET
    sheet.append(_HEAD)
    for number, (question_id, code, record) in enumerate(rows, start=1):
        quotes = "\n".join(f"{source}：{quote}" for _, source, quote in record["quotes"])
        history = "".join(f"（前文 {t['content']}）" for t in record["history"] if t["role"] == "user")
        texts = (question_id, history + record["question"], code, _blind(record["answer"]), quotes)
        sheet.append([number, *(ILLEGAL_CHARACTERS_RE.sub("", text) for text in texts), None, None])
    choices = DataValidation(type="list", formula1=f'"{",".join(LABELS)}"', allow_blank=True, showErrorMessage=True)
    choices.error = f"请选择 {'、'.join(LABELS)}"
    choices.add(f"{_LABEL_COLUMN}2:{_LABEL_COLUMN}{len(rows) + 1}")
    sheet.add_data_validation(choices)
    for cells in sheet.iter_rows():
        for cell in cells:
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.font = Font(bold=cell.row == 1)
            if isinstance(cell.value, str):
                cell.data_type = "s"  # a text that begins with = is no formula
    for column, width in zip("ABCDEFGH", _WIDTHS, strict=True):
        sheet.column_dimensions[column].width = width
    sheet.freeze_panes = "A2"
    guide = book.create_sheet(_GUIDE)
    for label, meaning in LABELS.items():
        guide.append([label, meaning])
    guide.column_dimensions["B"].width = 70


def _blind(answer: str) -> str:
    """Take out what would give a system away: its citation marks and headings."""
    return _GIVEAWAY.sub("", without_citations(answer)).strip()


def read_sheet(path: Path, key: Path) -> Judgement:
    """Read a judge's sheet. Raises UsageError for an unreadable file, an unknown label or a row not in the key."""
    try:
        codes = json.loads(key.read_text(encoding="utf-8"))
        book = load_workbook(io.BytesIO(path.read_bytes()), data_only=True)
        rows = list(book[_SHEET].iter_rows(min_row=2, max_col=len(_HEAD), values_only=True))
        codes = {str(question_id): dict(found) for question_id, found in codes.items()}
    except (OSError, ValueError, KeyError, AttributeError, BadZipFile, InvalidFileException) as error:
        raise UsageError(f"评判表 {path} 或对照表 {key} 无法读取（{error}）：请检查文件") from error
    labels: dict[tuple[str, str], str] = {}
    for number, row in enumerate(rows, start=2):
        question_id, code, label = (str(row[i] or "").strip() for i in (1, 3, 6))
        if not label:
            continue
        read = _LABEL.match(unicodedata.normalize("NFKC", label).lower())
        if read is None or code not in codes.get(question_id, {}):
            raise UsageError(f"评判表 {path} 第 {number} 行的标签“{label}”或编号不认识：标签只能是 {'、'.join(LABELS)}")
        labels[question_id, codes[question_id][code]] = read[1]
    if not labels:
        raise UsageError(f"评判表 {path} 里还没有标签：请在“标签”一栏选择")
    return Judgement(path.stem, labels)


def summarise(judges: Sequence[Judgement]) -> list[str]:
    """Return in words: each system's share of every label per judge, and how far two judges agree."""
    lines: list[str] = []
    for judge in judges:
        for system in sorted({system for _, system in judge.labels}):
            found = [label for (_, name), label in judge.labels.items() if name == system]
            parts = "  ".join(f"{label} {found.count(label) / len(found):.1%}" for label in LABELS)
            lines.append(f"{judge.name}  {system}  n={len(found)}  {parts}")
    for place, one in enumerate(judges):
        for other in judges[place + 1 :]:
            lines.append(_agreement(one, other))
    return lines


def _agreement(one: Judgement, other: Judgement) -> str:
    shared = sorted(set(one.labels) & set(other.labels))
    if not shared:
        return f"{one.name} 与 {other.name} 没有共同评判的回答"
    first, second = [one.labels[key] for key in shared], [other.labels[key] for key in shared]
    same = sum(a == b for a, b in zip(first, second, strict=True)) / len(shared)
    return f"{one.name} 与 {other.name}：共同评判 {len(shared)} 条，一致率 {same:.1%}，Cohen's kappa {cohen_kappa(first, second):.3f}"
