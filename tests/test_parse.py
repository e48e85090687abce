import os
import sys

import pytest

from nongda.documents import parse as module
from nongda.documents.parse import parse_bytes, parse_file, printable, read_file, reading
from nongda.errors import DocumentError


@pytest.mark.parametrize("name", ["说明.md", "说明.MARKDOWN", "咖啡 说明.txt"])
def test_the_suffix_chooses_the_parser_whatever_its_case(tmp_path, name):
    path = tmp_path / name
    path.write_text("## 防治\n喷药。", encoding="utf-8")
    assert "喷药。" in parse_file(path).blocks[-1].text


def test_an_unknown_suffix_lists_the_known_ones(tmp_path):
    path = tmp_path / "表.dat"
    path.write_bytes(b"x")
    with pytest.raises(DocumentError, match=r"表.dat.*\.md \.markdown \.txt \.docx.*\.pdf"):
        parse_file(path)
    with pytest.raises(DocumentError, match="表.dat"):
        parse_bytes(b"x", "表.dat")


@pytest.mark.parametrize(("name", "advice"), [
    ("课件.ppt", ".pptx"), ("课件.dps", ".pptx"), ("资料.zip", "解压"), ("照片.heic", ".jpg"), ("通知.pages", "PDF"), ("公文.ofd", "PDF")])
def test_a_format_that_is_not_read_says_into_what_to_convert_it(tmp_path, name, advice):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(DocumentError, match=f"{name}.*{advice}.*后再添加"):
        parse_file(tmp_path / name)


def test_a_folder_is_named_as_one(tmp_path):
    (tmp_path / "资料.md").mkdir()
    with pytest.raises(DocumentError, match="资料.md.*文件夹"):
        parse_file(tmp_path / "资料.md")


@pytest.mark.parametrize("content", [b"", b" \r\n\t", b"\0" * 512, "\ufeff".encode(), "。。。！\n——".encode()])
def test_a_file_without_words_is_refused(tmp_path, content):
    path = tmp_path / "空.txt"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match="空.txt.*(是空的|没有文字)"):
        parse_file(path)


def test_a_file_that_is_gone_or_cannot_be_read_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "锈病.md"
    with pytest.raises(DocumentError, match="锈病.md.*不存在"):
        parse_file(path)
    path.write_text("文。", encoding="utf-8")

    def refuse(_):
        raise PermissionError(13, "denied")

    monkeypatch.setattr(type(path), "read_bytes", refuse)
    with pytest.raises(DocumentError, match="锈病.md.*无法读取.*权限"):
        parse_file(path)


def test_a_file_over_the_limit_is_refused_without_reading_it(tmp_path, monkeypatch):
    path = tmp_path / "大.txt"
    path.write_bytes(b"12345")
    monkeypatch.setattr(module, "MAX_BYTES", 4)
    monkeypatch.setattr(type(path), "read_bytes", lambda _: pytest.fail("was read"))
    with pytest.raises(DocumentError, match="大.txt.*超过"):
        parse_file(path)


@pytest.fixture
def written_while_read(tmp_path, monkeypatch):
    """A file to which another program adds a sentence during each of the first `times` readings."""
    path = tmp_path / "复制中.txt"
    path.write_text("第一句。", encoding="utf-8")
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    read_bytes = type(path).read_bytes

    def prepare(times):
        left = [times]

        def read_and_grow(self):
            data = read_bytes(self)
            if left[0]:
                left[0] -= 1
                with self.open("ab") as file:
                    file.write("又一句。".encode())
            return data

        monkeypatch.setattr(type(path), "read_bytes", read_and_grow)
        return path

    return prepare


def test_a_file_that_changes_while_it_is_read_is_read_again(written_while_read):
    assert read_file(written_while_read(1)).decode() == "第一句。又一句。"


def test_a_file_that_goes_on_changing_is_said_to_be_still_written(written_while_read):
    with pytest.raises(DocumentError, match="复制中.txt.*正在被写入"):
        read_file(written_while_read(2))


