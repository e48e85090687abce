"""Files become part of the knowledge base: each one whole or not at all."""

import hashlib
import os
import threading

import numpy as np
import pytest

from nongda.documents.chunk import CHUNKER_VERSION
from nongda.errors import StoreError
from nongda.index import prepare as prepare_module
from nongda.index.ingest import Ingester, check_writer, written_by
from nongda.index.prepare import Preparer
from nongda.index.store import Store
from nongda.intake import FileReport, Progress
from nongda.settings import ChunkSettings

RUST = ("# 咖啡锈病\n\n## 症状\n\n叶背出现橙黄色粉末，严重时落叶。病斑初为浅黄色小点，以后扩大。\n\n"
        "## 防治\n\n发病初期喷0.5%波尔多液，每隔15天喷一次，连喷3次。每畝用藥液３０公斤。\n")
BEETLE = "# 天牛\n\n成虫五月出现，在树干上产卵。剪除虫枝，集中烧毁。\n"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "农技 资料"
    path.mkdir()
    return path


@pytest.fixture
def ingester(fresh_store, lexicon, embedder):
    return Ingester(Preparer(fresh_store, lexicon, embedder, embedder, ChunkSettings()))


def write(folder, name: str, content: str | bytes):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def reports(events) -> list[FileReport]:
    return [event for event in events if isinstance(event, FileReport)]


def long_document(sentences: int, word: str = "咖啡") -> str:
    return f"# {word}\n\n" + "".join(f"第{i}次{word}管理要看天气再定，不可一概而论。" for i in range(sentences)) + "\n"


# adding

def test_adding_stores_the_document_with_its_own_words_and_what_search_sees(ingester, fresh_store, folder):
    path = write(folder, "锈病.md", RUST)
    (report,) = reports(ingester.add([path]))
    doc_id = hashlib.sha256(RUST.encode()).hexdigest()[:8]
    assert (report.status, report.doc_id, report.index, report.total) == ("added", doc_id, 1, 1)
    chunks = fresh_store.chunks_of(doc_id)
    assert report.chunks == len(chunks) > 0
    assert report.characters == sum(len(c.text) for c in chunks) == fresh_store.documents()[0].characters
    assert [c.id for c in chunks] == [f"{doc_id}#{i}" for i in range(len(chunks))]
    text, search_text = ("".join(part) for part in zip(*((c.text, c.search_text) for c in chunks), strict=True))
    assert "每畝用藥液３０公斤" in text
    assert "每亩用药液30kg" in search_text
    assert "咖啡叶锈病" in search_text  # the title's 锈病 under its standard name
    assert fresh_store.documents()[0].source == "锈病.md"
    assert list(fresh_store.originals())[0][1] == RUST.encode()
    assert "叶锈病" in dict(fresh_store.tokens())[chunks[0].id]


def test_stored_vectors_are_those_of_the_search_text(ingester, fresh_store, embedder, folder):
    list(ingester.add([write(folder, "锈病.md", RUST)]))
    _, ids, vectors = fresh_store.vectors(embedder.dimension)
    expected = embedder.embed_passages([fresh_store.chunk(chunk_id).search_text for chunk_id in ids])
    assert np.allclose(vectors, expected, atol=1e-6)


def test_the_store_records_what_wrote_it(ingester, fresh_store, embedder, folder):
    list(ingester.add([write(folder, "锈病.md", RUST)]))
    expected = {"embedder": "hash-embedder", "dimension": "64", "chunker": str(CHUNKER_VERSION)}
    assert written_by(embedder) == expected
    assert {k: v for k, v in fresh_store.meta().items() if k != "revision"} == expected


def test_the_same_file_has_the_same_ids_on_every_machine(lexicon, embedder, tmp_path, folder):
    path, seen = write(folder, "长.md", long_document(60)), []
    for name in ("一", "二 号"):
        store = Store(tmp_path / name)
        list(Ingester(Preparer(store, lexicon, embedder, embedder, ChunkSettings())).add([path]))
        seen.append([(c.id, c.text) for c in store.chunks_of(store.documents()[0].id)])
        store.close()
    assert seen[0] == seen[1]
    assert len(seen[0]) > 1


def test_the_id_does_not_depend_on_the_name_or_on_what_is_there_already(ingester, folder):
    content = long_document(3)
    added = reports(ingester.add([write(folder, "一.md", BEETLE), write(folder, "二.md", content)]))
    assert added[1].doc_id == hashlib.sha256(content.encode()).hexdigest()[:8]


# already there

