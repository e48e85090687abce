"""The store: what is confirmed stays, what fails leaves no trace, and every failure is one sentence."""

import dataclasses
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from read_only import read_only_folder

from nongda.errors import DocumentError, StoreError
from nongda.index import database as database_module
from nongda.index import store as store_module
from nongda.index.rows import NewDocument, StoredChunk
from nongda.index.store import FILE_NAME, Store
from nongda.records import Chunk, DocumentMeta, StoredDocument

DIMENSION = 4
WRITER = {"embedder": "hash-embedder", "dimension": str(DIMENSION), "chunker": "1"}
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


def vector_of(number: int) -> np.ndarray:
    vector = np.array([number + 1, 1, 0.5, 0.25], dtype=np.float32)
    return vector / np.linalg.norm(vector)


def chunk_of(doc_id: str, position: int, text: str = "叶背有黄粉") -> StoredChunk:
    chunk = Chunk(f"{doc_id}#{position}", doc_id, position, text, f"咖啡 {text}", "paragraph", 3, ("病害", "叶锈病"))
    return StoredChunk(chunk, ("咖啡", "叶锈病", "黄粉"), vector_of(position))


def new_document(number: int, count: int = 3, **changes) -> NewDocument:
    doc_id = f"{number:08x}"
    document = NewDocument(
        id=doc_id, sha256=f"s{number}", text_sha256=f"t{number}", source=f"资料 {number}.md",
        meta=DocumentMeta("咖啡叶锈病", "云南", "2024-05", "生长期", "省站", True, ("甲", "乙")), pages=2, characters=15,
        warnings=("第 2 页没有文字",), added_at=f"2025-01-01T00:00:{number:02d}+00:00", data=b"\x00bytes" + bytes([number % 256]),
        chunks=tuple(chunk_of(doc_id, position) for position in range(count)),
    )
    return dataclasses.replace(document, **changes)


def state(store: Store) -> tuple:
    """Everything a reader can see."""
    documents = store.documents()
    return (documents, [store.chunks_of(d.id) for d in documents], list(store.originals()), store.tokens(),
            store.meta(), store.revision(), store.vectors(DIMENSION)[2].tobytes())


def ids(store: Store) -> list[str]:
    return [document.id for document in store.documents()]


def raw(folder, *statements: str) -> None:
    connection = sqlite3.connect(folder / FILE_NAME)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


# reading back

def test_what_was_added_is_read_back_unchanged(fresh_store):
    document = new_document(7)
    fresh_store.add(document, WRITER)
    assert fresh_store.documents() == [StoredDocument("00000007", "资料 7.md", document.meta, 2, 15, 3, document.added_at,
                                                     warnings=document.warnings)]
    assert fresh_store.document("00000007") == fresh_store.documents()[0]
    assert fresh_store.chunks_of("00000007") == [c.chunk for c in document.chunks]
    assert fresh_store.chunk("00000007#1") == document.chunks[1].chunk
    assert list(fresh_store.originals()) == [(fresh_store.documents()[0], document.data)]
    assert fresh_store.tokens() == [(f"00000007#{i}", ["咖啡", "叶锈病", "黄粉"]) for i in range(3)]
    keys, chunk_ids, vectors = fresh_store.vectors(DIMENSION)
    assert (keys, chunk_ids) == ([1, 2, 3], ["00000007#0", "00000007#1", "00000007#2"])
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, np.stack([c.vector for c in document.chunks]))
    assert fresh_store.meta() == {**WRITER, "revision": "1"}


def test_it_is_all_there_after_opening_again(tmp_path):
    with_document = Store(tmp_path / "库")
    with_document.add(new_document(1), WRITER)
    before = state(with_document)
    with_document.close()
    again = Store(tmp_path / "库")
    assert state(again) == before
    again.close()


@settings(deadline=None, max_examples=30)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30), heading=st.lists(st.text(max_size=5), max_size=3))
def test_any_text_comes_back_as_it_was(tmp_path_factory, text, heading):
    store = Store(tmp_path_factory.mktemp("库"))
    chunk = dataclasses.replace(chunk_of("00000001", 0, text).chunk, heading=tuple(h.encode("utf-8", "replace").decode() for h in heading),
                                page=None, kind="table")
    store.add(new_document(1, 0, pages=None, chunks=(StoredChunk(chunk, (), vector_of(0)),)), WRITER)
    assert store.chunk("00000001#0") == chunk
    assert store.documents()[0].pages is None
    store.close()


