from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.identify import (
    CITATION,
    chunk_id,
    document_id,
    parse_chunk_id,
    sha256_hex,
    text_fingerprint,
)
from nongda.intake import Block


def test_a_document_id_is_the_first_eight_digits_of_the_known_sha256():
    # SHA-256 of "abc", from the standard's own example
    assert sha256_hex(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert document_id(b"abc") == "ba7816bf"


@given(st.binary(), st.integers(min_value=0, max_value=10**6))
def test_a_chunk_id_reads_back_as_what_it_was_made_of(data, position):
    assert parse_chunk_id(chunk_id(document_id(data), position)) == (document_id(data), position)


def test_what_is_no_chunk_id_is_told_apart():
    for text in ("", "ba7816bf", "ba7816bf#", "ba7816bf#-1", "ba7816bf#01", "BA7816BF#1", "ba7816b#1",
                 "ba7816bf#1\n", " ba7816bf#1", "ba7816bf#１"):
        assert parse_chunk_id(text) is None, text


def test_citations_are_found_with_one_id_or_several():
    text = "先摘病叶[ba7816bf#3]。再喷药[00000000#0；ba7816bf#12]，见[ba7816bf#1, ba7816bf#2]。[1] [ba7816bf] [xyz#1]"
    assert CITATION.findall(text) == ["ba7816bf#3", "00000000#0；ba7816bf#12", "ba7816bf#1, ba7816bf#2"]


def test_the_same_words_have_the_same_fingerprint_whatever_their_layout_and_width():
    one = [Block("每亩３０克，\n兑水。", heading=("一、施肥",)), Block("完。", heading=("一、施肥",))]
    other = [Block("一、施肥"), Block("每亩30克，兑 水。完。")]
    assert text_fingerprint(one) == text_fingerprint(other)


def test_another_number_or_another_heading_is_another_fingerprint():
    block = Block("每亩30克", heading=("甲",))
    assert text_fingerprint([block]) != text_fingerprint([Block("每亩31克", heading=("甲",))])
    assert text_fingerprint([block]) != text_fingerprint([Block("每亩30克", heading=("乙",))])
