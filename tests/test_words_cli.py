"""The command words as a person meets it: a station's own words from the command line."""

import pytest
from click.testing import CliRunner, Result

from nongda.cli import cli
from nongda.errors import StoreError, UsageError


@pytest.fixture
def words(tmp_path):
    data = tmp_path / "资料 库"

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["words", *arguments, "--data", str(data)], standalone_mode=False)

    return run


def test_a_word_is_added_listed_changed_and_removed(words):
    assert words("add", "虎皮病", "锈病").output == "已添加：虎皮病 → 锈病\n"
    assert words("add", "阿婆菜", "阿婆菜", "--kind", "作物").output == "已添加：阿婆菜\n"
    words("add", "虎皮病", "洋芋")
    assert words("list").output.splitlines() == ["虎皮病 → 马铃薯（作物）", "阿婆菜（作物，新名称）", "共 2 个"]
    assert words("remove", "虎皮病").output == "已删除：虎皮病\n"
    assert words("list").output.splitlines() == ["阿婆菜（作物，新名称）", "共 1 个"]


def test_a_word_that_cannot_be_used_is_an_error_and_leaves_what_it_meant(words):
    words("add", "虎皮病", "马铃薯")
    for arguments, says in ((("虎皮病", "没有的病名"), "不是标准名"), (("马铃薯", "玉米"), "本身是标准名"), (("", "玉米"), "空的"),
                            (("新菜", "新菜"), "类别")):
        result = words("add", *arguments)
        assert isinstance(result.exception, UsageError)
        assert says in str(result.exception)
    assert words("list").output.splitlines() == ["虎皮病 → 马铃薯（作物）", "共 1 个"]


def test_removing_a_word_that_is_not_there_is_an_error(words):
    result = words("remove", "没有")
    assert isinstance(result.exception, StoreError)
    assert "没有" in str(result.exception)


@pytest.mark.parametrize("name", ["词.csv", "词.tsv"])
def test_words_exported_are_imported_elsewhere(words, tmp_path, name):
    words("add", "虎皮病", "马铃薯")
    words("add", "阿婆菜", "阿婆菜", "--kind", "作物")
    path = tmp_path / name
    assert words("export", str(path)).exit_code == 0
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    before = words("list").output
    words("remove", "虎皮病")
    words("remove", "阿婆菜")
    assert words("import", str(path)).output == "已导入，现有 2 个自有词\n"
    assert words("list").output == before


def test_a_table_of_an_old_spreadsheet_is_imported_and_its_bad_rows_are_named(words, tmp_path):
    words("add", "虎皮病", "马铃薯")
    words("add", "老词", "玉米")
    path = tmp_path / "词.csv"
    path.write_bytes("别名,标准名,类别\r\n花叶子病,没有的病名,\r\n洋山芋蛋,土豆,\r\n虎皮病,也没有,\r\n".encode("gb18030"))
    result = words("import", str(path))
    assert result.exit_code == 1
    assert [line.split("”")[0] for line in result.stderr.splitlines()] == ["第 2 行“花叶子病", "第 4 行“虎皮病"]
    assert set(words("list").output.splitlines()) == {
        "洋山芋蛋 → 马铃薯（作物）", "虎皮病 → 马铃薯（作物）", "老词 → 玉米（作物）", "共 3 个"}


def test_a_file_that_is_not_there_or_cannot_be_written_is_an_error(words, tmp_path):
    assert isinstance(words("import", str(tmp_path / "没有.csv")).exception, UsageError)
    assert isinstance(words("export", str(tmp_path / "没有" / "词.csv")).exception, UsageError)


def test_check_counts_the_words_and_finds_nothing_wrong_in_the_shipped_ones(words):
    words("add", "虎皮病", "马铃薯")
    result = words("check")
    assert result.exit_code == 0
    assert result.output.startswith("词表没有问题：标准名 ")
    assert result.output.endswith("自有词 1 个\n")
