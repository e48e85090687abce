"""One answer against its gold question: what was cited, said, refused, and what kind of error that makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nongda.evaluation.dataset import GoldQuestion
from nongda.evaluation.metrics import citation_prf, evidence_recall, reciprocal_rank
from nongda.evaluation.values import Values

DEPTHS = (1, 3, 5, 10, 20)
MRR_DEPTH = 10
ERRORS = ("no citation", "wrong document", "wrong chunk", "missing evidence")
Metrics = dict[str, tuple[float, float]]  # numerator and denominator; (0, 0) where a question does not count

# What counts for the report, in its order; the others are there for `compare`.
HEADLINES = (
    "citation_precision", "citation_recall", "citation_f1", "document_f1", "recall@5", f"mrr@{MRR_DEPTH}", "correct",
    "completeness", "numeric_accuracy", "wrong_number", "wrong_subject", "refusal_precision", "refusal_recall",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the system did with one question; `ranking` are chunk ids, best first, `timings` seconds per stage."""

    text: str
    refused: bool
    cited: tuple[str, ...]
    ranking: tuple[str, ...]
    timings: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Score:
    """The metrics of one question and the kind of citation error, "" for none."""

    metrics: Metrics
    error: str


def score(question: GoldQuestion, outcome: Outcome, evidence: Sequence[frozenset[str]], crops: Mapping[str, str],
          values: Values) -> Score:
    """Score an outcome. `evidence` are the chunk ids that prove each piece; `crops` maps document ids to crops."""
    answerable = float(question.answerable)
    metrics: Metrics = {
        "refusal_precision": (float(outcome.refused and not question.answerable), float(outcome.refused)),
        "refusal_recall": (float(outcome.refused) * (1 - answerable), 1 - answerable),
        "wrongly_refused": (float(outcome.refused) * answerable, answerable),
    } | _wrong(question, outcome, values)
    if "total" in outcome.timings:
        metrics["seconds"] = (outcome.timings["total"], 1.0)
    if not question.answerable:
        return Score(_complete(metrics), "")
    metrics |= _citations(outcome, evidence) | _retrieval(outcome, evidence)
    metrics |= _right(question, outcome, values) | _subject(outcome, evidence, crops)
    return Score(_complete(metrics), error_kind(outcome.cited, evidence))


def _complete(metrics: Metrics) -> Metrics:
    """Give every question every metric, so that questions of two runs can be compared one by one."""
    return {name: metrics.get(name, (0.0, 0.0)) for name in METRICS}


def _citations(outcome: Outcome, evidence: Sequence[frozenset[str]]) -> Metrics:
    chunks = citation_prf(outcome.cited, evidence)
    documents = citation_prf(_documents(outcome.cited), [_documents(piece) for piece in evidence])
    found: Metrics = {}
    for name, prf in (("citation", chunks), ("document", documents)):
        found |= {f"{name}_precision": (prf.precision, 1.0), f"{name}_recall": (prf.recall, 1.0), f"{name}_f1": (prf.f1, 1.0)}
    return found


def _retrieval(outcome: Outcome, evidence: Sequence[frozenset[str]]) -> Metrics:
    relevant = frozenset().union(*evidence)
    found: Metrics = {f"recall@{k}": (evidence_recall(outcome.ranking, evidence, k), 1.0) for k in DEPTHS}
    return found | {f"mrr@{MRR_DEPTH}": (reciprocal_rank(outcome.ranking, relevant, MRR_DEPTH), 1.0)}


def _wrong(question: GoldQuestion, outcome: Outcome, values: Values) -> Metrics:
    """Values of a careless answer; each rate counts the questions that have such a value to fall for."""
    found: Metrics = {}
    for name, numeric in (("wrong_number", True), ("wrong_name", False)):
        traps = [value for value in question.must_not if values.is_number(value) == numeric]
        fallen = not outcome.refused and any(values.holds(outcome.text, value) for value in traps)
        found[name] = (float(fallen), float(bool(traps)))
    return found


def _right(question: GoldQuestion, outcome: Outcome, values: Values) -> Metrics:
    held = {value: not outcome.refused and values.holds(outcome.text, value) for value in question.must}
    wrong = [value for value in question.must_not if values.holds(outcome.text, value)]
    numbers = [value for value in question.must if values.is_number(value)]
    numeric = all(held[value] for value in numbers) and not any(values.is_number(value) for value in wrong)
    return {
        "completeness": (sum(held.values()) / len(held), 1.0),
        "correct": (float(all(held.values()) and not wrong), 1.0),
        "numeric_accuracy": (float(bool(numbers) and numeric), float(bool(numbers))),
    }


def _subject(outcome: Outcome, evidence: Sequence[frozenset[str]], crops: Mapping[str, str]) -> Metrics:
    """A wrong subject: words of another crop are cited. Documents for all crops ("") are never wrong."""
    right = {crops.get(doc, "") for piece in evidence for doc in _documents(piece)} | {""}
    cited = {crops.get(doc, "") for doc in _documents(outcome.cited)}
    return {"wrong_subject": (float(bool(cited - right)), 1.0)}


def error_kind(cited: Sequence[str], evidence: Sequence[frozenset[str]]) -> str:
    """Return the kind of citation error of an answerable question, the gravest one, "" where all is proved."""
    if not cited:
        return "no citation"
    if not _documents(cited) & _documents(frozenset().union(*evidence)):
        return "wrong document"
    prf = citation_prf(cited, evidence)
    if not prf.recall:
        return "wrong chunk"
    return "missing evidence" if prf.recall < 1 else ""


def _documents(ids: frozenset[str] | Sequence[str]) -> frozenset[str]:
    return frozenset(chunk_id.split("#")[0] for chunk_id in ids)


METRICS = (
    "citation_precision", "citation_recall", "citation_f1", "document_precision", "document_recall", "document_f1",
    *(f"recall@{k}" for k in DEPTHS), f"mrr@{MRR_DEPTH}", "completeness", "correct", "numeric_accuracy",
    "wrong_number", "wrong_name", "wrong_subject", "refusal_precision", "refusal_recall", "wrongly_refused", "seconds",
)
