"""The trust line: what a source says of itself, and when it may not fit the question."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from answer_world import make_candidate
from conftest import ROOT

from nongda.answer.cite import resolve
from nongda.answer.evidence import ScoredEvidence, split_evidence
from nongda.answer.place_and_stage import Circumstances, Fitting, fit_note, stage_is_held
from nongda.answer.trust import trusted
from nongda.answer.understand import understand
from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.records import Candidate, Citation, DocumentMeta
from nongda.settings import AnswerSettings

TODAY = date(2026, 6, 15)
META = DocumentMeta(title="咖啡施肥", region="云南省普洱市、保山市", date="2025-03", stage="投产期", authority="某州农科所")


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.load(ROOT / "assets" / "domain")


@pytest.fixture(scope="module")
def fitting() -> Fitting:
    return Fitting.load(ROOT / "assets" / "domain")


@pytest.fixture(scope="module")
def cite(lexicon: Lexicon, fitting: Fitting):
    def cited(question: str, text: str = "每株施复合肥100克。", meta: DocumentMeta = META,
              heading: tuple[str, ...] = ()) -> Citation:
        made = make_candidate(lexicon, text, heading=heading)
        found = Candidate(made.chunk, replace(made.document, meta=meta), 1.0)
        query = understand(question, (), lexicon, AnswerSettings())
        return trusted(resolve(split_evidence(found)[0], found), query, found, TODAY, lexicon, fitting)

    return cited


def test_a_citation_carries_what_its_source_says_of_itself(cite):
    citation = cite("咖啡投产树施多少肥")
    assert (citation.authority, citation.region, citation.date, citation.stage) == (
        "某州农科所", "云南省普洱市、保山市", "2025-03", "投产期")
    assert citation.remark == ""


@pytest.mark.parametrize("question", ["保山的咖啡施多少肥", "云南咖啡施多少肥", "隆阳区咖啡施多少肥", "潞江坝的咖啡施多少肥",
                                      "滇西南咖啡施多少肥", "西南地区咖啡施多少肥", "咖啡施多少肥"])
def test_a_place_that_contains_the_source_s_or_lies_in_it_fits(cite, question: str):
    assert cite(question).remark == ""


@pytest.mark.parametrize(("question", "named"), [
    ("海南咖啡施多少肥", "您问的是海南，这里讲的是云南、普洱、保山"), ("临沧的咖啡施多少肥", ""), ("越南的咖啡施多少肥", "您问的是越南"),
])
def test_another_place_is_remarked_unless_the_region_holds_it(cite, question: str, named: str):
    remark = cite(question).remark
    assert remark.startswith(named) and bool(remark) == bool(named)


def test_the_place_in_the_sentence_weighs_more_than_the_document_s_region(cite):
    assert cite("保山的咖啡施多少肥", "印度产区每株施100克。").remark == "您问的是保山，这里讲的是印度。"
    assert cite("保山的咖啡施多少肥", "保山每株施100克，印度施80克。").remark == ""
    assert cite("保山的咖啡施多少肥", heading=("海南的做法",)).remark == "您问的是保山，这里讲的是海南。"


@pytest.mark.parametrize("region", ["全国（县级农技站咨询用）", "各地通用", "", "黄河流域棉区、云南", "西南麦区（含云南）", "南方稻区"])
def test_a_source_for_the_whole_country_or_a_wide_region_fits_each_place_in_it(cite, region: str):
    assert cite("普洱的水稻施多少肥", meta=replace(META, region=region)).remark == ""


def test_the_whole_country_is_not_abroad(cite):
    assert "您问的是越南" in cite("越南咖啡施多少肥", meta=replace(META, region="全国咖啡产区")).remark


def test_a_direction_and_an_institute_are_no_places(lexicon: Lexicon, fitting: Fitting):
    assert fitting.places_in("茶园开在西南坡，不要开在西北面", lexicon) == ()
    assert fitting.places_in("云南农业大学和海南省热带植物研究所的试验", lexicon) == ()
    assert fitting.places_in("西南和东北的玉米", lexicon) == ("西南地区", "东北")
    assert fitting.places_in("印度尼西亚和云南省", lexicon) == ("印度尼西亚", "云南")


def test_another_growth_stage_is_remarked(cite):
    assert cite("咖啡苗期施多少肥").remark == "您问的是苗期，这里讲的是投产期。"
    assert cite("咖啡盛果期施多少肥").remark == ""  # a part of 投产期
    assert cite("咖啡苗期施多少肥", "苗期每株施10克。").remark == ""
    assert cite("咖啡投产期施多少肥", heading=("幼龄期施肥",)).remark == "您问的是投产期，这里讲的是幼龄期。"


@pytest.mark.parametrize("stage", ["全年", "全生育期（投产期为重点）", "幼龄期至投产期", "播种期～采收期", ""])
def test_a_source_for_a_span_of_stages_fits_each(cite, stage: str):
    assert cite("咖啡苗期施多少肥", meta=replace(META, stage=stage)).remark == ""


@pytest.mark.parametrize("question", ["雨季咖啡施多少肥", "发病初期打什么药", "安全间隔期是几天"])
def test_seasons_and_the_stages_of_a_disease_are_not_compared_with_those_of_the_crop(cite, question: str):
    assert cite(question).remark == ""


@pytest.mark.parametrize(("written", "remark"), [
    ("2018-06-15", ""), ("2018-06-14", "资料日期 2018-06-14，已超过 8 年。"), ("2018", ""), ("2017年", "资料日期 2017年，已超过 8 年。"),
    ("2026-06", ""), ("2026-07", "资料日期 2026-07 晚于今天。"), ("2026年6月16日", "资料日期 2026年6月16日 晚于今天。"), ("不详", ""),
])
def test_an_old_source_and_one_from_the_future_are_remarked(cite, written: str, remark: str):
    assert cite("咖啡施多少肥", meta=replace(META, date=written)).remark == remark


def test_the_header_of_a_row_says_for_where_and_for_which_stage_it_is(lexicon: Lexicon, fitting: Fitting):
    made = make_candidate(lexicon, "| 项目 | 印度的用量 |\n|---|---|\n| 复合肥 | 80克 |", kind="table")
    found = Candidate(made.chunk, replace(made.document, meta=META), 1.0)
    citation = resolve(split_evidence(found)[0], found)
    for question, remark in (("印度咖啡施多少肥", ""), ("保山咖啡施多少肥", "您问的是保山，这里讲的是印度。")):
        query = understand(question, (), lexicon, AnswerSettings())
        assert trusted(citation, query, found, TODAY, lexicon, fitting).remark == remark


def test_a_source_without_authority_and_a_sample_are_remarked_together_with_the_rest(cite):
    citation = cite("海南咖啡施多少肥", meta=replace(META, authority="", sample=True, date="2010"))
    assert citation.remark == (
        "您问的是海南，这里讲的是云南、普洱、保山；资料日期 2010，已超过 8 年；资料没有写明来源单位；示例资料，未经植保专家审核。")


def test_every_place_of_the_lexicon_has_its_place(lexicon: Lexicon, fitting: Fitting):
    lines = (ROOT / "assets" / "domain" / "lexicon.tsv").read_text(encoding="utf-8").splitlines()
    for place in (line.split("\t")[0] for line in lines if line.split("\t")[1] == "place"):
        assert fitting.places_in(place, lexicon), place


def test_every_stage_of_the_table_is_a_stage_of_the_lexicon(lexicon: Lexicon, fitting: Fitting):
    for stage in {*fitting.stages, *fitting.no_stages}.union(*fitting.stages.values()):
        assert [(e.term, e.kind) for e in lexicon.entities(stage)] == [(stage, "stage")]


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(SettingsError, match="places.toml"):
        Fitting.load(tmp_path)


@pytest.fixture(scope="module")
def asked(lexicon: Lexicon):
    return lambda question: understand(question, (), lexicon, AnswerSettings())


def passage(lexicon: Lexicon, text: str, heading: tuple[str, ...] = (), title: str = "小麦赤霉病", **meta: str) -> Candidate:
    return make_candidate(lexicon, text, heading=heading, title=title, **meta)


def quote(candidate: Candidate) -> ScoredEvidence:
    return ScoredEvidence(split_evidence(candidate)[0], candidate, frozenset(), np.zeros(1, np.float32), 0.0)


@pytest.mark.parametrize(("text", "stages"), [
    ("拔节期能打戊唑醇吗", ("拔节期",)), ("小麦拔节能打戊唑醇吗", ("拔节期",)), ("正拔节下雨了", ("拔节期",)),
    ("抽穗的时候打什么药", ("抽穗期",)),
    ("稻子打苞了施什么肥", ("孕穗期",)), ("出穗了还能打药吗", ("抽穗期",)), ("小麦正扬花下雨咋办", ("扬花期",)),
    ("灌浆时要浇水吗", ("灌浆期",)),
    ("定植时浇多少水", ("定植期",)), ("咖啡采果后施什么肥", ("采果后",)), ("秧苗三叶一心打什么", ("三叶期",)),
    ("分蘖末期病丛率", ("分蘖期",)),
    ("小麦什么时候拔节", ()), ("几月抽穗", ()), ("多久才抽穗", ()), ("苞谷还没出天花", ()), ("不抽穗怎么回事", ()),
    ("拔节前打药行吗", ()),
    ("咖啡从开花到采收要几个月", ()), ("开花少是什么原因", ()), ("播种深度多少", ()), ("移栽后几天浇水", ()), ("安全间隔期几天", ()),
])
def test_a_stage_is_read_from_what_the_crop_does_now_and_not_from_what_is_asked(lexicon, fitting, text: str, stages):
    assert fitting.stages_in(text, lexicon) == stages


def fit(query, found, lexicon, fitting) -> float:
    """How far a passage's own words are for what a question names."""
    return Circumstances.of(query, lexicon, fitting).fit(found.chunk.text, found, lexicon, fitting)


