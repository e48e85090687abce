import pytest
from conftest import ROOT

from nongda.answer.sanity import implausible
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def domain():
    return Lexicon.load(DOMAIN), Units.load(DOMAIN / "units.toml", ("units", "counters"))


def reasons(domain, text):
    lexicon, units = domain
    return implausible(text, units, lexicon)


@pytest.mark.parametrize(("text", "named"), [
    ("土壤pH值为12。", "12"), ("酸碱度3.5～5.5最好。", "3.5～5.5"), ("EC值保持在12 mS/cm。", "12"), ("电导率0.01毫西门子/厘米。", "0.01"),
    ("白天温度保持在85℃。", "85℃"), ("冬季零下60℃。", "零下60℃"), ("间隔2.5天再喷。", "2.5天"), ("安全间隔期450天。", "450天"),
    ("空气湿度120%。", "120%"), ("120%三环唑可湿性粉剂。", "120%"), ("用3倍液喷雾。", "3倍液"), ("稀释50000倍喷雾。", "50000倍"),
    ("每亩用25℃。", "25℃"), ("每公顷施30小时。", "30小时"), ("白天温度保持在８５℃。", "８５℃"),
])
def test_a_number_no_field_can_have_is_named(domain, text, named):
    found = reasons(domain, text)
    assert len(found) == 1 and found[0].startswith(f"“{named}”")


@pytest.mark.parametrize("text", [
    "土壤pH4.5～6.5。", "pH值9。", "1吨石灰使pH升高0.2。", "EC值1.5～2.5 mS/cm。", "电导率350μS/cm。", "温度零下12℃到45℃。",
    "活动积温2800℃。", "用55℃温汤浸种15分钟。", "烘干温度不超过80℃。", "堆温升到70℃时翻堆。", "间隔7～10天喷一次。", "生育期约450天。",
    "产量高176%。", "增产率142%。", "20%三环唑可湿性粉剂。", "湿度100%。", "1000倍液喷雾。", "产量是对照的3倍。", "2,4-滴每亩30毫升。",
    "每亩用三环唑20克。", "每亩施尿素5公斤，温度25℃时喷。", "Kỹ thuật trồng cà phê（2lua.vn，2011）",
])
def test_what_a_field_can_have_passes(domain, text):
    assert reasons(domain, text) == []
