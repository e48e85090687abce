"""Old ids lead to where their text is now."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.errors import StoreError
from nongda.index.id_map import ID_MAP_NAME, moved_ids, read_id_map, write_id_map

OLD = {"d#0": "叶背出现橙黄色粉末，严重时落叶。", "d#1": "发病初期喷波尔多液，连喷三次。", "d#2": "采收后修剪病枝，集中烧毁处理。"}


@pytest.mark.parametrize(("new", "moved"), [
    (OLD, {}),
    ({"d#0": OLD["d#0"] + OLD["d#1"], "d#1": OLD["d#2"]}, {"d#0": "d#0", "d#1": "d#0", "d#2": "d#1"}),
    ({"d#0": OLD["d#1"], "d#1": OLD["d#0"], "d#2": OLD["d#2"]}, {"d#0": "d#1", "d#1": "d#0"}),
    ({"d#0": OLD["d#0"], "d#1": OLD["d#1"] + "\n" + OLD["d#2"]}, {"d#1": "d#1", "d#2": "d#1"}),
    ({f"d#{i}": t for i, t in enumerate([OLD["d#0"][:3], OLD["d#0"][3:], OLD["d#1"], OLD["d#2"]])},
     {"d#0": "d#1", "d#1": "d#2", "d#2": "d#3"}),
    ({}, {}),
    ({"d#0": OLD["d#0"], "d#1": OLD["d#2"]}, {"d#2": "d#1"}),  # the text of d#1 is nowhere any more
])
def test_an_old_id_leads_to_where_most_of_its_text_is_now(new, moved):
    assert moved_ids(OLD, new) == moved


def test_a_short_text_is_found_inside_a_longer_one():
    assert moved_ids({"d#0": "前言", "d#1": "慎用。"}, {"d#0": "别的内容在这里。", "d#1": "前言很长，慎用。说完了。"}) == {
        "d#0": "d#1", "d#1": "d#1"}


def test_line_breaks_do_not_matter_to_where_text_went():
    assert moved_ids({"d#0": "喷波尔多液\n连喷三次才有效"}, {"d#0": "采收", "d#1": "喷波尔多液 连喷三次才有效"}) == {"d#0": "d#1"}


@settings(deadline=None)
@given(st.permutations(range(6)))
def test_reordered_texts_are_followed_exactly(order):
    texts = [f"第{n}段说的是第{n}件事情，与其他各段都不相同。" for n in range(6)]
    old = {f"d#{i}": text for i, text in enumerate(texts)}
    new = {f"d#{place}": texts[n] for place, n in enumerate(order)}
    assert moved_ids(old, new) == {f"d#{n}": f"d#{place}" for place, n in enumerate(order) if n != place}


# the map file

def test_the_map_file_keeps_every_rebuild_oldest_first(tmp_path):
    assert read_id_map(tmp_path) == []
    write_id_map(tmp_path, {"map": {"a#1": "a#0"}})
    write_id_map(tmp_path, {"map": {"a#0": "a#2"}})
    assert [entry["map"] for entry in read_id_map(tmp_path)] == [{"a#1": "a#0"}, {"a#0": "a#2"}]
    assert [path.name for path in tmp_path.iterdir()] == [ID_MAP_NAME]


def test_a_rebuild_that_was_cut_short_and_run_again_counts_once(tmp_path):
    for time in ("08:00", "09:00"):
        write_id_map(tmp_path, {"rebuilt_at": time, "map": {"a#2": "a#1", "a#1": "a#0"}})
    assert [entry["rebuilt_at"] for entry in read_id_map(tmp_path)] == ["09:00"]


@pytest.mark.parametrize("content", ["{", "[1]", "3", '[{"from": {}}]', '[{"map": 3}]', "null"])
def test_a_damaged_map_file_is_named(tmp_path, content):
    (tmp_path / ID_MAP_NAME).write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match=r"id_map\.json 已损坏"):
        read_id_map(tmp_path)
