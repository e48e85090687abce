from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.answer.law import PesticideLaw
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.text import search_form

DOMAIN = Path("assets/domain")


@pytest.fixture(scope="module")
def law():
    return PesticideLaw.load(DOMAIN / "restricted.toml")


@pytest.fixture(scope="module")
def lexicon():
    return Lexicon.load(DOMAIN)


def names(law, text):
    return [entry.name for entry in law.find(text)]


@pytest.mark.parametrize(("text", "found"), [
    ("呋喃丹还能用吗", ["克百威"]),
    ("甲胺磷和乙酰甲胺磷有什么不同", ["甲胺磷", "乙酰甲胺磷"]),
    ("乙酰甲胺磷", ["乙酰甲胺磷"]),
    ("丁硫克百威拌种", ["丁硫克百威"]),
    ("丙硫克百威拌种", []),
    ("好年冬", ["丁硫克百威"]),
    ("甲基对硫磷", ["甲基对硫磷"]),
    ("甲基1605喷雾", ["甲基对硫磷"]),
    ("硫双灭多威", []),
    ("甲基硫环磷、硫环磷", ["甲基硫环磷", "硫环磷"]),
    ("磷化铝和磷化锌", ["磷化铝", "磷化锌"]),
    ("氟虫胺、氟虫腈、氟苯虫酰胺", ["氟虫胺", "氟虫腈", "氟苯虫酰胺"]),
    ("高效氰戊菊酯", []),
    ("氧化乐果", ["氧乐果"]),
    ("马拉硫磷、辛硫磷、敌百虫、福美双、苯磺隆", []),
    ("2，4-滴丁酯打麦田", ["2,4-滴丁酯"]),
    ("2,4-滴异辛酯", []),
    ("打2.4-D丁酯", ["2,4-滴丁酯"]),
    ("DDT与ＤＤＶＰ", ["滴滴涕"]),
    ("addtional", []),
    ("殺撲磷", ["杀扑磷"]),
    ("甲 胺 磷怎么用", ["甲胺磷"]),
    ("快乐果园的万灵药", []),
    ("乐斯本和神农丹", ["毒死蜱", "涕灭威"]),
    ("", []),
])
def test_find_takes_the_longest_name_whatever_the_writing(law, text, found):
    assert names(law, text) == found


@pytest.mark.parametrize(("text", "found"), [
    ("3911能拌种吗", ["甲拌磷"]),
    ("３９１１农药", ["甲拌磷"]),
    ("老乡说打1605管用", ["对硫磷"]),
    ("用1059喷棉花", ["内吸磷"]),
    ("地里撒666粉", ["六六六"]),
    ("3911", ["甲拌磷"]),
    ("亩栽3911株，打药几次", []),
    ("用药后亩产1605公斤", []),
    ("亩产1605，没打药", []),
    ("打药电话13911605", []),
    ("用药1605元", []),
    ("登记证号PD3911-86的农药", []),
    ("海拔到1605的地打什么药", []),
    ("今年收了1605", []),
    ("4049农药", []),
])
def test_an_old_code_counts_only_as_the_name_of_a_pesticide(law, text, found):
    assert names(law, text) == found


def test_every_name_and_alias_of_the_lexicon_means_the_same_entry_or_none(law, lexicon):
    own = {search_form(name): entry.name for entry in law.entries for name in entry.names}
    for word, terms in lexicon._words.items():
        found = names(law, word)
        if own.get(word):
            assert found == [own[word]]
        else:
            assert found in ([], [own[t] for t in terms if t in own]), word


def test_the_table_holds_the_full_bans_with_the_day_they_began(law):
    banned = {entry.name: entry.since for entry in law.entries if entry.status == "banned"}
    assert len(banned) == 56
    assert banned["克百威"] == banned["氧乐果"] == banned["灭多威"] == banned["涕灭威"] == "2026-06-01"
    assert banned["甲拌磷"] == banned["灭线磷"] == "2024-09-01"
    assert banned["甲胺磷"] == "2007-01-01" and banned["特丁硫磷"] == "2013-10-31"
    assert banned["2,4-滴丁酯"] == "2023-01-23" and banned["三氯杀螨醇"] == "2018-10-01"


