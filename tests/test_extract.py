"""Facts of passages, by rules over the shipped domain: each value computed by hand from the text."""

import math

import pytest
from conftest import ROOT

from nongda.answer.evidence import split_evidence
from nongda.documents.chunk import chunk_blocks
from nongda.documents.clean import clean
from nongda.documents.parse import parse_bytes
from nongda.documents.pieces import header_above
from nongda.index.attributes import Attributes
from nongda.index.extract import FactExtractor
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Chunk, DocumentMeta, StoredDocument
from nongda.settings import ChunkSettings

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def extractor():
    return FactExtractor(Lexicon.load(DOMAIN), Attributes.load(DOMAIN))


def chunk(text, heading=(), kind="paragraph", number=0):
    return Chunk(f"d#{number}", "d", number, text, text, kind, None, heading)


@pytest.fixture(scope="module")
def read(extractor):
    def facts(text, heading=(), title="", kind="paragraph"):
        return extractor.facts_of(chunk(text, heading, kind), DocumentMeta(title=title))

    return facts


def only(found, attribute):
    return [f for f in found if f.attribute == attribute]


def one(found, attribute):
    fact, = only(found, attribute)
    return fact


def table(*rows):
    return "\n".join([f"| {' | '.join(rows[0])} |", "|" + "---|" * len(rows[0]), *(f"| {' | '.join(r)} |" for r in rows[1:])])


# sentences


def test_an_amount_belongs_to_its_product_crop_and_disease(read):
    fact = one(read("小麦纹枯病每亩用25%丙环唑乳油20～30毫升喷雾。"), "dose")
    assert (fact.subject, fact.kind, fact.crop, fact.target) == ("丙环唑", "product", "小麦", "纹枯病")
    assert (fact.value, fact.low, fact.high, fact.unit) == ("20～30毫升", 20, 30, "mL/亩")


def test_what_a_product_holds_is_no_amount(read):
    assert {f.unit for f in read("每亩用25%噻嗪酮可湿性粉剂25克。", title="水稻")} == {"g/亩"}


def test_each_of_two_amounts_belongs_to_its_own_product(read):
    found = only(read("水稻每亩用三环唑20克、稻瘟灵100毫升。"), "dose")
    assert {(f.subject, f.value) for f in found} == {("三环唑", "20克"), ("稻瘟灵", "100毫升")}


def test_an_amount_that_two_products_may_own_is_left_out_unless_each_has_it(read):
    assert only(read("水稻每亩用三环唑或稻瘟灵100克。"), "dose") == []
    both = only(read("水稻每亩用三环唑、稻瘟灵各100克。"), "dose")
    assert {f.subject for f in both} == {"三环唑", "稻瘟灵"}


def test_water_is_no_dose(read):
    found = read("小麦每亩用丙环唑20毫升，兑水30公斤喷雾。")
    assert [f.value for f in only(found, "dose")] == ["20毫升"]
    assert (one(found, "water_volume").low, one(found, "water_volume").unit) == (30, "kg/亩")


def test_a_part_of_a_mixture_without_a_name_owns_nothing(read):
    assert [f for f in read("水稻每亩用戊唑·咪鲜胺锰盐20克。") if f.subject in ("戊唑醇", "咪鲜胺")] == []


@pytest.mark.parametrize("sentence", [
    "三环唑不能每亩用20克。", "旧资料说三环唑每亩用20克。", "有人误传水稻每亩用三环唑20克。", "水稻每亩用三环唑20克吗？",
    "例如水稻每亩用三环唑20克。", "水稻每亩用三环唑20克的说法不可信。",
])
def test_what_is_denied_doubted_supposed_or_asked_gives_no_fact(read, sentence):
    assert only(read(sentence), "dose") == []


@pytest.mark.parametrize(("words", "low", "high"), [
    ("不超过7天", -math.inf, 7), ("至少7天", 7, math.inf), ("7天以上", 7, math.inf), ("7天", 7, 7), ("7～10天", 7, 10),
])
def test_open_ranges_are_infinite_and_their_words_belong_to_the_value(read, words, low, high):
    fact = one(read(f"噻嗪酮在水稻上的安全间隔期{words}。"), "safety_interval")
    assert (fact.value, fact.low, fact.high, fact.unit) == (words, low, high, "天")