def test_the_same_bytes_are_skipped_under_any_name(ingester, fresh_store, folder):
    list(ingester.add([write(folder, "锈病.md", RUST)]))
    revision = fresh_store.revision()
    (report,) = reports(ingester.add([write(folder, "副本.md", RUST)]))
    assert (report.status, report.doc_id) == ("skipped", fresh_store.documents()[0].id)
    assert "没有变化" in report.message
    assert fresh_store.revision() == revision


@pytest.mark.parametrize(("name", "content"), [
    ("gbk.txt", BEETLE.replace("# ", "").encode("gb18030")),
    ("bom.txt", b"\xef\xbb\xbf" + BEETLE.replace("# ", "").encode()),
    ("utf16.txt", BEETLE.replace("# ", "").encode("utf-16")),
    ("crlf.txt", BEETLE.replace("# ", "").replace("\n", "\r\n").encode()),
])
def test_the_same_text_in_another_encoding_is_skipped(ingester, fresh_store, folder, name, content):
    list(ingester.add([write(folder, "天牛.txt", BEETLE.replace("# ", ""))]))
    (report,) = reports(ingester.add([write(folder, name, content)]))
    assert (report.status, report.doc_id) == ("skipped", fresh_store.documents()[0].id)
    assert report.doc_id in report.message
    assert len(fresh_store.documents()) == 1


def test_a_file_given_twice_is_added_once(ingester, fresh_store, folder):
    path = write(folder, "锈病.md", RUST)
    assert [r.status for r in reports(ingester.add([path, path]))] == ["added", "skipped"]
    assert len(fresh_store.documents()) == 1


def test_a_removed_document_can_be_added_again_under_its_old_id(ingester, fresh_store, folder):
    path = write(folder, "锈病.md", RUST)
    (first,) = reports(ingester.add([path]))
    fresh_store.remove(first.doc_id)
    (second,) = reports(ingester.add([path]))
    assert (second.status, second.doc_id, second.chunks) == ("added", first.doc_id, first.chunks)


# bad files

def test_bad_files_are_reported_each_with_a_sentence_and_do_not_stop_the_rest(ingester, fresh_store, folder):
    paths = [
        write(folder, "空.md", b""), write(folder, "图.jpg", b"\xff\xd8"), folder, folder / "没有.md",
        write(folder, "坏.pdf", b"%PDF-1.4 broken"), write(folder, "无字.md", "？？\n\n——\n"), write(folder, "好.md", RUST),
    ]
    found = reports(ingester.add(paths))
    assert [r.status for r in found] == ["failed"] * 6 + ["added"]
    assert [(r.index, r.total, r.path) for r in found] == [(i, 7, str(p)) for i, p in enumerate(paths, start=1)]
    for report in found[:6]:
        assert report.message
        assert "\n" not in report.message
        assert "Traceback" not in report.message
    assert [d.source for d in fresh_store.documents()] == ["好.md"]


def test_two_files_with_the_same_id_are_told_apart_and_the_rest_is_added(ingester, fresh_store, folder, monkeypatch):
    monkeypatch.setattr(prepare_module, "document_id", lambda data: "0badcafe" if b"\xe5\xa4\xa9" in data else "00000001")
    paths = [write(folder, "一.md", BEETLE), write(folder, "二.md", RUST + "今天。\n"), write(folder, "三.md", "# 水稻\n\n稻田要晒田。\n")]
    found = reports(ingester.add(paths))
    assert [r.status for r in found] == ["added", "failed", "added"]
    assert "0badcafe" in found[1].message
    assert [d.source for d in fresh_store.documents()] == ["一.md", "三.md"]


def test_a_second_program_that_was_faster_is_no_failure_of_the_run(ingester, fresh_store, folder, monkeypatch):
    path, other = write(folder, "锈病.md", RUST), write(folder, "天牛.md", BEETLE)
    list(ingester.add([path]))
    real, calls = fresh_store.find_duplicate, []

    def not_yet_there(*hashes):
        calls.append(hashes)
        return None if len(calls) <= 2 else real(*hashes)

    monkeypatch.setattr(fresh_store, "find_duplicate", not_yet_there)
    found = reports(ingester.add([path, other]))
    assert [(r.status, r.doc_id) for r in found] == [("skipped", fresh_store.documents()[0].id), ("added", found[1].doc_id)]
    assert "已在知识库中，另一个程序刚刚添加了它" in found[0].message


