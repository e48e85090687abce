"""Specialists: data read, mistakes named, one chosen, words added, sources preferred."""

from dataclasses import replace
from pathlib import Path

import pytest

from nongda.answer.specialists import Specialists, preferred
from nongda.answer.understand import understand
from nongda.engine import ROOT
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Chunk, DocumentMeta, StoredDocument
from nongda.settings import AnswerSettings

FOLDER = ROOT / "assets" / "domain" / "specialists"


@pytest.fixture(scope="module")
def lexicon():
    return Lexicon.load(ROOT / "assets" / "domain")


@pytest.fixture(scope="module")
def delivered():
    return Specialists.load(FOLDER)


@pytest.fixture
def ask(lexicon):
    return lambda question: understand(question, (), lexicon, AnswerSettings())


def written(folder: Path, **files: str) -> Path:
    for name, content in {"general": 'name = "通用"\n', **files}.items():
        (folder / f"{name}.toml").write_text(content, encoding="utf-8")
    return folder


def candidate(title="", heading=(), authority=""):
    meta = DocumentMeta(title=title, authority=authority)
    document = StoredDocument("d", "d.md", meta, None, 1, 1, "")
    return Candidate(Chunk("d#1", "d", 0, "文", "文", "paragraph", None, heading), document, 0.0)


def test_every_delivered_file_is_read_and_none_is_left_out(delivered):
    assert delivered.problems == ()
    assert len(delivered.others) == len(list(FOLDER.glob("*.toml"))) - 1 >= 13
    assert len({one.name for one in delivered.others}) == len(delivered.others)


@pytest.mark.parametrize(("question", "name"), [
    ("稻瘟病的孢子要多潮才发芽", "病害"),
    ("草地贪夜蛾打什么药", "虫害"),
    ("玉米地里的杂草怎么除", "杂草"),
    ("化验单上pH5.2，要撒多少石灰", "土壤与肥料"),
    ("咖啡苗一个礼拜浇几回水", "水分与灌溉"),
    ("这个药瓶上的标签有黑带子，禁用了吗", "农药与用药安全"),
    ("咖啡鲜果摘下来放多久要脱皮发酵", "采收与加工"),
    ("霜冻来临前怎么熏烟", "天气与灾害"),
    ("咖啡种子在沙床催芽", "品种与种苗"),
    ("咖啡地里套种玉米遮荫", "荫蔽与间作"),
    ("今年收购价多少钱，有补贴吗", "行情与政策"),
    ("咖啡树修剪", "咖啡栽培"),
    ("玉米播种密度", "粮食作物栽培"),
    ("黄瓜大棚放风", "蔬菜栽培"),
    ("马铃薯切块", "大田经济作物栽培"),
    ("你好", "通用"),
])
def test_a_question_goes_to_its_field(delivered, ask, question, name):
    assert delivered.choose(ask(question)).name == name


def test_a_field_of_one_crop_takes_no_question_of_another(tmp_path, ask):
    folder = written(tmp_path, coffee='name = "咖啡"\ncrops = ["咖啡"]\nkeywords = { "修剪" = 2 }\n')
    specialists = Specialists.load(folder)
    assert specialists.choose(ask("小粒种咖啡修剪")).name == "咖啡"
    assert specialists.choose(ask("茶树修剪")).name == "通用"
    assert specialists.choose(ask("修剪")).name == "通用"


def test_the_highest_score_wins_and_of_equals_the_first_by_file_name(tmp_path, ask):
    one = 'name = "{}"\nkinds = {{ disease = 3 }}\nkeywords = {{ "叶片" = {} }}\n'
    specialists = Specialists.load(written(tmp_path, a=one.format("甲", 1), b=one.format("乙", 2), c=one.format("丙", 2)))
    assert specialists.choose(ask("稻瘟病的叶片")).name == "乙"
    assert specialists.others[1].score(ask("稻瘟病的叶片和叶片")) == 5  # a keyword and a kind count once
    assert specialists.choose(ask("稻瘟病")).name == "甲"


