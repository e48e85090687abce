"""A pack is added wholly or not at all, in any order, and undone: what it changed is as before."""

import itertools
import json
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

from nongda.errors import DocumentError, StoreError, UsageError
from nongda.index import life
from nongda.index import pack_apply as pack_apply_module
from nongda.index.ingest import Ingester
from nongda.index.pack_manifest import Retired
from nongda.index.pack_sign import make_key
from nongda.index.packs import Packs
from nongda.index.prepare import Preparer, Provenance
from nongda.index.reword import keep_own_words
from nongda.index.store import Store
from nongda.intake import FileReport
from nongda.language.own_words import OwnWord
from nongda.settings import ChunkSettings
from tests.conftest import ROOT


def notice(year: int) -> str:
    """Return one edition of a notice."""
    return (f"# 咖啡叶锈病防治通知（{year}年）\n\n发布日期：{year}-03-01\n\n"
            f"{year}年发病初期剪除病枝，集中烧毁，每{year % 9 + 5}天查一次园。\n")


class CountingEmbedder:
    """The embedder of the tests, counting what goes through it."""

    def __init__(self, inner) -> None:
        self._inner = inner
        self.name, self.dimension = inner.name, inner.dimension
        self.texts: list[str] = []

    def embed_passages(self, texts):
        self.texts += texts
        return self._inner.embed_passages(texts)


class Site:
    """A province or a station: a knowledge base with its packs."""

    def __init__(self, folder, lexicon, embedder) -> None:
        self.folder = folder
        self.store = Store(folder / "资料 库")
        self.lexicon = lexicon
        self.embedder = CountingEmbedder(embedder)
        self.packs = Packs(self.store, lexicon, self.preparer, folder / "assets")
        self.numbers = itertools.count()

    def preparer(self, lexicon=None) -> Preparer:
        return Preparer(self.store, lexicon or self.lexicon, self.embedder, None, ChunkSettings())

    def add(self, *texts: str, **provenance) -> list[str]:
        ids = []
        for text in texts:
            path = self.folder / f"文件{next(self.numbers)}.md"
            path.write_text(text, encoding="utf-8")
            ingester = Ingester(self.preparer(self.lexicon.with_own(self.store.own_words())))
            report = [e for e in ingester.add_file(path, Provenance(**provenance)) if isinstance(e, FileReport)][-1]
            assert report.doc_id, report.message
            ids.append(report.doc_id)
        return ids

    def words(self, *rows: OwnWord) -> None:
        keep_own_words(self.store, rows, self.lexicon.with_own(rows), self.embedder.embed_passages)

    def states(self) -> dict[str, tuple[str, str]]:
        return {d.id: (d.state, d.superseded_by) for d in self.store.documents()}

    def take(self, path):
        """Add a pack to its end."""
        steps = self.packs.add(self.packs.open(path))
        try:
            while True:
                next(steps)
        except StopIteration as end:
            return end.value

    def content(self) -> dict[str, list]:
        """Everything that undoing must bring back; ids of rows and the count of changes do not matter."""
        tables = {"documents": "SELECT * FROM documents WHERE state != 'removed' ORDER BY id",
                  "chunks": "SELECT id, text, search_text, search_sha, tokens, vector FROM chunks WHERE vector != x'' ORDER BY id",
                  "originals": "SELECT * FROM originals ORDER BY doc_id",
                  "pages": "SELECT * FROM pages ORDER BY doc_id, number",
                  "own_words": "SELECT alias, term, kind FROM own_words ORDER BY position", "packs": "SELECT * FROM packs"}
        return {name: self.store.rows(sql) for name, sql in tables.items()}


@pytest.fixture
def sites(tmp_path, lexicon, embedder):
    made = []

    def site(name: str) -> Site:
        (tmp_path / name).mkdir()
        made.append(Site(tmp_path / name, lexicon, embedder))
        if len(made) > 1:
            made[-1].packs.trust(tmp_path / "省站.pub")
        return made[-1]

    make_key(tmp_path / "省站")
    yield site
    for one in made:
        one.store.close()


@pytest.fixture
def province(sites):
    return sites("省")


@pytest.fixture
def station(province, sites):
    return sites("县")


