"""Facts of a table row: a cell says what its header and its row's label name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nongda.documents.pieces import cells_of, header_above
from nongda.index.attributes import Attribute, Attributes
from nongda.index.bounds import bounded
from nongda.index.extract_sentence import LASTING, Owner, SentenceReader, unknown_problem
from nongda.index.families import GROUPS, PROBLEM_KINDS
from nongda.index.names import Names, distinct, of_kinds, tiers
from nongda.index.places import Place
from nongda.index.qualifiers import heading_words
from nongda.index.table_heads import Head, Heads, first_of, without
from nongda.language.text import fold
from nongda.records import Fact, Quantity

_PARTS = re.compile(r"[；;，,、。]|或(?=\d)")
_BRACKETS = re.compile(r"\([^()]*\)")
_MIXED = re.compile(r"[+＋]|混剂|复配")
_HANZI_LAST = re.compile(r"[\u4e00-\u9fff](?<![的和与及、防治对或])$")
_TOGETHER = re.compile("混发|混合发生|并发|同时发生")  # what only occurs beside the first is no target
_FURTHER = re.compile("[另再]加")  # 另加石灰0.5 in a column of another
_MOST_SHARING = 4  # names in one label
_LONGEST_TEXT, _LONGEST_CAPTION = 80, 24
_SOIL = Owner("土壤", "soil")  # below the heading 酸性土壤 every class of soil may be described


@dataclass(frozen=True, slots=True)
class _Row:
    """A row with its header; `label` is the first cell."""
    cells: list[str]
    header: list[str]
    place: Place
    caption: str


class TableReader:
    """Reads table rows by the attributes of facts.toml."""

    def __init__(self, names: Names, attributes: Attributes, sentences: SentenceReader) -> None:
        self._names = names
        self._attributes = attributes
        self._sentences = sentences
        self._heads = Heads(attributes)

    def read(self, text: str, place: Place) -> list[Fact]:
        """Return the facts of the row at a place of a table's text; none of a table without a header."""
        header, cells = header_above(text, place.start), cells_of(text[place.start : place.end])
        caption = text[: text.find("|")].strip()
        rejected = self._attributes.rejected
        if len(header) != len(cells) or len(cells) < 2 or rejected["table"].search(fold("".join(header) + caption)):
            return []
        if rejected["sentence"].search(fold("|".join(cells))):
            return []
        row = _Row(cells, header, place, caption)
        return [fact for column in range(len(cells)) for fact in self._cell(row, column)]

    def _cell(self, row: _Row, column: int) -> list[Fact]:
        cell = row.cells[column]
        is_empty = not cell or self._attributes.rejected["cell"].match(fold(cell))
        if is_empty or (column and self._heads.plays(row.header[column], "source")):
            return []
        head = self._heads.with_unit_of(self._heads.of(row.header[column]), self._heads.of_caption(row.caption))
        transposed = False
        if head.attribute is None and column and self._heads.plays(row.header[0], "label"):
            head, transposed = self._heads.of(row.cells[0]), True
            head = self._heads.with_unit_of(head, self._heads.of(row.header[0]))
        if head.attribute is None:
            return self._sentence(row, column)
        if head.attribute.value == "quantity":
            return self._quantities(row, column, head, head.attribute, transposed) or self._sentence(row, column)
        return self._texts(row, column, head, head.attribute, transposed)

    def _sentence(self, row: _Row, column: int) -> list[Fact]:
        """Read a cell that holds a sentence, under the names of its row: the label is its nearest heading."""
        if not column or self._heads.plays(row.header[0], "label"):
            return []
        crop, label = self._crop(row, column, False), row.cells[0]
        place = replace(row.place, headings=(label, row.caption, *row.place.headings),
                        crops=(crop.term,) if crop.term else ())
        facts = self._sentences.read(row.cells[column], place) if crop.sure else []
        said = [label, *(c for i, c in enumerate(row.cells) if i not in (0, column) and self._heads.plays(row.header[i], "condition"))]
        return [replace(f, target=target, condition="；".join(p for p in (*said, f.condition) if p not in ("", f.subject)))
                for f in facts for target in self._targets_of_sentence(row, column, f)]

    def _targets_of_sentence(self, row: _Row, column: int, fact: Fact) -> list[str]:
        """What a row is against holds for its sentences too, unless they say it themselves."""
        attribute = self._attributes.by_key[fact.attribute]
        if fact.kind in PROBLEM_KINDS or of_kinds(self._names.of(row.cells[column]), PROBLEM_KINDS):
            return [fact.target]
        return self._targets(row, column, attribute)

    # numbers

    def _quantities(self, row: _Row, column: int, head: Head, attribute: Attribute, transposed: bool) -> list[Fact]:
        cell = row.cells[column]
        is_one = len(self._read(cell, head, attribute)) == 1
        parts = [cell] if is_one else [p.strip() for p in _PARTS.split(cell) if p.strip()]
        is_sequence = "、" in cell and any(re.fullmatch(r"[\d.~～—\-%]+", p) for p in parts)  # 18、46: of what each?
        if attribute.veto.search(fold(head.words)) or (len(parts) > 1 and is_sequence):
            return []
        facts = []
        for part in parts:
            folded = fold(part)
            found = self._read(part, head, attribute)
            others = [q for q in self._attributes.units.quantities(_BRACKETS.sub(lambda m: " " * len(m.group()), part))
                      if not any(f.start <= q.start < f.end for f in found)]
            doubtful = _FURTHER.match(folded) or self._attributes.rejected["clause"].search(folded) or attribute.veto.search(folded)
            if len(found) != 1 or others or doubtful or self._is_other(folded, found[0], head, attribute):
                continue
            ends = bounded(folded, found[0], head.words)
            if ends is None:
                continue
            said = part if len(part) <= ends.end - ends.start + 12 else ""
            value = part[ends.start : ends.end]
            own = bool(without(part, value))
            if not own and self._is_one_of_many(parts, head, attribute):
                continue  # 3，后期2～3: the first of what?
            extra = [part] if own and said else [cell] if len(parts) > 1 or not said else []
            facts += self._facts(row, column, head, attribute, value, (ends.low, ends.high, found[0].unit), extra,
                                 transposed)
        return facts

    def _is_one_of_many(self, parts: Sequence[str], head: Head, attribute: Attribute) -> bool:
        read = ((fold(part), self._read(part, head, attribute)) for part in parts)
        return sum(bool(q) and not self._is_other(folded, q[0], head, attribute) for folded, q in read) > 1

    def _read(self, cell: str, head: Head, attribute: Attribute) -> list[Quantity]:
        """Return the cell's quantities that the attribute may have, with the header's unit and 每亩; none in brackets."""
        lead = f"{head.name}："
        plain = _BRACKETS.sub(lambda m: " " * len(m.group()), fold(cell))
        found = []
        for quantity in self._attributes.units.rates(lead + plain):
            start, end = quantity.start - len(lead), quantity.end - len(lead)
            if start < 0:
                continue
            if not quantity.unit and head.unit == "℃":  # only now is a hyphen a sign
                signed = self._attributes.units.quantities(plain[:end] + "℃")[-1]
                quantity, start = signed, min(start, signed.start)
            scale = 1.0 if quantity.unit else head.scale
            unit = head.unit if not quantity.unit and head.unit is not None else quantity.unit
            if unit in attribute.units:
                found.append(Quantity(quantity.low * scale, quantity.high * scale, unit, start, end))
        return found

    def _is_other(self, folded: str, quantity: Quantity, head: Head, attribute: Attribute) -> bool:
        """Tell whether the words in a cell make its number something else: 兑水50公斤 in a column of doses."""
        if head.unit is not None:
            return False
        told = self._attributes.of_number(quantity.unit, folded[: quantity.start], folded[quantity.end :], folded)
        return told is not None and told is not attribute and not told.by_unit

    # texts and terms

    def _texts(self, row: _Row, column: int, head: Head, attribute: Attribute, transposed: bool) -> list[Fact]:
        cell = row.cells[column]
        if attribute.value == "term":
            problems = distinct(of_kinds(self._names.of(cell), PROBLEM_KINDS))
            return [fact for name in problems for fact in self._facts(
                row, column, head, attribute, cell[name.start : name.end], (None, None, ""), [], transposed, name.term)]
        if len(cell) > _LONGEST_TEXT or not attribute.valid.search(cell) or (column == 0 and not transposed):
            return []
        return self._facts(row, column, head, attribute, cell, (None, None, ""), [], transposed)

    # whose

    def _facts(self, row: _Row, column: int, head: Head, attribute: Attribute, value: str,
               amount: tuple[float | None, float | None, str], extra: list[str], transposed: bool,
               target: str = "") -> list[Fact]:
        owners = self._owners(row, column, attribute, transposed)
        crop = self._crop(row, column, transposed)
        targets = [target] if target else self._targets(row, column, attribute)
        place, facts = row.place, []
        for owner in owners:
            if not owner.sure or not crop.sure or (attribute.near and not owner.term):
                continue
            owner = crop if not owner.term and crop.term and "crop" in attribute.kinds else owner
            about = [owner.term] if owner.kind in PROBLEM_KINDS else targets
            condition = self._condition(row, column, head, attribute, extra, owner, crop, transposed)
            if owner.term or any(about):
                facts += [Fact(place.chunk_id, owner.term, owner.kind, crop.term, problem, attribute.key, value, amount[0],
                               amount[1], amount[2], condition, place.start, place.end) for problem in about]
        return facts

    def _owners(self, row: _Row, column: int, attribute: Attribute, transposed: bool) -> list[Owner]:
        """Look in the label (or the column's header), in the other cells, in the header, in caption and headings."""
        label = row.header[column] if transposed else row.cells[0] if column else ""
        if self._is_unknown(row, column, attribute, label if transposed else None):
            return [Owner(sure=False)]
        named = row.cells[0] if transposed else row.header[column]
        element = [t for t, p in self._attributes.elements.items() if p.search(self._heads.of(named).name)]
        if "product" in attribute.kinds and element:
            return [Owner(element[0], "nutrient", len(element) == 1)]
        others = [c for i, c in enumerate(row.cells) if i not in (0, column)
                  and self._heads.plays(row.header[i], "subject") and not self._heads.plays(row.header[i], "source")]
        places = [label, *([] if transposed else [row.header[column], *others, row.header[0]])]
        for tier in tiers([k for k in attribute.kinds if k != "practice" or transposed]):
            for text in places:
                if owners := self._shared(text, tier, text is label):
                    return owners
        for text in () if attribute.near else (row.caption, *row.place.headings):
            for tier in tiers([k for k in attribute.kinds if k in LASTING]):
                if tier & PROBLEM_KINDS and unknown_problem(fold(text), self._names.of(text)):
                    return [Owner(sure=False)]
                if owners := self._shared(text, tier, False):
                    return [_SOIL if o.kind == "soil" else o for o in owners]
        return [Owner()]

    def _is_unknown(self, row: _Row, column: int, attribute: Attribute, side: str | None) -> bool:
        """Tell whether the row is about a product, a place or (at its `side`) a pest that the lexicon does not know."""
        if side is not None:
            return not of_kinds(self._names.of(side), PROBLEM_KINDS) and unknown_problem(fold(side), ())
        if "place" in attribute.kinds and self._heads.plays(row.header[0], "place"):
            return not of_kinds(self._names.of(row.cells[0]), ("place",))
        products = [c for i, c in enumerate(row.cells) if c and i != column and self._heads.plays(row.header[i], "product")]
        is_of_products = "product" in attribute.kinds and bool(products)
        return is_of_products and not any(of_kinds(self._names.of(c), ("product", "nutrient")) for c in products)

    def _shared(self, text: str, tier: frozenset[str], is_label: bool) -> list[Owner]:
        """Return whom the terms of one cell make owners: one, or all of a label's list; none where it has no term."""
        found = distinct(of_kinds(self._names.of(text), tier))
        if is_label and any(n.kind in PROBLEM_KINDS and self._is_longer(text, n.start) for n in found):
            return [Owner(sure=False)]
        if not found or (len(found) > 1 and not is_label):
            return []
        if any(n.mixed for n in found) or _MIXED.search(text):
            return [Owner(sure=False)]
        is_list = len(found) <= _MOST_SHARING and re.search("[、和与]", text)
        return [Owner(n.term, n.kind) for n in found] if len(found) == 1 or is_list else [Owner(sure=False)]

    def _is_longer(self, text: str, start: int) -> bool:
        """Tell whether a label's disease or pest is the end of a longer name that the lexicon does not know (弯孢菌叶斑病)."""
        is_known = any(n.end == start for n in self._names.of(text)) or self._names.crops(text[:start])
        return not is_known and bool(_HANZI_LAST.search(text[:start]))

    def _crop(self, row: _Row, column: int, transposed: bool) -> Owner:
        stated = [c for i, c in enumerate(row.cells) if self._heads.plays(row.header[i], "crop")]
        cells = [row.header[column] if transposed else row.cells[0]]
        cells += [c for i, c in enumerate(row.cells) if i and not self._heads.plays(row.header[i], "source")]
        for text in (*stated, *cells[:1], row.cells[column], *cells[1:], row.header[column], row.header[0], row.caption):
            found = distinct(of_kinds(self._names.of(text), ("crop",)))
            crops = [n.term for n in found] or list(self._names.crops(text))
            if crops:
                return Owner(crops[0], "crop", len(crops) == 1)
            if group := self._attributes.groups.search(text):
                return Owner(group.group() if group.group() in GROUPS else "", "crop")
        crops = [] if any(stated) else list(row.place.crops)  # a crop that the lexicon does not know
        return Owner(crops[0], "crop") if len(crops) == 1 else Owner(sure=not crops and not any(stated))

    def _targets(self, row: _Row, column: int, attribute: Attribute) -> list[str]:
        stated = [c for i, c in enumerate(row.cells) if self._heads.plays(row.header[i], "target")]
        for text in (*stated, row.cells[0], row.header[column], row.header[0], row.caption):
            found = distinct(of_kinds(self._names.of(text), PROBLEM_KINDS))
            if found:
                found = found[:1] if _TOGETHER.search(text) else found
                return [n.term for n in found] if text in stated else [found[0].term] if len(found) == 1 else [""]
        if attribute.scope:
            for heading in row.place.headings:
                found = distinct(of_kinds(self._names.of(heading), PROBLEM_KINDS))
                if found:
                    return [found[0].term] if len(found) == 1 else [""]
        return [""]

    def _condition(self, row: _Row, column: int, head: Head, attribute: Attribute, extra: Sequence[str], owner: Owner,
                   crop: Owner, transposed: bool) -> str:
        """Return what limits a cell: the label, the cells of conditions, what the header says beyond the attribute."""
        parts = [row.header[column]] if transposed else [row.cells[0]] if column else []
        if not transposed:
            parts += [c for i, c in enumerate(row.cells) if i not in (0, column) and self._heads.plays(row.header[i], "product")]
        if attribute.value == "quantity" and not transposed:
            parts += [c for i, c in enumerate(row.cells) if i not in (0, column) and self._heads.limits(row.header[i], attribute)]
        if attribute.says or without(head.name, first_of(attribute.header, head.name)):
            parts.append(head.name)
        parts += [c for c in row.cells if (g := self._attributes.groups.search(c)) and g.group() not in GROUPS
                  and not crop.term]
        parts += _beside(row, column) if row.header.count(row.header[column]) > 1 and not transposed else []
        parts += self._heading_of(row, column, head, attribute, parts) if attribute.value == "quantity" else []
        known = {owner.term, crop.term, ""}
        return "；".join(dict.fromkeys(p.strip() for p in [*parts, *extra] if p.strip() not in known))

    def _heading_of(self, row: _Row, column: int, head: Head, attribute: Attribute, parts: Sequence[str]) -> list[str]:
        """A header that says no more than 时间 or 温度 leaves what of to the caption or heading."""
        is_short = 0 < len(row.caption) <= _LONGEST_CAPTION
        heading = heading_words(row.caption if is_short else next(iter(row.place.headings), ""))
        problems = {n.term for n in of_kinds(self._names.of(heading), PROBLEM_KINDS)}
        heading = "" if problems - {n.term for n in self._names.of(row.cells[0])} else heading
        bare = attribute.says and not without(head.name, first_of(attribute.header, head.name))
        return [heading] if bare and heading and heading not in parts else []


def _beside(row: _Row, column: int) -> list[str]:
    """Of columns with one header the column to the left of each tells them apart: its header and cell."""
    left = [i for i in range(1, column) if row.header.count(row.header[i]) == 1][-1:]
    return [text for i in left for text in (row.header[i], row.cells[i])]
