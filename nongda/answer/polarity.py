"""Yes or no by rule: what the question asks for against what the evidence says of the same thing.

1. The question asks for leave (能不能), for a need (要不要) or for a fact (会不会); other forms have no rule.
2. A limit in the evidence decides a question with a number of the same unit: 不超过50% against 60%.
3. Else the clauses that share the question's words decide by what they say (不宜, 可以, 应, 无效, 不必), if they agree.
A condition of the evidence with a number (六个月以上不得) that the question does not meet leaves it open. A wrong
verdict harms a field, a missing one leaves the quote: when unsure, None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nongda.language.lexicon import Lexicon
from nongda.language.text import clause_spans, sentence_spans
from nongda.language.units import Units

Reply = Literal["yes", "no"]
Aspect = Literal["permit", "need", "fact"]

_END = r"(?=[？?，,。；;]|$)"
_ASK = r"[吗么不没]" + _END
_FORMS: tuple[tuple[Aspect, re.Pattern[str]], ...] = (
    ("need", re.compile(r"[要用该]不[要用该]|需不需要|应不应|(?:需要|用得着|得|该|要|必须)[^，。？?能可会]{0,14}吗")),
    ("fact", re.compile(
        rf"会不会|管不管用|有没有(?:用|效)|有(?:用|效|效果){_ASK}|管用{_ASK}|(?<!机)会[^，。？?]{{1,14}}{_ASK}"
        rf"|[防治压控]得[住好了]{_ASK}|能[^，。？?]{{0,8}}[防治][得]?[住好]{_ASK}")),
    ("permit", re.compile(
        rf"能不能|可不可以|可以不可以|行不行|好不好|对不对|准不准|合不合适|[中成]不[中成]"
        rf"|(?:使得|可以|行|合适|对|好|准){_ASK}|(?:能|可以|允许)[^，。？?]{{1,16}}{_ASK}")),
)
_RHETORICAL = re.compile(r"(?:不是|不能|不可以|不用|不要|不会|没有)[^，。？?]{0,12}吗|难道|[为凭]什么不|怎么不|是不是")

# Taken out in this order: 可以 must not be found in 不可以.
_SAYINGS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("needless", re.compile(r"不必|无须|无需|不需要?|可以先?不|先不|不以")),
    ("useless", re.compile(r"无效|没有效果|没有?用|不管用|不起作用|治不[好了]|防不[住了]|杀不死|不能(?:当|治|防)|不会")),
    ("forbid", re.compile(
        r"[不勿莫](?:能|要|宜|应当?|得|可以?|准|许|该|允许|建议|主张|提倡|适宜|适合|施)|严禁|禁止|禁用|切忌|避免|防止|不用")),
    ("useful", re.compile(r"有效|见效|减轻|兼治|控制住")),
    ("may", re.compile(r"可以|允许|能够|适合|适宜|可(?=[用施以在])")),
    ("will", re.compile(r"会")),
    ("ought", re.compile(r"应当?|必须|须|要(?![点求])|宜")),
)
_SENSE: dict[Aspect, dict[str, Reply]] = {
    "permit": {"forbid": "no", "useless": "no", "may": "yes", "ought": "yes", "useful": "yes"},
    "need": {"forbid": "no", "needless": "no", "ought": "yes"},
    "fact": {"useless": "no", "useful": "yes", "may": "yes", "will": "yes"},
}
_EXCEPT = re.compile(r"除外|例外|不在此列")
_TENTH = re.compile(r"([一二三四五六七八九1-9])成(?!熟|虫|株|苗|龄|片|块|行(?!不))")
# How a number limits: what stands before it and after it, tried in this order.
_BOUNDS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    ("most",
     re.compile(r"(?:不(?:要|能|得|可|应|宜)?(?:超过|高于|大于|多于)|至多|最多|≤)(?:[要应需须为在到有]|只能)?\s*$"),
     re.compile(r"^以内")),
    ("least", re.compile(r"(?:不(?:要|能|得|可|应|宜)?(?:少于|低于|小于)|至少|≥)[要应需须为在到有]?\s*$"), re.compile(r"(?!)")),
    ("over", re.compile(r"(?:大于|超过|高于|多于|>|满)\s*$"), re.compile(r"^以上")),
    ("under", re.compile(r"(?:小于|低于|少于|不足|不满|不到|<)\s*$"), re.compile(r"^(?:以下|以前)")),
)
_WORDS = (
    (r"会不会|会[^，。？?]*[吗么]", "会", "不会"),
    (r"管不管用|管用", "管用", "不管用"),
    (r"有没有[用效]|有[用效]", "有用", "没有用"),
    (r"[防治]得[住好了]|能[^，。？?]{0,8}[防治][住好]", "能", "不能"),
    (r"[要用]不[要用]|需不需要|(?:需要|用得着|得|该|要|必须)[^，。？?能可会]*吗", "要", "不要"),
    (r"合不合适|合适", "合适", "不合适"),
    (r"能不能|能[^，。？?]*[吗不么]", "能", "不能"),
    (r"行不行|行[吗不么]", "行", "不行"),
)
_MARKS = re.compile(
    r"能不能|可不可以|行不行|好不好|要不要|用不用|会不会|管不管用|有没有|合不合适|可以|行|合适|管用|能|吗|呢|么|应该|需要|要|会")
_EMPTY = frozenset("的了在是和与及也都就还又把被给对等着过地得这那有个一些点来去拿上下里时以之为而或其可能不要会应宜须行吗呢么没无吧"
                   "啊呀到从用做")
_HAN = re.compile(r"[\u3400-\u9fff]")
_NEGATED = re.compile(r"(?:没有?|未|不是|非|无)([\u3400-\u9fff])")
_FORBIDDING = re.compile("|".join(pattern.pattern for name, pattern in _SAYINGS if name in ("forbid", "needless", "useless")))
_NAMED = frozenset({"product", "disease", "pest", "pathogen", "nutrient"})


@dataclass(frozen=True, slots=True)
class Nearness:
    """How much question and evidence must share: of the deciding clause's characters, and of the asking clause's."""

    cover: float
    asked: float
    words: bool  # no word of the asking clause may be wholly missing


# Of 156 labelled questions, a third with evidence of something else: 44 verdicts, 42 right, none wrong on right evidence.
ALONE = Nearness(0.4, 0.4, True)
_MIN_LIMIT_SHARE = 0.5  # of the asking clause's characters, where a number decides


@dataclass(frozen=True, slots=True)
class _Limit:
    """Values from `low` to `high` of a unit; `kind` says how the text bounds them."""

    kind: str  # most, least, over, under, within
    low: float
    high: float
    unit: str


def asked_aspect(question: str) -> Aspect | None:
    """Return what a yes/no question asks for; None for other questions and for rhetorical ones."""
    if _RHETORICAL.search(question):
        return None
    found = [(m.start(), aspect) for aspect, form in _FORMS if (m := form.search(question))]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def asks_verdict(question: str) -> bool:
    """Tell whether a yes or a no answers the question: a rhetorical or negated form leaves open what yes means."""
    return asked_aspect(question) is not None


def verdict_words(question: str, reply: Reply) -> str:
    """Return the verdict in the question's own words: 能不能 is answered by 能 or 不能, 要不要 by 要 or 不用."""
    for pattern, yes, no in _WORDS:
        if re.search(pattern, question):
            return yes if reply == "yes" else no
    return "可以" if reply == "yes" else "不可以"


