import pytest
from conftest import ROOT

from nongda.answer.wording import atoms_of, displaced, foreign, mixed, overstated, turned, unconditional
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def atoms():
    lexicon, units = Lexicon.load(DOMAIN), Units.load(DOMAIN / "units.toml", ("units", "counters"))
    return lambda text: atoms_of(text, lexicon, units)


def test_terms_and_numbers_are_one_atom_and_marks_are_edges(atoms):
    assert [a.text for a in atoms("用三环唑20克，喷雾")] == ["用", "三环唑", "#20~20g", "|", *[a.text for a in atoms("喷雾")]]


@pytest.mark.parametrize(("text", "denied"), [
    ("不要漫灌", "不要漫灌"), ("花期不要漫灌，应细水勤浇", "花期不要漫灌"), ("花期不要在中午浇水", "不要在中午浇水"),
    ("漫灌不可取", "漫灌不可取"), ("非常重要", ""),
    ("严禁漫灌，积水", "严禁漫灌积水"), ("不仅能漫灌", ""),
])
def test_a_denial_covers_the_rest_of_its_clause_or_all_of_one_that_it_ends(atoms, text, denied):
    assert "".join(a.text for a in atoms(text) if a.denied) == denied


@pytest.mark.parametrize(("sentence", "strange"), [
    ("应喷施药液", ""), ("喷施丰收净", "丰收净"), ("播后喷施药液", "播后"), ("药液喷施", ""), ("可以在播前喷施药液", ""),
])
def test_words_that_stand_nowhere_are_foreign(atoms, sentence, strange):
    found = foreign(atoms(sentence), atoms("播前喷施药液"), atoms(""))
    assert (found == "") == (strange == "") and all(c in strange for c in found)


def test_words_of_the_headings_are_not_foreign(atoms):
    assert foreign(atoms("炭疽病要喷药"), atoms("要喷药"), atoms("炭疽病")) == ""


def test_a_denial_left_out_or_added_is_named(atoms):
    assert turned(atoms("可以喷药"), atoms("不能喷药")) == "喷药"
    assert turned(atoms("不能喷药"), atoms("可以喷药")) == "喷药"
    assert turned(atoms("不能喷药"), atoms("不得喷药")) == ""


def test_a_condition_left_out_is_named_and_other_clauses_need_none(atoms):
    evidence = atoms("叶片背面有黄粉，病情严重时摘除病叶")
    assert unconditional(atoms("摘除病叶"), evidence) == "病情严重时"
    assert unconditional(atoms("病情严重时摘除病叶"), evidence) == ""
    assert unconditional(atoms("叶片背面有黄粉"), evidence) == ""
    assert unconditional(atoms("摘除病叶"), atoms("及时摘除病叶")) == ""


def test_clauses_put_together_and_comparisons_turned_round_are_named(atoms):
    assert mixed(atoms("北坡种咖啡"), atoms("南坡种咖啡，北坡种玉米"))
    assert mixed(atoms("新叶比老叶黄"), atoms("老叶比新叶黄"))
    assert mixed(atoms("低处重于高处"), atoms("高处重于低处"))
    assert mixed(atoms("南坡种咖啡"), atoms("南坡种咖啡，北坡种玉米")) == ""


def test_a_word_stronger_than_the_evidence_is_named():
    assert overstated("必须喷药", "可喷药") == "必须"
    assert overstated("必须喷药", "必须喷药") == ""


def test_numbers_that_change_places_are_named(atoms):
    assert displaced(atoms("10公斤尿素含氮22公斤"), atoms("22公斤尿素含氮10公斤")) == "尿素"
    assert displaced(atoms("含氮10公斤"), atoms("22公斤尿素含氮10公斤")) == ""
    assert displaced(atoms("10公斤"), atoms("22公斤尿素含氮10公斤")) == ""
