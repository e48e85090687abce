"""The tab for a station's own words: its components, events and updates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from nongda.language.lexicon_table import KINDS
from nongda.ui import render, sheets
from nongda.ui.layout_tabs import I18N, QUIET, Updates, language_for
from nongda.ui.texts import TEXTS, Language
from nongda.ui.words import DELIMITERS, WordsDesk


def words_tab(desk: WordsDesk, tab: gr.Tab) -> None:
    """Build the form for one word, the table of words, and the ways in and out for whole tables."""
    hint = gr.HTML("", elem_id="words-hint")
    with gr.Row(elem_id="word-form"):
        alias = gr.Textbox(label=I18N("word_alias"), placeholder=I18N("word_alias_hint"), max_lines=1, elem_id="word-alias")
        term = gr.Textbox(label=I18N("word_term"), placeholder=I18N("word_term_hint"), max_lines=1, elem_id="word-term")
        kind = gr.Dropdown(_kinds("zh"), value="", label=I18N("word_kind"), elem_id="word-kind")
        add = gr.Button(I18N("word_add"), variant="primary", elem_id="word-add")
    offered = gr.HTML(sheets.options(()), elem_id="word-offered")
    message = gr.HTML("", elem_id="word-message")
    table = gr.HTML("", elem_id="words")
    shown = [message, table]

    def opened(request: gr.Request) -> Updates:
        language = language_for(request)
        view = desk.view(language)
        return sheets.words_hint(TEXTS[language]), gr.update(choices=_kinds(language)), view.message, view.table

    def added(alias: str, term: str, kind: str | None, request: gr.Request) -> Iterator[Updates]:
        yield _saving(request), *(gr.skip(),) * 4
        view = desk.add(alias or "", term or "", kind or "", language_for(request))
        emptied = ("", "", "") if view.added else (gr.skip(),) * 3
        yield view.message, view.table, *emptied

    tab.select(opened, None, [hint, kind, *shown], **QUIET)
    form = [alias, term, kind]
    gr.on([add.click, alias.submit, term.submit], added, form, [*shown, *form], **QUIET)
    term.change(desk.suggestions, term, offered, trigger_mode="always_last", **QUIET)
    _tables(desk, shown)
    _removing(desk, shown)


def _tables(desk: WordsDesk, shown: list[Any]) -> None:
    """Build the buttons that take tables in and hand them out; the page's script makes the file, no address does."""
    with gr.Row(elem_id="word-files"):
        upload = gr.UploadButton(str(I18N("words_import")), file_types=[".tsv", ".csv", ".txt"], elem_id="words-import")
        buttons = {form: gr.Button(I18N(f"words_export_{form}"), elem_id=f"words-{form}") for form in DELIMITERS}
    text, name = (gr.Textbox(visible="hidden", elem_id=f"words-{part}") for part in ("text", "name"))

    def taken_in(path: str, request: gr.Request) -> Iterator[Updates]:
        yield _saving(request), gr.skip()
        view = desk.take_in(Path(path), language_for(request))
        Path(path).unlink(missing_ok=True)  # Gradio's copy of the upload
        yield view.message, view.table

    def handed_out(form: str) -> Callable[[gr.Request], Updates]:
        def table(request: gr.Request) -> Updates:
            return desk.table(form), f"{TEXTS[language_for(request)]['words_file']}.{form}"

        return table

    upload.upload(taken_in, upload, shown, **QUIET)
    for form, button in buttons.items():
        written = button.click(handed_out(form), None, [text, name], **QUIET)
        written.then(None, [text, name], None, js="(text, name) => nongdaSave(text, name)", **QUIET)


def _removing(desk: WordsDesk, shown: list[Any]) -> None:
    word = gr.Textbox(visible="hidden", elem_id="word-gone")  # the page's script writes here which word was pressed
    drop = gr.Button(visible="hidden", elem_id="word-drop")

    def removed(key: str, request: gr.Request) -> Iterator[Updates]:
        yield _saving(request), gr.skip()
        view = desk.remove(key, language_for(request))
        yield view.message, view.table

    drop.click(removed, word, shown, **QUIET)


def _saving(request: gr.Request) -> str:
    """Return a word of patience: passages that hold a new word are made anew, seconds where it is a common one."""
    return render.notice(TEXTS[language_for(request)]["word_saving"], "ask")


def _kinds(language: Language) -> list[tuple[str, str]]:
    texts = TEXTS[language]
    return [(texts["word_kind_same"], ""), *((texts[f"kind_of_{kind}"], kind) for kind in KINDS)]
