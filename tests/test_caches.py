"""Indexes that are kept up to date hold what indexes made anew would hold."""

import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nongda.errors import StoreError
from nongda.index import caches as caches_module
from nongda.index.caches import Caches
from nongda.index.graph import FILE_NAME as GRAPH_NAME
from nongda.index.lexical import LexicalIndex
from nongda.index.reword import keep_own_words, passage, search_tokens
from nongda.index.rows import NewDocument, StoredChunk
from nongda.index.store import Store
from nongda.index.subject_cache import FILE_NAME
from nongda.index.subjects import Subjects
from nongda.language.own_words import OwnWord
from nongda.records import Chunk, DocumentMeta
from nongda.settings import SearchSettings

SETTINGS = SearchSettings(exact_below=1000)
TEXTS = (
    ("小粒种咖啡叶锈病", ("叶背有橙黄色粉末。小麦不得这种病。", "发病初期喷波尔多液，三唑酮也可以。")),
    ("稻瘟病", ("水稻叶瘟的病斑为梭形。稻田里先查。", "马铃薯地里的晚疫病另说。", "| 药剂 | 用量 |\n|---|---|\n| 三唑酮 | 30 克 |")),
    ("", ("苞谷地里有蚜虫。", "修剪以后采收。")),
    ("咖啡天牛", ("成虫在树干上产卵。", "剪除虫枝。", "洋芋和苞谷不受害。")),
    ("尿素", ("每亩 10 公斤。",)),
    ("只有标题", ()),
)
QUESTIONS = ("叶锈病 波尔多液", "水稻 稻瘟病 蚜虫", "采收 修剪 尿素", "没有的词")


def document(lexicon, embedder, number: int, title: str | None = None) -> NewDocument:
    """Document `number` of TEXTS with vectors and tokens as the ingester makes them."""
    written_title, texts = TEXTS[number]
    title, doc_id = title or written_title, f"{number:08x}"
    passages = [passage(title, ("一、概况",), text) for text in texts]
    seen = [lexicon.canonical(p) for p in passages]
    chunks = [Chunk(f"{doc_id}#{n}", doc_id, n, text, seen[n], "table" if text.startswith("|") else "paragraph", None,
                    ("一、概况",)) for n, text in enumerate(texts)]
    vectors = embedder.embed_passages(seen) if seen else []
    stored = tuple(StoredChunk(c, search_tokens(p, c.search_text, lexicon), v)
                   for c, p, v in zip(chunks, passages, vectors, strict=True))
    return NewDocument(doc_id, f"{number}", f"text {number}", f"{number}.md", DocumentMeta(title=title), None, 9, (),
                       f"2026-01-0{number + 1}", b"x", stored)


@pytest.fixture
def put(lexicon, embedder, fresh_store):
    def add(*numbers: int) -> None:
        for number in numbers:
            fresh_store.add(document(lexicon, embedder, number), {})
    return add


@pytest.fixture
def reads(monkeypatch):
    """Which documents were read from their text, by title; the reading itself stays what it is."""
    titles, real = [], caches_module.read_document

    def read(title, chunks, lexicon):
        titles.append(title)
        return real(title, chunks, lexicon)

    monkeypatch.setattr(caches_module, "read_document", read)
    return titles


def caches_of(store, lexicon, **changes) -> Caches:
    return Caches(lexicon, replace(SETTINGS, **changes), store.folder)


def at(caches, store):
    return caches.at(store.rows, store.active(), 64)


def assert_as_made_anew(indexed, store, lexicon, embedder):
    documents = store.active()
    chunks = [c for d in documents for c in store.chunks_of(d.id)]
    fresh = LexicalIndex(store.tokens(), SETTINGS.bm25_k1, SETTINGS.bm25_b)
    assert len(indexed.lexical) == len(indexed.vectors) == len(fresh)
    for question in QUESTIONS:
        assert indexed.lexical.search(question.split(), 5) == fresh.search(question.split(), 5)
        assert all(indexed.lexical.rarity(word) == fresh.rarity(word) for word in question.split())
    keys, ids, vectors = store.vectors(64)
    query = embedder.embed_queries(["水稻叶锈病"])[0]
    hits = indexed.vectors.search(query, 20)
    scores = dict(zip(ids, vectors @ query, strict=True))
    assert {h.chunk_id: h.score for h in hits} == pytest.approx(scores, abs=1e-6)
    assert vars(indexed.subjects) == vars(Subjects.of(chunks, documents, lexicon))