@pytest.mark.parametrize(("question", "expected"), [
    ("咖啡怎么施肥", 0.0), ("普洱怎么施肥", 1.0), ("云南怎么施肥", 1.0), ("巴西怎么施肥", -1.0), ("采收期怎么施肥", 1.0),
    ("苗期怎么施肥", -1.0),
    ("普洱苗期怎么施肥", 0.0), ("巴西苗期怎么施肥", -1.0), ("普洱采果期怎么施肥", 1.0),
])
def test_a_passage_fits_by_place_and_stage(lexicon, fitting, asked, question: str, expected: float):
    found = passage(lexicon, "每株施复合肥100克。", title="咖啡施肥", region="云南省普洱市", stage="投产期")
    assert fit(asked(question), found, lexicon, fitting) == expected


def test_the_passage_s_own_words_go_before_its_document_and_unknown_is_neither(lexicon, fitting, asked):
    found = passage(lexicon, "巴西的试验每株施100克。", title="咖啡施肥", region="云南省普洱市")
    assert fit(asked("巴西怎么施肥"), found, lexicon, fitting) == 1.0
    assert fit(asked("普洱怎么施肥"), passage(lexicon, "每株施100克。", title="施肥"), lexicon, fitting) == 0.0
    span = passage(lexicon, "每株施100克。", title="施肥", stage="苗期至蕾期")
    assert fit(asked("灌浆期怎么施肥"), span, lexicon, fitting) == 0.0


