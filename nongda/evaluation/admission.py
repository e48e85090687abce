"""What a gold question must satisfy before it counts: rules a program can check.

1. Every quote stands in its document, word for word, and is 6 to 160 characters long.
2. An answerable question has 1 to 3 pieces of evidence from documents of its own side (passages that prove the same
   may stand on the other), values it must hold, whose numbers stand in the evidence, and values it must not hold,
   whose numbers do not. An unanswerable one has no evidence and nothing it must hold.
3. No two questions are near duplicates; no question copies a sentence of a document.
4. The set is large and balanced: kinds, topics and sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from nongda.documents.clean import clean
from nongda.documents.parse import parse_file
from nongda.evaluation.dataset import KINDS, SPLITS, UNANSWERABLE, Family, GoldQuestion, squeeze
from nongda.evaluation.values import Values

SHORTEST_QUOTE, LONGEST_QUOTE = 6, 160  # characters without space
MOST_EVIDENCE = 3
_SHINGLE = 2  # characters
_DUPLICATE = 0.75  # Jaccard similarity of character pairs, of questions with the same history
_COPIED = 16  # characters in a row that a question shares with a document


@dataclass(frozen=True, slots=True)
class Balance:
    """The least numbers of a whole set."""

    answerable: int = 346
    unanswerable: int = 70
    of_topic: int = 18  # answerable questions of each topic
    of_kind: int = 25
    share_of_split: float = 0.4  # of all questions, on the smaller side
    topics: frozenset[str] = field(default_factory=frozenset)


def read_corpus(folder: Path, documents: Iterable[str]) -> dict[str, str]:
    """Return the squeezed text of each document, without its front matter. Raises DocumentError when one is missing."""
    return {
        doc: "\n".join(squeeze(block.text) for block in clean(parse_file(folder / doc)).blocks)
        for doc in documents
    }


def problems(questions: Sequence[GoldQuestion], families: Sequence[Family], corpus: Mapping[str, str],
             values: Values, balance: Balance) -> list[str]:
    """Return what is wrong, in the reader's words, with the id of the question; an empty list admits the set."""
    side = {doc: family.split for family in families for doc in family.documents}
    topics = {family.topic for family in families}
    listed = Counter(doc for family in families for doc in family.documents)
    found = [f"{doc} 不属于任何一组：请写进 families.toml" for doc in corpus if doc not in side]
    found += [f"families.toml 里的 {doc} 没有这份资料，或写了不止一次" for doc, n in listed.items() if n > 1 or doc not in corpus]
    found += [f"{q_id}: 编号用了 {n} 次" for q_id, n in Counter(q.id for q in questions).items() if n > 1]
    for question in questions:
        found += [f"{question.id}: {words}" for words in _of_question(question, side, topics, corpus, values)]
    found += _near_duplicates(questions)
    return found + list(_imbalance(questions, balance))


def _of_question(question: GoldQuestion, side: Mapping[str, str], topics: set[str], corpus: Mapping[str, str],
                 values: Values) -> Iterator[str]:
    if question.topic not in topics:
        yield f"主题 {question.topic} 不属于任何一组资料"
    if copied := _copied(question.question, corpus):
        yield f"问题照抄了资料“{copied}”"
    if not question.answerable:
        if question.kind != UNANSWERABLE or question.evidence or question.must:
            yield f"不能回答的题，kind 应是 {UNANSWERABLE}，没有 evidence 和 must"
        return
    if question.kind not in KINDS:
        yield f"kind {question.kind} 不认识：可用的有 {'、'.join(KINDS)}"
    if (question.kind == "follow_up") != bool(question.history):
        yield "follow_up 要有 history，其他题不要有"
    if not 1 <= len(question.evidence) <= MOST_EVIDENCE:
        yield f"有 {len(question.evidence)} 条证据，应有 1 到 {MOST_EVIDENCE} 条"
    if not question.must:
        yield "must 是空的"
    if not question.must_not:
        yield "must_not 是空的"
    yield from _of_evidence(question, side, corpus)
    yield from _of_values(question, values)


def _of_evidence(question: GoldQuestion, side: Mapping[str, str], corpus: Mapping[str, str]) -> Iterator[str]:
    for evidence in question.evidence:
        for place, passage in enumerate(evidence.passages):
            quote = squeeze(passage.quote)
            if passage.doc not in corpus:
                yield f"没有资料 {passage.doc}"
                continue
            if side.get(passage.doc) != question.split and place == 0:
                yield f"{passage.doc} 属于另一边"
            if quote not in corpus[passage.doc]:
                yield f"{passage.doc} 里没有“{passage.quote}”"
            if not SHORTEST_QUOTE <= len(quote) <= LONGEST_QUOTE:
                yield f"引文长 {len(quote)} 字：“{passage.quote}”"


def _of_values(question: GoldQuestion, values: Values) -> Iterator[str]:
    quotes = [p.quote for e in question.evidence for p in e.passages]
    for value in question.must:
        stands = values.holds("\n".join(quotes), value) or any(values.stands_in_row(value, q) for q in quotes)
        if values.is_number(value) and not stands:
            yield f"must “{value}”在证据里找不到"
    first = "\n".join(e.passages[0].quote for e in question.evidence)
    for value in question.must_not:
        if values.is_number(value) and values.holds(first, value):
            yield f"must_not “{value}”就在证据里"
        if value in question.must:
            yield f"“{value}”既是 must 又是 must_not"


def _copied(question: str, corpus: Mapping[str, str]) -> str:
    text = squeeze(question).rstrip("?!。")
    for start in range(len(text) - _COPIED + 1):
        piece = text[start : start + _COPIED]
        if any(piece in document for document in corpus.values()):
            return piece
    return ""


def _near_duplicates(questions: Sequence[GoldQuestion]) -> list[str]:
    shingles = {q.id: _shingles("".join(t.content for t in q.history) + q.question) for q in questions}
    return [
        f"{one.id} 和 {other.id} 几乎一样"
        for one, other in combinations(questions, 2)
        if _jaccard(shingles[one.id], shingles[other.id]) >= _DUPLICATE
    ]


def _shingles(text: str) -> frozenset[str]:
    letters = squeeze(text)
    return frozenset(letters[i : i + _SHINGLE] for i in range(len(letters) - _SHINGLE + 1))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _imbalance(questions: Sequence[GoldQuestion], balance: Balance) -> Iterator[str]:
    answerable = [q for q in questions if q.answerable]
    for name, number, least in (
        ("answerable", len(answerable), balance.answerable),
        ("unanswerable", len(questions) - len(answerable), balance.unanswerable),
        *((f"topic {t}", sum(q.topic == t for q in answerable), balance.of_topic) for t in sorted(balance.topics)),
        *((f"kind {k}", sum(q.kind == k for q in answerable), balance.of_kind) for k in KINDS),
        *((f"split {s}", sum(q.split == s for q in questions), round(balance.share_of_split * len(questions)))
          for s in SPLITS),
    ):
        if number < least:
            yield f"{name}: 只有 {number} 题，至少要 {least} 题"