@pytest.fixture
def make(province, tmp_path):
    """Make a pack of the province's knowledge base as it is now."""
    months = itertools.count(1)

    def run(**options):
        month = next(months)
        path = tmp_path / f"包{month}.ndpack"
        options.setdefault("made_at", f"2026-{month:02d}-01")
        province.packs.make(path, tmp_path / "省站.key", **options)
        return path

    return run


# adding

def test_a_packs_documents_have_the_same_ids_passages_and_vectors_and_nothing_is_embedded(province, station, make):
    ids = province.add(notice(2024), "# 天牛\n\n成虫五月出现，在树干上产卵。剪除虫枝。\n")
    path = make()
    result = station.take(path)
    assert sorted(one.document.id for one in result.plan.new) == sorted(ids)
    assert (result.embedded, station.embedder.texts) == (0, [])
    for table in ("chunks", "originals"):
        assert station.content()[table] == province.content()[table]
    assert {d.origin for d in station.store.documents()} == {"包1"}
    assert [(p.name, p.made_at, p.signer) for p in station.packs.added()] == [("包1", "2026-01-01T00:00:00+00:00", "省站")]


def test_texts_without_a_fitting_vector_are_embedded(province, station, make):
    province.add(notice(2024))
    path = make()
    station.embedder.name = "another"
    result = station.take(path)
    assert result.embedded == len(station.embedder.texts) == len(province.content()["chunks"]) > 0
    assert station.content()["chunks"] == province.content()["chunks"]


def test_a_vector_that_is_none_is_made_anew(province, station, make):
    doc_id, = province.add(notice(2024))
    right = province.content()["chunks"]
    with province.store.write() as db:
        db.execute("UPDATE chunks SET vector = ? WHERE doc_id = ?", [np.full(64, np.nan, "<f4").tobytes(), doc_id])
    assert station.take(make()).embedded == len(right)
    assert station.content()["chunks"] == right


def test_adding_twice_says_so_and_changes_nothing(province, station, make):
    province.add(notice(2024))
    path = make()
    station.take(path)
    before = station.content()
    assert station.take(path).plan.added_before
    assert station.content() == before


def test_what_the_station_has_already_stays_its_own(province, station, make):
    doc_id, = province.add(notice(2024))
    assert station.add(notice(2024)) == [doc_id]
    before = station.content()
    result = station.take(make())
    assert (result.plan.there, result.plan.new) == ((doc_id,), ())
    after = station.content()
    assert {**after, "packs": []} == before
    station.packs.undo()
    assert station.content() == before


def test_the_same_text_in_another_file_is_there_already(province, station, make):
    province.add(notice(2024))
    own, = station.add("\n" + notice(2024))
    assert own not in province.states()
    assert station.take(make()).plan.there == (own,)
    assert list(station.states()) == [own]


def test_descriptions_that_the_province_changed_come_with_the_document(province, station, make):
    doc_id, = province.add(notice(2024), edits={"region": "云南", "valid_until": "2027-12-31", "tags": "咖啡，锈病"})
    station.take(make())
    meta = station.store.document(doc_id).meta
    assert (meta.region, meta.valid_until, meta.tags) == ("云南", "2027-12-31", ("咖啡", "锈病"))
    edits = [json.loads(site.content()["documents"][0]["edits"]) for site in (station, province)]
    assert edits[0] == edits[1] and len(edits[0]) == 3


def test_chosen_documents_are_packed_and_unknown_ones_named(province, make, tmp_path):
    first, second = province.add(notice(2024), "# 天牛\n\n剪除虫枝。\n")
    manifest = province.packs.open(make_trusted(province, make(documents=[second]), tmp_path)).manifest
    assert [d.id for d in manifest.documents] == [second]
    with pytest.raises(UsageError, match="00000000"):
        make(documents=["00000000"])
    with pytest.raises(UsageError, match="只留一处"):
        make(documents=[first], retire=[Retired(first)])


def make_trusted(site: Site, path, tmp_path):
    site.packs.trust(tmp_path / "省站.pub")
    return path


def test_the_same_knowledge_base_gives_the_same_bytes(province, make):
    province.add(notice(2024), "# 天牛\n\n剪除虫枝。\n")
    first, second = (make(name="五月", made_at="2026-05-01") for _ in range(2))
    assert first.read_bytes() == second.read_bytes()


