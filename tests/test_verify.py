import pytest
from answer_world import make_candidate
from conftest import ROOT, HashEmbedder
from hypothesis import given
from hypothesis import strategies as st

from nongda.answer.cite import marker, references, resolve, supports
from nongda.answer.compress import score_evidence
from nongda.answer.evidence import split_evidence
from nongda.answer.understand import understand
from nongda.answer.verify import LIST_MARK, failures, grounded, quoted, unsupported
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units
from nongda.settings import AnswerSettings

DOMAIN = ROOT / "assets" / "domain"

TEXT = "咖啡叶锈病发病初期喷0.5%～1%波尔多液，每隔10天喷一次，连喷3次。"


def supported_by(lexicon, embedder, text, **options):
    candidate = make_candidate(lexicon, text, **options)
    query = understand("叶锈病", [], lexicon, AnswerSettings())
    return score_evidence(query, [candidate], embedder, lexicon)[0]


@pytest.mark.parametrize("sentence", [
    "喷０．５％～１％波尔多液。", "每隔10天喷一次。", "每隔十天一次。", "连喷三次，用0.5%至1%的波尔多液。",
])
def test_what_the_evidence_says_in_any_writing_passes(lexicon, embedder, sentence):
    assert unsupported(sentence, supported_by(lexicon, embedder, TEXT), lexicon) == []


@pytest.mark.parametrize(("sentence", "wrong"), [
    ("喷2%波尔多液。", ["2%"]),
    ("喷0.5%波尔多液。", ["0.5%"]),  # one end of the evidence's range is another claim
    ("每隔7天喷一次。", ["7天"]),
    ("每隔10克喷一次。", ["10克"]),
    ("喷三唑酮0.5%～1%。", ["三唑酮"]),
    ("水稻每隔10天喷一次。", ["水稻"]),
    ("炭疽病连喷3次。", ["炭疽病"]),
])
def test_other_numbers_units_and_names_are_named(lexicon, embedder, sentence, wrong):
    assert unsupported(sentence, supported_by(lexicon, embedder, TEXT), lexicon) == wrong


@given(st.integers(min_value=0, max_value=100_000))
def test_no_number_of_days_but_the_evidence_s_own_passes(lexicon, number):
    wrong = unsupported(f"每隔{number}天喷一次。", supported_by(lexicon, HashEmbedder(), TEXT), lexicon)
    assert (wrong == []) == (number == 10)


def test_a_table_row_is_checked_with_the_unit_of_its_header(lexicon, embedder):
    table = "| 树龄 | 尿素（克/株） |\n| --- | --- |\n| 2年 | 100克 |"
    best = supported_by(lexicon, embedder, table, kind="table")
    assert unsupported("尿素100克。", best, lexicon) == []
    assert unsupported("尿素200克。", best, lexicon) == ["200克"]


def test_the_sentence_that_says_it_supports_best(lexicon, embedder):
    candidates = [make_candidate(lexicon, "采收红果。叶锈病喷波尔多液。", "aaaaaaaa#4")]
    query = understand("叶锈病", [], lexicon, AnswerSettings())
    evidence = score_evidence(query, candidates, embedder, lexicon)
    sentence = "叶锈病要喷波尔多液"
    found = supports(frozenset(lexicon.tokens(sentence)), embedder.embed_queries([sentence])[0], evidence)
    assert [s.scored.evidence.text for s in found] == ["叶锈病喷波尔多液。", "采收红果。"]
    assert all(0 <= s.score <= 1 for s in found)


def test_no_evidence_supports_nothing(embedder):
    assert supports(frozenset({"a"}), embedder.embed_queries(["a"])[0], []) == []


def test_a_sentence_of_words_that_neither_evidence_nor_question_has_is_invention(lexicon, embedder):
    query = understand("叶锈病怎么治", [], lexicon, AnswerSettings())
    evidence = supported_by(lexicon, embedder, TEXT)
    assert grounded(frozenset(lexicon.tokens("叶锈病初期喷波尔多液")), evidence, query)
    assert not grounded(frozenset(lexicon.tokens("使用专门的检测仪器彻底检查树干和根系")), evidence, query)


