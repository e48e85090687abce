"""The list of documents: its components, events and updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from nongda.ui.documents_desk import DocumentsDesk
from nongda.ui.layout_tabs import I18N, QUIET, Updates, language_for
from nongda.ui.texts import TEXTS, Language

STATES = ("", "active", "superseded", "retired")


@dataclass(frozen=True, slots=True)
class Browse:
    """The list's components."""

    column: Any
    filters: list[Any]  # words, state, whether it needs attention
    message: Any
    table: Any
    back: Any
    forward: Any
    page: Any

    @property
    def asked(self) -> list[Any]:
        """What `listed` is called with."""
        return [*self.filters, self.page]

    @property
    def listed(self) -> list[Any]:
        """What `listed` fills."""
        return [self.table, self.page, self.back, self.forward]


def browse_part(desk: DocumentsDesk, column: gr.Column) -> Browse:
    """Build the list with its search and filters in a column."""
    with column:
        with gr.Row(elem_id="doc-filters"):
            words = gr.Textbox(label=I18N("documents_search"), placeholder=I18N("documents_search_hint"), max_lines=1,
                               show_label=False, container=False, scale=3, elem_id="doc-search")
            state = gr.Dropdown(_states("zh"), value="", label=I18N("documents_state"), show_label=False,
                                container=False, scale=1, elem_id="doc-state")
            heed = gr.Checkbox(label=I18N("documents_attention"), value=False, container=False, scale=1, elem_id="doc-heed")
        message = gr.HTML("", elem_id="doc-said")
        table = gr.HTML("", elem_id="documents")
        with gr.Row(elem_id="doc-pages"):
            back = gr.Button(I18N("documents_back"), interactive=False, elem_id="doc-back")
            forward = gr.Button(I18N("documents_next"), interactive=False, elem_id="doc-next")
    browse = Browse(column, [words, state, heed], message, table, back, forward, gr.State(0))
    _browsing(desk, browse)
    return browse


def listed(desk: DocumentsDesk, words: str | None, state: str | None, heed: bool, page: int, language: Language) -> Updates:
    """Return the updates of `Browse.listed`."""
    found = desk.listing(words or "", state or "", heed, page, language)
    steps = (gr.update(interactive=on, visible=found.pages > 1) for on in (found.page > 0, found.page < found.pages - 1))
    return found.table, found.page, *steps


def lister(desk: DocumentsDesk) -> Callable[..., Updates]:
    """Return a handler that lists the documents as they are now, with the states named in the reader's language."""

    def again(words: str, state: str, heed: bool, page: int, request: gr.Request) -> Updates:
        language = language_for(request)
        return gr.update(choices=_states(language)), *listed(desk, words, state, heed, page, language)

    return again


def _browsing(desk: DocumentsDesk, browse: Browse) -> None:
    def found(words: str, state: str, heed: bool, request: gr.Request) -> Updates:
        return listed(desk, words, state, heed, 0, language_for(request))

    def stepped(step: int) -> Callable[..., Updates]:
        def step_by(words: str, state: str, heed: bool, page: int, request: gr.Request) -> Updates:
            return listed(desk, words, state, heed, page + step, language_for(request))

        return step_by

    for one in browse.filters:
        one.change(found, browse.filters, browse.listed, trigger_mode="always_last", **QUIET)
    for button, step in ((browse.back, -1), (browse.forward, 1)):
        button.click(stepped(step), browse.asked, browse.listed, **QUIET)


def _states(language: Language) -> list[tuple[str, str]]:
    return [(TEXTS[language][f"state_{state or 'all'}"], state) for state in STATES]
