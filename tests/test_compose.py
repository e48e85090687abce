"""The form of an answer follows what was asked; its words are the document's."""

import dataclasses

import pytest
from answer_world import make_candidate
from conftest import ROOT

from nongda.answer.asked import Asked, Asking, Facet
from nongda.answer.compose import Piece, cited, compose, value_of
from nongda.answer.evidence import ScoredEvidence, split_evidence
from nongda.answer.select import Chosen

TABLE = "| 树龄 | 尿素（克/株） |\n| --- | --- |\n| 1年 | 50 |\n| 2年 | 100 |"


@pytest.fixture(scope="module")
def asking() -> Asking:
    return Asking.load(ROOT / "assets" / "domain")


@pytest.fixture
def evidence(lexicon):
    def make(text: str, number: int = 0, kind: str = "paragraph") -> list[ScoredEvidence]:
        candidate = make_candidate(lexicon, text, f"aaaaaaaa#{number}", kind=kind)
        return [ScoredEvidence(e, candidate, frozenset(), None, 1.0) for e in split_evidence(candidate)]  # type: ignore[arg-type]
    return make


def facet(*values: str) -> Facet:
    return Facet("问", frozenset(values))


def told(asked, chosen, asking, lead="") -> tuple[str, list[str]]:
    pieces = list(compose(asked, chosen, asking, lead))
    return "".join(p.text for p in pieces), [q.evidence.text for p in pieces for q in p.quotes]


def test_a_fact_is_the_value_and_then_the_quote(asking, evidence):
    (quote,) = evidence("每隔10天喷一次。")
    text, quotes = told(Asked("fact", (facet("interval"),)), [Chosen(quote, 0)], asking)
    assert text == "**10天**：每隔10天喷一次[aaaaaaaa#0]。"
    assert quotes == ["每隔10天喷一次。"]


@pytest.mark.parametrize(("text", "values", "value"), [
    ("每隔7～10天喷一次。", ("interval",), "7～10天"), ("每隔10天喷一次，20天后采收。", ("interval",), ""),
    ("每隔10天喷一次，10天后采收。", ("interval",), "10天"), ("喷一次。", ("interval",), ""), ("每隔10天喷3次。", (), ""),
    ("每隔10天喷3次。", ("times",), "3次"),
])
def test_only_a_single_value_of_the_wanted_kind_comes_first(asking, evidence, text, values, value):
    assert value_of(facet(*values), evidence(text)[0], asking) == value


def test_each_facet_begins_a_line_with_its_own_value(asking, evidence):
    dose, interval, more = evidence("每亩用20克。隔7天一次。雨后补喷。")
    asked = Asked("fact", (facet("dose"), facet("interval")))
    text, quotes = told(asked, [Chosen(dose, 0), Chosen(interval, 1), Chosen(more, 1)], asking)
    assert text == "**20克**：每亩用20克[aaaaaaaa#0]。\n**7天**：隔7天一次[aaaaaaaa#0]。雨后补喷[aaaaaaaa#0]。"
    assert quotes == ["每亩用20克。", "隔7天一次。", "雨后补喷。"]


def test_how_to_is_told_in_numbered_steps(asking, evidence):
    first, second = evidence("1. 剪除病枝。\n2. 喷波尔多液")
    text, _ = told(Asked("how_to", (facet("method"),)), [Chosen(first, 0), Chosen(second, 0)], asking)
    assert text == "1. 剪除病枝[aaaaaaaa#0]。\n2. 喷波尔多液[aaaaaaaa#0]。\n"


def test_one_step_alone_is_no_list(asking, evidence):
    (step,) = evidence("剪除病枝。")
    assert told(Asked("how_to", (facet("method"),)), [Chosen(step, 0)], asking)[0] == "剪除病枝[aaaaaaaa#0]。"


