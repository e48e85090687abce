"""What the knowledge base speaks of: crops, and diseases, pests and products on which crop.

A passage about coffee that names maize as its neighbour is no passage on maize, so each mention carries a scope:
the crops of its own sentence or row, else of its heading, else those its document is about. No scope means any crop.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from nongda.index.families import is_same_crop, is_same_problem
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form, sentence_spans
from nongda.records import Chunk, Entity, StoredDocument

Place = Literal["title", "heading", "text"]
SUBJECT_KINDS = frozenset({"crop", "disease", "pest", "product", "variety"})
_STRENGTH: Mapping[str, int] = {"title": 3, "heading": 2, "text": 1}
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


@dataclass(frozen=True, slots=True)
class Mention:
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
    return [e for e in _entities(text, lexicon) if e.kind in SUBJECT_KINDS]


def _entities(text: str, lexicon: Lexicon) -> list[Entity]:
    found = list(lexicon.entities(text))
    crops = {e.term for e in found if e.kind == "crop"}
    form = search_form(text)
    for crop, pattern in _FIELD_WORDS.items():
        match = pattern.search(form)
        if match and not any(is_same_crop(c, crop) for c in crops):
            found.append(Entity(crop, "crop", match.group()))
    return found


@dataclass(frozen=True)
class _Content:
    """What was read from the documents."""

    main_crops: Mapping[str, tuple[str, ...]]  # by document id
    mentions: Mapping[str, tuple[Mention, ...]]  # by term
    kinds: Mapping[str, str]  # by term
    subjects: Mapping[str, Subject]  # by chunk id
    titles: Mapping[str, str]  # by document id
    beside: Mapping[str, frozenset[str]]  # by crop: terms in its sentences, rows and their headings
    text_beside: Mapping[str, str]  # by crop: its sentences and rows
    search_texts: Mapping[str, str]  # by chunk id
    headings: str  # search form of all titles and headings
    text: str  # search form of all documents without white space


class Subjects:
    """An immutable index of what documents are about; made anew when documents change."""

    def __init__(self, content: _Content) -> None:
        self._content = content

    @classmethod
    def of(cls, chunks: Iterable[Chunk], documents: Iterable[StoredDocument], lexicon: Lexicon) -> Subjects:
        """Read all chunks once; about 0.8 s for a thousand."""
        return _Reader(lexicon).read(list(chunks), {d.id: d for d in documents})

    def speaks_of(self, term: str) -> bool:
        """Tell whether a term, or a kind of it, is named anywhere."""
        return bool(self.mentions(term))

    def mentions(self, term: str) -> list[Mention]:
        """Return where a term or a kind of it is named; a term the lexicon lacks is looked up in the words."""
        same = is_same_crop if self._content.kinds.get(term) == "crop" else is_same_problem
        return [m for other, where in self._content.mentions.items() if other == term or same(other, term) for m in where]

    def contains(self, words: str) -> bool:
        """Tell whether these very characters stand in a document (search form, white space left out)."""
        return "".join(search_form(words).split()) in self._content.text

    def matches(self, pattern: re.Pattern[str]) -> bool:
        """Tell whether a pattern stands in a document (search form, white space left out)."""
        return bool(pattern.search(self._content.text))

    def headed(self, words: str) -> bool:
        """Tell whether these very characters stand in a title or heading."""
        return words in self._content.headings

    def strength(self, term: str) -> int:
        """Return 3 for a term in a title or the main crop of a document, 2 for a heading, 1 for text, 0 for none."""
        main = any(is_same_crop(c, term) for crops in self._content.main_crops.values() for c in crops)
        return 3 if main else max((_STRENGTH[m.place] for m in self.mentions(term)), default=0)

    def pair(self, term: str, crop: str) -> list[Mention]:
        """Return where a term is named for a crop, or without any crop."""
        return [m for m in self.mentions(term) if not m.crops or any(is_same_crop(c, crop) for c in m.crops)]

    def terms_beside(self, crop: str) -> frozenset[str]:
        """Return the terms of all kinds that stand in the sentences, rows and headings that name a crop."""
        return frozenset().union(*(terms for other, terms in self._content.beside.items() if is_same_crop(other, crop)))

    def text_beside(self, crop: str) -> str:
        """Return the sentences and rows that name a crop, in search form."""
        return "\n".join(text for other, text in self._content.text_beside.items() if is_same_crop(other, crop))

    def text_of(self, chunk_ids: Iterable[str]) -> str:
        """Return these chunks as search sees them, with titles and headings."""
        return "\n".join(self._content.search_texts.get(i, "") for i in sorted(chunk_ids))

    def plain(self, crop: str) -> str:
        """Return the shortest name of the same crop that a document is about: 咖啡 for 小粒种咖啡."""
        return min((c for c in self.crops() if crop.endswith(c)), key=len, default=crop)

    def crops_with(self, term: str) -> list[str]:
        """Return the crops a disease, pest or product is named for; those with a heading or title of it first."""
        weights: Counter[str] = Counter()
        for mention in self.mentions(term):
            for crop in mention.crops:
                weights[crop] += _STRENGTH[mention.place] ** 3
        return [crop for crop, _ in sorted(weights.items(), key=lambda item: (-item[1], item[0]))]

    def diseases_of(self, crop: str) -> list[str]:
        """Return the diseases named for a crop, the most often named first."""
        return self._terms_of(crop, "disease")

    def pests_of(self, crop: str) -> list[str]:
        """Return the pests named for a crop, the most often named first."""
        return self._terms_of(crop, "pest")

    def _terms_of(self, crop: str, kind: str) -> list[str]:
        counts = {
            term: sum(any(is_same_crop(c, crop) for c in m.crops) for m in where)
            for term, where in self._content.mentions.items() if self._content.kinds[term] == kind
        }
        return sorted((t for t, n in counts.items() if n), key=lambda t: (-counts[t], t))

    def main_crops(self, doc_id: str) -> tuple[str, ...]:
        """Return the crops a document is about; none where it is about soil, products or the law."""
        return self._content.main_crops.get(doc_id, ())

    def crops(self) -> list[str]:
        """Return all crops that documents are about, by number of documents."""
        counts = Counter(crop for crops in self._content.main_crops.values() for crop in crops)
        return [crop for crop, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]

    def subject_of(self, chunk: Chunk) -> Subject:
        """Return what a chunk is about: its headings first, then its title, then its own text."""
        return self._content.subjects.get(chunk.id, Subject())

    def title(self, doc_id: str) -> str:
        """Return a document's title, or its file name."""
        return self._content.titles.get(doc_id, "")