def test_nothing_to_pack_is_an_error(make):
    with pytest.raises(UsageError, match="没有可以打包"):
        make()


# editions and retirement

def test_a_newer_edition_takes_the_older_ones_place_and_undoing_brings_it_back(province, station, make):
    old, = station.add(notice(2024))
    new, = province.add(notice(2025))
    before = station.content()
    result = station.take(make())
    assert result.plan.replaced == {old: new}
    assert station.states() == {old: ("superseded", new), new: ("active", "")}
    undone = station.packs.undo()
    assert (undone.removed, undone.returned, undone.stays) == ((new,), (old,), ())
    assert station.content() == before
    assert station.store.chunk(f"{new}#0") is not None  # old citations can still be read


def test_a_packs_older_edition_does_not_displace_a_newer_one(province, station, make):
    old, = province.add(notice(2024))
    new, = station.add(notice(2025))
    station.take(make())
    assert station.states() == {new: ("active", ""), old: ("superseded", new)}


def test_the_provinces_old_editions_come_as_old_ones(province, station, make):
    old, = province.add(notice(2024))
    new, = province.add(notice(2025))
    station.take(make())
    assert station.states() == province.states() == {old: ("superseded", new), new: ("active", "")}


def test_an_older_pack_after_a_newer_one_brings_no_old_edition_back(province, station, make):
    old, = province.add(notice(2024))
    first = make()
    new, = province.add(notice(2025))
    second = make(documents=[new])
    station.take(second)
    station.take(first)
    assert station.states() == {new: ("active", ""), old: ("superseded", new)}


def test_a_withdrawn_document_goes_out_of_use_and_comes_back_by_undoing(province, station, make):
    doc_id, = province.add(notice(2024))
    first = make()
    station.take(first)
    before = station.content()
    result = station.take(make(documents=[], words=False, retire=[Retired(doc_id, "用药已停")]))
    assert result.plan.retired == {doc_id: "用药已停"}
    assert station.states() == {doc_id: ("retired", "")}
    assert station.packs.undo().returned == (doc_id,)
    assert station.content() == before


def test_what_a_newer_pack_withdrew_an_older_one_does_not_bring_into_use(province, station, make):
    doc_id, = province.add(notice(2024))
    first = make()
    station.take(make(documents=[], words=False, retire=[Retired(doc_id)]))
    station.take(first)
    assert station.states() == {doc_id: ("retired", "")}


def test_what_a_newer_pack_uses_an_older_one_does_not_withdraw(province, station, make):
    doc_id, = province.add(notice(2024))
    withdrawing = make(documents=[], words=False, retire=[Retired(doc_id)])
    station.take(make())
    assert station.take(withdrawing).plan.retired == {}
    assert station.states() == {doc_id: ("active", "")}


def test_what_a_pack_withdrew_a_newer_one_brings_back_into_use(province, station, make):
    doc_id, = province.add(notice(2024))
    station.take(make())
    station.take(make(documents=[], words=False, retire=[Retired(doc_id)]))
    assert station.take(make(documents=[doc_id], name="四月")).plan.added_before  # the same content as the first
    other, = province.add("# 天牛\n\n剪除虫枝。\n")
    assert station.take(make()).plan.restored == (doc_id,)
    assert station.states() == {doc_id: ("active", ""), other: ("active", "")}
    station.packs.undo()
    assert station.states() == {doc_id: ("retired", "")}


def test_what_the_station_itself_retired_stays_retired(province, station, make):
    doc_id, = province.add(notice(2024))
    station.add(notice(2024))
    station.store.set_state(doc_id, "retired")
    station.take(make())
    assert station.states() == {doc_id: ("retired", "")}


# descriptions

def describe(site: Site, doc_id: str, **changes: str) -> None:
    life.describe(site.store, doc_id, changes, site.lexicon, site.embedder.embed_passages, None)


def test_what_the_province_changes_of_a_document_reaches_stations_that_have_it(province, station, make):
    doc_id, = province.add(notice(2024))
    station.take(make())
    before = station.content()
    describe(province, doc_id, valid_until="2026-12-31", tags="咖啡，锈病", title="叶锈病通知")
    assert [change.id for change in station.take(make()).plan.descriptions] == [doc_id]
    assert station.store.document(doc_id).meta == province.store.document(doc_id).meta
    assert station.content()["chunks"] == province.content()["chunks"]
    assert station.packs.undo().stays == ()
    assert station.content() == before


