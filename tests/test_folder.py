"""A folder and the knowledge base are brought together; only what changed is read."""

import os
import shutil
import sys
import threading
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nongda.errors import StoreError
from nongda.index import folder as folder_module
from nongda.index.file_table import FileTable
from nongda.index.folder import sync
from nongda.index.folder_shelf import FolderShelf
from nongda.index.prepare import Preparer
from nongda.index.scan_folder import scan_folder
from nongda.index.store import Store
from nongda.intake import FileReport, Progress
from nongda.settings import ChunkSettings

RUST = "# 咖啡锈病\n\n叶背出现橙黄色粉末，严重时落叶。\n"
BEETLE = "# 天牛\n\n成虫五月出现，在树干上产卵。剪除虫枝。\n"
BLAST = "# 稻瘟病\n\n水稻破口期看天气，病斑为梭形。\n"
TORN = b"PK\x03\x04" + bytes(range(40))  # begins like an archive and is none
posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")


class Station:
    """A folder beside a knowledge base, and what the last run said."""

    def __init__(self, store: Store, lexicon, embedder, folder) -> None:
        self.store, self.folder = store, folder
        self.table = FileTable(store.rows, store.write)
        self.preparers = 0
        self._parts = lexicon, embedder

    def _preparer(self) -> Preparer:
        self.preparers += 1
        lexicon, embedder = self._parts
        return Preparer(self.store, lexicon, embedder, None, ChunkSettings())

    def events(self, folder=None, **options):
        shelf = FolderShelf(self.store, self._preparer)
        return sync(folder or self.folder, shelf, self.table, self.store.folder, **options)

    def sync(self, folder=None, **options) -> list[tuple[str, str]]:
        """Bring up to date; return (file name, status) of the reports."""
        self.reports = [e for e in self.events(folder, **options) if isinstance(e, FileReport)]
        return [(os.path.basename(r.path), r.status) for r in self.reports]

    def write(self, path: str, text: str | bytes, folder=None):
        full = (folder or self.folder) / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(text if isinstance(text, bytes) else text.encode())
        return full

    def states(self) -> dict[str, str]:
        return {d.meta.title: d.state for d in self.store.documents()}

    def rows(self, folder=None) -> dict[str, tuple[str, bool]]:
        """Each known file with its status and whether it has a document."""
        return {path: (row.status, bool(row.doc_id)) for path, row in self.table.of(str(folder or self.folder)).items()}


@pytest.fixture
def station(fresh_store, lexicon, embedder, tmp_path):
    folder = tmp_path / "U盘 资料"
    folder.mkdir()
    return Station(fresh_store, lexicon, embedder, folder)


@pytest.fixture
def hashed(monkeypatch):
    """The names of the files whose bytes were looked at."""
    names, real = [], folder_module.file_sha256

    def read(path):
        names.append(path.name)
        return real(path)

    monkeypatch.setattr(folder_module, "file_sha256", read)
    return names


def touch(path, seconds: int = 5) -> None:
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + seconds * 10**9))


# what is read

def test_a_folder_with_all_below_it_is_taken_in(station):
    station.write("锈病.md", RUST)
    station.write("虫害/二〇二四/天牛 🐛.md", BEETLE)
    assert station.sync() == [("天牛 🐛.md", "added"), ("锈病.md", "added")]
    assert [(r.index, r.total) for r in station.reports] == [(1, 2), (2, 2)]
    assert station.states() == {"咖啡锈病": "active", "天牛": "active"}
    assert {d.origin for d in station.store.documents()} == {str(station.folder)}
    assert station.rows() == {"锈病.md": ("added", True), "虫害/二〇二四/天牛 🐛.md": ("added", True)}


def test_files_that_are_no_documents_are_left_alone(station):
    station.write("锈病.md", RUST)
    for name in (".藏.md", "~$锈病.docx", ".~锈病.docx", "Thumbs.db", "desktop.ini", "a.tmp", "b.md.part", "程序.exe",
                 ".git/说明.md", "$RECYCLE.BIN/旧.md", "System Volume Information/x.txt", "__MACOSX/锈病.md"):
        station.write(name, BEETLE)
    station.write("目录.md/里面.md", BLAST)
    assert station.sync() == [("里面.md", "added"), ("锈病.md", "added")]


