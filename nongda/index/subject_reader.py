"""What one document speaks of, read by itself: the pieces that `Subjects` joins, remembered while others come and go.

A passage about coffee that names maize as its neighbour is no passage on maize, so each mention carries a scope:
the crops of its own sentence or row, else of its heading, else those its document is about. No scope means any crop.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from nongda.index.families import is_same_crop
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form, sentence_spans
from nongda.records import Chunk, Entity

Place = Literal["title", "heading", "text"]
SUBJECT_KINDS = frozenset({"crop", "disease", "pest", "product", "variety"})
READER_VERSION = 1  # of the rules below; another one reads all documents anew
_DOMINANT_SHARE = 0.5  # of all crop names in a text whose title names no crop
_DOMINANT_RATE = 0.1  # of its sentences and rows
_TABLE_RULE = re.compile(r"^\s*\|[\s|:-]*-[\s|:-]*$")
# Words that name a crop only together with its field, seedling or harvest; the bare character is no crop's name.
_FIELD_WORDS: Mapping[str, re.Pattern[str]] = {
    "小麦": re.compile(r"(?<![大燕荞黑])麦(?:田|地|苗|穗|种(?!植)|粒|子|叶|收|黄疸)|[冬春]麦"),
    "水稻": re.compile(r"稻(?:田|苗|穗|种(?!植)|株|叶|谷)|[早中晚旱粳籼]稻|秧(?:田|苗)|双季稻"),
    "棉花": re.compile(r"棉(?:田|株|苗|桃|地|农)|陆地棉|长绒棉"),
    "茶树": re.compile(r"茶(?:园|苗|山|地|农|青)|[春夏秋]茶|大叶种茶"),
    "烟草": re.compile(r"烟(?:田|地|株|苗|农)|烤烟"),
    "甘蔗": re.compile(r"蔗(?:田|地|园|苗|种|农)"),
    "橡胶树": re.compile(r"(?<!塑)胶(?:园|林|树|农)"),
    "香蕉": re.compile(r"蕉(?:园|地|树|农)"),
    "桑树": re.compile(r"桑(?:园|叶|地|苗)"),
    "柑橘": re.compile(r"[柑橘桔](?:园|树|农)"),
    "梨树": re.compile(r"(?<!山)梨(?:园|子|果)"),
    "桃树": re.compile(r"(?<![核樱猕棉])桃(?:园|子)"),
}
_FIELD_LETTERS = re.compile("[麦稻秧棉茶烟蔗胶蕉桑柑橘桔梨桃]")  # one of them is in every field word


class Mention(NamedTuple):  # there are hundreds of thousands, and a tuple is made ten times as fast as a dataclass
    """A term named once in a chunk; `crops` is the scope, empty for any crop."""

    chunk_id: str
    doc_id: str
    place: Place
    crops: frozenset[str]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a chunk is about, the nearest heading first: standard terms by kind."""

    crops: tuple[str, ...] = ()
    diseases: tuple[str, ...] = ()
    pests: tuple[str, ...] = ()
    products: tuple[str, ...] = ()


def named(text: str, lexicon: Lexicon) -> list[Entity]:
    """Return the crops, diseases, pests, products and varieties a text names, field words (稻田, 茶园) among them."""
    return [e for e in entities(text, lexicon) if e.kind in SUBJECT_KINDS]


def entities(text: str, lexicon: Lexicon) -> list[Entity]:
    """Return the terms of all kinds that a text names, field words (稻田, 茶园) among them."""
    form = search_form(text)
    found = list(lexicon.entities(form))
    if not _FIELD_LETTERS.search(form):
        return found
    crops = {e.term for e in found if e.kind == "crop"}
    for crop, pattern in _FIELD_WORDS.items():
        match = pattern.search(form)
        if match and not any(is_same_crop(c, crop) for c in crops):
            found.append(Entity(crop, "crop", match.group()))
    return found


@dataclass(frozen=True, slots=True)
class DocumentSubjects:
    """What one document speaks of; every text is in search form."""

    title: str = ""  # as shown: the document's title, or its file name
    main_crops: tuple[str, ...] = ()
    mentions: Mapping[str, tuple[Mention, ...]] = field(default_factory=dict)  # by term
    kinds: Mapping[str, str] = field(default_factory=dict)  # by term
    subjects: Mapping[str, Subject] = field(default_factory=dict)  # by chunk id
    beside: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by crop: terms in its sentences, rows, headings
    text_beside: Mapping[str, str] = field(default_factory=dict)  # by crop: its sentences and rows
    search_texts: Mapping[str, str] = field(default_factory=dict)  # by chunk id
    headings: frozenset[str] = frozenset()
    text: str = ""  # title, headings and text of all chunks, without white space


def read_document(title: str, chunks: Sequence[Chunk], lexicon: Lexicon) -> DocumentSubjects:
    """Read the chunks of one document; about 16 ms for twenty."""
    return _Reader(title, lexicon).read(chunks, read_words(title, chunks))