class _Reader:
    """Collects mentions, chunk by chunk."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._mentions: defaultdict[str, list[Mention]] = defaultdict(list)
        self._beside: defaultdict[str, set[str]] = defaultdict(set)
        self._beside_texts: defaultdict[str, list[str]] = defaultdict(list)
        self._kinds: dict[str, str] = {}
        self._subjects: dict[str, Subject] = {}

    def read(self, chunks: list[Chunk], documents: Mapping[str, StoredDocument]) -> Subjects:
        titles = {i: d.meta.title or d.source for i, d in documents.items()}
        title_names = {i: _entities(title, self._lexicon) for i, title in titles.items()}
        texts = {c.id: _units(c) for c in chunks}
        units = {i: [_entities(u, self._lexicon) for u in found] for i, found in texts.items()}
        for chunk in chunks:
            for text, unit in zip(texts[chunk.id], units[chunk.id], strict=True):
                for crop in _crops(unit):
                    self._beside_texts[crop].append(search_form(text))
        main = {i: _main_crops(title_names[i], [u for c in chunks if c.doc_id == i for u in units[c.id]])
                for i in documents}
        for chunk in chunks:
            self._read_chunk(chunk, title_names.get(chunk.doc_id, []), units[chunk.id], main.get(chunk.doc_id, ()))
        words = [search_form(f"{titles.get(c.doc_id, '')} {' '.join(c.heading)} {c.text}") for c in chunks]
        headings = {search_form(h) for c in chunks for h in (titles.get(c.doc_id, ""), *c.heading)}
        return Subjects(_Content(
            main, {term: tuple(where) for term, where in self._mentions.items()}, self._kinds, self._subjects, titles,
            {crop: frozenset(terms) for crop, terms in self._beside.items()},
            {crop: "\n".join(texts) for crop, texts in self._beside_texts.items()},
            {c.id: c.search_text for c in chunks}, "\n".join(sorted(headings)),
            "\n".join("".join(w.split()) for w in words),
        ))

    def _read_chunk(self, chunk: Chunk, title: list[Entity], units: list[list[Entity]],
                    main: tuple[str, ...]) -> None:
        headings = [_entities(h, self._lexicon) for h in reversed(chunk.heading)]
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
