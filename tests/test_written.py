import dataclasses
import threading

import pytest
from answer_world import make_candidate
from conftest import ROOT, HashEmbedder, QueuedGenerator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nongda.answer.compress import score_evidence
from nongda.answer.understand import understand
from nongda.answer.verify import quoted
from nongda.answer.written import DROPPED, Writer
from nongda.language.lexicon import Lexicon
from nongda.language.units import Units
from nongda.settings import AnswerSettings

DOMAIN = ROOT / "assets" / "domain"
OPTIONS = AnswerSettings(cite_threshold=0.2)  # low, so that the checks decide and not the likeness


@pytest.fixture(scope="module")
def world():
    return Lexicon.load(DOMAIN), Units.load(DOMAIN / "units.toml", ("units", "counters"))


def written(world, texts, reply, question="怎么办", title="防治技术", options=OPTIONS, kind="paragraph"):
    lexicon, units = world
    query = understand(question, [], lexicon, options)
    candidates = [make_candidate(lexicon, t, f"aaaaaaaa#{i}", title=title, kind=kind) for i, t in enumerate(texts)]
    evidence = score_evidence(query, candidates, HashEmbedder(), lexicon)
    writer = Writer(lexicon, HashEmbedder(), QueuedGenerator(reply), options, "系统", units)
    return list(writer.write(query, [], evidence, threading.Event())), writer.warnings


def test_a_reworded_sentence_comes_out_with_its_evidence(world):
    (checked,), warnings = written(world, ["稻瘟病发病初期，每亩用三环唑20克喷雾。"], "稻瘟病发病初期应用三环唑每亩20克喷雾。")
    assert (checked.how, checked.reason, warnings) == ("written", "", [])
    assert checked.scored.evidence.text == "稻瘟病发病初期，每亩用三环唑20克喷雾。"


def test_a_lie_is_replaced_by_the_document_s_own_words_and_the_reader_is_told(world):
    (checked,), warnings = written(world, ["每亩用三环唑20克喷雾。"], "每亩用三环唑25克喷雾。")
    assert (checked.text, checked.how) == ("每亩用三环唑20克喷雾。", "quoted")
    assert "25克" in checked.reason and "已换成原文" in checked.reason and warnings == [checked.reason]


def test_a_sentence_that_nothing_supports_is_dropped_and_the_reader_is_told(world):
    options = AnswerSettings(cite_threshold=0.7)
    found, warnings = written(world, ["每亩用三环唑20克喷雾。"], "请咨询当地农技人员。", options=options)
    assert found == [] and warnings == [DROPPED]


def test_without_evidence_nothing_is_written(world):
    assert written(world, [], "每亩用三环唑20克喷雾。") == ([], [])


def test_ids_and_list_marks_of_the_model_never_come_out(world):
    reply = "1. 每亩用三环唑20克喷雾[aaaaaaaa#9]。\n根据资料，隔7天再喷【deadbeef#1】。"
    found, _ = written(world, ["每亩用三环唑20克喷雾。", "隔7天再喷。"], reply)
    assert [c.text for c in found] == ["每亩用三环唑20克喷雾。", "隔7天再喷。"]


def test_an_id_inside_a_document_is_not_quoted_as_a_citation(world):
    (checked,), _ = written(world, ["每亩用三环唑20克喷雾[aaaaaaaa#3]。"], "每亩用三环唑30克喷雾。")
    assert checked.how == "quoted" and "#" not in checked.text


def test_a_model_that_repeats_itself_or_refuses_is_ended(world):
    found, _ = written(world, ["每亩用三环唑20克喷雾。", "隔7天再喷。"], "隔7天再喷。" * 3 + "每亩用三环唑20克喷雾。")
    assert [c.text for c in found] == ["隔7天再喷。"]
    assert written(world, ["隔7天再喷。"], "未找到相关信息。隔7天再喷。")[0] == []


def test_the_first_token_is_reported_once(world):
    lexicon, units = world
    query = understand("怎么办", [], lexicon, OPTIONS)
    evidence = score_evidence(query, [make_candidate(lexicon, "隔7天再喷。")], HashEmbedder(), lexicon)
    calls = []
    writer = Writer(lexicon, HashEmbedder(), QueuedGenerator("隔7天再喷。"), OPTIONS, "", units)
    assert list(writer.write(query, [], evidence, threading.Event(), lambda: calls.append(1)))
    assert calls == [1]


