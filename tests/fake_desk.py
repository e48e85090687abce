"""An engine for the page's tests: it answers from three passages, one word at a time, and obeys `stop`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fake_library import FakeLibrary, WatchedFolder

from nongda.errors import UsageError
from nongda.intake import AddEvent, FileReport, PageReading, Progress
from nongda.language.own_words import Known, OwnWord, checked
from nongda.records import (
    Answer,
    Candidate,
    Chunk,
    Citation,
    Delta,
    DocumentMeta,
    Event,
    Note,
    Reading,
    Stage,
    StoredDocument,
    Turn,
)

RUST = "叶锈病的病斑在叶背呈橙黄色粉状。发病初期每公顷用药要按当地植保部门的意见。雨季前剪除病枝，可减少侵染。"
CHOICE = "小地老虎怎么治？"
RUST_QUOTE = "叶锈病的病斑在叶背呈橙黄色粉状。"

READINGS = {"打玉米虫": "玉米螟", "黄疸": "锈病", "洋芋": "马铃薯", "zhousi": "皱丝病", "苞谷": "玉米", "火烧瘟": "稻瘟病"}

KINDS = {"玉米螟": "pest", "锈病": "disease", "马铃薯": "crop", "皱丝病": "disease", "玉米": "crop", "稻瘟病": "disease"}
KNOWN = Known(KINDS, {name: name for name in KINDS}, {name: (name,) for name in KINDS})
CHAIN = """按资料，从症状到用药是这样：
| 症状 | 病因 | 药剂 | 用量 | 间隔 | 安全间隔期 |
|---|---|---|---|---|---|
| 叶背有橙黄色粉状病斑，后期病斑中央变褐、叶片脱落[1a2b3c4d#3] | 叶锈病[1a2b3c4d#3] | 波尔多液[1a2b3c4d#3] \
| 每亩用25%三唑酮可湿性粉剂40～50克，兑水45～60公斤喷雾[1a2b3c4d#3][5e6f7a8b#2] | 15天[1a2b3c4d#3] | 资料中没有写 |
| 枝条枯死 | 资料中没有写 | 资料中没有写 | 资料中没有写 | 资料中没有写 | 资料中没有写 |
| 树干虫孔[5e6f7a8b#2] | 天牛[5e6f7a8b#2] | 资料中没有写 | 资料中没有写 | 资料中没有写 | 资料中没有写 |
没有写的几项，请问当地植保站。"""


def stored(doc_id: str, title: str, source: str, sample: bool = True) -> StoredDocument:
    meta = DocumentMeta(title=title, region="云南普洱", date="2024-03-01", stage="病虫害防治",
                        authority="示例农技站", sample=sample)
    return StoredDocument(id=doc_id, source=source, meta=meta, pages=4, characters=2310, chunks=9,
                          added_at="2024-05-01T02:03:04+00:00")


def candidate(document: StoredDocument, position: int, text: str, rank: int = 1) -> Candidate:
    chunk = Chunk(id=f"{document.id}#{position}", doc_id=document.id, position=position, text=text,
                  search_text=text, kind="paragraph", page=3, heading=("病害", "叶锈病"))
    return Candidate(chunk=chunk, document=document, score=1.0 / rank, ranks={"bm25": rank})


def quoting(found: Candidate, quote: str) -> Citation:
    return Citation(id=found.chunk.id, doc=found.document.meta.title, source=found.document.source,
                    page=found.chunk.page, heading=found.chunk.heading, quote=quote)


def noted(question: str, found: Sequence[Candidate]) -> Answer:
    """Return an answer with a table, a list, notes of every kind and a citation of a passage that has no card."""
    shade = replace(quoting(found[0], "荫蔽度以 30% 左右为宜，幼龄期可稍高。"),
                    remark="您问的是海南，这里讲的是云南、普洱；资料日期 2010，已超过 8 年。")
    rust = quoting(found[1], RUST_QUOTE)
    law = Citation("ffffffff#9", "禁用与限用农药名录", "名录.md", None, ("禁用农药",), "克百威自2026年6月1日起禁止使用。")
    text = (f"**不行**：{RUST_QUOTE}[1a2b3c4d#3]\n| 项目 | 叶锈病 | 褐斑病 |\n|---|---|---|\n"
            "| 病斑 | 橙黄色粉状[1a2b3c4d#3] | 近圆形[5e6f7a8b#2] |\n"
            "| 部位 | 叶背 | 叶面 |\n1. 剪除病枝[1a2b3c4d#3]\n2. 喷波尔多液[1a2b3c4d#3]\n3. 隔15天再喷[5e6f7a8b#2]")
    notes = (
        Note("law", "克百威已禁止使用（名单截至2026年11月），请咨询当地植保站换用登记药剂。", (law,)),
        Note("trust", "资料讲的是孕穗期，您问的是拔节期。", (rust,)),
        Note("interval", "资料写明：波尔多液采收前14天停用。", (rust,)),
        Note("arithmetic", "每亩40～50克 × 13.5亩 = 540～675克[1a2b3c4d#3]", (rust,)),
        Note("contradiction", "两份资料说法不一：《遮荫与间作》说“荫蔽度以 30% 左右为宜”[5e6f7a8b#2]，《名录》说“50%”[ffffffff#9]。",
             (shade, law)),
        Note("checked", "有一句数字对不上，已换成原文。"),
    )
    return Answer(question, question, text, False, (rust, shade), tuple(found), notes=notes, timings={"total": 0.2})


class FakeDeskEngine:
    """Three documents; the word 外星 is refused, 出错 breaks, an empty question is unusable.

    土蚕 is asked back with choices, 克百威 is answered with every kind of note, a table and a list, 链 with a table of
    six columns. It reads the words of READINGS as their terms.
    """

    def __init__(self, data_dir: Path, pause: float = 0.0) -> None:
        self.data_dir = data_dir
        self.pause = pause  # seconds before each word
        self.stored = [stored("1a2b3c4d", "咖啡叶锈病防治", "叶锈病.md"),
                       stored("5e6f7a8b", "遮荫与间作", "遮荫.pdf", sample=False),
                       stored("90abcdef", "<script>alert(1)</script> ${1+1} {{7*7}}", "坏<b>名字.txt")]
        self.files = FakeLibrary(self.stored)
        self.folders: list[WatchedFolder] = []
        self.histories: list[list[Turn]] = []
        self.words: tuple[OwnWord, ...] = ()
        self.as_written: list[frozenset[str]] = []
        self.ended: list[float] = []
        self.lock = threading.Lock()

    @property
    def library(self) -> FakeDeskEngine:
        return self

    def readings(self, question: str, as_written: frozenset[str]) -> tuple[Reading, ...]:
        own = {word.alias: word.term for word in self.words}
        return tuple(Reading(surface, term) for surface, term in {**READINGS, **own}.items()
                     if surface in question and surface not in as_written)

    def own_words(self) -> list[OwnWord]:
        return list(self.words)

    def set_own_words(self, rows: Sequence[OwnWord]) -> tuple[str, ...]:
        self.words, problems = checked(rows, KNOWN)
        return problems

    def lexicon_problems(self) -> tuple[str, ...]:
        return ("aliases.tsv 第 7 行“<b>麦锈”与第 3 行重复，已略过：请删去一行", "lexicon.tsv 第 12 行缺列，已略过")

    def terms(self, prefix: str) -> list[str]:
        return [name for name in KNOWN.names.values() if name.startswith(prefix)][:20]

    def found(self) -> tuple[Candidate, ...]:
        return (candidate(self.stored[1], 2, "荫蔽度以 30% 左右为宜，幼龄期可稍高。", 1),
                candidate(self.stored[0], 3, RUST, 2),
                candidate(self.stored[2], 0, "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>", 3))

    def ask(
        self, question: str, history: Sequence[Turn] = (), stop: threading.Event | None = None,
        as_written: frozenset[str] = frozenset(),
    ) -> Iterator[Event]:
        if not question.strip():
            raise UsageError("问题里没有文字：请写下要问的事")
        with self.lock:
            self.histories.append(list(history))
            self.as_written.append(as_written)
            for event in self._answer(question, stop or threading.Event()):
                yield replace(event, readings=self.readings(question, as_written)) if isinstance(event, Answer) else event
            self.ended.append(time.monotonic())

    def _answer(self, question: str, stop: threading.Event) -> Iterator[Event]:
        found = self.found()
        yield Stage("understand", 0.01)
        yield Stage("fuse", 0.01, found)
        yield Stage("rerank", 0.01, found)
        if "出错" in question:
            raise ZeroDivisionError("internal")
        if "土蚕" in question:
            yield Answer(question, question, "“土蚕”在各地说的不是同一样东西，您问的是小地老虎还是蛴螬？", False, evidence=found,
                         kind="question", choices=(CHOICE, question.replace("土蚕", "蛴螬")), timings={"total": 0.1})
            return
        if "克百威" in question:
            yield noted(question, found)
            return
        if "链" in question:
            yield Answer(question, question, CHAIN, False, (quoting(found[1], RUST_QUOTE),), found, timings={"total": 0.1})
            return
        refused = "外星" in question
        text = ("根据当前知识库，未找到相关信息" if refused else
                f"这是叶锈病，{RUST_QUOTE}[1a2b3c4d#3]\n雨季前剪除病枝。[1a2b3c4d#3][5e6f7a8b#2]")
        done = ""
        for word in (text[i:i + 3] for i in range(0, len(text), 3)):
            if stop.wait(self.pause) or stop.is_set():
                break
            done += word
            yield Delta(word)
        cited = () if refused else (quoting(found[1], RUST_QUOTE), quoting(found[0], "荫蔽度以 30% 左右为宜"))
        warnings = () if refused else ("资料中没有登记的用药剂量，请咨询当地植保部门。",)
        yield Answer(question=question, standalone=question, text=done, refused=refused, citations=cited,
                     evidence=found, warnings=warnings, timings={"total": 1.25}, stopped=done != text)

    def add(self, paths: Sequence[Path], stop: threading.Event | None = None) -> Iterator[AddEvent]:
        for index, path in enumerate(paths, start=1):
            if stop is not None and stop.is_set():
                return
            left = float(60 * (len(paths) - index))
            if path.suffix not in (".md", ".txt", ".docx", ".pdf"):
                yield FileReport(str(path), "failed", f"{path.name} 的类型不认识：请改成 .md、.txt、.docx 或 .pdf",
                                 index, len(paths), left=left)
                continue
            for stage, done in (("reading", 2), ("embedding", 2), ("embedding", 4)):
                time.sleep(self.pause)
                yield Progress(str(path), done, 4, index, len(paths), stage, left)  # type: ignore[arg-type]
            self.stored.append(replace(stored(f"{index:08x}", path.stem, path.name, sample=False), added_at="2026-11-30T01:02:03+00:00"))
            yield FileReport(str(path), "added", f"{path.name} 已加入，共 4 段", index, len(paths), chunks=4, left=left)

    def sync(self, folder: Path, stop: threading.Event | None = None) -> Iterator[AddEvent]:
        if not folder.is_dir():
            raise UsageError(f"文件夹“{folder}”不存在：请检查路径")
        yield from self.add(sorted(folder.iterdir()), stop)

    def watched(self) -> list[WatchedFolder]:
        return self.folders

    def watch(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"文件夹“{folder}”不存在：请检查路径")
        self.folders.append(WatchedFolder(folder, "2026-11-30T01:02:03+00:00", 12, 1, "文件“表.et”读不出来"))

    def unwatch(self, folder: Path) -> None:
        self.folders = [one for one in self.folders if one.path != folder]

    def documents(self) -> list[StoredDocument]:
        return self.files.documents()

    def document(self, doc_id: str) -> StoredDocument | None:
        return self.files.document(doc_id)

    def pages(self, doc_id: str) -> list[PageReading]:
        return self.files.pages(doc_id)

    def page_image(self, doc_id: str, page: int, width: int = 1000) -> bytes | None:
        return self.files.page_image(doc_id, page, width)

    def chunks_of(self, doc_id: str) -> list[Chunk]:
        return self.files.chunks_of(doc_id)

    def chunk(self, chunk_id: str) -> Chunk | None:
        return next((c for c in self.files.chunks_of(chunk_id.partition("#")[0]) if c.id == chunk_id), None)

    def describe(self, doc_id: str, changes: Mapping[str, str]) -> StoredDocument:
        return self.files.describe(doc_id, changes)

    def retire(self, doc_id: str) -> StoredDocument:
        return self.files.change(doc_id, state="retired")

    def restore(self, doc_id: str) -> StoredDocument:
        return self.files.change(doc_id, state="active")

    def remove(self, doc_id: str) -> StoredDocument:
        return self.files.remove(doc_id)

    def doctor(self) -> dict[str, Any]:
        return {"profile": "lite", "documents": len(self.stored), "read_only": False,
                "memory_available": 8 * 2**30, "problems": [], "models": {"generator": "qwen.gguf"}}