STEPS = st.lists(st.tuples(st.sampled_from(["add", "retire", "restore", "remove", "look", "start"]), st.integers(0, 5)),
                 max_size=14)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_after_any_changes_the_indexes_are_those_made_anew(tmp_path_factory, lexicon, embedder, steps):
    store = Store(tmp_path_factory.mktemp("资料"))
    try:
        caches = caches_of(store, lexicon)
        for what, number in steps:
            doc_id = f"{number:08x}"
            there = store.document(doc_id)
            if what == "add" and there is None:
                store.add(document(lexicon, embedder, number), {})
            elif what in ("retire", "restore") and there is not None:
                store.set_state(doc_id, "retired" if what == "retire" else "active")
            elif what == "remove" and there is not None:
                store.remove(doc_id, forget=True)
            elif what == "look":
                at(caches, store)
            elif what == "start":
                caches = caches_of(store, lexicon)
        assert_as_made_anew(at(caches, store), store, lexicon, embedder)
    finally:
        store.close()


def test_only_what_is_new_is_read_from_the_store(fresh_store, lexicon, put):
    caches = caches_of(fresh_store, lexicon)
    put(0, 1, 2)
    at(caches, fresh_store)
    put(3)
    asked = []

    def rows(sql, parameters):
        asked.append((sql, parameters))
        return fresh_store.rows(sql, parameters)

    caches.at(rows, fresh_store.active(), 64)
    assert [list(parameters) for sql, parameters in asked if "vector" in sql] == [["00000003"]]


def test_an_index_of_before_goes_on_answering(fresh_store, lexicon, embedder, put):
    caches = caches_of(fresh_store, lexicon)
    put(0, 1)
    before = at(caches, fresh_store)
    put(3)
    fresh_store.set_state("00000000", "retired")
    at(caches, fresh_store)
    assert before.lexical.search(["天牛"], 5) == []
    assert [h.chunk_id for h in before.lexical.search(["波尔多液"], 5)] == ["00000000#1"]
    assert len(before.vectors.search(embedder.embed_queries(["水稻"])[0], 20)) == 5
    assert before.subjects.speaks_of("波尔多液") and not before.subjects.speaks_of("天牛")


def test_a_new_title_is_seen(fresh_store, lexicon, embedder, put):
    caches = caches_of(fresh_store, lexicon)
    put(0, 2)
    assert at(caches, fresh_store).subjects.main_crops("00000002") == ("玉米",)
    with fresh_store.write() as db:
        db.table("documents").update("00000002", {"title": "水稻田"})
    assert_as_made_anew(at(caches, fresh_store), fresh_store, lexicon, embedder)
    assert at(caches, fresh_store).subjects.main_crops("00000002") == ("水稻",)


def test_after_a_rebuild_other_texts_under_the_same_keys_are_seen(fresh_store, lexicon, embedder, put):
    caches = caches_of(fresh_store, lexicon)
    put(0)
    at(caches, fresh_store)
    changed = replace(document(lexicon, embedder, 3), id="00000000", added_at="2026-01-01")
    chunks = tuple(replace(c, chunk=replace(c.chunk, id=f"00000000#{n}", doc_id="00000000")) for n, c in enumerate(changed.chunks))
    fresh_store.remove("00000000", forget=True)
    fresh_store.add(replace(changed, chunks=chunks[:2], meta=DocumentMeta(title=TEXTS[0][0])), {})
    fresh_store.set_note("rebuilt", "2")
    found = at(caches, fresh_store)
    assert found.subjects.speaks_of("天牛") is False and not found.subjects.speaks_of("波尔多液")
    assert_as_made_anew(found, fresh_store, lexicon, embedder)


