"""Sounds of characters and words, and which of them many speakers do not tell apart."""

import pytest
from pypinyin import lazy_pinyin

from nongda.language.pinyin import SoundTree, all_sounds, blurred, plain, sounds, usual_sound, word_sounds


def test_sounds_have_no_tones_and_the_usual_one_comes_first():
    assert sounds("重") == ("zhong", "chong", "tong")
    assert (usual_sound("绿"), usual_sound("女"), usual_sound("x"), usual_sound("🌽"), sounds("")) == ("lv", "nv", "", "", ())


@pytest.mark.parametrize("word", ["稻瘟病", "重楼", "重茬", "茄子", "绿叶蝉", "草地贪夜蛾", "甲氨基阿维菌素"])
def test_a_word_sounds_as_the_library_reads_it(word):
    assert word_sounds(word) == tuple(lazy_pinyin(word))


@pytest.mark.parametrize(("one", "other"), [
    ("zhi", "zi"), ("chu", "cu"), ("sheng", "sen"), ("nan", "lan"), ("nv", "lv"), ("fei", "hui"), ("feng", "hong"), ("ying", "yin"),
    ("huang", "fan"),
])
def test_sounds_that_many_confuse_are_one(one, other):
    assert blurred(one) == blurred(other)


@pytest.mark.parametrize(("one", "other"), [("zhi", "chi"), ("liang", "lian"), ("dong", "don"), ("ba", "pa"), ("", "a"), ("n", "l")])
def test_other_sounds_stay_apart(one, other):
    assert blurred(one) != blurred(other)


def test_every_syllable_of_pinyin_is_known():
    assert {"a", "zhuang", "lve", "nv", "er", "xiong"} <= all_sounds()
    assert not {"b", "ng", "rice", "zh"} & all_sounds()
    assert plain("DàoWēnbìng Lǜ") == "daowenbing lv"


def test_a_tree_finds_the_words_that_a_text_may_begin_with():
    tree = SoundTree({"重楼": ("chong", "lou"), "虫": ("chong",), "充": ("chong",)})
    assert {word for word, _ in tree.at(["cong", "lou", "x"])} == {"虫", "充", "重楼"}
    assert {word for word, _ in tree.at(["zhong", "lou"])} == {"重楼"}  # 重 is mostly read zhong
    assert tree.at([]) == tree.at([""]) == []
