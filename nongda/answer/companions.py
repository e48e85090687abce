"""What belongs beside a product: its pre-harvest interval and the crops it is registered for, quoted from the corpus.

A row or sentence is quoted only when all of this holds; else there is no note:
1. It names the product by itself, not in a mixture, in a content and formulation that the question does not exclude.
2. It is about one of the asked crops: in its own words, else by a group of crops, else by the headings above it.
3. For an interval: the days stand beside the product and are no interval between two sprayings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nongda.answer.cite import resolve
from nongda.answer.evidence import headed_text, split_evidence
from nongda.answer.law import PesticideLaw
from nongda.language.lexicon import Lexicon
from nongda.language.matching import Match
from nongda.language.text import search_form
from nongda.records import Candidate, Evidence, Note

Search = Callable[[str, int], Sequence[Candidate]]
CompanionKind = Literal["interval", "registered"]

_MOST_PRODUCTS, _MOST_LINES, _PASSAGES = 3, 3, 15
_QUERIES: dict[CompanionKind, str] = {"interval": "安全间隔期 采收", "registered": "登记作物"}
_FORMULATIONS = (
    "可分散油悬浮剂", "悬浮种衣剂", "水分散粒剂", "可湿性粉剂", "可溶性粉剂", "可溶粉剂", "可溶粒剂", "可溶液剂", "可溶胶剂", "微囊悬浮剂",
    "悬浮乳剂", "悬乳剂", "油悬浮剂", "悬浮剂", "水乳剂", "微乳剂", "颗粒剂", "种衣剂", "乳油", "水剂", "烟剂", "粉剂", "油剂", "乳剂",
)
_SYNONYMS = {"可溶性粉剂": "可溶粉剂"}
_FORMULATION = "|".join(_FORMULATIONS)
_CONTENT = r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>%|克/升|g/l)"
_BEFORE = re.compile(rf"{_CONTENT}\s*的?$")
_AFTER = re.compile(rf"\s*[(（]?(?:{_CONTENT}\s*)?(?P<formulation>{_FORMULATION})?")
_NUMERAL = r"(?:\d+|[一二两三四五六七八九十]+)"
_DAYS = re.compile(rf"{_NUMERAL}(?:\s*(?:~|-|–|—|至|到)\s*{_NUMERAL})?\s*[天日](?!期)")
_INTERVAL = re.compile(r"安全间隔期|停药|(?:采收|收获|采摘|上市|收割|采果|采茶)前")
_INTERVAL_HEADER = re.compile(r"安全间隔|停药|采收间隔|距采收")
_SPRAYING = re.compile(r"(?:喷药|施药|打药|用药)(?:的)?间隔|每隔|隔\s*\d+.{0,8}[天日].{0,4}[喷打施用]|两次|再进入|持效|药后")
_NOT_MEANT = re.compile(r"没有专指|没有指明|并非|不是指")
_EXCEPT_BEFORE = re.compile(r"(?:除了?|不含|不包括|不适用于|不能用于)[\u4e00-\u9fff、]{0,8}$")
_EXCEPT_AFTER = re.compile(r"[\u4e00-\u9fff、]{0,8}(?:除外|以外|不适用)|上?不[能得可应]")
_REGISTERED = re.compile(r"登记(?:在|于|用于|有|的?作物)|[已在].{0,12}登记")
_CONDITIONAL = re.compile(r"按|必须|须|应(?!用)|只选|选用|选购|确认|核对|查询|请|没有|未|是否|撤销|禁止|不|要看|才")
_SOURCE_WORDS = re.compile(r"(?:大田)?(?:蔬菜|果树|茶叶)(?:通用)?(?=清单|资料|手册|站|所|研究|用药后)")
_JOIN = re.compile(r"[、,，和与及或\s]*")
_LIST_MARK = re.compile(r"^(?:\d{1,2}[.、)）](?!\d)\s*|[-*•]\s+)")  # 1.8% is no mark
_DOTS = ("·", "・", "•")
_EXCLUSIVE = (("早稻", "中稻", "晚稻"), ("大棚", "露地"))


@dataclass(frozen=True, slots=True)
class _Spec:
    """Content in % and formulation of a product as written; None and "" where not written."""

    percent: float | None
    formulation: str

    def meets(self, asked: _Spec) -> bool:
        """Tell whether this is what was asked for: a content that is asked must be written, a formulation not differ."""
        same = asked.percent is None or (self.percent is not None and abs(self.percent - asked.percent) < 1e-9)
        return same and (not self.formulation or not asked.formulation or self.formulation == asked.formulation)


@dataclass(frozen=True, slots=True)
class _Line:
    """One fitting piece of evidence; `rank` sorts, smallest first, `says` is what tells lines apart."""

    evidence: Evidence
    candidate: Candidate
    rank: tuple[int, int]
    says: tuple[object, ...]


def product_notes(products: Sequence[str], crops: set[str], search: Search, lexicon: Lexicon, law: PesticideLaw,
                  said: str = "") -> list[Note]:
    """Return the notes of at most three products (standard names): interval and registered crop, one of each at most.

    `crops` are standard names; without any there is no note, nor for a product whose use on them is forbidden.
    `said` is question and answer: a content, formulation or season named there excludes rows for another.
    `search` gives candidates for a query, best first. A note's lines are evidence, a table row with its header.
    """
    notes: list[Note] = []
    allowed = [p for p in dict.fromkeys(products) if not any(law.applies(r, crops) for r in law.find(p))]
    for product in allowed[:_MOST_PRODUCTS] if crops else ():
        finder = _Finder(product, {law.crop(c) for c in crops}, lexicon, law, search_form(said))
        shown: set[tuple[str, int]] = set()
        for kind, words in _QUERIES.items():
            passages = _passages(search, [f"{product} {crop} {words}" for crop in ("", *sorted(crops))])
            named = [c for c in passages if finder.product in c.chunk.search_text]
            lines = _choose([line for c in named for line in finder.lines(kind, c)])
            fresh = [x for x in lines if (x.evidence.chunk_id, x.evidence.start) not in shown]
            shown |= {(x.evidence.chunk_id, x.evidence.start) for x in fresh}
            if fresh:
                text = "\n".join(_shown(x.evidence, x.candidate) for x in fresh)
                notes.append(Note(kind, text, tuple(resolve(x.evidence, x.candidate) for x in fresh)))
    return notes


def _passages(search: Search, queries: Sequence[str]) -> list[Candidate]:
    found: dict[str, Candidate] = {}
    for query in queries:
        for candidate in search(query, _PASSAGES):
            found.setdefault(candidate.chunk.id, candidate)
    return list(found.values())


def _choose(lines: Sequence[_Line]) -> list[_Line]:
    """Keep the lines that fit best; of those that say the same a table row, else the shortest."""
    best = min((line.rank for line in lines), default=(0, 0))
    kept: dict[tuple[object, ...], _Line] = {}
    for line in sorted(lines, key=lambda x: (not x.evidence.text.startswith("|"), len(x.evidence.text))):
        if line.rank == best:
            kept.setdefault(line.says, line)
    return sorted(kept.values(), key=lines.index)[:_MOST_LINES]


def _shown(evidence: Evidence, candidate: Candidate) -> str:
    return _LIST_MARK.sub("", headed_text(evidence, candidate))


class _Finder:
    """Looks for evidence on one product and the asked crops (names of registration)."""

    def __init__(self, product: str, crops: set[str], lexicon: Lexicon, law: PesticideLaw, said: str) -> None:
        self.product, self._crops = search_form(product), crops
        self._lexicon, self._law, self._said = lexicon, law, said
        self._mixtures = {_mixed_with(said, m) for m in self._named(said)} or {("", "")}
        self._asked = [s for s in (self._spec(said, m) for m in self._named(said)) if s != _Spec(None, "")]

    def lines(self, kind: CompanionKind, candidate: Candidate) -> Iterator[_Line]:
        """Yield the evidence of a passage that fits, with its rank."""
        for evidence in split_evidence(candidate):
            cells = _cells(headed_text(evidence, candidate)) if evidence.text.startswith("|") else []
            form = search_form(headed_text(evidence, candidate))
            mentions = self._mentions(form)
            if not mentions or not self._is_season(form):
                continue
            specs = [self._spec(form, m) for m in mentions]
            meeting = [i for i, s in enumerate(specs) if not self._asked or any(s.meets(a) for a in self._asked)]
            fit = self._fit(form, cells, candidate)
            if not meeting or not fit:
                continue
            about = [mentions[i] for i in meeting]
            if kind == "interval":
                value = self._interval(form, cells, about, candidate.chunk.heading)
            else:
                value = self._registered(form, cells, about, fit)
            if value:
                exact = any(specs[i] in self._asked for i in meeting)
                yield _Line(evidence, candidate, (-fit, 0 if exact else 1), (specs[meeting[0]].percent, value))

    # the product

    def _named(self, form: str) -> list[Match]:
        return [m for m in self._lexicon.find(form) if m.terms == (self.product,)]

    def _mentions(self, form: str) -> list[Match]:
        """Return where the product stands alone, or in the mixture that was asked for."""
        return [m for m in self._named(form) if _mixed_with(form, m) in self._mixtures]

    def _spec(self, form: str, match: Match) -> _Spec:
        before, after = _BEFORE.search(form[: match.start]), _AFTER.match(form, match.end)
        content = before or (after if after and after["number"] else None)
        percent = None
        if content:
            percent = float(content["number"]) / (1 if content["unit"] == "%" else 10)  # 25 g/L is 2.5%
        formulation = (after["formulation"] if after else "") or ""
        return _Spec(percent, _SYNONYMS.get(formulation, formulation))

    def _is_season(self, form: str) -> bool:
        for words in _EXCLUSIVE:
            asked, told = {w for w in words if w in self._said}, {w for w in words if w in form}
            if asked and told and not asked & told:
                return False
        return True

    # the crop

    def _fit(self, form: str, cells: Sequence[tuple[str, str]], candidate: Candidate) -> int:
        """Return 3 where the evidence names the crop, 2 where headings do, 1 for a group of crops, 0 for no fit."""
        named = " ".join(cell for header, cell in cells if "作物" in header)
        text = search_form(named) if named else form
        if self._crops & self._excepted(form) or _NOT_MEANT.search(form):
            return 0
        crops, groups = self._crops_in(text) - self._excepted(form), self._groups_in(text)
        if crops:
            return 3 if crops & self._crops else 0
        if groups:
            return 1 if self._in_group(groups) else 0
        for heading in (*candidate.chunk.heading[::-1], candidate.document.meta.title):
            crops, groups = self._crops_in(search_form(heading)), self._groups_in(search_form(heading))
            if crops:  # a sentence below a heading of two crops may be about either
                return 2 if self._crops <= crops and (cells or crops == self._crops) else 0
            if groups:
                return 1 if self._in_group(groups) else 0
        return 0

    def _crops_in(self, text: str) -> set[str]:
        named = {self._law.crop(e.term) for e in self._lexicon.entities(text) if e.kind == "crop"}
        return named | {crop for word, crop in self._law.kinds.items() if word in text}

    def _excepted(self, form: str) -> set[str]:
        """Return the crops a text leaves out: 蔬菜通用，小白菜除外."""
        return {
            crop for start, end, crop in self._places(form)
            if _EXCEPT_AFTER.match(form[end:]) or _EXCEPT_BEFORE.search(form[:start])
        }

    def _places(self, form: str) -> list[tuple[int, int, str]]:
        """Return where crops and groups of crops stand in a text."""
        places = [(m.start, m.end, crop) for m in self._lexicon.find(form)
                  for crop in self._crops_in(form[m.start : m.end])]
        kinds = self._law.kinds.items()
        places += [(m.start(), m.end(), crop) for word, crop in kinds for m in re.finditer(word, form)]
        plain = _SOURCE_WORDS.sub(lambda m: " " * len(m.group()), form)
        groups = [(m.start(), m.end(), group) for group in self._law.groups for m in re.finditer(group, plain)]
        return sorted(places + groups)

    def _groups_in(self, text: str) -> set[str]:
        plain = _SOURCE_WORDS.sub("", text)
        return {group for group in self._law.groups if group in plain}

    def _in_group(self, groups: set[str]) -> bool:
        return bool(groups) and all(any(c in self._members(g) for g in groups) for c in self._crops)

    def _members(self, group: str) -> set[str]:
        return {self._law.crop(c) for c in self._law.groups[group]}

    # what is said

    def _interval(self, form: str, cells: Sequence[tuple[str, str]], mentions: Sequence[Match],
                  heading: Sequence[str]) -> str:
        """Return the days as written, or "" when none stand beside the product."""
        stated = [cell for header, cell in cells if _INTERVAL_HEADER.search(header)]
        if stated:
            return stated[0].rstrip("天日 ") if re.search(r"\d", stated[0]) else ""
        if not _INTERVAL.search(form) and not any(_INTERVAL.search(h) for h in heading):
            return ""
        products = [m for m in self._lexicon.find(form) if self._is_product(form, m)]
        alone = {m.terms for m in products} == {(self.product,)}
        for mention in mentions:
            start, stop = _reach(form, mention, products)
            for days in _DAYS.finditer(form, 0 if alone else start, len(form) if alone else stop):
                spraying = _SPRAYING.search(_clause(form, days.start(), days.end()))
                if not spraying and self._is_for_crop(form, days.start()):
                    return days.group().rstrip("天日 ")
        return ""

    def _is_for_crop(self, form: str, at: int) -> bool:
        """Tell whether the crop last named before a number is asked for; where none is, the first after it."""
        places = self._places(form)
        nearest = [crop for _, end, crop in places if end <= at][-1:] or [crop for _, _, crop in places][:1]
        return all(crop in self._crops or (crop in self._law.groups and self._in_group({crop})) for crop in nearest)

    def _is_product(self, form: str, match: Match) -> bool:
        return any(e.kind == "product" for e in self._lexicon.entities(form[match.start : match.end]))

    def _registered(self, form: str, cells: Sequence[tuple[str, str]], mentions: Sequence[Match], fit: int) -> str:
        stated = [cell for header, cell in cells if "登记" in header and "作物" in header]
        if stated:
            return stated[0]
        clauses = [_clause(form, m.start, m.end) for m in mentions] if fit == 3 else []
        said = [c for c in clauses if _REGISTERED.search(c) and not _CONDITIONAL.search(c)]
        return said[0] if said and self._crops_in(said[0]) & self._crops else ""


def _mixed_with(form: str, match: Match) -> tuple[str, str]:
    """Return the neighbours of a name in a mixture (戊唑·多菌灵), two characters and the dot on each side, or ""."""
    before, after = form[: match.start], form[match.end :]
    return before[-3:] if before.endswith(_DOTS) else "", after[:3] if after.startswith(_DOTS) else ""


def _cells(headed: str) -> list[tuple[str, str]]:
    pairs = [part.split("：", 1) for part in headed.split("；")]
    return [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]


def _reach(form: str, mention: Match, products: Sequence[Match]) -> tuple[int, int]:
    """Return where the words about a mention begin and end: to the next product that is no part of the same list."""
    end = mention.end
    for other in sorted(products, key=lambda m: m.start):
        if other.start < end:
            continue
        between = form[end : other.start]
        if not _JOIN.fullmatch(_BEFORE.sub("", between)):
            return mention.end, other.start
        end = other.end
    return mention.end, len(form)


def _clause(form: str, start: int, end: int) -> str:
    """Return the clause around a span."""
    cuts = "，,。；;"
    first = max((form.rfind(c, 0, start) for c in cuts), default=-1) + 1
    after = [i for i in (form.find(c, end) for c in cuts) if i >= 0]
    return form[first : min(after, default=len(form))]
