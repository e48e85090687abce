"""Names that no list holds but whose form says what they are: 双斑萤叶甲, 藻斑病, 云麦53."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form

_HAN = r"[\u4e00-\u9fff]"
_PESTS = (r"叶甲|象甲|跳甲|龟甲|肖叶甲|天牛|吉丁|粉虱|飞虱|木虱|叶蝉|沫蝉|蓟马|线虫|潜叶蝇|潜蝇|实蝇|瘿蚊|瘿蜂|叶蜂|茎蜂|夜蛾|尺蛾|毒蛾|"
          r"卷蛾|麦蛾|刺蛾|螟|蚜|蝽|螨|蚧|蠹")
_PRODUCTS = (r"硫磷|菊酯|菌酯|螨酯|虫酯|唑醇|环唑|菌唑|霉素|磺隆|草酮|草胺|草酯|草醚|虫胺|虫脒|虫腈|虫威|百威|虫酰胺|菌胺|酰菌胺|吗啉|螨灵|"
             r"螨酮|螨唑|霜灵|菌灵|菌酮|虫隆|虫脲|膦|酰胺|嘧胺|草磷|草膦")
_NAME = re.compile(rf"({_HAN}{{2}})(病|{_PESTS}|{_PRODUCTS})")
_VARIETY = re.compile(rf"(?:{_HAN}{{1,3}}|(?<![a-z0-9])[a-z]{{1,4}}-?)\d{{1,5}}(?=号|这个|这种|品种|的?(?:抗|感|耐|种子|亩产))")
# None of these stands in a name: what is before a suffix is then part of the sentence (得了什么病, 治红蜘蛛的).
_NO_NAME = re.compile(r"[的了得是有在和与跟及或用打喷治防发患感抗染带传何哪啥么这那种类个条只头些被把给对从也都就会能要可不没无很"
                      r"最更各每多少几怎看查见长生起出来去上下里中前后时期年月日一二三两]")
_TRIPLE = re.compile(rf"{_HAN}{{3}}")
_MOST_BEFORE = 2
_NO_VARIETY = re.compile(f"{_NO_NAME.pattern}|[亩产量达约近超过到隔计]")
_ELEMENT = re.compile(r"[镉砷铅汞铬]")
_LOOKS = re.compile(r"[烂枯死黄黑白红绿青干萎落卷花叶根秆茎果苗头脚心子片尖面边背部株穗梢芽枝皮]{2}$|[性菌毒理染害传行常老旧新田地园]$")


def word_triples(text: str) -> set[str]:
    """Return every three neighbouring characters of a text that may belong to a word (no 的, 多, 几, 一 among them)."""
    form = search_form(text)
    return {t for i in range(len(form) - 2) if _TRIPLE.fullmatch(t := form[i : i + 3]) and not _NO_NAME.search(t)}


@dataclass(frozen=True, slots=True)
class Name:
    """A name of unknown beginning: `core` is surely its end, `shown` also has what may belong to it."""

    core: str
    shown: str


def unlisted_names(text: str, lexicon: Lexicon) -> list[Name]:
    """Return names in the form of a disease, pest, product, metal or variety that are not in the lexicon.

    A name's core has the two characters before its ending: what stands before them may be the sentence's. Names made
    of signs alone (烂根病, 枯叶病) are how farmers describe what they see, no names.
    """
    form = search_form(text)
    known = [(m.start, m.end) for m in lexicon.find(form)]
    found: dict[str, Name] = {}
    for match in _NAME.finditer(form):
        general = any(end == match.start(2) for _, end in known)  # 水稻病, 玉米螟虫: a crop and a family word
        if not general and not _touches(known, match.start(2), match.end()) and _is_name(match.group(1)):
            found.setdefault(match.group(), Name(match.group(), form[_beginning(form, match.start(), known) : match.end()]))
    for pattern in (_ELEMENT, _VARIETY):
        for match in pattern.finditer(form):
            if not _touches(known, match.start(), match.end()) and not _NO_VARIETY.search(match.group()):
                found.setdefault(match.group(), Name(match.group(), match.group()))
    return list(found.values())


def _touches(known: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(a < end and start < b for a, b in known)


def _is_name(before: str) -> bool:
    return not _NO_NAME.search(before) and not _LOOKS.search(before)


def _beginning(form: str, start: int, known: Sequence[tuple[int, int]]) -> int:
    for place in range(start - 1, max(-1, start - 1 - _MOST_BEFORE), -1):
        free = re.match(_HAN, form[place]) and (form[place] in "两双二三" or not _NO_NAME.search(form[place]))
        if not free or _touches(known, place, place + 1):
            break
        start = place
    return start