def test_a_number_of_the_next_sentence_does_not_support_a_claim(lexicon, embedder):
    evidence = supported_by(lexicon, embedder, "咖啡叶锈病喷0.5%波尔多液。每隔10天喷一次。")
    assert unsupported("每隔10天喷一次。", evidence, lexicon) == ["10天", "一次"]


def test_a_citation_resolves_to_place_and_verbatim_words(lexicon):
    candidate = make_candidate(lexicon, TEXT, "aaaaaaaa#4", heading=("防治",))
    citation = resolve(split_evidence(candidate)[0], candidate)
    assert (citation.id, citation.quote, citation.heading) == ("aaaaaaaa#4", TEXT, ("防治",))
    assert marker("aaaaaaaa#4") == "[aaaaaaaa#4]"
    assert references([candidate]) == "参考资料：[aaaaaaaa#4]"


@pytest.mark.parametrize(("text", "kept"), [
    ("3. 清除病叶", "清除病叶"), ("- 2. 清除", "清除"), ("2、清除", "清除"), ("12）清除", "清除"), ("1.5千克尿素", "1.5千克尿素"),
    ("10～20天", "10～20天"), ("2,4-滴", "2,4-滴"), ("3天以后", "3天以后"),
])
def test_a_list_s_number_goes_and_a_quantity_stays(text, kept):
    assert LIST_MARK.sub("", text) == kept


def test_a_quote_ends_as_a_sentence_and_loses_its_list_mark(lexicon, embedder):
    assert quoted(supported_by(lexicon, embedder, "- 清除病叶")) == "清除病叶。"