def test_evidence_for_another_stage_alone_warns_and_names_both(lexicon, fitting, asked):
    other = quote(passage(lexicon, "小麦扬花期每亩用43%戊唑醇悬浮剂20毫升。"))
    note = fit_note(asked("小麦拔节期能打戊唑醇吗"), [other], lexicon, fitting)
    assert note is not None and note.kind == "trust"
    assert "您问的是拔节期，这里讲的是扬花期" in note.text
    under = quote(passage(lexicon, "每亩用43%戊唑醇悬浮剂20毫升。", heading=("扬花期用药",)))
    assert fit_note(asked("小麦拔节期能打戊唑醇吗"), [other, under], lexicon, fitting) is not None


def test_one_quote_that_fits_or_says_nothing_of_it_is_enough_for_no_warning(lexicon, fitting, asked):
    question = asked("小麦拔节期能打戊唑醇吗")
    other = quote(passage(lexicon, "小麦扬花期每亩用43%戊唑醇悬浮剂20毫升。"))
    dose = "每亩用43%戊唑醇悬浮剂20毫升。"
    for text in (f"拔节期{dose}", dose, "返青期至扬花期都能用戊唑醇。", "拔节期和扬花期都能用戊唑醇。"):
        assert fit_note(question, [other, quote(passage(lexicon, text))], lexicon, fitting) is None, text
    assert fit_note(asked("小麦能打戊唑醇吗"), [other], lexicon, fitting) is None
    assert fit_note(question, [], lexicon, fitting) is None


