"""Lengths of chunks follow how dense their text is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.documents.adaptive import Limits, counter, density, limits
from nongda.documents.chunk import chunk_blocks
from nongda.documents.sentences import units_of
from nongda.intake import Block
from nongda.language.units import Units
from nongda.settings import ChunkSettings

UNITS = Units({"克": "g", "公斤": "kg", "%": "%"})
SMALL = ChunkSettings(splitter="adaptive", min_length=20, max_length=60, max_sentence=35, similarity_cut=0.5,
                      thin_density=2.0, thin_length=90, dense_density=12.0, dense_length=30, dense_overlap=15)
THIN, DENSE = "红壤疏松的土地适合种咖啡。", "甲药3克乙药4克丙药5克。"  # 13 characters; 3 quantities and no name


def alike(sentences):
    return np.ones((len(sentences), 1), dtype=np.float32)


def chunks(text, chosen=SMALL, names=lambda text: 0):
    return [c.text for c in chunk_blocks([Block(text)], chosen, alike, counter(UNITS, names))]


def test_density_is_quantities_with_a_unit_and_names_per_100_characters():
    count = counter(UNITS, lambda text: text.count("药"))
    assert count("甲药3克，乙药50%，第3次。") == 4  # 3 g, 50 %, and two names; 3 alone has no unit
    assert density(4, 50) == 8.0
    assert density(0, 0) == 0.0


def test_thin_text_grows_long_without_overlap_and_dense_text_stays_short_with_it():
    assert limits(0.0, SMALL) == limits(2.0, SMALL) == Limits(30, 90, 0)  # a third of the greatest length, as 20 of 60
    assert limits(12.0, SMALL) == limits(99.0, SMALL) == Limits(10, 30, 15)
    assert limits(7.0, SMALL) == Limits(20, 60, 8)  # half way


def test_equal_densities_are_a_step():
    step = ChunkSettings(thin_density=5.0, dense_density=5.0, thin_length=300, dense_length=100, dense_overlap=50)
    assert limits(5.0, step).max_length == 300 and limits(5.1, step) == Limits(33, 100, 50)


@given(st.floats(0, 100), st.floats(0, 100))
def test_the_denser_the_shorter_and_the_more_overlap(one, other):
    thin, dense = limits(min(one, other), SMALL), limits(max(one, other), SMALL)
    assert thin.max_length >= dense.max_length and thin.overlap <= dense.overlap
    assert 0 <= dense.overlap <= SMALL.dense_overlap and SMALL.dense_length <= dense.max_length <= SMALL.thin_length
    assert 1 <= dense.min_length <= dense.max_length


def test_thin_text_makes_longer_chunks_than_dense_text_of_the_same_length():
    assert chunks(THIN * 6) == [THIN * 6]  # 78 of 90
    assert len(DENSE) == 13 and density(3, 13) > 12
    # two of 13 fit into 30, and 13 of the 15 that may be repeated are whole
    assert chunks(DENSE * 6) == [DENSE * 2, DENSE * 3, DENSE * 3]


def test_names_make_text_dense_too():
    assert chunks(THIN * 6, names=lambda text: 2) == [THIN * 2, THIN * 3, THIN * 3]


def test_without_a_count_all_text_is_thin():
    assert [c.text for c in chunk_blocks([Block(DENSE * 6)], SMALL, alike)] == [DENSE * 6]


def test_no_overlap_begins_with_a_sentence_that_needs_one_before_it():
    bound = "因此用3克甲药加5克乙药。"
    made = chunks(DENSE + bound + DENSE + bound)
    assert made == [DENSE + bound, DENSE + bound]  # the second would repeat “因此…”, which says nothing alone


TEXT = st.text(alphabet="叶土药剂3克5公斤。，：其但若则 \n；", max_size=150)
BLOCKS = st.lists(st.builds(Block, TEXT, st.sampled_from(["paragraph", "list"]), st.none(),
                            st.sampled_from([(), ("一",), ("一", "甲"), ("二",)])), max_size=6)


@settings(max_examples=150, deadline=None)
@given(BLOCKS, st.integers(0, 40))
def test_no_unit_is_cut_or_lost_and_only_whole_sentences_are_repeated(blocks, overlap):
    chosen = ChunkSettings(splitter="adaptive", min_length=20, max_length=60, max_sentence=35, similarity_cut=0.5,
                           thin_density=2.0, thin_length=90, dense_density=12.0, dense_length=30, dense_overlap=overlap)
    made = chunk_blocks(blocks, chosen, alike, counter(UNITS, lambda text: text.count("药")))
    units = [unit.text for block in blocks for unit in units_of([block], chosen.max_sentence)]
    rest = iter(made)
    here = next(rest, None)
    place = 0
    for unit in units:  # in order, each whole inside a chunk
        while here is not None and (found := here.text.find(unit, place)) < 0:
            here, place = next(rest, None), 0
        assert here is not None, unit
        place = found + len(unit)
    assert all(len(c.text) <= 1.25 * chosen.thin_length + overlap for c in made)


@pytest.mark.parametrize("name", ["adaptive", "semantic"])
def test_a_chunk_is_as_sure_as_the_least_sure_of_its_blocks(name):
    table = Block("| 药 | 量 |\n|---|---|\n| 甲 | 1 |", "table", confidence=0.5)
    blocks = [Block(THIN, confidence=0.9), Block(THIN, confidence=0.7), table]
    made = chunk_blocks(blocks, ChunkSettings(splitter=name), alike)
    assert [c.confidence for c in made] == [0.7, 0.5]