FALSE = (
    ("三环唑20克，稻瘟灵100毫升", "稻瘟灵20克"),
    ("三环唑20克，稻瘟灵100毫升", "20克稻瘟灵"),
    ("防治稻瘟病，三环唑每亩20克，稻瘟灵每亩100毫升。", "防治稻瘟病每亩用20克。"),
    ("底肥每亩施20公斤，追肥每亩施10公斤。", "追肥每亩施20公斤。"),
    ("底肥每亩施20公斤，追肥每亩施10公斤。", "每亩施20公斤。"),
    ("底肥，每亩施20公斤，追肥，每亩施10公斤。", "底肥每亩施10公斤。"),
    ("苗高20厘米时定苗，行距30厘米。", "苗高30厘米时定苗。"),
    ("每亩用20%三环唑可湿性粉剂75克兑水50公斤。", "每亩用20%三环唑可湿性粉剂50公斤。"),
    ("每亩用20%三环唑可湿性粉剂75克兑水50公斤。", "每亩用75%三环唑可湿性粉剂20克。"),
    ("每亩用20%三环唑可湿性粉剂75克兑水50公斤。", "每亩用三环唑75公斤。"),
    ("用20%三环唑75克或40%稻瘟灵100毫升喷雾。", "用40%三环唑75克喷雾。"),
    ("用20%三环唑75克或40%稻瘟灵100毫升喷雾。", "用20%稻瘟灵100毫升喷雾。"),
    ("不要在中午高温时喷药。", "中午高温时喷药。"),
    ("不要在中午高温时喷药。", "在中午喷药。"),
    ("中午高温时喷药不可取。", "中午高温时喷药。"),
    ("花期严禁喷药。", "花期喷药。"),
    ("花期严禁喷药。", "花期可以喷药。"),
    ("严禁在水源附近配药，冲洗药械。", "冲洗药械。"),
    ("应在播种前7天喷药。", "应在播种后7天喷药。"),
    ("抽穗前10天喷药，灌浆后5天收水。", "抽穗后10天喷药。"),
    ("温度高于30℃时停止浇水。", "温度低于30℃时停止浇水。"),
    ("温度高于30℃时停止浇水。", "温度高于30℃时浇水。"),
    ("每亩用量不超过20公斤。", "每亩用量20公斤。"),
    ("每亩用量不超过20公斤。", "每亩用量不少于20公斤。"),
    ("最适温度20～25℃。", "最适温度20℃。"),
    ("20℃以上要通风。", "20℃以下要通风。"),
    ("隔7～10天喷1次，连喷2～3次。", "隔2～3天喷1次。"),
    ("隔7天喷1次，连喷3次。", "隔3天喷1次，连喷7次。"),
    ("隔7天喷1次，连喷3次。", "隔1天喷7次。"),
    ("分蘖期每亩施尿素5公斤，穗期每亩施尿素8公斤。", "穗期每亩施尿素5公斤。"),
    ("分蘖期每亩施尿素5公斤，穗期8公斤。", "每亩施尿素5公斤。"),
    ("第一次每亩5公斤，第二次每亩8公斤。", "第二次每亩5公斤。"),
    ("第一次每亩施5公斤，第二次每亩施8公斤。", "第一次每亩施8公斤。"),
    ("三环唑防治稻瘟病，井冈霉素防治纹枯病。", "三环唑防治纹枯病。"),
    ("稻瘟病和纹枯病分别用三环唑和井冈霉素防治。", "稻瘟病用井冈霉素防治。"),
    ("病情严重时每亩用三环唑200克。", "每亩用三环唑200克。"),
    ("若叶片发黄，每亩追施尿素5公斤。", "每亩追施尿素5公斤。"),
    ("三环唑对水稻安全，对小麦不安全。", "三环唑对小麦安全。"),
    ("该药对水稻不安全。", "该药对水稻安全。"),
    ("排水不良的地块不宜种咖啡。", "排水良好的地块不宜种咖啡。"),
    ("排水不良的地块不宜种咖啡。", "排水不良的地块种咖啡。"),
    ("雨季增加修剪次数。", "雨季减少修剪次数。"),
    ("每公顷施尿素150公斤。", "每亩施尿素150公斤。"),
    ("每株施尿素100克。", "施尿素100克。"),
    ("每株施尿素100克。", "每亩施尿素100克。"),
    ("收获前14天停止用药。", "收获前14天用药。"),
    ("收获前14天停止用药。", "收获前14天可以用药。"),
    ("可减少用药20%。", "可增加用药20%。"),
    ("每亩用三环唑20克。", "每亩用三环灵20克。"),
    ("每亩用三环唑20克。", "每亩用丰收净20克。"),
    ("每亩用三环唑20克。", "必须每亩用三环唑20克。"),
    ("发病初期用三环唑1000倍液，发病盛期用三环唑500倍液。", "发病盛期用三环唑1000倍液。"),
    ("发病初期用三环唑1000倍液，发病盛期用500倍液。", "发病初期用三环唑500倍液。"),
    ("老叶比新叶先发黄。", "新叶比老叶先发黄。"),
    ("南坡种咖啡，北坡种玉米。", "北坡种咖啡。"),
    ("咖啡苗期遮阴70%，结果期遮阴30%。", "咖啡结果期遮阴70%。"),
    ("浓度由1%降到0.5%。", "浓度由0.5%降到1%。"),
    ("产量由100公斤增加到200公斤。", "产量由200公斤增加到100公斤。"),
    ("三环唑比稻瘟灵便宜20元。", "稻瘟灵比三环唑便宜20元。"),
    ("三环唑效果好于稻瘟灵。", "稻瘟灵效果好于三环唑。"),
    ("水稻田先灌水后施药。", "水稻田先施药后灌水。"),
)
TRUE = (
    ("每隔7～10天喷一次，连喷3次。", "隔7~10天喷1次。"),
    ("每隔7～10天喷一次，连喷3次。", "连喷三次，每隔7至10天喷一次。"),
    ("每亩用20%三环唑可湿性粉剂75克兑水50公斤喷雾。", "用20%三环唑可湿性粉剂，每亩75克，兑水50公斤喷雾。"),
    ("分蘖期每亩施尿素5公斤，穗期每亩施尿素8公斤。", "穗期每亩施尿素8公斤。"),
    ("三环唑防治稻瘟病，井冈霉素防治纹枯病。", "用三环唑防治稻瘟病。"),
    ("咖啡适宜的温度是15～25℃，年降雨量1200～1800毫米。", "咖啡适宜温度为15～25℃。"),
    ("咖啡适宜的温度是15～25℃，年降雨量1200～1800毫米。", "年降雨量应为1200～1800毫米。"),
    ("孢子萌发必须有水，并且要持续6～8小时。", "孢子萌发必须有水，并且持续6～8小时。"),
    ("不要在中午高温时喷药。", "不要在高温时喷药。"),
    ("收获前14天停止用药。", "应在收获前14天停止用药。"),
    ("每亩用尿素4斤。", "每亩用尿素2公斤。"),
    ("用1%～2%的生石灰水浸种24～36小时，洗净再催芽。", "用1%～2%的生石灰水浸种24～36小时，洗净后再催芽。"),
    ("三环唑20克、稻瘟灵100毫升、兑水50公斤。", "稻瘟灵100毫升。"),
    ("叶片背面出现橙黄色粉状孢子堆。", "叶片背面会出现橙黄色的粉状孢子堆。"),
)