def test_every_crop_of_the_groups_is_a_crop_of_the_lexicon(law, lexicon):
    listed = set().union(*law.groups.values(), *law._unclear.values()) | set(law.kinds.values())
    assert {crop for crop in listed if lexicon._kinds.get(search_form(crop)) != "crop"} == set()


@pytest.mark.parametrize(("name", "crops", "verdict"), [
    ("克百威", set(), True),
    ("毒死蜱", {"番茄"}, True),
    ("毒死蜱", {"结球甘蓝"}, True),
    ("毒死蜱", {"水稻"}, False),
    ("毒死蜱", {"水稻", "番茄"}, True),
    ("乐果", {"早稻"}, False),
    ("毒死蜱", {"马铃薯"}, None),
    ("毒死蜱", set(), None),
    ("毒死蜱", {"不知名的作物"}, None),
    ("氟苯虫酰胺", {"水稻"}, True),
    ("氟苯虫酰胺", {"玉米"}, False),
    ("丁酰肼", {"花生"}, True),
    ("氰戊菊酯", {"大叶种茶"}, True),
    ("氰戊菊酯", {"番茄"}, False),
    ("乐果", {"小粒种咖啡"}, None),
    ("氟虫腈", {"水稻"}, True),
    ("磷化铝", {"水稻"}, False),
])
def test_a_restriction_applies_to_its_crops_and_is_unsure_of_others(law, name, crops, verdict):
    assert law.applies(law.find(name)[0], crops) is verdict


def test_a_warning_names_product_day_announcement_and_where_to_ask(law):
    text = law.warning(law.find("呋喃丹")[0], {"水稻"})
    for part in ("克百威", "呋喃丹", "任何作物都不得使用", "2026年6月1日", "第736号", "植保站", "名单截至2026年11月"):
        assert part in text
    assert text.count("。") == 1 and "以当地农药管理部门最新公告为准" not in text


def test_a_warning_says_when_the_table_could_not_confirm_the_date(law):
    text = law.warning(law.find("毒死蜱")[0], {"番茄"})
    assert "番茄在禁止之列" in text and "以当地农药管理部门最新公告为准" in text


def test_a_date_that_is_not_known_is_not_written(law):
    entry = replace(law.find("毒死蜱")[0], since="")
    assert "日起" not in law.warning(entry, {"番茄"}) and "2016年12月31日" in law.warning(law.find("毒死蜱")[0], {"番茄"})
    assert "2002年5月公布" in law.warning(law.find("六六六")[0], set())


def test_notes_warn_of_what_concerns_the_crops_and_gather_a_long_list(law):
    text = "番茄上禁止使用毒死蜱、三唑磷、乙酰甲胺磷、丁硫克百威、甲拌磷、克百威"
    notes = law.notes(text, {"番茄"})
    assert [note.kind for note in notes] == ["law"] * 5
    assert notes[3].text.startswith("甲拌磷、克百威也是禁用农药") and notes[4].text.startswith("丁硫克百威也是限制使用农药")
    assert law.notes("水稻可用毒死蜱", {"水稻"}) == [] and len(law.notes("用磷化铝熏蒸", {"水稻"})) == 1


def test_a_warning_decides_nothing_about_a_crop_the_law_does_not_name(law):
    assert "小粒种咖啡算不算在内" in law.warning(law.find("乐果")[0], {"小粒种咖啡"})
    assert "水稻不在所列范围" in law.warning(law.find("乐果")[0], {"水稻"})
    assert "自己的作物能不能用" in law.warning(law.find("乐果")[0], set())


