import re
from pathlib import Path

import pytest
from answer_world import make_candidate
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.answer.companions import product_notes
from nongda.answer.law import PesticideLaw
from nongda.language.lexicon import Lexicon

TABLE = """| 作物 | 有效成分与剂型 | 安全间隔期（天） | 每季最多次数（次） |
| --- | --- | --- | --- |
| 水稻 | 75%百菌清可湿性粉剂 | 10 | 未列 |
| 水稻（早稻） | 40%稻瘟灵乳油 | 14 | 2 |
| 水稻（晚稻） | 40%稻瘟灵乳油 | 28 | 2 |
| 黄瓜 | 40%百菌清悬浮剂 | 3 | 3 |
| 黄瓜 | 20%啶虫脒乳油 | 2 | 3 |
| 黄瓜 | 20%啶虫脒可溶粉剂 | 1 | 3 |
| 叶菜 | 1.8%阿维菌素乳油 | 7 | 1 |
| 蔬菜（未分种类） | 75%百菌清可湿性粉剂 | 7 | 未列 |
| 甘蓝 | 25克/升高效氯氟氰菊酯乳油 | 8 | 未列 |
| 马铃薯 | 28%唑嘧菌胺·氟吡菌胺悬浮剂 | 14 | 2 |
| 玉米 | 50%辛硫磷乳油 | 未查到 | 未列 |
| 番茄 | 48%毒死蜱乳油 | 7 | 1 |"""


@pytest.fixture(scope="module")
def lexicon():
    return Lexicon.load(Path("assets/domain"))


@pytest.fixture(scope="module")
def law():
    return PesticideLaw.load(Path("assets/domain/restricted.toml"))


@pytest.fixture(scope="module")
def ask(lexicon, law):
    def ask(product, crop, *candidates, said=""):
        crops = {crop} if crop else set()
        return product_notes([product], crops, lambda query, k: list(candidates)[:k], lexicon, law, said)
    return ask


@pytest.fixture(scope="module")
def table(lexicon):
    return make_candidate(lexicon, TABLE, kind="table", title="安全间隔期", heading=("对照表",))


def texts(notes, kind="interval"):
    return [line for note in notes if note.kind == kind for line in note.text.split("\n")]


def test_the_row_of_the_crop_is_shown_in_words_with_its_citation(ask, table):
    notes = ask("百菌清", "水稻", table)
    assert texts(notes) == ["作物：水稻；有效成分与剂型：75%百菌清可湿性粉剂；安全间隔期（天）：10；每季最多次数（次）：未列"]
    assert [(c.id, c.quote) for c in notes[0].citations] == [
        ("aaaaaaaa#0", "| 水稻 | 75%百菌清可湿性粉剂 | 10 | 未列 |")]


@pytest.mark.parametrize(("product", "crop", "said", "days"), [
    ("百菌清", "黄瓜", "", ["3"]),
    ("百菌清", "黄瓜", "75%百菌清可湿性粉剂", ["7"]),
    ("百菌清", "黄瓜", "黄瓜打４０％百菌清悬浮剂", ["3"]),
    ("百菌清", "黄瓜", "50%百菌清", []),
    ("百菌清", "番茄", "", ["7"]),
    ("百菌清", "番茄", "40%百菌清悬浮剂", []),
    ("百菌清", "小麦", "", []),
    ("百菌清", "马铃薯", "", []),
    ("百菌清", "小粒种咖啡", "", []),
    ("百菌清", "", "", []),
    ("啶虫脒", "黄瓜", "", ["2", "1"]),
    ("啶虫脒", "黄瓜", "20%啶虫脒可溶性粉剂", ["1"]),
    ("啶虫脒", "棉花", "", []),
    ("稻瘟灵", "水稻", "", ["14", "28"]),
    ("稻瘟灵", "水稻", "晚稻打40%稻瘟灵", ["28"]),
    ("阿维菌素", "小白菜", "", ["7"]),
    ("阿维菌素", "黄瓜", "", []),
    ("高效氯氟氰菊酯", "结球甘蓝", "2.5%高效氯氟氰菊酯乳油", ["8"]),
    ("高效氯氟氰菊酯", "结球甘蓝", "10%高效氯氟氰菊酯水乳剂", []),
    ("氯氟氰菊酯", "甘蓝", "", []),
    ("氟吡菌胺", "马铃薯", "", []),
    ("氟吡菌胺", "马铃薯", "28%唑嘧菌胺·氟吡菌胺", ["14"]),
    ("百菌清", "水稻", "水稻打30%嘧菌·百菌清", []),
    ("百菌清", "水稻", "嘧菌·百菌清和75%百菌清比哪个好", ["10"]),
    ("辛硫磷", "玉米", "", []),
    ("毒死蜱", "番茄", "", []),
])
def test_a_row_counts_for_its_crop_content_and_formulation_alone(ask, table, product, crop, said, days):
    notes = ask(product, crop, table, said=said)
    assert [re.search(r"（天）：([^；]+)", line)[1] for line in texts(notes)] == days


