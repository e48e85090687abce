import numpy as np
import pytest
from answer_world import make_candidate

from nongda.answer.cite import marker, references, resolve, supports
from nongda.answer.compress import score_evidence
from nongda.answer.evidence import split_evidence
from nongda.answer.understand import understand
from nongda.settings import AnswerSettings


def evidence_of(lexicon, embedder, *texts):
    query = understand("叶锈病", [], lexicon, AnswerSettings())
    candidates = [make_candidate(lexicon, text, f"aaaaaaaa#{i}") for i, text in enumerate(texts)]
    return score_evidence(query, candidates, embedder, lexicon)


def test_support_is_half_the_cosine_and_half_the_share_of_the_sentence_s_words(lexicon, embedder):
    (scored,) = evidence_of(lexicon, embedder, "叶锈病喷波尔多液。")
    half = frozenset({next(iter(scored.tokens)), "没有的词"})
    assert supports(half, scored.vector, [scored])[0].score == pytest.approx(0.5 + 0.25)
    assert supports(half, -scored.vector, [scored])[0].score == pytest.approx(0.25)  # a negative cosine counts as 0


def test_equal_support_keeps_the_reading_order(lexicon, embedder):
    evidence = evidence_of(lexicon, embedder, "叶锈病喷波尔多液。", "叶锈病喷波尔多液。")
    found = supports(frozenset({"没有的词"}), np.zeros(64, dtype=np.float32), evidence)
    assert [s.scored.evidence.chunk_id for s in found] == ["aaaaaaaa#0", "aaaaaaaa#1"]


def test_a_citation_shows_the_source_s_place_and_words(lexicon):
    candidate = make_candidate(lexicon, "喷波尔多液。", "aaaaaaaa#4", "叶锈病", ("防治", "药剂"))
    citation = resolve(split_evidence(candidate)[0], candidate)
    assert (citation.id, citation.doc, citation.source) == ("aaaaaaaa#4", "叶锈病", "叶锈病.md")
    assert (citation.heading, citation.quote) == (("防治", "药剂"), "喷波尔多液。")


def test_markers_and_references_name_chunks(lexicon):
    candidates = [make_candidate(lexicon, "甲乙", f"aaaaaaaa#{i}") for i in (1, 2)]
    assert marker("aaaaaaaa#1") == "[aaaaaaaa#1]"
    assert references(candidates) == "参考资料：[aaaaaaaa#1][aaaaaaaa#2]"
