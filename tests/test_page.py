"""The page as a browser gets it: served on this machine only, nothing fetched from elsewhere, and usable."""

from __future__ import annotations

import gc
import http.client
import re
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from conftest import HashEmbedder
from fake_desk import CHOICE, FakeDeskEngine, stored

from nongda.engine import ROOT, Engine, Models
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.language.own_words import OwnWord
from nongda.models.manifest import load_manifest
from nongda.models.rerank import TokenCache
from nongda.settings import Settings
from nongda.ui import layout

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUESTION = "咖啡叶子背面有黄粉，是什么病，怎么治？"
pytestmark = [
    # Gradio's own queue uses options that its pandas has deprecated, and leaves event loops to the collector.
    pytest.mark.filterwarnings("ignore:.*no_silent_downcasting.*"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated"),
    pytest.mark.filterwarnings("ignore:unclosed event loop:ResourceWarning"),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> FakeDeskEngine:
    return FakeDeskEngine(tmp_path_factory.mktemp("资料 库"), pause=0.1)


@pytest.fixture(scope="module")
def url(engine: FakeDeskEngine) -> Iterator[str]:
    """The address of a page started with a proxy in the environment that answers nobody."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            patch.setenv(name, "http://127.0.0.1:9")
        for name in ("no_proxy", "NO_PROXY", "GRADIO_ANALYTICS_ENABLED", "HF_HUB_DISABLE_TELEMETRY", "GRADIO_TEMP_DIR"):
            patch.delenv(name, raising=False)
        running = layout.start(engine, free_port())
        yield running.url
        running.close()
        gc.collect()  # the loops Gradio left open are found here, where they are expected, and in no other test


def raw_get(url: str, path: str, host: str | None = None) -> tuple[int, bytes]:
    """Ask for exactly this path: other clients tidy `..` away before they send it."""
    connection = http.client.HTTPConnection("127.0.0.1", httpx.URL(url).port, timeout=10)
    try:
        connection.putrequest("GET", path, skip_host=host is not None)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_the_page_is_served_and_loads_nothing_from_another_host(url: str):
    reply = httpx.get(url, trust_env=False)
    assert reply.status_code == 200 and "农答" in reply.text
    loaded = re.findall(r"<(?:script|link|img|iframe|source)[^>]*?(?:src|href)=[\"']([^\"']+)", reply.text)
    assert loaded and not [address for address in loaded if re.match(r"(?:https?:)?//", address)]
    theme = httpx.get(url + "theme.css", trust_env=False).text
    assert not re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']*", theme + reply.text)


@pytest.mark.parametrize("path", [
    "/file=../../../../etc/passwd", "/gradio_api/file=../../../../etc/passwd", "/gradio_api/file=/etc/passwd",
    "/gradio_api/file/etc/passwd", "/gradio_api/file=%2Fetc%2Fpasswd", "/gradio_api/file%3D/etc/passwd",
    "/gradio_api/file=//127.0.0.1/share/a.txt", "/gradio_api/file=%5C%5C127.0.0.1%5Cshare%5Ca.txt",
    "/gradio_api/file=C:%5CWindows%5Cwin.ini", "/gradio_api/file=http://127.0.0.1:9/a.txt",
    "/gradio_api/proxy=http://127.0.0.1:9/a.txt", "/static/../../../../etc/passwd",
    "/assets/..%2f..%2f..%2f..%2fetc/passwd",
])
def test_no_address_hands_out_a_file_of_this_machine(url: str, path: str):
    status, body = raw_get(url, path)
    assert status in (400, 403, 404) and b"root:" not in body


def test_a_file_of_the_project_is_not_served(url: str):
    here = Path(__file__).resolve()
    for path in (f"/gradio_api/file={here}", f"/gradio_api/file={here.name}", "/gradio_api/file=pyproject.toml"):
        assert raw_get(url, path) == (404, b"Not found")


def test_another_host_name_is_refused(url: str):
    assert raw_get(url, "/", host="example.org")[0] == 400


def test_the_page_offers_no_programming_interface(url: str):
    assert httpx.get(url + "gradio_api/info", trust_env=False).json() == {
        "named_endpoints": {}, "unnamed_endpoints": {}}


def test_a_second_start_for_the_same_data_opens_the_running_page(
    engine: FakeDeskEngine, url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    opened: list[str] = []
    monkeypatch.setattr(layout.webbrowser, "open", opened.append)
    told: list[str] = []
    layout.launch(engine, httpx.URL(url).port, True, told.append)
    assert told == opened == [url]
    assert f"农答已经在运行：请在浏览器打开 {url}" in capsys.readouterr().out


def test_a_taken_port_is_said_and_the_next_one_serves_until_interrupted(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    taken = httpx.URL(url).port
    served: list[int] = []

    def ready(address: str) -> None:
        served.append(httpx.get(address, trust_env=False).status_code)
        raise KeyboardInterrupt

    layout.launch(FakeDeskEngine(tmp_path), taken, False, ready)
    said = capsys.readouterr().out
    assert served == [200]
    assert f"端口 {taken} 已被别的程序占用" in said and "农答已结束" in said


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"])
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """A fresh tab in Chinese; at its end every request it made must have stayed on this machine."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, locale="zh-CN")
    tab = context.new_page()
    requested: list[str] = []
    broken: list[str] = []
    tab.on("request", lambda request: requested.append(request.url))
    tab.on("pageerror", lambda error: broken.append(str(error)))
    tab.goto(url)
    tab.wait_for_selector("#question textarea")
    yield tab
    assert tab.evaluate("window.hacked") is None
    context.close()
    assert requested and not [address for address in requested if not address.startswith((url, "data:", "blob:"))]
    assert broken == []


def ask(page: Page, question: str = QUESTION) -> None:
    page.fill("#question textarea", question)
    page.press("#question textarea", "Enter")


def test_a_question_shows_its_evidence_first_then_a_cited_answer(page: Page):
    ask(page)
    page.wait_for_selector(".card")
    assert page.locator(".doing").is_visible() and page.locator(".took").count() == 0
    page.wait_for_selector(".took")
    assert page.locator(".bubble .warning").is_visible()
    assert page.locator(".card mark").first.inner_text() == "叶锈病的病斑在叶背呈橙黄色粉状。"
    assert page.input_value("#question textarea") == ""


def test_a_citation_leads_to_its_passage_also_after_the_next_question(page: Page):
    ask(page)
    page.wait_for_selector(".took")
    page.locator("a.cite").last.click()
    assert page.locator("#card-1-5e6f7a8b-2.target").is_visible()
    ask(page, "那什么时候剪枝？")
    page.wait_for_selector("#card-2-1a2b3c4d-3")
    page.wait_for_selector(".turn:nth-of-type(4) .took")
    assert not page.locator("#card-1-1a2b3c4d-3").is_visible()
    page.locator("a.cite").first.click()
    assert page.locator("#card-1-1a2b3c4d-3.target").is_visible()


def test_stop_stops_within_two_seconds_and_the_next_question_works(page: Page, engine: FakeDeskEngine):
    ask(page)
    page.wait_for_selector(".text")
    before = len(engine.ended)
    clicked = time.monotonic()
    page.click("#stop")
    page.wait_for_selector(".label.stopped")
    assert len(engine.ended) == before + 1 and engine.ended[-1] - clicked < 2
    ask(page, "外星人种咖啡吗")
    page.wait_for_selector(".label.refused")
    page.click("#clear")
    page.wait_for_selector(".welcome")
    assert page.locator(".chip").first.is_visible()


def test_a_question_during_an_answer_is_refused_in_words_and_harms_nothing(page: Page):
    ask(page)
    page.wait_for_selector(".text")
    ask(page, "再问一句")
    page.wait_for_selector("text=上一问还没有答完")
    page.wait_for_selector(".took")
    page.wait_for_selector("#ask:not([disabled])")
    assert page.locator(".turn.you").count() == 1
    assert page.input_value("#question textarea") == "再问一句"


def test_a_choice_asks_its_question_by_mouse_and_by_keyboard(page: Page):
    ask(page, "土蚕怎么治？")
    page.click("button.choice >> nth=0")
    page.wait_for_selector(".turn:nth-of-type(4) .took")
    assert page.locator(".turn.you .bubble").all_inner_texts() == ["土蚕怎么治？", CHOICE]
    assert page.input_value("#question textarea") == ""
    page.wait_for_selector("#ask:not([disabled])")
    page.focus("button.choice >> nth=1")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn:nth-of-type(6) .took")
    assert page.locator(".turn.you .bubble").last.inner_text() == "蛴螬怎么治？"


def test_a_choice_does_nothing_while_an_answer_runs(page: Page):
    ask(page, "土蚕怎么治？")
    page.wait_for_selector("button.choice")
    page.wait_for_selector("#ask:not([disabled])")
    ask(page)
    page.wait_for_selector(".turn:nth-of-type(4) .text")
    page.click("button.choice >> nth=0")
    page.wait_for_selector(".turn:nth-of-type(4) .took")
    assert page.locator(".turn.you").count() == 2 and page.input_value("#question textarea") == ""


BORER = "打玉米虫用什么药？"


def test_a_reading_is_undone_and_taken_up_again_by_keyboard(page: Page, engine: FakeDeskEngine):
    ask(page, BORER)
    page.wait_for_selector(".took")
    page.wait_for_selector("#ask:not([disabled])")
    assert "已按“玉米螟”理解“打玉米虫”" in page.inner_text(".readings")
    page.focus("button.reread")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn:nth-of-type(4) .took")
    assert page.evaluate("document.activeElement.closest('#question') !== null")
    assert page.locator(".turn.you .bubble").all_inner_texts() == [BORER, BORER]
    assert engine.as_written[-1] == {"打玉米虫"}
    assert "按原字“打玉米虫”查找" in page.locator(".readings").last.inner_text()
    page.wait_for_selector("#ask:not([disabled])")
    page.locator("button.reread", has_text="改回按“玉米螟”理解").focus()
    page.keyboard.press("Space")
    page.wait_for_selector(".turn:nth-of-type(6) .took")
    assert engine.as_written[-1] == frozenset()
    assert "已按“玉米螟”理解" in page.locator(".readings").last.inner_text()


def test_a_reading_is_not_undone_while_an_answer_runs(page: Page):
    ask(page, BORER)
    page.wait_for_selector(".took")
    page.wait_for_selector("#ask:not([disabled])")
    ask(page)
    page.wait_for_selector(".turn:nth-of-type(4) .text")
    page.click("button.reread >> nth=0")
    page.wait_for_selector(".turn:nth-of-type(4) .took")
    assert page.locator(".turn.you").count() == 2


def test_more_than_four_readings_unfold_by_keyboard(page: Page):
    ask(page, "打玉米虫、黄疸、洋芋、zhousi、苞谷、火烧瘟用什么药？")
    page.wait_for_selector(".took")
    assert page.locator("button.reread:visible").count() == 4
    page.focus(".more summary")
    page.keyboard.press("Enter")
    page.wait_for_selector(".more[open]")
    assert page.locator("button.reread:visible").count() == 6


def test_a_table_of_six_columns_scrolls_inside_and_not_the_page(page: Page):
    ask(page, "链")
    page.wait_for_selector(".took")
    table = page.locator(".text .wide")
    assert table.evaluate("t => t.scrollWidth - t.clientWidth") <= 1  # a laptop shows all of it
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    table.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.text .wide').scrollLeft > 0")


def open_words(page: Page) -> None:
    page.get_by_role("tab", name="词语").click()
    page.wait_for_selector("#words p")


def add_word(page: Page, alias: str, term: str) -> None:
    page.fill("#word-alias input", alias)
    page.fill("#word-term input", term)
    page.press("#word-term input", "Enter")


def test_a_word_of_the_station_is_added_used_by_the_next_question_and_removed(page: Page, engine: FakeDeskEngine):
    open_words(page)
    add_word(page, "老虫", "玉米明")
    page.wait_for_selector("#word-message >> text=“老虫”指向的“玉米明”不是标准名")
    assert page.input_value("#word-alias input") == "老虫"
    page.click("#word-term input")
    page.fill("#word-term input", "")
    page.keyboard.type("玉米")
    page.wait_for_function("document.querySelector('#word-term input').list.options.length == 2")
    add_word(page, "老虫", "玉米螟")
    page.wait_for_selector("#word-message >> text=从下一问起生效")
    page.wait_for_selector("#words >> text=老虫")
    assert page.input_value("#word-alias input") == ""
    page.get_by_role("tab", name="问答").click()
    ask(page, "老虫怎么打？")
    page.wait_for_selector(".readings >> text=已按“玉米螟”理解“老虫”")
    open_words(page)
    page.click("button.unword")
    page.wait_for_selector("#word-message >> text=已删除“老虫”")
    assert engine.own_words() == []


def test_words_are_handed_out_and_taken_in_as_a_file(page: Page, engine: FakeDeskEngine, tmp_path: Path):
    engine.set_own_words([OwnWord("老虫", "玉米螟")])
    open_words(page)
    for form in ("tsv", "csv"):
        with page.expect_download() as handed:
            page.click(f"#words-{form}")
        assert handed.value.suggested_filename == f"农答词语.{form}"
        handed.value.save_as(tmp_path / f"词.{form}")
    engine.set_own_words([])
    with (tmp_path / "词.csv").open("a", encoding="utf-8") as more:
        more.write("坏词,玉米明,\n")
    with page.expect_file_chooser() as chooser:
        page.click("#words-import")
    chooser.value.set_files(tmp_path / "词.csv")
    page.wait_for_selector("#word-message >> text=第 3 行“坏词”指向的“玉米明”不是标准名")
    page.wait_for_selector("#words >> text=老虫")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    engine.set_own_words([])


@pytest.fixture
def small_engine(tmp_path: Path) -> Iterator[Engine]:
    """A real engine over one document, with an embedder that needs no weights and without the language model."""
    embedder, lexicon = HashEmbedder(), Lexicon.load(ROOT / "assets" / "domain")
    engine = Engine(Settings(), Store(tmp_path / "资料 库"), load_manifest(ROOT / "models" / "manifest.toml"), lexicon, "lite",
                    ROOT, Models(embedder, None, None, TokenCache(embedder)))
    document = tmp_path / "玉米螟.md"
    document.write_text("# 玉米螟的防治\n\n玉米螟在心叶末期用药，每亩用苏云金杆菌100克。", encoding="utf-8")
    list(engine.add([document]))
    yield engine
    engine.close()


def test_a_word_added_on_the_page_is_understood_by_the_engine_undone_and_removed(browser: Browser, small_engine: Engine):
    running = layout.start(small_engine, free_port())
    context = browser.new_context(locale="zh-CN")
    tab = context.new_page()
    tab.goto(running.url)
    tab.wait_for_selector("#question textarea")
    open_words(tab)
    add_word(tab, "咬心郎", "玉米螟")
    tab.wait_for_selector("#word-message >> text=从下一问起生效")
    tab.get_by_role("tab", name="问答").click()
    ask(tab, "咬心郎什么时候用药？")
    tab.wait_for_selector(".readings >> text=已按“玉米螟”理解“咬心郎”")
    tab.wait_for_selector("#ask:not([disabled])")
    tab.click("button.reread")
    tab.wait_for_selector(".turn:nth-of-type(4) .took")
    assert "按原字“咬心郎”查找" in tab.locator(".readings").last.inner_text()
    open_words(tab)
    tab.click("button.unword")
    tab.wait_for_selector("#word-message >> text=已删除“咬心郎”")
    assert small_engine.own_words() == []
    context.close()
    running.close()
    gc.collect()


def test_the_law_is_above_the_answer_and_a_note_s_citation_leads_to_its_card(page: Page):
    ask(page, "克百威能用吗？")
    page.wait_for_selector(".took")
    tops = [page.locator(one).bounding_box()["y"] for one in (".note.law", ".note.trust", ".text table", ".note.contradiction")]
    assert tops == sorted(tops)
    page.click(".note.contradiction a.cite")
    assert page.locator("#card-1-5e6f7a8b-2.target .remark").is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_closing_the_tab_ends_its_answer(browser: Browser, url: str, engine: FakeDeskEngine):
    tab = browser.new_page()
    tab.goto(url)
    tab.wait_for_selector("#question textarea")
    engine.pause = 0.5
    try:
        ask(tab)
        tab.wait_for_selector(".text")
        before = len(engine.ended)
        tab.close()
        deadline = time.monotonic() + 4
        while len(engine.ended) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(engine.ended) == before + 1
    finally:
        engine.pause = 0.1


def open_documents(page: Page) -> None:
    page.get_by_role("tab", name="资料").click()
    page.wait_for_selector("#documents tbody tr")


def test_files_are_added_and_one_is_removed_after_a_question(page: Page, tmp_path: Path):
    good, bad = tmp_path / "新 资料（一）.md", tmp_path / "表.et"
    good.write_text("# 新资料\n内容", encoding="utf-8")
    bad.write_bytes(b"x")
    open_documents(page)
    page.click("#add-fold > button")
    page.set_input_files("#files input[type=file]", [str(good), str(bad)])
    page.click("#add")  # waits until the upload has ended and the button is open
    page.wait_for_selector("text=新 资料（一）.md 已加入，共 4 段")
    page.wait_for_selector("text=表.et 的类型不认识")
    page.wait_for_selector("#documents >> text=共 4 份资料")
    page.check("#only-failed input")
    page.wait_for_function("document.querySelectorAll('#progress li').length == 1")
    page.click("#documents tr:has-text('新 资料') td:nth-child(5)")
    page.click("#remove")
    page.wait_for_selector("text=确定删除《新 资料（一）》")
    page.click("#remove-yes")
    page.wait_for_selector("#doc-said >> text=已删除《新 资料（一）》")
    page.wait_for_selector("#documents >> text=共 3 份资料")


def test_a_folder_is_taken_in_and_watched(page: Page, engine: FakeDeskEngine, tmp_path: Path):
    (tmp_path / "站里.md").write_text("字", encoding="utf-8")
    open_documents(page)
    page.click("#add-fold > button")
    page.fill("#folder :is(input, textarea)", str(tmp_path))
    page.click("#folder-watch")
    page.wait_for_selector("#watched >> text=正在关注的文件夹（1）")
    page.click("#folder-sync")
    page.wait_for_selector("#progress >> text=做完了：共 1 份")
    page.click("button.unwatch")
    page.wait_for_selector("#folder-said >> text=不再关注")
    assert engine.watched() == []
    engine.remove("00000001")


def test_a_document_is_opened_read_beside_its_pages_and_left_by_keyboard(page: Page):
    open_documents(page)
    page.fill("#doc-search :is(input, textarea)", "遮荫")
    page.wait_for_selector("#documents >> text=共 1 份资料")
    page.focus("#documents button.open")
    page.keyboard.press("Enter")
    page.wait_for_selector("#leaf .leaf[data-leaf='1'] img")
    page.wait_for_function("document.activeElement.matches('#doc-title h2')")
    page.focus("button.see >> nth=4")
    page.keyboard.press("Enter")
    page.wait_for_selector("#leaf .leaf[data-leaf='2'] >> text=字迹不清")
    page.click(".ocr summary")
    assert page.locator(".ocr pre").inner_text() == "每苗用量 <b>40</b> 克"
    page.click("#leaf-next")
    page.wait_for_selector("#leaf .leaf[data-leaf='3']")
    assert page.evaluate("document.documentElement.scrollHeight") <= 768
    page.click(".chunk >> nth=8")
    page.wait_for_selector("#leaf .leaf[data-leaf='4'] >> text=没有读进来")
    page.focus("#doc-close")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.matches('#documents button.open')")
    assert page.locator("#doc-view").is_hidden() and page.input_value("#doc-search :is(input, textarea)") == "遮荫"


def test_a_document_is_described_anew_and_retired(page: Page, engine: FakeDeskEngine):
    before = engine.document("5e6f7a8b")
    open_documents(page)
    page.click("#documents tr:has-text('遮荫') button.open")
    page.wait_for_selector("#doc-title h2:text('遮荫与间作')")  # the form is filled with it
    page.click("#doc-edit > button")
    page.fill("#edit-date :is(input, textarea)", "去年")
    page.click("#edit-save")
    page.wait_for_selector("#edit-said >> text=“去年”不是日期")
    page.fill("#edit-date :is(input, textarea)", "2025-05-06")
    page.fill("#edit-title :is(input, textarea)", "遮荫<b>新")
    page.click("#edit-save")
    page.wait_for_selector("#edit-said >> text=从下一问起生效")
    page.wait_for_selector("#doc-title h2:text('遮荫<b>新')")
    page.click("#doc-retire")
    page.wait_for_selector("#doc-title .tag.retired")
    page.click("#doc-close")
    page.wait_for_selector("#documents tr:has-text('遮荫<b>新') >> text=已停用")
    assert (engine.stored[1].meta.date, engine.stored[1].state) == ("2025-05-06", "retired")
    engine.stored[1] = before


def test_a_citation_opens_the_original_at_its_passage_also_of_an_old_edition(page: Page, engine: FakeDeskEngine):
    before = engine.stored[0]
    engine.stored[0] = replace(before, state="superseded", superseded_by="5e6f7a8b")
    ask(page)
    page.wait_for_selector(".took")
    page.click(".card .look >> nth=0")
    page.wait_for_selector("#chunks .chunk.target:has-text('1a2b3c4d#3')")
    page.wait_for_function("document.activeElement.matches('.chunk.target')")
    page.click("#doc-title .banner button.open")
    page.wait_for_selector("#doc-title h2:text('遮荫与间作')")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    engine.stored[0] = before


def test_a_thousand_documents_are_listed_searched_and_turned_over_quickly(page: Page, engine: FakeDeskEngine):
    before = list(engine.stored)
    engine.stored.extend(stored(f"{n:08x}", f"资料 {n}", f"{n}.md", sample=False) for n in range(1000, 2000))
    try:
        started = time.monotonic()
        open_documents(page)
        page.wait_for_selector("text=第 1–50 份，共 1003 份")
        page.click("#doc-next")
        page.wait_for_selector("text=第 51–100 份，共 1003 份")
        page.fill("#doc-search :is(input, textarea)", "1777.md")
        page.wait_for_selector("#documents >> text=共 1 份资料")
        assert time.monotonic() - started < 10
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    finally:
        engine.stored[:] = before


def test_the_state_of_the_program_is_shown(page: Page):
    page.get_by_role("tab", name="状态").click()
    page.wait_for_selector("text=写回答的模型")


def test_the_page_fits_a_small_laptop_and_a_phone_without_sideways_scrolling(page: Page):
    assert page.evaluate("document.documentElement.scrollHeight") <= 768
    page.set_viewport_size({"width": 390, "height": 844})
    ask(page)
    page.wait_for_selector(".took")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_long_conversation_scrolls_in_its_own_frame_and_follows_the_answer(page: Page, engine: FakeDeskEngine):
    engine.pause = 0.0
    try:
        for number in range(1, 5):
            ask(page)
            page.wait_for_selector(f".turn:nth-of-type({2 * number}) .took")
    finally:
        engine.pause = 0.1
    frame = page.locator("#talk")
    for question in ("", "一行\n" * 6):  # a tall question box makes the frame smaller
        page.fill("#question textarea", question)
        page.wait_for_timeout(200)
        height, whole, top = frame.evaluate("talk => [talk.clientHeight, talk.scrollHeight, talk.scrollTop]")
        assert whole > height and top == pytest.approx(whole - height, abs=2)
    assert page.evaluate("document.documentElement.scrollHeight") <= 768


def test_a_browser_in_another_language_gets_english(browser: Browser, url: str):
    context = browser.new_context(locale="fr-FR")
    tab = context.new_page()
    tab.goto(url)
    tab.wait_for_selector("text=Answers come only from the documents")
    assert tab.inner_text("#ask") == "Ask"
    assert tab.get_by_role("tab").all_inner_texts() == ["Ask", "Documents", "Words", "Status"]
    context.close()
