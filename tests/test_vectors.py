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

from nongda.index import graph as graph_module
from nongda.index import vectors as vectors_module
from nongda.index.graph import FILE_NAME, Graph, build_graph, load_graph, marks_of
from nongda.index.vectors import VectorIndex

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
    counted, real = [], vectors_module.build_graph

    def build_and_count(*arguments):
        counted.append(1)
        return real(*arguments)

    monkeypatch.setattr(vectors_module, "build_graph", build_and_count)
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


@pytest.mark.parametrize("setting", ["m", "ef_construction"])
def test_a_file_of_other_settings_is_not_used(folder, builds, setting):
    rows = unit_vectors(100)
    build(folder, rows)
    builds.clear()
    build(folder, rows, **{setting: 16})
    assert len(builds) == 1


@pytest.mark.parametrize("change", ["vector", "key", "fewer", "more"])
def test_a_file_of_yesterday_serves_what_is_still_the_same_and_the_rest_is_compared(folder, builds, change):
    rows = unit_vectors(100)
    build(folder, rows, exact_below=60)
    builds.clear()
    keys = list(range(10, 110))
    if change == "vector":
        rows = changed_vector(rows)
    elif change == "key":
        keys[7] = 500
    elif change == "fewer":
        rows, keys = rows[20:], keys[20:]
    else:
        rows, keys = np.concatenate([rows, unit_vectors(30, seed=9)]), [*keys, *range(200, 230)]
    index = VectorIndex(folder, ids_of(len(rows)), keys, rows, 60)
    assert builds == [] and not index.exact
    assert all(found(index, row, 8) == brute_force(rows, row, 8) for row in rows)


def test_a_graph_that_lacks_too_much_is_built_anew(folder, builds):
    rows = unit_vectors(130)
    build(folder, rows[:60], exact_below=60)
    builds.clear()
    build(folder, rows[:119], exact_below=60)
    assert builds == []
    build(folder, rows[:120], exact_below=60)
    assert builds == [1]


def test_a_graph_mostly_of_vectors_that_are_gone_is_built_anew(folder, builds):
    rows = unit_vectors(130)
    build(folder, rows, exact_below=60)
    builds.clear()
    build(folder, rows[66:], exact_below=60)
    assert builds == [1]


# the graph by itself

def graph_of(rows) -> Graph:
    graph = build_graph(np.arange(10, 10 + len(rows)), rows, 16, 64)
    assert graph is not None
    return graph


def test_a_mark_tells_vectors_apart():
    rows = np.concatenate([unit_vectors(2000, 8), np.zeros((1, 8), np.float32), np.eye(8, dtype=np.float32)])
    assert len(set(marks_of(rows).tolist())) == len(rows)
    assert (marks_of(rows[700:1900]) == marks_of(rows)[700:1900]).all()


def test_of_a_graph_only_what_it_shall_show_is_found_and_it_can_be_shown_again():
    rows = unit_vectors(200)
    graph = graph_of(rows)
    graph.show(np.arange(10, 30))  # 90% are gone
    assert sorted(graph.nearest(rows[150], 50) or []) == list(range(10, 30))
    graph.show(np.arange(0))
    assert graph.nearest(rows[0], 10) == []
    graph.show(np.arange(10, 210))
    assert (graph.nearest(rows[150], 1) or []) == [160]


def test_an_index_compares_all_until_it_is_given_a_graph():
    rows = unit_vectors(300)
    index = VectorIndex.of(ids_of(300), np.arange(10, 310), rows)
    assert index.exact and index.unknown_to(graph_of(rows[:200])) == 100
    index.use(graph_of(rows[:200]))
    assert not index.exact
    assert all(found(index, row, 5) == brute_force(rows, row, 5) for row in rows[::7])


def test_an_older_index_never_finds_what_a_newer_one_put_in_the_shared_graph():
    rows = unit_vectors(300)
    graph = graph_of(rows)
    older, newer = (VectorIndex.of(ids_of(n), np.arange(10, 10 + n), rows[:n]) for n in (200, 300))
    older.use(graph)
    newer.use(graph)
    assert set(found(older, rows[250], 150)) <= set(ids_of(200))
    assert found(newer, rows[250], 1) == ["00000000#250"]


def test_a_stopped_build_makes_no_graph():
    assert build_graph(np.arange(5), unit_vectors(5), 16, 64, stopped=lambda: True) is None


def test_a_note_of_other_lengths_is_refused(folder):
    graph_of(unit_vectors(50)).save(folder, 16, 64)
    assert load_graph(folder, DIMENSION, 16, 64) is not None
    path = folder / (FILE_NAME + ".json")
    note = json.loads(path.read_text(encoding="utf-8"))
    for part in ({"marks": note["marks"][:-1]}, {"keys": [], "marks": [], "count": 0}, {"marks": [-1] * 50}):
        path.write_text(json.dumps(note | part), encoding="utf-8")
        assert load_graph(folder, DIMENSION, 16, 64) is None


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
        patch.setattr(graph_module.os, "replace", stop_at_the_second)
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
    assert len(note["sha256"]) == 64
    assert note["keys"] == list(range(10, 30)) and len(note["marks"]) == 20
