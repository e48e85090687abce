"""Watched folders are read when they have settled, and whatever goes wrong is told and tried again."""

import json
import shutil
import threading
import time
from datetime import datetime

import pytest

from nongda.errors import StoreError, UsageError
from nongda.index.file_table import FileRow, FileTable
from nongda.index.folder import sync
from nongda.index.folder_shelf import FolderShelf
from nongda.index.prepare import Preparer
from nongda.index.watching import Watcher, watched_folders, with_folder, without_folder
from nongda.settings import ChunkSettings

RUST = "# 咖啡锈病\n\n叶背出现橙黄色粉末，严重时落叶。\n"
BEETLE = "# 天牛\n\n成虫五月出现，在树干上产卵。剪除虫枝。\n"


class Station:
    """A watched folder, its knowledge base and a watcher whose looks the test makes."""

    def __init__(self, store, lexicon, embedder, folder, pause: float = 0.01) -> None:
        self.store, self.folder = store, folder
        self.table = FileTable(store.rows, store.write)
        self.runs: list[set[str]] = []
        self.trouble: Exception | None = None
        self.turn = threading.Lock()
        self.watched = [folder]
        self._shelf = FolderShelf(store, lambda: Preparer(store, lexicon, embedder, None, ChunkSettings()))
        self.watcher = Watcher(lambda: self.watched, self._sync, self.table, store.folder, self.turn, pause)

    def _sync(self, folder, stop, unsettled):
        self.runs.append(set(unsettled))
        if self.trouble:
            raise self.trouble
        yield from sync(folder, self._shelf, self.table, self.store.folder, stop, unsettled)

    def looks(self, number: int) -> int:
        """Look so many times; return how many runs that made."""
        before = len(self.runs)
        for _ in range(number):
            self.watcher.look()
        return len(self.runs) - before

    @property
    def state(self):
        (state,) = self.watcher.states()
        return state

    def titles(self) -> set[str]:
        return {d.meta.title for d in self.store.active()}


@pytest.fixture
def station(fresh_store, lexicon, embedder, tmp_path):
    folder = tmp_path / "U盘 资料"
    folder.mkdir()
    (folder / "锈病.md").write_text(RUST, encoding="utf-8")
    found = Station(fresh_store, lexicon, embedder, folder)
    yield found
    assert found.watcher.stop()


# looking

def test_a_folder_is_read_at_the_second_look_and_left_alone_afterwards(station):
    assert (station.state.looked_at, station.state.files) == ("", 0)
    assert station.looks(1) == 0
    assert station.looks(1) == 1
    assert station.titles() == {"咖啡锈病"}
    assert (station.state.files, station.state.failed, station.state.error, station.state.busy) == (1, 0, "", False)
    assert datetime.fromisoformat(station.state.looked_at).utcoffset().total_seconds() == 0
    assert station.looks(5) == 0


def test_a_file_that_still_grows_is_waited_for_while_others_are_read(station):
    station.looks(2)
    growing = station.folder / "大.md"
    growing.write_text("# 天", encoding="utf-8")
    (station.folder / "新.md").write_text("# 稻瘟病\n\n水稻破口期看天气。\n", encoding="utf-8")
    station.looks(1)
    growing.write_text(BEETLE[:12], encoding="utf-8")
    station.looks(1)
    assert station.runs[-1] == {"大.md"}
    assert station.titles() == {"咖啡锈病", "稻瘟病"}
    growing.write_text(BEETLE, encoding="utf-8")
    assert station.looks(1) == 0  # still another than before
    assert station.looks(1) == 1
    assert station.titles() == {"咖啡锈病", "稻瘟病", "天牛"}


def test_a_file_that_is_being_rewritten_makes_no_run_until_it_has_settled(station):
    station.looks(2)
    for length in (20, 25, 30):
        (station.folder / "锈病.md").write_text(RUST[:length], encoding="utf-8")
        assert station.looks(1) == 0
    assert station.looks(2) == 1


def test_a_file_replaced_by_way_of_deleting_it_is_not_retired_in_between(station):
    (station.folder / "天牛.md").write_text(BEETLE, encoding="utf-8")
    station.looks(2)
    (station.folder / "天牛.md").unlink()
    station.looks(1)
    (station.folder / "天牛.md").write_text(BEETLE, encoding="utf-8")
    station.looks(2)
    assert [d.state for d in station.store.documents()] == ["active", "active"]
    (station.folder / "天牛.md").unlink()
    station.looks(2)
    assert station.titles() == {"咖啡锈病"}
    assert station.state.files == 1


def test_a_bad_file_is_counted_and_not_tried_again(station):
    (station.folder / "坏.docx").write_bytes(b"PK\x03\x04" + bytes(40))
    station.looks(2)
    assert (station.state.files, station.state.failed, station.state.error) == (1, 1, "")
    assert station.looks(3) == 0


def test_a_file_that_could_not_be_opened_is_tried_at_each_look(station):
    station.looks(2)
    station.table.put([FileRow(str(station.folder), "开.docx", 1, 1, "", "", "unread", "打不开")])
    (station.folder / "开.docx").write_text("x", encoding="utf-8")

    real = FolderShelf.add_file
    station._shelf.add_file = None  # never called: the file cannot even be hashed
    with pytest.MonkeyPatch.context() as patch:
        from nongda.index import folder as folder_module

        def refuse(_):
            raise PermissionError(13, "used")

        patch.setattr(folder_module, "file_sha256", refuse)
        assert station.looks(4) == 3
        assert station.state.failed == 1
    station._shelf.add_file = real.__get__(station._shelf)
    (station.folder / "开.docx").unlink()
    station.looks(2)
    assert station.looks(2) == 0


