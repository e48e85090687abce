"""Folding, sentences and clauses keep every character where it was."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.language.text import clause_spans, fold, has_words, search_form, sentence_spans

CHINESE = st.text(alphabet=st.one_of(
    st.sampled_from("咖啡叶锈病喷药，。！？；：“”‘’（）()…—、,.:;!?\"' \n\u3000\t0123456789abcABC％%×-/·"),
    st.characters(exclude_categories=["Cs"]),
), max_size=80)


def pieces(text: str, spans) -> list[str]:
    return [text[start:end] for start, end in spans]


@settings(deadline=None)
@given(CHINESE)
def test_folding_keeps_the_length_and_folds_only_once(text):
    folded = fold(text)
    assert len(folded) == len(text)
    assert fold(folded) == folded


@pytest.mark.parametrize(("text", "folded"), [
    ("３０克", "30克"), ("ＡＢＣ", "abc"), ("（１：１００）", "(1:100)"), ("％～", "%~"), ("a\u3000b", "a b"), ("𠮷㐂", "𠮷㐂"),
    ("İ", "İ"),  # its lower case is two characters long
    ("馬鈴薯", "馬鈴薯"),
])
def test_folding_makes_wide_characters_narrow_and_changes_no_word(text, folded):
    assert fold(text) == folded


@settings(deadline=None)
@given(CHINESE)
def test_sentences_cover_every_visible_character_in_order(text):
    check_cover(text, sentence_spans(text))


@settings(deadline=None)
@given(CHINESE)
def test_clauses_cover_every_visible_character_in_order(text):
    check_cover(text, clause_spans(text))


def check_cover(text, spans):
    position = 0
    for start, end in spans:
        assert position <= start < end
        assert not text[position:start].strip()
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        position = end
    assert not text[position:].strip()


@pytest.mark.parametrize(("text", "sentences"), [
    ("叶背有黄粉。要喷药吗？要！", ["叶背有黄粉。", "要喷药吗？", "要！"]),
    ("浓度0.5%，每隔7.5天。再喷。", ["浓度0.5%，每隔7.5天。", "再喷。"]),
    ("pH 5.5 为宜。", ["pH 5.5 为宜。"]),
    ("“先剪枝。再喷药。”他说完就走。", ["“先剪枝。", "再喷药。”", "他说完就走。"]),
    ("他问：“怎么治？”我答了。", ["他问：“怎么治？”", "我答了。"]),
    ("（见下表。）下一句。", ["（见下表。）", "下一句。"]),
    ("真的吗？！真的……是的。", ["真的吗？！", "真的……", "是的。"]),
    ("第一行\n第二行\n\n第三行", ["第一行", "第二行", "第三行"]),
    ("Spray twice. Wait a week.", ["Spray twice.", "Wait a week."]),
    ("一句。——", ["一句。——"]),
    ("", []), (" \n\u3000", []),
])
def test_sentences_end_at_stops_and_keep_their_closing_quotes(text, sentences):
    assert pieces(text, sentence_spans(text)) == sentences


@pytest.mark.parametrize(("text", "clauses"), [
    ("用2,4-滴兑水，喷叶面", ["用2,4-滴兑水，", "喷叶面"]),
    ("按1:100稀释，再喷", ["按1:100稀释，", "再喷"]),
    ("波尔多液１：１：１６０，现配现用", ["波尔多液１：１：１６０，", "现配现用"]),
    ("波尔多液1：1：160，现配现用", ["波尔多液1：1：160，", "现配现用"]),
    ("浓度，３０克，再喷", ["浓度，", "３０克，", "再喷"]),
    ("亩用500，300不够", ["亩用500，", "300不够"]),
    ("方法：剪枝、清园；再喷", ["方法：", "剪枝、", "清园；", "再喷"]),
    ("共1,200公斤", ["共1,200公斤"]),
])
def test_clauses_end_at_commas_but_not_inside_numbers(text, clauses):
    assert pieces(text, clause_spans(text)) == clauses


@pytest.mark.parametrize("text", ["2,4-滴每亩30克", "按1:100兑水", "浓度0.5%", "比例1:1:160"])
def test_no_sentence_ends_inside_a_number(text):
    assert pieces(text, sentence_spans(text)) == [text]


@pytest.mark.parametrize(("text", "expected"), [
    ("？？", False), (" ", False), ("🌽", False), ("——……", False), ("的", True), ("3", True), ("a", True), ("𠮷", True),
    ("３", True), ("ＥＭ", True),
])
def test_words_are_letters_digits_or_chinese_characters(text, expected):
    assert has_words(text) is expected


@pytest.mark.parametrize(("text", "form"), [
    ("馬鈴薯晚疫病", "马铃薯晚疫病"), ("３０克", "30克"), ("㎏", "kg"), ("㎡", "m2"), ("２，４－滴", "2,4-滴"), ("Bt－781", "bt-781"),
    ("後期", "后期"), ("皇后", "皇后"),
])
def test_search_sees_one_script_one_width_and_lower_case(text, form):
    assert search_form(text) == form