def test_an_interval_of_sprayings_is_none_before_the_harvest(read):
    found = read("水稻纹枯病每隔7～10天喷一次，连喷2～3次。")
    assert only(found, "safety_interval") == []
    assert (one(found, "spray_interval").low, one(found, "spray_interval").subject) == (7, "纹枯病")
    assert (one(found, "times").low, one(found, "times").high) == (2, 3)


def test_a_condition_is_verbatim_and_a_ph_is_a_fact_of_its_own(read):
    text = "水稻田pH低于5.5时，每亩施石灰50公斤。"
    found = read(text)
    assert (one(found, "ph").low, one(found, "ph").high) == (-math.inf, 5.5)
    dose = one(found, "dose")
    assert dose.subject == "石灰"
    assert "pH低于5.5" in dose.condition
    assert all(part in text for f in found for part in f.condition.split("；"))


def test_two_sources_that_differ_give_a_fact_each(read):
    found = only(read("三唑酮防治小麦锈病，资料甲为1500倍液，资料乙为1000倍液。"), "dilution")
    assert [f.low for f in found] == [1500, 1000]


def test_the_crop_comes_from_the_sentence_before_the_heading_before_the_title(read):
    sentence = "纹枯病每隔7天喷一次。"
    assert one(read(sentence, title="小麦病害"), "spray_interval").crop == "小麦"
    assert one(read(sentence, ("水稻",), "小麦病害"), "spray_interval").crop == "水稻"
    assert one(read("玉米" + sentence, ("水稻",), "小麦病害"), "spray_interval").crop == "玉米"


def test_a_sentence_on_vegetables_at_large_takes_no_crop_from_the_title(read):
    facts = read("百菌清在蔬菜上的安全间隔期为7天。", title="黄瓜霜霉病")
    assert one(facts, "safety_interval").crop == ""
    assert "蔬菜" in one(facts, "safety_interval").condition.split("；")


def test_a_pest_the_lexicon_does_not_know_is_not_taken_for_that_of_the_heading(read):
    assert only(read("黑翅怪螟的适温为25～28℃。", ("玉米螟",)), "temperature") == []


def test_a_temperature_below_zero_is_negative(read):
    fact = one(read("小粒种咖啡的叶片在-3℃时受冻。"), "temperature")
    assert (fact.low, fact.subject) == (-3, "小粒种咖啡")


def test_pathogen_part_time_and_target_come_from_phrases(read):
    assert one(read("咖啡黑腐病的病原是Koleroga noxia。"), "pathogen").value == "Koleroga noxia"
    assert one(read("水稻纹枯病主要危害叶鞘，其次是叶片。"), "part").value == "叶鞘"
    time = one(read("中粒种咖啡在5—6月雨季初定植最好。"), "time")
    assert (time.subject, time.value, time.crop) == ("定植", "5—6月", "中粒种咖啡")
    used = only(read("稻飞虱的药剂，可选噻嗪酮、吡蚜酮和呋虫胺。"), "target")
    assert {(f.subject, f.target) for f in used} == {("噻嗪酮", "稻飞虱"), ("吡蚜酮", "稻飞虱"), ("呋虫胺", "稻飞虱")}


def test_a_crop_that_is_part_of_an_unknown_pests_name_is_no_crop(read):
    fact = one(read("马铃薯块茎蛾又叫烟草潜叶蛾，翅展14～16毫米。", title="马铃薯贮藏"), "size")
    assert (fact.subject, fact.crop) == ("马铃薯块茎蛾", "马铃薯")


# tables


def test_an_excepted_crop_is_not_the_rows_crop(read):
    text = table(("药剂", "安全间隔期（天）"), ("2.5%高效氯氟氰菊酯乳油（蔬菜通用，小白菜除外）", "7"))
    fact = one(read(text, title="白菜、甘蓝的害虫", kind="table"), "safety_interval")
    assert (fact.crop, fact.condition) == ("", "2.5%高效氯氟氰菊酯乳油（蔬菜通用，小白菜除外）")


def test_a_mixture_of_two_products_gives_neither_its_figure(read):
    text = table(("药剂", "再进入间隔期（小时）"), ("王铜与氢氧化铜混剂（芦笋）", "48"), ("硫磺、腈菌唑（芦笋）", "24"))
    found = only(read(text, kind="table"), "reentry_interval")
    assert {(f.subject, f.low, f.crop) for f in found} == {("硫磺", 24, "芦笋"), ("腈菌唑", 24, "芦笋")}


