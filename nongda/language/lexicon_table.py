"""The tables lexicon.tsv and aliases.tsv: what is wrong in a line is named, the other lines work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nongda.errors import SettingsError
from nongda.language.text import has_words, search_form

KINDS: Mapping[str, str] = {  # as the tables write them, and as the reader reads them
    "crop": "作物", "variety": "品种", "disease": "病害", "pest": "害虫", "pathogen": "病原", "symptom": "症状",
    "product": "药肥", "nutrient": "养分", "soil": "土壤", "stage": "生育期", "part": "部位", "practice": "农事",
    "processing": "加工", "tool": "农具", "weather": "天气", "place": "地名", "unit": "单位",
}
_LONGEST = 80  # characters of a word; scientific names have up to 60
_HEADERS = frozenset({"term", "alias"})
_MARK = b"\xef\xbb\xbf"
_Found = list[tuple[int, str]]  # lines left out, and why


@dataclass(frozen=True, slots=True)
class Tables:
    """What could be read: kinds by term, standard terms by alias, and a sentence for each line left out."""

    kinds: Mapping[str, str]
    aliases: Mapping[str, tuple[str, ...]]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    word: str
    value: str  # the kind of a term, the target of an alias

    @property
    def form(self) -> str:
        return search_form(self.word)


def read_tables(folder: Path, with_aliases: bool = True) -> Tables:
    """Read both tables of a domain folder. Raises SettingsError where a file is missing or is no UTF-8 at all."""
    path = folder / "lexicon.tsv"
    found: _Found = []
    kinds = _kinds(list(_rows(path, found)), found)
    problems = _sentences(path, found)
    aliases: dict[str, tuple[str, ...]] = {}
    if with_aliases:
        path, found = folder / "aliases.tsv", []
        aliases = _aliases(list(_rows(path, found)), kinds, found)
        problems += _sentences(path, found)
    return Tables(kinds, aliases, tuple(problems))


def _sentences(path: Path, found: _Found) -> list[str]:
    return [f"{path.name} 第 {line} 行{words}" for line, words in sorted(found)]


def _kinds(rows: Sequence[_Row], found: _Found) -> dict[str, str]:
    kinds: dict[str, str] = {}
    lines: dict[str, int] = {}
    for row in rows:
        if row.value not in KINDS:
            words = f"“{row.word}”的类别“{row.value}”不认识，已略过：请改成 {'、'.join(KINDS)} 之一"
            found.append((row.line, words))
        elif row.form in lines:
            found.append((row.line, f"“{row.word}”与第 {lines[row.form]} 行重复，已略过：请删去一行"))
        else:
            kinds[row.word], lines[row.form] = row.value, row.line
    return kinds


def _aliases(rows: Sequence[_Row], kinds: Mapping[str, str], found: _Found) -> dict[str, tuple[str, ...]]:
    """Follow each alias to its standard terms, over other aliases too; several rows give several readings."""
    terms = {search_form(term): term for term in kinds}
    lines: dict[tuple[str, str], int] = {}
    usable: list[_Row] = []
    for row in rows:
        pair = row.form, search_form(row.value)
        if row.form in terms:
            found.append((row.line, f"“{row.word}”本身是标准名，已略过：请从别名表里删去，或从 lexicon.tsv 里删去"))
        elif pair in lines:
            found.append((row.line, f"“{row.word}”与第 {lines[pair]} 行重复，已略过：请删去一行"))
        else:
            lines[pair] = row.line
            usable.append(row)
    links: dict[str, list[str]] = {}
    for alias, target in lines:
        links.setdefault(alias, []).append(target)
    aliases: dict[str, tuple[str, ...]] = {}
    names: dict[str, str] = {}
    for row in usable:
        reached, circle = _follow(row.form, search_form(row.value), links, terms)
        if not reached:
            found.append((row.line, _dead_end(row, circle)))
            continue
        name = names.setdefault(row.form, row.word)
        aliases[name] = tuple(dict.fromkeys((*aliases.get(name, ()), *(terms[t] for t in reached))))
    return aliases


def _follow(alias: str, target: str, links: Mapping[str, Sequence[str]],
            terms: Mapping[str, str]) -> tuple[list[str], bool]:
    """Return the standard terms that a target leads to, and whether the way also comes back to the alias."""
    reached: list[str] = []
    seen: set[str] = set()
    waiting = [target]
    while waiting:
        here = waiting.pop(0)
        if here in terms:
            reached.append(here)
        elif here not in seen:
            seen.add(here)
            waiting += links.get(here, ())
    return list(dict.fromkeys(reached)), alias in seen


def _dead_end(row: _Row, circle: bool) -> str:
    if circle:
        return f"“{row.word}”指向的“{row.value}”绕了一圈又回到它自己，已略过：请让它指向标准名"
    return f"“{row.word}”指向的“{row.value}”不是标准名，已略过：请改成 lexicon.tsv 里的名称"


def _rows(path: Path, found: _Found) -> Iterator[_Row]:
    """Yield the usable rows of a table: two cells or more, a header or none, any line ends."""
    for line, raw in _lines(path, found):
        cells = [cell.strip() for cell in raw.split("\t")]
        if not raw.strip() or (line == 1 and cells[0].lower() in _HEADERS):
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            found.append((line, "缺列，已略过：每行要有两栏，用制表符隔开"))
        elif max(len(cells[0]), len(cells[1])) > _LONGEST:
            found.append((line, f"超过 {_LONGEST} 个字，已略过：请检查这一行"))
        elif not has_words(cells[0]):
            found.append((line, f"“{cells[0]}”里没有文字，已略过：请检查这一行"))
        else:
            yield _Row(line, cells[0], cells[1])


def _lines(path: Path, found: _Found) -> Iterator[tuple[int, str]]:
    """Yield (line number, text); a line in another encoding is named, a file all in another one is an error."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"词表文件 {path} 无法读取（{error}）：请恢复该文件") from error
    lines = data.removeprefix(_MARK).splitlines()
    broken = [number for number, line in enumerate(lines, start=1) if not _is_utf8(line)]
    words = sum(not line.isascii() for line in lines)
    if b"\0" in data or (broken and len(broken) == words):
        raise SettingsError(f"词表文件 {path} 不是 UTF-8 编码：请用记事本打开，另存为 UTF-8")
    for number, line in enumerate(lines, start=1):
        if number in broken:
            found.append((number, "不是 UTF-8 编码，已略过：请重新输入这一行"))
        else:
            yield number, line.decode("utf-8")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