def read_words(title: str, chunks: Sequence[Chunk]) -> DocumentSubjects:
    """Read what needs no lexicon; about 0.5 ms for twenty chunks."""
    forms = {h: search_form(h) for h in {h for c in chunks for h in (title, *c.heading)}}
    words = (f"{forms[title]} {' '.join(forms[h] for h in c.heading)} {search_form(c.text)}" for c in chunks)
    return DocumentSubjects(title, search_texts={c.id: c.search_text for c in chunks}, headings=frozenset(forms.values()),
                            text="\n".join("".join(w.split()) for w in words))


class _Reader:
    """Collects mentions, chunk by chunk."""

    def __init__(self, title: str, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._title = title
        self._named: dict[str, list[Entity]] = {}  # by text: titles, headings and table heads come again
        self._mentions: defaultdict[str, list[Mention]] = defaultdict(list)
        self._beside: defaultdict[str, set[str]] = defaultdict(set)
        self._beside_texts: defaultdict[str, list[str]] = defaultdict(list)
        self._kinds: dict[str, str] = {}
        self._subjects: dict[str, Subject] = {}

    def read(self, chunks: Sequence[Chunk], words: DocumentSubjects) -> DocumentSubjects:
        texts = {c.id: _units(c) for c in chunks}
        units = {i: [self._entities(u) for u in found] for i, found in texts.items()}
        for chunk in chunks:
            for text, unit in zip(texts[chunk.id], units[chunk.id], strict=True):
                for crop in _crops(unit):
                    self._beside_texts[crop].append(search_form(text))
        main = _main_crops(self._entities(self._title), [u for c in chunks for u in units[c.id]])
        for chunk in chunks:
            self._read_chunk(chunk, units[chunk.id], main)
        return replace(
            words, main_crops=main, mentions={term: tuple(where) for term, where in self._mentions.items()}, kinds=self._kinds,
            subjects=self._subjects, beside={crop: frozenset(terms) for crop, terms in self._beside.items()},
            text_beside={crop: "\n".join(found) for crop, found in self._beside_texts.items()})

    def _entities(self, text: str) -> list[Entity]:
        if text not in self._named:
            self._named[text] = entities(text, self._lexicon)
        return self._named[text]

    def _read_chunk(self, chunk: Chunk, units: list[list[Entity]], main: tuple[str, ...]) -> None:
        title = self._entities(self._title)
        headings = [self._entities(h) for h in reversed(chunk.heading)]
        heading_crops = next((crops for h in headings if (crops := _crops(h))), frozenset(main))
        self._keep(chunk, "title", title, _crops(title) or frozenset(main))
        for heading in headings:
            self._keep(chunk, "heading", heading, heading_crops)
        header = units[0] if units and chunk.kind == "table" else []
        above = {e.term for level in (title, *headings, header) for e in level}
        for unit in units:
            self._keep(chunk, "text", unit, _crops(unit) or _crops(header) or heading_crops)
            for crop in _crops(unit):
                self._beside[crop] |= above | {e.term for e in unit}
        others = heading_crops - set(main) if main or heading_crops else {c for unit in units for c in _crops(unit)}
        for crop in others:
            self._beside[crop] |= above | {e.term for unit in units for e in unit}
        text = [e for unit in units for e in unit]
        self._subjects[chunk.id] = _subject([*headings, title, text], main)

    def _keep(self, chunk: Chunk, place: Place, entities: list[Entity], crops: frozenset[str]) -> None:
        readings = Counter((e.surface, e.kind) for e in entities)
        for entity in entities:
            if entity.kind not in SUBJECT_KINDS or readings[entity.surface, entity.kind] > 1:
                continue
            self._kinds[entity.term] = entity.kind
            scope = frozenset({entity.term}) if entity.kind == "crop" else crops
            self._mentions[entity.term].append(Mention(chunk.id, chunk.doc_id, place, scope))


def _units(chunk: Chunk) -> list[str]:
    """Sentences, or the rows of a table with its header first (without the rule under it)."""
    if chunk.kind != "table":
        return [chunk.text[a:b] for a, b in sentence_spans(chunk.text)]
    lines = [line for line in chunk.text.splitlines() if line.strip()]
    rule = next((i for i, line in enumerate(lines) if _TABLE_RULE.match(line)), 0)
    header = lines[rule - 1] if rule else ""
    return [header, *(line for i, line in enumerate(lines) if i not in (rule, rule - 1) or not rule)]


def _crops(entities: Iterable[Entity]) -> frozenset[str]:
    return frozenset(e.term for e in entities if e.kind == "crop")


def _main_crops(title: list[Entity], units: list[list[Entity]]) -> tuple[str, ...]:
    if crops := [e.term for e in title if e.kind == "crop"]:
        return tuple(crops)
    counts = Counter(e.term for unit in units for e in unit if e.kind == "crop")
    total = counts.total()
    return tuple(c for c, n in counts.items() if n >= _DOMINANT_RATE * len(units) and n > _DOMINANT_SHARE * total)


def _subject(levels: list[list[Entity]], main: tuple[str, ...]) -> Subject:
    """The first level that names a kind decides it; the text decides crops only where the document has none."""
    def first(kind: str, upto: int) -> tuple[str, ...]:
        names = ([e.term for e in level if e.kind == kind] for level in levels[:upto])
        return tuple(dict.fromkeys(next((n for n in names if n), [])))

    every = len(levels)
    crops = first("crop", every - 1) or main or first("crop", every)
    return Subject(crops, first("disease", every), first("pest", every), first("product", every))
