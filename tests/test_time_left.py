"""How long a run still takes, told from what was done so far."""

import pytest

from nongda.index.time_left import FileShare, TimeLeft


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_the_time_left_follows_from_the_bytes_done():
    clock = Clock()
    left = TimeLeft([100, 300, 400], clock)
    clock.now += 1
    assert left.after(1) is None  # too early to tell
    clock.now += 9
    assert left.after(1) == pytest.approx(70)  # 100 bytes in 10 s, 700 to go
    assert left.after(1, 0.5) == pytest.approx(550 * 10 / 250)
    assert left.after(3) == 0


def test_files_that_cost_nothing_tell_nothing_of_the_speed():
    clock = Clock()
    left = TimeLeft([800, 100, 100], clock)
    clock.now += 10
    left.skip(0)
    assert left.after(1) is None
    assert left.after(2) == pytest.approx(10)


def test_of_a_scan_reading_is_nearly_all_of_the_work():
    clock, shares = Clock(), []
    file = FileShare(clock)
    for page in range(1, 11):
        clock.now += 2.7
        shares.append(file.after("reading", page, 10))
    assert shares[4] == pytest.approx(0.9 * 5 / 10)  # 2.7 s a page to read, 0.3 s to embed
    assert shares[9] == pytest.approx(0.9)
    assert file.after("embedding", 10, 20) == pytest.approx(0.95)


def test_of_pages_with_text_reading_is_nothing_beside_embedding():
    clock = Clock()
    file = FileShare(clock)
    for page in range(1, 11):
        clock.now += 0.01
        assert file.after("reading", page, 10) == 0
    assert file.after("embedding", 5, 20) == pytest.approx(0.25)
    assert file.after("embedding", 0, 0) == 0


def test_pages_recognised_in_an_earlier_run_promise_no_speed():
    clock, left = Clock(), None
    file, run = FileShare(clock), TimeLeft([10_000], clock)
    for page in range(1, 131):
        clock.now += 0.001 if page <= 120 else 4.0
        left = run.after(0, file.after("reading", page, 500))
    assert left == pytest.approx(370 * 4.3 + 10 * 0.3, rel=0.05)  # 370 pages to read, 380 to embed