def test_a_chunk_without_tokens_has_none(fresh_store):
    blank = dataclasses.replace(chunk_of("00000001", 0), tokens=())
    fresh_store.add(new_document(1, chunks=(blank,)), WRITER)
    assert fresh_store.tokens() == [("00000001#0", [])]


def test_an_empty_store_has_nothing(fresh_store):
    assert (fresh_store.documents(), fresh_store.tokens(), fresh_store.revision()) == ([], [], 0)
    assert fresh_store.document("00000001") is None
    assert fresh_store.chunk("00000001#0") is None
    assert fresh_store.chunks_of("00000001") == []
    keys, chunk_ids, vectors = fresh_store.vectors(DIMENSION)
    assert (keys, chunk_ids, vectors.shape, vectors.dtype) == ([], [], (0, DIMENSION), np.float32)


def test_documents_are_listed_oldest_first(fresh_store):
    for number in (3, 1, 2):
        fresh_store.add(new_document(number), WRITER)
    assert ids(fresh_store) == ["00000001", "00000002", "00000003"]


def test_a_duplicate_is_known_by_its_bytes_or_its_text(fresh_store):
    fresh_store.add(new_document(1), WRITER)
    assert fresh_store.find_duplicate("s1") == ("bytes", "00000001")
    assert fresh_store.find_duplicate("other", "t1") == ("text", "00000001")
    assert fresh_store.find_duplicate("other", "other") is None
    assert fresh_store.find_duplicate("") is None


@pytest.mark.parametrize("dimension", [DIMENSION - 1, DIMENSION + 1, 2 * DIMENSION])
def test_vectors_of_another_dimension_name_the_command_that_helps(fresh_store, dimension):
    fresh_store.add(new_document(1), WRITER)
    with pytest.raises(StoreError, match="rebuild"):
        fresh_store.vectors(dimension)


# changing

def test_the_revision_grows_with_every_change_of_the_documents(fresh_store):
    seen = [fresh_store.revision()]
    for change in (lambda: fresh_store.add(new_document(1), WRITER), lambda: fresh_store.add(new_document(2), WRITER),
                   lambda: fresh_store.remove("00000001")):
        change()
        seen.append(fresh_store.revision())
    assert seen == sorted(set(seen))
    fresh_store.set_note("offered", "[]")
    assert fresh_store.revision() == seen[-1]
    assert fresh_store.meta()["offered"] == "[]"


def test_removing_a_document_removes_its_chunks_and_leaves_the_others(fresh_store):
    fresh_store.add(new_document(1), WRITER)
    fresh_store.add(new_document(2), WRITER)
    assert fresh_store.remove("00000001").source == "资料 1.md"
    assert ids(fresh_store) == ["00000002"]
    assert [chunk_id for chunk_id, _ in fresh_store.tokens()] == [f"00000002#{i}" for i in range(3)]
    assert [d.id for d, _ in fresh_store.originals()] == ["00000002"]
    fresh_store.add(new_document(1), WRITER)
    assert len(fresh_store.chunks_of("00000001")) == 3


def test_removing_what_is_not_there_says_so_and_changes_nothing(fresh_store):
    fresh_store.add(new_document(1), WRITER)
    before = state(fresh_store)
    with pytest.raises(StoreError, match="ffffffff"):
        fresh_store.remove("ffffffff")
    assert state(fresh_store) == before


# one atomic write

BAD_DOCUMENTS = {
    "a chunk id twice": (new_document(2, chunks=(chunk_of("00000002", 0), chunk_of("00000002", 0))), StoreError),
    "a chunk id of another document": (new_document(2, chunks=(chunk_of("00000002", 0), chunk_of("00000001", 0))), StoreError),
    "the same bytes": (new_document(2, sha256="s1"), DocumentError),
    "the same text": (new_document(2, text_sha256="t1"), DocumentError),
    "an id that is taken": (new_document(2, id="00000001"), DocumentError),
}


