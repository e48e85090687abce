"""A small corpus with gold questions about it, for the tests of the evaluation."""

import json
from pathlib import Path

from conftest import HashEmbedder

from nongda.engine import ROOT
from nongda.evaluation.dataset import Family, GoldEvidence, GoldQuestion, Passage
from nongda.evaluation.values import Values
from nongda.evaluation.variants import Parts, System, Variant
from nongda.language.lexicon import Lexicon
from nongda.loading import Models
from nongda.models.rerank import TokenCache
from nongda.settings import Settings, override

SUBJECTS = ("灌溉", "采收", "修剪", "定植", "苗圃", "遮阴", "覆盖", "除草", "贮藏", "晾晒", "分级", "发酵")
LONG = "这一段是为了让段落足够长而写的普通说明文字，它不含任何数值，只谈管理的一般道理和记录的办法。" * 4


def write_corpus(folder: Path) -> None:
    """Write one document per pair of subjects, each subject with its own number of days."""
    for number in range(0, len(SUBJECTS), 2):
        sections = [
            f"## {subject}\n\n咖啡{subject}工作每隔{place + 3}天检查一次。{LONG}\n"
            for place, subject in enumerate(SUBJECTS) if place in (number, number + 1)
        ]
        path = folder / "咖啡" / f"{number:02}-{SUBJECTS[number]}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# 咖啡园手册{number}\n\n" + "\n".join(sections), encoding="utf-8")


def questions() -> list[GoldQuestion]:
    """One question per subject."""
    found = []
    for place, subject in enumerate(SUBJECTS):
        doc = f"咖啡/{place // 2 * 2:02}-{SUBJECTS[place // 2 * 2]}.md"
        quote = f"咖啡{subject}工作每隔{place + 3}天检查一次"
        evidence = (GoldEvidence((Passage(doc, quote),)),)
        found.append(GoldQuestion(f"q{place:02}", "dev", "topic", "single", f"咖啡{subject}工作多久检查一次", True,
                                  evidence=evidence, must=(f"{place + 3}天",), must_not=("90天",)))
    return found


def families() -> list[Family]:
    """All documents on one side."""
    docs = tuple(f"咖啡/{n:02}-{SUBJECTS[n]}.md" for n in range(0, len(SUBJECTS), 2))
    return [Family("all", "dev", "topic", docs)]


def parts() -> Parts:
    """Models without weights; no question is refused for likeness."""
    settings = override(Settings(), {"answer": {"gate": -1000}}, "test")
    embedder = HashEmbedder()
    return Parts(settings, Models(embedder, embedder, None, TokenCache(embedder)), None)


def real_values() -> Values:
    """The product's units and terms."""
    domain = ROOT / "assets" / "domain"
    return Values.load(Lexicon.load(domain), domain / "units.toml")


def make_system(corpus: Path, work: Path, **changes: object) -> System:
    """A system over the small corpus."""
    return System(Variant("full", reranker="words", **changes), parts(), corpus, work)  # type: ignore[arg-type]


def gold_line(question: GoldQuestion) -> str:
    """A question as its file holds it."""
    return json.dumps({
        "id": question.id, "kind": question.kind, "question": question.question, "answerable": question.answerable,
        "evidence": [{"doc": e.passages[0].doc, "quote": e.passages[0].quote} for e in question.evidence],
        "must": list(question.must), "must_not": list(question.must_not),
    }, ensure_ascii=False)
