from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.sentences import text_of, units_of
from nongda.intake import Block


def test_sentences_keep_the_white_space_between_them():
    units = units_of([Block("Spray copper.  Then wait. 完。"), Block("下一段。", page=2)], 100)
    assert [(u.text, u.glue, u.page) for u in units] == [
        ("Spray copper.", "\n", None), ("Then wait.", "  ", None), ("完。", " ", None), ("下一段。", "\n", 2)]
    assert text_of(units) == "Spray copper.  Then wait. 完。\n下一段。"
    assert text_of([]) == ""


def test_connectors_and_lists_behind_a_lead_in_are_bound():
    units = units_of([Block("它会传播。但可防治。其他药剂不行。方法如下："), Block("- 清园。\n- 因此喷药。", "list")], 100)
    assert [u.bound for u in units] == [False, True, False, False, True, False]


def test_headings_titles_of_items_and_later_steps_are_known():
    units = units_of([Block("整地\n先挖沟。"), Block("1. 断砧。剪去砧枝。\n2. 削穗。削成楔形。", "list", confidence=0.5)], 100)
    assert [u.text for u in units] == ["整地", "先挖沟。", "1. 断砧。", "剪去砧枝。", "2. 削穗。", "削成楔形。"]
    assert [u.bound for u in units] == [False, True, False, True, False, True]
    assert [u.step for u in units] == [False, False, False, False, True, False]
    assert [u.confidence for u in units] == [1.0, 1.0, 0.5, 0.5, 0.5, 0.5]


def test_a_cut_in_an_over_long_sentence_never_comes_before_what_follows_from_it():
    text = "甲甲甲甲甲甲，若夜温太低，则推迟播种，丙丙丙。"
    assert [u.text for u in units_of([Block(text)], 13)] == ["甲甲甲甲甲甲，", "若夜温太低，则推迟播种，", "丙丙丙。"]


def test_an_over_long_sentence_is_cut_at_clauses():
    assert [u.text for u in units_of([Block("甲甲甲，乙乙乙，丙丙丙，丁丁丁。")], 8)] == ["甲甲甲，乙乙乙，", "丙丙丙，丁丁丁。"]


def test_a_clause_without_any_border_is_cut_but_never_within_a_number_or_word():
    assert [u.text for u in units_of([Block("甲" * 6 + "12.5kg" + "乙" * 6)], 10)] == ["甲" * 6, "12.5kg乙乙乙乙", "乙乙"]
    assert [len(u.text) for u in units_of([Block("9" * 25)], 10)] == [10, 10, 5]


@given(st.lists(st.text(max_size=60), max_size=5), st.integers(min_value=1, max_value=30))
def test_units_hold_all_words_in_order_and_respect_the_limit(texts, limit):
    units = units_of([Block(text) for text in texts], limit)
    assert "".join("".join(u.text for u in units).split()) == "".join("".join(texts).split())
    assert all(len(u.text) <= limit for u in units)