def test_own_words_are_seen_and_only_documents_that_write_them_are_read_anew(fresh_store, lexicon, embedder, put, reads):
    caches = caches_of(fresh_store, lexicon)
    put(0, 1, 2, 3)
    at(caches, fresh_store)
    assert len(reads) == 4
    reads.clear()
    words = [OwnWord("虫枝", "天牛", "pest")]
    richer = lexicon.with_own(words)
    keep_own_words(fresh_store, words, richer, embedder.embed_passages)
    caches.take_over(richer)
    assert_as_made_anew(at(caches, fresh_store), fresh_store, richer, embedder)
    assert reads == ["咖啡天牛"]
    keep_own_words(fresh_store, [], lexicon, embedder.embed_passages)
    caches.take_over(lexicon)
    assert_as_made_anew(at(caches, fresh_store), fresh_store, lexicon, embedder)
    assert reads == ["咖啡天牛"] * 2


# what is kept in the folder

def test_the_next_start_reads_no_text_again(fresh_store, lexicon, embedder, put, reads):
    put(0, 1, 2, 3, 4, 5)
    at(caches_of(fresh_store, lexicon), fresh_store)
    assert len(reads) == 6
    reads.clear()
    assert_as_made_anew(at(caches_of(fresh_store, lexicon), fresh_store), fresh_store, lexicon, embedder)
    assert reads == []


def test_the_next_start_after_own_words_reads_only_what_writes_them(fresh_store, lexicon, embedder, put, reads):
    put(0, 1, 3)
    at(caches_of(fresh_store, lexicon), fresh_store)
    reads.clear()
    words = [OwnWord("梭形斑", "稻瘟病", "disease"), OwnWord("虫枝", "天牛", "pest")]
    richer = lexicon.with_own(words)
    keep_own_words(fresh_store, words, richer, embedder.embed_passages)
    for _ in range(2):
        caches = caches_of(fresh_store, lexicon)
        caches.take_over(richer)
        assert_as_made_anew(at(caches, fresh_store), fresh_store, richer, embedder)
        assert reads == ["咖啡天牛"]


def test_an_own_name_that_changes_nothing_that_search_sees_is_known_at_the_next_start(fresh_store, lexicon, embedder, put, reads):
    put(0, 1, 3)
    at(caches_of(fresh_store, lexicon), fresh_store)
    reads.clear()
    words = [OwnWord("虫枝", "虫枝", "pest")]
    richer = lexicon.with_own(words)
    keep_own_words(fresh_store, words, richer, embedder.embed_passages)
    caches = caches_of(fresh_store, lexicon)
    caches.take_over(richer)
    assert at(caches, fresh_store).subjects.speaks_of("虫枝")
    assert reads == ["咖啡天牛"]


def test_other_shipped_words_read_everything_anew(fresh_store, lexicon, units, put, reads):
    put(0, 1)
    at(caches_of(fresh_store, lexicon), fresh_store)
    reads.clear()
    other = type(lexicon)({"水稻": "crop"}, {}, units)
    assert at(caches_of(fresh_store, other), fresh_store).subjects.crops() == ["水稻"]
    assert len(reads) == 2


def test_nothing_is_kept_of_documents_that_are_gone(fresh_store, lexicon, put):
    put(0, 1)
    caches = caches_of(fresh_store, lexicon)
    at(caches, fresh_store)
    fresh_store.remove("00000000")
    at(caches, fresh_store)
    with sqlite3.connect(fresh_store.folder / FILE_NAME) as connection:
        assert connection.execute("SELECT id FROM subjects").fetchall() == [("00000001",)]
    connection.close()


def damage_content(path):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE subjects SET content = '[1, 2]' WHERE id = '00000000'")
        connection.execute("UPDATE subjects SET content = '[[],{\"咖啡\":[[77,2,[]]]},{},[],{},{}]' WHERE id = '00000001'")
    connection.close()


@pytest.mark.parametrize("damage", [
    lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"no database" * 400),
    lambda path: path.write_bytes(path.read_bytes()[:5000]), damage_content, lambda path: path.unlink(),
    lambda path: (path.unlink(), path.mkdir()),
])
def test_a_damaged_file_costs_only_reading_again(fresh_store, lexicon, embedder, put, damage):
    put(0, 1)
    at(caches_of(fresh_store, lexicon), fresh_store)
    damage(fresh_store.folder / FILE_NAME)
    for _ in range(2):
        assert_as_made_anew(at(caches_of(fresh_store, lexicon), fresh_store), fresh_store, lexicon, embedder)