def test_the_data_folder_inside_is_left_out(lexicon, embedder, tmp_path):
    store = Store(tmp_path / "资料" / "知识库")
    try:
        station = Station(store, lexicon, embedder, tmp_path / "资料")
        station.write("锈病.md", RUST)
        station.write("知识库/说明.md", BEETLE)
        assert station.sync() == [("锈病.md", "added")]
    finally:
        store.close()


@posix
def test_links_in_a_circle_end(station):
    station.write("子/锈病.md", RUST)
    (station.folder / "子" / "回").symlink_to(station.folder, target_is_directory=True)
    (station.folder / "断.md").symlink_to(station.folder / "没有.md")
    assert station.sync() == [("锈病.md", "added")]


def test_a_second_run_reads_nothing_and_loads_nothing(station, hashed):
    station.write("锈病.md", RUST)
    station.write("坏.docx", TORN)
    assert sorted(station.sync()) == [("坏.docx", "failed"), ("锈病.md", "added")]
    assert station.preparers == 1
    hashed.clear()
    revision = station.store.revision()
    assert station.sync() == []
    assert hashed == []
    assert (station.preparers, station.store.revision()) == (1, revision)


def test_a_touched_file_with_the_same_bytes_changes_nothing(station, hashed):
    path = station.write("锈病.md", RUST)
    station.sync()
    touch(path)
    revision = station.store.revision()
    assert station.sync() == []
    assert station.store.revision() == revision
    hashed.clear()
    assert station.sync() == []
    assert hashed == []


# editions

def test_a_changed_file_is_a_new_edition_whatever_its_date(station):
    path = station.write("锈病.md", "---\ntitle: 咖啡锈病通知\ndate: 2024-05-01\n---\n\n叶背有粉。\n")
    station.sync()
    old = station.store.documents()[0]
    path.write_text("---\ntitle: 咖啡锈病通知\ndate: 2019-01-01\n---\n\n叶背有橙黄色粉末，落叶。\n", encoding="utf-8")
    assert station.sync() == [("锈病.md", "added")]
    before, now = station.store.documents()
    assert (before.id, before.state, before.superseded_by, now.state) == (old.id, "superseded", now.id, "active")
    assert "叶背有粉" in station.store.chunks_of(old.id)[0].text


def test_a_file_put_back_to_its_older_text_is_in_use_again(station):
    path = station.write("锈病.md", RUST)
    station.sync()
    path.write_text(RUST + "\n再补一句。\n", encoding="utf-8")
    station.sync()
    path.write_text(RUST, encoding="utf-8")
    station.sync()
    first, second = station.store.documents()
    assert (first.state, first.superseded_by) == ("active", "")
    assert (second.state, second.superseded_by) == ("superseded", first.id)


def test_a_file_with_its_older_text_in_other_bytes_is_in_use_again(station):
    path = station.write("锈病.md", RUST)
    for text in (RUST, RUST + "\n再补一句。\n", RUST + "\n\n"):
        path.write_text(text, encoding="utf-8")
        station.sync()
    first, second = station.store.documents()
    assert (first.state, first.superseded_by) == ("active", "")
    assert (second.state, second.superseded_by) == ("superseded", first.id)


def test_a_file_saved_anew_with_the_same_text_keeps_its_document(station):
    path = station.write("锈病.md", RUST)
    station.sync()
    path.write_text(RUST + "\n\n", encoding="utf-8")
    assert station.sync() == [("锈病.md", "skipped")]
    assert station.states() == {"咖啡锈病": "active"}
    assert station.sync() == []


def test_a_file_that_takes_the_content_of_another_gives_up_its_own(station):
    path = station.write("一.md", RUST)
    station.write("二.md", BEETLE)
    station.sync()
    path.write_text(BEETLE, encoding="utf-8")
    assert station.sync() == [("一.md", "skipped")]
    assert station.states() == {"咖啡锈病": "superseded", "天牛": "active"}


