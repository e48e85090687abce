import pytest
from answer_world import make_candidate

from nongda.answer.compress import score_evidence
from nongda.answer.select import best_quotes, relevance, relevant
from nongda.answer.understand import understand
from nongda.settings import AnswerSettings


def kept(lexicon, question, *candidates, cut=0.0):
    query = understand(question, [], lexicon, AnswerSettings())
    return [c.chunk.id for c in relevant(query, candidates, lexicon, cut)]


def test_passages_of_another_crop_are_dropped(lexicon):
    coffee = make_candidate(lexicon, "叶锈病喷波尔多液。", "aaaaaaaa#0", "咖啡叶锈病")
    wheat = make_candidate(lexicon, "叶锈病喷三唑酮。", "bbbbbbbb#0", "小麦叶锈病")
    assert kept(lexicon, "小麦叶锈病怎么治", coffee, wheat) == ["bbbbbbbb#0"]


def test_a_crop_that_is_absent_leaves_nothing(lexicon):
    assert kept(lexicon, "水稻叶锈病怎么治", make_candidate(lexicon, "叶锈病喷波尔多液。")) == []


def test_a_kind_of_the_crop_counts_as_the_crop(lexicon):
    candidate = make_candidate(lexicon, "叶背有黄粉。", title="小粒种咖啡管理")
    assert kept(lexicon, "咖啡叶背有黄粉", candidate) == ["aaaaaaaa#0"]
    assert kept(lexicon, "阿拉比卡叶背有黄粉", make_candidate(lexicon, "叶背有黄粉。", title="咖啡病害"))


def test_a_passage_without_any_crop_may_answer_for_every_crop(lexicon):
    candidate = make_candidate(lexicon, "稀释时先加水后加药。", title="安全用药")
    assert kept(lexicon, "水稻打药怎么稀释", candidate) == ["aaaaaaaa#0"]


def test_a_disease_or_product_no_passage_names_is_refused(lexicon):
    candidate = make_candidate(lexicon, "叶锈病喷波尔多液。")
    assert kept(lexicon, "咖啡炭疽病怎么治", candidate) == []
    assert kept(lexicon, "三唑酮能治咖啡叶锈病吗", candidate) == []
    assert kept(lexicon, "波尔多液能治咖啡叶锈病吗", candidate) == ["aaaaaaaa#0"]


def test_passages_too_far_from_the_question_are_refused(lexicon):
    far = make_candidate(lexicon, "叶锈病喷波尔多液。", dense=0.79)  # holds 1 word of 3: 咖啡
    query = understand("咖啡充电手机", [], lexicon, AnswerSettings())
    worth = relevance(query, far, lexicon)
    assert worth == pytest.approx(0.79 + 0.1 * 1 / len(set(query.tokens)))
    assert kept(lexicon, "咖啡充电手机", far, cut=worth + 0.001) == []
    assert kept(lexicon, "咖啡充电手机", far, cut=worth) == ["aaaaaaaa#0"]


def quotes(lexicon, embedder, question, *candidates, most=3, chunk_id=""):
    query = understand(question, [], lexicon, AnswerSettings())
    scored = score_evidence(query, candidates, embedder, lexicon)
    return [q.evidence.text for q in best_quotes(scored, most, chunk_id)]


def test_quotes_are_neighbours_in_the_passage_of_the_best_sentence(lexicon, embedder):
    rust = make_candidate(lexicon, "采收红果。叶背有黄粉的是叶锈病。摘除病叶。喷波尔多液。园地通风。", "aaaaaaaa#0")
    other = make_candidate(lexicon, "炭疽病叶背有黑点。", "bbbbbbbb#0", "咖啡炭疽病")
    found = quotes(lexicon, embedder, "叶背有黄粉是什么病", rust, other, most=2)
    assert "叶背有黄粉的是叶锈病。" in found
    assert len(found) == 2
    assert "".join(found) in rust.chunk.text


def test_quotes_stay_in_the_passage_that_is_cited_already(lexicon, embedder):
    rust = make_candidate(lexicon, "叶背有黄粉的是叶锈病。", "aaaaaaaa#0")
    other = make_candidate(lexicon, "炭疽病叶背有黑点。", "bbbbbbbb#0", "咖啡炭疽病")
    assert quotes(lexicon, embedder, "叶背有黄粉", rust, other, chunk_id="bbbbbbbb#0") == ["炭疽病叶背有黑点。"]


def test_of_a_table_only_the_best_row_is_quoted(lexicon, embedder):
    table = make_candidate(lexicon, "| 病 | 药 |\n|---|---|\n| 叶锈病 | 波尔多液 |\n| 炭疽病 | 三唑酮 |", kind="table")
    assert quotes(lexicon, embedder, "叶锈病用什么药", table) == ["| 叶锈病 | 波尔多液 |"]


def test_a_question_or_an_announcement_in_a_document_is_never_quoted_as_an_answer(lexicon, embedder):
    candidate = make_candidate(lexicon, "叶锈病怎么治？叶锈病的治法如下：\n喷波尔多液。")
    assert quotes(lexicon, embedder, "叶锈病怎么治", candidate) == ["喷波尔多液。"]
    assert quotes(lexicon, embedder, "叶锈病怎么治", make_candidate(lexicon, "叶锈病怎么治？")) == []
