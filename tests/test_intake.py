"""The folder of `intake_world`: every file that needs no recognition is read and found, and two that do."""

import pytest
from intake_world import PICTURES, files, write

from nongda.documents.ocr import PageReader
from nongda.documents.parse import parse_bytes
from nongda.engine import Engine
from nongda.intake import FileReport
from nongda.settings import Settings

PLAIN = files(plain_only=True)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """For each file's name: its report, and the words of what a question brings up of it."""
    folder = tmp_path_factory.mktemp("资料 夹")
    write(folder, PLAIN)
    engine = Engine.open(Settings(), folder / "知识 库", "lite")
    reports = [e for e in engine.add([folder / file.name for file in PLAIN]) if isinstance(e, FileReport)]
    result = {}
    for file, report in zip(PLAIN, reports, strict=True):
        hits = [c.chunk for c in engine.search(file.question).candidates if c.chunk.doc_id == report.doc_id]
        passages = hits and engine.chunks_of(report.doc_id)
        result[file.name] = report, "\n".join(chunk.text for chunk in passages)
    engine.close()
    return result


@pytest.mark.parametrize("file", PLAIN, ids=lambda file: file.kind)
def test_a_file_is_added_and_a_question_finds_its_words(found, file):
    report, text = found[file.name]
    assert report.status == "added"
    assert [word for word in file.words if word not in text] == []
    assert "\ufffd" not in text


@pytest.fixture(scope="module")
def reader():
    return PageReader(2)


@pytest.mark.parametrize("kind", ["pdf, a text layer of glyph numbers", "png, two degrees askew"])
def test_what_is_no_text_is_read_by_recognition(reader, kind):
    file = next(file for file in files() if file.kind == kind)
    document = parse_bytes(file.data, file.name, reader)
    text = "\n".join(block.text for block in document.blocks)
    assert all(word in text for word in file.words)
    assert "cid" not in text
    assert [reading.source for reading in document.readings] == ["ocr"]


def test_the_folder_has_forty_files_and_more_in_all_formats():
    assert len(PLAIN) + len(PICTURES) >= 40
    assert {file.name.rsplit(".", 1)[1] for file in files()} >= {
        "txt", "md", "csv", "tsv", "docx", "docm", "xlsx", "xlsm", "xls", "et", "pptx", "html", "htm", "mht", "rtf", "doc", "wps",
        "pdf", "jpg", "png", "tiff", "webp"}
