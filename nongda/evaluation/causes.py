"""Why an answer missed: the first stage at which what was needed is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from nongda.evaluation.dataset import squeeze
from nongda.evaluation.pages import escaped, table
from nongda.evaluation.values import without_citations

FAILED, ASKED_BACK, UNANSWERABLE = "failed", "asked back", "answered, but unanswerable"
REFUSED, WRONG_VALUE, WRONG_CROP = "refused, but answerable", "wrong value", "another crop cited"
NO_PASSAGE, NO_SENTENCE, NO_VALUE = "passage not found", "passage found, sentence not chosen", "sentence chosen, value missing"
CAUSES = (WRONG_VALUE, WRONG_CROP, UNANSWERABLE, REFUSED, ASKED_BACK, NO_PASSAGE, NO_SENTENCE, NO_VALUE, FAILED)

_LEAST_INSIDE = 6  # characters of a text that stands whole in the other
_LEAST_COMMON = 8  # characters of a run that both have
_LEAST_SHARE = 0.5  # of the shorter text that such a run makes up
_QUESTION, _QUOTED, _WANTED = 40, 42, 26  # characters of a line of the list, which has 150 with the id and the words between

Record = dict[str, Any]


def proves(words: str, quote: str) -> bool:
    """Tell whether words of an answer are those of a gold quote: one holds the other, or they share a long run."""
    one, other = squeeze(words), squeeze(quote)
    if one in other or other in one:
        return min(len(one), len(other)) >= _LEAST_INSIDE
    common = SequenceMatcher(None, one, other, autojunk=False).find_longest_match().size
    return common >= max(_LEAST_COMMON, _LEAST_SHARE * min(len(one), len(other)))


def cause(record: Record, looked_at: int) -> str:
    """Return why a record's answer missed, "" where it did not; of `ranking` the first `looked_at` were looked at.

    Missed are answerable questions without all `must` or with a `must_not`, or with another crop cited, and
    unanswerable ones that got an answer. A record of before sentences were compared counts passages instead.
    """
    metrics = record["metrics"]
    if record["failed"]:
        return FAILED
    if not record["answerable"]:
        return "" if record["refused"] else ASKED_BACK if record.get("answer_kind") == "question" else UNANSWERABLE
    if metrics["correct"][0]:
        return WRONG_CROP if metrics["wrong_subject"][0] else ""
    if record["refused"]:
        return REFUSED
    if record.get("answer_kind") == "question":
        return ASKED_BACK
    if record.get("false") or metrics["wrong_number"][0] or metrics["wrong_name"][0]:
        return WRONG_VALUE
    return _lost_at(record, looked_at)


def _lost_at(record: Record, looked_at: int) -> str:
    found, cited = set(record["ranking"][:looked_at]), set(record["cited"])
    if not all(found.intersection(piece) for piece in record["evidence"]):
        return NO_PASSAGE
    quoted = record.get("quoted") or [bool(cited.intersection(piece)) for piece in record["evidence"]]
    return NO_VALUE if all(quoted) else NO_SENTENCE


def missed(records: Sequence[Record], looked_at: int) -> str:
    """Return all missed questions in Markdown: counted by cause, then listed with what was said and what was wanted."""
    found = [(cause(record, looked_at), record) for record in records]
    counts = Counter(name for name, _ in found if name)
    names = [name for name in CAUSES if counts[name]]
    whole = max(1, len(records))
    rows = [[name, str(counts[name]), f"{counts[name] / whole:.1%}"] for name in names]
    parts = [f"## Missed questions: {counts.total()} of {len(records)}"]
    if rows:
        parts += [table(["cause", "questions", "share"], rows)]
    for name in names:
        lines = [_line(record) for one, record in found if one == name]
        parts += [f"### {name.capitalize()}: {counts[name]}", "\n".join(lines)]
    return "\n\n".join(parts)


def _line(record: Record) -> str:
    said = record["failed"] or without_citations(record.get("answer", "")) or "–"
    wrong = "、".join(record.get("false", ()))
    wanted = "、".join(record.get("missing", ())) or ("a refusal" if not record["answerable"] else "–")
    tail = f"not {_cut(wrong, _WANTED)}" if wrong else f"wanted {_cut(wanted, _WANTED)}"
    return f"- `{record['id']}` " + escaped(f"{_cut(record['question'], _QUESTION)} → {_cut(said, _QUOTED)} ({tail})")


def _cut(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