def test_a_file_rewritten_with_the_same_length_while_read_is_noticed(tmp_path, monkeypatch):
    path = tmp_path / "改.txt"
    path.write_bytes("甲甲。".encode())
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    read_bytes, left = type(path).read_bytes, [1]

    def read_and_rewrite(self):
        data = read_bytes(self)
        if left:
            left.clear()
            self.write_bytes("乙乙。".encode())
            os.utime(self, ns=(10**18, 10**18))
        return data

    monkeypatch.setattr(type(path), "read_bytes", read_and_rewrite)
    assert read_file(path).decode() == "乙乙。"


@pytest.mark.parametrize("name", ["🌽玉米🌾.txt", "..通知..txt", "字" * 83 + "ab.txt", "con.txt", "NUL.md", " 空格 .txt", "a\u202eb.txt"])
def test_files_of_unusual_names_are_read(tmp_path, name):
    path = tmp_path / name
    path.write_text("玉米要浇水。", encoding="utf-8")
    assert len(os.fsencode(name)) <= 255
    assert parse_file(path).blocks[0].text == "玉米要浇水。"


@pytest.mark.skipif(sys.platform != "linux", reason="only there are names bytes")
def test_a_name_that_is_no_unicode_is_shown_with_gaps(tmp_path):
    path = tmp_path / os.fsdecode("甲".encode("gbk") + b".txt")
    path.write_text("玉米要浇水。", encoding="utf-8")
    document = parse_file(path)
    document.meta.title.encode()  # can be stored
    assert document.meta.title == printable(path.stem) == "□□"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a privilege there")
def test_links_in_a_circle_links_to_nothing_and_pipes_are_one_sentence(tmp_path):
    (tmp_path / "圈.txt").symlink_to(tmp_path / "圈.txt")
    (tmp_path / "断.txt").symlink_to(tmp_path / "没有.txt")
    os.mkfifo(tmp_path / "管.txt")
    for name, what in (("圈.txt", "无法读取|不存在"), ("断.txt", "不存在"), ("管.txt", "不是普通文件")):
        with pytest.raises(DocumentError, match=f"{name}.*({what})"):
            parse_file(tmp_path / name)


def test_a_name_longer_than_the_system_allows_is_one_sentence(tmp_path):
    with pytest.raises(DocumentError, match="无法读取|不存在"):
        parse_file(tmp_path / ("字" * 100 + ".txt"))


def test_a_path_with_dots_leads_where_it_says(tmp_path):
    (tmp_path / "内").mkdir()
    (tmp_path / "外.txt").write_text("玉米。", encoding="utf-8")
    assert parse_file(tmp_path / "内" / ".." / "外.txt").meta.title == "外"


def test_no_error_of_a_library_reaches_the_reader(monkeypatch):
    def fail(data, name):
        raise KeyError("rId7")

    monkeypatch.setitem(module.PARSERS, ".txt", fail)
    with pytest.raises(DocumentError, match="坏.txt.*损坏") as caught:
        parse_bytes("文。".encode(), "坏.txt")
    assert "rId7" not in str(caught.value) and "\n" not in str(caught.value)


def test_errors_are_one_chinese_sentence(tmp_path):
    with pytest.raises(DocumentError) as caught:
        parse_file(tmp_path / "无.md")
    assert "\n" not in str(caught.value) and str(tmp_path) not in str(caught.value)


def test_reading_a_plain_format_turns_no_pages_and_returns_the_document():
    pages = reading("玉米要浇水。".encode(), "a.txt", None)
    with pytest.raises(StopIteration) as end:
        next(pages)
    assert end.value.value.blocks[0].text == "玉米要浇水。"


def test_a_reading_that_is_closed_stops_the_parser(monkeypatch):
    from nongda.intake import PageTurned

    closed = []

    def endless(data, name, reader):
        try:
            for page in range(1, 501):
                yield PageTurned(page, 500)
        finally:
            closed.append(page)

    monkeypatch.setitem(module.PAGED, ".pdf", endless)
    pages = reading(b"%PDF-1.4", "扫描.pdf", None)
    assert [next(pages).done, next(pages).done] == [1, 2]
    pages.close()
    assert closed == [2]
