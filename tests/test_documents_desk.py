"""The documents tab's actions: what is listed, opened, changed, and what is said."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import HashEmbedder
from fake_desk import FakeDeskEngine, stored

from nongda.engine import ROOT, Engine, Models
from nongda.errors import StoreError
from nongda.index.store import Store
from nongda.language.lexicon import Lexicon
from nongda.models.manifest import load_manifest
from nongda.models.rerank import TokenCache
from nongda.settings import Settings
from nongda.ui.documents_desk import SHOWN_CHUNKS, DocumentsDesk

SHADE, RUST = "5e6f7a8b", "1a2b3c4d"  # a PDF with pages, and a text without


@pytest.fixture
def engine(tmp_path: Path) -> FakeDeskEngine:
    return FakeDeskEngine(tmp_path)


@pytest.fixture
def desk(engine: FakeDeskEngine) -> DocumentsDesk:
    return DocumentsDesk(engine)


def listed(desk: DocumentsDesk, words: str = "", state: str = "", heed: bool = False, page: int = 0) -> list[str]:
    return re.findall(r'<tr data-open="(\w+)"', desk.listing(words, state, heed, page, "zh").table)


def change(engine: FakeDeskEngine, doc_id: str, **changes: object) -> None:
    place = next(n for n, document in enumerate(engine.stored) if document.id == doc_id)
    engine.stored[place] = replace(engine.stored[place], **changes)


def test_the_list_begins_with_what_was_added_last(engine: FakeDeskEngine, desk: DocumentsDesk):
    change(engine, SHADE, added_at="2026-01-02T03:04:05+00:00")
    assert listed(desk) == [SHADE, "90abcdef", RUST]  # at the same moment the later one of the engine's order


@pytest.mark.parametrize(("words", "found"), [("叶锈", [RUST]), ("遮荫.PDF", [SHADE]), ("遮蔭", [SHADE]), ("  ", ["90abcdef", SHADE, RUST]),
                                              ("没有这份", [])])
def test_a_document_is_found_by_a_part_of_its_title_or_file_name(desk: DocumentsDesk, words: str, found: list[str]):
    assert listed(desk, words) == found


def test_the_list_is_narrowed_to_a_state_and_to_what_needs_attention(engine: FakeDeskEngine, desk: DocumentsDesk):
    change(engine, SHADE, state="retired")
    change(engine, RUST, doubtful=1)
    assert listed(desk, state="retired") == [SHADE] and listed(desk, state="active") == ["90abcdef", RUST]
    assert listed(desk, heed=True) == [RUST] and listed(desk, state="retired", heed=True) == []
    assert "没有符合条件的资料" in desk.listing("", "retired", True, 0, "zh").table


def test_an_empty_knowledge_base_says_what_to_do(engine: FakeDeskEngine, desk: DocumentsDesk):
    engine.stored.clear()
    assert "加入资料" in desk.listing("", "", False, 0, "zh").table


def test_a_thousand_documents_come_fifty_at_a_time_and_quickly(engine: FakeDeskEngine, desk: DocumentsDesk):
    engine.stored.extend(stored(f"{n:08x}", f"资料{n}", f"{n}.md") for n in range(1000))
    started = time.perf_counter()
    listing = desk.listing("", "", False, 0, "zh")
    assert time.perf_counter() - started < 1
    assert listing.table.count("<tr data-open") == 50 and listing.pages == 21
    assert len(listed(desk, page=20)) == 3 and "第 1001–1003 份，共 1003 份" in desk.listing("", "", False, 20, "zh").table
    assert desk.listing("", "", False, 99, "zh").page == 20 and desk.listing("", "", False, -1, "zh").page == 0


def test_a_document_opens_with_its_passages_its_form_and_the_picture_of_its_first_page(desk: DocumentsDesk):
    found = desk.open(SHADE, "zh")
    assert (found.doc_id, found.state, found.leaf.page, found.leaf.pages, found.passages.count) == (SHADE, "active", 1, 4, 9)
    assert "遮荫与间作" in found.title and found.passages.html.count("<article") == 9 and "data:image/jpeg" in found.leaf.html
    assert found.form == {"title": "遮荫与间作", "date": "2024-03-01", "valid_until": "", "region": "云南普洱",
                          "stage": "病虫害防治", "authority": "示例农技站", "tags": ""}


def test_a_citation_opens_its_passage_and_the_page_it_stands_on(desk: DocumentsDesk):
    found = desk.open(f"{SHADE}#6", "zh")
    assert re.findall(r'target" aria-current="true" data-chunk="([^"]*)', found.passages.html) == [f"{SHADE}#6"]
    assert found.leaf.page == 3 and "target" not in desk.open(SHADE, "zh").passages.html


def test_a_citation_of_an_old_edition_opens_it_and_names_the_new_one(engine: FakeDeskEngine, desk: DocumentsDesk):
    change(engine, RUST, state="superseded", superseded_by=SHADE)
    found = desk.open(f"{RUST}#3", "zh")
    assert found.state == "superseded" and "已有新版" in found.title and f'data-open="{SHADE}"' in found.title
    assert "它代替了" in desk.open(SHADE, "zh").head


def test_a_citation_of_a_removed_document_can_still_be_read(desk: DocumentsDesk):
    desk.remove(RUST, "zh")
    found = desk.open(f"{RUST}#3", "zh")
    assert "已删除" in found.title and "target" in found.passages.html


@pytest.mark.parametrize("wanted", ["", "ffffffff", "ffffffff#1", "#", "x" * 5000, "<b>"])
def test_what_is_not_there_cannot_be_opened_and_that_is_said(desk: DocumentsDesk, wanted: str):
    found = desk.open(wanted, "zh")
    assert found.doc_id == "" and "找不到了" in found.message


def test_an_unknown_passage_of_a_known_document_opens_the_document(desk: DocumentsDesk):
    assert desk.open(f"{SHADE}#999", "zh").doc_id == SHADE


def test_a_document_whose_pages_are_not_seen_shows_its_passages_alone(desk: DocumentsDesk):
    found = desk.open(RUST, "zh")
    assert found.leaf.html == "" and "data-leaf" not in found.passages.html and found.passages.html.count("<article") == 9


def test_pages_are_turned_within_the_document(engine: FakeDeskEngine, desk: DocumentsDesk):
    assert "识别" not in desk.turn(SHADE, 1, "zh").html and "每苗用量" in desk.turn(SHADE, 2, "zh").html
    assert desk.turn(SHADE, 99, "zh").page == 4 and desk.turn(SHADE, -5, "zh").page == 1
    assert engine.files.pictures[-2:] == [(SHADE, 4), (SHADE, 1)]


def test_a_long_document_comes_in_stretches_and_opens_at_the_one_cited(engine: FakeDeskEngine, desk: DocumentsDesk):
    change(engine, SHADE, chunks=1000, pages=500)
    assert desk.open(SHADE, "zh").passages.html.count("<article") == SHOWN_CHUNKS
    cited = desk.open(f"{SHADE}#450", "zh")
    assert cited.passages.start == 400 and "target" in cited.passages.html and cited.leaf.page == 226
    later = desk.part(SHADE, 600, "zh")
    assert later.count == 1000 and f"{SHADE}#600" in later.html and f"{SHADE}#599" not in later.html
    assert desk.start_of_page(SHADE, 226) == 400 and desk.start_of_page(SHADE, 9999) is None


def test_only_what_was_changed_is_saved_and_holds_from_the_next_question_on(engine: FakeDeskEngine, desk: DocumentsDesk):
    form = dict(desk.open(SHADE, "zh").form) | {"title": " 新标题 ", "tags": "遮荫， 间作、"}
    said, changed = desk.save(SHADE, form, "zh")
    assert engine.files.changes == [{"title": "新标题", "tags": "遮荫、间作"}]
    assert changed and "已保存《新标题》的资料信息，从下一问起生效" in said
    assert desk.open(SHADE, "zh").form["tags"] == "遮荫、间作" and "新标题" in desk.again(SHADE, "zh").title
    assert desk.save(SHADE, desk.open(SHADE, "zh").form, "zh")[1] is False and len(engine.files.changes) == 1


def test_a_date_that_is_none_is_said_and_nothing_is_changed(engine: FakeDeskEngine, desk: DocumentsDesk):
    said, changed = desk.save(SHADE, dict(desk.open(SHADE, "zh").form) | {"date": "去年"}, "zh")
    assert not changed and "“去年”不是日期" in said and 'role="alert"' in said
    assert engine.stored[1].meta.date == "2024-03-01"


def test_a_document_is_retired_and_used_again(desk: DocumentsDesk):
    assert "已停用《遮荫与间作》" in desk.change(SHADE, "retire", "zh")
    assert desk.open(SHADE, "zh").state == "retired" and "恢复使用" in desk.open(SHADE, "zh").title
    assert "已恢复使用《遮荫与间作》：从下一问起" in desk.change(SHADE, "restore", "zh")
    assert desk.open(SHADE, "zh").state == "active"


def test_removing_asks_first_and_then_removes(desk: DocumentsDesk):
    question, asking = desk.confirm(RUST, "zh")
    assert "确定删除《咖啡叶锈病防治》" in question and asking and len(listed(desk)) == 3
    said, gone = desk.remove(RUST, "zh")
    assert gone and "已删除《咖啡叶锈病防治》" in said and listed(desk) == ["90abcdef", SHADE]


def test_changing_what_is_gone_is_a_sentence(desk: DocumentsDesk):
    for said in (desk.change("00000000", "retire", "zh"), desk.remove("00000000", "zh")[0]):
        assert "没有编号为 00000000 的资料" in said
    assert desk.confirm("00000000", "zh")[1] is False and desk.save("00000000", {}, "zh")[1] is False
    assert "找不到了" in desk.confirm("", "zh")[0] and desk.turn("00000000", 1, "zh").html == ""


def test_a_store_that_cannot_be_read_is_a_sentence_everywhere(
    engine: FakeDeskEngine, desk: DocumentsDesk, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> None:
        raise StoreError("资料库打不开：请运行 rebuild")

    for name in ("documents", "document", "pages", "chunk", "chunks_of", "page_image", "describe", "retire", "restore", "remove"):
        monkeypatch.setattr(engine, name, broken)
    said = (desk.listing("", "", False, 0, "zh").table, desk.open(SHADE, "zh").message, desk.open(f"{SHADE}#1", "zh").message,
            desk.again(SHADE, "zh").message, desk.part(SHADE, 0, "zh").html, desk.turn(SHADE, 1, "zh").html,
            desk.save(SHADE, {}, "zh")[0], desk.change(SHADE, "restore", "zh"), desk.confirm(SHADE, "zh")[0],
            desk.remove(SHADE, "zh")[0])
    assert all("资料库打不开" in one for one in said)
    assert desk.start_of_page(SHADE, 1) is None


def test_the_real_engine_s_document_is_opened_described_retired_and_removed(tmp_path: Path):
    embedder = HashEmbedder()
    engine = Engine(Settings(), Store(tmp_path / "资料 库"), load_manifest(ROOT / "models" / "manifest.toml"),
                    Lexicon.load(ROOT / "assets" / "domain"), "lite", ROOT, Models(embedder, None, None, TokenCache(embedder)))
    (tmp_path / "玉米螟.md").write_text("# 玉米螟的防治\n\n玉米螟在心叶末期用药，每亩用苏云金杆菌100克。", encoding="utf-8")
    list(engine.add([tmp_path / "玉米螟.md"]))
    desk = DocumentsDesk(engine.library)
    (doc_id,) = listed(desk, "玉米螟")
    cited = engine.chunks_of(doc_id)[0].id
    found = desk.open(cited, "zh")
    assert found.doc_id == doc_id and "心叶末期用药" in found.passages.html and "target" in found.passages.html
    form = dict(found.form)
    assert "不是日期" in desk.save(doc_id, form | {"date": "去年"}, "zh")[0]
    assert desk.save(doc_id, form | {"date": "2025年3月5日", "tags": "玉米，虫害"}, "zh")[1]
    assert desk.open(doc_id, "zh").form | {"date": "2025-03-05", "tags": "玉米、虫害"} == desk.open(doc_id, "zh").form
    desk.change(doc_id, "retire", "zh")
    assert listed(desk, state="retired") == [doc_id]
    desk.change(doc_id, "restore", "zh")
    assert desk.open(doc_id, "zh").state == "active" and desk.remove(doc_id, "zh")[1] and listed(desk) == []
    assert "已删除" in desk.open(cited, "zh").title and "心叶末期用药" in desk.open(cited, "zh").passages.html
    engine.close()
