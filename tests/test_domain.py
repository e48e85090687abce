"""The domain's files are loaded once; one that is missing or broken is named."""

import shutil
from pathlib import Path

import pytest
from conftest import ROOT

from nongda.answer.domain import Domain
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form

REAL = ROOT / "assets" / "domain"
FILES = ("units.toml", "asked.toml", "selector.toml", "restricted.toml", "places.toml", "stages.toml", "prompts.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "领域"
    shutil.copytree(REAL, copy)
    return copy


def test_the_product_s_domain_loads_whole(lexicon):
    domain = Domain.load(REAL, lexicon)
    assert domain.lexicon is lexicon
    assert [(q.low, q.unit) for q in domain.units.quantities("喷3次")] == [(3, "次")]  # counters too
    assert domain.law.find("克百威") and domain.writing and domain.prompts.verdict


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_an_error_that_names_it(folder, lexicon, name):
    (folder / name).unlink()
    with pytest.raises(SettingsError, match=name):
        Domain.load(folder, lexicon)


@pytest.mark.parametrize("content", [b"[[[", b"\xff\xfe\x00", b""])
@pytest.mark.parametrize("name", FILES)
def test_a_broken_or_empty_file_is_an_error_that_names_it(folder, lexicon, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(SettingsError, match=name):
        Domain.load(folder, lexicon)


def test_a_prompt_file_without_the_writing_prompt_is_an_error_that_names_it(folder, lexicon):
    path = folder / "prompts.toml"
    text = path.read_text(encoding="utf-8")
    assert "\nanswer = " in "\n" + text
    path.write_text(("\n" + text).replace("\nanswer = ", "\nanswers = "), encoding="utf-8")
    with pytest.raises(SettingsError, match=r"prompts\.toml"):
        Domain.load(folder, lexicon)


# the two tables of words

@pytest.fixture(scope="module")
def words() -> Lexicon:
    return Lexicon.load(REAL)


def rows(name):
    lines = (REAL / name).read_text(encoding="utf-8").splitlines()[1:]
    return [tuple(line.split("\t")) for line in lines]


def terms_in(words, text):
    return {entity.term for entity in words.entities(text)}


def test_the_tables_hold_4000_terms_and_2300_aliases_and_no_row_is_left_out():
    kinds = {search_form(term): kind for term, kind in rows("lexicon.tsv")}
    aliases = [(search_form(alias), term) for alias, term, _ in rows("aliases.tsv")]
    assert len(kinds) == len(rows("lexicon.tsv")) >= 4000
    assert len(set(aliases)) == len(aliases) >= 2300
    names = {term for term, _ in rows("lexicon.tsv")}
    assert [row for row in aliases if row[1] not in names or row[0] in kinds] == []


def test_every_row_is_trimmed_and_no_word_is_one_character():
    cells = [cell for row in (*rows("lexicon.tsv"), *rows("aliases.tsv")) for cell in row[:2]]
    assert [word for word in cells if word != word.strip() or len(word) < 2] == []


def test_standard_terms_stay_as_they_are(words):
    changed = [term for term, _ in rows("lexicon.tsv") if words.canonical(term) != search_form(term)]
    assert changed == []


@pytest.mark.parametrize(("word", "readings"), [
    ("黄疸病", {"条锈病", "叶锈病", "秆锈病"}), ("土蚕", {"小地老虎", "蛴螬"}), ("花大姐", {"瓢虫", "斑衣蜡蝉"}),
    ("臭大姐", {"蝽象", "茶翅蝽"}), ("针蜂", {"柑橘小实蝇", "瓜实蝇"}), ("油汗", {"蚜虫", "蜜露"}), ("豆角", {"豇豆", "菜豆"}),
    ("黑疸病", {"散黑穗病", "腥黑穗病"}), ("粟米", {"玉米", "谷子"}),
])
def test_a_word_for_several_things_gives_all_its_readings_and_is_not_replaced(words, word, readings):
    assert terms_in(words, word) == readings
    assert words.canonical(word) == word


@pytest.mark.parametrize(("word", "term"), [
    ("好年冬", "丁硫克百威"), ("康宽", "氯虫苯甲酰胺"), ("福戈", "氯虫·噻虫嗪"), ("拿敌稳", "肟菌·戊唑醇"), ("爱苗", "苯甲·丙环唑"),
    ("富士一号", "稻瘟灵"), ("世高", "苯醚甲环唑"), ("加瑞农", "春雷·王铜"), ("可杀得", "氢氧化铜"), ("敌杀死", "溴氰菊酯"),
    ("蚍虫啉", "吡虫啉"), ("3911", "甲拌磷"), ("呋喃丹", "克百威"), ("Emamectin benzoate", "甲氨基阿维菌素苯甲酸盐"),
    ("腻虫", "蚜虫"), ("臭屁虫", "蝽象"), ("拱背虫", "尺蠖"), ("二铵", "磷酸二铵"), ("穗脖子", "穗颈"),
    ("打药桶", "喷雾器"), ("Rhopalosiphum padi", "禾谷缢管蚜"), ("gray mold", "灰霉病"), ("绍菜", "大白菜"), ("京豆", "菜豆"),
])
def test_a_farmer_s_word_a_brand_or_a_scientific_name_leads_to_its_standard_term(words, word, term):
    assert words.canonical(word) == term
    assert terms_in(words, f"请问{word}的事") == {term}


@pytest.mark.parametrize(("text", "wrong"), [
    ("打霜霉病用什么药", "霜冻"), ("打霜脲氰", "霜冻"), ("普通菜地能种吗", "空心菜"), ("绕树开一圈肥沟", "厩肥"),
    ("了解冻害", "解冻"), ("今天平均气温", "天平"), ("病部生灰霉", "生石灰"), ("防治蛀干天牛", "旱季"), ("特大干旱", "主干"),
    ("行间种植猪屎豆", "间作"), ("未来三天下雨后", "天牛"), ("豆子发霉", "霉层"), ("幼虫吐丝", "吐丝期"), ("中毒后出现黄疸", "条锈病"),
    ("蔬菜籽怎么育苗", "油菜"), ("甜菜安全间隔期", "甜菜安"), ("江苏麦区", "苏麦"), ("两次生长果实", "花生"), ("杀菌剂", "微生物菌剂"),
])
def test_an_alias_does_not_fire_inside_other_words(words, text, wrong):
    assert wrong not in terms_in(words, text)
