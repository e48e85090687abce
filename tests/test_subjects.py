"""What a small corpus speaks of, counted by hand."""

import pytest
from conftest import ROOT

from nongda.index.families import groups_of, is_same_crop, is_same_problem
from nongda.index.subjects import Subjects, named
from nongda.language.lexicon import Lexicon
from nongda.records import Chunk, DocumentMeta, StoredDocument


@pytest.fixture(scope="module")
def domain() -> Lexicon:
    return Lexicon.load(ROOT / "assets" / "domain")


def corpus(lexicon, *documents):
    """Documents as (title, [(heading, kind, text)]) become chunks; the ids count up."""
    chunks, stored = [], []
    for number, (title, parts) in enumerate(documents):
        doc_id = f"{number:08x}"
        for position, (heading, kind, text) in enumerate(parts):
            search_text = lexicon.canonical(" ".join((title, *heading)) + "\n" + text)
            chunks.append(Chunk(f"{doc_id}#{position}", doc_id, position, text, search_text, kind, None, heading))
        stored.append(StoredDocument(doc_id, f"{number}.md", DocumentMeta(title=title), None, 0, len(parts), "2026-01-01"))
    return chunks, stored


RUST = ("小粒种咖啡叶锈病的防治", [
    (("一、症状",), "paragraph", "叶背有橙黄色粉末。小麦条锈病的病斑成行，与它不同。"),
    (("二、用药",), "paragraph", "发病初期喷波尔多液。玉米地旁边的咖啡园先查。"),
])
BLAST = ("稻瘟病的识别", [
    (("一、叶瘟",), "paragraph", "水稻叶瘟的病斑为梭形。水稻用三环唑。"),
    ((), "paragraph", "水稻破口期再喷一次。早稻、晚稻都要防。"),
])
TABLE = ("安全间隔期", [
    ((), "table", "| 作物 | 药剂 | 天数 |\n|---|---|---|\n| 黄瓜 | 百菌清 | 3 |\n| 番茄 | 嘧霉胺 | 5 |"),
    ((), "paragraph", "稀释敌百虫用清水。"),
])


@pytest.fixture(scope="module")
def world(domain):
    chunks, documents = corpus(domain, RUST, BLAST, TABLE)
    return Subjects.of(chunks, documents, domain), chunks


def test_a_title_says_which_crop_a_document_is_about_and_else_its_text(world):
    subjects, _ = world
    assert subjects.main_crops("00000000") == ("小粒种咖啡",)
    assert subjects.main_crops("00000001") == ("水稻",)
    assert subjects.main_crops("00000002") == ()


def test_a_crop_beside_the_subject_is_weaker_than_the_subject(world):
    subjects, _ = world
    assert [subjects.strength(c) for c in ("咖啡", "水稻", "玉米", "番茄", "茶树")] == [3, 3, 1, 1, 0]


def test_a_disease_belongs_to_the_crop_of_its_sentence_and_else_to_its_document(world):
    subjects, _ = world
    assert subjects.crops_with("条锈病") == ["小麦"]
    assert subjects.crops_with("叶锈病") == ["小粒种咖啡"]
    assert subjects.pair("叶锈病", "咖啡") and not subjects.pair("条锈病", "咖啡")


def test_a_table_row_names_its_own_crop(world):
    subjects, _ = world
    assert subjects.crops_with("百菌清") == ["黄瓜"]
    assert not subjects.pair("嘧霉胺", "黄瓜")


def test_a_product_without_any_crop_is_there_for_every_crop(world):
    subjects, _ = world
    assert subjects.crops_with("敌百虫") == []
    assert subjects.pair("敌百虫", "棉花")


def test_diseases_of_a_crop_are_those_named_for_it(world):
    subjects, _ = world
    assert subjects.diseases_of("水稻") == ["叶瘟", "稻瘟病"]
    assert subjects.diseases_of("小粒种咖啡") == ["叶锈病"]
    assert subjects.pests_of("水稻") == []


def test_the_family_of_a_disease_is_spoken_of_by_its_members(world):
    subjects, _ = world
    assert subjects.speaks_of("稻瘟病") and subjects.speaks_of("叶瘟")
    assert not subjects.speaks_of("白叶枯病")


def test_a_chunk_is_about_its_heading_before_its_title_and_text(world):
    subjects, chunks = world
    assert subjects.subject_of(chunks[0]).crops == ("小粒种咖啡",)
    assert subjects.subject_of(chunks[0]).diseases == ("叶锈病",)
    assert subjects.subject_of(chunks[2]).diseases == ("叶瘟",)
    assert subjects.subject_of(chunks[4]).crops == ("黄瓜", "番茄")
    assert subjects.subject_of(chunks[1]).products == ("波尔多液",)


def test_an_unknown_chunk_is_about_nothing(world, domain):
    subjects, chunks = world
    other = Chunk("ffffffff#0", "ffffffff", 0, "咖啡", "咖啡", "paragraph", None, ())
    assert subjects.subject_of(other).crops == ()


def test_an_empty_corpus_speaks_of_nothing(domain):
    subjects = Subjects.of([], [], domain)
    assert not subjects.speaks_of("咖啡")
    assert subjects.crops() == []
    assert not subjects.contains("咖啡")


@pytest.mark.parametrize(("text", "crop"), [
    ("麦田里发黄", "小麦"), ("晚稻抽穗", "水稻"), ("棉田打药", "棉花"), ("茶园选址", "茶树"), ("烤烟移栽", "烟草"), ("蔗地排水", "甘蔗"),
    ("麦子起黄疸", "小麦"), ("橘园施肥", "柑橘"), ("秧苗发黄", "水稻"), ("胶林更新", "橡胶树"), ("蕉地积水", "香蕉"), ("桑园除草", "桑树"),
    ("梨园套袋", "梨树"), ("桃园清沟", "桃树"),
])
def test_a_field_word_names_its_crop(domain, text, crop):
    assert [e.term for e in named(text, domain) if e.kind == "crop"] == [crop]


@pytest.mark.parametrize("text", ["大麦田", "荞麦地", "水稻田", "棉铃虫多", "塑胶园艺绳", "核桃子"])
def test_a_field_word_adds_no_second_crop(domain, text):
    crops = [e.term for e in named(text, domain) if e.kind == "crop"]
    assert not {"小麦", "棉花", "橡胶树", "桃树"} & set(crops)


@pytest.mark.parametrize(("one", "other", "same"), [
    ("小粒种咖啡", "咖啡", True), ("冬小麦", "小麦", True), ("樱桃番茄", "番茄", True), ("橡胶", "橡胶树", True),
    ("胡萝卜", "萝卜", False), ("平托花生", "花生", False), ("樱桃番茄", "樱桃", False), ("木耳菜", "木耳", False),
    ("番石榴", "石榴", False),
])
def test_a_kind_of_a_crop_is_that_crop(one, other, same):
    assert is_same_crop(one, other) is is_same_crop(other, one) is same


@pytest.mark.parametrize(("there", "asked", "served"), [
    ("晚疫病", "疫病", True), ("疫病", "晚疫病", False), ("棉蚜", "蚜虫", True), ("蚜虫", "棉蚜", True), ("玉米螟", "二化螟", False),
    ("软腐病", "细菌性软腐病", True), ("霜霉威", "霜霉威盐酸盐", True), ("叶瘟", "稻瘟病", True), ("条锈病", "叶锈病", False),
])
def test_a_family_word_is_served_by_its_members(there, asked, served):
    assert is_same_problem(there, asked) is served


def test_a_crop_knows_its_group():
    assert groups_of("茄子") == ["茄果类"]
    assert groups_of("咖啡") == []
