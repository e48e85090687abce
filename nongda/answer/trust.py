"""How far a source fits the question: who wrote it, for where, when and for which growth stage."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.records import Candidate, Citation, Query

_OLD_YEARS = 8
_MOST_NAMED = 3  # places in a remark
_DATE = re.compile(r"^\D*(\d{4})(?:\D+(\d{1,2}))?(?:\D+(\d{1,2}))?")
# A stage field with one of these covers more than the stages it names.
_WHOLE = re.compile(r"全年|全生育期|至|到|[~～—–-]|全程|各(?:个)?(?:时期|阶段)")


# A direction is no region (西南坡), and an institute's name says where it sits, not what it speaks of.
_NO_PLACE = re.compile(
    r"[面坡方向风侧角]|[省市县州]?(?:热带|农业|农垦|林业|咖啡|植物|作物)*(?:大学|科学院|农科院|研究所|学院|出版社)")


@dataclass(frozen=True)
class Fitting:
    """Which places lie in which, and which growth stages are parts of one another. Immutable after loading."""

    inside: Mapping[str, frozenset[str]]  # a place: those directly in it
    same: Mapping[str, str]
    everywhere: frozenset[str]
    stages: Mapping[str, frozenset[str]]  # a stage: those it contains
    no_stages: frozenset[str]

    @classmethod
    def load(cls, folder: Path) -> Fitting:
        """Read places.toml and stages.toml of a domain folder; SettingsError names the file that cannot be read."""
        places, stages = _table(folder / "places.toml"), _table(folder / "stages.toml")
        try:
            return cls(
                {k: frozenset(v) for k, v in places["inside"].items()}, dict(places["same"]),
                frozenset(places["everywhere"]["words"]), {k: frozenset(v) for k, v in stages["inside"].items()},
                frozenset(stages["other"]["words"]),
            )
        except (KeyError, AttributeError, TypeError) as error:
            raise SettingsError(f"{folder} 里的 places.toml 或 stages.toml 缺少内容（{error}）：请恢复该文件") from error

    def places_in(self, text: str, lexicon: Lexicon) -> tuple[str, ...]:
        """Return the places a text names under one name each; words for the whole country are given as they are."""
        form = search_form(text)
        named: list[tuple[int, str]] = []
        for match in lexicon.find(form):
            if any(term in self._known for term in match.terms) and not _NO_PLACE.match(form[match.end :]):
                named += [(match.start, term) for term in match.terms]
            form = form[: match.start] + " " * (match.end - match.start) + form[match.end :]
        named += [(m.start(), m.group()) for m in self._areas.finditer(form) if not _NO_PLACE.match(form[m.end() :])]
        return tuple(dict.fromkeys(self.same.get(term, term) for _, term in sorted(named)))

    def stages_in(self, text: str, lexicon: Lexicon) -> tuple[str, ...]:
        """Return the growth stages of the crop that a text names."""
        return tuple(e.term for e in lexicon.entities(text) if e.kind == "stage" and e.term not in self.no_stages)

    def related(self, one: str, other: str) -> bool:
        """Tell whether one place is the other, lies in it, or one of them is the whole country."""
        if {one, other} & self.everywhere:
            return not {one, other} & self._all_inside("国外")
        return one == other or one in self._all_inside(other) or other in self._all_inside(one)

    def same_stage(self, one: str, other: str) -> bool:
        """Tell whether two growth stages are the same, or one is a part of the other."""
        return one == other or one in self.stages.get(other, ()) or other in self.stages.get(one, ())

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.inside) | frozenset(self.same) | frozenset().union(*self.inside.values())

    @cached_property
    def _areas(self) -> re.Pattern[str]:
        words = sorted(self._known | self.everywhere, key=lambda w: (-len(w), w))
        return re.compile("|".join(map(re.escape, words)))

    def _all_inside(self, place: str) -> frozenset[str]:
        found: set[str] = {place}
        waiting = [place]
        while waiting:
            fresh = self.inside.get(waiting.pop(), frozenset()) - found
            found |= fresh
            waiting += fresh
        return frozenset(found)


def trusted(citation: Citation, query: Query, candidate: Candidate, today: date, lexicon: Lexicon,
            fitting: Fitting) -> Citation:
    """Return the citation with its source's authority, region, date and stage, and a remark where it may not fit.

    The remark is one Chinese sentence, empty where nothing is wrong.
    """
    meta = candidate.document.meta
    header = candidate.chunk.text.split("\n", 1)[0] if candidate.chunk.kind == "table" else ""
    levels = (citation.quote, header, *reversed(candidate.chunk.heading), meta.title)
    doubts = [_place_doubt(query, (*levels, meta.region), lexicon, fitting),
              _stage_doubt(query, citation.quote, (*levels[1:], meta.stage), lexicon, fitting), _date_doubt(meta.date, today),
              "" if meta.authority else "资料没有写明来源单位", "示例资料，未经植保专家审核" if meta.sample else ""]
    remark = "；".join(doubt for doubt in doubts if doubt)
    return replace(citation, authority=meta.authority, region=meta.region, date=meta.date, stage=meta.stage,
                   remark=remark + "。" if remark else "")


def _place_doubt(query: Query, levels: Sequence[str], lexicon: Lexicon, fitting: Fitting) -> str:
    """The level nearest to the words that names a place decides: the sentence, its headings, the document's region."""
    asked = fitting.places_in(query.standalone, lexicon)
    named = next((found for text in levels if (found := fitting.places_in(text, lexicon))), ())
    if not asked or not named or any(fitting.related(a, n) for a in asked for n in named):
        return ""
    return f"您问的是{_listed(asked)}，这里讲的是{_listed(named)}"


def _stage_doubt(query: Query, quote: str, levels: Sequence[str], lexicon: Lexicon, fitting: Fitting) -> str:
    asked = fitting.stages_in(query.standalone, lexicon)
    if not asked or any(fitting.same_stage(a, s) for a in asked for s in fitting.stages_in(quote, lexicon)):
        return ""
    level = next((text for text in levels if fitting.stages_in(text, lexicon)), "")
    named = fitting.stages_in(level, lexicon)
    if not named or _WHOLE.search(level) or any(fitting.same_stage(a, n) for a in asked for n in named):
        return ""
    return f"您问的是{_listed(asked)}，这里讲的是{_listed(named)}"


def _date_doubt(written: str, today: date) -> str:
    found = _DATE.match(written)
    if not found:
        return ""
    parts = tuple(int(part) for part in found.groups() if part)
    if parts > (today.year, today.month, today.day)[: len(parts)]:
        return f"资料日期 {written} 晚于今天"
    if (parts[0] + _OLD_YEARS, *parts[1:]) < (today.year, today.month, today.day)[: len(parts)]:
        return f"资料日期 {written}，已超过 {_OLD_YEARS} 年"
    return ""


def _listed(names: Iterable[str]) -> str:
    names = tuple(names)
    return "、".join(names[:_MOST_NAMED]) + ("等" if len(names) > _MOST_NAMED else "")


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"对照表 {path} 无法读取（{error}）：请恢复该文件") from error
