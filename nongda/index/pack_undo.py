"""A pack is taken out again, and what it had changed is as before. Start reading at `undo_pack`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nongda.errors import UsageError
from nongda.index import pack_record
from nongda.index.life import edits_of
from nongda.index.pack_apply import CachedEmbedder, PreparerWith, change_life, redescribe
from nongda.index.pack_record import (
    AddedPack,
    Description,
    Life,
    LifeChange,
    Record,
    Redescription,
    WordChange,
    added_packs,
)
from nongda.index.prepare import Preparer
from nongda.index.reword import keep_own_words
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.language.own_words import OwnWord
from nongda.language.text import search_form
from nongda.records import StoredDocument


@dataclass(frozen=True, slots=True)
class PackUndone:
    """What undoing a pack has changed; `stays` are sentences on what was changed since and stays as it is."""

    name: str
    removed: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    words: int = 0
    stays: tuple[str, ...] = ()


def undo_pack(store: Store, which: str, shipped: Lexicon, preparer_with: PreparerWith) -> PackUndone:
    """Undo a pack, given by its id, the begin of it, or its name; "" is the one added last. All in one atomic write.

    What it added goes, though old citations can still be read; what another added pack holds too stays and is that pack's
    from now on. Raises UsageError where no such pack was added.
    """
    store.check_writable()
    with store.write():
        target = _find(added_packs(store), which)
        undoing = _Undoing(store, target, [pack for pack in added_packs(store) if pack.id != target.id])
        words = undoing.words()
        preparer = preparer_with(shipped.with_own(words))
        embed = CachedEmbedder(preparer.embedder)
        if words != tuple(store.own_words()):
            keep_own_words(store, words, preparer.lexicon, embed)
        undoing.documents(preparer, embed)
        for pack_id, record in undoing.others.items():
            pack_record.rewrite(store, pack_id, record)
        pack_record.forget(store, target.id)
        store.count_revision()
    return PackUndone(target.name, tuple(undoing.removed), tuple(undoing.returned), undoing.words_back, tuple(undoing.stays))


def _on_top(first: Redescription, second: Redescription) -> Redescription:
    """Return the change of both one after the other."""
    return Redescription(first.id, Description(first.before.edits, {**second.before.values, **first.before.values}),
                         Description(second.after.edits, {**first.after.values, **second.after.values}))


def _find(packs: Sequence[AddedPack], which: str) -> AddedPack:
    found = [pack for pack in packs if pack.id.startswith(which) or pack.name == which] if which else packs[-1:]
    if not found:
        raise UsageError(f"没有添加过知识包“{which}”：用 pack list 命令查看" if which else "还没有添加过知识包：没有可以撤销的")
    if len(found) > 1:
        raise UsageError(f"有 {len(found)} 个知识包符合“{which}”：请写出完整的编号，用 pack list 命令查看")
    return found[0]


class _Undoing:
    """Takes one pack's changes back inside a write; `others` are the records of the packs that stay."""

    def __init__(self, store: Store, target: AddedPack, others: Sequence[AddedPack]) -> None:
        self._store = store
        self._record = target.record
        self._names = {pack.id: pack.name for pack in others}
        self.others: dict[str, Record] = {pack.id: pack.record for pack in others}
        self.removed: list[str] = []
        self.returned: list[str] = []
        self.stays: list[str] = []
        self.words_back = 0

    # own words

    def words(self) -> tuple[OwnWord, ...]:
        """Return what the own words shall be: as before the pack, but for those changed since."""
        record, now = self._record, tuple(self._store.own_words())
        self.words_back = len(record.words)
        if now == record.words_after:
            return record.words_before
        current: dict[str, OwnWord | None] = {search_form(word.alias): word for word in now}
        for change in record.words:
            if current.get(change.form) == change.after:
                current[change.form] = change.before
            else:
                self.words_back -= 1
                if not self._hand_on_word(change):
                    self.stays.append(f"叫法“{change.after.alias}”后来改过，保持现在的样子")
        return tuple(word for word in current.values() if word is not None)

    def _hand_on_word(self, change: WordChange) -> bool:
        """Have another pack that changed the word on top of this one know what it was before both."""
        for pack_id, record in self.others.items():
            if any(w.form == change.form and w.before == change.after for w in record.words):
                words = tuple(replace(w, before=change.before) if w.form == change.form else w for w in record.words)
                before = (change.before if search_form(w.alias) == change.form else w for w in record.words_before)
                self.others[pack_id] = replace(record, words=words, words_before=tuple(w for w in before if w is not None))
                return True
        return False

    # documents

    def documents(self, preparer: Preparer, embed: CachedEmbedder) -> None:
        """Remove what the pack added and give back the lives that documents had."""
        here = [doc_id for doc_id in self._record.added if self._there(doc_id) is not None]
        leaving = [doc_id for doc_id in here if not self._hand_on_document(doc_id)]
        for change in self._record.lives:
            life = self._former(change, set(leaving))
            if life is not None:
                change_life(self._store, change.id, life, preparer, embed)
                self.returned.append(change.id)
        self._descriptions(set(leaving), preparer, embed)
        heirs = {doc_id: self._heir(doc_id, set(leaving)) for doc_id in leaving}
        for doc_id in leaving:
            self._store.remove(doc_id)
            self.removed.append(doc_id)
        for document in self._store.documents():  # older editions that came after the pack
            if document.state == "superseded" and document.superseded_by in heirs:
                heir = heirs[document.superseded_by]
                change_life(self._store, document.id, Life("superseded", heir) if heir else Life("active"), preparer, embed)

    def _descriptions(self, leaving: set[str], preparer: Preparer, embed: CachedEmbedder) -> None:
        for change in self._record.descriptions:
            if self._there(change.id) is None or change.id in leaving:
                continue
            if edits_of(self._store, change.id) == change.after.edits:
                redescribe(self._store, change.id, change.before, preparer, embed)
            elif not self._hand_on_description(change):
                self.stays.append(f"资料 {change.id} 的说明后来改过，保持现在的样子")

    def _hand_on_description(self, change: Redescription) -> bool:
        for pack_id, record in self.others.items():
            if any(d.id == change.id and d.before.edits == change.after.edits for d in record.descriptions):
                descriptions = tuple(_on_top(change, d) if d.id == change.id else d for d in record.descriptions)
                self.others[pack_id] = replace(record, descriptions=descriptions)
                return True
        return False

    def _there(self, doc_id: str) -> StoredDocument | None:
        document = self._store.document(doc_id)
        return None if document is None or document.state == "removed" else document

    def _hand_on_document(self, doc_id: str) -> bool:
        """Leave a document to another pack that holds it too, with the editions it took the place of."""
        heir = next((pack_id for pack_id, record in self.others.items() if doc_id in record.documents), None)
        if heir is None:
            return False
        record = self.others[heir]
        lives = tuple(change for change in self._record.lives if change.after.superseded_by == doc_id)
        self.others[heir] = replace(record, added=(*record.added, doc_id), lives=(*record.lives, *lives))
        with self._store.write() as db:
            db.table("documents").update(doc_id, {"origin": self._names[heir]})
        self.stays.append(f"资料 {doc_id} 也在知识包“{self._names[heir]}”里，留下")
        return True

    def _former(self, change: LifeChange, leaving: set[str]) -> Life | None:
        """Return the life that a document shall have again, None where it stays as it is."""
        document = self._there(change.id)
        if document is None or change.id in leaving:
            return None
        successor = change.after.superseded_by
        if Life(document.state, document.superseded_by) != change.after:
            if not self._hand_on_life(change):
                self.stays.append(f"资料 {change.id} 后来改过状态，保持现在的样子")
            return None
        if successor and successor not in leaving and self._there(successor) is not None and successor in self._record.added:
            return None  # the newer edition stays with another pack, which has this change now
        heir = self._heir(successor, leaving)
        if heir and change.before.state == "active":
            self._leave_to(heir, change)
            return Life("superseded", heir)
        return change.before

    def _heir(self, doc_id: str, leaving: set[str]) -> str:
        """Return the edition that took the place of one that leaves, as far as it stays; "" where there is none."""
        seen = {doc_id}
        document = self._store.document(doc_id) if doc_id else None
        while document is not None and document.state == "superseded" and document.superseded_by not in seen:
            if document.superseded_by not in leaving and self._there(document.superseded_by) is not None:
                return document.superseded_by
            seen.add(document.superseded_by)
            document = self._store.document(document.superseded_by)
        return ""

    def _leave_to(self, heir: str, change: LifeChange) -> None:
        """The newer edition of a newer edition stays: its pack, if it came with one, gives the life back one day."""
        for pack_id, record in self.others.items():
            if heir in record.added:
                again = LifeChange(change.id, change.before, Life("superseded", heir))
                self.others[pack_id] = replace(record, lives=(*record.lives, again))
                return
        self.stays.append(f"资料 {change.id} 有更新的一版 {heir}，仍作旧版")

    def _hand_on_life(self, change: LifeChange) -> bool:
        for pack_id, record in self.others.items():
            if any(c.id == change.id and c.before == change.after for c in record.lives):
                lives = tuple(replace(c, before=change.before) if c.id == change.id else c for c in record.lives)
                self.others[pack_id] = replace(record, lives=lives)
                return True
        return False
