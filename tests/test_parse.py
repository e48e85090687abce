import pytest

from nongda.documents import parse as module
from nongda.documents.parse import parse_bytes, parse_file
from nongda.errors import DocumentError


@pytest.mark.parametrize("name", ["说明.md", "说明.MARKDOWN", "咖啡 说明.txt"])
def test_the_suffix_chooses_the_parser_whatever_its_case(tmp_path, name):
    path = tmp_path / name
    path.write_text("## 防治\n喷药。", encoding="utf-8")
    assert "喷药。" in parse_file(path).blocks[-1].text


def test_an_unknown_suffix_lists_the_known_ones(tmp_path):
    path = tmp_path / "表.xlsx"
    path.write_bytes(b"x")
    with pytest.raises(DocumentError, match=r"表.xlsx.*\.md \.markdown \.txt \.docx \.pdf"):
        parse_file(path)
    with pytest.raises(DocumentError, match="表.xlsx"):
        parse_bytes(b"x", "表.xlsx")


def test_a_folder_is_named_as_one(tmp_path):
    (tmp_path / "资料.md").mkdir()
    with pytest.raises(DocumentError, match="资料.md.*文件夹"):
        parse_file(tmp_path / "资料.md")


@pytest.mark.parametrize("content", [b"", b" \r\n\t", "\ufeff".encode(), "。。。！\n——".encode()])
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