def test_an_edition_that_a_second_program_adds_meanwhile_takes_its_place_too(ingester, fresh_store, folder):
    texts = {year: f"# {year}年咖啡锈病防治要点\n\n" + f"叶背出现橙黄色粉末时喷0.5%波尔多液，{year}年起每隔15天喷一次。\n" * 3
             for year in (2023, 2024, 2025)}
    paths = [write(folder, f"{year}.md", text) for year, text in texts.items()]
    (new,) = reports(_meanwhile(ingester, paths[1], [paths[0], paths[2]]))
    old, newest = (next(d for d in fresh_store.documents() if d.source == f"{year}.md") for year in (2023, 2025))
    own = fresh_store.document(new.doc_id)
    assert (old.state, old.superseded_by) == ("superseded", newest.id)
    assert (own.state, own.superseded_by) == ("superseded", newest.id)
    assert (newest.state, newest.warnings) == ("active", ())
    assert any("已有较新的一版" in warning for warning in new.warnings)


def _meanwhile(ingester, path, others):
    """Add a file; while it is being embedded, a second program adds others."""
    events = ingester.add([path])
    yield next(events)
    list(Ingester(ingester.preparer).add(others))
    yield from events


def test_a_full_disk_ends_the_run_and_keeps_what_was_added(ingester, fresh_store, folder):
    paths = [write(folder, "一.md", BEETLE), write(folder, "二.md", long_document(3000)), write(folder, "三.md", RUST)]
    events = ingester.add(paths)
    assert next(e for e in events if isinstance(e, FileReport)).status == "added"
    pages = next(fresh_store._db.query("PRAGMA page_count"))["page_count"]
    next(fresh_store._db.query(f"PRAGMA max_page_count = {pages + 2}"))
    with pytest.raises(StoreError, match="磁盘已满"):
        list(events)
    assert [d.source for d in fresh_store.documents()] == ["一.md"]


# stopping and progress

def test_progress_counts_the_chunks_of_each_file(ingester, folder):
    paths = [write(folder, "一.md", BEETLE), write(folder, "二.md", long_document(800))]
    events = list(ingester.add(paths))
    progress = [e for e in events if isinstance(e, Progress) and e.index == 2]
    total = reports(events)[1].chunks
    assert [e.done for e in progress] == list(range(0, total, 16))
    assert len(progress) > 1
    assert {(e.total, e.files, e.path) for e in progress} == {(total, 2, str(paths[1]))}
    assert [type(e).__name__ for e in events[:2]] == ["Progress", "FileReport"]


def test_stopping_before_a_file_adds_no_more(ingester, fresh_store, folder):
    stop, paths = threading.Event(), [write(folder, "一.md", BEETLE), write(folder, "二.md", RUST)]
    for event in ingester.add(paths, stop):
        if isinstance(event, FileReport):
            stop.set()
    assert [d.source for d in fresh_store.documents()] == ["一.md"]


def test_stopping_inside_a_file_leaves_it_out_whole(ingester, fresh_store, folder):
    stop, seen = threading.Event(), []
    for event in ingester.add([write(folder, "长.md", long_document(800))], stop):
        seen.append(event)
        stop.set()
    assert len(seen) == 1
    assert fresh_store.documents() == []
    assert fresh_store.tokens() == []


def test_an_event_that_is_set_already_adds_nothing(ingester, fresh_store, folder):
    stop = threading.Event()
    stop.set()
    assert list(ingester.add([write(folder, "一.md", BEETLE)], stop)) == []
    assert fresh_store.documents() == []


# who wrote the store

@pytest.mark.parametrize(("key", "word"), [("embedder", "向量模型"), ("dimension", "向量维数"), ("chunker", "分段规则")])
def test_another_writer_is_named_with_the_command_that_helps(ingester, fresh_store, embedder, folder, key, word):
    check_writer(fresh_store, embedder)
    fresh_store.set_note(key, "另一个")
    path = write(folder, "一.md", BEETLE)
    with pytest.raises(StoreError) as caught:
        list(ingester.add([path]))
    message = str(caught.value)
    assert all(part in message for part in (word, "另一个", written_by(embedder)[key], "rebuild", str(fresh_store.folder)))
    assert fresh_store.documents() == []


def test_the_same_writer_passes(ingester, fresh_store, embedder, folder):
    list(ingester.add([write(folder, "一.md", BEETLE)]))
    check_writer(fresh_store, embedder)




@pytest.mark.skipif(os.name == "nt", reason="names on Windows are Unicode")
def test_a_name_in_an_unknown_encoding_does_not_end_the_run(ingester, fresh_store, tmp_path):
    names = [os.fsdecode("玉米.txt".encode("gbk")), "换\n行.txt"]
    for number, name in enumerate(names):
        (tmp_path / name).write_text(f"玉米每亩施尿素{number + 20}公斤。", encoding="utf-8")
    reports = [e for e in ingester.add([tmp_path / name for name in names]) if isinstance(e, FileReport)]
    assert [r.status for r in reports] == ["added", "added"]
    assert [d.source for d in fresh_store.documents()] == ["□□□□.txt", "换□行.txt"]