def test_a_file_that_takes_the_text_of_another_gives_up_its_own(station):
    path = station.write("一.md", RUST)
    station.write("二.md", BEETLE)
    station.sync()
    path.write_text(BEETLE + "\n\n", encoding="utf-8")
    assert station.sync() == [("一.md", "skipped")]
    assert station.states() == {"咖啡锈病": "superseded", "天牛": "active"}


def test_one_of_two_copies_changes_and_the_other_keeps_the_document(station):
    path = station.write("一.md", RUST)
    station.write("二.md", RUST)
    station.sync()
    path.write_text(BEETLE, encoding="utf-8")
    assert station.sync() == [("一.md", "added")]
    assert station.states() == {"咖啡锈病": "active", "天牛": "active"}


def test_a_changed_file_that_cannot_be_read_leaves_its_document_in_use(station):
    path = station.write("锈病.docx", docx_of("叶背出现橙黄色粉末。"))
    station.sync()
    path.write_bytes(TORN)
    assert station.sync() == [("锈病.docx", "failed")]
    assert "仍用原来的内容" in station.reports[0].message
    assert list(station.states().values()) == ["active"]
    assert station.sync() == []
    path.write_bytes(docx_of("叶背出现橙黄色粉末。"))
    station.sync()
    assert list(station.states().values()) == ["active"]
    assert station.rows() == {"锈病.docx": ("skipped", True)}


def test_a_copy_of_a_file_that_broke_does_not_get_the_document_from_before(station):
    station.write("一.docx", docx_of("叶背出现橙黄色粉末。"))
    station.sync()
    for name in ("一.docx", "二.docx"):
        station.write(name, TORN)
    assert station.sync() == [("一.docx", "failed"), ("二.docx", "failed")]
    assert station.rows() == {"一.docx": ("failed", True), "二.docx": ("failed", False)}


def docx_of(text: str) -> bytes:
    import io

    import docx

    document, data = docx.Document(), io.BytesIO()
    document.add_paragraph(text)
    document.core_properties.created = document.core_properties.modified = datetime(2024, 1, 1)
    document.save(data)
    return data.getvalue()


# moved and gone

def test_a_moved_file_keeps_its_document(station):
    path = station.write("锈病.md", RUST)
    station.sync()
    doc_id = station.store.documents()[0].id
    (station.folder / "新").mkdir()
    path.rename(station.folder / "新" / "改名.md")
    revision = station.store.revision()
    assert station.sync() == [("改名.md", "skipped")]
    assert "锈病.md" in station.reports[0].message
    assert station.rows() == {"新/改名.md": ("skipped", True)}
    assert station.store.revision() == revision
    assert station.store.document(doc_id).state == "active"


def test_the_document_of_a_file_that_is_gone_is_retired_and_comes_back_with_it(station):
    station.write("锈病.md", RUST)
    path = station.write("天牛.md", BEETLE)
    station.sync()
    path.unlink()
    assert station.sync() == [("天牛.md", "skipped")]
    assert "停用" in station.reports[0].message
    assert station.states() == {"咖啡锈病": "active", "天牛": "retired"}
    assert station.sync() == []
    station.write("天牛.md", BEETLE)
    assert station.sync() == [("天牛.md", "added")]
    assert station.states()["天牛"] == "active"
    assert station.sync() == []


def test_it_comes_back_under_another_name_too(station):
    station.write("锈病.md", RUST)
    path = station.write("天牛.md", BEETLE)
    station.sync()
    path.unlink()
    station.sync()
    station.write("别处/虫.md", BEETLE)
    assert station.sync() == [("虫.md", "added")]
    assert station.states()["天牛"] == "active"
    assert set(station.rows()) == {"锈病.md", "别处/虫.md"}


def test_what_the_reader_retired_stays_so_whatever_becomes_of_its_file(station):
    station.write("锈病.md", RUST)
    path = station.write("天牛.md", BEETLE)
    station.sync()
    doc_id = next(d.id for d in station.store.documents() if d.meta.title == "天牛")
    station.store.set_state(doc_id, "retired")
    touch(path)
    station.write("副本.md", BEETLE)
    station.sync()
    path.rename(station.folder / "改名.md")
    station.sync()
    assert station.states()["天牛"] == "retired"


