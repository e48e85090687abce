"""The chain from symptom to interval: which links a question asks, what fills them, and the second hop."""

import pytest
from answer_world import make_candidate
from conftest import ROOT

from nongda.answer.asked import Asked, Asking, Facet
from nongda.answer.chain import Schema, cause_of, rows_of, second_hop, table
from nongda.answer.evidence import ScoredEvidence, split_evidence
from nongda.answer.select import Chosen
from nongda.errors import SettingsError
from nongda.records import Entity, Fact, Query

DOMAIN = ROOT / "assets" / "domain"


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(DOMAIN / "chain.toml")


@pytest.fixture(scope="module")
def asking() -> Asking:
    return Asking.load(DOMAIN)


def ask(*texts: str, values: tuple[tuple[str, ...], ...] = ()) -> Asked:
    values = values or ((),) * len(texts)
    return Asked("fact", tuple(Facet(text, frozenset(own)) for text, own in zip(texts, values, strict=True)))


def keys(schema, asked, about_problem=False):
    return [link.key if link else None for link in schema.links_of(asked, about_problem)]


@pytest.fixture
def chosen(lexicon):
    def make(text: str, facet: int, number: int = 0, score: float = 1.0, **place) -> Chosen:
        candidate = make_candidate(lexicon, text, f"aaaaaaaa#{number}", **place)
        (evidence,) = split_evidence(candidate)
        return Chosen(ScoredEvidence(evidence, candidate, frozenset(), None, score), facet)  # type: ignore[arg-type]
    return make


@pytest.mark.parametrize(("texts", "links"), [
    (("叶背有白霉，这是什么病？", "用银法利每亩多少？", "隔几天再喷？"), ["cause", "dose", "interval"]),
    (("这是啥虫？", "百株多少头才该打药？", "打哪种药？"), ["cause", "threshold", "product"]),
    (("树咋回事，", "咋个整？"), ["cause", "method"]),
    (("哪种锈病？", "兑多少倍？"), ["cause", "dose"]),
])
def test_each_facet_asks_its_link_of_the_chain(schema, texts, links):
    assert keys(schema, ask(*texts)) == links


@pytest.mark.parametrize("texts", [
    ("株距多大？", "几月栽？"), ("这是什么病？",), ("每亩用多少？", "隔几天再喷？"), ("怎么施肥？", "什么时候剪？"),
])
def test_one_link_or_none_about_a_disease_is_no_chain(schema, texts):
    assert keys(schema, ask(*texts)) == []


def test_a_question_that_names_the_disease_asks_a_chain_without_asking_for_it(schema):
    assert keys(schema, ask("稻瘟病每亩用多少？", "隔几天再喷？"), about_problem=True) == ["dose", "interval"]


def test_the_table_has_the_links_in_the_order_of_the_chain_and_the_documents_words(schema, asking, chosen, lexicon):
    asked = ask("隔几天喷一次？", "什么病？", "兑多少倍？", values=(("interval",), ("name",), ("dilution",)))
    own = [chosen("每隔7天喷一次。", 0, 1), chosen("叶背有黄粉的是叶锈病。", 1, 2), chosen("兑水800倍。", 2, 3)]
    rows, outside = rows_of(schema, schema.links_of(asked, False), asked, own, asking, {}, lexicon)
    piece = table(schema, rows, "叶锈病")
    assert piece.text == (
        "| 环节 | 资料原文 |\n| --- | --- |\n"
        "| 病因 | **叶锈病**：叶背有黄粉的是叶锈病[aaaaaaaa#2]。 |\n"
        "| 用量浓度 | 兑水800倍[aaaaaaaa#3]。 |\n"
        "| 间隔次数 | 每隔7天喷一次[aaaaaaaa#1]。 |\n")
    assert [q.evidence.text for q in piece.quotes] == ["叶背有黄粉的是叶锈病。", "兑水800倍。", "每隔7天喷一次。"]
    assert outside == []


def test_a_link_whose_sentence_has_no_such_value_is_said_to_be_missing_and_not_filled(schema, asking, chosen, lexicon):
    asked = ask("什么病？", "隔几天喷一次？", values=(("name",), ("interval",)))
    own = [chosen("叶背有黄粉的是叶锈病。", 0, 1), chosen("雨后及时补喷。", 1, 2)]
    rows, _ = rows_of(schema, schema.links_of(asked, False), asked, own, asking, {}, lexicon)
    piece = table(schema, rows, "")
    assert "| 间隔次数 | 没有查到 |" in piece.text
    assert "补喷" not in piece.text and len(piece.quotes) == 1


