"""Questions in pinyin and in English become Chinese ones; other Latin writing stays."""

import pytest
from conftest import ROOT

from nongda.errors import SettingsError
from nongda.language.latin import TypedWord, read_typed_words
from nongda.language.lexicon import Lexicon
from nongda.language.spelling import Corrected, Spelling
from nongda.records import Reading

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def spelling(units) -> Spelling:
    kinds = {"稻瘟病": "disease", "玉米": "crop", "玉米螟": "pest", "叶锈病": "disease", "多菌灵": "product", "马铃薯": "crop",
             "蚜虫": "pest", "女贞": "crop", "瑰夏": "variety", "西安": "place", "Bt": "product"}
    aliases = {"洋芋": ("马铃薯",), "coffee leaf rust": ("叶锈病",), "carbendazim": ("多菌灵",), "rice blast": ("稻瘟病",),
               "aphid": ("蚜虫",), "gesha": ("瑰夏",), "potato": ("马铃薯",), "borer": ("玉米螟", "蚜虫")}
    return Spelling(Lexicon(kinds, aliases, units), read_typed_words(DOMAIN / "pinyin_words.tsv"))


@pytest.mark.parametrize(("typed", "text", "surface"), [
    ("daowenbing zenme zhi", "稻瘟病怎么治", "daowenbing"),
    ("dao wen bing yong shen me yao", "稻瘟病用什么药", "dao wen bing"),
    ("Dao4wen1bing4 zen3me zhi4?", "稻瘟病怎么治?", "Dao4wen1bing4"),
    ("dàowēnbìng zěnme zhì", "稻瘟病怎么治", "dàowēnbìng"),
    ("daowenbingzenmezhi", "稻瘟病怎么治", "daowenbing"),
    ("yumiming da shenme yao", "玉米螟打什么药", "yumiming"),
    ("nüzhen zenme zhong", "女贞怎么种", "nüzhen"),
    ("nvzhen zenme zhong", "女贞怎么种", "nvzhen"),
    ("xi'an", "西安", "xi'an"),
    ("yumi，daowenbing", "玉米，稻瘟病", "yumi"),
])
def test_a_question_in_pinyin_is_a_chinese_one(spelling, typed, text, surface):
    corrected = spelling.correct(typed)
    assert corrected.text == text
    assert corrected.readings[0].surface == surface


def test_an_alias_in_pinyin_gives_its_standard_term(spelling):
    assert spelling.correct("yangyu zenme zhong") == Corrected("马铃薯怎么种", (Reading("yangyu", "马铃薯"),))


def test_a_break_that_the_writer_made_is_a_border_of_syllables(spelling):
    assert spelling.correct("yum iming zenme").text == "yum iming zenme"


@pytest.mark.parametrize(("typed", "text", "readings"), [
    ("how to control coffee leaf rust", "叶锈病怎么防治", [("coffee leaf rust", "叶锈病")]),
    ("What is the dose of carbendazim per mu?", "多菌灵每亩用量是多少?", [("carbendazim", "多菌灵")]),
    ("When to spray for Rice  Blast", "稻瘟病什么时候喷药", [("Rice  Blast", "稻瘟病")]),
    ("how to kill aphids", "蚜虫怎么防治", [("aphids", "蚜虫")]),
    ("aphids怎么治", "蚜虫怎么治", [("aphids", "蚜虫")]),
    ("how to control borer", "borer怎么防治", []),
    ("which potatoes", "哪种马铃薯", [("potatoes", "马铃薯")]),
])
def test_a_question_in_english_is_a_chinese_one(spelling, typed, text, readings):
    assert spelling.correct(typed) == Corrected(text, tuple(Reading(*r) for r in readings))


@pytest.mark.parametrize("text", [
    "gesha", "Bt-781", "2,4-D", "pH5.5", "CIFC7963", "25% EC", "A. 15% B. 20%", "www.how-to-control.com/rice", "ma", "da", "rice", "the",
    "gesha怎么种", "Ruiru 11", "a@control.com", "potato", "20%SC",
])
def test_other_latin_writing_stays(spelling, text):
    assert spelling.correct(text) == Corrected(text)


@pytest.mark.parametrize("typed", ["dao wen bing", "Rice Blast"])
def test_a_name_to_be_left_as_written_stays_in_its_question(spelling, typed):
    corrected = spelling.correct(f"how to control {typed}" if typed[0] == "R" else f"{typed} zenme zhi", frozenset({typed.lower()}))
    assert typed in corrected.text
    assert corrected.readings == ()
    assert "怎么" in corrected.text


# the table

def test_the_shipped_table_is_read_and_its_pinyin_is_pinyin():
    words = read_typed_words(DOMAIN / "pinyin_words.tsv")
    assert len({(w.written, w.english) for w in words}) == len(words) > 200
    assert {w.written.replace(" ", "").isalpha() for w in words if not w.english} == {True}
    assert all(w.chinese for w in words if not w.english)


def test_a_table_that_cannot_be_read_is_named_with_its_line(tmp_path):
    path = tmp_path / "pinyin_words.tsv"
    with pytest.raises(SettingsError, match=r"pinyin_words\.tsv"):
        read_typed_words(path)
    path.write_text("written\tchinese\tlanguage\tplace\nhow\t怎么\tenglish\n\nmu\t亩\tlatin\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="第 4 行"):
        read_typed_words(path)
    path.write_text("\ufeffwritten\tchinese\tlanguage\tplace\r\nHow To\t怎么\tenglish\tlast\r\nthe\t\tenglish\r\n", encoding="utf-8")
    assert read_typed_words(path) == [TypedWord("how to", "怎么", True, True), TypedWord("the", "", True)]
