"""The commands about documents, as a station types them."""

import json

import pytest
from click.testing import CliRunner

from nongda.documents_cli import describe, docs, remove, restore, retire, show
from nongda.engine import Engine
from nongda.errors import StoreError, UsageError
from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer
from nongda.index.store import Store
from nongda.settings import ChunkSettings

TEXT = "---\ntitle: 茶园用药\n---\n\n# 茶园用药\n\n茶小绿叶蝉在百叶虫量达到6头时喷药防治。\n"


@pytest.fixture
def doc_id(tmp_path, lexicon, embedder):
    store = Store(tmp_path / "库")
    path = tmp_path / "茶.md"
    path.write_text(TEXT, encoding="utf-8")
    report = list(Ingester(Preparer(store, lexicon, embedder, None, ChunkSettings())).add([path]))[-1]
    store.close()
    return report.doc_id


@pytest.fixture
def run(tmp_path, monkeypatch, lexicon, embedder):
    """Run a command on the folder, without loading any model."""
    monkeypatch.setattr(Engine, "_preparer",
                        lambda self, store: Preparer(store, lexicon, embedder, None, ChunkSettings()))

    def ran(command, *arguments: str) -> str:
        result = CliRunner().invoke(command, ["--data", str(tmp_path / "库"), *arguments], catch_exceptions=False,
                                    standalone_mode=False)
        if result.exception:
            raise result.exception
        return result.output

    return ran


def test_show_prints_a_passage_with_its_place_and_state(run, doc_id):
    output = run(show, f"[{doc_id}#0]")
    assert "茶园用药（茶.md）〔使用中〕" in output
    assert "百叶虫量达到6头" in output


def test_a_document_is_retired_restored_and_removed_and_still_shown(run, doc_id):
    assert "已停用" in run(retire, doc_id)
    assert "〔已停用〕" in run(docs)
    assert "已恢复使用" in run(restore, doc_id)
    assert "〔" not in run(docs)
    assert "已移除" in run(remove, doc_id)
    assert "共 0 份资料" in run(docs)
    assert "〔已移除〕" in run(show, doc_id)
    run(remove, doc_id, "--forget")
    with pytest.raises(StoreError, match="从来没有"):
        run(show, doc_id)


def test_describing_changes_date_and_tags_and_says_what_is_wrong(run, doc_id):
    run(describe, doc_id, "--date", "2024年3月", "--tags", "茶，虫害", "--valid-until", "2026-12-31")
    meta = json.loads(run(docs, "--json"))[0]["meta"]
    assert (meta["date"], meta["tags"], meta["valid_until"]) == ("2024-03", ["茶", "虫害"], "2026-12-31")
    assert "有效期至：2026-12-31" in run(show, doc_id)
    with pytest.raises(UsageError, match="不是日期"):
        run(describe, doc_id, "--date", "前年")
    with pytest.raises(UsageError, match="--date"):
        run(describe, doc_id)
