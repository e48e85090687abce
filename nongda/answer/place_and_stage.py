"""Whether a source speaks of the place and the growth stage that a question names.

The level nearest to the words that names a place decides: the sentence, its table's header, its headings from the inside
out, the document's title, its region. For stages alike, with the document's stage last; a span of stages (苗期至蕾期) decides
nothing, nor does a sentence that names the asked stage among others.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nongda.answer.evidence import ScoredEvidence
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.records import Candidate, Note, Query

_MOST_NAMED = 3  # places in a remark
# A text with one of these covers more than the stages it names.
_WHOLE = re.compile(r"全年|全生育期|至|到|[~～—–-]|全程|各(?:个)?(?:时期|阶段)")
# 从开花到采收要几个月: the two ends of a span are no stage of the question.
_SPAN = re.compile(r"从[^，。？！]{1,14}(?:到|至)")
# What a crop does is a stage only where a text says that it is so now (正拔节, 抽穗的时候, 扬花了): 什么时候拔节 asks for it.
_NOW_BEFORE = re.compile(r"(?:正|在|刚|才|已经?|处于|正当|眼下|现在|赶上|遇上|碰上|到了?|等)(?:开始)?$")
_NOW_AFTER = re.compile(
    r"^(?:着|了)?的?(?:时(?!间)|[初中末盛后]?期(?!间隔)|那阵|这阵|那会|这会|那段|阶段|关头|当口|当中|，"
    r"|能|可|该|打|喷|要(?=打|喷|施|追|浇|补))|^了(?!没|吗|多)")
_ASKS_WHEN = re.compile(r"(?:什么时候|啥时候|何时|几月|哪天|几时|哪个月|多久|多少天|几天)[^，。？！]{0,4}$")
_NOT_NOW = re.compile(r"^(?:前|之前|以前|没|慢|早|晚|不)")
_DENIED = re.compile(r"(?:不|没|未|还没|提前|推迟|促进|促|影响|延迟)$")

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
    spoken: Mapping[str, re.Pattern[str]]  # a stage: its names that no list has
    doing: Mapping[str, re.Pattern[str]]  # a stage: what the crop does then

    @classmethod
    def load(cls, folder: Path) -> Fitting:
        """Read places.toml and stages.toml of a domain folder; SettingsError names the file that cannot be read."""
        places, stages = _table(folder / "places.toml"), _table(folder / "stages.toml")
        try:
            return cls(
                {k: frozenset(v) for k, v in places["inside"].items()}, dict(places["same"]),
                frozenset(places["everywhere"]["words"]), {k: frozenset(v) for k, v in stages["inside"].items()},
                frozenset(stages["other"]["words"]),
                *({k: re.compile("|".join(v)) for k, v in stages[part].items()} for part in ("spoken", "doing")),
            )
        except (KeyError, AttributeError, TypeError, re.error) as error:
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
        named = [e.term for e in lexicon.entities(text) if e.kind == "stage"]
        form = search_form(text)
        if not _SPAN.search(form):
            named += [stage for stage, said in self.spoken.items() if any(not _is_denied(form, m) for m in said.finditer(form))]
            named += [stage for stage, does in self.doing.items() if any(_is_now(form, m) for m in does.finditer(form))]
        return tuple(term for term in dict.fromkeys(named) if term not in self.no_stages)

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


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The places and stages that a question names."""

    places: tuple[str, ...]
    stages: tuple[str, ...]

    @classmethod
    def of(cls, query: Query, lexicon: Lexicon, fitting: Fitting) -> Circumstances:
        """Read a question."""
        return cls(fitting.places_in(query.standalone, lexicon), fitting.stages_in(query.standalone, lexicon))

    def fit(self, quote: str, candidate: Candidate, lexicon: Lexicon, fitting: Fitting) -> float:
        """Return in [-1, 1] how far a sentence of a passage is for them; 0 where the question names none."""
        levels, meta = levels_of(quote, candidate), candidate.document.meta
        values = [place_fit(self.places, (*levels, meta.region), lexicon, fitting)[0]] if self.places else []
        values += [stage_fit(self.stages, (*levels, meta.stage), lexicon, fitting)[0]] if self.stages else []
        return sum(values) / len(values) if values else 0.0