def test_two_files_of_one_content_are_one_document_until_both_are_gone(station):
    station.write("锈病.md", RUST)
    one, two = station.write("一.md", BEETLE), station.write("二.md", BEETLE)
    assert station.sync() == [("一.md", "added"), ("二.md", "skipped"), ("锈病.md", "added")]
    one.unlink()
    assert station.sync() == []
    assert station.states()["天牛"] == "active"
    two.unlink()
    assert station.sync() == [("二.md", "skipped")]
    assert station.states()["天牛"] == "retired"


def test_a_copy_in_another_folder_holds_the_document_too(station, tmp_path):
    other = tmp_path / "另一夹"
    for folder in (station.folder, other):
        station.write("锈病.md", RUST if folder is other else BLAST, folder)
        station.write("天牛.md", BEETLE, folder)
        station.sync(folder)
    (station.folder / "天牛.md").unlink()
    station.sync()
    assert station.states()["天牛"] == "active"
    (other / "天牛.md").unlink()
    station.sync(other)
    assert station.states()["天牛"] == "retired"


def test_what_was_added_by_hand_stays_when_a_file_of_its_content_goes(station, lexicon, embedder, tmp_path):
    from nongda.index.ingest import Ingester

    by_hand = station.write("手工/天牛.md", BEETLE, tmp_path)
    list(Ingester(Preparer(station.store, lexicon, embedder, None, ChunkSettings())).add([by_hand]))
    station.write("锈病.md", RUST)
    path = station.write("天牛.md", BEETLE)
    assert ("天牛.md", "skipped") in station.sync()
    path.unlink()
    station.sync()
    assert station.states()["天牛"] == "active"


@pytest.mark.parametrize("pulled", ["gone", "empty", "a file"])
def test_a_pulled_stick_retires_nothing_and_one_sentence_says_so(station, pulled):
    station.write("锈病.md", RUST)
    station.write("子/天牛.md", BEETLE)
    station.sync()
    shutil.rmtree(station.folder)
    if pulled == "empty":
        station.folder.mkdir()
    elif pulled == "a file":
        station.folder.write_text("x")
    assert station.sync() == [("U盘 资料", "failed")]
    assert "保持原样" in station.reports[0].message and "U盘" in station.reports[0].message
    assert set(station.states().values()) == {"active"}
    if station.folder.is_file():
        station.folder.unlink()
    station.write("锈病.md", RUST)
    station.write("子/天牛.md", BEETLE)
    assert station.sync() == []


def test_a_stick_pulled_in_the_middle_retires_nothing(station):
    for number in range(4):
        station.write(f"{number}.md", RUST + f"\n\n第{number}份。\n")
    station.sync()
    for number in range(4):
        station.write(f"{number}.md", RUST + f"\n\n第{number}份，改。\n")
    events = station.events()
    for event in events:
        if isinstance(event, FileReport):
            shutil.rmtree(station.folder)
            break
    rest = [e for e in events if isinstance(e, FileReport)]
    assert [r.status for r in rest] == ["failed"] and "不见了" in rest[0].message
    states = [d.state for d in station.store.documents()]
    assert (states.count("active"), states.count("superseded"), states.count("retired")) == (4, 1, 0)


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
def test_a_subfolder_that_cannot_be_opened_is_told_and_keeps_its_documents(station):
    station.write("锈病.md", RUST)
    station.write("锁/天牛.md", BEETLE)
    station.sync()
    (station.folder / "锁").chmod(0)
    try:
        assert station.sync() == [("锁", "failed")]
        assert set(station.states().values()) == {"active"}
    finally:
        (station.folder / "锁").chmod(0o755)


def test_what_cannot_be_looked_into_is_told_and_keeps_its_documents(station, monkeypatch):
    station.write("锈病.md", RUST)
    station.write("锁/里/天牛.md", BEETLE)
    station.sync()
    real = os.scandir

    def refuse(path):
        if os.path.basename(path) == "锁":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert station.sync() == [("锁", "failed")]
    assert "Permission denied" in station.reports[0].message
    assert set(station.states().values()) == {"active"}


# bad files

