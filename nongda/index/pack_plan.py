"""What adding a pack would change. Start reading at `plan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nongda.index.editions import Known, known_documents, standing
from nongda.index.life import EDITABLE, edits_of
from nongda.index.pack_manifest import Manifest, PackedDocument
from nongda.index.pack_record import AddedPack, Description, Life, Redescription, WordChange, added_packs
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.language.own_words import OwnWord
from nongda.language.text import search_form
from nongda.records import DocumentMeta, StoredDocument


@dataclass(frozen=True, slots=True)
class NewOne:
    """A document that the station lacks, and what it will be here."""

    document: PackedDocument
    life: Life


@dataclass(frozen=True, slots=True)
class Plan:
    """What adding a pack would change.

    `replaced` are documents of the station with the newer edition of each, `there` is what it has already, `retired` what
    it has and will no longer use with the maker's reason, `restored` what it will use again, `descriptions` what is known of it
    otherwise. `words_after` are all own words then; `problems` are sentences on words that cannot be used.
    """

    new: tuple[NewOne, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)
    there: tuple[str, ...] = ()
    retired: Mapping[str, str] = field(default_factory=dict)
    restored: tuple[str, ...] = ()
    descriptions: tuple[Redescription, ...] = ()
    words: tuple[WordChange, ...] = ()
    words_before: tuple[OwnWord, ...] = ()
    words_after: tuple[OwnWord, ...] = ()
    problems: tuple[str, ...] = ()
    added_before: bool = False


class _Planner:
    """Compares a pack with a station, document by document."""

    def __init__(self, store: Store, manifest: Manifest, packs: Sequence[AddedPack]) -> None:
        self._store = store
        self._manifest = manifest
        self._known: list[Known] = known_documents(store)
        newer = [pack.record for pack in packs if pack.made_at > manifest.made_at]
        older = [pack.record for pack in packs if pack.made_at <= manifest.made_at]
        # What the maker said later holds, whatever the order in which its packs arrive.
        self._withdrawn = {doc_id for record in newer for doc_id in record.retire}
        self._in_use = {i for record in newer for i, state in record.documents.items() if state == "active"} - self._withdrawn
        self._retired_by_pack = {change.id for record in older for change in record.lives if change.after.state == "retired"}
        self._described_later = {doc_id for record in newer for doc_id in record.documents}
        self._described = [record.edits for record in older]
        self.ids = self._ids()
        self.new: list[NewOne] = []
        self.replaced: dict[str, str] = {}
        self.there: list[str] = []
        self.retired: dict[str, str] = {}
        self.restored: list[str] = []
        self.descriptions: list[Redescription] = []

    def _ids(self) -> dict[str, str]:
        """Map each packed document to the id that the station has or will have for it: the same text keeps its first id."""
        found = {}
        for document in self._manifest.documents:
            duplicate = self._store.find_duplicate(document.sha256, document.text_sha256)
            found[document.id] = duplicate[1] if duplicate else document.id
        return found

    def run(self) -> None:
        stored = {document.id: document for document in self._store.documents()}
        for document in self._manifest.documents:
            here = stored.get(self.ids[document.id])
            if here is None:
                self._take_in(document, stored)
            else:
                self.there.append(here.id)
                self._follow(document, here, stored)
                self._describe(document, here)
        reasons = {one.id: one.reason for one in self._manifest.retire}
        for doc_id, reason in reasons.items():
            here = stored.get(self.ids.get(doc_id, doc_id))
            if here is not None and here.state == "active" and here.id not in self._in_use:
                self.retired[here.id] = reason

    def _take_in(self, document: PackedDocument, stored: Mapping[str, StoredDocument]) -> None:
        withdrawn = self._withdrawn | {one.id for one in self._manifest.retire}
        place = standing(document.meta, b"", self._known)
        life = Life(document.state, self._successor(document, stored))
        if document.id in withdrawn:
            life = Life("retired")
        elif document.state == "active" and place.superseded_by:
            life = Life("superseded", place.superseded_by)
        elif document.state == "active":
            self.replaced.update(dict.fromkeys(place.supersedes, document.id))
        self.new.append(NewOne(document, life))

    def _follow(self, document: PackedDocument, here: StoredDocument, stored: Mapping[str, StoredDocument]) -> None:
        """Do with a document that is there as the maker did with it, unless a later pack says otherwise."""
        successor = self._successor(document, stored)
        if here.state == "active" and here.id not in self._in_use:
            if document.state == "superseded" and successor:
                self.replaced[here.id] = successor
            elif document.state == "retired":
                self.retired[here.id] = ""
        elif here.state == "retired" and document.state == "active" and here.id in self._retired_by_pack - self._withdrawn:
            self.restored.append(here.id)

    def _describe(self, document: PackedDocument, here: StoredDocument) -> None:
        """Take over what the maker says of a document, where nobody at the station has changed that."""
        edits = edits_of(self._store, here.id)
        untouched = not edits or any(given.get(here.id) == edits for given in self._described)
        if edits == document.edits or not untouched or here.id != document.id or here.id in self._described_later:
            return
        keys = [key for key in EDITABLE if edits.get(key) != document.edits.get(key)]
        self.descriptions.append(Redescription(
            here.id, Description(edits, values_of(here.meta, keys)), Description(document.edits, values_of(document.meta, keys))))

    def _successor(self, document: PackedDocument, stored: Mapping[str, StoredDocument]) -> str:
        """Return the id that the newer edition has here, "" where it is not here either."""
        successor = self.ids.get(document.superseded_by, document.superseded_by)
        return successor if successor in stored or document.superseded_by in self.ids else ""


def values_of(meta: DocumentMeta, keys: Sequence[str]) -> dict[str, str]:
    """Return entries of a description as people write them."""
    return {key: "，".join(meta.tags) if key == "tags" else getattr(meta, key) for key in keys}


def plan(store: Store, manifest: Manifest, words: Sequence[OwnWord], shipped: Lexicon) -> Plan:
    """Return what adding a pack with these own words would change; reads the store alone."""
    packs = added_packs(store)
    planner = _Planner(store, manifest, packs)
    planner.run()
    before = tuple(store.own_words())
    later = {change.form for pack in packs if pack.made_at > manifest.made_at for change in pack.record.words}
    given = {search_form(word.alias): word for word in words if search_form(word.alias) not in later}
    after, problems = shipped.check_own(_merged(before, given)) if given else (before, ())
    old, new = ({search_form(word.alias): word for word in rows} for rows in (before, after))
    changes = tuple(WordChange(form, old.get(form), new[form]) for form in given if form in new and new[form] != old.get(form))
    return Plan(tuple(planner.new), planner.replaced, tuple(planner.there), planner.retired, tuple(planner.restored),
                tuple(planner.descriptions), changes, before, after if changes else before, problems,
                any(pack.id == manifest.id for pack in packs))


def _merged(own: Sequence[OwnWord], given: Mapping[str, OwnWord]) -> list[OwnWord]:
    """Return own words with given ones in the place of those of the same alias, the others behind them."""
    known = {search_form(word.alias) for word in own}
    return [*(given.get(search_form(word.alias), word) for word in own),
            *(word for form, word in given.items() if form not in known)]
