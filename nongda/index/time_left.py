"""How long a run over many files still takes, from the bytes done so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

_SURE_AFTER = 2.0  # seconds; before that any estimate is a guess


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
