"""A knowledge base made anew: ids lead on, states and descriptions stay, nothing is half replaced."""

import json
import os

import pytest
from test_ingest import BEETLE, RUST, long_document, reports, write
from test_store import DIMENSION, WRITER, ids, new_document, state

from nongda.documents.chunk import CHUNKER_VERSION
from nongda.errors import DocumentError, StoreError
from nongda.index import prepare as prepare_module
from nongda.index.id_map import ID_MAP_NAME, read_id_map
from nongda.index.ingest import Ingester, check_writer
from nongda.index.prepare import Preparer
from nongda.index.rebuilding import rebuild, take_over, work_folder
from nongda.index.store import Store
from nongda.settings import ChunkSettings


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "农技 资料"
    path.mkdir()
    return path


@pytest.fixture
def ingester(fresh_store, lexicon, embedder):
    return Ingester(Preparer(fresh_store, lexicon, embedder, embedder, ChunkSettings()))


@pytest.fixture
def rebuild_with(fresh_store, lexicon, embedder, tmp_path):
    """Rebuild the store with other chunk settings, as the engine does; returns the events."""

    def run(settings: ChunkSettings, name: str = "重建") -> list:
        fresh = Store(tmp_path / name)
        try:
            events = list(rebuild(fresh_store, Preparer(fresh, lexicon, embedder, embedder, settings)))
        finally:
            fresh.close()
        take_over(fresh_store, fresh)
        return events

    return run


SMALLER = ChunkSettings(min_length=60, max_length=150)


def test_after_a_rebuild_with_other_chunks_old_ids_resolve_to_their_text(ingester, fresh_store, folder, rebuild_with):
    list(ingester.add([write(folder, "长.md", long_document(120)), write(folder, "天牛.md", BEETLE)]))
    old = {c.id: c.text for d in fresh_store.documents() for c in fresh_store.chunks_of(d.id)}
    ids = [d.id for d in fresh_store.documents()]
    events = rebuild_with(SMALLER)
    assert [(e.index, e.total, e.status) for e in reports(events)] == [(1, 2, "added"), (2, 2, "added")]
    assert [d.id for d in fresh_store.documents()] == ids
    new = {c.id: c.text for d in fresh_store.documents() for c in fresh_store.chunks_of(d.id)}
    assert len(new) > len(old)
    (entry,) = read_id_map(fresh_store.folder)
    moved = dict(entry["map"])
    assert set(moved) == {chunk_id for chunk_id, text in old.items() if new.get(chunk_id) != text}
    assert all(new[target] in old[chunk_id] for chunk_id, target in moved.items())
    assert json.loads((fresh_store.folder / ID_MAP_NAME).read_text(encoding="utf-8"))[0]["to"]["chunker"] == str(CHUNKER_VERSION)


def test_a_rebuild_with_the_same_settings_moves_nothing_and_writes_no_map(ingester, fresh_store, folder, rebuild_with):
    list(ingester.add([write(folder, "锈病.md", RUST)]))
    before = fresh_store.chunks_of(fresh_store.documents()[0].id)
    rebuild_with(ChunkSettings())
    assert fresh_store.chunks_of(fresh_store.documents()[0].id) == before
    assert not (fresh_store.folder / ID_MAP_NAME).exists()


def test_two_rebuilds_lead_an_old_id_there_and_back(ingester, fresh_store, folder, rebuild_with):
    list(ingester.add([write(folder, "长.md", long_document(120))]))
    doc_id = fresh_store.documents()[0].id
    old = fresh_store.chunks_of(doc_id)
    rebuild_with(SMALLER, "一")
    rebuild_with(ChunkSettings(), "二")
    assert fresh_store.chunks_of(doc_id) == old
    for chunk in old:
        chunk_id = chunk.id
        for entry in read_id_map(fresh_store.folder):
            chunk_id = dict(entry["map"]).get(chunk_id, chunk_id)
        assert chunk_id == chunk.id


def test_a_rebuild_keeps_bytes_names_and_metadata(ingester, fresh_store, folder, rebuild_with):
    content = "---\ntitle: 叶锈病\nregion: 云南\ndate: 2024-05-01\n---\n\n" + long_document(40)
    list(ingester.add([write(folder, "带 空格.md", content)]))
    before = fresh_store.documents()[0]
    rebuild_with(SMALLER)
    after = fresh_store.documents()[0]
    assert (after.id, after.source, after.meta, after.pages) == (before.id, before.source, before.meta, before.pages)
    assert after.meta.region == "云南"
    assert list(fresh_store.originals())[0][1] == content.encode()


