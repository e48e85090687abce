"""What the words tab does: a station's own words, added one by one or from a table, removed and handed out again."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nongda.documents.parse_text import decode
from nongda.errors import NongDaError, UsageError
from nongda.language.own_words import OwnWord, format_table, parse_table
from nongda.language.text import search_form
from nongda.ui import sheets
from nongda.ui.render import notice
from nongda.ui.sheets import BadRow
from nongda.ui.texts import TEXTS, Language

logger = logging.getLogger(__name__)

LARGEST_TABLE = 1_000_000  # bytes; the most rows with the longest words are half of it
_ROW_NUMBER = re.compile(r"^第 (\d+) 行")  # how a problem of own words begins
_OWN_ROW = re.compile(r"^自有词第 (\d+) 行")  # the same, of those kept: an update may have made a row unusable
DELIMITERS = {"tsv": "\t", "csv": ","}


class WordsEngine(Protocol):
    """What the words tab needs of the engine. Rows that cannot be used are not kept, `set_own_words` names them."""

    def own_words(self) -> list[OwnWord]: ...
    def set_own_words(self, rows: Sequence[OwnWord]) -> tuple[str, ...]: ...
    def lexicon_problems(self) -> tuple[str, ...]: ...
    def terms(self, prefix: str) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class WordsView:
    """The words tab after a step: its table, the sentence about the step, and whether the form is done with."""

    table: str
    message: str = ""
    added: bool = False


class WordsDesk:
    """The words tab's actions over one engine, for any number of browser tabs."""

    def __init__(self, engine: WordsEngine) -> None:
        self.engine = engine
        self._lock = threading.Lock()  # a change is read and written as one

    def view(self, language: Language, message: str = "", added: bool = False) -> WordsView:
        """Return the tab as it stands."""
        texts = TEXTS[language]
        try:
            wrong, others = _own_and_other(self.engine.lexicon_problems())
            table = sheets.own_words(self.engine.own_words(), wrong, texts) + sheets.word_problems(others, texts)
        except NongDaError as failure:
            return WordsView("", message + notice(str(failure), "error"), added)
        return WordsView(table, message, added)

    def add(self, alias: str, term: str, kind: str, language: Language) -> WordsView:
        """Add one word, in place of what it meant so far; the form keeps one that cannot be used."""
        texts, row = TEXTS[language], OwnWord(alias.strip(), term.strip(), kind)
        if not (row.alias or row.term):
            return self.view(language, notice(texts["word_nothing"], "error"))
        try:
            bad = self._save([row])
        except NongDaError as failure:
            return self.view(language, notice(str(failure), "error"))
        if bad:
            said = "".join(_ROW_NUMBER.sub("", one.problem) for one in bad)
            return self.view(language, notice(said, "error"), added=not any(one.number for one in bad))
        said = texts["word_added"].format(alias=row.alias, term=row.term)
        return self.view(language, notice(said + texts["word_effective"], "done"), added=True)

    def take_in(self, path: Path, language: Language) -> WordsView:
        """Add the words of a table; a row of it counts over what its word meant so far."""
        texts = TEXTS[language]
        try:
            rows = _read(path)
            bad = self._save(rows)
        except NongDaError as failure:
            return self.view(language, notice(str(failure), "error"))
        count = sum(bool(row.alias or row.term) for row in rows) - sum(one.number > 0 for one in bad)
        said = texts["words_added"].format(count=count) + texts["word_effective"]
        return self.view(language, (notice(said, "done") if count else "") + sheets.bad_rows(bad, texts))

    def remove(self, word: str, language: Language) -> WordsView:
        """Remove the word that a button of the page stands for (see `sheets.own_words`)."""
        texts = TEXTS[language]
        try:
            with self._lock:
                before = self.engine.own_words()
                rest = [row for row in before if sheets.word_key(row) != word]
                if len(rest) < len(before):
                    self.engine.set_own_words(rest)
        except NongDaError as failure:
            return self.view(language, notice(str(failure), "error"))
        gone = json.loads(word)[0] if len(rest) < len(before) else ""
        return self.view(language, notice(texts["word_removed"].format(alias=gone), "done") if gone else "")

    def table(self, form: str) -> str:
        """Return the own words as the text of a tsv or csv file; empty where they cannot be read."""
        try:
            return format_table(self.engine.own_words(), DELIMITERS[form])
        except NongDaError:
            logger.exception("own words cannot be handed out")
            return ""

    def suggestions(self, typed: str) -> str:
        """Return the standard names that begin as typed, for the browser to offer."""
        return sheets.options(self.engine.terms(typed.strip()) if typed.strip() else ())

    def _save(self, rows: Sequence[OwnWord]) -> list[BadRow]:
        """Save rows over the own words so far; returns those of the rows that cannot be used, each with its number."""
        with self._lock:
            before = self.engine.own_words()
            bad = _bad_rows(rows, self.engine.set_own_words(_over(rows, before)))
            numbers = {row.number for row in bad}
            if any(numbers):  # a row that cannot be used must not push out what its word meant so far
                good = [row for number, row in enumerate(rows, start=1) if number not in numbers]
                self.engine.set_own_words(_over(good, before))
        return bad


def _own_and_other(problems: Sequence[str]) -> tuple[dict[int, str], list[str]]:
    """Part what is wrong with own words, by the row's number, from what is wrong with the shipped tables."""
    own = {int(match[1]): problem for problem in problems if (match := _OWN_ROW.match(problem))}
    return own, [problem for problem in problems if not _OWN_ROW.match(problem)]


def _over(rows: Sequence[OwnWord], before: Sequence[OwnWord]) -> list[OwnWord]:
    new = {search_form(row.alias) for row in rows}
    return [*rows, *(row for row in before if search_form(row.alias) not in new)]


def _bad_rows(rows: Sequence[OwnWord], problems: Sequence[str]) -> list[BadRow]:
    """Put each problem beside its row; one that names none of these rows stands for itself with number 0."""
    found: list[BadRow] = []
    for problem in problems:
        match = _ROW_NUMBER.match(problem)
        number = int(match[1]) if match and int(match[1]) <= len(rows) else 0
        found.append(BadRow(number, rows[number - 1] if number else OwnWord("", ""), problem))
    return found


def _read(path: Path) -> list[OwnWord]:
    """Read a table that a reader chose. Raises UsageError or DocumentError where it is none."""
    try:
        if path.stat().st_size > LARGEST_TABLE:
            raise UsageError(f"文件“{path.name}”太大，不像词语表：请分成几个文件，或删去别的列")
        rows = parse_table(decode(path.read_bytes(), path.name), path.name)
    except OSError as error:
        raise UsageError(f"文件“{path.name}”无法读取（{error}）：请重新选择") from error
    if not any(row.alias or row.term for row in rows):
        raise UsageError(f"文件“{path.name}”里没有词语：每行应是 别名、标准名、类别，用制表符或逗号隔开")
    return rows
