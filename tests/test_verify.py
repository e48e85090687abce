import pytest
from answer_world import make_candidate
from hypothesis import given
from hypothesis import strategies as st

from nongda.answer.cite import marker, references, resolve, supports
from nongda.answer.compress import score_evidence
from nongda.answer.evidence import split_evidence
from nongda.answer.understand import understand
from nongda.answer.verify import LIST_MARK, grounded, quoted, unsupported
from nongda.settings import AnswerSettings

TEXT = "咖啡叶锈病发病初期喷0.5%～1%波尔多液，每隔10天喷一次，连喷3次。"


def supported_by(lexicon, embedder, text, **options):
    candidate = make_candidate(lexicon, text, **options)
    query = understand("叶锈病", [], lexicon, AnswerSettings())
    return score_evidence(query, [candidate], embedder, lexicon)[0]


@pytest.mark.parametrize("sentence", [
    "喷０．５％～１％波尔多液。", "每隔10天喷一次。", "每隔十天一次。", "连喷三次，用0.5%至1%的波尔多液。",
])
def test_what_the_evidence_says_in_any_writing_passes(lexicon, embedder, sentence):
    assert unsupported(sentence, supported_by(lexicon, embedder, TEXT), lexicon) == []


@pytest.mark.parametrize(("sentence", "wrong"), [
    ("喷2%波尔多液。", ["2%"]),
    ("喷0.5%波尔多液。", ["0.5%"]),  # one end of the evidence's range is another claim
    ("每隔7天喷一次。", ["7天"]),
    ("每隔10克喷一次。", ["10克"]),
    ("喷三唑酮0.5%～1%。", ["三唑酮"]),
    ("水稻每隔10天喷一次。", ["水稻"]),
    ("炭疽病连喷3次。", ["炭疽病"]),
])
def test_other_numbers_units_and_names_are_named(lexicon, embedder, sentence, wrong):
    assert unsupported(sentence, supported_by(lexicon, embedder, TEXT), lexicon) == wrong


@given(st.integers(min_value=0, max_value=100_000))
def test_no_number_of_days_but_the_evidence_s_own_passes(lexicon, number):
    from conftest import HashEmbedder
    wrong = unsupported(f"每隔{number}天喷一次。", supported_by(lexicon, HashEmbedder(), TEXT), lexicon)
    assert (wrong == []) == (number == 10)


def test_a_table_row_is_checked_with_the_unit_of_its_header(lexicon, embedder):
    table = "| 树龄 | 尿素（克/株） |\n| --- | --- |\n| 2年 | 100克 |"
    best = supported_by(lexicon, embedder, table, kind="table")
    assert unsupported("尿素100克。", best, lexicon) == []
    assert unsupported("尿素200克。", best, lexicon) == ["200克"]


def test_the_sentence_that_says_it_supports_best(lexicon, embedder):
    candidates = [make_candidate(lexicon, "采收红果。叶锈病喷波尔多液。", "aaaaaaaa#4")]
    query = understand("叶锈病", [], lexicon, AnswerSettings())
    evidence = score_evidence(query, candidates, embedder, lexicon)
    sentence = "叶锈病要喷波尔多液"
    found = supports(frozenset(lexicon.tokens(sentence)), embedder.embed_queries([sentence])[0], evidence)
    assert [s.scored.evidence.text for s in found] == ["叶锈病喷波尔多液。", "采收红果。"]
    assert all(0 <= s.score <= 1 for s in found)


def test_no_evidence_supports_nothing(embedder):
    assert supports(frozenset({"a"}), embedder.embed_queries(["a"])[0], []) == []


def test_a_sentence_of_words_that_neither_evidence_nor_question_has_is_invention(lexicon, embedder):
    query = understand("叶锈病怎么治", [], lexicon, AnswerSettings())
    evidence = supported_by(lexicon, embedder, TEXT)
    assert grounded(frozenset(lexicon.tokens("叶锈病初期喷波尔多液")), evidence, query)
    assert not grounded(frozenset(lexicon.tokens("使用专门的检测仪器彻底检查树干和根系")), evidence, query)


def test_a_number_of_the_next_sentence_does_not_support_a_claim(lexicon, embedder):
    evidence = supported_by(lexicon, embedder, "咖啡叶锈病喷0.5%波尔多液。每隔10天喷一次。")
    assert unsupported("每隔10天喷一次。", evidence, lexicon) == ["10天", "一次"]


def test_a_citation_resolves_to_place_and_verbatim_words(lexicon):
    candidate = make_candidate(lexicon, TEXT, "aaaaaaaa#4", heading=("防治",))
    citation = resolve(split_evidence(candidate)[0], candidate)
    assert (citation.id, citation.quote, citation.heading) == ("aaaaaaaa#4", TEXT, ("防治",))
    assert marker("aaaaaaaa#4") == "[aaaaaaaa#4]"
    assert references([candidate]) == "参考资料：[aaaaaaaa#4]"


@pytest.mark.parametrize(("text", "kept"), [
    ("3. 清除病叶", "清除病叶"), ("- 2. 清除", "清除"), ("2、清除", "清除"), ("12）清除", "清除"), ("1.5千克尿素", "1.5千克尿素"),
    ("10～20天", "10～20天"), ("2,4-滴", "2,4-滴"), ("3天以后", "3天以后"),
])
def test_a_list_s_number_goes_and_a_quantity_stays(text, kept):
    assert LIST_MARK.sub("", text) == kept


def test_a_quote_ends_as_a_sentence_and_loses_its_list_mark(lexicon, embedder):
    assert quoted(supported_by(lexicon, embedder, "- 清除病叶")) == "清除病叶。"