def test_another_place_and_another_stage_are_named_together(lexicon, fitting, asked):
    other = quote(passage(lexicon, "河南的小麦扬花期每亩用43%戊唑醇悬浮剂20毫升。"))
    note = fit_note(asked("云南小麦拔节期能打戊唑醇吗"), [other], lexicon, fitting)
    assert "云南" in note.text and "河南" in note.text and "拔节期" in note.text and "扬花期" in note.text


def test_a_stage_is_held_where_a_quote_its_heading_or_its_document_names_it(lexicon, fitting, asked):
    question, dose = asked("小麦拔节期能打戊唑醇吗"), "每亩用43%戊唑醇悬浮剂20毫升。"
    held = [passage(lexicon, f"拔节期{dose}"), passage(lexicon, dose, heading=("拔节期用药",)),
            passage(lexicon, dose, stage="返青期至拔节期")]
    for one in held:
        assert stage_is_held(question, [quote(passage(lexicon, dose)), quote(one)], lexicon, fitting)
    assert not stage_is_held(question, [quote(passage(lexicon, dose)), quote(passage(lexicon, f"扬花期{dose}"))], lexicon, fitting)
    assert not stage_is_held(question, [], lexicon, fitting)
    assert stage_is_held(asked("小麦能打戊唑醇吗"), [], lexicon, fitting)


@pytest.mark.parametrize(("until", "over"), [
    ("2026-06-14", True), ("2026-06-15", False), ("2026-06", False), ("2026-05", True), ("2026", False), ("2025", True),
    ("", False), ("长期有效", False)])
def test_a_source_whose_validity_is_over_is_remarked(cite, until: str, over: bool):
    remark = cite("咖啡施多少肥", meta=replace(META, valid_until=until)).remark
    assert ("已经过期" in remark) is over
    assert (until in remark) is over or not until


@pytest.mark.parametrize(("confidence", "remarked"), [(1.0, False), (0.9, False), (0.89, True), (0.5, True)])
def test_what_recognition_read_badly_is_to_be_checked_on_the_picture(lexicon, fitting, confidence: float, remarked: bool):
    made = make_candidate(lexicon, "每株施复合肥100克。")
    found = Candidate(replace(made.chunk, confidence=confidence), replace(made.document, meta=META), 1.0)
    query = understand("咖啡施多少肥", (), lexicon, AnswerSettings())
    remark = trusted(resolve(split_evidence(found)[0], found), query, found, TODAY, lexicon, fitting).remark
    assert ("对照原图" in remark) is remarked