def test_a_pulled_stick_is_told_and_all_is_well_when_it_is_back(station, tmp_path):
    station.looks(2)
    station.folder.rename(tmp_path / "拔掉")
    station.looks(3)
    assert "U盘" in station.state.error and station.titles() == {"咖啡锈病"}
    assert station.looks(2) == 0
    (tmp_path / "拔掉").rename(station.folder)
    station.looks(2)
    assert station.state.error == "" and station.titles() == {"咖啡锈病"}


def test_a_folder_taken_off_the_list_is_looked_at_no_more(station):
    station.looks(2)
    station.watched = []
    (station.folder / "天牛.md").write_text(BEETLE, encoding="utf-8")
    assert station.looks(3) == 0
    assert station.watcher.states() == ()
    assert station.titles() == {"咖啡锈病"}


# errors

@pytest.mark.parametrize(("trouble", "words"), [
    (StoreError("磁盘已满，请腾出空间"), "磁盘已满，请腾出空间"), (MemoryError(), "意外（MemoryError）"),
])
def test_an_error_is_kept_as_the_state_and_the_next_look_tries_again(station, trouble, words):
    station.trouble = trouble
    station.looks(2)
    assert words in station.state.error and not station.state.busy
    station.trouble = None
    station.looks(1)
    assert station.state.error == "" and station.titles() == {"咖啡锈病"}


def test_a_list_that_cannot_be_read_ends_no_thread(station):
    def broken():
        raise StoreError("正被另一个程序写入")

    station.watcher._folders = broken
    station.watcher.look()
    station.watcher._folders = lambda: station.watched
    assert station.looks(2) == 1


def test_nothing_is_read_while_files_are_added_by_hand(station):
    with station.turn:
        assert station.looks(3) == 0
    assert station.looks(1) == 1


def test_the_turn_is_given_back_after_a_run_and_after_an_error(station):
    station.trouble = StoreError("坏了")
    station.looks(2)
    assert station.turn.acquire(blocking=False)
    station.turn.release()


# the thread

def wait_for(condition) -> None:
    end = time.monotonic() + 5
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


def test_the_thread_takes_in_what_comes_and_stops_at_once(station):
    station.watcher.start()
    station.watcher.start()  # twice is once
    wait_for(lambda: station.titles() == {"咖啡锈病"})
    (station.folder / "天牛.md").write_text(BEETLE, encoding="utf-8")
    wait_for(lambda: station.titles() == {"咖啡锈病", "天牛"})
    started = time.monotonic()
    assert station.watcher.stop()
    assert time.monotonic() - started < 1
    assert [t.name for t in threading.enumerate()].count("folders") == 0


def test_the_thread_is_woken_from_a_long_pause(fresh_store, lexicon, embedder, tmp_path):
    folder = tmp_path / "夹"
    folder.mkdir()
    station = Station(fresh_store, lexicon, embedder, folder, pause=3600)
    station.watcher.start()
    wait_for(lambda: station.state.looked_at)
    (folder / "天牛.md").write_text(BEETLE, encoding="utf-8")
    wait_for(lambda: station.watcher.wake() or station.titles() == {"天牛"})
    assert station.watcher.stop()


def test_a_run_is_stopped_between_files(station):
    for number in range(30):
        (station.folder / f"{number}.md").write_text(RUST + f"\n\n第{number}份。\n", encoding="utf-8")
    reached = threading.Event()
    real = station._shelf.add_file

    def add_and_tell(*arguments):
        yield from real(*arguments)
        reached.set()

    station._shelf.add_file = add_and_tell
    station.watcher.start()
    assert reached.wait(5)
    assert station.watcher.stop()
    assert 0 < len(station.store.active()) < 31


# the list

def test_folders_are_listed_in_a_note(tmp_path):
    one, two, data = tmp_path / "一 夹", tmp_path / "二夹", tmp_path / "数据"
    for folder in (one, two, data):
        folder.mkdir()
    note = with_folder(with_folder("", one, data), two, data)
    assert watched_folders(note) == (one, two)
    assert "一 夹" in note
    assert watched_folders(without_folder(note, one)) == (two,)
    with pytest.raises(UsageError, match="没有在关注"):
        without_folder(note, tmp_path)


@pytest.mark.parametrize("note", ["", "[", "{}", "null", "3", "[1, null]"])
def test_a_damaged_note_lists_nothing(note):
    assert watched_folders(note) == ()


def test_what_cannot_be_watched_is_refused_in_words(tmp_path):
    data, one = tmp_path / "数据", tmp_path / "夹"
    (one / "里").mkdir(parents=True)
    data.mkdir()
    (tmp_path / "x.md").write_text("x")
    note = with_folder("", one, data)
    for folder, words in ((tmp_path / "没有", "不是文件夹"), (tmp_path / "x.md", "不是文件夹"), (data, "自己的数据文件夹"),
                          (one, "重叠"), (one / "里", "重叠"), (tmp_path, "重叠")):
        with pytest.raises(UsageError, match=words):
            with_folder(note, folder, data)


def test_before_any_look_the_table_alone_tells_how_a_folder_stands(station):
    folder = str(station.folder)
    station.table.put([FileRow(folder, f"{n}.md", 1, 1, str(n), "d" if status in ("added", "gone") else "", status)
                       for n, status in enumerate(("added", "failed", "unread", "gone"))])
    assert (station.state.path, station.state.files, station.state.failed, station.state.looked_at) == (folder, 1, 2, "")


def test_a_folder_that_is_gone_when_it_starts_is_told(station):
    shutil.rmtree(station.folder)
    station.looks(2)
    assert "不见了" in station.state.error
    assert json.dumps(station.state.error)
