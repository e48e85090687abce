"""What a question asks for: kinds, facets, values, options and the two things compared."""

import pytest
from conftest import ROOT

from nongda.answer.asked import Asking
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def words() -> Lexicon:
    return Lexicon.load(DOMAIN)


@pytest.fixture(scope="module")
def asking() -> Asking:
    return Asking.load(DOMAIN)


@pytest.mark.parametrize(("question", "kind"), [
    ("咖啡叶锈病隔几天喷一次", "fact"), ("咖啡园荫蔽度多少合适", "fact"), ("叶子黄了", "diagnosis"),
    ("咖啡叶锈病怎么防治", "how_to"), ("稻苗倒了咋办", "how_to"), ("如何给咖啡定植", "how_to"),
    ("叶背有黄粉是什么病", "diagnosis"), ("叶尖发红是缺什么", "diagnosis"), ("叶子发黄是怎么回事", "diagnosis"),
    ("苗期和花期各用多少水", "comparison"), ("叶锈病和炭疽病有什么区别", "comparison"),
    ("雨天能不能打药", "yes_no"), ("下雨后要补喷吗", "yes_no"), ("三唑酮是否可以拌种", "yes_no"),
    ("隔几天喷一次？A. 5天 B. 10天", "choice"), ("能喷药吗？A. 能 B. 不能", "choice"),
])
def test_a_question_has_the_kind_of_its_words(asking, words, question, kind):
    assert asking.of(question, words).kind == kind


@pytest.mark.parametrize(("question", "facets"), [
    ("用什么药，一亩用多少，隔几天打一次", ["用什么药，", "一亩用多少，", "隔几天打一次"]),
    ("我家稻子叶尖发红，是什么病，怎么治", ["我家稻子叶尖发红，是什么病，", "怎么治"]),  # what is told goes with what it leads to
    ("怎么治？已经下过雨了。", ["怎么治？已经下过雨了。"]),  # and what is told last, with what was asked before
    ("叶子黄了", ["叶子黄了"]),
    ("前几天下雨了，要不要补喷", ["前几天下雨了，要不要补喷"]),  # 几天 of 前几天 asks nothing
    ("这几年产量低，怎么办", ["这几年产量低，怎么办"]),
    ("几年前栽的，该不该换", ["几年前栽的，该不该换"]),
    ("采收前几天停药，停药后怎么洗", ["采收前几天停药，", "停药后怎么洗"]),  # but here it does
    ("用2,4-滴，一亩多少克", ["用2,4-滴，一亩多少克"]),  # a comma in a name ends no clause
])
def test_each_clause_that_asks_is_a_facet(asking, words, question, facets):
    assert [facet.text for facet in asking.of(question, words).facets] == facets


@pytest.mark.parametrize(("question", "values"), [
    ("一亩用多少尿素", {"dose"}), ("波尔多液兑多少倍水", {"dilution"}), ("隔几天喷一次", {"interval"}),
    ("一共喷几次", {"times"}), ("咖啡多少度会冻", {"temperature"}), ("株距多宽", {"length"}), ("荫蔽度多少合适", {"share"}),
    ("pH多少合适", {"acidity"}), ("多少钱一斤", {"money"}), ("叶子黄了", set()),
])
def test_a_facet_wants_the_kinds_of_value_its_words_ask_for(asking, words, question, values):
    assert asking.of(question, words).facets[0].values == values


def test_each_facet_has_values_of_its_own_and_the_question_has_all(asking, words):
    asked = asking.of("一亩用多少，隔几天打一次", words)
    assert [set(facet.values) for facet in asked.facets] == [{"dose"}, {"interval"}]
    assert asked.values == {"dose", "interval"}


@pytest.mark.parametrize(("question", "sides"), [
    ("叶锈病和炭疽病有什么区别", ("叶锈病", "炭疽病")),
    ("海拔800米和1200米的采收期各是几月", ("800米", "1200米")),
    ("波尔多液跟三唑酮比哪个好", ("波尔多液", "三唑酮")),
    ("苗期与花期各用多少水", ("苗期", "花期")),
    ("深耕与浅耕有什么区别", ("深耕", "浅耕")),  # in no list: what the word joins
])
def test_the_two_things_compared_are_found(asking, words, question, sides):
    assert asking.of(question, words).sides == sides


def test_each_side_of_a_comparison_is_a_facet_without_the_other(asking, words):
    asked = asking.of("海拔800米和1200米的采收期各是几月", words)
    assert [facet.text for facet in asked.facets] == ["海拔800米的采收期各是几月", "海拔1200米的采收期各是几月"]
    assert asked.facets[0].values == asked.facets[1].values and "date" in asked.facets[0].values


def test_two_things_that_are_only_named_together_are_not_compared(asking, words):
    assert asking.of("叶锈病和炭疽病怎么防治", words).sides == ()


@pytest.mark.parametrize("question", [
    "隔几天喷一次？A. 5天 B. 10天 C. 20天", "隔几天喷一次？（A）5天（B）10天（C）20天", "隔几天喷一次？\nA、5天\nB、10天\nC、20天",
    "隔几天喷一次？Ａ．5天；Ｂ．10天；Ｃ．20天。",
])
def test_the_options_of_a_choice_are_no_facets(asking, words, question):
    asked = asking.of(question, words)
    assert asked.options == (("A", "5天"), ("B", "10天"), ("C", "20天"))
    assert [facet.text for facet in asked.facets] == ["隔几天喷一次？"]


def test_what_a_product_holds_is_no_share(asking):
    assert asking.quantities("用40%稻瘟灵乳油", {"share"}) == []
    assert asking.quantities("荫蔽度以40%为宜", {"share"}) == ["40%"]


def test_quantities_of_the_wanted_kinds_are_given_once_as_written(asking):
    text = "每亩用20克，隔7～10天一次，共3次，再用20克"
    assert asking.quantities(text, {"dose"}) == ["20克"]
    assert asking.quantities(text, {"interval"}) == ["7～10天"]
    assert asking.quantities(text, {"times"}) == ["一次", "3次"]
    assert asking.quantities("没有数", {"dose"}) == asking.quantities(text, {"temperature"}) == []


def test_a_value_is_held_by_its_unit_its_kind_of_name_or_its_words(asking):
    none = frozenset()
    wanted = ("dose", "name", "date", "acidity")
    assert asking.held("每亩20克", wanted, frozenset({"g"}), none) == {"dose"}
    assert asking.held("喷三唑酮", wanted, none, frozenset({"product"})) == {"name"}
    assert asking.held("雨季来临", wanted, none, none) == {"date"}
    assert asking.held("土壤ＰＨ", wanted, none, none) == none
    assert asking.held("土壤pH 5.5", wanted, none, none) == {"acidity"}
    assert asking.held("每亩20克", (), frozenset({"g"}), none) == none


@pytest.mark.parametrize("content", [None, "[values", "[values.dose]\nwords = [\"(\"]\nunits = []\n", "[kinds]\n",
                                     "[values.dose]\nunits = []\n"])
def test_a_missing_or_broken_table_is_an_error_that_names_it(tmp_path, content):
    for name in ("units.toml", "triggers.toml"):
        (tmp_path / name).write_bytes((DOMAIN / name).read_bytes())
    if content is not None:
        (tmp_path / "asked.toml").write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"asked\.toml"):
        Asking.load(tmp_path)
