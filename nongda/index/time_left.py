"""How long a run over many files still takes, from the bytes done so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

_SURE_AFTER = 2.0  # seconds; before that any estimate is a guess
_QUICK = 0.1  # seconds; a page read faster has a text layer, or was recognised in an earlier run
_EMBEDDING = 0.3  # seconds that the passages of a page take


class TimeLeft:
    """Estimates the seconds left from the speed so far; sizes are the bytes of the files in order."""

    def __init__(self, sizes: Sequence[int], clock: Callable[[], float] = time.monotonic) -> None:
        self._before = [0]
        for size in sizes:
            self._before.append(self._before[-1] + max(size, 1))
        self._skipped = 0
        self._clock = clock
        self._started = clock()

    def skip(self, index: int) -> None:
        """Say that file `index` (from 0) cost nothing: it tells nothing of the speed."""
        self._skipped += self._before[index + 1] - self._before[index]

    def after(self, index: int, share: float = 0.0) -> float | None:
        """Return the seconds left when `index` files and a share (0 to 1) of the next are done; None too early to tell."""
        here = self._before[index]
        if index + 1 < len(self._before):
            here += round(share * (self._before[index + 1] - here))
        worked, elapsed = here - self._skipped, self._clock() - self._started
        if elapsed < _SURE_AFTER or worked <= 0:
            return None
        return (self._before[-1] - here) * elapsed / worked


class FileShare:
    """How much of one file is done, 0 to 1; reading is most of the work where pages are recognised, and little elsewhere."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()
        self._slow = 0
        self._seconds = 0.0
        self._reading = 0.0

    def after(self, stage: Literal["reading", "embedding"], done: int, total: int) -> float:
        """Return the share when so many pages are read, or passages embedded; call it for each."""
        if stage == "embedding":
            return self._reading + (1 - self._reading) * (done / total if total else 0.0)
        now = self._clock()
        seconds, self._last = now - self._last, now
        if seconds < _QUICK and not self._slow:
            return 0.0
        if seconds >= _QUICK:
            self._slow += 1
            self._seconds += seconds
        page = self._seconds / self._slow
        self._reading = page / (page + _EMBEDDING)
        return self._reading * self._slow / (self._slow + total - done)
