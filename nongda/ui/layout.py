"""The page in Gradio: its frame and the local server. Only the modules `layout*` know Gradio."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from nongda.ui import layout_tabs as tabs
from nongda.ui import render
from nongda.ui.adding import AddingDesk
from nongda.ui.documents_desk import DocumentsDesk
from nongda.ui.handlers import Desk, DeskEngine
from nongda.ui.layout_adding import adding_part
from nongda.ui.layout_documents import browse_part, lister
from nongda.ui.layout_tabs import I18N, QUIET, Updates, language_for, session_of
from nongda.ui.layout_view import opening, view_part
from nongda.ui.layout_words import words_tab
from nongda.ui.server import HOST, NoFiles, choose_port
from nongda.ui.texts import TEXTS
from nongda.ui.words import WordsDesk

DEFAULT_PORT = 7860
UPLOAD_LIMIT = "600mb"  # one file, as for reading: a scan of 500 pages
WEB = Path(__file__).resolve().parents[2] / "assets" / "web"
FONTS = ("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Microsoft YaHei", "PingFang SC",
         "WenQuanYi Micro Hei", "system-ui", "sans-serif")
UPLOADS = "GRADIO_TEMP_DIR"  # the variable by which Gradio knows where uploads go
GREEN, DARK_GREEN = "#2f7d4f", "#22603b"


@dataclass(frozen=True, slots=True)
class Running:
    """A started page: its address and the way to end it."""

    url: str
    close: Callable[[], None]


def build(engine: DeskEngine) -> gr.Blocks:
    """Build the page over an engine; nothing is served yet."""
    return _build(Desk(engine), AddingDesk(engine.library))


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
    desk, adding = Desk(engine), AddingDesk(engine.library)
    blocks = _build(desk, adding)
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
        adding.close_all()
        blocks.close(verbose=False)
        shutil.rmtree(uploads, ignore_errors=True)
        os.environ.pop(UPLOADS, None)
        os.environ.update({UPLOADS: before} if before else {})

    return Running(f"http://{HOST}:{port}/", close)


def _build(desk: Desk, adding: AddingDesk) -> gr.Blocks:
    documents = DocumentsDesk(desk.engine.library)
    blocks = gr.Blocks(title=TEXTS["zh"]["title"], analytics_enabled=False, fill_width=True)
    with blocks:
        bar = gr.HTML(render.header(TEXTS["zh"]), elem_id="header")
        with gr.Tabs(elem_id="tabs") as all_tabs:
            with gr.Tab(I18N("tab_ask"), id="ask"):
                chat = tabs.ask_tab(desk)
            with gr.Tab(I18N("tab_documents"), id="documents") as documents_tab:
                with gr.Column(elem_id="browse") as column:
                    came = adding_part(adding, documents_tab, blocks)
                browse = browse_part(documents, column)
                view = view_part(documents, browse)
            with gr.Tab(I18N("tab_words"), id="words") as own_words_tab:
                words_tab(WordsDesk(desk.engine), own_words_tab)
            with gr.Tab(I18N("tab_status"), id="status") as status_tab:
                tabs.status_tab(desk, status_tab)
        opening(documents, browse, view, all_tabs)

        def opened(request: gr.Request) -> Updates:
            language = language_for(request)
            return render.header(TEXTS[language]), *tabs.chat(desk.view(session_of(request), language))

        def closed(request: gr.Request) -> None:
            desk.close(session_of(request))
            adding.close(session_of(request))

        blocks.load(opened, None, [bar, *chat], **QUIET)
        gr.on([blocks.load, documents_tab.select, came.change], lister(documents), browse.asked,
              [browse.filters[1], *browse.listed], **QUIET)
        blocks.unload(closed)
    return blocks


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