def test_a_bad_file_never_stops_the_rest_and_is_tried_again_only_when_it_changed(station, hashed):
    bad = station.write("一.docx", TORN)
    station.write("二.md", "")
    station.write("锈病.md", RUST)
    assert station.sync() == [("一.docx", "failed"), ("二.md", "failed"), ("锈病.md", "added")]
    hashed.clear()
    assert station.sync() == []
    assert hashed == []
    touch(bad)
    assert station.sync() == []
    assert hashed == ["一.docx"]  # the same bytes fail as before
    assert station.sync(retry=True) == [("一.docx", "failed"), ("二.md", "failed")]
    bad.write_bytes(docx_of("天牛成虫五月出现。"))
    assert station.sync() == [("一.docx", "added")]


def test_a_file_that_another_program_holds_is_tried_again_each_time(station, monkeypatch):
    path = station.write("锈病.md", RUST)
    real = folder_module.file_sha256

    def refuse(_):
        raise PermissionError(13, "used by another process")

    monkeypatch.setattr(folder_module, "file_sha256", refuse)
    assert station.sync() == [("锈病.md", "failed")]
    assert "占用" in station.reports[0].message
    assert station.sync() == [("锈病.md", "failed")]
    monkeypatch.setattr(folder_module, "file_sha256", real)
    assert station.sync() == [("锈病.md", "added")]
    monkeypatch.setattr(folder_module, "file_sha256", refuse)
    touch(path)
    assert station.sync() == [("锈病.md", "failed")]
    assert station.states() == {"咖啡锈病": "active"}
    monkeypatch.setattr(folder_module, "file_sha256", real)
    assert station.sync() == []
    assert station.rows() == {"锈病.md": ("added", True)}


def test_a_file_that_changes_while_it_is_read_is_read_again_next_time(station, monkeypatch):
    path = station.write("一.md", RUST)
    station.write("二.md", RUST)
    real = folder_module.file_sha256

    def read_and_change(found):
        digest = real(found)
        path.write_text(BEETLE + "\n更长的内容。\n", encoding="utf-8")
        return digest

    monkeypatch.setattr(folder_module, "file_sha256", read_and_change)
    assert station.sync() == [("一.md", "added"), ("二.md", "added")]
    assert station.states() == {"天牛": "active", "咖啡锈病": "active"}
    monkeypatch.setattr(folder_module, "file_sha256", real)
    station.sync()
    assert station.states() == {"天牛": "active", "咖啡锈病": "active"}
    assert station.sync() == []


def test_files_that_are_not_settled_are_left_as_they_are(station):
    path = station.write("锈病.md", RUST)
    station.write("天牛.md", BEETLE)
    assert station.sync(unsettled={"锈病.md"}) == [("天牛.md", "added")]
    station.sync()
    path.write_text(BLAST, encoding="utf-8")
    assert station.sync(unsettled={"锈病.md"}) == []
    path.unlink()
    assert station.sync(unsettled={"锈病.md"}) == []
    assert station.states() == {"咖啡锈病": "active", "天牛": "active"}


def test_a_second_process_that_was_faster_is_no_failure(station, monkeypatch):
    station.write("锈病.md", RUST)

    def beaten(self, path, origin, replaces, stop):
        other = Station(self._store, *station._parts, station.folder)
        from nongda.index.ingest import Ingester
        list(Ingester(other._preparer()).add([path]))
        yield FileReport(str(path), "failed", "已在知识库中：不用再添加", 1, 1)

    with monkeypatch.context() as patch:
        patch.setattr(FolderShelf, "add_file", beaten)
        assert station.sync() == [("锈病.md", "skipped")]
    assert station.rows() == {"锈病.md": ("skipped", True)}


@posix
def test_a_name_in_an_unknown_encoding_is_told(station):
    raw = os.fsencode(station.folder) + b"/\xd0\xe2\xb2\xa1.md"
    try:
        with open(raw, "wb") as file:
            file.write(RUST.encode())
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    station.write("天牛.md", BEETLE)
    assert [status for _, status in station.sync()] == ["failed", "added"]
    assert "改名" in station.reports[0].message
    station.reports[0].message.encode()
    station.reports[0].path.encode()


