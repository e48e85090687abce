"""The page itself, in Gradio: components, events and the local server. No other module knows Gradio."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from nongda.ui import render
from nongda.ui.handlers import AddView, ChatView, Desk, DeskEngine
from nongda.ui.server import HOST, NoFiles, choose_port
from nongda.ui.texts import STARTERS, TEXTS, Language, language_of

DEFAULT_PORT = 7860
UPLOAD_LIMIT = "500mb"  # one file; a scanned handbook is about 100 MB
WEB = Path(__file__).resolve().parents[2] / "assets" / "web"
FONTS = ("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Microsoft YaHei", "PingFang SC",
         "WenQuanYi Micro Hei", "system-ui", "sans-serif")
UPLOADS = "GRADIO_TEMP_DIR"  # the variable by which Gradio knows where uploads go
GREEN, DARK_GREEN = "#2f7d4f", "#22603b"
I18N = gr.I18n(**{"zh": TEXTS["zh"], "zh-CN": TEXTS["zh"], "zh-TW": TEXTS["zh"], "en": TEXTS["en"]})
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private", "concurrency_limit": None}
Updates = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Running:
    """A started page: its address and the way to end it."""

    url: str
    close: Callable[[], None]


def build(engine: DeskEngine) -> gr.Blocks:
    """Build the page over an engine; nothing is served yet."""
    return _build(Desk(engine))


def launch(
    engine: DeskEngine, port: int | None, open_browser: bool, ready: Callable[[str], None] | None
) -> None:
    """Serve the page on this machine until Ctrl+C; `ready` gets the address once it answers.

    Where this program already serves the same data folder, its address is used and the call returns.
    Raises UsageError when no port is free.
    """
    wanted = port or DEFAULT_PORT
    chosen, ours = choose_port(wanted, _mark(engine))
    url = f"http://{HOST}:{chosen}/"
    if ours:
        click.echo(f"农答已经在运行：请在浏览器打开 {url}")
        _announce(url, open_browser, ready)
        return
    if chosen != wanted:
        click.echo(f"端口 {wanted} 已被别的程序占用，改用 {chosen}。")
    page = start(engine, chosen)
    click.echo(f"农答已启动：请在浏览器打开 {page.url} （按 Ctrl+C 结束）")
    try:
        _announce(page.url, open_browser, ready)
        while True:
            time.sleep(1)  # short naps: Windows delivers Ctrl+C only between them
    except KeyboardInterrupt:
        click.echo("农答已结束。")
    finally:
        page.close()


def start(engine: DeskEngine, port: int) -> Running:
    """Start serving on this port and return at once. Raises OSError when the port is taken."""
    uploads, before = tempfile.mkdtemp(prefix="nongda-"), os.environ.get(UPLOADS)
    _prepare_environment(uploads)
    desk = Desk(engine)
    blocks = _build(desk)
    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]), Middleware(NoFiles)]
    blocks.launch(
        server_name=HOST, server_port=port, root_path="", inbrowser=False, prevent_thread_lock=True,
        quiet=True, share=False, show_error=False, footer_links=[], run_history=False,
        enable_monitoring=False, ssr_mode=False, mcp_server=False, pwa=False, num_workers=0, max_file_size=UPLOAD_LIMIT,
        i18n=I18N,
        theme=_theme(),
        css=(WEB / "desk.css").read_text(encoding="utf-8"), head=_head(engine),
        app_kwargs={"middleware": middleware},
    )

    def close() -> None:
        desk.close_all()
        blocks.close(verbose=False)
        shutil.rmtree(uploads, ignore_errors=True)
        os.environ.pop(UPLOADS, None)
        os.environ.update({UPLOADS: before} if before else {})

    return Running(f"http://{HOST}:{port}/", close)


def _build(desk: Desk) -> gr.Blocks:
    blocks = gr.Blocks(title=TEXTS["zh"]["title"], analytics_enabled=False, fill_width=True)
    with blocks:
        bar = gr.HTML(render.header(TEXTS["zh"]), elem_id="header")
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab(I18N("tab_ask"), id="ask"):
                chat = _ask_tab(desk)
            with gr.Tab(I18N("tab_documents"), id="documents") as documents_tab:
                documents = _documents_tab(desk)
            with gr.Tab(I18N("tab_status"), id="status") as status_tab:
                _status_tab(desk, status_tab)

        def opened(request: gr.Request) -> Updates:
            language = _language(request)
            return render.header(TEXTS[language]), *_chat(desk.view(_session(request), language))

        def listed(request: gr.Request) -> Updates:
            return _documents(desk, _language(request))

        def closed(request: gr.Request) -> None:
            desk.close(_session(request))

        blocks.load(opened, None, [bar, *chat], **QUIET)
        gr.on([blocks.load, documents_tab.select], listed, None, documents, **QUIET)
        blocks.unload(closed)
    return blocks


def _ask_tab(desk: Desk) -> list[Any]:
    """Build the conversation; returns the components that `_chat` fills, in its order."""
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
    outputs = [talk, evidence, question, ask, stop, starters]

    def asked(text: str, request: gr.Request) -> Iterator[Updates]:
        for view in desk.ask(_session(request), text, _language(request)):
            if view.note:
                gr.Info(view.note)
            yield _chat(view)

    def chosen(key: str) -> Callable[[gr.Request], Iterator[Updates]]:
        def asked_ready_made(request: gr.Request) -> Iterator[Updates]:
            yield from asked(TEXTS[_language(request)][key], request)

        return asked_ready_made

    def stopped(request: gr.Request) -> None:
        desk.stop(_session(request))

    def cleared(request: gr.Request) -> Updates:
        return _chat(desk.clear(_session(request), _language(request)))

    gr.on([ask.click, question.submit], asked, question, outputs, trigger_mode="multiple", **QUIET)
    for chip, key in zip(chips, STARTERS, strict=True):
        chip.click(chosen(key), None, outputs, trigger_mode="multiple", **QUIET)
    stop.click(stopped, None, None, queue=False, **QUIET)
    clear.click(cleared, None, outputs, queue=False, **QUIET)
    return outputs


def _documents_tab(desk: Desk) -> list[Any]:
    """Build adding, the list and removing; returns what `_documents` fills."""
    files = gr.File(label=I18N("upload"), file_count="multiple", height=150, elem_id="files")
    with gr.Row(elem_id="adding"):
        add = gr.Button(I18N("add"), variant="primary", interactive=False, elem_id="add")
        halt = gr.Button(I18N("add_stop"), interactive=False, elem_id="add-stop")
    progress = gr.HTML("", elem_id="progress")
    table = gr.HTML("", elem_id="documents")
    choice = gr.Dropdown(choices=[], value=None, label=I18N("remove_choose"), elem_id="choice")
    with gr.Row(elem_id="removing"):
        remove = gr.Button(I18N("remove"), elem_id="remove")
        yes = gr.Button(I18N("remove_yes"), variant="stop", visible=False, elem_id="remove-yes")
        no = gr.Button(I18N("remove_no"), visible=False, elem_id="remove-no")
    message = gr.HTML("", elem_id="removed")
    confirming = [message, remove, yes, no]

    def added(paths: list[str] | None, request: gr.Request) -> Iterator[Updates]:
        language, chosen = _language(request), [Path(path) for path in paths or ()]
        for view in desk.add(_session(request), chosen, language):
            yield *_adding(view), gr.skip(), gr.skip(), gr.skip()
        for path in chosen:
            path.unlink(missing_ok=True)  # Gradio's copy of the upload; the knowledge base has its own
        yield gr.skip(), gr.skip(), gr.skip(), None, *_documents(desk, language)

    def halted(request: gr.Request) -> None:
        desk.stop_adding(_session(request))

    def confirm(doc_id: str | None, request: gr.Request) -> Updates:
        return _confirming(*desk.confirm(doc_id, _language(request)))

    def removed(doc_id: str, request: gr.Request) -> Updates:
        language = _language(request)
        return *_confirming(desk.remove(doc_id, language), False), *_documents(desk, language)

    # The button waits for the upload to be complete; a file list emptied after adding shuts it again.
    files.change(lambda paths: gr.update(interactive=bool(paths)), files, add, **QUIET)
    add.click(added, files, [progress, add, halt, files, table, choice], **QUIET)
    halt.click(halted, None, None, queue=False, **QUIET)
    remove.click(confirm, choice, confirming, **QUIET)
    no.click(lambda: _confirming("", False), None, confirming, **QUIET)
    yes.click(removed, choice, [*confirming, table, choice], **QUIET)
    return [table, choice]


def _status_tab(desk: Desk, tab: gr.Tab) -> None:
    report = gr.HTML(elem_id="report")
    refresh = gr.Button(I18N("refresh"), elem_id="refresh")

    def shown(request: gr.Request) -> Iterator[str]:
        yield from desk.status(_language(request))

    gr.on([tab.select, refresh.click], shown, None, report, **QUIET)


def _chat(view: ChatView) -> Updates:
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


def _adding(view: AddView) -> Updates:
    return view.progress, gr.update(interactive=False), gr.update(interactive=view.busy)


def _confirming(message: str, asking: bool) -> Updates:
    return message, gr.update(visible=not asking), gr.update(visible=asking), gr.update(visible=asking)


def _documents(desk: Desk, language: Language) -> Updates:
    table, choices = desk.documents(language)
    return table, gr.update(choices=choices, value=None)


def _session(request: gr.Request) -> str:
    return request.session_hash or ""


def _language(request: gr.Request) -> Language:
    return language_of(request.headers.get("accept-language", ""))


def _theme() -> gr.themes.Base:
    theme = gr.themes.Soft(primary_hue="green", neutral_hue="stone", text_size="lg", font=FONTS,
                           font_mono=("monospace",))
    return theme.set(button_primary_background_fill=GREEN, button_primary_background_fill_hover=DARK_GREEN,
                     button_primary_background_fill_dark=GREEN, block_label_text_color=GREEN,
                     block_title_text_color=GREEN, block_title_background_fill="transparent",
                     block_title_padding="0", color_accent=GREEN)


def _head(engine: DeskEngine) -> str:
    script = (WEB / "desk.js").read_text(encoding="utf-8")
    return f'<meta name="application-name" content="{_mark(engine)}"><script>{script}</script>'


def _mark(engine: DeskEngine) -> str:
    """Return the word in the page by which a second start knows the program that serves this data folder."""
    return "nongda-" + hashlib.sha256(str(engine.data_dir.resolve()).encode()).hexdigest()[:16]


def _prepare_environment(uploads: str) -> None:
    """Keep Gradio to this machine: no telemetry, and no proxy between the program and its own page."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ[UPLOADS] = uploads
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host]
        os.environ[name] = ",".join(dict.fromkeys([*hosts, HOST, "localhost"]))


def _announce(url: str, open_browser: bool, ready: Callable[[str], None] | None) -> None:
    if ready is not None:
        ready(url)
    if open_browser:
        webbrowser.open(url)
