"""From a document to a cited answer, on the real lite weights (packaging/start.py test fetches them)."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT, QueuedGenerator

from nongda.answer.features import FEATURES
from nongda.documents.identify import CITATION
from nongda.engine import Engine
from nongda.errors import StoreError, UsageError, WeightsError
from nongda.index.reword import set_own_words
from nongda.index.store import Store
from nongda.installation import add_samples
from nongda.intake import FileReport
from nongda.language.own_words import OwnWord
from nongda.models.generate import LockedGenerator
from nongda.records import Answer, Delta, Reading, Stage, Turn
from nongda.settings import Settings

SAMPLES = ROOT / "assets" / "corpus" / "咖啡"
QUESTION = "咖啡叶子背面有黄粉，是什么病，怎么治"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    opened = Engine.open(Settings(), tmp_path_factory.mktemp("农技 资料") / "索引", "lite")
    for name in ("11-叶锈病.md", "17-初加工.md"):
        reports = [e for e in opened.add([SAMPLES / name]) if isinstance(e, FileReport)]
        assert [r.status for r in reports] == ["added"]
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def asked(engine):
    return list(engine.ask(QUESTION))


def test_a_question_gets_a_cited_answer_from_the_real_model(engine, asked):
    answer = asked[-1]
    assert isinstance(answer, Answer)
    assert not answer.refused
    assert answer.citations
    assert answer.models == {
        "generator": "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "embedder": "multilingual-e5-small",
        "reranker": "late-interaction (multilingual-e5-small)",
    }
    assert any("锈" in c.doc for c in answer.citations)


def test_every_citation_resolves_to_a_chunk_that_says_so(engine, asked):
    answer = asked[-1]
    assert set(CITATION.findall(answer.text)) or answer.citations
    for citation in answer.citations:
        assert citation.quote in engine.chunk(citation.id).text
        assert f"[{citation.id}]" in answer.text


def test_evidence_comes_before_words_and_the_words_joined_are_the_answer(asked):
    kinds = [type(e).__name__ for e in asked]
    evidence = next(i for i, e in enumerate(asked) if isinstance(e, Stage) and e.candidates)
    assert evidence < kinds.index("Delta")
    assert "".join(e.text for e in asked if isinstance(e, Delta)) == asked[-1].text


def test_no_number_of_the_answer_is_missing_from_the_cited_passages(engine, asked):
    answer = asked[-1]
    cited = "\n".join(engine.chunk(c.id).text for c in answer.citations)
    known = {(q.low, q.high, q.unit) for q in engine._lexicon.units.quantities(cited)}
    for q in engine._lexicon.units.quantities(CITATION.sub("", answer.text)):
        assert (q.low, q.high, q.unit) in known or any(q.low in k[:2] and q.unit == k[2] for k in known)


def test_another_crop_is_refused(engine):
    answer = list(engine.ask("水稻稻瘟病用什么药"))[-1]
    assert (answer.kind, answer.refused, answer.citations) == ("refused", True, ())
    assert answer.text == "根据当前知识库，未找到相关信息。资料里讲的作物是小粒种咖啡，没有水稻的这项内容。"


def test_a_question_far_from_the_documents_is_refused(engine):
    assert list(engine.ask("手机怎么充电更快"))[-1].refused


def test_what_the_gate_thinks_of_a_question_is_told_without_an_answer(engine):
    answerable, far = engine.answerable("咖啡叶锈病的病斑是什么颜色"), engine.answerable("手机怎么充电更快")
    assert answerable >= engine.settings.answer.gate > far


def test_the_sentences_that_may_answer_are_described_without_an_answer(engine):
    looked = engine.look("那它怎么传播", [Turn("user", "咖啡叶锈病怎么防治")])
    assert looked.candidates[0].document.source == "11-叶锈病.md"
    assert {matrix.shape for matrix in looked.described.matrices} == {(len(looked.described.sentences), len(FEATURES))}


def test_search_finds_the_leaf_rust_chapter_in_every_mode(engine):
    for mode in ("hybrid", "bm25", "dense"):
        found = engine.search("咖啡叶背黄粉是什么病", mode).candidates
        assert found[0].document.source == "11-叶锈病.md", mode


def test_traditional_characters_find_the_same_passage(engine):
    simple, traditional = (engine.search(q).candidates[0].chunk.id for q in ("咖啡叶锈病怎么传播", "咖啡葉銹病怎麼傳播"))
    assert simple == traditional


def test_a_new_document_is_used_by_the_next_question_and_forgotten_after_its_removal(engine, tmp_path):
    path = tmp_path / "试验.md"
    path.write_text("# 咖啡紫霞菌素试验\n\n咖啡紫霞病用紫霞菌素浸种，每次浸泡17分钟。\n", encoding="utf-8")
    report = list(engine.add([path]))[-1]
    assert engine.search("紫霞菌素浸种多久").candidates[0].chunk.doc_id == report.doc_id
    engine.remove(report.doc_id)
    assert all(c.chunk.doc_id != report.doc_id for c in engine.search("紫霞菌素浸种多久").candidates)


def test_a_change_by_another_process_is_seen_by_the_next_question(engine, tmp_path):
    path = tmp_path / "另一个.md"
    path.write_text("# 咖啡青岚病\n\n咖啡青岚病用青岚素浸种，每次浸泡19分钟。\n", encoding="utf-8")
    other = Engine.open(Settings(), engine.data_dir, "lite")
    report = list(other.add([path]))[-1]
    assert engine.search("青岚素").candidates[0].chunk.doc_id == report.doc_id
    other.remove(report.doc_id)
    other.close()
    assert all(c.chunk.doc_id != report.doc_id for c in engine.search("青岚素").candidates)


def top(engine, question: str) -> str:
    return engine.search(question).candidates[0].document.source


def test_an_own_word_counts_from_the_next_question_on_in_every_engine_of_the_folder(engine):
    other = Engine.open(Settings(), engine.data_dir, "lite")
    before = [c.chunk.id for c in engine.search("虎斑怎么治").candidates]
    assert engine.set_own_words([OwnWord("虎斑", "叶锈病"), OwnWord("坏词", "没有的病名")])[0].startswith("第 2 行“坏词”")
    assert engine.own_words() == other.own_words() == [OwnWord("虎斑", "叶锈病", "disease")]
    for opened in (engine, other):
        assert top(opened, "虎斑怎么治") == "11-叶锈病.md"
        assert [e.term for e in opened.lexicon.entities("虎斑")] == ["叶锈病"]
        assert list(opened.ask("虎斑怎么传播"))[-1].readings == (Reading("虎斑", "叶锈病"),)
    other.set_own_words([])
    assert [c.chunk.id for c in engine.search("虎斑怎么治").candidates] == before
    other.close()
    assert engine.lexicon.entities("虎斑") == ()


def test_own_words_outlive_the_program_and_change_what_search_sees_of_passages(engine):
    held = [c.id for d in engine.documents() for c in engine.chunks_of(d.id) if "橙黄色粉末" in c.text]
    texts = {i: engine.chunk(i).search_text for i in held}
    assert held
    assert engine.set_own_words([OwnWord("橙黄色粉末", "叶锈病")]) == ()
    again = Engine.open(Settings(), engine.data_dir, "lite")
    assert again.own_words() == [OwnWord("橙黄色粉末", "叶锈病", "disease")]
    assert [e.term for e in again.lexicon.entities("橙黄色粉末")] == ["叶锈病"]
    again.close()
    for chunk_id in held:
        chunk = engine.chunk(chunk_id)
        assert "橙黄色粉末" in chunk.text
        assert "橙黄色粉末" not in chunk.search_text
    engine.set_own_words([])
    assert {i: engine.chunk(i).search_text for i in held} == texts


def test_words_may_change_while_others_search(engine):
    failures = []

    def search():
        try:
            for _ in range(6):
                engine.search("虎斑怎么治")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(4):
        engine.set_own_words([OwnWord("虎斑", "叶锈病")] if number % 2 == 0 else [])
    for thread in threads:
        thread.join()
    assert failures == []
    assert engine.own_words() == []


def test_samples_are_offered_once_and_a_removed_one_does_not_come_back(tmp_path):
    root = tmp_path / "root"
    (root / "assets" / "corpus").mkdir(parents=True)
    sample = root / "assets" / "corpus" / "样本.md"
    sample.write_text("# 样本\n\n咖啡采收要分批。\n", encoding="utf-8")
    engine = Engine.open(Settings(), tmp_path / "kb", "lite")
    first = [e for e in add_samples(engine, root) if isinstance(e, FileReport)]
    assert [r.status for r in first] == ["added"]
    engine.remove(first[0].doc_id)
    assert list(add_samples(engine, root)) == []
    (root / "assets" / "corpus" / "新样本.md").write_text("# 新\n\n咖啡修剪在冬季。\n", encoding="utf-8")
    assert [e.status for e in add_samples(engine, root) if isinstance(e, FileReport)][-1] == "added"
    assert [d.meta.title for d in engine.documents()] == ["新"]
    engine.close()


def test_a_rebuild_after_another_chunking_keeps_old_citations_readable(tmp_path):
    data = tmp_path / "kb"
    engine = Engine.open(Settings(), data, "lite")
    list(engine.add([SAMPLES / "11-叶锈病.md"]))
    before = {c.id: c.text for c in engine._store.chunks_of(engine.documents()[0].id)}
    engine.close()
    small = replace(Settings().chunk, min_length=60, max_length=150)
    engine = Engine.open(replace(Settings(), chunk=small), data, "lite")
    reports = [e for e in engine.rebuild() if isinstance(e, FileReport)]
    assert [r.status for r in reports] == ["added"]
    assert (data / "id_map.json").exists()
    assert len(engine._store.chunks_of(engine.documents()[0].id)) > len(before)
    moved = json.loads((data / "id_map.json").read_text(encoding="utf-8"))[0]["map"]
    for old, new in moved.items():
        found = engine.chunk(new)
        assert found is not None
        pieces = {found.text[i : i + 8] for i in range(len(found.text) - 7)}
        assert any(piece in before[old] for piece in pieces)
    assert not list(data.glob("rebuild-*"))
    engine.close()


def test_a_data_folder_of_another_embedder_says_what_to_run(tmp_path):
    engine = Engine.open(Settings(), tmp_path / "kb", "lite")
    list(engine.add([SAMPLES / "17-初加工.md"]))
    engine.set_note("embedder", "bge-small-zh-v1.5")
    with pytest.raises(StoreError, match="rebuild"):
        list(engine.ask(QUESTION))
    engine.close()


def test_missing_weights_say_what_to_run(tmp_path):
    root = tmp_path / "程序"
    (root / "models").mkdir(parents=True)
    (root / "models" / "manifest.toml").write_bytes((ROOT / "models" / "manifest.toml").read_bytes())
    (root / "assets").mkdir()
    (root / "assets" / "domain").symlink_to(ROOT / "assets" / "domain")
    engine = Engine.open(Settings(), tmp_path / "kb", "lite", root)
    with pytest.raises(WeightsError, match="setup"):
        list(engine.ask(QUESTION))
    report = engine.doctor()
    assert any("setup" in p for p in report["problems"])
    engine.close()


def test_stop_before_the_answer_ends_it_within_two_seconds_and_the_next_question_works(engine):
    stop = threading.Event()
    events = []
    for event in engine.ask("咖啡鲜果发酵多长时间", stop=stop):
        events.append(event)
        if isinstance(event, Stage) and event.name == "select":
            stop.set()
    assert events[-1].stopped
    assert list(engine.search("发酵").candidates)


def test_a_follow_up_finds_its_subject_in_the_history(engine):
    history = [Turn("user", "咖啡叶锈病怎么防治"), Turn("assistant", "喷药。")]
    stop = threading.Event()
    stop.set()
    answer = list(engine.ask("那它怎么传播", history, stop))[-1]
    assert "叶锈病" in answer.standalone


def test_a_question_without_words_is_a_use_error(engine):
    with pytest.raises(UsageError):
        list(engine.ask("？？"))


def test_doctor_finds_nothing_wrong_in_a_sound_installation(engine):
    report = engine.doctor()
    assert report["problems"] == []
    assert (report["documents"], report["models"]["embedder"]) == (2, "multilingual-e5-small")


def test_two_readers_share_one_model_one_after_the_other():
    active = []

    class Slow(QueuedGenerator):
        def generate(self, *arguments):
            active.append(1)
            assert len(active) == 1
            yield from super().generate(*arguments)
            active.pop()

    generator = LockedGenerator(Slow(*["咖啡采收。" * 10] * 4))
    texts = []
    threads = [
        threading.Thread(target=lambda: texts.append("".join(generator.generate([], 1, 0.0, threading.Event()))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["咖啡采收。" * 10] * 4


def test_a_reader_who_waits_for_the_model_can_be_stopped():
    generator = LockedGenerator(QueuedGenerator("甲" * 30, "乙"))
    first = generator.generate([], 1, 0.0, threading.Event())
    next(first)
    stop = threading.Event()
    stop.set()
    assert list(generator.generate([], 1, 0.0, stop)) == []
    first.close()
    assert "".join(generator.generate([], 1, 0.0, threading.Event())) == "乙"


def test_a_read_only_folder_answers(engine, monkeypatch):
    import sqlite3

    from nongda.index import database
    real = database._connect

    def refuse_writing(target: str, uri: bool):
        if not uri:
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return real(target, uri)

    monkeypatch.setattr(database, "_connect", refuse_writing)
    opened = Store(engine.data_dir)
    assert opened.read_only
    assert len(opened.documents()) == 2
    with pytest.raises(StoreError, match="只读"):
        opened.remove(opened.documents()[0].id)
    with pytest.raises(StoreError, match="只读"):
        set_own_words(opened, [], [], opened.revision())
    opened.close()


def test_the_repository_ships_at_least_twelve_samples_of_25000_han_characters_that_say_so():
    paths = sorted(SAMPLES.glob("*.md"))
    texts = [p.read_text(encoding="utf-8") for p in paths]
    assert len(paths) >= 12
    assert sum(sum("\u4e00" <= c <= "\u9fff" for c in t) for t in texts) >= 25_000
    assert all("示例资料" in t and "尚未经植物保护专家审定" in t for t in texts)
    assert Path(SAMPLES).is_dir()
