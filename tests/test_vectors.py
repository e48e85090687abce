"""Dense search against brute force; the HNSW file is used only where it is right."""

import json
import os
import shutil
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_only import read_only_folder

from nongda.index import vectors as vectors_module
from nongda.index.vectors import FILE_NAME, VectorIndex

DIMENSION = 32


def unit_vectors(count: int, dimension: int = DIMENSION, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ids_of(count: int) -> list[str]:
    return [f"00000000#{i}" for i in range(count)]


def build(folder, rows, exact_below=1, **options) -> VectorIndex:
    return VectorIndex(folder, ids_of(len(rows)), range(10, 10 + len(rows)), rows, exact_below, **options)


def brute_force(rows, query, k) -> list[str]:
    scores = rows.astype(np.float64) @ query.astype(np.float64)
    return [f"00000000#{i}" for i in sorted(range(len(rows)), key=lambda i: (-scores[i], f"00000000#{i}"))[:k]]


def found(index, query, k) -> list[str]:
    return [hit.chunk_id for hit in index.search(query, k)]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "农技 资料" / "索引"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def builds(monkeypatch):
    """Count how often a graph is built; the building itself stays what it is."""
    counted, real = [], vectors_module._build

    def build_and_count(*arguments):
        counted.append(1)
        return real(*arguments)

    monkeypatch.setattr(vectors_module, "_build", build_and_count)
    return counted


# search

@settings(deadline=None)
@given(st.integers(0, 40), st.integers(0, 50), st.integers(0, 1000))
def test_exact_search_equals_brute_force(count, k, seed):
    rows, query = unit_vectors(count, 8, seed), unit_vectors(1, 8, seed + 1)[0]
    index = build(None, rows, exact_below=1000)
    assert index.exact
    assert len(index) == count
    assert found(index, query, k) == brute_force(rows, query, k)


def test_scores_are_cosines():
    rows = np.array([[1, 0], [0.6, 0.8], [-1, 0]], dtype=np.float32)
    hits = build(None, rows, exact_below=10).search(np.array([1, 0], dtype=np.float32), 3)
    assert [(h.chunk_id, round(h.score, 6)) for h in hits] == [("00000000#0", 1.0), ("00000000#1", 0.6), ("00000000#2", -1.0)]


def test_equal_scores_are_in_the_order_of_ids():
    rows = np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (3, 1))
    index = VectorIndex(None, ["b#0", "a#1", "a#0"], [1, 2, 3], rows, 10)
    assert found(index, rows[0], 3) == ["a#0", "a#1", "b#0"]


def test_hnsw_finds_what_the_exact_search_finds(folder):
    rows, queries = unit_vectors(3000), unit_vectors(50, seed=1)
    graph = build(folder, rows)
    assert not graph.exact
    shared = sum(len(set(found(graph, q, 10)) & set(brute_force(rows, q, 10))) for q in queries)
    assert shared / (50 * 10) >= 0.95