def test_a_fact_of_the_links_attribute_fills_it_though_the_value_is_of_no_listed_unit(schema, asking, chosen, lexicon):
    asked = ask("什么病？", "隔几天喷一次？", values=(("name",), ("interval",)))
    one = chosen("叶背有黄粉的是叶锈病。", 0, 1)
    other = chosen("逢雨后补一遍。", 1, 2)
    facts = {("aaaaaaaa#2", 0): [Fact("aaaaaaaa#2", "", "", "咖啡", "", "spray_interval", "逢雨", None, None, "", "", 0, 7)]}
    rows, _ = rows_of(schema, schema.links_of(asked, False), asked, [one, other], asking, facts, lexicon)
    assert "| 间隔次数 | 逢雨后补一遍[aaaaaaaa#2]。 |" in table(schema, rows, "").text


def test_what_is_no_link_stands_outside_the_table(schema, asking, chosen, lexicon):
    asked = ask("什么病？", "兑多少倍？", "株距多大？", values=(("name",), ("dilution",), ("length",)))
    own = [chosen("是叶锈病。", 0, 1), chosen("兑水800倍。", 1, 2), chosen("株距2米。", 2, 3)]
    _, outside = rows_of(schema, schema.links_of(asked, False), asked, own, asking, {}, lexicon)
    assert outside == [own[2]]


def query(lexicon, text: str, parts: tuple[str, ...] = (), entities: tuple[Entity, ...] = ()) -> Query:
    return Query(text, text, lexicon.canonical(text), tuple(lexicon.tokens(text)), entities, parts=parts)


def test_the_cause_is_the_one_disease_of_the_chosen_sentence(schema, lexicon, chosen):
    links = schema.links_of(ask("什么病？", "兑多少倍？"), False)
    asked = query(lexicon, "叶背有黄粉，什么病？兑多少倍？")
    found = cause_of(links, [chosen("叶背有黄粉的是叶锈病。", 0), chosen("炭疽病兑水800倍。", 1, 1)], asked, lexicon)
    assert found is not None and found.term == "叶锈病"


def test_of_several_diseases_in_one_sentence_the_clause_that_shares_most_words_decides(schema, lexicon, chosen):
    links = schema.links_of(ask("什么病？", "兑多少倍？"), False)
    asked = query(lexicon, "叶背有橙黄粉末，什么病？兑多少倍？")
    text = "枝条回枯的是炭疽病，叶背有橙黄粉末的是叶锈病，穗颈变褐的是稻瘟病。"
    found = cause_of(links, [chosen(text, 0, title="病害")], asked, lexicon)
    assert found is not None and found.term == "叶锈病"


@pytest.mark.parametrize("text", ["炭疽病、叶锈病都会落叶。", "及时清园。"])
def test_no_cause_is_made_out_of_two_names_or_none(schema, lexicon, chosen, text):
    links = schema.links_of(ask("什么病？", "兑多少倍？"), False)
    assert cause_of(links, [chosen(text, 0, title="管理")], query(lexicon, "落叶，什么病？兑多少倍？"), lexicon) is None


def test_a_question_that_names_a_disease_has_no_other_cause(schema, lexicon, chosen):
    links = schema.links_of(ask("什么病？", "兑多少倍？"), True)
    asked = query(lexicon, "像炭疽病，什么病？", entities=(Entity("炭疽病", "disease", "炭疽病"),))
    assert cause_of(links, [chosen("是叶锈病。", 0)], asked, lexicon) is None


def test_the_second_hop_puts_the_cause_before_the_parts_that_hang_on_it(schema, lexicon):
    links = schema.links_of(ask("什么病？", "兑多少倍？", "叶锈病隔几天喷？"), False)
    asked = query(lexicon, "问", parts=("什么病？", "波尔多液兑多少倍？", "叶锈病隔几天喷？"))
    hop = second_hop(asked, links, Entity("叶锈病", "disease", "叶锈病"))
    assert hop.parts == ("什么病？", "叶锈病，波尔多液兑多少倍？", "叶锈病隔几天喷？")
    assert hop.original == asked.original


@pytest.mark.parametrize("text", ["", "head = ['一', '二']\nmissing = '无'", "head = ['一']\nmissing = '无'\nlinks = []",
                                  "head = ['一', '二']\nmissing = '无'\n[[links]]\nkey = 'a'\nname = '甲'\nasks = ['(']\nattributes = []"])
def test_a_broken_schema_is_named(tmp_path, text):
    (tmp_path / "chain.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"chain\.toml"):
        Schema.load(tmp_path / "chain.toml")