@pytest.mark.parametrize("fault", BAD_DOCUMENTS)
def test_a_failure_in_the_middle_of_adding_leaves_everything_as_it_was(fresh_store, fault):
    fresh_store.add(new_document(1), WRITER)
    before = state(fresh_store)
    document, error = BAD_DOCUMENTS[fault]
    with pytest.raises(error) as caught:
        fresh_store.add(document, {**WRITER, "embedder": "another"})
    assert state(fresh_store) == before
    assert "：" in str(caught.value)
    assert "\n" not in str(caught.value)
    fresh_store.add(new_document(3), WRITER)
    assert ids(fresh_store) == ["00000001", "00000003"]


def test_a_full_disk_leaves_everything_as_it_was_and_says_so(fresh_store):
    fresh_store.add(new_document(1), WRITER)
    before = state(fresh_store)
    pages = next(fresh_store._db.query("PRAGMA page_count"))["page_count"]
    next(fresh_store._db.query(f"PRAGMA max_page_count = {pages + 2}"))
    with pytest.raises(StoreError, match="磁盘已满"):
        fresh_store.add(new_document(2, data=bytes(500_000)), WRITER)
    assert state(fresh_store) == before
    next(fresh_store._db.query("PRAGMA max_page_count = 100000"))
    fresh_store.add(new_document(2, data=bytes(500_000)), WRITER)
    assert ids(fresh_store) == ["00000001", "00000002"]


# two at once

def test_a_second_writer_waits_for_the_first(tmp_path):
    first, second = Store(tmp_path / "库"), Store(tmp_path / "库")
    held, finished = threading.Event(), []

    def hold():
        with first.write():
            held.set()
            time.sleep(0.5)
            finished.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(5)
    second.add(new_document(1), WRITER)
    finished.append("second")
    thread.join()
    assert finished == ["first", "second"]
    assert ids(first) == ids(second) == ["00000001"]
    first.close()
    second.close()


def test_a_writer_that_waited_too_long_is_told_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr(database_module, "_BUSY_SECONDS", 0.05)
    first, second = Store(tmp_path / "库"), Store(tmp_path / "库")
    with first.write(), pytest.raises(StoreError, match="正被另一个程序写入"):
        second.add(new_document(1), WRITER)
    second.add(new_document(1), WRITER)
    with first.write(), pytest.raises(StoreError, match="正被另一个程序写入"):
        Store(tmp_path / "库")
    first.close()
    second.close()


def test_threads_of_one_store_add_and_read_at_once(fresh_store):
    errors = []

    def work(number):
        try:
            fresh_store.add(new_document(number), WRITER)
            assert len(fresh_store.chunks_of(f"{number:08x}")) == 3
            fresh_store.vectors(DIMENSION)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(ids(fresh_store)) == 16
    assert fresh_store.revision() == 16


CHILD = (
    "import sys\nsys.path[:0] = [{root!r}, {tests!r}]\nfrom pathlib import Path\n"
    "from nongda.index.store import Store\nfrom test_store import WRITER, new_document\n"
    "store = Store(Path(sys.argv[1]))\n"
    "for number in range(int(sys.argv[2]), int(sys.argv[3])):\n"
    "    store.add(new_document(number, 20, data=bytes([number % 256]) * 20000, added_at=f'{{number:05d}}'), WRITER)\n"
    "    print(number, flush=True)\n"
)