def test_amounts_of_pure_nutrients_are_told_by_their_columns(read):
    text = table(("麦区", "氮N（公斤/亩）", "磷P₂O₅（公斤/亩）"), ("长江中下游", "10～15", "4～6"))
    found = only(read(text, title="冬小麦施肥", kind="table"), "dose")
    assert {(f.subject, f.low, f.unit) for f in found} == {("纯氮", 10, "kg/亩"), ("五氧化二磷", 4, "kg/亩")}


def test_a_row_says_what_its_headers_name_with_their_units(read):
    text = table(("作物", "有效成分与剂型", "安全间隔期（天）", "每季最多次数（次）", "资料"),
                 ("水稻", "25%噻嗪酮可湿性粉剂", "14", "2", "清单"), ("水稻", "50%仲丁威乳油", "21", "未列", "清单"))
    found = read(text, kind="table")
    first = found[0]
    assert (first.subject, first.crop, first.low, first.high, first.unit) == ("噻嗪酮", "水稻", 14, 14, "天")
    assert text[first.start : first.end] == "| 水稻 | 25%噻嗪酮可湿性粉剂 | 14 | 2 | 清单 |"
    times = one(found, "times")
    assert (times.subject, times.low, times.high) == ("噻嗪酮", -math.inf, 2)


def test_an_amount_of_a_header_per_mu_and_its_targets(read):
    text = table(("药剂", "对象", "每亩用量（克）"), ("20%腐霉利烟剂", "灰霉病、菌核病", "250～300"))
    found = only(read(text, title="番茄", kind="table"), "dose")
    assert {(f.subject, f.target, f.unit, f.low) for f in found} == {
        ("腐霉利", "灰霉病", "g/亩", 250), ("腐霉利", "菌核病", "g/亩", 250)}
    assert {f.target for f in only(read(text, title="番茄", kind="table"), "target")} == {"灰霉病", "菌核病"}


def test_a_header_with_two_units_gives_no_amount(read):
    text = table(("药剂", "每亩用量（克或毫升）"), ("三环唑", "20"))
    assert only(read(text, title="水稻", kind="table"), "dose") == []


def test_an_acidity_is_a_fact_and_the_condition_of_the_amount_beside_it(read):
    text = table(("土壤pH", "石灰用量（公斤/亩）"), ("4.5～5.0", "50"))
    found = read(text, title="酸性土壤的改良", kind="table")
    assert (one(found, "ph").low, one(found, "ph").high) == (4.5, 5.0)
    dose = one(found, "dose")
    assert (dose.subject, dose.low, dose.unit) == ("石灰", 50, "kg/亩")
    assert "4.5～5.0" in dose.condition


def test_a_table_of_two_things_side_by_side_has_its_attributes_in_the_first_column(read):
    text = table(("项目", "条锈病", "叶锈病"), ("适宜温度（℃）", "5～15", "15～20"), ("病原", "条形柄锈菌", "小麦隐匿柄锈菌"))
    found = read(text, title="小麦锈病", kind="table")
    assert {(f.subject, f.low, f.high) for f in only(found, "temperature")} == {("条锈病", 5, 15), ("叶锈病", 15, 20)}
    assert {(f.subject, f.value) for f in only(found, "pathogen")} == {("条锈病", "条形柄锈菌"), ("叶锈病", "小麦隐匿柄锈菌")}


def test_a_cell_of_two_figures_gives_those_with_words_and_a_bare_pair_none(read):
    two = table(("药剂", "倍数（倍）"), ("三唑酮", "苗期1500；穗期1000"))
    found = only(read(two, kind="table"), "dilution")
    assert [(f.low, f.condition) for f in found] == [(1500, "苗期1500"), (1000, "穗期1000")]
    bare = table(("药剂", "倍数（倍）"), ("三唑酮", "1500；1000"))
    assert only(read(bare, kind="table"), "dilution") == []
    pair = table(("肥料", "含量（%）"), ("磷酸二铵", "18、46"))
    assert only(read(pair, kind="table"), "content") == []


