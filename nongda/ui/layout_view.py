"""One document beside the pictures of its pages, and what can be changed of it: components, events and updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from nongda.ui.documents_desk import FIELDS, SHOWN_CHUNKS, Change, DocumentsDesk, Leaf, Opened, Passages
from nongda.ui.layout_documents import Browse, listed
from nongda.ui.layout_tabs import I18N, QUIET, Updates, language_for
from nongda.ui.texts import Language

AWAY = "away"  # the style sheet hides what is of this class
HINTS = ("date", "valid_until", "tags")


@dataclass(frozen=True, slots=True)
class View:
    """The components that show one document."""

    column: Any
    doc_id: Any
    close: Any
    change: dict[Change, Any]
    removing: list[Any]  # remove, yes, no
    message: Any
    title: Any
    head: Any
    form: list[Any]
    form_said: Any
    save: Any
    passages: list[Any]  # html, where they begin, earlier, later
    right: Any
    leaf: list[Any]  # html, page number, earlier, later

    @property
    def opened(self) -> list[Any]:
        """What `_opened` fills."""
        return [self.doc_id, self.title, self.head, self.message, self.form_said, *self.change.values(), *self.removing, *self.form,
                *self.passages, self.right, *self.leaf]


def view_part(desk: DocumentsDesk, browse: Browse) -> View:
    """Build the view of one document, which takes the place of the list."""
    view = _view()
    _reading(desk, view)
    _changing(desk, view)
    _removing(desk, browse, view)
    return view


def opening(desk: DocumentsDesk, browse: Browse, view: View, tabs: gr.Tabs) -> None:
    """Build what opens a document from anywhere on the page, and what leads back to the list."""
    wanted = gr.Textbox(visible="hidden", elem_id="doc-wanted")  # the page's script writes here what was pressed
    press = gr.Button(visible="hidden", elem_id="doc-open")

    def opened(name: str, request: gr.Request) -> Updates:
        found = desk.open(name, language_for(request))
        seen = bool(found.doc_id)
        return (gr.update(selected="documents"), *_sides(seen), found.message,
                *(_opened(found) if seen else (gr.skip(),) * len(view.opened)))

    def closed(words: str, state: str, heed: bool, page: int, request: gr.Request) -> Updates:
        return (*_sides(False), "",
                *listed(desk, words, state, heed, page, language_for(request)))

    sides = [browse.column, view.column, browse.message]
    came = press.click(opened, wanted, [tabs, *sides, *view.opened], **QUIET)
    came.then(None, None, None, js="() => nongdaOpened()", **QUIET)
    left = view.close.click(closed, browse.asked, [*sides, *browse.listed], **QUIET)
    left.then(None, None, None, js="() => nongdaClosed()", **QUIET)


def _view() -> View:
    with gr.Column(elem_classes=[AWAY], elem_id="doc-view") as column:
        with gr.Row(elem_id="doc-bar"):
            close = gr.Button(I18N("view_back"), elem_id="doc-close")
            title = gr.HTML("", elem_id="doc-title")
            change: dict[Change, Any] = {"retire": gr.Button(I18N("retire"), elem_id="doc-retire"),
                                         "restore": gr.Button(I18N("restore"), visible=False, elem_id="doc-restore")}
            removing = [gr.Button(I18N("remove"), elem_id="remove"),
                        gr.Button(I18N("remove_yes"), variant="stop", visible=False, elem_id="remove-yes"),
                        gr.Button(I18N("remove_no"), visible=False, elem_id="remove-no")]
        message = gr.HTML("", elem_id="doc-message")
        with gr.Row(elem_id="doc-desk"):
            with gr.Column(min_width=320, elem_id="doc-left"):
                head = gr.HTML("", elem_id="doc-head")
                form, said, save = _form()
                passages = _stretch()
            with gr.Column(min_width=320, elem_id="doc-right") as right:
                leaf = _leaf()
    return View(column, gr.State(""), close, change, removing, message, title, head, form, said, save, passages, right, leaf)


def _form() -> tuple[list[Any], Any, Any]:
    with gr.Accordion(I18N("edit"), open=False, elem_id="doc-edit"):
        with gr.Row(elem_id="doc-form"):
            form = [gr.Textbox(label=I18N(f"edit_{name}"), placeholder=I18N(f"edit_{name}_hint") if name in HINTS else None,
                               max_lines=1, min_width=180, elem_id=f"edit-{name}") for name in FIELDS]
        said = gr.HTML("", elem_id="edit-said")
        save = gr.Button(I18N("edit_save"), variant="primary", elem_id="edit-save")
    return form, said, save


def _stretch() -> list[Any]:
    html = gr.HTML("", elem_id="chunks")
    with gr.Row(elem_id="chunk-pages"):
        earlier = gr.Button(I18N("chunks_back"), visible=False, elem_id="chunks-back")
        later = gr.Button(I18N("chunks_next"), visible=False, elem_id="chunks-next")
    return [html, gr.State(0), earlier, later]


def _leaf() -> list[Any]:
    with gr.Row(elem_id="leaf-bar"):
        earlier = gr.Button(I18N("page_back"), elem_id="leaf-back")
        number = gr.Number(1, label=I18N("page_number"), show_label=False, container=False, precision=0,
                           min_width=80, elem_id="leaf-number")
        later = gr.Button(I18N("page_next"), elem_id="leaf-next")
        zoom = gr.Button(I18N("page_zoom"), elem_id="leaf-zoom")
    html = gr.HTML("", elem_id="leaf")
    zoom.click(None, None, None, js="() => { document.getElementById('leaf').classList.toggle('large'); }", **QUIET)
    return [html, number, earlier, later]


def _reading(desk: DocumentsDesk, view: View) -> None:
    """Turn pages and passages; a page whose passages are not on the page brings them along."""
    pressed = gr.Textbox(visible="hidden", elem_id="leaf-wanted")  # the page's script writes here which page was pressed
    press = gr.Button(visible="hidden", elem_id="leaf-open")
    _, start, earlier, later = view.passages

    def turned(doc_id: str, page: int | str | None, start: int, step: int, language: Language) -> Updates:
        leaf = desk.turn(doc_id, _number(page) + step, language)
        begins = desk.start_of_page(doc_id, leaf.page)
        if begins is None or begins == start:
            return *_turned(leaf), *(gr.skip(),) * 4
        return *_turned(leaf), *_stretched(desk.part(doc_id, begins, language))

    def turning(step: int) -> Callable[..., Updates]:
        def turn(doc_id: str, page: int | str | None, start: int, request: gr.Request) -> Updates:
            return turned(doc_id, page, start, step, language_for(request))

        return turn

    def parting(step: int) -> Callable[..., Updates]:
        def part(doc_id: str, start: int, request: gr.Request) -> Updates:
            return _stretched(desk.part(doc_id, start + step * SHOWN_CHUNKS, language_for(request)))

        return part

    outputs, number = [*view.leaf, *view.passages], view.leaf[1]
    for event, page, step in ((view.leaf[2].click, number, -1), (view.leaf[3].click, number, 1), (number.submit, number, 0),
                              (press.click, pressed, 0)):
        shown = event(turning(step), [view.doc_id, page, start], outputs, **QUIET)
        shown.then(None, None, None, js="() => nongdaTurned()", **QUIET)
    for button, step in ((earlier, -1), (later, 1)):
        button.click(parting(step), [view.doc_id, start], view.passages, **QUIET)


def _changing(desk: DocumentsDesk, view: View) -> None:
    refreshed = [view.message, view.form_said, view.title, view.head, *view.change.values(), *view.form]

    def anew(doc_id: str, message: str, form_said: str, request: gr.Request) -> Updates:
        found = desk.again(doc_id, language_for(request))
        if not found.doc_id:
            return message, form_said, *(gr.skip(),) * (len(refreshed) - 2)
        return message, form_said, found.title, found.head, *_changes(found.state), *(found.form[name] for name in FIELDS)

    def saved(doc_id: str, title: str, date: str, valid_until: str, region: str, stage: str, authority: str, tags: str,
              request: gr.Request) -> Updates:
        form = dict(zip(FIELDS, (title, date, valid_until, region, stage, authority, tags), strict=True))
        said, changed = desk.save(doc_id, form, language_for(request))
        if not changed:  # what was filled in stays, to be put right
            return "", said, *(gr.skip(),) * (len(refreshed) - 2)
        return anew(doc_id, "", said, request)

    def changing(change: Change) -> Callable[[str, gr.Request], Updates]:
        def changed(doc_id: str, request: gr.Request) -> Updates:
            return anew(doc_id, desk.change(doc_id, change, language_for(request)), "", request)

        return changed

    gr.on([view.save.click, *(box.submit for box in view.form)], saved, [view.doc_id, *view.form], refreshed, **QUIET)
    for change, button in view.change.items():
        button.click(changing(change), view.doc_id, refreshed, **QUIET)


def _removing(desk: DocumentsDesk, browse: Browse, view: View) -> None:
    remove, yes, no = view.removing
    asking = [view.message, *view.removing]

    def confirm(doc_id: str, request: gr.Request) -> Updates:
        return _confirming(*desk.confirm(doc_id, language_for(request)))

    def removed(doc_id: str, words: str, state: str, heed: bool, page: int, request: gr.Request) -> Updates:
        language = language_for(request)
        said, gone = desk.remove(doc_id, language)
        return (*_confirming("" if gone else said, False), *_sides(not gone), said if gone else "",
                *listed(desk, words, state, heed, page, language))

    remove.click(confirm, view.doc_id, asking, **QUIET)
    no.click(lambda: _confirming("", False), None, asking, **QUIET)
    yes.click(removed, [view.doc_id, *browse.asked],
              [*asking, browse.column, view.column, browse.message, *browse.listed], **QUIET)


def _sides(seen: bool) -> Updates:
    """Return the updates of the list's column and of the view's; by a class, as `visible` would show hidden boxes inside."""
    return gr.update(elem_classes=[AWAY] if seen else []), gr.update(elem_classes=[] if seen else [AWAY])


def _number(page: int | str | None) -> int:
    """Return a page number as typed or pressed; 1 where it is none."""
    return int(page) if page and str(page).isdecimal() else 1


def _opened(found: Opened) -> Updates:
    """Return the updates of `View.opened`."""
    return (found.doc_id, found.title, found.head, "", "", *_changes(found.state), *_confirming("", False)[1:],
            *(found.form[name] for name in FIELDS), *_stretched(found.passages), gr.update(elem_classes=[] if found.leaf.html else [AWAY]),
            *_turned(found.leaf))


def _changes(state: str) -> Updates:
    """Return the updates of the buttons that retire and restore."""
    return gr.update(visible=state == "active"), gr.update(visible=state in ("retired", "superseded"))


def _confirming(message: str, asking: bool) -> Updates:
    return message, gr.update(visible=not asking), gr.update(visible=asking), gr.update(visible=asking)


def _stretched(passages: Passages) -> Updates:
    """Return the updates of `View.passages`."""
    return (passages.html, passages.start, gr.update(visible=passages.start > 0),
            gr.update(visible=passages.start + SHOWN_CHUNKS < passages.count))


def _turned(leaf: Leaf) -> Updates:
    """Return the updates of `View.leaf`."""
    return (leaf.html, leaf.page, gr.update(interactive=leaf.page > 1),
            gr.update(interactive=leaf.page < leaf.pages))