def rule_verdict(question: str, evidence_text: str, lexicon: Lexicon, units: Units | None = None,
                 near: Nearness = ALONE) -> Reply | None:
    """Return yes or no where the evidence (with its heading) says it of the same thing, else None.

    `units` reads the limits (with counters, 六个月 is a quantity); the lexicon's own are used without it.
    """
    aspect = asked_aspect(question)
    if aspect is None or _speaks_of_another(question, evidence_text, lexicon):
        return None
    question = _TENTH.sub(lambda m: f"{'一二三四五六七八九123456789'.index(m[1]) % 9 + 1}0%", question)
    asked = _Asked(question, aspect, lexicon, units or lexicon.units, near)
    sentences = [evidence_text[a:b] for a, b in sentence_spans(evidence_text)]
    replies = {_sentence_reply(asked, sentence, lexicon, units or lexicon.units) for sentence in sentences} - {""}
    return _as_reply(replies.pop()) if len(replies) == 1 else None


class _Asked:
    """The question's parts: characters up to the asking clause, those of the asking clause, its numbers by unit."""

    def __init__(self, question: str, aspect: Aspect, lexicon: Lexicon, units: Units,
                 near: Nearness) -> None:
        clauses = [question[a:b] for a, b in clause_spans(question)]
        place = next((i for i, clause in enumerate(clauses) if asked_aspect(clause)), len(clauses) - 1)
        if len(content(clauses[place], lexicon)) < 2 and place:  # 这样做好不好: what is asked stands before it
            clauses[place - 1 : place + 1] = ["".join(clauses[place - 1 : place + 1])]
            place -= 1
        self.aspect, self.near = aspect, near
        self.text = "".join(clauses[: place + 1])
        self.known = content("".join(clauses[: place + 1]), lexicon)
        self.core = content(clauses[place], lexicon)
        self.words = _words(clauses[place], lexicon)
        self.values = _values("".join(clauses[: place + 1]), units)