@pytest.mark.parametrize(("text", "product", "crop", "shown"), [
    ("25%杀虫双水剂在水稻上的安全间隔期为15天，以标签为准。", "杀虫双", "水稻", True),
    ("25%杀虫双水剂在水稻上的安全间隔期为15天，以标签为准。", "杀虫双", "玉米", False),
    ("番茄采收前7天停用百菌清。", "百菌清", "番茄", True),
    ("百菌清在番茄采收前七天停药。", "百菌清", "番茄", True),
    ("百菌清在番茄上隔7天喷一次，安全间隔期看标签。", "百菌清", "番茄", False),
    ("番茄上百菌清的喷药间隔7天，安全间隔期3天。", "百菌清", "番茄", True),
    ("番茄上百菌清的安全间隔期没有查到。", "百菌清", "番茄", False),
    ("番茄上多菌灵的安全间隔期是20天，百菌清以标签为准。", "百菌清", "番茄", False),
    ("番茄上多菌灵、百菌清的安全间隔期都是20天。", "百菌清", "番茄", True),
    ("溴氰虫酰胺在花椰菜上安全间隔期3天，甘蓝以标签为准。", "溴氰虫酰胺", "甘蓝", False),
    ("溴氰虫酰胺在花椰菜上安全间隔期3天，甘蓝以标签为准。", "溴氰虫酰胺", "花椰菜", True),
    ("阿维菌素在叶菜上安全间隔期7天，而在黄瓜上2天。", "阿维菌素", "黄瓜", True),
    ("阿维菌素在叶菜上安全间隔期7天，黄瓜看标签。", "阿维菌素", "黄瓜", False),
    ("蔬菜通用的溴氰菊酯安全间隔期5天，小白菜除外。", "溴氰菊酯", "番茄", True),
    ("蔬菜通用的溴氰菊酯安全间隔期5天，小白菜除外。", "溴氰菊酯", "小白菜", False),
    ("百菌清安全间隔期7天来自蔬菜清单，没有专指马铃薯。", "百菌清", "马铃薯", False),
    ("1.8%阿维菌素乳油在黄瓜上的安全间隔期为2天。", "阿维菌素", "黄瓜", True),
    ("阿维菌素的再进入间隔期为2天，黄瓜安全间隔期见标签。", "阿维菌素", "黄瓜", False),
])
def test_a_sentence_is_quoted_when_its_days_are_of_product_and_crop(ask, lexicon, text, product, crop, shown):
    notes = ask(product, crop, make_candidate(lexicon, text, title="用药"))
    assert texts(notes) == ([text] if shown else [])


def test_headings_give_the_crop_to_rows_without_one_and_to_no_other(ask, lexicon):
    rows = "| 药剂 | 安全间隔期（天） |\n| --- | --- |\n| 75%百菌清可湿性粉剂 | 7 |"
    candidate = make_candidate(lexicon, rows, kind="table", title="番茄病害", heading=("七、安全间隔期",))
    assert texts(ask("百菌清", "番茄", candidate)) == ["药剂：75%百菌清可湿性粉剂；安全间隔期（天）：7"]
    assert ask("百菌清", "黄瓜", candidate) == [] and ask("百菌清", "樱桃番茄", candidate) == []


def test_a_sentence_below_a_heading_of_two_crops_is_not_shown(ask, lexicon):
    text = "同是40%稻瘟灵乳油，安全间隔期早稻14天而晚稻28天。"
    candidate = make_candidate(lexicon, text, title="安全间隔期", heading=("水稻与小麦",))
    assert ask("稻瘟灵", "小麦", candidate) == [] and texts(ask("稻瘟灵", "水稻", candidate)) == [text]
    candidate = make_candidate(lexicon, "稻瘟灵的安全间隔期是14天。", title="用药", heading=("水稻与小麦",))
    assert ask("稻瘟灵", "小麦", candidate) == [] and ask("稻瘟灵", "水稻", candidate) == []


def test_a_list_mark_goes_and_a_percentage_stays(ask, lexicon):
    text = "2. 1.8%阿维菌素乳油在黄瓜上的安全间隔期为2天。"
    notes = ask("阿维菌素", "黄瓜", make_candidate(lexicon, text, title="用药"))
    assert texts(notes) == ["1.8%阿维菌素乳油在黄瓜上的安全间隔期为2天。"]
    assert texts(ask("阿维菌素", "黄瓜", make_candidate(lexicon, text[3:], title="用药"))) == [text[3:]]


