"""Documents come, change and go while questions are asked; every id ever cited can be read."""

import pytest

from nongda.engine import Engine
from nongda.errors import StoreError
from nongda.intake import FileReport
from nongda.library import show
from nongda.settings import Settings

PLAN = ("---\ntitle: {year}年茶园用药方案\nauthority: 某县茶叶站\n---\n\n# {year}年茶园用药方案\n\n## 茶小绿叶蝉\n\n"
        "茶小绿叶蝉在百叶虫量达到{count}头时喷药防治，每亩用水45公斤。\n")
TABLE = "# 茶园施肥\n\n秋冬季每亩施饼肥150公斤，开沟深施。\n"


@pytest.fixture
def engine(tmp_path):
    opened = Engine.open(Settings(), tmp_path / "知识 库", "lite")
    yield opened
    opened.close()


@pytest.fixture
def add(engine, tmp_path):
    def added(name: str, text: str) -> FileReport:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return list(engine.add([path]))[-1]

    return added


def found(engine, question: str) -> list[str]:
    return [candidate.chunk.id for candidate in engine.search(question).candidates]


def test_the_next_question_finds_the_new_text_and_no_longer_the_old(engine, add):
    old = add("甲.md", PLAN.format(year=2023, count=6))
    add("乙.md", TABLE)
    question = "茶小绿叶蝉百叶虫量多少头要喷药"
    assert found(engine, question)[0] == f"{old.doc_id}#0"
    new = add("丙.md", PLAN.format(year=2024, count=9))
    ids = found(engine, question)
    assert ids[0] == f"{new.doc_id}#0"
    assert not any(found_id.startswith(old.doc_id) for found_id in ids)
    document, chunk = show(engine.library, f"{old.doc_id}#0")
    assert document.superseded_by == new.doc_id
    assert "6头" in chunk.text


def test_retiring_and_restoring_show_in_the_next_question(engine, add):
    report = add("甲.md", PLAN.format(year=2023, count=6))
    add("乙.md", TABLE)
    question = "茶小绿叶蝉怎么治"
    assert engine.library.retire(report.doc_id).state == "retired"
    assert not any(i.startswith(report.doc_id) for i in found(engine, question))
    assert engine.library.restore(report.doc_id).state == "active"
    assert found(engine, question)[0].startswith(report.doc_id)


def test_a_removed_document_is_shown_by_its_old_citation_and_comes_back_with_its_file(engine, add):
    text = PLAN.format(year=2023, count=6)
    report = add("甲.md", text)
    engine.library.remove(report.doc_id)
    document, chunk = show(engine.library, f"{report.doc_id}#0")
    assert document.state == "removed"
    assert "6头" in chunk.text
    assert (again := add("甲.md", text)).status == "added"
    assert again.doc_id == report.doc_id
    assert engine.library.document(report.doc_id).state == "active"


@pytest.mark.parametrize("unknown", ["ffffffff", "ffffffff#0", "#0", "", "瞎写"])
def test_an_id_that_never_was_is_said_to_be_unknown(engine, unknown):
    with pytest.raises(StoreError, match="从来没有"):
        show(engine.library, unknown)


def test_a_rebuild_keeps_editions_changes_and_removed_passages(engine, add):
    old, new = add("甲.md", PLAN.format(year=2023, count=6)), add("丙.md", PLAN.format(year=2024, count=9))
    other = add("乙.md", TABLE)
    engine.library.describe(new.doc_id, {"region": "云南", "date": "2024-3"})
    engine.library.remove(other.doc_id)
    reports = [e for e in engine.rebuild() if isinstance(e, FileReport)]
    assert [r.status for r in reports] == ["added", "added"]
    states = {d.id: (d.state, d.superseded_by) for d in engine.documents()}
    assert states == {old.doc_id: ("superseded", new.doc_id), new.doc_id: ("active", "")}
    meta = engine.library.document(new.doc_id).meta
    assert (meta.region, meta.date) == ("云南", "2024-03")
    assert "饼肥150公斤" in show(engine.library, f"{other.doc_id}#0")[1].text
    assert found(engine, "茶小绿叶蝉百叶虫量多少头要喷药")[0] == f"{new.doc_id}#0"
