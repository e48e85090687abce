"""Where two documents disagree: only the same thing, said of the same subject under the same conditions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from answer_world import make_candidate
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from nongda.answer.contradict import contradictions
from nongda.answer.evidence import ScoredEvidence, split_evidence
from nongda.language.lexicon import Lexicon
from nongda.records import Note

DOMAIN = ROOT / "assets" / "domain"
LEXICON = Lexicon.load(DOMAIN)


def evidence(text: str, doc: str = "aaaaaaaa", title: str = "水稻稻瘟病", heading: tuple[str, ...] = (), date: str = "",
             kind: str = "paragraph") -> list[ScoredEvidence]:
    made = make_candidate(LEXICON, text, f"{doc}#0", title, heading, kind)
    found = replace(made, document=replace(made.document, meta=replace(made.document.meta, date=date)))
    return [ScoredEvidence(e, found, frozenset(), np.zeros(1, dtype=np.float32), 0.0) for e in split_evidence(found)]


def compared(one: str, other: str, title: str = "水稻稻瘟病", **values: str) -> list[Note]:
    return contradictions(evidence(one, "aaaaaaaa", title), evidence(other, "bbbbbbbb", title, **values), LEXICON, LEXICON.units)


CONTRARY = [
    ("40%稻瘟灵乳油的安全间隔期为28天。", "水稻用40%稻瘟灵乳油，安全间隔期14天。", "水稻稻瘟病"),
    ("稻瘟病每亩用75%三环唑可湿性粉剂20克。", "防治稻瘟病，75%三环唑可湿性粉剂亩用40～50克。", "水稻稻瘟病"),
    ("稻瘟病每亩用75%三环唑可湿性粉剂20克。", "稻瘟病每公顷用75%三环唑可湿性粉剂750克。", "水稻稻瘟病"),
    ("小粒种咖啡的适宜海拔为800～1000米。", "小粒种咖啡最适海拔1200～1500米。", "咖啡栽培"),
    ("小粒种咖啡要求年降水量1200毫米以上。", "小粒种咖啡要求年降水量不超过1000毫米。", "咖啡栽培"),
    ("咖啡叶锈病发病适宜温度为21～25℃。", "咖啡叶锈病的适宜气温为28～30℃。", "咖啡病害"),
    ("咖啡叶锈病用25%三唑酮可湿性粉剂1000倍液喷施。", "咖啡叶锈病喷施25%三唑酮可湿性粉剂500倍液。", "咖啡病害"),
    ("稻瘟病每隔7天喷一次。", "稻瘟病每隔15～20天喷一次。", "水稻稻瘟病"),
    ("咖啡园土壤适宜pH为6.0～6.5。", "咖啡适宜的土壤pH为4.5～5.5。", "咖啡栽培"),
]


@pytest.mark.parametrize(("one", "other", "title"), CONTRARY, ids=range(len(CONTRARY)))
def test_values_of_the_same_thing_that_do_not_meet_contradict(one: str, other: str, title: str):
    (note,) = compared(one, other, title)
    assert note.kind == "contradiction"
    assert f"“{one}”[aaaaaaaa#0]" in note.text and f"“{other}”[bbbbbbbb#0]" in note.text
    assert [c.quote for c in note.citations] == [one, other]


AGREEING = [
    ("早稻用40%稻瘟灵乳油，安全间隔期14天。", "晚稻用40%稻瘟灵乳油，安全间隔期28天。", "早稻和晚稻"),
    ("40%稻瘟灵乳油的安全间隔期为28天。", "75%三环唑可湿性粉剂的安全间隔期为14天。", "other product"),
    ("40%稻瘟灵乳油的安全间隔期为28天。", "30%稻瘟灵乳油的安全间隔期为14天。", "other strength"),
    ("40%稻瘟灵乳油的安全间隔期为28天。", "40%稻瘟灵可湿性粉剂的安全间隔期为14天。", "other formulation"),
    ("40%稻瘟灵乳油的安全间隔期为28天。", "40%稻瘟灵乳油在小麦上的安全间隔期为14天。", "other crop"),
    ("稻瘟病每亩用75%三环唑可湿性粉剂20克。", "稻瘟病每亩用75%三环唑可湿性粉剂20～30克。", "touching ranges"),
    ("稻瘟病每亩用75%三环唑可湿性粉剂20克。", "稻瘟病每公顷用75%三环唑可湿性粉剂300克。", "the same per hectare"),
    ("稻瘟病每亩用75%三环唑可湿性粉剂20克。", "水稻纹枯病每亩用75%三环唑可湿性粉剂50克。", "other disease"),
    ("稻瘟病每亩用75%三环唑可湿性粉剂20克。", "稻瘟病每亩用75%三环唑可湿性粉剂兑水50公斤。", "water is not the product"),
    ("稻瘟病苗期每亩用75%三环唑可湿性粉剂20克。", "稻瘟病破口期每亩用75%三环唑可湿性粉剂50克。", "other stage"),
    ("稻瘟病预防每亩用75%三环唑可湿性粉剂20克。", "稻瘟病治疗每亩用75%三环唑可湿性粉剂50克。", "other purpose"),
    ("云南小粒种咖啡的适宜海拔为800～1000米。", "印度小粒种咖啡的适宜海拔为1200～1500米。", "other place"),
    ("云南小粒种咖啡的适宜海拔为800米以上。", "云南小粒种咖啡的适宜海拔为1200米以上。", "both open above"),
    ("中粒种咖啡的适宜海拔为800米以下。", "小粒种咖啡的适宜海拔为1000～1500米。", "other species"),
    ("咖啡适宜海拔1000米左右。", "咖啡适宜海拔1050～1200米。", "about"),
    ("小粒种咖啡要求年降水量不低于1000毫米。", "小粒种咖啡要求年降水量1200～1500毫米。", "no upper end"),
    ("小粒种咖啡要求年降水量不超过1500毫米。", "小粒种咖啡要求年降水量1000～1200毫米。", "no lower end"),
    ("咖啡园不宜建在海拔1500米以上。", "咖啡适宜海拔800～1000米。", "said of what does not suit"),
    ("例如每亩用75%三环唑可湿性粉剂20克，稻瘟病就能压住。", "稻瘟病每亩用75%三环唑可湿性粉剂50克。", "an example"),
    ("试验区每亩用75%三环唑可湿性粉剂100克防治稻瘟病。", "稻瘟病每亩用75%三环唑可湿性粉剂20克。", "an experiment"),
    ("稻瘟病在海拔1500米也有发生。", "稻瘟病在海拔300米发生。", "no measure"),
    ("稻瘟病用药，一份资料为每亩75%三环唑可湿性粉剂20克，另一份为50克。", "稻瘟病每亩用75%三环唑可湿性粉剂50克。", "one side holds both"),
]


@pytest.mark.parametrize(("one", "other", "why"), AGREEING, ids=range(len(AGREEING)))
def test_other_things_and_values_that_meet_do_not_contradict(one: str, other: str, why: str):
    assert compared(one, other, "咖啡栽培" if "咖啡" in one else "水稻稻瘟病") == [], why


def test_one_document_does_not_contradict_itself():
    one, other, title = CONTRARY[0]
    assert contradictions(evidence(one, title=title), evidence(other, title=title), LEXICON, LEXICON.units) == []


def test_the_newer_document_stands_first_and_both_dates_are_said():
    one, other, title = CONTRARY[0]
    older, newer = evidence(one, "aaaaaaaa", title, date="2012"), evidence(other, "bbbbbbbb", "水稻用药", date="2024-05")
    (note,) = contradictions(older, newer, LEXICON, LEXICON.units)
    assert [c.id for c in note.citations] == ["bbbbbbbb#0", "aaaaaaaa#0"]
    assert note.text == (f"两份资料关于安全间隔期说法不一：较新的《水稻用药》（2024-05）写的是“{other}”[bbbbbbbb#0]；"
                         f"较早的《水稻稻瘟病》（2012）写的是“{one}”[aaaaaaaa#0]。")


def test_rows_are_compared_under_their_headers():
    table = "| 药剂 | 作物 | 安全间隔期（天） |\n|---|---|---|\n| 40%稻瘟灵乳油 | 水稻 | {} |"
    one, other = evidence(table.format(28), "aaaaaaaa", kind="table"), evidence(table.format(14), "bbbbbbbb", kind="table")
    (note,) = contradictions(one, other, LEXICON, LEXICON.units)
    assert "| 40%稻瘟灵乳油 | 水稻 | 28 |" in note.text
    early = evidence(table.format("14（早稻）"), "bbbbbbbb", kind="table")
    assert contradictions(one, early, LEXICON, LEXICON.units) == []


def test_rows_for_other_crops_groups_or_times_do_not_contradict():
    table = "| 作物 | 药剂 | 安全间隔期（天） | 说明 |\n|---|---|---|---|\n| {} | 1.8%阿维菌素乳油 | {} | {} |"

    def rows(crop: str, days: int, remark: str, doc: str) -> list[ScoredEvidence]:
        return evidence(table.format(crop, days, remark), doc, "黄瓜与叶菜的安全间隔期", kind="table")

    one = rows("黄瓜", 2, "", "aaaaaaaa")
    for crop, remark in (("叶菜", ""), ("蔬菜（未分种类）", ""), ("水稻", "大田蔬菜清单"), ("黄瓜", "破口前7天用")):
        assert contradictions(one, rows(crop, 7, remark, "bbbbbbbb"), LEXICON, LEXICON.units) == []
    assert len(contradictions(one, rows("黄瓜", 7, "", "bbbbbbbb"), LEXICON, LEXICON.units)) == 1


def test_a_pest_that_no_list_holds_is_not_taken_for_the_one_of_the_title():
    one, other = "麦长管蚜适温为12～16℃。", "某某管甲适温约30℃。"
    assert compared(one, other, "小麦麦长管蚜的防治") == []


def test_at_most_two_contradictions_are_shown_and_each_pair_once():
    chosen = evidence(CONTRARY[0][0])
    pool = [s for n in range(5) for s in evidence(CONTRARY[0][1], f"bbbbbbb{n}")]
    notes = contradictions([*chosen, *chosen], [*pool, *pool], LEXICON, LEXICON.units)
    assert len({n.text for n in notes}) == len(notes) == 2


@given(st.integers(1, 60), st.integers(0, 40), st.integers(1, 60), st.integers(0, 40))
def test_only_ranges_that_do_not_meet_contradict(low: int, wide: int, other_low: int, other_wide: int):
    said = "40%稻瘟灵乳油的安全间隔期为{}～{}天。"
    notes = compared(said.format(low, low + wide), said.format(other_low, other_low + other_wide))
    assert bool(notes) == (low + wide < other_low or other_low + other_wide < low)
