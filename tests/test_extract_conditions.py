"""What a fact says beside its value must keep a reader from applying it elsewhere; values read by hand from the text."""

import pytest
from conftest import ROOT

from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.language.lexicon import Lexicon
from nongda.records import Chunk, DocumentMeta

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def read():
    extractor = FactExtractor(Lexicon.load(DOMAIN), Attributes.load(DOMAIN))

    def facts(attribute, text, heading=(), title="", kind="paragraph"):
        chunk = Chunk("d#0", "d", 0, text, text, kind, None, heading)
        return [f for f in extractor.facts_of(chunk, DocumentMeta(title=title)) if f.attribute == attribute]

    return facts


def table(*rows):
    return "\n".join([f"| {' | '.join(rows[0])} |", "|" + "---|" * len(rows[0]), *(f"| {' | '.join(r)} |" for r in rows[1:])])


@pytest.mark.parametrize(("attribute", "text", "word"), [
    ("water_volume", "玉米黏虫用飞机喷雾，每亩药液量不少于1.5升。", "飞机"),
    ("dose", "中粒种咖啡第一年每株施复合肥270克。", "第一年"),
    ("threshold", "第三、四代棉铃虫的防治指标是百株幼虫5头。", "第三、四代"),
    ("dilution", "番茄灰霉病用50%异菌脲可湿性粉剂1000倍液喷雾。", "50%异菌脲可湿性粉剂"),
])
def test_machine_year_generation_and_content_stay_with_the_number(read, attribute, text, word):
    fact, = read(attribute, text)
    assert word in fact.condition


def test_a_rainy_years_interval_and_a_dry_ones_are_told_apart(read):
    found = read("spray_interval", "雨水偏多的年份马铃薯早疫病隔7～10天喷一次，雨水少的年份隔10～15天喷一次。")
    assert [(f.low, "雨水偏多" in f.condition, "雨水少" in f.condition) for f in found] == [
        (7, True, False), (10, False, True)]


def test_a_temperature_needs_a_word_for_what_it_does(read):
    assert read("temperature", "4.5℃来自国内同一份资料。", title="咖啡的气象") == []
    fact, = read("temperature", "咖啡叶片在-3℃时受冻。", title="咖啡的气象")
    assert "受冻" in fact.condition


def test_what_a_temperature_of_a_table_does_is_its_condition(read):
    text = table(("气温（℃）", "小粒种咖啡的反应"), ("10以下", "生长减慢，花可能败育"))
    fact, = read("temperature", text, title="小粒种咖啡寒害", kind="table")
    assert "生长减慢" in fact.condition


def test_a_date_is_no_interval(read):
    assert read("spray_interval", "棉铃虫在5月20—25日打第一次药，隔5月20—25日再喷一次。") == []


def test_a_target_is_quoted_from_the_sentence_or_left_out(read):
    assert read("target", "叶面喷雾可选吡虫啉、啶虫脒。", ("棉蚜",), "棉花") == []
    assert {f.value for f in read("target", "棉蚜可选吡虫啉、啶虫脒。")} == {"棉蚜"}


def test_a_place_named_in_a_regulation_has_not_that_climate(read):
    assert read("climate", "普洱的规程要求年平均气温19～21℃。") == []


def test_half_of_a_range_is_no_range(read):
    assert read("temperature", "小粒种咖啡受寒害的气温在15℃以下、4.5℃以上。") == []


def test_a_crop_in_a_comparison_is_no_crop(read):
    text = table(("病害", "症状"), ("黄萎病", "脉间黄斑，像西瓜皮花斑"))
    fact, = read("symptom", text, title="棉花病害", kind="table")
    assert fact.crop == "棉花"


def test_the_end_of_a_longer_unknown_name_owns_nothing_in_a_label(read):
    text = table(("病害", "长度"), ("某某菌叶斑病", "0.1～0.5厘米"))
    assert read("size", text, title="玉米", kind="table") == []


def test_columns_with_one_header_are_told_apart_by_their_left_neighbour(read):
    text = table(("质地", "必须施的pH", "氧化钙用量（公斤/亩）", "宜施的pH", "氧化钙用量（公斤/亩）"),
                 ("砂土", "4.0以下", "200", "4.6～5.0", "67"))
    found = {f.low: f.condition for f in read("dose", text, kind="table")}
    assert "4.6～5.0" in found[67] and "4.0以下" in found[200]


def test_a_bare_header_takes_what_it_is_of_from_the_heading(read):
    text = table(("作物", "时间"), ("黄瓜", "16～24小时"))
    fact, = read("duration", text, ("催芽",), kind="table")
    assert "催芽" in fact.condition


def test_rows_alike_but_for_their_value_are_told_apart_by_another_column_or_left_out(read):
    rows = table(("稻别", "目标产量（公斤/亩）", "基肥（公斤/亩）"), ("双季早稻", "400～450", "30～35"), ("双季早稻", "450～500", "35～40"))
    found = read("dose", rows, heading=("湖北方案的基肥用量",), title="水稻施肥", kind="table")
    assert [(f.low, f.condition) for f in found] == [
        (30, "双季早稻；湖北方案的基肥用量；目标产量；400～450"), (35, "双季早稻；湖北方案的基肥用量；目标产量；450～500")]
    alike = table(("作物", "播种深度（厘米）"), ("玉米", "3"), ("玉米", "5"))
    assert read("depth", alike, kind="table") == []


def test_a_table_of_risks_has_the_disease_as_its_target(read):
    rows = table(("土壤pH", "疮痂病风险"), ("5.0～5.2", "很少发生"), ("5.2～5.5", "开始有发生"))
    found = read("ph", rows, heading=("马铃薯疮痂病",), title="马铃薯", kind="table")
    assert {(f.low, f.target, f.condition.split("；")[-1]) for f in found} <= {
        (5.0, "疮痂病", "很少发生"), (5.2, "疮痂病", "开始有发生")}


@pytest.mark.parametrize(("attribute", "text"), [
    ("duration", "黄瓜闷棚前一天浇足一次水。"),
    ("dilution", "22公斤尿素含氮10公斤，多用了一倍。"),
    ("temperature", "马铃薯块茎蛾：一份国外资料把种薯在14～16℃放3周。"),
    ("humidity", "马铃薯收获时土壤湿度60%～65%。"),
    ("pit", "小粒种咖啡每个地块挖一个深1米的土坑，观察土层厚度。"),
])
def test_what_only_looks_like_the_attribute_is_left_out(read, attribute, text):
    assert read(attribute, text) == []


def test_a_life_stage_and_the_clauses_own_month_limit_a_number(read):
    size, = read("size", "棉铃虫的卵是半球形，宽约0.46毫米。")
    assert "卵" in size.condition
    doses = read("dose", "棉花初花期每亩追尿素15～20公斤，8月初每亩再追尿素5公斤。")
    assert [("8月初" in f.condition, "初花期" in f.condition) for f in doses] == [(False, True), (True, False)]


def test_a_pest_only_found_beside_the_first_is_no_target(read):
    rows = table(("药剂", "每亩用量", "来源与对象"), ("30%丙环唑", "25毫升", "千阳县，条锈病与蚜虫、红蜘蛛混发"))
    assert {f.target for f in read("dose", rows, title="小麦", kind="table")} == {"条锈病"}