@pytest.fixture(scope="module")
def domain():
    return Lexicon.load(DOMAIN), Units.load(DOMAIN / "units.toml", ("units", "counters"))


def failing(domain, evidence, sentence, question="怎么办", **options):
    lexicon, units = domain
    query = understand(question, [], lexicon, AnswerSettings())
    scored = score_evidence(query, [make_candidate(lexicon, evidence, **options)], HashEmbedder(), lexicon)[0]
    return failures(sentence, scored, lexicon, units, query)


@pytest.mark.parametrize(("evidence", "sentence"), FALSE)
def test_what_the_evidence_does_not_say_fails(domain, evidence, sentence):
    assert failing(domain, evidence, sentence, title="防治技术")


@pytest.mark.parametrize(("evidence", "sentence"), TRUE)
def test_what_the_evidence_says_in_other_words_passes(domain, evidence, sentence):
    assert failing(domain, evidence, sentence, title="防治技术") == []


def test_a_name_of_the_passage_s_other_sentence_is_not_this_sentence_s(domain):
    text = "井冈霉素防治纹枯病效果好。三环唑防治稻瘟病效果好。"
    assert "三环唑" in failing(domain, text, "三环唑防治纹枯病效果好。", title="防治技术")[0]


def test_a_name_of_the_title_may_be_said(domain):
    assert failing(domain, "每亩用三环唑20克。", "水稻稻瘟病每亩用三环唑20克。", title="水稻稻瘟病") == []


def test_a_number_without_its_crop_must_be_about_the_crop_that_was_asked(domain):
    assert failing(domain, "水稻每亩施尿素5公斤。", "每亩施尿素5公斤。", "小麦施多少尿素", title="施肥")
    assert failing(domain, "水稻每亩施尿素5公斤。", "每亩施尿素5公斤。", "水稻施多少尿素", title="施肥") == []


def test_a_table_row_s_numbers_belong_to_their_columns(domain):
    table = "| 树龄 | 尿素（克/株） | 硫酸钾（克/株） |\n| --- | --- | --- |\n| 二年生 | 100 | 50 |"
    assert failing(domain, table, "尿素每株100克。", title="施肥", kind="table") == []
    assert failing(domain, table, "尿素每株50克。", title="施肥", kind="table")
    assert failing(domain, table, "硫酸钾每株100克。", title="施肥", kind="table")


def test_a_number_beyond_reason_is_named_even_where_the_document_has_it(domain):
    assert "pH" in failing(domain, "土壤pH值为14。", "土壤pH值为14。")[0]
