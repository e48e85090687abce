"""Terms with their places in a text."""

import pytest
from conftest import ROOT

from nongda.index.attributes import Attributes
from nongda.index.names import Names, distinct, of_kinds, tiers
from nongda.language.lexicon import Lexicon

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def names():
    attributes = Attributes.load(DOMAIN)
    return Names(Lexicon.load(DOMAIN), attributes.ignored, attributes.residues)


def terms(found):
    return [n.term for n in found]


def test_places_are_those_of_the_text_whatever_signs_it_has(names):
    text = "气温21～26℃时，咖啡叶锈病流行"
    assert [(text[n.start : n.end], n.kind) for n in of_kinds(names.of(text), ("crop", "disease"))] == [
        ("咖啡", "crop"), ("叶锈病", "disease")]


def test_a_term_at_the_end_of_a_text_ends_there(names):
    assert [(n.start, n.end) for n in names.of("施尿素") if n.term == "尿素"] == [(1, 3)]


def test_a_work_named_after_a_substance_names_the_substance_too(names):
    assert {"施石灰", "石灰"} <= set(terms(names.of("每亩施石灰50公斤")))


def test_a_part_of_a_mixture_is_marked(names):
    assert [n.mixed for n in names.of("戊唑醇·某某") if n.term == "戊唑醇"] == [True]
    assert [n.mixed for n in names.of("戊唑醇和某某") if n.term == "戊唑醇"] == [False]


@pytest.mark.parametrize("text", ["玉米秸秆上越冬", "像西瓜皮", "蔬菜通用，小白菜除外", "参照茶树的经验"])
def test_straw_peel_exceptions_and_comparisons_are_no_crop(names, text):
    assert of_kinds(names.of(text), ("crop",)) == []


def test_terms_are_counted_once_and_kinds_of_a_crop_are_one(names):
    assert terms(distinct(of_kinds(names.of("咖啡和小粒种咖啡"), ("crop",)))) == ["小粒种咖啡"]


def test_of_a_crop_and_a_kind_of_it_a_heading_names_the_crop(names):
    assert names.crops("小麦蚜虫的指标与冬小麦播种") == ("小麦",)
    assert names.crops("稻田里的稻飞虱") == ("水稻",)


def test_kinds_that_are_looked_for_together_are_one_tier():
    assert tiers(["product", "nutrient", "crop"]) == [{"product", "nutrient"}, {"crop"}]
    assert tiers(["product", "crop"]) == [{"product"}, {"crop"}]
