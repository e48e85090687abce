"""Windows over a whole document, whatever stands at their ends."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.documents.chunk import chunk_blocks
from nongda.documents.windows import document_windows
from nongda.intake import Block
from nongda.settings import ChunkSettings


def chosen(splitter, window, overlap=0, snap=0):
    return ChunkSettings(splitter=splitter, window=window, window_overlap=overlap, window_snap=snap)


BLOCKS = [
    Block("前言。", page=1),
    Block("土要松。", page=1, heading=("一、选地", "（一）土")),
    Block("水要近。", page=2, heading=("一、选地", "（二）水"), confidence=0.6),
    Block("| 药 | 量 |\n|---|---|\n| 甲 | 1 |", "table", page=3, heading=("二、用药",)),
]
TEXT = "前言。\n一、选地\n（一）土\n土要松。\n（二）水\n水要近。\n二、用药\n| 药 | 量 |\n|---|---|\n| 甲 | 1 |"


def test_fixed_windows_cut_through_sections_sentences_and_tables():
    made = document_windows(BLOCKS, chosen("fixed", 20, overlap=5, snap=8))
    assert [c.text for c in made] == [TEXT[start : start + 20].strip() for start in range(0, len(TEXT), 20)]
    assert {c.heading for c in made} == {()}


def test_fixed_windows_know_the_page_they_begin_on_and_their_least_confidence():
    made = document_windows(BLOCKS, chosen("fixed", 20))
    assert [(c.page, c.confidence) for c in made] == [(1, 1.0), (2, 0.6), (3, 1.0), (3, 1.0)]


def test_sliding_windows_repeat_so_many_characters():
    made = [c.text for c in document_windows([Block("一二三四五六七八九十")], chosen("sliding", 6, overlap=2))]
    assert made == ["一二三四五六", "五六七八九十"]


def test_sliding_windows_may_end_at_sentences():
    text = "一二三四。五六七八。九十一二。"
    assert [c.text for c in document_windows([Block(text)], chosen("sliding", 7, snap=3))] == [text[:5], text[5:10], text[10:]]


def test_windows_are_chosen_by_the_splitter_and_ask_for_no_embedding():
    for name in ("fixed", "sliding"):
        assert chunk_blocks(BLOCKS, chosen(name, 20), lambda texts: 1 / 0) == document_windows(BLOCKS, chosen(name, 20))


def test_nothing_makes_no_window():
    assert document_windows([], chosen("fixed", 20)) == document_windows([Block(" \n")], chosen("fixed", 20)) == []


@settings(max_examples=150, deadline=None)
@given(st.lists(st.builds(Block, st.text(alphabet="叶土。，a1 \n", max_size=80), st.just("paragraph"), st.none(),
                          st.sampled_from([(), ("一",), ("一", "甲")])), max_size=5), st.integers(1, 40), st.integers(0, 45))
def test_windows_end_and_lose_no_word(blocks, window, overlap):
    words = re.sub(r"\s", "", "".join(block.text for block in blocks))
    for splitter in ("fixed", "sliding"):
        made = document_windows(blocks, chosen(splitter, window, overlap))
        joined = iter("".join(c.text for c in made))
        assert all(word in joined for word in words)
        assert all(len(c.text) <= window for c in made)