def test_a_question_about_another_crop_is_not_answered_by_a_number_that_names_none(world):
    found, _ = written(world, ["水稻每亩用尿素10公斤。"], "每亩用尿素10公斤。", question="小麦每亩用多少尿素")
    assert [c.how for c in found] == ["quoted"]


# A generator that lies: a fact is true when it is one of the document's.

CROPS = ("水稻", "小麦", "玉米", "马铃薯", "棉花", "番茄")
DISEASES = ("稻瘟病", "纹枯病", "白粉病", "晚疫病", "炭疽病", "赤霉病")
PRODUCTS = ("三环唑", "稻瘟灵", "井冈霉素", "三唑酮", "代森锰锌", "吡虫啉")
INVENTED = ("神农灵", "三环灵", "稻瘟唑", "丰收净", "井冈锰锌")
STAGES = ("分蘖期", "抽穗期", "苗期", "成熟期")
UNITS = ("克", "毫升", "公斤")
BASES = ("亩", "公顷", "株")
NUMBERS = st.integers(1, 400)


@dataclasses.dataclass(frozen=True)
class Fact:
    crop: str
    disease: str
    product: str
    dose: int
    unit: str
    base: str
    days: int
    stage: str
    side: str  # 前 or 后
    bound: str
    denied: bool
    strength: int


FACTS = st.builds(
    Fact, st.sampled_from(CROPS), st.sampled_from(DISEASES), st.sampled_from(PRODUCTS), NUMBERS, st.sampled_from(UNITS),
    st.sampled_from(BASES), st.integers(2, 60), st.sampled_from(STAGES), st.sampled_from("前后"),
    st.sampled_from(["", "不超过", "至少"]), st.booleans(), st.integers(20, 3000))

def says(*fields, **fixed):
    """Return what a sentence asserts of a fact, from the fields it names."""
    bound = {"bound": ""} if "dose" in fields else {}
    return lambda f: {"denied": False, **bound, **{name: getattr(f, name) for name in fields}, **fixed}


def each(*assertions):
    return lambda *facts: [assertion(fact) for assertion, fact in zip(assertions, facts, strict=True)]


def both(*fields):
    return each(says(*fields), says(*fields))


def denied(text):
    return lambda f: text if f.denied else ""


