"""Sums over a cited figure: every expected value here was computed by hand."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.answer.calculate import calculate, calculation_asked
from nongda.answer.figures import figures
from nongda.answer.tasks import counted
from nongda.language.units import Units, exact

TABLE = Path(__file__).resolve().parent.parent / "assets" / "domain" / "units.toml"
NUTRIENT = "5亩咖啡，每亩333棵，一棵一年给80克纯氮，全部靠46%含量的尿素，要备多少公斤尿素？"
SPRAYER = "背15升的喷雾器打药，瓶子上喊兑500倍，一桶水倒好多毫升药？"


@pytest.fixture(scope="session")
def table() -> Units:
    return Units.load(TABLE)


def computed(table, question, text, subject=""):
    task = calculation_asked(question, table)
    assert task is not None, question
    return calculate(task, text, table, subject)


@pytest.mark.parametrize(("question", "text", "result"), [
    # area x dose
    ("2公顷咖啡要多少公斤尿素", "每亩施尿素10～15公斤", "300～450公斤"),
    ("30亩地要多少公斤尿素", "每公顷施尿素150公斤", "300公斤"),
    ("3.5亩要用多少克药", "每亩用药20克", "70克"),
    ("３．５亩要用多少克药", "每亩用药２０克", "70克"),
    ("三亩五分地要多少斤种子", "每亩播种15公斤", "105斤"),
    ("半亩地撒多少公斤石灰", "每亩撒石灰50～150公斤", "25～75公斤"),
    ("一分菜地撒多少石灰", "石灰：每亩50～150公斤", "5～15公斤"),
    ("二分地用多少药", "每亩用药30毫升", "6毫升"),
    ("亩半地用多少克药", "每亩用药30克", "45克"),
    ("667平方米的棚要用多少克药", "每公顷用药300克", "20.01克"),
    ("三四亩地要多少公斤复合肥", "每亩施复合肥20公斤", "60～80公斤"),
    ("100亩要多少吨石灰", "每亩施石灰75公斤", "7.5吨"),
    ("8亩地打药要多少毫升", "亩用20～30毫升", "160～240毫升"),
    ("60亩地要多少药", "每亩用药40克", "2.4公斤"),
    ("60亩地要多少药", "每亩40毫升", "2.4升"),
    ("13亩要多少药", "40克/亩", "520克"),
    ("13亩要多少公斤尿素", "尿素225千克/公顷", "195公斤"),
    ("3亩菜地撒多少石灰", "石灰的用量：pH低于7.0时每亩不超过200公斤", "不超过600公斤"),
    ("4亩地要多少公斤有机肥", "每亩施有机肥1500公斤以上", "至少6000公斤"),
    ("5亩要多少药", "15%三唑酮可湿性粉剂每亩60克，兑水50公斤", "300克"),
    ("5亩要多少药", "每亩用15%三唑酮可湿性粉剂60克（有效成分9克）兑水喷雾", "300克"),
    ("6亩地要多少尿素", "采收后每亩施尿素10公斤", "60公斤"),
    ("10亩地要多少株苗", "每亩栽333株", "3330株"),
    ("2公顷要多少棵苗", "每公顷3300株", "6600株"),
    ("10亩要多少株苗", "每公顷（株）：1111；每亩（株）：74", "740株"),
    ("3亩要多少公斤尿素", "每亩施尿素5公斤，复合肥20公斤", "15公斤"),
    ("3亩要多少公斤复合肥", "每亩施尿素5公斤，复合肥20公斤", "60公斤"),
    ("3亩要放多少药", "用量：1300～2000倍液；折合每亩40升水的制剂量：20～31克", "60～93克"),
    ("2亩要多少石灰", "石灰用量（公斤/亩）：200（一次的量）；出处：甲", "400公斤"),
    # table rows in words
    ("13.5亩要多少克", "作物：水稻；每亩用量（克）：40～50；备注：仅此一处", "540～675克"),
    ("4亩要多少毫升", "药剂：井冈霉素；用量（毫升/亩）：150", "600毫升"),
    ("4亩要多少药", "药剂：40%稻瘟灵乳油；每亩用量：100毫升；备注：仅此一处", "400毫升"),
    ("15升喷雾器加多少毫升药", "药剂：某药乳油；稀释倍数：1000～1500", "10～15毫升"),
    ("15升喷雾器加多少毫升药", "稀释倍数（倍）：500；备注：一处", "30毫升"),
    # packages, whole ones rounded up
    ("十三亩半要几袋，每袋200克", "每亩用40～50克", "3～4袋（540～675克，每袋200克，整袋向上取）"),
    ("我有13.5亩稻子，一袋药200克，要买几袋？", "每亩40克", "3袋（540克，每袋200克，整袋向上取）"),
    ("7亩玉米打几瓶药，一瓶100毫升", "每亩30～40毫升", "3瓶（210～280毫升，每瓶100毫升，整瓶向上取）"),
    ("20亩要多少袋尿素，50公斤一袋", "每亩施尿素12.5公斤", "5袋（250公斤，每袋50公斤，整袋向上取）"),
    ("20亩要几包复合肥，每包40公斤", "每亩施复合肥30斤", "8包（600斤，每包40公斤，整包向上取）"),
    ("一亩地用几袋，每袋500克", "每亩1.2公斤", "3袋（1.2公斤，每袋500克，整袋向上取）"),
    ("10亩地要几袋，每袋100克", "每亩10克", "1袋（100克，每袋100克，整袋向上取）"),
    # plants
    ("300棵树要多少公斤尿素", "每株施尿素50克", "15公斤"),
    ("300棵咖啡要多少肥", "每株25～30克", "7.5～9公斤"),
    ("两百株要几袋，每袋50公斤", "每棵施有机肥10公斤", "40袋（2000公斤，每袋50公斤，整袋向上取）"),
    # dilution
    ("一桶水15公斤，配1000倍液，加多少克药", "用1000倍液喷雾", "15克"),
    ("16升喷雾器加多少克药", "90%敌百虫1000倍液", "16克"),
    ("3桶水，每桶15升，倒多少毫升药", "500倍液", "90毫升"),
    ("15升水兑多少药", "25%吡唑醚菌酯乳油1000～1500倍液喷雾", "10～15毫升"),
    ("15升水兑多少药", "50%多菌灵可湿性粉剂600倍液喷雾", "25克"),
    ("16升水配多少药", "800倍液", "20毫升"),
    ("20升的桶配药，加多少毫升", "稀释一千倍", "20毫升"),
    ("用某药，每亩按40升药水打，折下来要多少毫升制剂？", "1200～1600倍液", "每亩25～33.3毫升"),
    ("3亩地，每亩打40升药水，要多少毫升药？", "1000倍液", "120毫升"),
    ("一瓶100毫升兑多少水", "1000倍液", "100升水"),
    ("一包20克要兑多少水", "1500倍液", "30公斤水"),
    ("两瓶药，每瓶100毫升，兑多少水", "800～1000倍液", "160～200升水"),
    ("一瓶100毫升兑几桶水？一桶15升", "1000倍液", "100升水（约6.67桶，每桶15升）"),
    # water for an area, area for a product
    ("5亩地要打几桶水，一桶15升", "每亩兑水45～60公斤喷雾", "15～20桶（225～300公斤，每桶15升，整桶向上取）"),
    ("4亩地要打几桶水，一桶16升", "每亩用药液30升", "8桶（120升，每桶16升，整桶向上取）"),
    ("5亩地要兑多少水", "每亩用药20克，兑水45公斤", "225公斤"),
    ("一瓶100毫升能打几亩", "每亩20～30毫升", "3.33～5亩"),
    ("一袋50公斤尿素够几亩", "每公顷施尿素150公斤", "5亩"),
    # per hectare and per mu
    ("每公顷30公斤，一亩合多少", "每公顷30公斤", "每亩2公斤"),
    ("资料写的是每公顷，合一亩多少克？", "每公顷用有效成分210～315克", "每亩14～21克"),
    ("每亩2公斤，一公顷合多少", "每亩2公斤", "每公顷30公斤"),
    ("每公顷0.1公斤，折一亩多少克", "每公顷0.1公斤", "每亩6.67克"),
    ("每公顷300株，一亩合多少株", "每公顷300株", "每亩20株"),
    # the question's own figures
    (NUTRIENT, NUTRIENT, "290公斤"),
    (SPRAYER, SPRAYER, "30毫升"),
])
def test_a_result_is_what_the_hand_computes(table, question, text, result):
    calculation = computed(table, question, text)
    assert calculation is not None and calculation.result == result
    assert calculation.uses in text


@pytest.mark.parametrize(("question", "text", "formula", "uses"), [
    ("十三亩半要几袋，每袋200克", "每亩用40～50克", "每亩40～50克 × 13.5亩 = 540～675克；÷ 每袋200克 ≈ 2.7～3.38袋，备3～4袋",
     "每亩用40～50克"),
    ("2公顷要多少公斤尿素", "每亩施尿素10公斤", "每亩10公斤 × 2公顷（30亩） = 300公斤", "每亩施尿素10公斤"),
    ("13.5亩要多少克", "每亩用量（克）：40；备注：无", "每亩40克 × 13.5亩 = 540克", "每亩用量（克）：40"),
    ("一桶水15公斤，加多少克药", "喷1000倍液", "15公斤水 ÷ 1000倍液 = 15克", "1000倍液"),
    ("一瓶100毫升兑多少水", "喷1000倍液", "100毫升 × 1000倍液 = 100升水", "1000倍液"),
    ("每公顷31公斤，一亩合多少", "每公顷31公斤", "每公顷31公斤 ÷ 15 ≈ 每亩2.07公斤", "每公顷31公斤"),
    (NUTRIENT, NUTRIENT, "每株80克 × 5亩 × 每亩333株 ÷ 46% ≈ 290公斤", "一棵一年给80克"),
])
def test_the_formula_shows_the_cited_figure_and_every_step(table, question, text, formula, uses):
    calculation = computed(table, question, text)
    assert calculation is not None
    assert (calculation.formula, calculation.uses) == (formula, uses)


@pytest.mark.parametrize(("question", "text", "note"), [
    ("一桶水15公斤，加多少克药", "1000倍液", "水1升按1公斤算"),
    ("16升水加多少克药", "1000倍液", "药1毫升按1克算"),
    ("16升水加多少毫升药", "1000倍液", ""),
    ("16升水配多少药", "1000倍液", "粉剂为16克"),
    ("300棵要多少尿素", "每次每株施尿素6～8克", "这是一次的用量"),
    ("300棵要多少肥", "每株每年施复合肥600克", "这是一年的用量"),
    ("十三亩半要几袋", "每亩用药40克", "每袋净重多少没有说，袋数＝总量÷每袋净重"),
    ("5亩要多少公斤纯氮", "每亩施纯氮10公斤", "这是纯量（有效成分或纯养分），不是商品的重量"),
    ("一包20克要兑多少水", "1500倍液", "水1升按1公斤算，药按重量配"),
])
def test_what_was_assumed_is_said(table, question, text, note):
    calculation = computed(table, question, text)
    assert calculation is not None and calculation.note == note


@pytest.mark.parametrize(("question", "text"), [
    ("7亩玉米打几瓶药，一瓶100毫升", "每亩30克"),  # grams are no millilitres
    ("3亩要多少药", "每亩施尿素5公斤、复合肥20公斤"),  # which of the two?
    ("3亩要多少药", "第一次每亩5公斤，第二次每亩8公斤"),
    ("15升水加多少药", "预防用800倍液，治疗用500倍液"),
    ("3亩要多少尿素", "每亩纯氮10公斤"),  # pure nitrogen is no urea
    ("3亩要多少公斤纯氮", "每亩施尿素10公斤"),
    ("3亩要多少药", "每亩兑水45公斤"),  # water is no product
    ("3亩要多少肥", "亩产500公斤"),
    ("3亩要多少肥", "每亩超过500公斤会伤土"),  # a condition
    ("3亩要多少肥", "每株施50克"),
    ("300棵要多少肥", "每亩施10公斤"),
    ("15升水加多少药", "每亩用药20克"),
    ("3亩要多少药", "1000倍液"),
    ("5亩地要几桶水，一桶15升", "每亩用药20克"),
    ("3亩要多少药", "用量（毫升或克/亩）：20"),
    ("3亩要多少药", "叶子发黄"),
    ("3亩要多少药", ""),
    ("每公顷30公斤，一亩合多少", "每亩30公斤"),
    ("3亩要多少斤种子", "每亩施尿素10公斤"),  # a fertiliser is no seed
    ("3亩要多少公斤石灰", "每亩施尿素10公斤"),
    ("3亩打药要多少", "每亩施复合肥10公斤"),
    ("3亩要多少石灰", "石灰用量（公斤/亩）：50（收益最好）；150（产量最高）；出处：试验"),  # two in one cell
    ("3亩要多少肥", "总产38万吨，折合每亩约508公斤"),
    ("3亩要多少肥", "每亩吸收10公斤"),
    ("3亩要多少肥", "按每亩折算，58公斤即可"),
    ("3亩要多少药", "每亩3%颗粒剂拌细土50公斤"),
    ("3亩要多少尿素", "每株100克氮"),
    ("3亩要多少肥", "N（公斤/亩）：10；K₂O（公斤/亩）：5"),
    ("15升水加多少药", "两者相差十倍"),
    ("15升水加多少药", "不低于1000倍"),
    ("10亩要多少株苗", "密植到每公顷3333株时通风差"),
    ("10亩要多少株苗", "每亩（株）：74；每公顷（株）：2000"),
    ("5亩地要多少肥", "每亩喷45升时，15升桶加4.7克"),
    ("3亩要多少尿素", "药剂：40%多菌灵胶悬剂；每亩用量：100克"),
    ("3亩要多少肥", "药剂：40%某药悬浮剂；每亩用量：100克"),
    ("3亩要几袋药，每袋200克", "石灰每亩50～150公斤，菜地一次不超过200公斤"),
    ("3亩要几袋药，每袋200克", "每亩施250公斤"),  # 1250 packages for a mu
    ("3亩要多少肥", "两份资料都把每亩500公斤以上列为过量"),
    ("3亩要多少药", "菊酯类只查到每亩25毫升而没有写含量，不能照用"),
    ("3亩要多少尿素", "算例把每亩需氮5公斤算成每亩尿素22公斤，这个数字是错的"),
    ("3亩要多少药", "5%啶虫脒乳油每亩，某市植保站为20毫升，某县为40毫升"),
    ("300棵树要多少肥", "每株60～80升/小时"),
    ("15升喷雾器加多少药", "稀释倍数（倍）：2000；15升水加药量（克或毫升）：7.5"),
    (SPRAYER, "用药1000倍液"),  # the question names another dilution
    ("13亩打药要兑多少水", "每公顷最多要50000立方米"),
    (NUTRIENT.replace("纯氮", "氧化钾"), "每株施尿素80克"),
])
def test_without_one_fitting_figure_nothing_is_guessed(table, question, text):
    assert computed(table, question, text) is None


def test_the_subject_chooses_among_figures_for_several_products(table):
    text = "每亩施尿素5公斤、复合肥20公斤"
    assert computed(table, "3亩要多少肥", text, "尿素").result == "15公斤"
    assert computed(table, "3亩要多少肥", text, "复合肥").result == "60公斤"
    assert computed(table, "3亩要多少肥", text, "石灰") is None


@pytest.mark.parametrize("question", [
    "我家3亩咖啡叶子黄了怎么办", "我家3亩咖啡，每亩用多少克", "每亩用多少克", "一亩用多少毫升", "每株施多少克尿素", "一亩地用几袋",
    "3亩地能收多少公斤", "3亩地打药几天一次", "我家5亩地要多少钱", "三亩多地要几袋", "5亩地打三次药要多少", "5亩玉米和3亩水稻要多少药",
    "三分之一的叶子黄了，用多少药", "1000倍液是多少", "几亩地要打药", "水稻亩产多少公斤", "叶锈病用什么药", "间隔几天打一次",
    "一桶水加多少药", "种咖啡海拔多少米", "5亩地补贴多少", "百分之三十的病株要打药吗", "", "多少", "一亩合多少平方米",
    "0亩地要多少药", "一桶15升的波尔多液，两样各称多少克", "十来亩要多少药",
])
def test_a_question_for_a_dose_a_time_or_help_is_no_sum(table, question):
    assert calculation_asked(question, table) is None


@pytest.mark.parametrize(("question", "wanted"), [
    ("十三亩半要几袋，每袋200克", "packages"), ("2公顷要多少公斤尿素", "amount"), ("一桶水15公斤加多少药", "amount"),
    ("一瓶100毫升兑多少水", "water"), ("5亩地打几桶水，一桶15升", "water"), ("一瓶100毫升够打几亩", "area"), ("10亩要多少株苗", "plants"),
    ("每公顷30公斤合一亩多少", "per_mu"), ("每亩2公斤，折每公顷多少", "per_hm2"),
])
def test_what_is_wanted_is_recognised(table, question, wanted):
    task = calculation_asked(question, table)
    assert task is not None and task.wanted == wanted


def number_in(result):
    return Fraction(result.rstrip("公斤克每亩顷升毫"). removeprefix("每亩").removeprefix("每公顷"))


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 500), st.integers(2, 500), st.integers(1, 400))
def test_the_sum_is_linear_in_the_area_and_in_the_dose(table, first, second, dose):
    def total(area, amount):
        return number_in(computed(table, f"{area}亩要多少公斤尿素", f"每亩施尿素{amount}公斤").result)

    assert total(first, dose) + total(second, dose) == total(first + second, dose)
    assert total(first, dose) * 2 == total(first, 2 * dose)
    assert total(first, dose) == first * dose


@settings(deadline=None, max_examples=60)
@given(st.decimals("0.02", 900, places=2))
def test_per_hectare_and_back_to_per_mu_is_the_same_dose(table, dose):
    per_hectare = computed(table, f"每亩{dose}公斤，一公顷合多少公斤", f"每亩{dose}公斤").result
    back = computed(table, f"{per_hectare}，一亩合多少公斤", per_hectare).result
    assert number_in(back.removeprefix("每亩")) == Fraction(str(dose))


@settings(deadline=None, max_examples=60)
@given(st.integers(5, 60), st.integers(10, 3000))
def test_water_over_dilution_and_back_gives_the_water(table, water, times):
    (figure,) = figures(f"{times}倍液", counted(table))
    assert (figure.low, figure.high) == (times, times)
    product = computed(table, f"{water}升水加多少毫升药", f"{times}倍液").result
    exact_product = Fraction(water * 1000, times)
    assert abs(number_in(product) - exact_product) <= max(exact_product / 20, Fraction(1, 200))


@settings(deadline=None)
@given(st.text(st.sampled_from("0123456789一二三十百半亩公顷升斤克毫袋瓶桶株棵水倍液每多少几够兑合，。？～%（）：；不超过 纯氮"),
               max_size=40))
def test_no_question_and_no_text_breaks_the_sum(table, text):
    for question in (text, "13.5亩要多少药", "15升水加多少药", "每公顷合一亩多少"):
        task = calculation_asked(question, table)
        if task is not None:
            calculation = calculate(task, text, table)
            assert calculation is None or calculation.uses in text


def test_a_float_in_the_text_leaves_no_noise(table):
    assert exact(0.1) * 3 == Fraction(3, 10)
    assert computed(table, "3亩要多少公斤", "每亩0.1公斤").result == "0.3公斤"
