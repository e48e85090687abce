"""Seconds per stage, told by a clock that stands still until it is moved."""

import pytest

from nongda.answer import clock as clock_module
from nongda.answer.clock import Clock
from nongda.records import Stage


@pytest.fixture
def now(monkeypatch):
    """The time in a list of one."""
    time = [100.0]
    monkeypatch.setattr(clock_module.time, "perf_counter", lambda: time[0])
    return time


def test_a_stage_lasts_from_the_end_of_the_last_one(now):
    clock = Clock()
    now[0] = 101.0
    assert clock.stage("understand") == Stage("understand", 1.0)
    now[0] = 103.5
    assert clock.stage("select") == Stage("select", 2.5)
    now[0] = 104.0
    assert clock.finish() == {"understand": 1.0, "bm25": 0, "dense": 0, "fuse": 0, "rerank": 0, "select": 2.5, "decide": 0,
                              "first_token": 0, "generate": 0, "total": 4.0}


def test_a_stage_that_measured_itself_keeps_its_seconds_and_the_next_begins_after_it(now):
    clock = Clock()
    now[0] = 105.0
    measured = Stage("bm25", 0.25)
    assert clock.record(measured) is measured
    now[0] = 106.0
    assert clock.stage("select").seconds == 1.0
    assert clock.finish()["bm25"] == 0.25


def test_the_first_token_counts_from_the_start_and_once(now):
    clock = Clock()
    now[0] = 102.0
    clock.first_token()
    now[0] = 103.0
    clock.first_token()
    assert clock.finish()["first_token"] == 2.0


def test_seconds_are_rounded_to_tenths_of_a_millisecond(now):
    clock = Clock()
    now[0] = 100.123456
    clock.stage("select")
    assert clock.finish()["select"] == 0.1235
