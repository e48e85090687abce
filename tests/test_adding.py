"""Taking files and folders in: how far it is, what became of each file, and what is watched."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from conftest import HashEmbedder
from fake_desk import FakeDeskEngine
from fake_library import WatchedFolder

from nongda.engine import ROOT, Engine, Models
from nongda.errors import StoreError
from nongda.index.store import Store
from nongda.intake import FileReport, Progress
from nongda.language.lexicon import Lexicon
from nongda.models.manifest import load_manifest
from nongda.models.rerank import TokenCache
from nongda.settings import Settings
from nongda.ui import adding, adding_view
from nongda.ui.adding import AddingDesk, AddView
from nongda.ui.adding_view import SHOWN_FILES, FileState, Work, advance, end
from nongda.ui.texts import EN, ZH

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def engine(tmp_path: Path) -> FakeDeskEngine:
    return FakeDeskEngine(tmp_path)


@pytest.fixture
def desk(engine: FakeDeskEngine, monkeypatch: pytest.MonkeyPatch) -> AddingDesk:
    monkeypatch.setattr(adding, "UPDATE_SECONDS", 0.0)
    return AddingDesk(engine)


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def names(html: str) -> list[str]:
    return re.findall(r"<li><div><b>(.*?)</b>", html)


def last(views: Iterator[AddView]) -> AddView:
    return list(views)[-1]


def test_adding_shows_pages_read_then_passages_embedded_and_a_sentence_for_each_file(engine: FakeDeskEngine, desk: AddingDesk):
    engine.pause = 0.02
    views = list(desk.add("a", [Path("新 资料.md"), Path("表.et")], "zh"))
    said = [plain(view.progress) for view in views]
    read = next(n for n, words in enumerate(said) if "已读 2 / 4 页" in words)
    assert read < next(n for n, words in enumerate(said) if "已编入 2 / 4 段" in words)
    assert any("已完成 0/2，约剩 1 分钟" in words for words in said)
    assert views[0].busy and not views[-1].busy and views[-1].done
    assert "新 资料.md 已加入，共 4 段" in said[-1] and "表.et 的类型不认识" in said[-1]
    assert "做完了：共 2 份" in said[-1] and "1 份已加入，0 份已跳过，1 份未加入" in said[-1]


def test_adding_nothing_says_what_to_do(desk: AddingDesk):
    (view,) = desk.add("a", [], "zh")
    assert "请先选择" in view.progress and not view.busy and not view.done


def test_stopping_says_which_files_were_not_processed_and_how_far_it_came(engine: FakeDeskEngine, desk: AddingDesk):
    engine.pause = 0.1
    views = desk.add("a", [Path("一.md"), Path("二.md")], "zh")
    next(views)
    desk.stop("a")
    assert "停下了：做完 0/2" in (said := plain(last(views).progress)) and "二.md没有处理一.md没有处理" in said


def test_an_import_that_fails_as_a_whole_ends_with_its_sentence(
    engine: FakeDeskEngine, desk: AddingDesk, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> Iterator[object]:
        raise StoreError("磁盘已满：请清出空间后再试")
        yield

    monkeypatch.setattr(engine, "add", full)
    view = last(desk.add("a", [Path("一.md")], "zh"))
    assert "磁盘已满" in view.progress and "没有处理" in view.progress and not view.busy


def test_an_internal_error_is_a_sentence_and_goes_to_the_log(
    engine: FakeDeskEngine, desk: AddingDesk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(engine, "add", lambda *_: iter([1 / 0]))
    assert "程序内部出错" in last(desk.add("a", [Path("一.md")], "zh")).progress and "ZeroDivisionError" in caplog.text


def test_a_second_import_of_the_same_tab_is_refused_and_one_of_another_tab_is_not(engine: FakeDeskEngine, desk: AddingDesk):
    engine.pause = 0.05
    running = desk.add("a", [Path("一.md")], "zh")
    next(running)
    (refused,) = desk.add("a", [Path("二.md")], "zh")
    assert "正在加入资料" in refused.progress and "一.md" in refused.progress and refused.busy and not refused.done
    assert "做完了" in last(desk.add("b", [Path("三.md")], "zh")).progress
    assert "一.md 已加入" in last(running).progress and last(desk.add("a", [Path("四.md")], "zh")).done


def test_updates_come_at_most_twice_a_second_and_the_last_one_has_everything(engine: FakeDeskEngine):
    started = time.monotonic()
    views = list(AddingDesk(engine).add("a", [Path(f"{n}.md") for n in range(300)], "zh"))
    assert len(views) <= 4 + 2 * (time.monotonic() - started)
    assert "300 份已加入" in views[-1].progress


def test_a_thousand_files_are_counted_and_a_few_of_them_listed_those_that_failed_first():
    done = [FileReport(f"/库/{n}.md", "failed" if n % 100 == 0 else "added", "", n, 1000) for n in range(1, 999)]
    work = advance(Work(total=1000), [*done, Progress("/库/999.md", 1, 9, 999, 1000, "reading", 754.0)])
    html = adding_view.adding(work, False, ZH)
    assert names(html)[:12] == ["999.md", *(f"{n}.md" for n in range(900, 0, -100)), "998.md", "997.md"]
    assert len(names(html)) == SHOWN_FILES and len(html) < 20_000 and "另有 939 份没有列在这里" in html
    assert "已完成 998/1000，约剩 13 分钟" in html and "989 份已加入，0 份已跳过，9 份未加入" in html
    assert names(adding_view.adding(work, True, ZH)) == [f"{n}.md" for n in range(900, 0, -100)]


def test_files_with_warnings_come_before_those_without():
    work = advance(Work(total=3), [FileReport("a.md", "added", "", 1, 3, warnings=("缺一页",)), FileReport("b.md", "added", "", 2, 3),
                                   FileReport("c.md", "skipped", "", 3, 3)])
    assert names(adding_view.adding(work, False, ZH)) == ["a.md", "c.md", "b.md"]


def test_files_that_wait_come_last_the_next_of_them_first():
    waiting = {number: FileState(f"{number}.md") for number in range(1, 5)}
    work = advance(Work(waiting, 4), [FileReport("1.md", "added", "", 1, 4), Progress("2.md", 1, 2, 2, 4)])
    assert names(adding_view.adding(work, False, ZH)) == ["2.md", "1.md", "3.md", "4.md"]


def test_only_the_files_that_failed_are_shown_while_one_wants_it_so(desk: AddingDesk):
    last(desk.add("a", [Path("好.md"), Path("表.et")], "zh"))
    assert names(desk.show("a", True, "zh")) == ["表.et"] and len(names(desk.show("a", False, "zh"))) == 2
    desk.show("a", True, "zh")
    assert "没有未加入的文件" in last(desk.add("a", [Path("好.md")], "zh")).progress
    assert desk.show("other", True, "zh") == ""


def test_closing_the_tab_or_the_program_ends_the_import(engine: FakeDeskEngine, desk: AddingDesk):
    engine.pause = 0.1
    for session, close in (("a", lambda: desk.close("a")), ("b", desk.close_all)):
        views = desk.add(session, [Path(f"{n}.md") for n in range(9)], "zh")
        next(views)
        close()
        assert "没有处理" in last(views).progress


@pytest.mark.parametrize(("seconds", "said"), [(0.0, "剩不到 1 分钟"), (29.0, "剩不到 1 分钟"), (31.0, "约剩 1 分钟"),
                                               (720.0, "约剩 12 分钟"),
                                               (3569.0, "约剩 59 分钟"), (3599.0, "约剩 1 小时 0 分钟"), (9000.0, "约剩 2 小时 30 分钟")])
def test_the_time_left_is_said_in_whole_minutes(seconds: float, said: str):
    assert adding_view.time_left(seconds, ZH) == said


def test_a_whole_folder_is_taken_in_once(tmp_path: Path, desk: AddingDesk):
    folder = tmp_path / "农技 资料"
    folder.mkdir()
    for name in ("一.md", "表.et"):
        (folder / name).write_text("字", encoding="utf-8")
    view = last(desk.sync("a", f' "{folder}" ', "zh"))
    assert view.done and "一.md 已加入" in view.progress and "表.et 的类型不认识" in view.progress


@pytest.mark.parametrize(("typed", "said"), [("", "还没有填写文件夹"), ("  ", "还没有填写"), ("农技资料", "“农技资料”不是整个路径"),
                                             ("/没有/这个", "不存在")])
def test_a_folder_that_cannot_be_meant_is_said_in_words(desk: AddingDesk, typed: str, said: str):
    assert said in last(desk.sync("a", typed, "zh")).progress and said in desk.watch(typed, "zh")


def test_a_folder_is_watched_its_state_shown_and_let_go_again(tmp_path: Path, desk: AddingDesk):
    assert desk.watched("zh") == ""
    assert "已关注" in desk.watch(str(tmp_path), "zh")
    said = plain(desk.watched("zh"))
    for words in ("正在关注的文件夹（1）", "上次查看 2026-11-30", "已加入 12 份1 份没加入", "“表.et”读不出来"):
        assert words in said
    assert "不再关注" in desk.unwatch(str(tmp_path), "zh") and desk.watched("zh") == ""


def test_a_folder_not_looked_at_yet_or_being_looked_at_says_so():
    html = adding_view.watched([WatchedFolder(Path("/甲")), WatchedFolder(Path("/乙"), busy=True)], ZH)
    assert "还没有看过" in html and "正在更新" in html and "没加入" not in html


def test_watched_folders_that_cannot_be_read_are_a_sentence(
    engine: FakeDeskEngine, desk: AddingDesk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    def broken(*_: object) -> None:
        raise StoreError("资料库打不开：请运行 rebuild")

    for name in ("watched", "watch", "unwatch"):
        monkeypatch.setattr(engine, name, broken)
    assert all("资料库打不开" in said for said in (desk.watched("zh"), desk.watch(str(tmp_path), "zh"), desk.unwatch("x", "zh")))


def test_the_files_that_can_be_added_are_named_by_their_endings():
    assert all(suffix in adding_view.suffixes(ZH) for suffix in (".md", ".txt", ".docx", ".pdf"))


def test_markup_in_names_and_sentences_stays_text():
    work = end(Work({1: FileState(EVIL, "failed", message=EVIL, warnings=(EVIL,)), 2: FileState(EVIL, "adding", done=1, total=2)}, 2))
    folder = WatchedFolder(Path('/"' + EVIL), EVIL, 1, 1, EVIL)
    for texts in (ZH, EN):
        whole = adding_view.adding(work, False, texts) + adding_view.watched([folder], texts)
        assert "<script" not in whole and 'data-folder="/"' not in whole


def test_files_of_a_folder_are_named_from_it():
    work = advance(Work(folder="/农技"), [FileReport("/农技/2024/一.md", "added", "", 1, 2), FileReport("/别处/二.md", "added", "", 2, 2)])
    assert names(adding_view.adding(work, False, ZH)) == ["二.md", "2024/一.md"]


def test_a_folder_with_nothing_new_says_so(tmp_path: Path, desk: AddingDesk):
    assert "没有新的文件" in last(desk.sync("a", str(tmp_path), "zh")).progress


def test_the_real_engine_takes_a_folder_in_once_watches_it_and_lets_it_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(adding, "UPDATE_SECONDS", 0.0)
    embedder = HashEmbedder()
    engine = Engine(Settings(), Store(tmp_path / "资料 库"), load_manifest(ROOT / "models" / "manifest.toml"),
                    Lexicon.load(ROOT / "assets" / "domain"), "lite", ROOT, Models(embedder, None, None, TokenCache(embedder)))
    folder = tmp_path / "农技 资料"
    (folder / "病虫").mkdir(parents=True)
    (folder / "病虫" / "玉米螟.md").write_text("# 玉米螟\n\n玉米螟在心叶末期用药，每亩100克。", encoding="utf-8")
    desk = AddingDesk(engine.library)
    said = plain(last(desk.sync("a", str(folder), "zh")).progress)
    assert "做完了：共 1 份" in said and str(Path("病虫", "玉米螟.md")) in said
    assert "没有新的文件" in last(desk.sync("a", str(folder), "zh")).progress
    assert "已关注" in desk.watch(str(folder), "zh") and "已加入 1 份" in plain(desk.watched("zh"))
    assert 'role="alert"' in desk.watch(str(folder), "zh")  # it is watched already
    (watched,) = re.findall('data-folder="(.*?)"', desk.watched("zh"))
    assert "不再关注" in desk.unwatch(unescape(watched), "zh") and desk.watched("zh") == ""
    engine.close()