def test_a_document_that_can_no_longer_be_read_stops_the_rebuild_and_nothing_is_lost(
        ingester, fresh_store, folder, lexicon, embedder, tmp_path, monkeypatch):
    list(ingester.add([write(folder, "一.md", BEETLE), write(folder, "二.md", RUST)]))
    before = fresh_store.documents()

    def refuse(data, name, reader):
        raise DocumentError(f"{name} 已损坏：请换一份")

    monkeypatch.setattr(prepare_module, "reading", refuse)
    fresh = Store(tmp_path / "新")
    with pytest.raises(DocumentError, match=r"重建已停止.*一\.md.*已损坏"):
        list(rebuild(fresh_store, Preparer(fresh, lexicon, embedder, embedder, SMALLER)))
    fresh.close()
    assert fresh_store.documents() == before
    assert not (fresh_store.folder / ID_MAP_NAME).exists()


def test_a_store_of_another_embedder_is_rebuilt_with_this_one(ingester, fresh_store, folder, embedder, rebuild_with):
    list(ingester.add([write(folder, "一.md", BEETLE)]))
    fresh_store.set_note("embedder", "bge-small-zh-v1.5")
    rebuild_with(ChunkSettings())
    check_writer(fresh_store, embedder)
    assert fresh_store.meta()["embedder"] == embedder.name


# taking over

@pytest.fixture
def rebuilt(tmp_path):
    """A closed store of documents 1 and 2 with other chunks, as a rebuild makes it."""
    store = Store(tmp_path / "重建 中")
    for number in (1, 2):
        store.add(new_document(number, 5), {**WRITER, "chunker": "2"})
    store.close()
    return store


def test_replacing_takes_over_documents_chunks_and_writer_and_keeps_notes(fresh_store, rebuilt):
    for number in (1, 2):
        fresh_store.add(new_document(number), WRITER)
    fresh_store.set_note("offered", "[1]")
    before = fresh_store.revision()
    take_over(fresh_store, rebuilt)
    assert [d.chunks for d in fresh_store.documents()] == [5, 5]
    assert len(fresh_store.tokens()) == len(fresh_store.vectors(DIMENSION)[0]) == 10
    assert fresh_store.meta()["chunker"] == "2"
    assert fresh_store.meta()["offered"] == "[1]"
    assert fresh_store.revision() > before
    assert [data for _, data in fresh_store.originals()] == [new_document(n).data for n in (1, 2)]
    fresh_store.add(new_document(3), WRITER)
    assert len(ids(fresh_store)) == 3


def test_a_second_program_goes_on_with_the_replaced_content(fresh_store, rebuilt):
    for number in (1, 2):
        fresh_store.add(new_document(number), WRITER)
    other = Store(fresh_store.folder)
    take_over(fresh_store, rebuilt)
    assert [d.chunks for d in other.documents()] == [5, 5]
    other.add(new_document(3), WRITER)
    other.close()
    fresh_store.close()
    again = Store(fresh_store.folder)
    assert ids(again) == ["00000001", "00000002", "00000003"]
    again.close()


@pytest.mark.parametrize("numbers", [(1, 2, 3), (1,)])
def test_documents_that_came_or_went_meanwhile_stop_the_replacing(fresh_store, rebuilt, numbers):
    for number in numbers:
        fresh_store.add(new_document(number), WRITER)
    before = state(fresh_store)
    with pytest.raises(StoreError, match="再运行一次 rebuild"):
        take_over(fresh_store, rebuilt)
    assert state(fresh_store) == before


def test_a_full_disk_while_replacing_leaves_everything_as_it_was(fresh_store, tmp_path):
    fresh_store.add(new_document(1), WRITER)
    larger = Store(tmp_path / "大")
    larger.add(new_document(1, data=bytes(500_000)), WRITER)
    larger.close()
    before = state(fresh_store)
    pages = next(fresh_store._db.query("PRAGMA page_count"))["page_count"]
    next(fresh_store._db.query(f"PRAGMA max_page_count = {pages + 2}"))
    with pytest.raises(StoreError, match="磁盘已满"):
        take_over(fresh_store, larger)
    assert state(fresh_store) == before


def test_what_rebuilds_left_that_were_cut_short_is_deleted_but_not_one_that_runs(tmp_path):
    left, young, old, other = (tmp_path / name for name in ("rebuild-left", "rebuild-young", "rebuild-old", "报表"))
    for path in (left, young, old, other):
        path.mkdir()
        (path / "new").write_bytes(b"half")
    (left / "lock").write_bytes(b"")
    os.utime(old, (0, 0))
    with work_folder(tmp_path) as running:
        (running / "new").write_bytes(b"half")
        with work_folder(tmp_path) as second:
            assert {p.name for p in tmp_path.iterdir()} == {running.name, second.name, "rebuild-young", "报表"}
    assert {p.name for p in tmp_path.iterdir()} == {"rebuild-young", "报表"}
