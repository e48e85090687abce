import pytest
from conftest import ROOT

from nongda.answer.claims import crop_of, held, names_of, pieces_of, read_claims, same_claim
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def domain():
    return Lexicon.load(DOMAIN), Units.load(DOMAIN / "units.toml", ("units", "counters"))


def claims(domain, text):
    return read_claims(text, *domain)[0]


def stuff(domain, text):
    return [(c.surface, c.names.get("stuff", ())) for c in claims(domain, text)]


@pytest.mark.parametrize(("text", "owners"), [
    ("三环唑20克，稻瘟灵100毫升", [("20克", ("三环唑",)), ("100毫升", ("稻瘟灵",))]),
    ("三环唑20克稻瘟灵100毫升", [("20克", ("三环唑",)), ("100毫升", ("稻瘟灵",))]),
    ("20克三环唑100毫升稻瘟灵", [("20克", ("三环唑",)), ("100毫升", ("稻瘟灵",))]),
    ("三环唑、稻瘟灵各20克", [("20克", ("三环唑", "稻瘟灵"))]),
    ("三环唑防效好，每亩20克", [("20克", ("三环唑",))]),
    ("20%三环唑75克40%稻瘟灵100毫升",
     [("20%", ("三环唑",)), ("75克", ("三环唑",)), ("40%", ("稻瘟灵",)), ("100毫升", ("稻瘟灵",))]),
])
def test_a_number_has_the_product_it_is_said_of(domain, text, owners):
    assert stuff(domain, text) == owners


@pytest.mark.parametrize(("one", "other", "same"), [
    ("每亩4斤", "每亩2公斤", True), ("每亩2公斤", "2公斤/亩", True), ("每亩2公斤", "每公顷30公斤", True),
    ("每亩2公斤", "每公顷2公斤", False), ("每亩2公斤", "2公斤", False), ("每亩2公斤", "每株2公斤", False),
    ("不超过2公斤", "2公斤", False), ("至少2公斤", "2公斤以上", True), ("2公斤以下", "2公斤以上", False),
    ("播后10天", "播后10天", True), ("10天后", "10天前", False), ("三次", "3次", True), ("3次", "3天", False),
])
def test_values_are_the_same_with_their_base_and_bound(domain, one, other, same):
    (mine,), (its,) = claims(domain, one), claims(domain, other)
    assert same_claim(mine, its, domain[1]) is same


def test_per_mu_holds_for_the_amounts_that_follow_and_per_time_does_not(domain):
    assert [c.base for c in claims(domain, "每亩施尿素5公斤，磷肥8公斤")] == ["亩", "亩"]
    assert [c.base for c in claims(domain, "每次浇5升，共100升")] == ["次", ""]


def test_pieces_are_cut_where_numbers_stand_on_both_sides(domain):
    assert pieces_of("三环唑20克、稻瘟灵100毫升", domain[1]) == ["三环唑20克", "稻瘟灵100毫升"]
    assert pieces_of("三环唑、稻瘟灵20克", domain[1]) == ["三环唑、稻瘟灵20克"]


def test_leading_words_are_shared_and_later_ones_belong_to_their_number(domain):
    found, shared = read_claims("播种之前，底肥20公斤，追肥10公斤", *domain)
    assert "播种" in shared
    assert "底肥" in found[0].words and "底肥" not in found[1].words


def test_a_disease_s_name_names_its_crop(domain):
    lexicon, _ = domain
    assert crop_of("小麦白粉病", lexicon) == "小麦"
    assert crop_of("白粉病", lexicon) == ""
    assert "小麦" in names_of("小麦白粉病要防", lexicon).get("crop", ())


def test_a_general_name_is_held_by_a_special_one_but_never_among_products():
    assert held("白粉病", "target", {"target": ("小麦白粉病",)})
    assert not held("小麦白粉病", "target", {"target": ("白粉病",)})
    assert held("小麦白粉病", "target", {"target": ("白粉病",), "crop": ("小麦",)})
    assert not held("硫菌灵", "stuff", {"stuff": ("甲基硫菌灵",)})