def test_a_minus_in_a_column_of_degrees_is_a_sign(read):
    text = table(("器官", "温度（℃）"), ("叶片", "-3"))
    assert one(read(text, title="小粒种咖啡寒害", kind="table"), "temperature").low == -3


def test_water_in_a_column_of_amounts_stays_water(read):
    text = table(("药剂", "对象", "每亩用量"), ("丙溴磷", "棉铃虫", "40毫升，兑水50公斤"))
    found = read(text, title="棉花", kind="table")
    assert [f.value for f in only(found, "dose")] == ["40毫升"]


def test_examples_of_calculation_give_no_facts(read):
    text = table(("算例（只演示算法）", "每亩喷液量（升/亩）"), ("三环唑", "30"))
    assert read(text, title="水稻", kind="table") == []


def test_a_document_whose_title_names_no_crop_is_about_its_commonest(extractor):
    chunks = [chunk("棉花上的棉铃虫要早治。棉田里棉花长得旺，棉花蕾多。"), chunk("棉铃虫每年发生4代。", number=1)]
    assert {f.crop for f in extractor.facts_of_document(chunks, DocumentMeta(title="棉铃虫"))} == {"棉花"}


# all of it


@pytest.fixture(scope="module")
def corpus(extractor):
    """Every document of the corpus as chunks (windows of fixed length), with its facts."""
    read = []
    for path in sorted((ROOT / "assets" / "corpus").rglob("*.md")):
        document = clean(parse_bytes(path.read_bytes(), path.name))
        drafts = chunk_blocks(document.blocks, ChunkSettings(), None)
        chunks = [Chunk(f"{path.stem}#{i}", path.stem, i, d.text, d.text, d.kind, d.page, d.heading) for i, d in enumerate(drafts)]
        read.append((document.meta, chunks, extractor.facts_of_document(chunks, document.meta)))
    return read


def test_every_fact_of_the_corpus_spans_one_evidence_and_is_verbatim_there(corpus):
    total = 0
    for meta, chunks, found in corpus:
        by_id = {c.id: c for c in chunks}
        document = StoredDocument(meta.title, "", meta, None, 0, 0, "")
        spans = {c.id: {(e.start, e.end) for e in split_evidence(Candidate(c, document, 0.0))} for c in chunks}
        for fact in found:
            text = by_id[fact.chunk_id].text
            assert (fact.start, fact.end) in spans[fact.chunk_id]
            quoted = text[fact.start : fact.end]
            header = "\n".join(header_above(text, fact.start))
            assert fact.value in quoted
            said = (quoted, header, by_id[fact.chunk_id].text, *by_id[fact.chunk_id].heading, meta.title)
            assert all(any(part in s for s in said) for part in fact.condition.split("；"))
            total += 1
    assert total > 1300


def test_facts_of_the_corpus_are_quantities_or_words_and_name_what_they_are_of(corpus, extractor):
    for _, _, found in corpus:
        assert len(set(found)) == len(found)
        for fact in found:
            attribute = extractor.attributes.by_key[fact.attribute]
            assert fact.subject or fact.target
            if attribute.value == "quantity":
                assert fact.low is not None and fact.high is not None
                assert fact.low <= fact.high and math.isfinite(max(fact.low, -fact.high))
                assert fact.unit in attribute.units
            else:
                assert (fact.low, fact.high, fact.unit) == (None, None, "")


def test_a_unit_that_only_the_caption_gives_holds_for_its_columns(read):
    rows = table(("防治对象", "药剂", "用量"), ("稻瘟病", "三环唑", "20"))
    fact = one(read("表1 水稻用药（单位：克/亩）\n" + rows, kind="table"), "dose")
    assert (fact.subject, fact.target, fact.low, fact.high, fact.unit) == ("三环唑", "稻瘟病", 20.0, 20.0, "g/亩")


def test_the_dose_of_one_stage_is_no_condition_of_that_of_another(read):
    rows = table(("防治对象", "药剂", "用量 苗期（克/亩）", "用量 穗期（克/亩）"), ("稻瘟病", "三环唑", "20", "25"))
    first, second = only(read(rows, kind="table"), "dose")
    assert (first.low, second.low) == (20.0, 25.0)
    assert "25" not in first.condition and "20" not in second.condition
    assert "苗期" in first.condition and "穗期" in second.condition
