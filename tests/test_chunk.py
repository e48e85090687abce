import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.documents.chunk import chunk_blocks
from nongda.intake import Block
from nongda.settings import ChunkSettings

SMALL = ChunkSettings(min_length=20, max_length=60, max_sentence=35, similarity_cut=0.5, window=50,
                      window_overlap=10, window_snap=8)
LEAF, SOIL = "叶背出现黄色粉末是叶锈病。", "红壤疏松的土地适合种咖啡。"  # 13 characters each


def by_topic(sentences):
    """Sentences about leaves are alike, and so are all others; a leaf and another are not."""
    return np.array([[1, 0] if "叶" in s else [0, 1] for s in sentences], dtype=np.float32)


def alike(sentences):
    return np.ones((len(sentences), 1), dtype=np.float32)


def unlike(sentences):
    return np.eye(len(sentences), dtype=np.float32)


def texts(blocks, embed=by_topic, settings=SMALL):
    return [chunk.text for chunk in chunk_blocks(blocks, settings, embed)]


def test_a_chunk_ends_where_the_topic_changes():
    assert texts([Block(LEAF * 2 + SOIL * 2)]) == [LEAF * 2, SOIL * 2]


def test_no_cut_comes_before_the_least_length():
    # after one sentence of 13 characters the topic changes, but the least length is 20
    assert texts([Block(LEAF + SOIL * 3)]) == [LEAF + SOIL * 3]
    assert texts([Block(LEAF + SOIL * 2 + LEAF * 2)]) == [LEAF + SOIL * 2, LEAF * 2]


def test_a_chunk_never_grows_over_the_greatest_length():
    assert texts([Block(LEAF * 10)], alike) == [LEAF * 4, LEAF * 4, LEAF * 2]


def test_a_short_tail_joins_its_predecessor_within_the_stretch():
    assert texts([Block(LEAF * 5)], alike) == [LEAF * 5]  # 52 + 13 = 65 <= 75
    assert texts([Block(LEAF * 2 + SOIL * 2 + LEAF)]) == [LEAF * 2, SOIL * 2 + LEAF]


def test_a_short_tail_that_would_stretch_too_far_stays_alone():
    long = "长" * 28 + "。"
    assert texts([Block(long + long + "短" * 18 + "。")], alike) == [long * 2, "短" * 18 + "。"]


def test_a_sentence_that_needs_its_predecessor_is_not_cut_from_it():
    assert texts([Block(LEAF * 2 + SOIL + "但土壤过湿不行，要排水。" + SOIL)]) == [
        LEAF * 2, SOIL + "但土壤过湿不行，要排水。" + SOIL]
    # 13 + 13 + 13 + 13 fill the chunk; the fourth moves on together with the sentence that needs it
    assert texts([Block(SOIL * 4 + "因此要先挖排水沟再定植。" + SOIL)], alike) == [
        SOIL * 3, SOIL + "因此要先挖排水沟再定植。" + SOIL]


def test_a_list_keeps_its_lead_in():
    blocks = [Block(LEAF * 2 + "整地的要点如下面几条："), Block("- 挖沟，沟深半米。\n- 施足腐熟的底肥。", "list")]
    assert texts(blocks) == [LEAF * 2, "整地的要点如下面几条：\n- 挖沟，沟深半米。\n- 施足腐熟的底肥。"]


def test_a_condition_and_a_dose_stay_with_what_they_belong_to():
    condition = "一旦在叶背见到黄粉时；应立即剪叶。"
    assert texts([Block(LEAF * 2 + SOIL + condition)]) == [LEAF * 2, SOIL + condition]
    dose = "红壤地里用石硫合剂清园。每亩喷药液60公斤。"
    assert texts([Block(LEAF * 2 + dose + SOIL)], unlike) == [LEAF * 2, dose + SOIL]