def test_a_damaged_file_is_good_again_for_the_next_start(fresh_store, lexicon, put, reads):
    put(0, 1)
    (fresh_store.folder / FILE_NAME).write_bytes(b"no database" * 400)
    for _ in range(2):
        at(caches_of(fresh_store, lexicon), fresh_store)
    assert len(reads) == 2


# vectors

def test_vectors_of_another_model_are_refused_in_words(fresh_store, lexicon, put):
    put(0)
    with pytest.raises(StoreError, match="维数.*rebuild"):
        caches_of(fresh_store, lexicon).at(fresh_store.rows, fresh_store.active(), 32)


def test_the_graph_is_built_beside_the_answers_and_serves_the_next_start(fresh_store, lexicon, embedder, put):
    put(0, 1, 2)
    caches = caches_of(fresh_store, lexicon, exact_below=3)
    found = at(caches, fresh_store)
    caches.close()  # waits for the thread, which has begun
    built = (fresh_store.folder / GRAPH_NAME).exists()
    query = embedder.embed_queries(["水稻"])[0]
    assert len(found.vectors.search(query, 10)) == 7
    again = caches_of(fresh_store, lexicon, exact_below=3)
    first = at(again, fresh_store)
    assert first.vectors.exact is not built
    again._builder and again._builder.join()
    assert not first.vectors.exact
    put(3)
    second = at(again, fresh_store)
    assert not second.vectors.exact and len(second.vectors.search(query, 20)) == 10
    again.close()


LEAVE_WHILE_BUILDING = """
import sys
from pathlib import Path
import numpy as np
from nongda.index.caches import Caches
from nongda.index.vectors import VectorIndex
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units
from nongda.settings import SearchSettings
caches = Caches(Lexicon({}, {}, Units({})), SearchSettings(exact_below=1), Path(sys.argv[1]))
vectors = np.random.default_rng(0).normal(size=(30000, 64)).astype(np.float32)
keys = np.arange(30000)
caches._use_graph(VectorIndex.of(["x"] * 30000, keys, vectors), keys, vectors)
"""


def test_a_program_that_ends_while_a_graph_is_built_ends_well(tmp_path):
    run = subprocess.run([sys.executable, "-c", LEAVE_WHILE_BUILDING, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert not (tmp_path / GRAPH_NAME).exists()


# several at once

def test_threads_that_ask_while_documents_come_see_whole_revisions(fresh_store, lexicon, put):
    caches, wrong = caches_of(fresh_store, lexicon), []
    put(0)
    done = threading.Event()

    def look():
        while not done.is_set():
            documents = fresh_store.active()
            found = caches.at(fresh_store.rows, documents, 64)
            if len(found.lexical) != len(found.vectors) or len(found.lexical) != sum(d.chunks for d in documents):
                wrong.append(documents)

    threads = [threading.Thread(target=look) for _ in range(16)]
    for thread in threads:
        thread.start()
    put(1, 2, 3, 4)
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_second_process_sees_what_the_first_adds_and_both_keep_their_file(fresh_store, lexicon, embedder, put):
    second = Store(fresh_store.folder)
    try:
        mine, its = caches_of(fresh_store, lexicon), caches_of(second, lexicon)
        for number in (0, 1, 2):
            put(number)
            assert_as_made_anew(at(mine, fresh_store), fresh_store, lexicon, embedder)
            assert_as_made_anew(at(its, second), second, lexicon, embedder)
    finally:
        second.close()


def test_vectors_are_in_memory_once(fresh_store, lexicon, put):
    caches = caches_of(fresh_store, lexicon)
    put(0, 1)
    at(caches, fresh_store)
    put(2)
    at(caches, fresh_store)
    bases = {id(piece.vectors.base) for piece in caches._pieces.values()}
    assert len(bases) == 1
    assert sum(piece.vectors.size for piece in caches._pieces.values()) == next(
        piece.vectors.base.size for piece in caches._pieces.values() if isinstance(piece.vectors.base, np.ndarray))
