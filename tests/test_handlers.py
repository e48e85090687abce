"""The page's actions: what a reader sees at each moment, without a browser."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_desk import FakeDeskEngine

from nongda.errors import StoreError
from nongda.records import Turn
from nongda.ui.handlers import ChatView, Desk

QUESTION = "咖啡叶子背面有黄粉，是什么病？"


@pytest.fixture
def engine(tmp_path: Path) -> FakeDeskEngine:
    return FakeDeskEngine(tmp_path)


def last(views: Iterator[ChatView]) -> ChatView:
    return list(views)[-1]


def test_evidence_comes_before_the_first_word_and_the_text_grows(tmp_path: Path):
    views = list(Desk(FakeDeskEngine(tmp_path, pause=0.02)).ask("a", QUESTION, "zh"))
    evidence = next(i for i, view in enumerate(views) if view.evidence and "card-1-1a2b3c4d-3" in view.evidence)
    first_word = next(i for i, view in enumerate(views) if 'class="text"' in view.transcript)
    assert evidence < first_word
    lengths = [len(view.transcript) for view in views[first_word:-1]]
    assert len(lengths) > 5 and lengths == sorted(lengths)


def test_the_last_view_is_finished_and_the_question_box_empty(engine: FakeDeskEngine):
    views = list(Desk(engine).ask("a", QUESTION, "zh"))
    assert views[0].busy and views[0].question == ""
    assert not views[-1].busy and "用时 1.2 秒" in views[-1].transcript
    assert "<mark>" in (views[-1].evidence or "")


def test_the_next_question_carries_the_conversation_without_citations(engine: FakeDeskEngine):
    desk = Desk(engine)
    last(desk.ask("a", QUESTION, "zh"))
    last(desk.ask("a", "那怎么治？", "zh"))
    assert engine.histories[0] == []
    user, assistant = engine.histories[1]
    assert user == Turn("user", QUESTION)
    assert assistant.role == "assistant" and "雨季前剪除病枝。" in assistant.content and "#" not in assistant.content


BORER = "打玉米虫用什么药？"


def test_a_reading_undone_asks_the_same_question_again_with_the_word_as_written(engine: FakeDeskEngine):
    desk = Desk(engine)
    assert "已按“玉米螟”理解“打玉米虫”" in last(desk.ask("a", BORER, "zh")).transcript
    view = last(desk.reread("a", "1/0/as-written", "zh"))
    second = view.transcript.split('class="turn you"')[2]
    assert BORER in second and "按原字“打玉米虫”查找" in second and "已按" not in second
    assert engine.as_written == [frozenset(), {"打玉米虫"}]
    assert engine.histories[1] == []  # the answer that misread the word says nothing about the question


def test_a_reading_undone_holds_for_the_next_questions_until_it_is_taken_up_again(engine: FakeDeskEngine):
    desk = Desk(engine)
    last(desk.ask("a", BORER, "zh"))
    last(desk.reread("a", "1/0/as-written", "zh"))
    assert last(desk.ask("a", "洋芋怎么种？", "zh")).transcript.count("按原字“打玉米虫”查找</span>") == 1  # of the turn before
    last(desk.reread("a", "2/0/understood", "zh"))
    last(desk.ask("a", "再问打玉米虫", "zh"))
    assert engine.as_written[2:] == [{"打玉米虫"}, frozenset(), frozenset()]


def test_a_question_asked_again_stands_in_the_history_once_with_its_last_answer(engine: FakeDeskEngine):
    desk = Desk(engine)
    last(desk.ask("a", QUESTION, "zh"))
    last(desk.ask("a", BORER, "zh"))
    last(desk.reread("a", "2/0/as-written", "zh"))
    last(desk.reread("a", "3/0/understood", "zh"))
    last(desk.ask("a", "那怎么治？", "zh"))
    asked = [[turn.content for turn in turns if turn.role == "user"] for turns in engine.histories]
    assert asked == [[], [QUESTION], [QUESTION], [QUESTION], [QUESTION, BORER]]


def test_undoing_a_reading_leaves_other_tabs_and_a_cleared_conversation_alone(engine: FakeDeskEngine):
    desk = Desk(engine)
    for tab in "ab":
        last(desk.ask(tab, BORER, "zh"))
    last(desk.reread("a", "1/0/as-written", "zh"))
    last(desk.ask("b", BORER, "zh"))
    desk.clear("a", "zh")
    last(desk.ask("a", BORER, "zh"))
    assert engine.as_written[3:] == [frozenset(), frozenset()]


@pytest.mark.parametrize("choice", ["", "1", "1/0", "9/0/as-written", "1/7/as-written", "1/-1/as-written", "1/0/understood",
                                    "1/0/<b>", "x/y/z/w", "1/0/as-written/2" * 999])
def test_a_button_of_a_page_that_is_not_up_to_date_changes_nothing(engine: FakeDeskEngine, choice: str):
    desk = Desk(engine)
    last(desk.ask("a", BORER, "zh"))
    (view,) = desk.reread("a", choice, "zh")
    assert view == desk.view("a", "zh") and len(engine.as_written) == 1


def test_a_reading_is_not_undone_while_an_answer_runs(tmp_path: Path):
    engine = FakeDeskEngine(tmp_path)
    desk = Desk(engine)
    last(desk.ask("a", BORER, "zh"))
    engine.pause = 0.05
    running = desk.ask("a", QUESTION, "zh")
    next(running)
    (refused,) = desk.reread("a", "1/0/as-written", "zh")
    assert "上一问还没有答完" in refused.note
    desk.stop("a")
    last(running)
    last(desk.ask("a", BORER, "zh"))
    assert engine.as_written[-1] == frozenset()


def test_a_failed_question_stays_out_of_the_history(engine: FakeDeskEngine, caplog: pytest.LogCaptureFixture):
    desk = Desk(engine)
    with caplog.at_level(logging.CRITICAL):
        last(desk.ask("a", "出错", "zh"))
    last(desk.ask("a", QUESTION, "zh"))
    assert engine.histories[1] == []


def test_an_unusable_question_is_answered_by_its_sentence_and_kept_in_the_box(engine: FakeDeskEngine):
    view = last(Desk(engine).ask("a", "  ", "zh"))
    assert "问题里没有文字" in view.transcript and view.question == "  " and not view.busy


def test_an_internal_error_shows_a_sentence_and_goes_to_the_log(
    engine: FakeDeskEngine, caplog: pytest.LogCaptureFixture
):
    view = last(Desk(engine).ask("a", "出错", "zh"))
    assert "程序内部出错" in view.transcript
    assert "ZeroDivision" not in view.transcript and "Traceback" not in view.transcript
    assert "ZeroDivisionError" in caplog.text


def test_stop_ends_the_answer_within_two_seconds_and_the_next_question_works(tmp_path: Path):
    engine = FakeDeskEngine(tmp_path, pause=0.2)
    desk = Desk(engine)
    views = desk.ask("a", QUESTION, "zh")
    for view in views:
        if 'class="text"' in view.transcript:
            break
    asked = time.monotonic()
    desk.stop("a")
    stopped = last(views)
    assert engine.ended[0] - asked < 2
    assert "已停止" in stopped.transcript and not stopped.busy
    engine.pause = 0.0
    assert "已停止" not in last(desk.ask("b", QUESTION, "zh")).transcript


def test_stopping_one_tab_leaves_the_other_alone(tmp_path: Path):
    desk = Desk(FakeDeskEngine(tmp_path, pause=0.01))
    views = desk.ask("a", QUESTION, "zh")
    next(views)
    desk.stop("b")
    assert "已停止" not in last(views).transcript


def test_a_page_that_goes_away_does_not_keep_the_models(tmp_path: Path):
    engine = FakeDeskEngine(tmp_path, pause=0.1)
    desk = Desk(engine)
    abandoned = desk.ask("a", QUESTION, "zh")
    for view in abandoned:
        if 'class="text"' in view.transcript:
            break
    desk.close("a")  # the generator itself stays suspended
    assert engine.lock.acquire(timeout=2)
    engine.lock.release()


def test_a_second_question_while_one_runs_is_refused_with_a_sentence(tmp_path: Path):
    engine = FakeDeskEngine(tmp_path, pause=0.05)
    desk = Desk(engine)
    running = desk.ask("a", QUESTION, "zh")
    next(running)
    (refused,) = desk.ask("a", "再问", "zh")
    assert refused == ChatView(None, note=refused.note) and "上一问还没有答完" in refused.note
    desk.stop("a")
    last(running)
    assert len(engine.histories) == 1


def test_clearing_drops_what_the_old_question_still_sends(tmp_path: Path):
    desk = Desk(FakeDeskEngine(tmp_path, pause=0.05))
    running = desk.ask("a", QUESTION, "zh")
    next(running)
    cleared = desk.clear("a", "zh")
    assert "您好" in cleared.transcript and not cleared.busy and not cleared.started
    assert list(running) == []
    assert desk.view("a", "zh").transcript == cleared.transcript


def test_two_tabs_at_once_both_get_their_answer(tmp_path: Path):
    desk, views = Desk(FakeDeskEngine(tmp_path, pause=0.005)), {}

    def ask(name: str) -> None:
        views[name] = last(desk.ask(name, QUESTION, "zh"))

    threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert all("用时" in views[name].transcript for name in "ab")


def test_a_state_that_cannot_be_read_is_a_sentence(engine: FakeDeskEngine, monkeypatch: pytest.MonkeyPatch):
    def broken() -> None:
        raise StoreError("资料库打不开：请运行 rebuild")

    monkeypatch.setattr(engine, "doctor", broken)
    assert "资料库打不开" in list(Desk(engine).status("zh"))[-1]


def test_the_state_is_a_table_in_the_readers_language(engine: FakeDeskEngine):
    waiting, report = Desk(engine).status("zh")
    assert "正在检查" in waiting and "档位" in report and "8.0 GiB" in report
    assert "profile" in list(Desk(engine).status("en"))[-1]


def test_ending_the_program_ends_all_work(tmp_path: Path):
    engine = FakeDeskEngine(tmp_path, pause=0.1)
    desk = Desk(engine)
    next(desk.ask("a", QUESTION, "zh"))
    views = desk.ask("b", QUESTION, "zh")
    next(views)
    desk.close_all()
    assert engine.lock.acquire(timeout=2)
    engine.lock.release()