def test_steps_stay_together_and_part_before_a_step_where_they_are_too_many():
    steps = [f"{n}. 做法。把红壤翻松再施肥。" for n in range(1, 7)]  # 16 characters each; 40 may stand together
    made = texts([Block("\n".join(steps), "list")], unlike)
    assert made == ["\n".join(steps[:2]), "\n".join(steps[2:4]), "\n".join(steps[4:])]


def test_a_heading_that_is_a_line_of_the_text_stays_with_its_first_sentence():
    assert texts([Block(LEAF * 2), Block("土壤的要求"), Block(SOIL * 2)], unlike) == [LEAF * 2, "土壤的要求\n" + SOIL * 2]


def test_sections_are_never_mixed_when_each_is_long_enough():
    blocks = [Block(LEAF * 2, heading=("一",)), Block(LEAF * 2, heading=("二",))]
    chunks = chunk_blocks(blocks, SMALL, alike)
    assert [(c.text, c.heading) for c in chunks] == [(LEAF * 2, ("一",)), (LEAF * 2, ("二",))]


def test_a_short_section_joins_the_next_one_under_their_parent_with_both_headings():
    blocks = [Block(LEAF, heading=("病害", "症状"), page=2), Block(SOIL, heading=("病害", "条件"), page=3)]
    chunks = chunk_blocks(blocks, SMALL, unlike)
    assert [(c.text, c.heading, c.page) for c in chunks] == [(f"症状\n{LEAF}\n条件\n{SOIL}", ("病害",), 2)]


def test_short_sections_do_not_join_over_different_parents_or_beyond_the_greatest_length():
    blocks = [Block(LEAF, heading=("甲", "一")), Block(LEAF, heading=("乙", "一")), Block(LEAF * 4, heading=("乙", "二"))]
    assert texts(blocks, alike) == [LEAF, LEAF, LEAF * 4]


def test_the_notice_before_the_first_heading_stays_apart():
    blocks = [Block("本文为示例。"), Block(LEAF, heading=("一",)), Block(LEAF, heading=("二",))]
    assert texts(blocks) == ["本文为示例。", f"一\n{LEAF}\n二\n{LEAF}"]


def test_a_last_short_section_joins_backwards():
    blocks = [Block(LEAF[:8], heading=(name,)) for name in "一二三四"]
    piece = LEAF[:8]
    assert texts(blocks) == [f"一\n{piece}\n二\n{piece}", f"三\n{piece}\n四\n{piece}"]
    assert texts(blocks[:3]) == [f"一\n{piece}\n二\n{piece}\n三\n{piece}"]


def test_a_table_is_a_chunk_of_its_own_under_its_caption():
    table = "| 药剂 | 用量 |\n|---|---|\n| 甲 | 1% |"
    blocks = [Block(LEAF * 2, page=1), Block("表1 用量", page=1), Block(table, "table", page=2), Block(SOIL * 2, page=2)]
    chunks = chunk_blocks(blocks, SMALL, by_topic)
    assert [(c.kind, c.text, c.page) for c in chunks] == [
        ("paragraph", LEAF * 2, 1), ("table", "表1 用量\n" + table, 1), ("paragraph", SOIL * 2, 2)]


def test_a_long_table_is_sliced_with_caption_and_header_and_without_cutting_a_row():
    rows = [f"| 药剂{n} | {n}% |" for n in range(20)]
    chunks = texts([Block("见下表："), Block("\n".join(["| 药剂 | 用量 |", "|---|---|", *rows]), "table")])
    assert len(chunks) > 1
    assert all(c.startswith("见下表：\n| 药剂 | 用量 |\n|---|---|\n") and len(c) <= SMALL.max_length for c in chunks)
    assert [line for c in chunks for line in c.split("\n")[3:]] == rows


def test_a_table_up_to_twice_the_greatest_length_stays_whole():
    table = "| 药剂 | 用量 |\n|---|---|\n" + "\n".join(["| 甲 | 1% |"] * 8)
    assert 60 < len(table) <= 120 and texts([Block(table, "table")]) == [table]