def _sentence_reply(asked: _Asked, sentence: str, lexicon: Lexicon, units: Units) -> str:
    """Return yes, no, "open" where the sentence speaks of it but decides nothing, or "" where it does not."""
    own = content(sentence, lexicon)
    share = len(asked.core & own) / max(1, len(asked.core))
    if share >= asked.near.asked and (_negated(asked.text) ^ _negated(sentence)) & own & asked.known:
        return "open"  # 没催芽 is not 催芽
    clauses, sentence_words = _clauses(sentence), _words(sentence, lexicon)
    limits = [(limit, clause) for clause in clauses for limit in _limits(clause, units)]
    matched = [(limit, clause) for limit, clause in limits if limit.unit in asked.values]
    if matched and asked.aspect == "permit" and share >= _MIN_LIMIT_SHARE:
        found = {_limit_reply(limit, asked.values[limit.unit], clause) or "open" for limit, clause in matched}
        return found.pop() if len(found) == 1 else "open"
    if asked.aspect == "permit" and set(asked.values) & set(_values(sentence, units)):
        return "open" if share >= _MIN_LIMIT_SHARE else ""  # a number of its unit that limits nothing we can read
    if asked.near.words and any(_replaced(word, sentence_words, own, asked.known) for word in asked.words):
        return ""  # 大米 where the evidence speaks of 化肥
    if share < asked.near.asked or _EXCEPT.search(sentence):
        return "open" if share >= asked.near.asked else ""
    return _saying_reply(asked, clauses, lexicon, bool(asked.values) and any(limit.kind != "within" for limit, _ in limits))


def _saying_reply(asked: _Asked, clauses: list[str], lexicon: Lexicon, conditional: bool) -> str:
    said: list[tuple[float, str]] = []
    for clause in clauses:
        own = content(clause, lexicon)
        saying = _saying(clause)
        if saying:
            said.append((len(own & asked.known) / max(1, len(own)), saying))
    said.sort(key=lambda pair: -pair[0])
    cover, saying = said[0] if said else (0.0, "")
    if cover < asked.near.cover:
        return ""
    reply = _SENSE[asked.aspect].get(saying, "open")
    if reply == "yes":
        mixed = any(other in ("forbid", "useless") or other_cover >= asked.near.cover for other_cover, other in said[1:])
    else:
        mixed = any(other in ("may", "useful") for _, other in said[1:])
    return "open" if conditional or mixed else reply


def _saying(clause: str) -> str:
    return next((name for name, pattern in _SAYINGS if pattern.search(clause)), "")


def _clauses(text: str) -> list[str]:
    """Split at commas and colons; the members of a list (甲、乙禁止…) stay with what is said of them."""
    clauses: list[str] = []
    for start, end in clause_spans(text):
        if clauses and clauses[-1].endswith("、"):
            clauses[-1] += text[start:end]
        else:
            clauses.append(text[start:end])
    return clauses


