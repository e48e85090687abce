"""Whether the corpus holds what a question names, and what to say where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nongda.answer.prompt import NO_ANSWER
from nongda.answer.unlisted import unlisted_names, word_triples
from nongda.index.families import GROUPS, PROBLEM_KINDS, groups_of, is_same_crop
from nongda.index.subjects import Mention, Subjects, named
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form
from nongda.records import Candidate, Entity, Query

MissingKind = Literal["crop", "disease", "pest", "product", "variety", "nutrient", "name", "topic"]
_PROBLEM_KINDS: tuple[MissingKind, ...] = ("disease", "pest", "product", "variety")
_MAIN, _HEADING = 3, 2
_WORK: Mapping[str, str] = {"套种": "间作", "混作": "间作"}  # one and the same to whoever asks
_MOST_TITLES = 2
_MOST_CROPS = 3
_LINK = r"(?:园|地|田|林|树)?(?:里|的)?"
_NEIGHBOUR_AFTER = re.compile(
    rf"^{_LINK}(?:旁|隔壁|边上|附近|周围|茬|之后种|收了|收完|收后|秆|秸|草|杆|壳|饼|粕|糠|渣|皮|色|油|酒|粉|一样|那样|似的|大小)")
_NEIGHBOUR_BEFORE = re.compile(r"(?:前茬|后茬|上茬|上季|前作|靠近|挨着|紧挨|邻近|隔壁|旁边|像|如同|不是|而非|喂|改种|原来种|以前种)"
                               r"(?:是|的|种|过|了)*$")
_MINERAL = re.compile(r"[氮磷钾钙镁硫锌铁锰硼铜钼硅酸氯]")
# What is asked about money is answered by offices and markets; a corpus that has it says so in these words.
_TOPICS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    ("补贴", re.compile(r"补贴|补助"), re.compile(r"补贴|补助")),
    ("保险赔付", re.compile(r"保险.{0,8}赔|理赔|赔多少|赔付|保费"), re.compile(r"赔付|理赔|保险金|保费")),
    ("奖金", re.compile(r"奖金|奖励多少|奖多少"), re.compile(r"奖金|奖励")),
    ("贷款", re.compile(r"贷款|贴息"), re.compile(r"贷款|贴息")),
    ("价格和花费", re.compile(r"收购价|市场价|行情|(?:多少|几块|几万|几百)钱|几元|什么价|价格(?:是|多少|几|怎么样|如何|咋)|价格[？?]?$"), 
     re.compile(r"元/|每(?:亩|公斤|千克|斤|株|袋|吨|克)[^。]{0,6}\d元|收购价|市场价|售价")),
)


@dataclass(frozen=True, slots=True)
class Missing:
    """What a question names and the corpus lacks. `crop` is set where `term` is there, but not for this crop.

    `elsewhere` are the crops for which the corpus has the term, best first.
    """

    term: str
    kind: MissingKind
    crop: str = ""
    elsewhere: tuple[str, ...] = ()


def missing_subject(query: Query, subjects: Subjects, lexicon: Lexicon) -> Missing | None:
    """Return the first subject of the question that the corpus does not hold, or None when all are there.

    1. A crop of the question must be what a document or heading is about; beside such a crop a mention will do.
    2. A disease, pest, product or variety must be named, and for one of the question's crops where it has any.
    3. A name in the form of a disease, pest, product or variety that no list holds must stand in a document.
    4. Money questions need words of money.
    Of several things of one kind (a comparison) one that is there is enough; readings of an ambiguous name too.
    """
    entities = named(query.standalone, lexicon)
    crops = _asked_crops(query, entities, lexicon)
    return (
        _missing_crop(crops, query, subjects, lexicon)
        or _missing_problem(entities, crops, subjects)
        or _missing_nutrient(entities, query, subjects, lexicon)
        or _missing_name(query, subjects, lexicon)
        or _missing_topic(query, subjects)
    )


def _asked_crops(query: Query, entities: Iterable[Entity], lexicon: Lexicon) -> list[str]:
    """Crops that are asked about, not neighbours, former crops, straw, cake or colours."""
    form = search_form(query.standalone)
    terms = {m.start for m in lexicon.find(form)}
    return [e.term for e in entities if e.kind == "crop" and not _is_aside(form, e.surface, terms)]


def _is_aside(form: str, surface: str, terms: set[int]) -> bool:
    """草 in 水稻草 makes straw of the crop, but not where a term begins with it (咖啡草地贪夜蛾)."""
    ends = [m.end() for m in re.finditer(re.escape(surface), form)]
    return bool(ends) and all(
        (end not in terms and _NEIGHBOUR_AFTER.search(form[end:])) or _NEIGHBOUR_BEFORE.search(form[: end - len(surface)])
        for end in ends
    )


def _missing_crop(crops: Sequence[str], query: Query, subjects: Subjects, lexicon: Lexicon) -> Missing | None:
    held = {c: _crop_strength(c, subjects) for c in crops}
    absent = next((c for c, strength in held.items() if strength == 0), None)
    if absent:
        return Missing(absent, "crop")
    if not held or max(held.values()) >= _MAIN:
        return None
    supported = any(_speaks_to(query, c, held[c], subjects, lexicon) for c in crops)
    return None if supported else Missing(crops[0], "crop")


def _crop_strength(crop: str, subjects: Subjects) -> int:
    strength = subjects.strength(crop)
    return _MAIN if any(subjects.headed(group) for group in groups_of(crop)) else strength


def _speaks_to(query: Query, crop: str, strength: int, subjects: Subjects, lexicon: Lexicon) -> bool:
    """Tell whether a passage that names the crop, no main one, also has a word of what is asked about it."""
    entities = lexicon.entities(query.standalone)
    own = {e.surface for e in named(query.standalone, lexicon) if e.kind == "crop"}
    asked = {_WORK.get(e.term, e.term) for e in entities
             if e.kind not in ("crop", "place") and not any(w in e.surface or e.surface in w for w in own)}
    words = set().union(*(word_triples(part) for part in re.split("|".join(map(re.escape, own)) or "$", query.standalone)))
    beside = {_WORK.get(t, t) for t in subjects.terms_beside(crop)}
    if asked & beside or any(w in subjects.text_beside(crop) for w in words):
        return True
    return not asked and strength >= _HEADING


def _missing_problem(entities: Iterable[Entity], crops: Sequence[str], subjects: Subjects) -> Missing | None:
    entities = list(entities)
    for kind in _PROBLEM_KINDS:
        terms = [e.term for e in entities if e.kind == kind]
        absent = [t for t in terms if not subjects.speaks_of(t)]
        if terms and len(absent) == len(terms):
            return Missing(terms[0], kind, crops[0] if crops else "")
        present = [t for t in terms if t not in absent]
        if kind == "variety" or not present or not crops:
            continue
        if not any(_is_paired(t, c, subjects) for t in present for c in crops):
            term = present[0]
            return Missing(term, kind, crops[0], tuple(subjects.crops_with(term)))
    return None


def _is_paired(term: str, crop: str, subjects: Subjects) -> bool:
    wanted = {crop, *groups_of(crop)}
    found: list[Mention] = [m for c in wanted if c not in GROUPS for m in subjects.pair(term, c)]
    return bool(found)


def _missing_nutrient(entities: Iterable[Entity], query: Query, subjects: Subjects, lexicon: Lexicon) -> Missing | None:
    """A mineral nutrient that stands nowhere; beside a disease or pest it is only a circumstance."""
    if any(e.kind in PROBLEM_KINDS for e in entities):
        return None
    asked = [e for e in lexicon.entities(query.standalone) if e.kind == "nutrient" and _MINERAL.search(e.term)]
    held = any(subjects.contains(e.term) or subjects.contains(e.surface) for e in asked)
    return Missing(asked[0].term, "nutrient") if asked and not held else None


def _missing_name(query: Query, subjects: Subjects, lexicon: Lexicon) -> Missing | None:
    absent = [n for n in unlisted_names(query.standalone, lexicon) if not subjects.contains(n.core)]
    return Missing(absent[0].shown, "name") if absent else None


def _missing_topic(query: Query, subjects: Subjects) -> Missing | None:
    for topic, asked, words in _TOPICS:
        if asked.search(query.standalone) and not subjects.matches(words):
            return Missing(topic, "topic")
    return None


def refusal_text(query: Query, missing: Missing | None, candidates: Sequence[Candidate], subjects: Subjects) -> str:
    """Return the refusal: the fixed sentence, what is there instead, and the nearest titles."""
    lines = [f"{NO_ANSWER}。"]
    if missing:
        lines.append(_instead(missing, subjects))
    titles = _nearest_titles(missing, candidates, subjects)
    if titles:
        lines.append(f"最接近的资料：{'、'.join(f'《{t}》' for t in titles)}。")
    return "".join(lines)


def _instead(missing: Missing, subjects: Subjects) -> str:
    lacking = f"没有{_joined(missing.crop, missing.term)}"
    if missing.crop and missing.elsewhere:
        crops = dict.fromkeys(subjects.plain(c) for c in missing.elsewhere)
        there = "、".join(_joined(crop, missing.term) for crop in list(crops)[:_MOST_CROPS])
        return f"资料里有{there}，{lacking}。"
    if missing.kind == "crop":
        held = list(dict.fromkeys(subjects.plain(c) for c in subjects.crops()))
        return f"资料里讲的作物是{'、'.join(held)}，没有{missing.term}的这项内容。" if held else f"资料里{lacking}。"
    if missing.kind == "topic":
        return f"资料里没有{missing.term}方面的内容，请向当地农业农村部门询问。"
    if missing.crop and missing.kind in PROBLEM_KINDS:
        known = (subjects.diseases_of if missing.kind == "disease" else subjects.pests_of)(missing.crop)
        if known:
            return f"资料里{missing.crop}有{'、'.join(known[:_MOST_CROPS])}等，没有{missing.term}。"
    return f"资料里没有“{missing.term}”。"


def _joined(crop: str, term: str) -> str:
    """水稻 and 稻瘟病 stay apart as 水稻稻瘟病; a name that begins with its crop is not doubled."""
    return term if not crop or term.startswith(crop) else f"{crop}{term}"


def _nearest_titles(missing: Missing | None, candidates: Sequence[Candidate], subjects: Subjects) -> list[str]:
    titles: list[str] = []
    if missing and missing.elsewhere:
        strongest = [m for m in subjects.mentions(missing.term) if m.place != "text"]
        strongest.sort(key=lambda m: missing.elsewhere[0] not in m.crops)
        titles = [subjects.title(m.doc_id) for m in strongest]
    if not titles:
        crop = missing.crop if missing else ""
        titles = [c.document.meta.title or c.document.source for c in candidates
                  if not crop or any(is_same_crop(m, crop) for m in subjects.main_crops(c.document.id))]
    return list(dict.fromkeys(titles))[:_MOST_TITLES]