def test_what_the_station_has_written_of_a_document_itself_stays(province, station, make):
    doc_id, = province.add(notice(2024))
    station.take(make())
    describe(station, doc_id, region="本县")
    describe(province, doc_id, region="全省")
    assert station.take(make()).plan.descriptions == ()
    assert station.store.document(doc_id).meta.region == "本县"


def test_an_older_packs_descriptions_do_not_come_over_those_of_a_newer_one(province, station, make):
    doc_id, = province.add(notice(2024))
    first = make()
    describe(province, doc_id, region="全省")
    station.take(make())
    assert station.take(first).plan.descriptions == ()
    assert station.store.document(doc_id).meta.region == "全省"


def test_descriptions_of_two_packs_are_undone_in_either_order(province, station, make):
    doc_id, = province.add(notice(2024))
    station.add(notice(2024))
    before = station.content()
    describe(province, doc_id, region="全省")
    first = make()
    describe(province, doc_id, region="南部", stage="花期")
    second = make()
    for order in (("包2", "包1"), ("包1", "包2")):
        station.take(first)
        station.take(second)
        station.packs.undo(order[0])
        assert station.store.document(doc_id).meta.region == ("全省" if order[0] == "包2" else "南部")
        station.packs.undo(order[1])
        assert station.content() == before


def test_a_description_changed_since_stays_and_is_named(province, station, make):
    doc_id, = province.add(notice(2024))
    station.add(notice(2024))
    describe(province, doc_id, region="全省")
    station.take(make())
    describe(station, doc_id, region="本县")
    assert station.packs.undo().stays == (f"资料 {doc_id} 的说明后来改过，保持现在的样子",)
    assert station.store.document(doc_id).meta.region == "本县"


# own words

def test_a_packs_words_come_with_it_and_former_ones_come_back_in_their_order(province, station, make):
    province.add("# 虎皮斑\n\n发现虎皮斑时剪除病枝。\n")
    province.words(OwnWord("虎皮斑", "叶锈病", "disease"), OwnWord("老水牛", "天牛", "pest"))
    station.add("# 老水牛\n\n老水牛咬树干。\n")
    station.words(OwnWord("土豆子", "马铃薯", "crop"), OwnWord("老水牛", "蚜虫", "pest"), OwnWord("水田稻", "水稻", "crop"))
    before = station.content()
    result = station.take(make())
    assert [change.form for change in result.plan.words] == ["虎皮斑", "老水牛"]
    assert [(w.alias, w.term) for w in station.store.own_words()] == [
        ("土豆子", "马铃薯"), ("老水牛", "天牛"), ("水田稻", "水稻"), ("虎皮斑", "叶锈病")]
    texts = {row["id"]: row["search_text"] for row in station.content()["chunks"]}
    assert any("天牛咬树干" in text for text in texts.values())
    assert any("发现叶锈病" in text for text in texts.values())
    assert station.packs.undo().words == 2
    assert station.content() == before


def test_a_word_changed_since_stays_and_is_named(province, station, make):
    province.words(OwnWord("老水牛", "天牛", "pest"), OwnWord("虎皮斑", "叶锈病", "disease"))
    station.take(make())
    station.words(OwnWord("老水牛", "蚜虫", "pest"), OwnWord("虎皮斑", "叶锈病", "disease"))
    undone = station.packs.undo()
    assert [(w.alias, w.term) for w in station.store.own_words()] == [("老水牛", "蚜虫")]
    assert undone.words == 1
    assert undone.stays == ("叫法“老水牛”后来改过，保持现在的样子",)


def test_words_of_an_older_pack_do_not_displace_those_of_a_newer_one(province, station, make):
    province.words(OwnWord("老水牛", "蚜虫", "pest"))
    first = make()
    province.words(OwnWord("老水牛", "天牛", "pest"))
    station.take(make())
    assert station.take(first).plan.words == ()
    assert station.store.own_words() == [OwnWord("老水牛", "天牛", "pest")]