@pytest.mark.parametrize("text", [
    "每亩用3%克百威颗粒剂2公斤拌细土撒施",
    "克百威颗粒剂可沟施防治地老虎",
    "药剂：3%克百威颗粒剂；用量：每亩2～3公斤；方法：撒施",
    "用克百威拌种，堆闷4小时后播种",
    "3%呋喃丹颗粒剂，播种时每亩施2千克",
    "克百威已经禁用，过去每亩用3%颗粒剂2公斤",
    "虫多时用克百威，兑水1000倍喷雾",
    "喷吡虫啉2000倍液或克百威1000倍液",
    "用克百威撒施，采收前30天禁止使用",
    "可用克百威灌根，不得与碱性农药混用",
    "克百威十克兑水一桶",
    "呋喃丹按说明撒在根部，灌根也行",
    "克百威（已禁用）每亩撒2公斤",
    "克百威的用法：每亩2公斤拌细土",
    "3％克百威颗粒剂亩用１．５～２千克",
    "3%克百威GR 每亩1500g",
    "可选呋喃丹或辛硫磷颗粒剂，每亩2公斤拌土撒施",
])
def test_instructions_for_use_are_a_recipe(law, text):
    assert law.recipe(text, law.find("克百威")[0])


@pytest.mark.parametrize("text", [
    "克百威自2026年6月1日起禁止销售和使用",
    "克百威已禁用，改用噻虫嗪1000倍液灌根",
    "用吡虫啉2000倍液代替克百威",
    "克百威的替代药剂：噻虫嗪1000倍液灌根",
    "克百威、涕灭威、甲拌磷颗粒剂曾用于棉田沟施治蚜，现在属于禁用农药",
    "旧资料里用克百威拌种的做法不能照搬",
    "含克百威的种衣剂属于禁用产品，不得购买和使用",
    "农药：克百威；禁止销售和使用：2026年6月1日起禁止",
    "旧名或代号：呋喃丹；通用名：克百威；状态：全面禁用",
    "个人使用克百威的，处1万元以下罚款",
    "克百威残留不得检出，限量0.02毫克/千克",
    "克百威中毒可用阿托品",
    "氟虫腈限于旱田种子包衣，克百威全面禁用",
    "丁硫克百威1000倍液喷雾",
    "今天没有下雨",
])
def test_words_about_the_ban_are_no_recipe(law, text):
    assert not law.recipe(text, law.find("克百威")[0])


def test_a_text_is_withheld_where_its_recipe_is_forbidden(law):
    spray = "48%毒死蜱乳油1000倍液喷雾"
    assert [e.name for e in law.withheld(spray, {"番茄"})] == ["毒死蜱"]
    assert law.withheld(spray, {"水稻"}) == [] and law.withheld(spray, set()) == []
    assert [e.name for e in law.withheld("每亩撒3%克百威颗粒剂2公斤", set())] == ["克百威"]
    assert [e.name for e in law.withheld("5%氟虫腈悬浮剂每亩40毫升喷雾", {"水稻"})] == ["氟虫腈"]
    assert law.withheld("氟虫腈悬浮种衣剂10毫升包衣玉米种子1公斤", {"玉米"}) == []


@given(st.text(alphabet="克百威甲胺磷乙酰丁硫3911用每亩倍 ，。；2 kg", max_size=40))
def test_no_text_breaks_the_reader_of_recipes(law, text):
    for entry in law.find(text):
        assert law.recipe(text, entry) in (True, False)
        assert law.warning(entry, set()).endswith("。")


def test_a_broken_table_is_named_in_the_error(tmp_path):
    path = tmp_path / "restricted.toml"
    with pytest.raises(SettingsError, match="restricted.toml"):
        PesticideLaw.load(path)
    path.write_text((DOMAIN / "restricted.toml").read_text("utf-8").replace('"2026-06-01"', '"去年"'), "utf-8")
    with pytest.raises(SettingsError, match="since"):
        PesticideLaw.load(path)
