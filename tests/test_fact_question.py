"""Which questions are for the table of facts, and what they ask of it."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from nongda.answer.fact_question import FactForms, FactQuestion, fact_question
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.records import Query

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def words() -> Lexicon:
    return Lexicon.load(DOMAIN)


@pytest.fixture(scope="module")
def forms() -> FactForms:
    return FactForms.load(DOMAIN)


def read(text: str, words: Lexicon, forms: FactForms) -> FactQuestion | None:
    return fact_question(Query(text, text, words.canonical(text), (), words.entities(text)), words, forms)


@pytest.mark.parametrize(("text", "wanted", "conditions", "crops", "targets"), [
    ("找出安全间隔期不超过7天、能防稻飞虱的药", "药剂", ["安全间隔期不超过7天"], (), ("稻飞虱",)),
    ("哪些药能治稻瘟病，安全间隔期在14天以内", "药剂", ["安全间隔期在14天以内"], (), ("稻瘟病",)),
    ("海拔1800米能种哪些咖啡品种", "品种", ["海拔1800米"], ("咖啡",), ()),
    ("亩用量低于20克的杀虫剂有哪些", "杀虫剂", ["亩用量低于20克"], (), ()),
    ("黄瓜上安全间隔期3天以内的农药有哪些？", "药剂", ["安全间隔期3天以内"], ("黄瓜",), ()),
    ("帮我列出水稻上安全间隔期两周以内、每亩用量不超过50克的杀菌剂", "杀菌剂", ["安全间隔期两周以内", "每亩用量不超过50克"], ("水稻",), ()),
    ("pH 4.5到5.5的土适合种哪些作物", "作物", ["pH 4.5到5.5"], (), ()),
    ("离收割还有10天，稻飞虱能打什么药", "药剂", ["离收割还有10天"], (), ("稻飞虱",)),
    ("小麦上安全间隔期20天以内的药", "药剂", ["安全间隔期20天以内"], ("小麦",), ()),
    ("稻田里安全间隔期不超过10天的药有哪些", "药剂", ["安全间隔期不超过10天"], ("水稻",), ()),
    ("找出安全間隔期不超過7天、能防稻飛蝨的藥", "药剂", ["安全间隔期不超过7天"], (), ("稻飞虱",)),
    ("20%含量以外，安全间隔期7天内的药有哪些", "药剂", ["安全间隔期7天内"], (), ()),
])
def test_lists_with_conditions_are_recognised(words, forms, text, wanted, conditions, crops, targets):
    found = read(text, words, forms)
    assert found is not None and found.form == "list" and found.wanted is not None
    assert (found.wanted.name, [c.words for c in found.constraints]) == (wanted, conditions)
    assert (found.crops, found.targets) == (crops, targets)


@pytest.mark.parametrize(("text", "condition", "crops", "subjects"), [
    ("pH低于5.5怎么办", "pH低于5.5", (), ()),
    ("pH 5.2 的地要撒多少石灰", "pH 5.2", (), ("石灰",)),
    ("海拔2300米能种咖啡吗", "海拔2300米", ("咖啡",), ()),
    ("我家地化验pH是4.3，该怎么改良？", "pH是4.3", (), ()),
    ("年降水量700毫米的地方能种小粒种咖啡吗？", "年降水量700毫米", ("小粒种咖啡",), ()),
])
def test_questions_about_a_value_are_recognised(words, forms, text, condition, crops, subjects):
    found = read(text, words, forms)
    assert found is not None and found.form == "value"
    assert ([c.words for c in found.constraints], found.crops) == ([condition], crops)
    assert set(subjects) <= set(found.subjects)


def test_a_direct_question_names_its_subject_and_what_it_asks(words, forms):
    found = read("小麦赤霉病打戊唑醇每亩用多少？", words, forms)
    assert found is not None and found.form == "direct"
    assert (found.crops, found.targets, found.subjects, found.attributes) == (("小麦",), ("赤霉病",), ("戊唑醇",), ("dose",))


@pytest.mark.parametrize("text", [
    "安全间隔期不超过7天的药是怎么定出来的",  # asks how
    "稻飞虱用什么药",  # no condition
    "吡蚜酮的安全间隔期是7天吗",  # yes or no of one product
    "安全间隔期7天的药和14天的药有什么区别",
    "下面哪种药安全间隔期不超过7天？A. 噻嗪酮 B. 吡蚜酮 C. 醚菊酯",
    "找出安全间隔期不超过7天、5块钱一包的药",  # a condition that is not understood
    "气温低于10度怎么办",  # of which of the temperatures
    "地里化验pH过了8.5，雨后一脚烂泥，这是盐土还是碱土？灌水洗之前要先撒什么，拌进土里多深？",
    "蓝莓园的土pH升过6了，新叶发黄，要不要撒点石灰？这黄叶是缺什么？",
    "看中一块海拔1300米的山地，想种小粒种咖啡，要先逐块查哪两样？",
    "列出安全间隔期在5天以内的蔬菜用药",  # a group of crops, of which the documents name some
    "pH 8的水配药行吗",
    "pH5.2和pH6.2的地哪个好",
    "3亩地pH5.2要撒多少石灰",  # a sum
    "土壤pH从5.0提到6.0要多少石灰",
    "海拔1300米以上种咖啡霜冻怎么办",
    "海拔2000米能种玉米和咖啡吗",
    "海拔2300米能种吗",
    "土壤pH 4.8，马铃薯疮痂病会重吗",
    "pH",
    "海拔",
    "找出药",
])
def test_other_questions_are_no_lists_and_no_values(words, forms, text):
    found = read(text, words, forms)
    assert found is None or found.form == "direct"


PIECES = ("安全间隔期 不超过 7 天 pH 5.5 海拔 1800米 药 哪些 怎么办 ， ？ 水稻 以内 低于 每亩 20克 的 能种 吗 找出 ％ １２ ～ "
          "半个月 A. 1:1").split()


@given(st.lists(st.sampled_from([*PIECES, "\n"]), max_size=14))
def test_any_words_can_be_asked(words, forms, parts):
    found = read("".join(parts) or "？", words, forms)
    assert found is None or all(c.words in found.text for c in found.constraints)


def test_an_ambiguous_name_is_left_to_ask_back(words, forms):
    kinds = {"水稻": "crop", "天牛": "pest", "蚜虫": "pest"}
    ambiguous = Lexicon(kinds, {"土蚕": ("天牛", "蚜虫")}, words.units)
    found = read("找出安全间隔期不超过7天、能防土蚕的药", ambiguous, forms)
    assert found is None or found.form == "direct"


def test_of_the_dev_questions_only_what_is_a_value_is_recognised(words, forms):
    """No list among them was written; the one question of a value is about suitable soil."""
    found = {}
    for path in sorted((ROOT / "assets" / "gold" / "dev").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            question = read(row["question"], words, forms)
            if question is not None and question.form != "direct":
                found[row["id"]] = question.form
    assert found == {"coffee-ecology-d06": "value"}


def test_a_broken_table_names_its_file(tmp_path):
    (tmp_path / "fact_questions.toml").write_text("[before", encoding="utf-8")
    (tmp_path / "units.toml").write_bytes((DOMAIN / "units.toml").read_bytes())
    with pytest.raises(SettingsError, match=r"fact_questions\.toml"):
        FactForms.load(tmp_path)
    (tmp_path / "fact_questions.toml").write_text("[before]\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"fact_questions\.toml"):
        FactForms.load(tmp_path)
