"""Files on their way into the knowledge base, and watched folders, as HTML; pure functions, everything is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import PurePath
from typing import Literal, Protocol

from nongda.documents.parse import PAGED, PARSERS
from nongda.intake import AddEvent, Progress
from nongda.ui.render import Texts
from nongda.ui.sheets import local_time

SHOWN_FILES = 60  # rows sent with every update, of a thousand files
Status = Literal["waiting", "adding", "added", "skipped", "failed", "not_done"]


@dataclass(frozen=True, slots=True)
class FileState:
    """One file being added: its place in the work and, at the end, the sentence about it."""

    name: str
    status: Status = "waiting"
    stage: Literal["reading", "embedding"] = "reading"
    done: int = 0
    total: int = 0
    message: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """An import at one moment: the files that were begun, by their number, and how many there are in all."""

    files: Mapping[int, FileState] = field(default_factory=dict)
    total: int = 0
    left: float | None = None  # seconds
    ended: bool = False
    folder: str = ""  # the one being taken in: its files are named from there

    @property
    def done(self) -> int:
        """The number of files that came to an end."""
        return sum(state.status in ("added", "skipped", "failed") for state in self.files.values())


class Watched(Protocol):
    """A watched folder as the page shows it; `looked_at` is ISO 8601, "" before the first look."""

    @property
    def path(self) -> object: ...
    @property
    def looked_at(self) -> str: ...
    @property
    def files(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def error(self) -> str: ...
    @property
    def busy(self) -> bool: ...


def advance(work: Work, events: Sequence[AddEvent]) -> Work:
    """Return the work after these events."""
    files, total, left = dict(work.files), work.total, work.left
    for event in events:
        before = files.get(event.index, FileState(_name(event.path, work.folder)))
        if isinstance(event, Progress):
            total = event.files
            files[event.index] = replace(before, status="adding", stage=event.stage, done=event.done, total=event.total)
        else:
            total = event.total
            files[event.index] = replace(before, status=event.status, message=event.message, warnings=event.warnings)
        left = event.left
    return replace(work, files=files, total=total, left=left)


def end(work: Work) -> Work:
    """Return the work when nothing more will come."""
    files = {number: replace(state, status="not_done") if state.status in ("waiting", "adding") else state
             for number, state in work.files.items()}
    return replace(work, files=files, left=None, ended=True)


def adding(work: Work, only_failed: bool, texts: Texts) -> str:
    """Return how far an import is and its files: those in hand first, then those that failed, then the newest."""
    if not work.total:
        return ""
    chosen = [state for _, state in sorted(work.files.items(), key=_place) if not only_failed or state.status == "failed"]
    rows = "".join(_file(state, texts) for state in chosen[:SHOWN_FILES])
    hidden = len(chosen) - SHOWN_FILES
    more = f'<p class="hint">{texts["files_more"].format(count=hidden)}</p>' if hidden > 0 else ""
    none = f'<p class="hint">{texts["files_no_failures"]}</p>' if only_failed and not chosen else ""
    return f'{_overall(work, texts)}<ul class="files" tabindex="0">{rows}</ul>{none}{more}'


def time_left(seconds: float, texts: Texts) -> str:
    """Return a span of time as a reader says it, in whole minutes."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return texts["left_under_minute"]
    if minutes < 60:
        return texts["left_minutes"].format(minutes=minutes)
    return texts["left_hours"].format(hours=minutes // 60, minutes=minutes % 60)


def suffixes(texts: Texts) -> str:
    """Return which files can be added."""
    return f'<p class="hint">{texts["upload_hint"].format(suffixes=" ".join((*PARSERS, *PAGED)))}</p>'


def watched(folders: Sequence[Watched], texts: Texts) -> str:
    """Return the watched folders with what the last look found, each with a button that ends the watching."""
    if not folders:
        return ""
    rows = "".join(_folder(folder, texts) for folder in folders)
    return f'<h3>{texts["watched_title"].format(count=len(folders))}</h3><ul class="files watched">{rows}</ul>'


def _name(path: str, folder: str) -> str:
    """Return a file's name, with the folders it lies in below the one being taken in."""
    pure = PurePath(path)
    return str(pure.relative_to(folder)) if folder and pure.is_relative_to(folder) else pure.name


def _place(numbered: tuple[int, FileState]) -> tuple[int, int]:
    number, state = numbered
    if state.status == "waiting":
        return 4, number
    return {"adding": 0, "failed": 1}.get(state.status, 2 if state.warnings else 3), -number


def _overall(work: Work, texts: Texts) -> str:
    numbers = {"done": work.done, "total": work.total}
    if work.ended:
        said = texts["overall_done" if work.done == work.total else "overall_stopped"].format(**numbers)
    else:
        said = texts["overall"].format(**numbers)
        if work.left is not None:
            said += texts["overall_left"].format(left=time_left(work.left, texts))
    ends = [state.status for state in work.files.values()]
    counts = texts["overall_counts"].format(**{name: ends.count(name) for name in ("added", "skipped", "failed")})
    bar = "" if work.ended else f'<progress value="{work.done}" max="{work.total}" aria-label="{said}"></progress>'
    role = ' role="status"' if work.ended else ""  # read aloud once, not twice a second
    return f'<div class="overall"{role}><b>{said}</b>{bar}<span>{counts}</span></div>'


def _file(state: FileState, texts: Texts) -> str:
    bar = ""
    if state.status == "adding":
        value, count = "", texts["adding"]
        if state.total:
            value = f' value="{state.done}" max="{state.total}"'
            count = texts["pages_of" if state.stage == "reading" else "chunks_of"].format(done=state.done, total=state.total)
        bar = f"<progress{value} aria-label=\"{count}\"></progress><span>{count}</span>"
    message = f"<p>{escape(state.message)}</p>" if state.message else ""
    warnings = "".join(f'<p class="warning">{escape(warning)}</p>' for warning in state.warnings)
    label = "" if bar else f'<span class="tag {state.status}">{texts[state.status]}</span>'
    return f'<li><div><b>{escape(state.name)}</b>{label}{bar}</div>{message}{warnings}</li>'


def _folder(folder: Watched, texts: Texts) -> str:
    name = escape(str(folder.path))
    looked = texts["watched_never"]
    if folder.busy:
        looked = texts["watched_busy"]
    elif folder.looked_at:
        looked = texts["watched_looked"].format(time=escape(local_time(folder.looked_at)))
    counts = texts["watched_files"].format(count=folder.files)
    failed = f'<span class="tag failed">{texts["watched_failed"].format(count=folder.failed)}</span>' if folder.failed else ""
    error = f'<p class="warning"><span aria-hidden="true">⚠</span> {escape(folder.error)}</p>' if folder.error else ""
    label = escape(texts["folder_unwatch_one"].format(folder=folder.path))
    return (f'<li><div><b>{name}</b><span>{looked}</span><span>{counts}</span>{failed}<button type="button" class="unwatch" '
            f'data-folder="{name}" aria-label="{label}">{texts["folder_unwatch"]}</button></div>{error}</li>')
