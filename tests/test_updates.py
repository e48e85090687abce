"""Documents come in while programs are killed, stopped, or work side by side."""

import json
import subprocess
import sys
import threading
from collections import Counter

import pytest
from fake_reader import FakeReader, scan, scanned_pdf
from updates_world import NumberEmbedder, content, orphans, write_documents

from nongda.engine import ROOT
from nongda.index.ingest import Ingester
from nongda.index.prepare import Preparer
from nongda.index.scans import Scans
from nongda.index.store import Store
from nongda.intake import FileReport, Progress
from nongda.settings import ChunkSettings


def program(folder, *arguments):
    return subprocess.Popen([sys.executable, "-m", "tests.add_kills", str(folder), *arguments], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.skipif(sys.platform == "win32", reason="children are forked")
def test_killed_at_any_statement_an_import_has_each_document_whole_or_not_at_all_and_goes_on(tmp_path):
    write_documents(tmp_path / "资料", 6, 700)
    output, errors = program(tmp_path).communicate(timeout=120)
    found = json.loads(output or "{}")
    assert found.get("statements", 0) > 100, errors
    assert found["wrong"] == []


def test_two_programs_that_add_the_same_folder_add_each_file_once(tmp_path):
    write_documents(tmp_path / "资料", 12, 400)
    both = [program(tmp_path, "again") for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert [errors for _, errors in said] == ["", ""]
    counts = [Counter(line.split()[0] for line in output.splitlines()) for output, _ in said]
    assert sum(count["added"] for count in counts) == 12
    assert [sum(count.values()) for count in counts] == [12, 12]
    assert sum(count["failed"] for count in counts) == 0
    store = Store(tmp_path / "库")
    assert len(store.documents()) == 12 and list(orphans(content(store))) == []
    store.close()


class CountingReader(FakeReader):
    """Reads each page of a scan as another sentence, remembers pages as the store keeps them, counts those it reads."""

    def __init__(self, pages, cache=None, counted=None):
        super().__init__(**{f"p{n}": scan(f"第{n}次追肥每亩施尿素{n}公斤，兑水浇施。") for n in range(1, pages + 1)})
        self.cache, self.counted = cache, [] if counted is None else counted

    def page(self, number, picture, dpi=200):
        found = self.cache.get(number)
        if found is None:
            self.counted.append(number)
            found = super().page(number, picture, dpi)
            self.cache.put(number, found)
        return found


def test_a_long_scan_that_is_stopped_goes_on_at_the_page_where_it_was(fresh_store, lexicon, tmp_path):
    path, counted = tmp_path / "扫描.pdf", []
    path.write_bytes(scanned_pdf(40, (60, 84)))
    ingester = Ingester(Preparer(fresh_store, lexicon, NumberEmbedder(), None, ChunkSettings(), reader_of=lambda sha256:
                                 CountingReader(40, Scans(fresh_store, sha256, "fake/1"), counted)))
    stop, seen = threading.Event(), []
    for event in ingester.add([path], stop):
        seen.append(event)
        if len(seen) == 15:
            stop.set()
    assert [(e.stage, e.done, e.total) for e in seen] == [("reading", n, 40) for n in range(1, 16)]
    assert counted == list(range(1, 17)) and fresh_store.documents() == []
    events = list(ingester.add([path]))
    assert counted == list(range(1, 41))
    assert [e.done for e in events if isinstance(e, Progress) and e.stage == "reading"] == list(range(1, 41))
    assert events[-1].status == "added" and fresh_store.documents()[0].pages == 40


def test_bad_files_between_many_never_stop_the_rest_and_each_has_its_report(fresh_store, lexicon, tmp_path):
    write_documents(tmp_path / "资料", 40, 300)
    for number, data in enumerate((b"", b"PK\x03\x04 broken", b"%PDF-1.4 broken")):
        (tmp_path / "资料" / f"通知{10 * number + 5:04d}坏{('.txt', '.docx', '.pdf')[number]}").write_bytes(data)
    paths = sorted((tmp_path / "资料").iterdir())
    ingester = Ingester(Preparer(fresh_store, lexicon, NumberEmbedder(), None, ChunkSettings()))
    stop, first = threading.Event(), []
    for event in ingester.add(paths, stop):
        if isinstance(event, FileReport):
            first.append(event)
            if len(first) == 20:
                stop.set()
    found = [event for event in ingester.add(paths) if isinstance(event, FileReport)]
    assert Counter(r.status for r in first) == {"added": 18, "failed": 2}
    assert Counter(r.status for r in found) == {"skipped": 18, "added": 22, "failed": 3}
    assert [r.index for r in found] == list(range(1, 44))
    assert len(fresh_store.documents()) == 40
