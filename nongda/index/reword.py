"""What search sees of a passage, and passages made anew where a station's own words change what it sees."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from nongda.errors import StoreError
from nongda.index.rows import Reworded, search_sha
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.language.own_words import OwnWord
from nongda.language.text import search_form
from nongda.records import Chunk

_MOST_TRIES = 3  # a second process may add a document meanwhile
Embed = Callable[[Sequence[str]], NDArray[np.float32]]


def passage(title: str, heading: Sequence[str], text: str) -> str:
    """Return what is searched of a chunk, as the document writes it: title, headings, text."""
    return " ".join(part for part in (title, *heading) if part) + f"\n{text}"


def search_tokens(written: str, search_text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the tokens of a passage, given also as search sees it.

    Each alias that it writes is one too: a question whose reader wants the word as it is written finds it.
    """
    return (*lexicon.tokens(search_text), *lexicon.written_aliases(written))


def keep_own_words(store: Store, words: Sequence[OwnWord], lexicon: Lexicon, embed: Embed) -> int:
    """Keep a station's own words; passages that write a word that came or went are made anew by `lexicon`, which knows
    the new words. All in one atomic write. Returns how many passages changed.

    `embed` is called only where the search text of a passage changes. Raises StoreError.
    """
    store.check_writable()
    for _ in range(_MOST_TRIES):
        revision = store.revision()
        forms = differing_forms(store.own_words(), words)
        chunks = changed_passages(store, forms, lexicon, embed) if forms else []
        if set_own_words(store, words, chunks, revision):
            return len(chunks)
    raise StoreError(f"数据文件夹 {store.folder} 正被另一个程序改动，自有词没有保存：请稍后再试")


def set_own_words(store: Store, words: Sequence[OwnWord], chunks: Sequence[Reworded], revision: int) -> bool:
    """Put these words in the place of all, and what search sees of the chunks they change, in one atomic write.

    Returns False, and writes nothing, where documents or words have changed since this revision.
    """
    with store.write() as db:
        if store.revision() != revision:
            return False
        db.execute("DELETE FROM own_words")
        db.table("own_words").insert_all(
            {"position": n, "alias": w.alias, "term": w.term, "kind": w.kind} for n, w in enumerate(words))
        write_reworded(db, chunks)
        store.count_revision()
    return True


def write_reworded(db: Database, chunks: Sequence[Reworded]) -> None:
    """Write what search sees of chunks, inside a write."""
    for chunk in chunks:
        db.execute("UPDATE chunks SET search_text = ?, search_sha = ?, tokens = ? WHERE id = ?",
                   [chunk.search_text, search_sha(chunk.search_text), "\n".join(chunk.tokens), chunk.id])
        if chunk.vector is not None:
            db.execute("UPDATE chunks SET vector = ? WHERE id = ?", [chunk.vector.astype("<f4").tobytes(), chunk.id])


def differing_forms(words: Iterable[OwnWord], others: Iterable[OwnWord]) -> set[str]:
    """Return the search forms of the words that only one side has."""
    return {search_form(word.alias) for word in set(words) ^ set(others)}


def writes(chunk: Chunk, title: str, forms: Collection[str]) -> bool:
    """Tell whether a passage writes one of the forms, or what search sees of it does."""
    seen = f"{search_form(passage(title, chunk.heading, chunk.text))}\n{chunk.search_text}"
    return any(form in seen for form in forms)


def changed_passages(store: Store, forms: set[str], lexicon: Lexicon, embed: Embed) -> list[Reworded]:
    """Make anew what search sees of the passages that hold one of the forms; return those where it differs."""
    held: list[tuple[Chunk, str]] = []
    for document in store.active():
        for chunk in store.chunks_of(document.id):
            if writes(chunk, document.meta.title, forms):
                held.append((chunk, passage(document.meta.title, chunk.heading, chunk.text)))
    return reworded(held, {chunk_id: tuple(found) for chunk_id, found in store.tokens()}, lexicon, embed)


def reworded(chunks: Sequence[tuple[Chunk, str]], tokens: Mapping[str, tuple[str, ...]], lexicon: Lexicon,
             embed: Embed) -> list[Reworded]:
    """Make anew what search sees of chunks, each given with its passage; return those where it differs.

    `tokens` are those they have, by chunk id; `embed` sees only search texts that change.
    """
    differing: list[tuple[Chunk, str, tuple[str, ...]]] = []
    for chunk, written in chunks:
        search_text = lexicon.canonical(written)
        found = search_tokens(written, search_text, lexicon)
        if search_text != chunk.search_text or found != tokens.get(chunk.id):
            differing.append((chunk, search_text, found))
    texts = {chunk.id: search_text for chunk, search_text, _ in differing if search_text != chunk.search_text}
    vectors = dict(zip(texts, embed(list(texts.values())) if texts else (), strict=True))
    return [Reworded(chunk.id, text, found, vectors.get(chunk.id)) for chunk, text, found in differing]
