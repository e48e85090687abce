"""A station's own words: rows beside the shipped tables, checked row by row, read from and written to tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from nongda.errors import UsageError
from nongda.language.lexicon_table import KINDS
from nongda.language.text import has_words, search_form

COLUMNS = ("别名", "标准名", "类别")
MOST_ROWS = 2000
_LONGEST, _SHORTEST = 40, 2  # characters of a word
_TOO_COMMON = 400  # times in the counts of jieba's dictionary: 怎么, 防治, 间隔 are over it, 虫子 and 发黄 under
_KIND_BY_NAME = {name: kind for kind, name in KINDS.items()}
_HEADERS = frozenset({"别名", "俗名", "名称", "alias", "标准名", "term"})
_FORMULA = ("=", "+", "-", "@")  # a spreadsheet would compute such a cell


@dataclass(frozen=True, slots=True)
class OwnWord:
    """A station's own row: an alias of a standard term, or a new term with its kind (then alias == term)."""

    alias: str
    term: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What the shipped tables have, by search form: kinds and names of terms, and what aliases mean.

    `everyday` says how often everyday Chinese uses a word.
    """

    kinds: Mapping[str, str]
    names: Mapping[str, str]
    words: Mapping[str, tuple[str, ...]]
    everyday: Callable[[str], int] = lambda word: 0


def checked(rows: Sequence[OwnWord], known: Known) -> tuple[tuple[OwnWord, ...], tuple[str, ...]]:
    """Return the rows that can be used, each with its standard term and kind filled in, and a sentence for the rest.

    A row may lead to a standard term over other aliases, own ones too. Rows all of whose cells are empty do not count.
    """
    problems: dict[int, str] = {}
    usable: dict[int, OwnWord] = {}
    for number, row in enumerate(rows, start=1):
        row = OwnWord(*(" ".join(cell.split()) for cell in (row.alias, row.term, row.kind)))
        problem = _bad_cell(row) or _bad_alias(row, known)
        if not (row.alias or row.term):
            continue
        if problem:
            problems[number] = f"第 {number} 行“{row.alias[:_LONGEST]}”{problem}"
        else:
            usable[number] = row
    new = {search_form(r.term): r for r in usable.values() if _is_term(r)}
    links = {search_form(r.alias): search_form(r.term) for r in usable.values() if not _is_term(r)}
    good: dict[str, tuple[int, OwnWord]] = {}
    for number, row in usable.items():
        form = search_form(row.alias)
        found = _resolved(row, new, links, known)
        if isinstance(found, OwnWord) and form in good:
            found = f"与第 {good[form][0]} 行重复，没有保存：请删去一行"
        elif isinstance(found, OwnWord) and len(good) >= MOST_ROWS:
            found = f"已超过 {MOST_ROWS} 行，没有保存：请删去不用的词"
        if isinstance(found, OwnWord):
            good[form] = number, found
        else:
            problems[number] = f"第 {number} 行“{row.alias}”{found}"
    return tuple(row for _, row in good.values()), tuple(problems[number] for number in sorted(problems))


def _bad_cell(row: OwnWord) -> str:
    for cell, name in ((row.alias, "别名"), (row.term, "标准名")):
        if not cell:
            return f"的{name}是空的，没有保存：请填写"
        if len(cell) > _LONGEST:
            return f"的{name}超过 {_LONGEST} 个字，没有保存：请缩短"
        if not has_words(cell) or not cell.isprintable() or cell.startswith(_FORMULA):
            return f"的{name}“{cell}”不是词，没有保存：请只用文字、数字和常用符号"
    return ""


def _bad_alias(row: OwnWord, known: Known) -> str:
    form = search_form(row.alias)
    if form in known.kinds:
        return "本身已是标准名，没有保存：不用再添加" if _is_term(row) else "本身是标准名，没有保存：不能再指向别的名称"
    if len(form) < _SHORTEST or form[0].isdigit() or (form not in known.words and known.everyday(form) > _TOO_COMMON):
        return "太短、太常用或是数量，会改掉许多不相干的话，没有保存：请写得更具体"
    if _is_term(row) and row.kind not in KINDS and row.kind not in _KIND_BY_NAME:
        return f"是新的标准名，类别“{row.kind}”不认识，没有保存：请填 {'、'.join(KINDS.values())} 之一"
    return ""


def _is_term(row: OwnWord) -> bool:
    return search_form(row.alias) == search_form(row.term)


def _resolved(row: OwnWord, new: Mapping[str, OwnWord], links: Mapping[str, str], known: Known) -> OwnWord | str:
    """Return the row with its standard term and kind, or what is wrong with it."""
    if _is_term(row):
        return OwnWord(row.alias, row.alias, _KIND_BY_NAME.get(row.kind, row.kind))
    here, seen = search_form(row.term), {search_form(row.alias)}
    while here not in new and here not in known.kinds:
        if here in seen:
            return f"指向的“{row.term}”绕了一圈又回到它自己，没有保存：请让它指向标准名"
        seen.add(here)
        meanings = (links[here],) if here in links else known.words.get(here, ())
        if len(meanings) > 1:
            names = "、".join(known.names[m] for m in meanings)
            return f"指向的“{row.term}”有几种意思（{names}），没有保存：请选一个标准名"
        if not meanings:
            return f"指向的“{row.term}”不是标准名，没有保存：{_advice(row.term, new, known)}"
        here = meanings[0]
    if here in new:
        kind = new[here].kind
        return OwnWord(row.alias, new[here].term, _KIND_BY_NAME.get(kind, kind))
    return OwnWord(row.alias, known.names[here], known.kinds[here])


def _advice(term: str, new: Mapping[str, OwnWord], known: Known) -> str:
    names = {**known.names, **{form: row.term for form, row in new.items()}}
    near = get_close_matches(search_form(term), names, n=3, cutoff=0.5)
    if near:
        return f"相近的标准名有 {'、'.join(names[form] for form in near)}"
    return f"要添加新的标准名，请把它单独写一行，别名和标准名都填“{term}”，再填类别"


def parse_table(text: str, name: str) -> list[OwnWord]:
    """Read rows of a table with tabs or commas. Raises UsageError where it is none.

    Row n is the table's n-th; a header is an empty row, so that `checked` names the rows that the reader sees.
    """
    text = text.removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text), delimiter="\t" if "\t" in text else ",")
    rows: list[OwnWord] = []
    try:
        for found in reader:
            cells = [cell.strip() for cell in (*found, "", "", "")][:3]
            is_header = not rows and cells[0].lower() in _HEADERS and cells[1].lower() in _HEADERS
            rows.append(OwnWord("", "") if is_header else OwnWord(*cells))
    except csv.Error as error:
        raise UsageError(f"{name} 第 {reader.line_num} 行无法读取（{error}）：请用表格软件打开，重新另存") from error
    return rows


def format_table(rows: Sequence[OwnWord], delimiter: str = "\t") -> str:
    """Return the rows as a table with a header that `parse_table` and spreadsheets read."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n" if delimiter == "," else "\n")
    writer.writerow(COLUMNS)
    writer.writerows((row.alias, row.term, KINDS.get(row.kind, row.kind)) for row in rows)
    return out.getvalue()