def place_fit(asked: Sequence[str], levels: Iterable[str], lexicon: Lexicon, fitting: Fitting) -> tuple[float, tuple[str, ...]]:
    """Return 1, 0 or -1 for the places asked and the nearest level that names any, with what it names."""
    named = next((found for text in levels if (found := fitting.places_in(text, lexicon))), ())
    if not asked or not named:
        return 0.0, named
    return (1.0 if any(fitting.related(a, n) for a in asked for n in named) else -1.0), named


def stage_fit(asked: Sequence[str], levels: Iterable[str], lexicon: Lexicon, fitting: Fitting) -> tuple[float, tuple[str, ...]]:
    """Return 1, 0 or -1 for the stages asked and the nearest level that names any, with what it names."""
    level, named = next(((text, found) for text in levels if (found := fitting.stages_in(text, lexicon))), ("", ()))
    if not asked or not named:
        return 0.0, named
    if any(fitting.same_stage(a, n) for a in asked for n in named):
        return 1.0, named
    return (0.0 if _WHOLE.search(level) else -1.0), named


def fit_note(query: Query, quotes: Sequence[ScoredEvidence], lexicon: Lexicon, fitting: Fitting) -> Note | None:
    """Return a warning where every quote is for another place or another stage than the question names, else None.

    With such a warning no yes or no may be given: the documents have not decided it.
    """
    doubts: list[str] = []
    named_by = Circumstances.of(query, lexicon, fitting)
    for asked, other in ((named_by.places, place_fit), (named_by.stages, stage_fit)):
        found = [other(asked, (*levels_of(s.evidence.text, s.candidate), _field(other is place_fit, s.candidate)), lexicon, fitting)
                 for s in quotes] if asked else []
        if found and all(value < 0 for value, _ in found):
            doubts.append(doubt(asked, dict.fromkeys(name for _, named in found for name in named)))
    return Note("trust", "；".join(doubts) + "。资料没有讲您问的情形，请不要照搬，先问当地农技站。") if doubts else None


def stage_is_held(query: Query, quotes: Sequence[ScoredEvidence], lexicon: Lexicon, fitting: Fitting) -> bool:
    """Tell whether a quote, its headings or its document name the stage asked, or a question asks of none.

    Where this is false, what the quotes allow or forbid may hold at another stage: no proof of a yes or a no.
    """
    asked = fitting.stages_in(query.standalone, lexicon)
    found = (fitting.stages_in(text, lexicon) for s in quotes
             for text in (*levels_of(s.evidence.text, s.candidate), s.candidate.document.meta.stage))
    return not asked or any(fitting.same_stage(a, n) for named in found for a in asked for n in named)


def doubt(asked: Iterable[str], named: Iterable[str]) -> str:
    """Say what was asked and what a source is about."""
    return f"您问的是{_listed(asked)}，这里讲的是{_listed(named)}"


def levels_of(quote: str, candidate: Candidate) -> tuple[str, ...]:
    """Return the words, the table's header, the headings from the inside out and the title."""
    header = candidate.chunk.text.split("\n", 1)[0] if candidate.chunk.kind == "table" else ""
    return quote, header, *reversed(candidate.chunk.heading), candidate.document.meta.title


def _field(place: bool, candidate: Candidate) -> str:
    return candidate.document.meta.region if place else candidate.document.meta.stage


def _is_denied(form: str, match: re.Match[str]) -> bool:
    before = form[: match.start()]
    return bool(_ASKS_WHEN.search(before) or _DENIED.search(before) or _NOT_NOW.search(form[match.end() :]))


def _is_now(form: str, match: re.Match[str]) -> bool:
    """Tell whether what a crop does is said to be so now."""
    said = _NOW_BEFORE.search(form[: match.start()]) or _NOW_AFTER.search(form[match.end() :])
    return bool(said) and not _is_denied(form, match)


def _listed(names: Iterable[str]) -> str:
    names = tuple(names)
    return "、".join(names[:_MOST_NAMED]) + ("等" if len(names) > _MOST_NAMED else "")


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"对照表 {path} 无法读取（{error}）：请恢复该文件") from error