def test_words_of_a_document_are_added_for_what_the_farmer_says_and_none_twice(tmp_path, ask, lexicon):
    specialists = Specialists.load(written(
        tmp_path, general='name = "通用"\n[[expand]]\nasked = ["打药"]\nadd = ["喷雾"]\n',
        water='name = "水"\nkeywords = { "浇" = 1 }\n[[expand]]\nadd = ["灌水", "喷雾"]\n'))
    query = ask("打药前要浇吗")
    assert specialists.expansion(query, specialists.choose(query), lexicon) == ("喷雾", "灌水")
    assert specialists.expansion(query, specialists.general, lexicon) == ("喷雾",)
    assert specialists.expansion(ask("打药用喷雾"), specialists.general, lexicon) == ()
    assert specialists.expansion(ask("施肥"), specialists.general, lexicon) == ()


def test_a_source_is_preferred_by_title_heading_or_authority(tmp_path, ask):
    specialists = Specialists.load(written(
        tmp_path, rust='name = "锈病"\nkeywords = { "锈" = 1 }\n[prefer]\ntitle = ["锈病"]\nheading = ["^药剂"]\nauthority = ["植保站"]\n'))
    rust = specialists.choose(ask("叶锈病"))
    assert preferred(rust, candidate(title="咖啡叶锈病的防治"))
    assert preferred(rust, candidate(heading=("药剂防治",)))
    assert preferred(rust, candidate(authority="某县植保站"))
    assert not preferred(rust, candidate(title="施肥", heading=("化学药剂",), authority="农场"))
    assert not preferred(specialists.general, candidate(title="锈病"))


@pytest.mark.parametrize(("content", "named"), [
    ("name = ", "broken.toml"),
    ("keywords = { a = 1 }", "name"),
    ('name = "甲"\nkeyword = { "甲" = 1 }', "keyword"),
    ('name = "甲"\nkeywords = { "甲" = "1" }', "甲"),
    ('name = "甲"\nkeywords = { "甲" = 0 }', "甲"),
    ('name = "甲"\nkinds = { disease = true }', "disease"),
    ('name = "甲"\nkeywords = ["甲"]', "broken.toml"),
    ('name = "甲"\n[prefer]\ntitel = ["甲"]', "titel"),
    ('name = "甲"\n[prefer]\ntitle = ["("]', "prefer.title"),
    ('name = "甲"\nopen = ["["]', "broken.toml"),
    ('name = "甲"\nopen = "甲"', "open"),
    ('name = "甲"\n[[expand]]\nasked = ["甲"]', "add"),
    ('name = "甲"\n[[outline]]\nwords = ["甲"]', "outline"),
    ('name = "甲"\n[[outline]]\nname = "症状"\nword = ["甲"]', "word"),
    ('name = "甲"\noutline = 3', "broken.toml"),
    ('name = "甲"\noutline = ["甲"]', "broken.toml"),
])
def test_a_broken_file_is_named_and_the_others_work(tmp_path, ask, content, named):
    specialists = Specialists.load(written(tmp_path, broken=content, fine='name = "好"\nkeywords = { "锈" = 1 }\n'))
    assert [one.name for one in specialists.others] == ["好"]
    [problem] = specialists.problems
    assert "broken.toml" in problem and named in problem
    assert specialists.choose(ask("叶锈病")).name == "好"


def test_a_file_of_another_encoding_is_named(tmp_path):
    (written(tmp_path) / "gbk.toml").write_bytes('name = "病害"'.encode("gbk"))
    [problem] = Specialists.load(tmp_path).problems
    assert "gbk.toml" in problem


def test_without_the_general_file_the_folder_is_no_use(tmp_path):
    with pytest.raises(SettingsError, match=r"general\.toml"):
        Specialists.load(tmp_path)


def test_a_question_with_nothing_known_gets_the_general_one_and_no_words(delivered, ask, lexicon):
    query = replace(ask("嗯嗯"), entities=())
    assert delivered.choose(query) is delivered.general
    assert delivered.expansion(query, delivered.general, lexicon) == ()
