"""The tabs for questions and the program's state: their components, events and updates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from nongda.ui import render
from nongda.ui.handlers import ChatView, Desk
from nongda.ui.texts import STARTERS, TEXTS, Language, language_of

I18N = gr.I18n(**{"zh": TEXTS["zh"], "zh-CN": TEXTS["zh"], "zh-TW": TEXTS["zh"], "en": TEXTS["en"]})
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private", "concurrency_limit": None}
Updates = tuple[Any, ...]


def ask_tab(desk: Desk) -> list[Any]:
    """Build the conversation; returns the components that `chat` fills, in its order."""
    with gr.Row(elem_id="desk"):
        with gr.Column(scale=6, min_width=320, elem_id="conversation"):
            talk = gr.HTML(render.transcript((), TEXTS["zh"]), elem_id="talk")
            with gr.Row(elem_id="starters") as starters:
                chips = [gr.Button(I18N(key), size="sm", elem_classes="chip") for key in STARTERS]
            question = gr.Textbox(placeholder=I18N("question_hint"), label=I18N("question"), show_label=False,
                                  container=False, lines=1, max_lines=5, autofocus=True, elem_id="question")
            with gr.Row(elem_id="actions"):
                ask = gr.Button(I18N("ask"), variant="primary", elem_id="ask")
                stop = gr.Button(I18N("stop"), interactive=False, elem_id="stop")
                clear = gr.Button(I18N("clear"), elem_id="clear")
        with gr.Column(scale=5, min_width=320, elem_id="sources"):
            evidence = gr.HTML(render.evidence((), TEXTS["zh"]), elem_id="evidence")
    reading = gr.Textbox(visible="hidden", elem_id="reading")  # the page's script writes here what was pressed
    reread = gr.Button(visible="hidden", elem_id="reread")
    outputs = [talk, evidence, question, ask, stop, starters]

    def stopped(request: gr.Request) -> None:
        desk.stop(session_of(request))

    def cleared(request: gr.Request) -> Updates:
        return chat(desk.clear(session_of(request), language_for(request)))

    asks: dict[str, Any] = {"outputs": outputs, "trigger_mode": "multiple", **QUIET}
    gr.on([ask.click, question.submit], _asking(desk.ask), question, **asks)
    reread.click(_asking(desk.reread), reading, **asks)
    for chip, key in zip(chips, STARTERS, strict=True):
        chip.click(_asking_ready_made(desk, key), None, **asks)
    stop.click(stopped, None, None, queue=False, **QUIET)
    clear.click(cleared, None, outputs, queue=False, **QUIET)
    return outputs


def _asking(
    views: Callable[[str, str, Language], Iterator[ChatView]]
) -> Callable[[str, gr.Request], Iterator[Updates]]:
    def asked(words: str, request: gr.Request) -> Iterator[Updates]:
        for view in views(session_of(request), words, language_for(request)):
            if view.note:
                gr.Info(view.note)
            yield chat(view)

    return asked


def _asking_ready_made(desk: Desk, key: str) -> Callable[[gr.Request], Iterator[Updates]]:
    def asked(request: gr.Request) -> Iterator[Updates]:
        yield from _asking(desk.ask)(TEXTS[language_for(request)][key], request)

    return asked


def status_tab(desk: Desk, tab: gr.Tab) -> None:
    """Build the report on the program's state."""
    report = gr.HTML(elem_id="report")
    refresh = gr.Button(I18N("refresh"), elem_id="refresh")

    def shown(request: gr.Request) -> Iterator[str]:
        yield from desk.status(language_for(request))

    gr.on([tab.select, refresh.click], shown, None, report, **QUIET)


def chat(view: ChatView) -> Updates:
    """Return the updates of `ask_tab`'s components."""
    if view.transcript is None:
        return (gr.skip(),) * 6
    return (
        view.transcript,
        gr.skip() if view.evidence is None else view.evidence,
        gr.skip() if view.question is None else view.question,
        gr.update(interactive=not view.busy),
        gr.update(interactive=view.busy),
        gr.update(visible=not view.started),
    )


def session_of(request: gr.Request) -> str:
    """Return the name of the browser tab."""
    return request.session_hash or ""


def language_for(request: gr.Request) -> Language:
    """Return the language that the browser asks for."""
    return language_of(request.headers.get("accept-language", ""))