def denies(text: str) -> bool:
    """Tell whether a text forbids something or says that it does not work."""
    return any(_saying(clause) in ("forbid", "useless") for clause in _clauses(text))


def _speaks_of_another(question: str, evidence: str, lexicon: Lexicon) -> bool:
    """Tell whether the question names a product, pest or nutrient that the evidence lacks, or another crop."""
    asked, said = lexicon.entities(question), lexicon.entities(evidence)
    terms = {e.term for e in said}
    if any(e.kind in _NAMED and not _among(e.term, terms) for e in asked):
        return True
    crops, others = ({e.term for e in found if e.kind == "crop"} for found in (asked, said))
    return bool(crops and others) and not any(_among(crop, others) for crop in crops)


def _among(term: str, terms: Iterable[str]) -> bool:
    return any(term in other or other in term for other in terms)


def _as_reply(found: str) -> Reply | None:
    return "yes" if found == "yes" else "no" if found == "no" else None


def _limit_reply(limit: _Limit, values: tuple[float, ...], clause: str) -> Reply | None:
    """Within what is forbidden: no. Within what is fitting: yes, outside no. Outside a mere condition: open."""
    inside = {limit.low <= value <= limit.high for value in values}
    if len(inside) != 1:
        return None
    saying = _saying(re.sub(r"不(?:要|能|得|可|应|宜)?(?=[超高大多少低小])", "", clause))
    if saying in ("forbid", "useless"):
        return "no" if inside == {True} and limit.kind in ("over", "under", "within") else None
    if limit.kind in ("most", "least") or saying == "ought":
        return "yes" if inside == {True} else "no"
    return "yes" if saying in ("may", "useful") and inside == {True} else None


def _limits(clause: str, units: Units) -> list[_Limit]:
    found: list[_Limit] = []
    for quantity in units.quantities(clause):
        unit = quantity.unit or clause[quantity.end : quantity.end + 1]
        before, after = clause[max(0, quantity.start - 5) : quantity.start], clause[quantity.end :].removeprefix(unit)
        kind = next((k for k, left, right in _BOUNDS if left.search(before) or right.search(after)), "")
        if kind in ("most", "under"):
            found.append(_Limit(kind, float("-inf"), quantity.high, unit))
        elif kind in ("least", "over"):
            found.append(_Limit(kind, quantity.low, float("inf"), unit))
        elif quantity.low < quantity.high:
            found.append(_Limit("within", quantity.low, quantity.high, unit))
    return found


def _values(question: str, units: Units) -> dict[str, tuple[float, ...]]:
    """Return the numbers of a text by unit; a number without a known unit has the character after it."""
    values: dict[str, tuple[float, ...]] = {}
    for quantity in units.quantities(question):
        unit = quantity.unit or question[quantity.end : quantity.end + 1]
        values[unit] = (*values.get(unit, ()), quantity.low, quantity.high)
    return values


def content(text: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the Chinese characters that carry meaning: farmers' words share characters (袋, 编织袋), not whole words."""
    return frozenset(_HAN.findall(_MARKS.sub("", lexicon.canonical(text)))) - _EMPTY


def _negated(text: str) -> frozenset[str]:
    """Return the characters that stand under a denial of a state: 干 in 没干 and in 未干."""
    return frozenset(_NEGATED.findall(_FORBIDDING.sub(" ", _MARKS.sub(" ", text))))


def _words(text: str, lexicon: Lexicon) -> list[frozenset[str]]:
    tokens = (frozenset(_HAN.findall(token)) - _EMPTY for token in lexicon.tokens(_MARKS.sub(" ", text)))
    return [token for token in tokens if len(token) > 1]


def _replaced(word: frozenset[str], said: Sequence[frozenset[str]], own: frozenset[str], known: frozenset[str]) -> bool:
    """Tell whether the evidence lacks a word of the question, or has another in its place: 咸水 for 淡水."""
    if word <= own:
        return False
    shared = word & own
    return not shared or any(shared & other and not other <= known for other in said)