def child(folder, start: int, end: int) -> subprocess.Popen:
    code = CHILD.format(root=str(ROOT), tests=str(ROOT / "tests"))
    return subprocess.Popen([sys.executable, "-X", "utf8", "-c", code, str(folder), str(start), str(end)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")


def test_three_programs_open_a_new_folder_and_add_at_once(tmp_path):
    folder = tmp_path / "知识 库"
    children = [child(folder, start, start + 8) for start in (0, 100, 200)]
    for process in children:
        _, problems = process.communicate(timeout=120)
        assert process.returncode == 0, problems
    store = Store(folder)
    assert len(ids(store)) == store.revision() == 24
    store.close()


def test_threads_that_find_a_new_folder_empty_prepare_it_once(tmp_path, monkeypatch):
    real, barrier, problems = store_module.open_database, threading.Barrier(4), []

    def open_all_first(path):
        opened = real(path)
        barrier.wait(20)
        return opened

    def open_and_add(folder, number):
        try:
            store = Store(folder)
            store.add(new_document(number), WRITER)
            store.close()
        except StoreError as error:
            problems.append(error)

    monkeypatch.setattr(store_module, "open_database", open_all_first)
    for attempt in range(5):
        threads = [threading.Thread(target=open_and_add, args=(tmp_path / f"库 {attempt}", n)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert problems == []


def test_a_full_disk_while_preparing_leaves_no_half_made_schema(tmp_path, monkeypatch):
    real = store_module.migrations.apply

    def fill_the_disk(db):
        real(db)
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store_module.migrations, "apply", fill_the_disk)
        with pytest.raises(StoreError, match="磁盘已满"):
            Store(tmp_path)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    connection.close()


@POSIX
def test_a_killed_program_loses_nothing_confirmed_and_leaves_nothing_half_written(tmp_path):
    folder, confirmed = tmp_path / "知识 库", []
    for kill in range(8):
        with child(folder, kill * 1000, kill * 1000 + 1000) as process:
            lines = [process.stdout.readline() for _ in range(2 + kill)]
            time.sleep(0.003 * kill)
            process.send_signal(signal.SIGKILL)
            rest, problems = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL, problems
        confirmed += [int(line) for line in [*lines, *rest.splitlines()]]

        store = Store(folder)
        stored = {int(doc_id, 16) for doc_id in ids(store)}
        assert set(confirmed) <= stored
        assert len(stored) - len(confirmed) <= kill + 1  # at most the write that was not yet reported, each time
        assert all(document.chunks == 20 for document in store.documents())
        assert all(len(data) == 20000 for _, data in store.originals())
        assert len(store.tokens()) == 20 * len(stored)
        assert store.revision() == len(stored)
        assert next(store._db.query("PRAGMA integrity_check"))["integrity_check"] == "ok"
        store.close()


# folders that cannot be used

def test_a_newer_schema_is_refused_in_words_and_left_alone(tmp_path):
    folder = tmp_path / "库"
    Store(folder).close()
    raw(folder, "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('nongda', 'm999_future', '2099')")
    before = (folder / FILE_NAME).read_bytes()
    with pytest.raises(StoreError, match="更新版本"):
        Store(folder)
    assert (folder / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"\x00" * 5000])
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path, content):
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(StoreError, match=r"corpus\.db 已损坏"):
        Store(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == content


def test_a_file_that_was_cut_off_is_named(tmp_path):
    store = Store(tmp_path)
    store.add(new_document(1, 50, data=bytes(50_000)), WRITER)
    store.close()
    content = (tmp_path / FILE_NAME).read_bytes()
    (tmp_path / FILE_NAME).write_bytes(content[: len(content) // 2])
    with pytest.raises(StoreError, match="损坏"):
        list(Store(tmp_path).originals())


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "资料").write_text("文件")
    with pytest.raises(StoreError, match="资料"):
        Store(tmp_path / "资料")


def test_a_folder_in_place_of_the_file_is_one_sentence(tmp_path):
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(StoreError, match="数据文件夹"):
        Store(tmp_path)


def test_an_empty_file_becomes_a_new_store(tmp_path):
    (tmp_path / FILE_NAME).touch()
    store = Store(tmp_path)
    store.add(new_document(1), WRITER)
    assert ids(store) == ["00000001"]
    store.close()


def fill(folder):
    store = Store(folder)
    store.add(new_document(1), WRITER)
    store.close()


@POSIX
def test_a_read_only_folder_opens_answers_and_refuses_changes(tmp_path):
    fresh = Store(tmp_path / "新")
    with read_only_folder(fill) as folder:
        store = Store(folder)
        assert store.read_only
        assert ids(store) == ["00000001"]
        assert len(store.vectors(DIMENSION)[1]) == 3
        for change in (lambda: store.add(new_document(2), WRITER), lambda: store.remove("00000001"),
                       lambda: store.set_note("a", "b")):
            with pytest.raises(StoreError, match="只读"):
                change()
        assert ids(store) == ["00000001"]
        store.close()
    fresh.close()


@POSIX
def test_a_read_only_folder_without_a_knowledge_base_is_one_sentence():
    with read_only_folder(lambda folder: None) as folder, pytest.raises(StoreError, match="数据文件夹"):
        Store(folder)


@POSIX
def test_an_unfinished_read_only_folder_says_what_to_do():
    with read_only_folder(lambda folder: (folder / FILE_NAME).touch()) as folder, pytest.raises(StoreError, match="旧版本且只读"):
        Store(folder)


def test_a_folder_that_can_be_written_is_not_read_only(fresh_store):
    assert not fresh_store.read_only