def test_hnsw_scores_are_the_cosines_of_the_stored_vectors(folder):
    rows = unit_vectors(200)
    for hit in build(folder, rows).search(rows[7], 5):
        assert hit.score == pytest.approx(float(rows[int(hit.chunk_id.split("#")[1])] @ rows[7]), abs=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("exact_below", [1, 100])
def test_ten_neighbours_of_one_to_three_vectors_are_all_there_are(folder, caplog, count, exact_below):
    rows = unit_vectors(count)
    index = build(folder, rows, exact_below)
    assert index.exact is (exact_below == 100)
    assert found(index, rows[0], 10) == brute_force(rows, rows[0], 10)
    assert caplog.records == []  # no more is asked of the graph than it holds


def test_no_vectors_are_searched_without_an_error(folder):
    empty = VectorIndex(folder, [], [], np.zeros((0, DIMENSION), dtype=np.float32), 1)
    assert empty.exact
    assert empty.search(unit_vectors(1)[0], 10) == []
    assert not (folder / FILE_NAME).exists()


def test_all_vectors_can_be_asked_for(folder):
    rows = unit_vectors(300)
    assert sorted(found(build(folder, rows), rows[0], 300)) == sorted(ids_of(300))


def test_the_same_vector_many_times_is_searched(folder):
    rows = np.tile(unit_vectors(1), (500, 1))
    hits = build(folder, rows).search(rows[0], 20)
    assert len(hits) == 20
    assert all(hit.score == pytest.approx(1.0, abs=1e-5) for hit in hits)


def test_a_graph_that_does_not_reach_all_vectors_is_replaced_by_the_exact_search(folder):
    rows = np.tile(unit_vectors(1), (3000, 1))  # so few links that parts of the graph are cut off
    assert len(build(folder, rows, m=2, ef_construction=4).search(rows[0], 3000)) == 3000


def test_several_threads_search_at_once(folder):
    rows = unit_vectors(1000)
    index, wrong = build(folder, rows), []

    def search(seed):
        for k in (1, 5, 80, 3):
            for row in range(seed, 1000, 50):
                if found(index, rows[row], k)[0] != f"00000000#{row}":
                    wrong.append(row)

    threads = [threading.Thread(target=search, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(("count", "exact"), [(99, True), (100, False), (101, False)])
def test_the_search_is_exact_below_the_setting(folder, count, exact):
    assert build(folder, unit_vectors(count), exact_below=100).exact is exact


# the cache

def test_a_right_file_is_loaded_and_not_written_again(folder, builds):
    rows = unit_vectors(300)
    first = build(folder, rows)
    before = {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()}
    assert sorted(before) == [FILE_NAME, FILE_NAME + ".json"]
    second = build(folder, rows)
    assert {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()} == before
    assert len(builds) == 1
    assert [found(first, q, 10) for q in rows[:20]] == [found(second, q, 10) for q in rows[:20]]


def flip_a_bit(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGES = {
    "truncated": lambda f: os.truncate(f / FILE_NAME, (f / FILE_NAME).stat().st_size // 2),
    "one byte short": lambda f: os.truncate(f / FILE_NAME, (f / FILE_NAME).stat().st_size - 1),
    "empty": lambda f: (f / FILE_NAME).write_bytes(b""),
    "bit flipped": lambda f: flip_a_bit(f / FILE_NAME),
    "missing": lambda f: (f / FILE_NAME).unlink(),
    "a folder": lambda f: ((f / FILE_NAME).unlink(), (f / FILE_NAME).mkdir()),
    "another dimension": lambda f: copy_graph_of(f, unit_vectors(300, 16)),
    "another count": lambda f: copy_graph_of(f, unit_vectors(299)),
    "note missing": lambda f: (f / (FILE_NAME + ".json")).unlink(),
    "note empty": lambda f: (f / (FILE_NAME + ".json")).write_text(""),
    "note of other keys": lambda f: (f / (FILE_NAME + ".json")).write_text('{"a": 1}'),
    "note a list": lambda f: (f / (FILE_NAME + ".json")).write_text("[1]"),
    "note no text": lambda f: (f / (FILE_NAME + ".json")).write_bytes(b"\xff\xfe\x00"),
}


def copy_graph_of(folder, rows):
    other = folder.parent / "另一个"
    other.mkdir()
    build(other, rows)
    shutil.copy(other / FILE_NAME, folder / FILE_NAME)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_built_anew_and_never_read(folder, builds, damage):
    rows = unit_vectors(300)
    build(folder, rows)
    DAMAGES[damage](folder)
    builds.clear()
    index = build(folder, rows)
    assert len(builds) == 1
    assert found(index, rows[3], 10) == brute_force(rows, rows[3], 10)


@pytest.mark.parametrize("damage", [d for d in DAMAGES if d != "a folder"])
def test_a_file_built_anew_is_good_for_the_next_start(folder, builds, damage):
    rows = unit_vectors(50)
    build(folder, rows)
    DAMAGES[damage](folder)
    build(folder, rows)
    builds.clear()
    build(folder, rows)
    assert builds == []


def changed_vector(rows):
    changed = rows.copy()
    changed[5] = -changed[5]
    return changed


@pytest.mark.parametrize("change", ["vector", "key", "count", "m", "ef_construction"])
def test_a_file_of_other_vectors_keys_or_settings_is_not_used(folder, builds, change):
    rows = unit_vectors(100)
    build(folder, rows)
    builds.clear()
    if change == "vector":
        build(folder, changed_vector(rows))
    elif change == "key":
        VectorIndex(folder, ids_of(100), range(11, 111), rows, 1)
    elif change == "count":
        build(folder, rows[:99])
    else:
        build(folder, rows, **{change: 16})
    assert len(builds) == 1


def test_a_stopped_save_leaves_the_old_file_or_a_rebuild(folder, builds, monkeypatch):
    rows = unit_vectors(100)
    build(folder, rows)
    with monkeypatch.context() as patch:
        calls = []

        def stop_at_the_second(source, target):
            calls.append(target)
            if len(calls) == 2:
                raise OSError("power cut")
            return real(source, target)

        real = os.replace
        patch.setattr(vectors_module.os, "replace", stop_at_the_second)
        build(folder, changed_vector(rows))
        assert len(calls) == 2
    builds.clear()
    index = build(folder, changed_vector(rows))
    assert len(builds) == 1
    assert found(index, rows[9], 5) == brute_force(changed_vector(rows), rows[9], 5)


def test_without_a_folder_the_graph_stays_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = unit_vectors(100)
    assert found(build(None, rows), rows[0], 5) == brute_force(rows, rows[0], 5)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_works_in_memory(tmp_path):
    rows = unit_vectors(100)
    assert found(build(tmp_path / "没有", rows), rows[0], 5) == brute_force(rows, rows[0], 5)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_read_only_folder_works_in_memory():
    rows = unit_vectors(100)
    with read_only_folder(lambda folder: None) as folder:
        index = build(folder, rows)
        assert not index.exact
        assert found(index, rows[0], 5) == brute_force(rows, rows[0], 5)
        assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_read_only_folder_with_a_right_file_is_used_as_it_is(builds):
    rows = unit_vectors(100)
    with read_only_folder(lambda folder: build(folder, rows)) as folder:
        builds.clear()
        assert found(build(folder, rows), rows[0], 5) == brute_force(rows, rows[0], 5)
        assert builds == []


def test_the_note_says_what_the_file_holds(folder):
    build(folder, unit_vectors(20), m=8, ef_construction=40)
    note = json.loads((folder / (FILE_NAME + ".json")).read_text(encoding="utf-8"))
    assert (note["count"], note["dimension"], note["m"], note["ef_construction"]) == (20, DIMENSION, 8, 40)
    assert len(note["sha256"]) == len(note["fingerprint"]) == 64
