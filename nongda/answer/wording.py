"""Whether a sentence is made of its evidence's words, denied where they are denied there.

A text is a row of atoms: a term of the lexicon, a number (its value is checked elsewhere), a denial, or a character.
1. A sentence is made of the evidence when every neighbouring pair of its atoms, connecting words aside, stands there.
2. A pair that stands there only denied must be denied here, and the reverse.
3. What the evidence says under a condition (病情严重时, 若) is said under it here.
4. A clause does not mix two clauses of the evidence (南坡种咖啡，北坡种玉米), nor turn a comparison round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nongda.language.lexicon import Lexicon
from nongda.language.text import has_words
from nongda.language.units import Units

_NUMBER = "#"
_EDGE = "|"
_NO_DENIAL = re.compile(
    r"不超过|不少于|不低于|不高于|不多于|不大于|不小于|不但|不仅|不断|不管|不论|无论|非常|特别|分别|识别|区别|差别|级别|类别|鉴别|性别|个别|能不能|可不可以|要不要|是不是")
_DENIAL = re.compile(
    r"不(?:要|能|得|宜|可以?|准|许|允许|应该?|建议|需要?|会|是|用|必)?|严禁|禁(?:止|用|忌)?|切忌|忌|切勿|勿|别|避免|防止|以免|免得|停止|停用"
    r"|没有|没|未|无(?:需|须|法)?|非|莫|拒绝|杜绝|谨防|缺乏|缺少")
_PROHIBITION = re.compile(r"不(?:要|能|得|宜|可以?|准|许|允许|应该?|建议)|严禁|禁|切忌|忌|勿|别|避免|防止|莫|杜绝")
_POSITIVE = re.compile(r"[应须需宜改必]|可[以用]?|要|建议|最好|才|而")
_STRONG = re.compile(r"必须|务必|一定要|必定|绝对|完全|所有|任何|全部|彻底|根治|百分之百")
_CONNECTING = re.compile(
    r"可以|可|应该|应当|应|需要|需|要|建议|进行|使用|采用|选用|用|即可|即|也|还|就|都|并且|并|和|与|及其|以及|及|或者|或|的|了|是|为|在|对于|对|把|将"
    r"|其|该|此外|此|这种|这些|这|等|来|一般|通常|包括|首先|其次|然后|最后|同时|另外|措施|方法|如下|例如|比如|它|它们|以|于|由|而|则|地|得|着|会|能够|能|后再"
    r"|每(?:亩|公顷|株|棵|穴|升|千克|公斤|斤|次)?")
_TURNING = frozenset("前后上下早晚高低大小多少内外增减升降左右先轻重干湿冷热浅深长短东南西北阴阳正反有无是否")
_CONDITION = re.compile(
    r"^(?:若|如果|如遇|如有|如|遇到?|当|一旦|凡)|(?<![同及定按随小平有暂临当届])时(?![间期候令段常])|(?:情况|条件)下|的话")
_ORDERED = re.compile(r"比|[好高低早晚多少优大小差强弱快慢重轻长短深浅胜]于|先|由|从|代替|替代|改为|换成|变为|转为|引起|导致|取代")
_MOST_LEFT_OUT = 0.5  # of a condition's atoms
_SHORT = 3  # atoms after a denial that ends its clause: 喷药不可取
_CLAUSE_MARKS = frozenset(",;。!?…:\n")


@dataclass(frozen=True, slots=True)
class Atom:
    """A piece of a text; `whole` says that it may stand alone (a term, a number), `denied` that it is denied."""

    text: str
    whole: bool = False
    denied: bool = False


def atoms_of(text: str, lexicon: Lexicon, units: Units) -> list[Atom]:
    """Return the atoms of a text, an edge atom where a clause ends, other marks left out."""
    clauses: list[list[Atom]] = [[]]
    prohibited = False
    for atom in _raw(lexicon.canonical(text), lexicon, units):
        if atom.text == _EDGE:
            clauses.append([])
        else:
            clauses[-1].append(atom)
    atoms: list[Atom] = []
    for clause in filter(None, clauses):
        words = "".join(a.text for a in clause)
        prohibited = prohibited and not _POSITIVE.match(words) and not _POSITIVE.search(words[:4])
        atoms += _denied(clause, prohibited)
        atoms.append(Atom(_EDGE))
        prohibited = prohibited or any(_is_denial(a) and _PROHIBITION.match(a.text) for a in clause)
    return atoms


def _raw(form: str, lexicon: Lexicon, units: Units) -> Iterator[Atom]:
    spans = [(m.start, m.end, Atom(form[m.start : m.end], True)) for m in lexicon.find(form)]
    numbers = [(q.start, q.end, Atom(f"{_NUMBER}{q.low:g}~{q.high:g}{q.unit}", True)) for q in units.quantities(form)]
    spans += [n for n in numbers if not any(a < n[1] and n[0] < b for a, b, _ in spans)]
    inside = {i for a, b, _ in spans for i in range(a, b)}
    kept = [m for m in _NO_DENIAL.finditer(form) if m.start() not in inside]
    spans += [(m.start(), m.end(), Atom(m.group(), True)) for m in kept]
    inside |= {i for m in kept for i in range(m.start(), m.end())}
    spans += [(m.start(), m.end(), Atom(m.group())) for m in _DENIAL.finditer(form) if not inside & {*range(m.start(), m.end())}]
    starts = {a: (b, atom) for a, b, atom in sorted(spans, key=lambda s: s[1] - s[0])}
    position = 0
    while position < len(form):
        end, atom = starts.get(position, (position + 1, Atom(form[position])))
        if len(atom.text) > 1 or has_words(atom.text):
            yield atom
        elif atom.text in _CLAUSE_MARKS:
            yield Atom(_EDGE)
        position = end


def _is_denial(atom: Atom) -> bool:
    return not atom.whole and bool(_DENIAL.fullmatch(atom.text))


def _denied(clause: Sequence[Atom], denied: bool) -> list[Atom]:
    """Mark what a denial covers: the rest of its clause, or all of a clause that it ends."""
    places = [i for i, atom in enumerate(clause) if _is_denial(atom)]
    if places and len(clause) - 1 - places[-1] <= _SHORT:
        return [Atom(a.text, a.whole, True) for a in clause]
    marked: list[Atom] = []
    for place, atom in enumerate(clause):
        denied = denied or place in places
        marked.append(Atom(atom.text, atom.whole, denied))
    return marked


def foreign(sentence: Sequence[Atom], evidence: Sequence[Atom], context: Sequence[Atom]) -> str:
    """Return the first run of words that neither the evidence nor its headings hold, "" where there is none."""
    rows = [*evidence, *context]
    pairs = {(a.text, b.text) for a, b in zip(rows, rows[1:], strict=False)}
    singles = {a.text for a in rows}
    said = [a.text for a in sentence]
    covered = [a.text[0] in (_EDGE, _NUMBER) or (a.whole and a.text in singles) for a in sentence]
    for i, pair in enumerate(zip(said, said[1:], strict=False)):
        if pair in pairs:
            covered[i] = covered[i + 1] = True
    _cover_connecting(said, covered)
    for i, text in enumerate(said):  # a single word of the evidence between words of it
        around = covered[max(0, i - 1) : i] + covered[i + 1 : i + 2]
        if not covered[i] and text in singles and text not in _TURNING and all(around):
            covered[i] = True
    return _first_run(said, covered)


def _cover_connecting(said: Sequence[str], covered: list[bool]) -> None:
    starts: list[int] = []
    for i, text in enumerate(said):
        starts += [i] * len(text)
    for match in _CONNECTING.finditer("".join(said)):
        touched = starts[match.start() : match.end()]
        if len(touched) == match.end() - match.start():
            for i in touched:
                covered[i] = covered[i] or len(said[i]) == 1


def _first_run(said: Sequence[str], covered: Sequence[bool]) -> str:
    start = next((i for i, is_covered in enumerate(covered) if not is_covered), None)
    if start is None:
        return ""
    end = next((i for i in range(start, len(covered)) if covered[i]), len(covered))
    return "".join(said[start:end])


def turned(sentence: Sequence[Atom], evidence: Sequence[Atom]) -> str:
    """Return words that are denied in one of the two texts and not in the other, "" where there are none."""
    there = _flagged(evidence)
    for words, denied in _flagged(sentence):
        if (words, denied) not in there and (words, not denied) in there:
            return "".join(words).replace(_NUMBER, "")
    return ""


def _flagged(atoms: Sequence[Atom]) -> set[tuple[tuple[str, ...], bool]]:
    found: set[tuple[tuple[str, ...], bool]] = {((a.text,), a.denied) for a in atoms if a.whole}
    for one, two in zip(atoms, atoms[1:], strict=False):
        if _EDGE not in (one.text, two.text) and not _is_denial(one) and not _is_denial(two):
            found.add(((one.text, two.text), two.denied))
    return found


def overstated(sentence: str, evidence: str) -> str:
    """Return a strong word (必须, 任何) that the evidence does not use, "" where there is none."""
    return next((m.group() for m in _STRONG.finditer(sentence) if m.group() not in evidence), "")


def _clauses(atoms: Sequence[Atom]) -> list[list[str]]:
    rows: list[list[str]] = [[]]
    for atom in atoms:
        if atom.text == _EDGE:
            rows.append([])
        else:
            rows[-1].append(atom.text)
    return [row for row in rows if row]


def unconditional(sentence: Sequence[Atom], evidence: Sequence[Atom]) -> str:
    """Return a condition of the evidence that the sentence leaves out of what stands under it, "" for none."""
    said = {a.text for a in sentence}
    pairs = {p for row in _clauses(sentence) for p in zip(row, row[1:], strict=False)}
    condition: list[str] = []
    free: set[str] = set()
    for row in _clauses(evidence):
        governed = row
        match = _CONDITION.search("".join(row))
        if match:
            length = len(row) if match.start() == 0 else _atoms_before(row, match.end())
            condition, governed = row[:length], row[length:]
        if not condition:
            free.update(row)
        is_used = any(pair in pairs for pair in zip(governed, governed[1:], strict=False))
        is_used = is_used or any(len(text) > 1 and text in said and text not in free for text in governed)
        left_out = [text for text in condition if text not in said]
        if is_used and len(left_out) > _MOST_LEFT_OUT * len(condition):
            return "".join(condition)
    return ""


def _atoms_before(row: Sequence[str], characters: int) -> int:
    used = 0
    for place, text in enumerate(row):
        if used >= characters:
            return place
        used += len(text)
    return len(row)


def mixed(sentence: Sequence[Atom], evidence: Sequence[Atom]) -> str:
    """Return a clause put together from clauses of the evidence that say it of different things, "" for none."""
    rows = _clauses(evidence)
    whole = [text for row in rows for text in row]
    known = set(whole)
    for clause in _clauses(sentence):
        content = [t for t in clause if t in known and not _CONNECTING.fullmatch(t)]
        if _ORDERED.search("".join(clause)) and not _is_in_order(content, whole):
            return "".join(clause)
        if not any(t.startswith(_NUMBER) for t in clause) and not _comes_from(content, rows):
            return "".join(clause)
    return ""


def displaced(sentence: Sequence[Atom], evidence: Sequence[Atom]) -> str:
    """Return the words around a number that stands there beside other numbers only, "" for none."""
    there = [a.text for a in evidence]
    pairs = set(zip(there, there[1:], strict=False))
    for clause in _clauses(sentence):
        for place, text in enumerate(clause):
            if len(clause) == 1 or not text.startswith(_NUMBER) or text not in there:
                continue
            left, right = clause[max(0, place - 1) : place], clause[place + 1 : place + 2]
            if any((word, text) in pairs for word in left) or any((text, word) in pairs for word in right):
                continue
            before = [w for w in left if any(a == w and b.startswith(_NUMBER) for a, b in pairs)]
            after = [w for w in right if any(b == w and a.startswith(_NUMBER) for a, b in pairs)]
            if before or after:
                return "".join(w for w in (*before, *after) if not w.startswith(_NUMBER))
    return ""


def _is_in_order(content: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(any(text == other for other in rest) for text in content)


def _comes_from(content: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the words are of one clause, or in order of several whose own beginnings are taken along."""
    used: list[int] = []
    left = set(content)
    while left:
        best = max(range(len(rows)), key=lambda i: len(left & set(rows[i])))
        used.append(best)
        left -= set(rows[best])
    begins = [next((t for t in rows[i] if not _CONNECTING.fullmatch(t)), "") for i in sorted(used)[1:]]
    in_order = len(used) == 1 or _is_in_order(content, [t for i in sorted(used) for t in rows[i]])
    return in_order and all(begin in content for begin in begins)