def test_words_can_be_left_out_and_words_that_mean_nothing_here_are_named(province, station, make):
    province.add(notice(2024))
    province.words(OwnWord("老水牛", "天牛", "pest"), OwnWord("怪名字", "没有这种病", "disease"))
    assert station.take(make(words=False)).plan.words == ()
    result = station.take(make())
    assert len(result.plan.words) == 1
    assert len(result.plan.problems) == 1 and "没有这种病" in result.plan.problems[0]


# undoing one of several

def test_documents_added_meanwhile_stay(province, station, make):
    province.add(notice(2025))
    station.take(make())
    own, = station.add("# 天牛\n\n剪除虫枝。\n")
    station.packs.undo()
    assert station.states() == {own: ("active", "")}


def test_two_packs_are_undone_in_either_order(province, station, make):
    old, = station.add(notice(2023))
    province.words(OwnWord("老水牛", "蚜虫", "pest"))
    middle, = province.add(notice(2024))
    first = make(documents=[middle])
    province.words(OwnWord("老水牛", "天牛", "pest"))
    new, = province.add(notice(2025))
    second = make(documents=[new])
    before = station.content()
    for order in (("包2", "包1"), ("包1", "包2")):
        station.take(first)
        station.take(second)
        assert station.states() == {old: ("superseded", middle), middle: ("superseded", new), new: ("active", "")}
        station.packs.undo(order[0])
        if order[0] == "包1":
            assert station.states() == {old: ("superseded", new), new: ("active", "")}
        station.packs.undo(order[1])
        assert station.content() == before


def test_what_two_packs_hold_goes_with_the_last_of_them(province, station, make):
    old, = station.add(notice(2023))
    shared, = province.add(notice(2025))
    first = make()
    province.add("# 天牛\n\n剪除虫枝。\n")
    before = station.content()
    station.take(first)
    station.take(make())
    undone = station.packs.undo("包1")
    assert undone.removed == ()
    assert undone.stays == (f"资料 {shared} 也在知识包“包2”里，留下",)
    assert station.states()[old] == ("superseded", shared)
    assert station.store.document(shared).origin == "包2"
    station.packs.undo("包2")
    assert station.content() == before


def test_a_still_newer_edition_of_the_station_keeps_the_old_one_out_of_use(province, station, make):
    old, = station.add(notice(2023))
    middle, = province.add(notice(2024))
    station.take(make())
    new, = station.add(notice(2025))
    undone = station.packs.undo()
    assert station.states() == {old: ("superseded", new), new: ("active", "")}
    assert undone.stays == (f"资料 {old} 有更新的一版 {new}，仍作旧版",)


def test_an_older_edition_added_meanwhile_comes_into_use_when_the_pack_goes(province, station, make):
    province.add(notice(2025))
    station.take(make())
    old, = station.add(notice(2024))
    assert station.states()[old][0] == "superseded"
    station.packs.undo()
    assert station.states() == {old: ("active", "")}


def test_a_document_whose_state_was_changed_since_stays_as_it_is(province, station, make):
    doc_id, = province.add(notice(2024))
    station.add(notice(2024))
    station.take(make(documents=[], words=False, retire=[Retired(doc_id)]))
    station.store.set_state(doc_id, "active")
    assert station.packs.undo().stays == (f"资料 {doc_id} 后来改过状态，保持现在的样子",)
    assert station.states() == {doc_id: ("active", "")}


def test_an_undone_pack_can_be_added_again_and_an_unknown_one_is_named(province, station, make):
    province.add(notice(2024))
    path = make()
    station.take(path)
    after = station.content()
    station.packs.undo(station.packs.added()[0].id[:6])
    with pytest.raises(UsageError, match="还没有添加过"):
        station.packs.undo()
    with pytest.raises(UsageError, match="没有添加过知识包“九月”"):
        station.packs.undo("九月")
    station.take(path)
    for row in (*after["documents"], *station.content()["documents"]):
        row.pop("added_at")
    assert station.content()["chunks"] == after["chunks"]


# wholly or not at all

