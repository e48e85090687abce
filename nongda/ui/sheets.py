"""The tables of the words and status tabs as HTML; pure functions, everything is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

from nongda.language.own_words import OwnWord
from nongda.ui.render import Texts

SHOWN_PROBLEMS = 300
SIZES = ("memory_total", "memory_available")  # reported in bytes


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row of own words that cannot be used, its number in what was added (0: it is none of that), and why."""

    number: int
    word: OwnWord
    problem: str


def status(report: Mapping[str, Any], texts: Texts, names: Mapping[str, str]) -> str:
    """Return the doctor's report as a table; nested values become rows under their path."""
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
                   for name, value in _flatten(report, texts, names, ()))
    head = f'<th scope="col">{texts["status_item"]}</th><th scope="col">{texts["status_value"]}</th>'
    return (f'<div class="wide"><table class="sheet status"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>")


def word_key(word: OwnWord) -> str:
    """Return what tells an own word from the others, as the button that removes it holds it."""
    return json.dumps([word.alias, word.term, word.kind], ensure_ascii=False)


def words_hint(texts: Texts) -> str:
    """Return what the words tab is for."""
    return f'<p class="hint">{texts["words_hint"]}</p><p class="hint">{texts["word_new_term"]}</p>'


def own_words(words: Sequence[OwnWord], wrong: Mapping[int, str], texts: Texts) -> str:
    """Return the table of a station's own words, each with a button that removes it and with what is `wrong` with it.

    `wrong` is by the row's number, counted from 1.
    """
    if not words:
        return f'<p class="hint">{texts["words_empty"]}</p>'
    rows = "".join(f"<tr>{_word_cells(word, texts)}<td>{_remove_button(word, texts)}{_wrong(wrong.get(number, ''))}</td></tr>"
                   for number, word in enumerate(words, start=1))
    count = texts["words_count"].format(count=len(words))
    return f'<p class="hint">{count}</p>{_word_table(rows, texts, texts["word_action"])}'


def bad_rows(rows: Sequence[BadRow], texts: Texts) -> str:
    """Return the rows that could not be used, what is wrong beside each."""
    if not rows:
        return ""
    lines = "".join(f"<tr>{_word_cells(row.word, texts)}<td>{_wrong(row.problem)}</td></tr>"
                    for row in rows[:SHOWN_PROBLEMS])
    head = texts["words_bad"].format(count=len(rows))
    return f'<p class="notice error" role="alert">{head}</p>{_word_table(lines, texts, texts["word_wrong"], "words bad")}'


def word_problems(problems: Sequence[str], texts: Texts) -> str:
    """Return the lines of the shipped tables that were left out, folded."""
    if not problems:
        return ""
    lines = "".join(f"<li>{escape(problem)}</li>" for problem in problems[:SHOWN_PROBLEMS])
    summary = texts["words_problems"].format(count=len(problems))
    return f'<details class="problems"><summary>{summary}</summary><ul>{lines}</ul></details>'


def options(names: Sequence[str]) -> str:
    """Return names for a browser to offer while one is typed."""
    return '<datalist id="terms">' + "".join(f'<option value="{escape(name)}"></option>' for name in names) + "</datalist>"


def local_time(moment: str) -> str:
    """Return an ISO 8601 moment as the reader's clock shows it; an unreadable one as it is."""
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return moment


def _remove_button(word: OwnWord, texts: Texts) -> str:
    label = escape(texts["word_remove_one"].format(alias=word.alias))
    return (f'<button type="button" class="unword" data-word="{escape(word_key(word))}" aria-label="{label}">'
            f'{texts["word_remove"]}</button>')


def _wrong(problem: str) -> str:
    return f'<span class="wrong"><b aria-hidden="true">⚠</b> {escape(problem)}</span>' if problem else ""


def _word_table(rows: str, texts: Texts, last: str, kind: str = "words") -> str:
    names = (texts["word_alias"], texts["word_term"], texts["word_kind"], last)
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (f'<div class="wide" tabindex="0"><table class="sheet {kind}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>")


def _word_cells(word: OwnWord, texts: Texts) -> str:
    kind = texts.get(f"kind_of_{word.kind}", word.kind)
    return f"<td>{escape(word.alias)}</td><td>{escape(word.term)}</td><td>{escape(kind)}</td>"


def _flatten(value: object, texts: Texts, names: Texts, path: tuple[str, ...]) -> Iterable[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            shown = f"{item / 2**30:.1f} GiB" if key in SIZES and isinstance(item, int) else item
            yield from _flatten(shown, texts, names, (*path, names.get(str(key), str(key))))
    elif isinstance(value, (list, tuple)) and any(isinstance(item, (Mapping, list, tuple)) for item in value):
        for index, item in enumerate(value, start=1):
            yield from _flatten(item, texts, names, (*path, str(index)))
    else:
        yield " › ".join(path), _plain(value, texts)


def _plain(value: object, texts: Texts) -> str:
    if isinstance(value, bool):
        return texts["yes"] if value else texts["no"]
    if value is None or value == "" or (isinstance(value, (list, tuple, dict)) and not value):
        return texts["none"]
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    return "、".join(str(item) for item in value) if isinstance(value, (list, tuple)) else str(value)