def test_kind_and_page_are_those_of_the_first_sentence():
    blocks = [Block("- 甲。\n- 乙。", "list", page=4)]
    assert [(c.kind, c.page) for c in chunk_blocks(blocks, SMALL, by_topic)] == [("list", 4)]
    chunks = chunk_blocks([Block(LEAF * 2, page=1), Block(SOIL * 2, page=2)], SMALL, by_topic)
    assert [(c.text, c.page) for c in chunks] == [(LEAF * 2, 1), (SOIL * 2, 2)]


def test_all_sentences_of_a_document_are_embedded_in_one_call():
    calls = []

    def counting(sentences):
        calls.append(sentences)
        return by_topic(sentences)

    chunk_blocks([Block(LEAF * 4, heading=("一",)), Block(SOIL * 4, heading=("二",))], SMALL, counting)
    assert calls == [[LEAF] * 4 + [SOIL] * 4]


def test_short_sections_need_no_embedding():
    assert texts([Block(LEAF)], lambda _: pytest.fail("was called")) == [LEAF]


def test_nothing_makes_no_chunk():
    assert texts([]) == texts([Block(" \n")]) == texts([], None) == []


def test_overlap_repeats_the_last_sentences_that_fit():
    overlapping = ChunkSettings(min_length=20, max_length=60, max_sentence=35, similarity_cut=0.5, overlap=15)
    assert texts([Block(LEAF * 2 + SOIL * 2)], by_topic, overlapping) == [LEAF * 2, LEAF + SOIL * 2]


def test_windows_overlap_and_snap_to_sentences():
    # window 50 snaps to the end of the fourth sentence at 52; 52 - 10 = 42 snaps to the start at 39
    assert texts([Block(LEAF * 8)], None) == [LEAF * 4, LEAF * 4, LEAF * 2]


def test_windows_without_a_sentence_end_near_have_the_plain_length():
    assert texts([Block("长" * 35 + "。" + "短" * 34 + "。")], None, ChunkSettings(
        min_length=20, max_length=60, max_sentence=35, window=30, window_overlap=5, window_snap=2)) == [
        "长" * 30, "长" * 10 + "。" + "短" * 19, "短" * 20 + "。"]


HEADING = st.sampled_from([(), ("一",), ("二",), ("一", "甲"), ("一", "乙"), ("二", "丙")])
TEXT = st.text(alphabet="叶土壤咖啡。，：其但 ab1.\n；", max_size=200)
BLOCKS = st.lists(st.builds(Block, TEXT, st.sampled_from(["paragraph", "list"]), st.none(), HEADING), max_size=8)


def is_within(words, text):
    rest = iter(text)
    return all(character in rest for character in words)


@settings(max_examples=200, deadline=None)
@given(BLOCKS, st.sampled_from([by_topic, alike, unlike]))
def test_no_text_is_lost_or_doubled_and_lengths_are_kept(blocks, embed):
    chunks = chunk_blocks(blocks, SMALL, embed)
    joined = "".join("".join(c.text for c in chunks).split())
    words = "".join("".join(b.text for b in blocks).split())
    headings = sum(len(b.heading[-1]) for b in blocks if b.heading)
    assert is_within(words, joined) and len(joined) <= len(words) + headings
    assert all(len(c.text) <= 1.25 * SMALL.max_length and c.text.strip() for c in chunks)
    assert chunks == chunk_blocks(blocks, SMALL, embed)


@settings(max_examples=200, deadline=None)
@given(BLOCKS, st.integers(1, 60), st.integers(0, 70), st.integers(0, 20))
def test_windows_of_any_setting_end_and_lose_nothing(blocks, window, overlap, snap):
    chosen = ChunkSettings(min_length=20, max_length=60, max_sentence=35, window=window, window_overlap=overlap,
                           window_snap=snap)
    joined = "".join(c.text for c in chunk_blocks(blocks, chosen, None))
    assert is_within(re.sub(r"\s", "", "".join(b.text for b in blocks)), joined)