# Pairs: how the sentence reads, and what it asserts.
ONE = (
    (lambda f: f"{f.crop}{f.stage}{f.side}{f.days}天，每{f.base}用{f.product}{f.bound}{f.dose}{f.unit}防治{f.disease}。",
     each(says("crop", "stage", "side", "days", "base", "product", "bound", "dose", "unit", "disease"))),
    (lambda f: f"防治{f.disease}{denied('不要')(f)}用{f.product}{f.strength}倍液喷雾。",
     each(says("disease", "product", "strength", "denied"))),
    (lambda f: f"{f.crop}{f.stage}{'严禁' if f.denied else '可以'}使用{f.product}。",
     each(says("crop", "stage", "product", "denied"))),
    (lambda f: f"{f.product}用量{f.bound}{f.dose}{f.unit}，安全间隔期{f.days}天。",
     lambda f: [says("product", "bound", "dose", "unit")(f), says("product", "days", wait=True)(f)]),
    (lambda f: f"每{f.base}{f.dose}{f.unit}{f.product}，{denied('不能')(f)}在{f.stage}{f.side}喷施。",
     lambda f: [says("base", "dose", "unit", "product")(f), says("product", "stage", "side", "denied")(f)]),
    (lambda f: f"{f.product}能防治{f.crop}{f.disease}。", each(says("product", "crop", "disease"))),
)
TWO = (
    (lambda f, g: f"每{f.base}用{f.product}{f.dose}{f.unit}，{g.product}{g.dose}{g.unit}。",
     lambda f, g: [says("base", "product", "dose", "unit")(f), says("product", "dose", "unit", base=f.base)(g)]),
    (lambda f, g: f"{f.product}{f.dose}{f.unit}、{g.product}{g.dose}{g.unit}。", both("product", "dose", "unit")),
    (lambda f, g: f"{f.crop}用{f.product}{f.dose}{f.unit}，{g.crop}用{g.product}{g.dose}{g.unit}。",
     both("crop", "product", "dose", "unit")),
    (lambda f, g: f"{f.product}防治{f.disease}，{g.product}防治{g.disease}。", both("product", "disease")),
    (lambda f, g: f"{f.product}防治{f.disease}和{g.product}防治{g.disease}效果好。", both("product", "disease")),
    (lambda f, g: f"{f.stage}施{f.dose}公斤，{g.stage}施{g.dose}公斤。", each(*[says("stage", "dose", unit="公斤")] * 2)),
    (lambda f, g: f"{f.dose}{f.unit}{f.product}和{g.dose}{g.unit}{g.product}兑水喷雾。", both("product", "dose", "unit")),
    (lambda f, g: f"用{f.product}{f.dose}{f.unit}{g.product}{g.dose}{g.unit}喷雾。", both("product", "dose", "unit")),
)
PARTS = (
    (lambda f: f"{f.product}{f.dose}{f.unit}。", each(says("product", "dose", "unit"))),
    (lambda f: f"用{f.dose}{f.unit}{f.product}喷雾。", each(says("product", "dose", "unit"))),
    (lambda f: f"每{f.base}用{f.product}{f.dose}{f.unit}。", each(says("base", "product", "dose", "unit"))),
    (lambda f: f"{f.crop}用{f.product}{f.dose}{f.unit}。", each(says("crop", "product", "dose", "unit"))),
    (lambda f: f"{f.product}防治{f.disease}。", each(says("product", "disease"))),
    (lambda f: f"{f.stage}施{f.dose}公斤。", each(says("stage", "dose", unit="公斤"))),
)
CHANGES = {
    "crop": CROPS, "disease": DISEASES, "product": (*PRODUCTS, *INVENTED), "dose": range(1, 400), "unit": UNITS,
    "base": BASES, "days": range(2, 60), "stage": STAGES, "side": "前后", "bound": ("", "不超过", "至少"),
    "denied": (True, False), "strength": range(20, 3000),
}


@st.composite
def documents_and_lies(draw):
    """Return a document's sentences, what they assert, sentences told about it with what those assert, and a mark."""
    facts = draw(st.lists(FACTS, min_size=3, max_size=3))
    f, g, h = facts
    one, two, third = draw(st.sampled_from(ONE)), draw(st.sampled_from(TWO)), draw(st.sampled_from(ONE))
    texts = [one[0](f), two[0](f, g), third[0](h)]
    true = [*one[1](f), *two[1](f, g), *third[1](h)]
    told = []
    for _ in range(draw(st.integers(1, 3))):
        field = draw(st.sampled_from(sorted(CHANGES)))
        changed = dataclasses.replace(f, **{field: draw(st.sampled_from(CHANGES[field]))})
        mixed = dataclasses.replace(f, **{field: getattr(g, field)})
        back = dataclasses.replace(g, **{field: getattr(f, field)})
        liar = draw(st.sampled_from([changed, mixed, back]))
        reads, asserts = draw(st.sampled_from([one, third, *PARTS, *ONE]))
        told.append((reads(liar), asserts(liar)))
        told.append((two[0](mixed, back), two[1](mixed, back)))
        told.append((two[0](liar, g), two[1](liar, g)))
    mark = draw(st.sampled_from(["", "[aaaaaaaa#0]", "[deadbeef#7]", "【资料1】", "1. "]))
    return texts, true, draw(st.permutations(told)), mark


def is_said(asserted, true):
    """Tell whether one statement of the document holds all of this one."""
    return any(asserted.items() <= statement.items() for statement in true)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents_and_lies())
def test_nothing_false_gets_through_from_a_generator_that_lies(world, drawn):
    texts, true, told, mark = drawn
    false = {text for text, asserted in told if not all(is_said(a, true) for a in asserted)} - set(texts)
    for text, _ in told:
        reply = (mark + text) if mark.endswith(" ") else text.replace("。", mark + "。")
        found, warnings = written(world, texts, reply)
        for checked in found:
            assert "#" not in checked.text
            if checked.how == "written":
                assert checked.text not in false
                assert checked.text == text
            else:
                assert checked.text == quoted(checked.scored) and checked.text in texts
                assert checked.reason in warnings
    (last,), _ = written(world, texts, texts[0])
    assert (last.text, last.how) == (texts[0], "written")