# stopping

def test_what_was_done_stays_done_when_it_is_stopped_and_the_next_run_goes_on(station):
    for number in range(6):
        station.write(f"{number}.md", RUST + f"\n\n第{number}份说明。\n")
    stop = threading.Event()
    seen = []
    for event in station.events(stop=stop):
        if isinstance(event, FileReport):
            seen.append(event)
            if len(seen) == 2:
                stop.set()
    assert [r.status for r in seen] == ["added", "added"]
    assert len(station.store.documents()) == 2
    assert [status for _, status in station.sync()] == ["added"] * 4
    assert [(r.index, r.total) for r in station.reports] == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_stopped_run_retires_nothing(station):
    path = station.write("锈病.md", RUST)
    station.sync()
    path.rename(station.folder / "改.md")
    station.write("天牛.md", BEETLE)
    stop = threading.Event()
    stop.set()
    assert station.sync(stop=stop) == []
    assert station.states() == {"咖啡锈病": "active"}
    station.sync()
    (station.folder / "改.md").unlink()
    assert station.sync(stop=stop) == []
    assert station.states() == {"咖啡锈病": "active", "天牛": "active"}


def test_a_run_that_dies_between_document_and_row_is_made_good_by_the_next(station):
    path = station.write("锈病.md", RUST)
    station.sync()
    path.write_text(BEETLE, encoding="utf-8")
    old = station.table.of(str(station.folder))["锈病.md"]
    station.sync()
    station.table.put([old])  # the document is there, the row still says what was before
    assert station.sync() == [("锈病.md", "skipped")]
    assert station.states() == {"咖啡锈病": "superseded", "天牛": "active"}
    assert station.sync() == []


def test_progress_tells_where_it_is_and_how_long_it_takes(station, monkeypatch):
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    real = folder_module.TimeLeft
    monkeypatch.setattr(folder_module, "TimeLeft", lambda sizes: real(sizes, clock))
    for number in range(3):
        station.write(f"{number}.md", RUST + f"\n\n第{number}份说明。\n")
    events = list(station.events())
    progress = [e for e in events if isinstance(e, Progress)]
    assert {(e.index, e.files) for e in progress} == {(1, 3), (2, 3), (3, 3)}
    left = [e.left for e in events if isinstance(e, FileReport)]
    assert left[1] > 0 and left[2] == 0.0


def test_a_full_disk_ends_the_run_in_words(station, monkeypatch):
    station.write("锈病.md", RUST)

    def full(*_):
        raise StoreError("磁盘已满")

    monkeypatch.setattr(FolderShelf, "add_file", full)
    with pytest.raises(StoreError):
        station.sync()
    assert station.rows() == {}


# any life of a folder

NAMES = st.sampled_from(["甲.md", "乙.md", "丙/丁.md"])
STEPS = st.lists(st.tuples(st.sampled_from(["write", "move", "delete", "touch", "sync"]), NAMES, NAMES, st.integers(0, 3)),
                 max_size=12)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_after_any_changes_the_documents_in_use_are_the_contents_of_the_files(tmp_path_factory, lexicon, embedder, steps):
    base = tmp_path_factory.mktemp("站")
    store = Store(base / "库")
    try:
        station = Station(store, lexicon, embedder, base / "夹")
        station.write("总在.md", "# 常用资料\n\n这一份总在这里，不删也不改。\n")
        for what, name, other, number in steps:
            path = station.folder / name
            if what == "write":
                station.write(name, f"# 第{number}号通知\n\n内容是{'水稻咖啡天牛玉米'[number * 2:number * 2 + 2]}，各不相同。\n")
            elif what == "sync":
                station.sync()
            elif path.exists():
                if what == "move":
                    (station.folder / other).parent.mkdir(exist_ok=True)
                    path.replace(station.folder / other)
                elif what == "delete":
                    path.unlink()
                else:
                    touch(path)
        station.sync()
        contents = {(station.folder / p).read_bytes() for p in scan_folder(station.folder, store.folder).files}
        active = {store.original(d.id) for d in store.active()}
        assert active == contents
        assert station.sync() == []
    finally:
        store.close()