def test_a_document_that_cannot_be_read_here_leaves_everything_as_it_was(province, station, make, monkeypatch):
    province.add(notice(2024), "# 天牛\n\n剪除虫枝。\n")
    path = make()
    before = station.content()
    real, seen = Preparer.prepare, []

    def second_fails(self, data, name, provenance):
        seen.append(name)
        if len(seen) == 2:
            raise DocumentError(f"{name} 读不懂")
        return (yield from real(self, data, name, provenance))

    monkeypatch.setattr(Preparer, "prepare", second_fails)
    with pytest.raises(DocumentError, match="没有添加，知识库保持原样：.*读不懂.*升级本程序"):
        station.take(path)
    assert station.content() == before


def test_an_error_inside_the_write_leaves_everything_as_it_was(province, station, make, monkeypatch):
    station.add(notice(2023))
    province.add(notice(2024))
    province.words(OwnWord("老水牛", "天牛", "pest"))
    path = make()
    before = station.content()

    def fails(*args):
        raise StoreError("磁盘已满")

    monkeypatch.setattr(pack_apply_module.pack_record, "keep", fails)
    with pytest.raises(StoreError):
        station.take(path)
    assert station.content() == before


def test_a_stop_leaves_everything_as_it_was(province, station, make):
    province.add(notice(2024))
    path = make()
    before, stop = station.content(), threading.Event()
    stop.set()
    steps = station.packs.add(station.packs.open(path), stop)
    with pytest.raises(StopIteration) as end:
        while True:
            next(steps)
    assert end.value.value is None
    assert station.content() == before


def test_too_little_room_is_said_before_anything_is_read(province, station, make, monkeypatch):
    province.add(notice(2024))
    path = make()
    monkeypatch.setattr(pack_apply_module.shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(100, 90, 10))
    with pytest.raises(StoreError, match="腾出空间"):
        station.take(path)


def test_documents_that_came_by_hand_while_the_pack_was_read_are_not_doubled(province, station, make):
    doc_id, = province.add(notice(2024))
    other, = province.add("# 天牛\n\n剪除虫枝，用0.5%药液喷雾。\n")
    path = make()
    station.embedder.name = "another"  # so that there are steps between
    steps = station.packs.add(station.packs.open(path))
    next(steps)
    station.add(notice(2024))
    with pytest.raises(StopIteration) as end:
        while True:
            next(steps)
    assert [one.document.id for one in end.value.value.plan.new] == [other]
    assert sorted(station.states()) == sorted([doc_id, other])
    station.packs.undo()
    assert list(station.states()) == [doc_id]


def test_words_changed_while_the_pack_was_read_ask_for_another_try(province, station, make):
    province.add(notice(2024))
    province.words(OwnWord("老水牛", "天牛", "pest"))
    path = make()
    station.embedder.name = "another"
    steps = station.packs.add(station.packs.open(path))
    next(steps)
    station.words(OwnWord("土豆子", "马铃薯", "crop"))
    with pytest.raises(StoreError, match="请再添加一次"):
        list(steps)
    assert station.states() == {}
    station.take(path)
    assert len(station.store.own_words()) == 2


# recognised pages

def test_recognised_pages_travel_with_the_file(province, station, make):
    doc_id, = province.add(notice(2024))
    sha256 = province.store.rows("SELECT sha256 FROM documents")[0]["sha256"]
    rows = [{"sha256": sha256, "number": n, "reader": "r/1", "lines": json.dumps({"n": n})} for n in (1, 2)]
    with province.store.write() as db:
        db.table("scans").insert_all(rows)
    station.take(make())
    assert station.store.rows("SELECT sha256, number, reader, lines FROM scans ORDER BY number") == rows


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills need fork")
def test_killed_at_any_statement_a_pack_is_added_or_undone_wholly_or_not_at_all(province, station, make, tmp_path):
    station.add(notice(2024), "# 老水牛\n\n老水牛咬树干。\n")
    province.add(notice(2025), "# 天牛\n\n剪除虫枝。\n")
    province.words(OwnWord("老水牛", "天牛", "pest"))
    path = make()
    station.store.close()
    run = subprocess.run([sys.executable, "-m", "tests.pack_kills", str(station.store.folder), str(path)], cwd=ROOT,
                         capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    for statements, left in json.loads(run.stdout).values():
        assert statements > 30
        assert set(left) <= {"before", "after"} and left[0] == "before"
