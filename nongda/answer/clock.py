"""Seconds per stage of one answer."""

from __future__ import annotations

import time
from collections.abc import Mapping

from nongda.records import Stage

_NAMES = ("understand", "bm25", "dense", "fuse", "rerank", "select", "decide", "first_token", "generate")


class Clock:
    """Seconds per stage, from one start."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._timings: dict[str, float] = {}

    def stage(self, name: str) -> Stage:
        """End a stage that began when the last one ended."""
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return self._keep(Stage(name, seconds))

    def record(self, stage: Stage) -> Stage:
        """Take over a stage that has measured itself."""
        self._last = time.perf_counter()
        return self._keep(stage)

    def _keep(self, stage: Stage) -> Stage:
        self._timings[stage.name] = stage.seconds
        return stage

    def first_token(self) -> None:
        """Note when the model's first word came."""
        if "first_token" not in self._timings:
            self._timings["first_token"] = time.perf_counter() - self._start

    def finish(self) -> Mapping[str, float]:
        """Return the seconds of every stage, 0 for those that were not needed, and the total."""
        timings = {name: self._timings.get(name, 0.0) for name in _NAMES}
        return {name: round(s, 4) for name, s in {**timings, "total": time.perf_counter() - self._start}.items()}
