"""Pesticide law: which banned or restricted products a text names, for which crops, and whether it says how to use one.

Steps of `PesticideLaw.find`:
1. Search form without blanks between Chinese characters, so that 甲 胺 磷 and full-width writing are seen.
2. Left to right, the longest name of the table or of `others` counts: 丁硫克百威 is not 克百威.
3. Old codes (3911) count only beside a word of pesticides, never inside a longer number or before a measure.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nongda.errors import SettingsError
from nongda.language.text import search_form
from nongda.records import Note

Status = Literal["banned", "restricted"]
ANY_CROP = "*"

_BLANK = re.compile(r"(?<=[\u3400-\u9fff])[ \t·\u200b-\u200f\ufeff]+(?=[\u3400-\u9fff])")
_CODE_BEFORE = re.compile(r"(?:[0-9a-z.,:/%-]|亩产|[产收共约达价编第种到至各近])$")
_CODE_AFTER = re.compile(
    r"[0-9a-z.,:/%~-]|\s*(?:株|亩|元|斤|公斤|千克|克|kg|吨|米|年|月|日|天|号|个|棵|户|人|次|度|倍|升|毫升|平|苗|头|粒|穗|块)"
)
_POISON = re.compile(r"农药|[打喷撒拌灌泼买剩存用]|药|毒|乳油|颗粒|粉剂|禁|虫|甲基")
_CODE_WINDOW = 8  # characters on either side

_DOSE = re.compile(
    r"(?:\d|[一二三四五六七八九十百千半两])\s*(?:倍|克|g(?![a-z])|公斤|千克|kg|毫升|ml|升(?!高)|l(?![a-z])|斤|ppm|毫克|瓶|袋|包|盖)"
)
_WORK = re.compile(
    r"[兑对]水|稀释|倍液|拌种|拌土|毒土|毒饵|灌根|浇灌|泼浇|撒施|穴施|沟施|条施|根施|浸种|浸苗|涂抹|涂茎|涂干|注射|塞孔|塞入|熏蒸"
    r"|喷[施雾洒药粉淋干杀]|喷(?=[0-9一-龥])|撒[于在施入]|施[用药入]|防治|防除|除草|毒杀|诱杀"
)
_USE = re.compile(r"(?:用|撒|喷|灌|拌|浇|涂|打|施)[^，。；,;:：]{0,8}$")
_BAN = re.compile(
    r"禁|不得|停止|停用|停售|限用|限制|只限|限于|不能|不可|不要|不准|不许|不应|不宜|不再|不用|不买|不推荐|勿|别用|撤销|淘汰|替代|代替|取代"
    r"|违法|违规|退出|拒用|过时|照搬|没收|罚|残留|降解|检出|中毒|曾"
)
_LAW = re.compile(
    r"禁用|禁限用|限用|(?:禁止|不得|停止|不能|不准|不许)(?:再|照|购买|销售|生产|继续|其他|用于|使用|在)|已经?禁|国家.{0,4}禁|明令"
    r"|照搬|照抄|照用|作废|过时|违法|淘汰|退出|罚款|处罚|判处|拘留|犯罪"
)
_CONDITION = re.compile(r"采收|收获|收割|花期|蜜源|混用|混配|同时|雨天|下雨|高温|中午|期间|期内|鱼塘|下风|徒手|吸烟")  # no ban by law
_INSTEAD = re.compile(r"(?:替代|代替|取代|替换|不用|禁用|停用)[^，；]{0,12}$")
_REPLACED = re.compile(r"[^，；：:]{0,4}(?:替代|代替|替换)")
_OTHER = re.compile(r"改用|换用|换成|改成|可选|选用|推荐|建议|应用|改为|宜用")
_OTHER_NAME = re.compile(
    r"[\u4e00-\u9fff]{1,7}(?:磷(?![肥酸])|威|菊酯|啉|嗪|酰胺|虫胺|脲|唑|菌酯|菌素|杆菌|脒|腈|隆|螨酯|百菌清|菌灵)"
)
_NO_DOSE = re.compile(r"罚|残留|毫克/千克|mg/kg")
_PART = re.compile(r"[，。；！？\n,;!?]")
_MASK = "※"  # stands for a name of the table, whose own characters (甲拌磷) are no verbs


@dataclass(frozen=True, slots=True)
class Restriction:
    """One entry of the table; `name` is the standard name, `since` an ISO date, a month of publication or ""."""

    name: str
    names: tuple[str, ...]
    codes: tuple[str, ...]
    status: Status
    since: str
    basis: tuple[str, ...]
    scope: str
    crops: tuple[str, ...]  # groups of crops it is forbidden for; ("*",) for any but `exempt` uses
    exempt: tuple[str, ...]
    confirmed: bool


class PesticideLaw:
    """The dated table of banned and restricted pesticides. Immutable after loading."""

    def __init__(self, entries: Sequence[Restriction], others: Sequence[str], groups: Mapping[str, Sequence[str]],
                 unclear: Mapping[str, Sequence[str]], kinds: Mapping[str, str], as_of: str, newest: str) -> None:
        self.entries = tuple(entries)
        self.as_of, self.newest = as_of, newest
        self.groups = {group: frozenset(crops) for group, crops in groups.items()}
        self.kinds = dict(kinds)
        self._unclear = {group: frozenset(crops) for group, crops in unclear.items()}
        self._known = frozenset().union(*self.groups.values()) if groups else frozenset()
        names: dict[str, Restriction | None] = {search_form(word): None for word in others}
        names.update({search_form(n): entry for entry in entries for n in entry.names})
        self._names = names
        self._codes = {code: entry for entry in entries for code in entry.codes}
        words = sorted([*names, *self._codes], key=lambda w: (-len(w), w))
        self._pattern = re.compile("|".join(re.escape(w) for w in words) or r"(?!)")

    @classmethod
    def load(cls, path: Path) -> PesticideLaw:
        """Read the table; SettingsError names the file when it is missing or holds a bad entry."""
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            entries = [_restriction(row, data["groups"]) for row in data["pesticides"]]
            return cls(entries, data["others"], data["groups"], data["unclear"], data["kinds"],
                       str(data["as_of"]), str(data["newest"]))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
            raise SettingsError(f"禁限用农药名单 {path} 无法读取（{error}）：请恢复该文件") from error

    def find(self, text: str) -> list[Restriction]:
        """Return the entries a text names, each once, in the order of the text."""
        return list(dict.fromkeys(entry for _, _, entry in self._mentions(_form(text))))

    def _mentions(self, form: str) -> list[tuple[int, int, Restriction]]:
        found: list[tuple[int, int, Restriction]] = []
        for match in self._pattern.finditer(form):
            word = match.group()
            entry = self._names[word] if word in self._names else self._codes[word]
            if entry is None or (word in self._codes and not _is_code(form, match.start(), match.end())):
                continue
            if word.isascii() and _inside_latin(form, match.start(), match.end()):
                continue
            found.append((match.start(), match.end(), entry))
        return found

    def crop(self, name: str) -> str:
        """Return the crop under whose name products are registered: 小粒种咖啡 is 咖啡."""
        return self.kinds.get(name, name)

    def applies(self, restriction: Restriction, crops: set[str]) -> bool | None:
        """Tell whether an entry forbids use on one of these crops (standard names); None where that is not certain.

        A banned product is forbidden on all. One that is forbidden but for exempt uses (氟虫腈) counts as forbidden.
        """
        if restriction.status == "banned" or ANY_CROP in restriction.crops:
            return True
        if not restriction.crops:
            return False
        verdicts = [self._crop_applies(restriction, crop) for crop in crops]
        if True in verdicts:
            return True
        return None if None in verdicts or not verdicts else False

    def _crop_applies(self, restriction: Restriction, name: str) -> bool | None:
        both = {name, self.crop(name)}
        if any(both & self.groups[group] for group in restriction.crops):
            return True
        if any(both & self._unclear.get(group, frozenset()) for group in restriction.crops):
            return None
        return False if both & self._known else None

    def warning(self, restriction: Restriction, crops: set[str]) -> str:
        """Return one sentence for the reader: what is forbidden, since when, by which announcement, what to do."""
        names = [n for n in restriction.names[1:2] if not n.isascii()]
        name = restriction.name + (f"（{names[0]}）" if names else "")
        source = "、".join(restriction.basis) + _published(restriction.since)
        since = _since(restriction.since)
        if restriction.status == "banned":
            detail = "，" + (restriction.scope or since) if restriction.scope or since else ""
            what = f"{name}是禁用农药，任何作物都不得使用{detail}（{source}）"
            todo = "请勿购买和使用，手里有存货的交当地农业农村部门处理，可用的替代药剂请问当地植保站"
        else:
            what = f"{name}是限制使用农药，{since}{restriction.scope}（{source}）"
            todo = self._advice(restriction, crops)
        doubt = "" if restriction.confirmed else "具体日期和范围以当地农药管理部门最新公告为准，"
        return f"{what}；{todo}（{doubt}名单截至{_date(self.as_of)}，收录到{self.newest}）。"

    def _advice(self, restriction: Restriction, crops: set[str]) -> str:
        verdict = self.applies(restriction, crops)
        named = "、".join(sorted(crops))
        if ANY_CROP in restriction.crops:
            return "其他用法一律不得使用，替代药剂请问当地植保站"
        if verdict is True:
            hit = "、".join(sorted(c for c in crops if self._crop_applies(restriction, c)))
            return f"{hit}在禁止之列，不得使用，替代药剂请问当地植保站"
        if verdict is False and restriction.crops:
            return f"{named}不在所列范围，也只能按标签登记的作物和用量使用，拿不准的请问当地植保站"
        if verdict is False:
            return "购买和使用以前请问当地植保站"
        return f"{f'{named}算不算在内' if named else '自己的作物能不能用'}，请先看标签登记的作物并问当地植保站"

    def notes(self, text: str, crops: set[str], most: int = 3) -> list[Note]:
        """Return the law notes for what a text names: a warning each for the first `most`, one note for all others.

        Restrictions that surely do not concern these crops need none.
        """
        named = [e for e in self.find(text) if not e.crops or self.applies(e, crops) is not False]
        notes = [Note("law", self.warning(entry, crops)) for entry in named[:most]]
        for status, words in (("banned", "也是禁用农药，任何作物都不得使用"), ("restricted", "也是限制使用农药，用前请先问当地植保站")):
            rest = "、".join(e.name for e in named[most:] if e.status == status)
            if rest:
                notes.append(Note("law", f"{rest}{words}（名单截至{_date(self.as_of)}，收录到{self.newest}）。"))
        return notes

    def recipe(self, text: str, restriction: Restriction) -> bool:
        """Tell whether one sentence or table row says how to use the product, as opposed to speaking of the ban.

        A dose or a way of application counts when it stands with the product in a clause that forbids nothing, or in
        a later clause that names no other product; a dose beside the product counts even where the clause forbids.
        """
        form = _form(text)
        mentions = self._mentions(form)
        masked = form
        for start, end, _ in mentions:
            masked = masked[:start] + _MASK * (end - start) + masked[end:]
        return any(_instructs(masked, start, end) for start, end, entry in mentions if entry is restriction)

    def withheld(self, text: str, crops: set[str]) -> list[Restriction]:
        """Return the entries whose use on these crops is forbidden and whose use this text teaches.

        A text with any of these is not shown to the reader; exempt uses (玉米种子包衣) are no offence.
        """
        form = _form(text)
        return [
            entry for entry in self.find(text)
            if self.applies(entry, crops) and not any(use in form for use in entry.exempt) and self.recipe(text, entry)
        ]


def _restriction(row: Mapping[str, Any], groups: Mapping[str, Any]) -> Restriction:
    names = tuple(str(n) for n in row["names"])
    crops = tuple(str(c) for c in row.get("crops", ()))
    if row["status"] not in ("banned", "restricted") or not re.fullmatch(r"(\d{4}-\d\d(-\d\d)?)?", str(row["since"])):
        raise ValueError(f"{names[0]} 的 status 或 since 不对")
    if unknown := [c for c in crops if c != ANY_CROP and c not in groups]:
        raise ValueError(f"{names[0]} 的作物组 {unknown[0]} 不在 [groups]")
    return Restriction(names[0], names, tuple(str(c) for c in row.get("codes", ())), row["status"], str(row["since"]),
                       tuple(str(b) for b in row["basis"]), str(row.get("scope", "")), crops,
                       tuple(str(e) for e in row.get("exempt", ())), bool(row["confirmed"]))


def _form(text: str) -> str:
    return _BLANK.sub("", search_form(text))


def _inside_latin(form: str, start: int, end: int) -> bool:
    before, after = form[:start][-1:], form[end:][:1]
    return (before.isascii() and before.isalnum()) or (after.isascii() and after.isalnum())


def _is_code(form: str, start: int, end: int) -> bool:
    if form.strip(" ?？。") == form[start:end]:
        return True
    if _CODE_BEFORE.search(form[:start]) or _CODE_AFTER.match(form[end:]):
        return False
    return bool(_POISON.search(form[max(0, start - _CODE_WINDOW) : start]) or _POISON.search(form[end : end + _CODE_WINDOW]))


def _parts(form: str) -> list[tuple[int, int]]:
    """Return the spans of the clauses, which cover the text; a separator between digits (2,4-滴) ends none."""
    ends = [m.end() for m in _PART.finditer(form)
            if not (form[: m.start()][-1:].isdigit() and form[m.end() :][:1].isdigit())]
    cuts = [0, *ends, len(form)]
    return [(a, b) for a, b in zip(cuts, cuts[1:], strict=False) if a < b]


def _instructs(form: str, start: int, end: int) -> bool:
    parts = _parts(form)
    at = next(i for i, (a, b) in enumerate(parts) if a <= start < b)
    before, after = form[parts[at][0] : start], form[end : parts[at][1]]
    doses = _DOSE.search(after) or (_DOSE.search(before) and not _OTHER_NAME.search(before))
    if doses and not _INSTEAD.search(before) and not _REPLACED.match(after) and not _NO_DOSE.search(before + after):
        return True
    lawful = any(_LAW.search(form[a:b]) and not _CONDITION.search(form[a:b]) for a, b in parts)
    used = not lawful and not _BAN.search(before + after)
    if used and (_WORK.search(before + after) or _USE.search(before)):
        return True
    for clause in (form[a:b] for a, b in parts[at + 1 :]):
        if _OTHER.search(clause) or _OTHER_NAME.search(clause):
            return False
        if _DOSE.search(clause) and not _NO_DOSE.search(clause):
            return True
        if used and _WORK.search(clause) and not _BAN.search(clause):
            return True
    return False


def _since(since: str) -> str:
    return f"自{_date(since)}起" if len(since) > 7 else ""


def _published(since: str) -> str:
    """A date without a day is the month in which the announcement was published."""
    return f"，{_date(since)}公布" if len(since) == 7 else ""


def _date(iso: str) -> str:
    units = ("年", "月", "日")
    return "".join(f"{int(part)}{unit}" for part, unit in zip(iso.split("-"), units, strict=False))