def test_a_comparison_is_a_table_of_two_columns_each_cell_cited(asking, evidence):
    (rust,), (blight, more) = evidence("病斑橙黄色。", 0), evidence("病斑褐色|灰色。枝条回枯。", 1)
    asked = Asked("comparison", (facet(), facet()), (), ("叶锈病", "炭疽病"))
    text, quotes = told(asked, [Chosen(rust, 0), Chosen(blight, 1), Chosen(more, 1)], asking)
    assert text.splitlines() == [
        "| 叶锈病 | 炭疽病 |", "| --- | --- |",
        "| 病斑橙黄色[aaaaaaaa#0]。 | 病斑褐色｜灰色[aaaaaaaa#1]。 |", "|  | 枝条回枯[aaaaaaaa#1]。 |"]
    assert quotes == ["病斑橙黄色。", "病斑褐色|灰色。", "枝条回枯。"]


def test_what_speaks_of_both_sides_follows_the_table(asking, evidence):
    rust, blight, both = evidence("病斑橙黄色。病斑褐色。都在雨季发生。")
    asked = Asked("comparison", (facet(), facet()), (), ("叶锈病", "炭疽病"))
    text, quotes = told(asked, [Chosen(rust, 0), Chosen(blight, 1), Chosen(both, 2)], asking)
    assert text.splitlines()[2] == "| 病斑橙黄色[aaaaaaaa#0]。 | 病斑褐色[aaaaaaaa#0]。 |"
    assert text.splitlines()[-1] == "都在雨季发生[aaaaaaaa#0]。"
    assert quotes == ["病斑橙黄色。", "病斑褐色。", "都在雨季发生。"]


def test_only_a_fact_begins_with_its_value_and_only_where_its_likeliest_sentence_stands_first(asking, evidence):
    first, second = evidence("隔7天一次。隔10天一次。")
    likely = dataclasses.replace(second, score=2.0)
    fact = Asked("fact", (facet("interval"),))
    assert told(fact, [Chosen(first, 0), Chosen(likely, 0)], asking)[0].startswith("隔7天一次")
    assert told(fact, [Chosen(likely, 0), Chosen(first, 0)], asking)[0].startswith("**10天**：")
    assert told(Asked("diagnosis", (facet("interval"),)), [Chosen(first, 0)], asking)[0] == "隔7天一次[aaaaaaaa#0]。"


def test_where_one_side_has_nothing_there_is_no_table(asking, evidence):
    (rust,) = evidence("病斑橙黄色。")
    asked = Asked("comparison", (facet(), facet()), (), ("叶锈病", "炭疽病"))
    assert told(asked, [Chosen(rust, 0)], asking)[0] == "病斑橙黄色[aaaaaaaa#0]。"


@pytest.mark.parametrize(("kind", "lead"), [("yes_no", "不能"), ("choice", "B. 10天")])
def test_a_verdict_or_a_letter_comes_before_the_quotes_and_no_value_beside_it(asking, evidence, kind, lead):
    (quote,) = evidence("每隔10天喷一次。")
    text, _ = told(Asked(kind, (facet("interval"),)), [Chosen(quote, 0)], asking, lead)
    assert text == f"**{lead}**\n每隔10天喷一次[aaaaaaaa#0]。"


def test_a_table_row_is_quoted_with_its_header(asking, evidence):
    row = evidence(TABLE, kind="table")[1]
    text, quotes = told(Asked("fact", (facet("count"),)), [Chosen(row, 0)], asking)
    assert text == "树龄：2年；尿素（克/株）：100[aaaaaaaa#0]。"
    assert quotes == ["| 2年 | 100 |"]


def test_the_citation_stands_before_the_end_of_the_sentence(evidence):
    assert cited(evidence("清除病叶！")[0]) == "清除病叶[aaaaaaaa#0]！"
    assert cited(evidence("- 清除病叶")[0]) == "清除病叶[aaaaaaaa#0]。"


def test_nothing_chosen_is_nothing_said(asking):
    assert list(compose(Asked("fact", (facet(),)), [], asking)) == []
    assert list(compose(Asked("yes_no", (facet(),)), [], asking, "能")) == [Piece("**能**\n")]