@pytest.mark.parametrize(("text", "crop", "shown"), [
    ("20%三唑酮乳油登记在小麦上，防治锈病。", "小麦", True),
    ("20%三唑酮乳油已在小麦、玉米上登记。", "玉米", True),
    ("20%三唑酮乳油登记在小麦上，防治锈病。", "咖啡", False),
    ("三唑酮必须选登记在小麦上的产品。", "小麦", False),
    ("三唑酮没有在小麦上登记。", "小麦", False),
    ("三唑酮拌种的用量按登记在小麦上的标签。", "小麦", False),
    ("先用三唑酮喷一遍，再改用登记在小麦上的药剂。", "小麦", False),
])
def test_a_registration_is_quoted_and_the_advice_to_look_for_one_is_not(ask, lexicon, text, crop, shown):
    assert texts(ask("三唑酮", crop, make_candidate(lexicon, text, title="用药")), "registered") == [text] * shown


def test_a_row_with_interval_and_registered_crop_is_shown_once(ask, lexicon):
    rows = "| 药剂 | 登记作物 | 安全间隔期（天） |\n| --- | --- | --- |\n| 20%三唑酮乳油 | 小麦、玉米 | 20 |"
    notes = ask("三唑酮", "小麦", make_candidate(lexicon, rows, kind="table", title="标签"))
    assert [note.kind for note in notes] == ["interval"]
    rows = "| 药剂 | 登记作物 | 防治对象 |\n| --- | --- | --- |\n| 20%三唑酮乳油 | 小麦、玉米 | 锈病 |"
    notes = ask("三唑酮", "小麦", make_candidate(lexicon, rows, kind="table", title="标签"))
    assert [(n.kind, n.text) for n in notes] == [("registered", "药剂：20%三唑酮乳油；登记作物：小麦、玉米；防治对象：锈病")]
    assert ask("三唑酮", "咖啡", make_candidate(lexicon, rows, kind="table", title="小麦标签")) == []


def test_three_products_have_notes_and_a_fourth_has_none(table, lexicon, law):
    products = ["百菌清", "稻瘟灵", "啶虫脒", "百菌清", "高效氯氟氰菊酯"]
    notes = product_notes(products, {"水稻", "黄瓜", "甘蓝"}, lambda query, k: [table], lexicon, law)
    assert len(notes) == 3 and not any("高效氯氟氰菊酯" in note.text for note in notes)


def corpus(lexicon):
    """Return the sample documents' paragraphs and tables as candidates."""
    found = []
    for number, file in enumerate(sorted(Path("assets/corpus").rglob("*.md"))):
        front, body = file.read_text("utf-8").split("\n---\n", 1)
        title, path = re.search(r"title: (.+)", front)[1], ()
        for position, block in enumerate(body.strip().split("\n\n")):
            if block.startswith("#"):
                level = len(block) - len(block.lstrip("#"))
                path = (*path[: level - 1], block.lstrip("# "))
                continue
            if re.search(r"间隔期|停药|登记", " ".join(path) + block):
                kind = "table" if block.startswith("|") else "paragraph"
                found.append(make_candidate(lexicon, block, f"{number:08x}#{position}", title, path, kind))
    return found


@pytest.fixture(scope="module")
def passages(lexicon):
    return corpus(lexicon)


@pytest.mark.parametrize(("product", "crop", "says"), [
    ("多菌灵", "小麦", "20"), ("多菌灵", "水稻", "30"), ("炔螨特", "棉花", "21天"), ("啶虫脒", "棉花", None),
    ("高效氯氟氰菊酯", "小白菜", "21"), ("高效氯氟氰菊酯", "甘蓝", "7"), ("百菌清", "马铃薯", None), ("戊唑醇", "小麦", None),
    ("溴氰虫酰胺", "花椰菜", "3"), ("溴氰虫酰胺", "甘蓝", None), ("波尔多液", "咖啡", None),
])
def test_the_sample_documents_give_the_interval_of_the_crop_or_none(ask, passages, product, crop, says):
    named = [p for p in passages if product in p.chunk.text]
    notes = ask(product, crop, *named[:15])
    assert [note.kind for note in notes] == ([] if says is None else ["interval"])
    assert says is None or says in notes[0].text



@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_every_line_of_a_note_is_verbatim_from_its_passage(ask, passages, lexicon, data):
    products = sorted({e.term for p in passages for e in lexicon.entities(p.chunk.text) if e.kind == "product"})
    crops = ["水稻", "小麦", "黄瓜", "番茄", "甘蓝", "小白菜", "棉花", "柑橘", "咖啡", "玉米", "马铃薯"]
    product, crop = data.draw(st.sampled_from(products)), data.draw(st.sampled_from(crops))
    named = [p for p in passages if product in p.chunk.text]
    for note in ask(product, crop, *named[:15]):
        for line, citation in zip(note.text.split("\n"), note.citations, strict=True):
            passage = next(p for p in named if p.chunk.id == citation.id)
            assert citation.quote in passage.chunk.text and product in citation.quote
            parts = re.split("[：；]", line) if passage.chunk.kind == "table" else [line]
            assert all(part in passage.chunk.text for part in parts)
