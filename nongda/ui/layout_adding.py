"""The part of the documents tab that takes files and folders in: its components, events and updates."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from nongda.ui import adding_view
from nongda.ui.adding import AddingDesk, AddView
from nongda.ui.layout_tabs import I18N, QUIET, Updates, language_for, session_of
from nongda.ui.texts import TEXTS


def adding_part(desk: AddingDesk, tab: gr.Tab, blocks: gr.Blocks) -> gr.Textbox:
    """Build the ways to add; returns a box whose change says that documents have come."""
    with gr.Accordion(I18N("add_fold"), open=False, elem_id="add-fold") as fold:
        with gr.Row(elem_id="ways"):
            with gr.Column(min_width=320):
                files = gr.File(label=I18N("upload"), file_count="multiple", height=150, elem_id="files")
                hint = gr.HTML("", elem_id="upload-hint")
                add = gr.Button(I18N("add"), variant="primary", interactive=False, elem_id="add")
            with gr.Column(min_width=320):
                folder = gr.Textbox(label=I18N("folder"), placeholder=I18N("folder_hint"), max_lines=1, elem_id="folder")
                with gr.Row(elem_id="folder-ways"):
                    sync = gr.Button(I18N("folder_sync"), variant="primary", elem_id="folder-sync")
                    watch = gr.Button(I18N("folder_watch"), elem_id="folder-watch")
                said = gr.HTML("", elem_id="folder-said")
                watched = gr.HTML("", elem_id="watched")
        with gr.Row(elem_id="adding"):
            halt = gr.Button(I18N("add_stop"), interactive=False, elem_id="add-stop")
            only_failed = gr.Checkbox(label=I18N("only_failed"), value=False, container=False, elem_id="only-failed")
        progress = gr.HTML("", elem_id="progress")
    came = gr.Textbox(visible="hidden", elem_id="came")
    working = [progress, add, sync, halt, came]

    def added(paths: list[str] | None, request: gr.Request) -> Iterator[Updates]:
        chosen = [Path(path) for path in paths or ()]
        for view in desk.add(session_of(request), chosen, language_for(request)):
            # The list of files stays as it is until its files are worked through: a refused import loses nothing.
            yield *_working(view), None if view.done else gr.skip()
        if view.done:
            for path in chosen:
                path.unlink(missing_ok=True)  # Gradio's copy of the upload; the knowledge base has its own

    def synced(name: str, request: gr.Request) -> Iterator[Updates]:
        for view in desk.sync(session_of(request), name or "", language_for(request)):
            yield _working(view)

    def halted(request: gr.Request) -> None:
        desk.stop(session_of(request))

    def filtered(only: bool, request: gr.Request) -> str:
        return desk.show(session_of(request), only, language_for(request))

    def opened(request: gr.Request) -> Updates:
        language = language_for(request)
        return adding_view.suffixes(TEXTS[language]), desk.watched(language)

    # The button waits for the upload to be complete; a file list emptied after adding shuts it again.
    files.change(lambda paths: gr.update(interactive=bool(paths)), files, add, **QUIET)
    add.click(added, files, [*working, files], **QUIET)
    gr.on([sync.click, folder.submit], synced, folder, working, **QUIET)
    halt.click(halted, None, None, queue=False, **QUIET)
    only_failed.change(filtered, only_failed, progress, **QUIET)
    gr.on([blocks.load, tab.select, fold.expand], opened, None, [hint, watched], **QUIET)
    _watching(desk, watch, folder, [said, watched])
    return came


def _watching(desk: AddingDesk, watch: gr.Button, folder: gr.Textbox, shown: list[Any]) -> None:
    gone = gr.Textbox(visible="hidden", elem_id="folder-gone")  # the page's script writes here which one was pressed
    drop = gr.Button(visible="hidden", elem_id="folder-drop")

    def watching(name: str, request: gr.Request) -> Updates:
        language = language_for(request)
        return desk.watch(name or "", language), desk.watched(language)

    def unwatched(name: str, request: gr.Request) -> Updates:
        language = language_for(request)
        return desk.unwatch(name, language), desk.watched(language)

    watch.click(watching, folder, shown, **QUIET)
    drop.click(unwatched, gone, shown, **QUIET)


def _working(view: AddView) -> Updates:
    """Return the updates of the progress, both buttons that add, the one that stops, and the box that tells of it."""
    idle = gr.update(interactive=not view.busy)
    # The button for files opens with the next choice of files, not here.
    return (view.progress, gr.update(interactive=False) if view.busy or view.done else gr.skip(), idle,
            gr.update(interactive=view.busy), str(time.monotonic_ns()) if view.done else gr.skip())
