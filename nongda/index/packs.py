"""Knowledge packs of one knowledge base: made, checked, added, undone; and the keys it trusts."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nongda.errors import UsageError
from nongda.index.pack import Pack, Report, open_pack
from nongda.index.pack_apply import PackAdded, PreparerWith, add_pack
from nongda.index.pack_make import make_pack, packed_words
from nongda.index.pack_manifest import Manifest, Retired
from nongda.index.pack_plan import Plan, plan
from nongda.index.pack_record import AddedPack, added_packs
from nongda.index.pack_sign import PublicKey, read_secret, trust, trusted_keys
from nongda.index.pack_undo import PackUndone, undo_pack
from nongda.index.store import Store
from nongda.intake import Progress
from nongda.language.lexicon import Lexicon


def _silent(done: int, total: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Packs:
    """What the page and the command line do with packs.

    `preparer_with` makes what reads files by a lexicon; only adding and undoing call it, as it loads a model.
    `shipped_keys` is the folder of the keys that come with the program.
    """

    store: Store
    shipped: Lexicon
    preparer_with: PreparerWith
    shipped_keys: Path

    @property
    def _own_keys(self) -> Path:
        return self.store.folder / "keys"

    def trusted(self) -> list[PublicKey]:
        """Return the keys whose packs this knowledge base takes. Raises StoreError that names a damaged key file."""
        return trusted_keys(self._own_keys, self.shipped_keys)

    def trust(self, path: Path) -> PublicKey:
        """Take packs of the key in a `.pub` file from now on. Raises UsageError, StoreError."""
        self.store.check_writable()
        return trust(path, self._own_keys)

    def make(self, path: Path, key_file: Path, name: str = "", documents: Sequence[str] | None = None, words: bool = True,
             retire: Sequence[Retired] = (), made_at: str = "", report: Report = _silent) -> Manifest:
        """Write a pack, read it back and return what it says of itself; see `make_pack`.

        `name` is the file's unless given; `made_at` is now: a given one makes the same bytes again.
        """
        key = read_secret(key_file)
        when = made_at or datetime.now(UTC).isoformat(timespec="seconds")
        return make_pack(self.store, path, key, name or path.stem, _utc(when), documents, words, retire, report)

    def open(self, path: Path, report: Report = _silent) -> Pack:
        """Check every byte of a pack. Raises DocumentError with what to do."""
        return open_pack(path, self.trusted(), report)

    def plan(self, pack: Pack) -> Plan:
        """Return what adding a pack would change; needs no model."""
        return plan(self.store, pack.manifest, packed_words(pack), self.shipped)

    def add(self, pack: Pack, stop: threading.Event | None = None) -> Generator[Progress, None, PackAdded | None]:
        """Add a pack, wholly or not at all, with progress; see `add_pack`."""
        return add_pack(self.store, pack, self.shipped, self.preparer_with, stop)

    def undo(self, which: str = "") -> PackUndone:
        """Undo a pack by id or name, the last one unless given; see `undo_pack`."""
        return undo_pack(self.store, which, self.shipped, self.preparer_with)

    def added(self) -> list[AddedPack]:
        """Return the packs added and not undone, in the order in which they were added."""
        return added_packs(self.store)


def _utc(when: str) -> str:
    """Return a time as ISO 8601 in UTC: packs are ordered by it. Raises UsageError where it is none."""
    try:
        moment = datetime.fromisoformat(when)
    except ValueError as error:
        raise UsageError(f"打包时间“{when}”不是日期：请写成 2026-05-01 或 2026-05-01T08:00:00") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
