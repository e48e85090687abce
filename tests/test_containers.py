import io
import struct
import zipfile

import docx
import openpyxl
import pptx
import pytest
from ole_world import ole

from nongda.documents import containers
from nongda.documents.containers import check_archive, content_kind, refusal
from nongda.documents.parse import is_known, parse_bytes
from nongda.errors import DocumentError

SENTENCE = "玉米大喇叭口期追施尿素。"


def word(text=SENTENCE):
    document = docx.Document()
    document.add_paragraph(text)
    return saved(document)


def saved(document):
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def zipped(parts, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_part(data, name, change):
    """The same Office file with one part changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {entry: archive.read(entry) for entry in archive.namelist()}
    parts[name] = change(parts.get(name, b""))
    return zipped(parts)


def test_the_kind_of_a_file_is_told_by_its_content():
    assert content_kind(word()) == ".docx"
    assert content_kind(saved(openpyxl.Workbook())) == ".xlsx"
    assert content_kind(saved(pptx.Presentation())) == ".pptx"
    assert content_kind(b"%PDF-1.7\n") == content_kind(b"\n\njunk %PDF-1.4 startxref 0") == ".pdf"
    assert content_kind("文件头是 %PDF-1.4 的为 PDF。".encode()) == ""
    assert content_kind(b"{\\rtf1\\ansi") == ".rtf"
    assert content_kind(b"\x89PNG\r\n\x1a\n") == ".png" and content_kind(b"\xff\xd8\xff\xe0") == ".jpg"
    assert content_kind(SENTENCE.encode("gbk")) == content_kind(b"") == content_kind(b"PK\x03\x04broken") == ""


@pytest.mark.parametrize(("stream", "kind"), [
    ("WordDocument", ".doc"), ("Workbook", ".xls"), ("Book", ".xls"), ("PowerPoint Document", ".ppt"),
    ("EncryptedPackage", containers.ENCRYPTED), ("Contents", "")])
def test_old_office_files_are_told_by_their_streams(stream, kind):
    assert content_kind(ole((stream, b"x"))) == kind


@pytest.mark.parametrize("text", [
    "<!DOCTYPE html><p>", "\n<!-- saved --><html lang=zh>", "<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x'><html>", "<HTML xmlns:o='x'>"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_a_page_is_told_by_its_first_tag(text, encoding):
    assert content_kind(text.encode(encoding)) == ".html"


def test_prose_that_speaks_of_tags_is_no_page():
    assert content_kind("# 关于 <html> 标签\n".encode()) == content_kind(b"a < b") == content_kind(b"<p>a</p>") == ""


def test_other_archives_are_told_apart():
    assert content_kind(zipped({"a.txt": "x"})) == ".zip"
    assert content_kind(zipped({"OFD.xml": "x"})) == ".ofd"
    assert content_kind(zipped({"Index/Document.iwa": "x"})) == ".pages"
    assert content_kind(zipped({"mimetype": "application/vnd.oasis.opendocument.text"})) == ".odt"
    assert content_kind(zipped({"xl/workbook.bin": "x", "xl/styles.xml": "x"})) == ".xlsb"
    assert content_kind(b"Rar!\x1a\x07\x01\0") == ".rar" and content_kind(b"\0\0\0\x18ftypheic") == ".heic"


def test_every_kind_is_either_read_or_refused_with_advice():
    kinds = [".docx", ".xlsx", ".pptx", ".pdf", ".html", ".mht", ".rtf", ".doc", ".xls", ".png", ".jpg", ".tif", ".bmp", ".webp",
             ".gif", ".ppt", ".rar", ".7z", ".gz", ".zip", ".ofd", ".pages", ".key", ".odt", ".xlsb", ".xml", ".heic", ".epub"]
    assert [kind for kind in kinds if not is_known(kind) and not refusal(kind, "a")] == []


PAGE = f"<html><body><p>{SENTENCE}</p></body></html>".encode()


@pytest.mark.parametrize(("name", "data", "said"), [
    ("通知.doc", PAGE, "网页"), ("通知.doc", word(), "Word 文档"), ("通知.txt", word(), "Word 文档"), ("通知.pdf", PAGE, "网页"),
    ("通知.docx", SENTENCE.encode("gbk"), "纯文本"), ("通知.doc", SENTENCE.encode("utf-16"), "纯文本"), ("通知.md", word(), "Word 文档"),
    ("表.xls", f"作物\t要点\n玉米\t{SENTENCE}\n".encode("gbk"), "文本表格"),
    ("表.xlsx", f"作物,要点\n玉米,{SENTENCE}\n".encode(), "文本表格"),
    ("表.xls", f"<table><tr><td>作物</td><td>{SENTENCE}</td></tr></table>".encode("gbk"), "网页"), ("a.xlsx", PAGE, "网页")])
def test_a_wrong_suffix_is_read_as_what_it_is_and_says_so(name, data, said):
    document = parse_bytes(data, name)
    assert SENTENCE in document.blocks[-1].text
    assert len(document.warnings) == 1 and name in document.warnings[0] and said in document.warnings[0]


def test_a_right_suffix_says_nothing():
    for name, data in (("a.docx", word()), ("a.txt", SENTENCE.encode()), ("a.md", SENTENCE.encode()), ("a.html", PAGE), ("a.htm", PAGE)):
        assert parse_bytes(data, name).warnings == ()


def test_an_encrypted_office_file_asks_for_its_password_to_be_removed():
    for name in ("通知.docx", "表.xlsx", "课件.pptx", "通知.doc"):
        with pytest.raises(DocumentError, match=f"{name}.*已加密.*去掉密码") as caught:
            parse_bytes(ole(("EncryptionInfo", b"x"), ("EncryptedPackage", b"x")), name)
        assert caught.value is not None


@pytest.mark.parametrize("name", ["课件.pptx", "课件.txt", "通知.docx"])
def test_an_old_presentation_under_any_name_says_into_what_to_convert_it(name):
    with pytest.raises(DocumentError, match=f"{name}.*PPT 格式.*另存为 .pptx"):
        parse_bytes(ole(("PowerPoint Document", b"x")), name)


def bomb(megabytes):
    """A Word file with a part of zeros."""
    return with_part(word(), "word/bomb.xml", lambda _: bytes(megabytes * 2**20))


def test_a_zip_bomb_is_refused_by_its_directory(monkeypatch):
    with pytest.raises(DocumentError, match="通知.docx.*大得异常"):
        parse_bytes(bomb(25), "通知.docx")
    check_archive(bomb(15), "小.docx")  # harmless, however well it packs
    monkeypatch.setattr(containers, "MAX_XML", 2**20)
    with pytest.raises(DocumentError, match="大得异常"):
        check_archive(bomb(2), "通知.docx")


def test_a_bomb_hidden_among_large_pictures_is_refused():
    data = with_part(bomb(25), "word/media/a.png", lambda _: bytes(range(256)) * 4 * 2**10)
    noise = b"".join(struct.pack("<I", (i * 2654435761) & 0xFFFFFFFF) for i in range(2**18))
    data = with_part(data, "word/media/b.png", lambda _: noise)
    assert len(data) > 2**19  # so that the ratio of the whole is small
    with pytest.raises(DocumentError, match="大得异常"):
        check_archive(data, "通知.docx")


def test_a_directory_that_lies_about_a_size_gains_nothing():
    data = bytearray(bomb(25))
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):  # where the unpacked size stands
        place = -1
        while (place := data.find(mark, place + 1)) >= 0:
            if struct.unpack_from("<I", data, place + offset)[0] == 25 * 2**20:
                struct.pack_into("<I", data, place + offset, 1000)
    with pytest.raises(DocumentError, match="通知.docx.*损坏"):
        parse_bytes(bytes(data), "通知.docx")


def test_parts_lying_over_each_other_are_refused():
    data = zipped({"word/document.xml": bytes(range(256)) * 40, "word/b.xml": bytes(range(256)) * 40}, zipfile.ZIP_STORED)
    size = 256 * 40
    lying = bytearray(data)
    place = -1
    while (place := lying.find(b"PK\x01\x02", place + 1)) >= 0:
        struct.pack_into("<II", lying, place + 20, size * 2, size * 2)
    with pytest.raises(DocumentError, match="压缩方式异常"):
        check_archive(bytes(lying), "通知.docx")


def test_a_part_packed_as_office_never_does_is_refused():
    with pytest.raises(DocumentError, match="压缩方式异常"):
        check_archive(zipped({"word/document.xml": "x"}, zipfile.ZIP_BZIP2), "通知.docx")


def test_too_many_parts_are_refused(monkeypatch):
    monkeypatch.setattr(containers, "MAX_ENTRIES", 5)
    with pytest.raises(DocumentError, match="部件多得异常"):
        check_archive(zipped({f"word/{i}.xml": "x" for i in range(6)}), "通知.docx")


def test_an_encrypted_archive_is_refused_in_words():
    data = bytearray(word())
    place = -1
    while (place := data.find(b"PK\x01\x02", place + 1)) >= 0:
        data[place + 8] |= 1
    with pytest.raises(DocumentError, match="已加密"):
        check_archive(bytes(data), "通知.docx")


BILLION = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(("name", "make", "part"), [
    ("a.docx", word, "word/document.xml"), ("a.xlsx", lambda: saved(openpyxl.Workbook()), "xl/sharedStrings.xml"),
    ("a.pptx", lambda: saved(pptx.Presentation()), "ppt/presentation.xml"), ("a.docx", word, "_rels/.rels")])
def test_entities_in_an_office_file_are_refused_before_anything_is_parsed(name, make, part, encoding):
    def declare(xml):
        return (BILLION.decode() + xml.decode().split("?>", 1)[-1]).encode(encoding)

    with pytest.raises(DocumentError, match=f"{name}.*XML 声明"):
        parse_bytes(with_part(make(), part, declare), name)


def test_a_declaration_that_lies_over_two_reads_is_found(monkeypatch):
    monkeypatch.setattr(containers, "_READ", 7)
    with pytest.raises(DocumentError, match="XML 声明"):
        check_archive(with_part(word(), "word/document.xml", lambda xml: BILLION + xml), "a.docx")


def test_many_comments_before_the_first_word_are_looked_through_once():
    assert content_kind(b"<!---->" * 100 + b"x") == ""
    assert content_kind(b"<!-- a --> <?xml version='1.0'?>\n<!-- b --><html>") == ".html"


@pytest.mark.parametrize(("name", "make", "part"), [
    ("a.docx", word, "word/document.xml"), ("a.xlsx", lambda: saved(openpyxl.Workbook()), "xl/styles.xml"),
    ("a.pptx", lambda: saved(pptx.Presentation()), "ppt/presentation.xml"), ("a.docx", word, "word/media/a.bin")])
def test_tags_without_end_are_refused_before_they_fill_the_memory(name, make, part, monkeypatch):
    monkeypatch.setattr(containers, "MAX_MARKS", 30_000)
    many = with_part(make(), part, lambda xml: (xml or b"<a/>") + b"<!---->" * 30_000)
    with pytest.raises(DocumentError, match=f"{name}.*标记多得异常"):
        parse_bytes(many, name)
