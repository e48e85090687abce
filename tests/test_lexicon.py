"""Terms, aliases and tokens: what a question and a document have in common."""

import logging
import threading
import time

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from nongda.errors import SettingsError
from nongda.language.lexicon import Lexicon
from nongda.language.lexicon_table import read_tables
from nongda.language.own_words import OwnWord
from nongda.language.text import search_form
from nongda.records import Reading

HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), max_size=8)
NESTED = ["咖啡", "小粒种咖啡", "叶锈病", "锈病", "咖啡叶锈病", "病"]


@pytest.fixture(scope="module")
def nested(units) -> Lexicon:
    return Lexicon(dict.fromkeys(NESTED, "disease"), {}, units)


@pytest.fixture(scope="module")
def domain() -> Lexicon:
    return Lexicon.load(ROOT / "assets" / "domain")


@pytest.fixture(scope="module")
def domain_words() -> list[str]:
    lines = [line for name in ("lexicon.tsv", "aliases.tsv")
             for line in (ROOT / "assets" / "domain" / name).read_text(encoding="utf-8").splitlines()[1:]]
    return [line.split("\t")[0] for line in lines if line.strip()]


def terms(lexicon, text):
    return [entity.term for entity in lexicon.entities(text)]


def write_domain(folder, lexicon="term\ttype\n咖啡\tcrop\n", aliases="alias\tterm\n", stopwords="的\n"):
    (folder / "lexicon.tsv").write_text(lexicon, encoding="utf-8")
    (folder / "aliases.tsv").write_text(aliases, encoding="utf-8")
    (folder / "stopwords.txt").write_text(stopwords, encoding="utf-8")
    (folder / "units.toml").write_text('[units]\n"公斤" = "kg"\n', encoding="utf-8")
    return folder


# finding

def test_a_traditional_question_finds_the_simplified_terms(lexicon):
    assert terms(lexicon, "馬鈴薯晚疫病怎麼治") == ["马铃薯", "晚疫病"]
    assert {"马铃薯", "晚疫病"} <= set(lexicon.tokens("馬鈴薯晚疫病"))


@pytest.mark.parametrize("term", ["2,4-滴", "Bt-781", "25%吡唑醚菌酯"])
def test_terms_with_signs_stay_whole_in_any_width(units, term):
    lexicon = Lexicon({term: "product", "吡唑醚菌酯": "product"}, {}, units)
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in term)
    for text in (f"喷{term}，30克", f"喷{wide}，再等", term):
        assert term in terms(lexicon, text)
        assert term.lower() in lexicon.tokens(text)


def test_a_percentage_before_a_product_does_not_hide_the_product(lexicon):
    assert terms(lexicon, "25%吡唑醚菌酯悬浮剂") == ["吡唑醚菌酯"]
    assert "吡唑醚菌酯" in lexicon.tokens("25%吡唑醚菌酯悬浮剂")


@settings(deadline=None)
@given(HAN, HAN)
def test_a_listed_two_character_term_is_found_in_any_context(lexicon, before, after):
    assert "蚜虫" in lexicon.tokens(f"{before}蚜虫{after}")


@pytest.mark.parametrize("context", ["黄叶", "咖啡黄叶怎么办", "出现黄叶。", "防治黄叶", "有黄叶，掉了"])
def test_an_unlisted_two_character_word_is_found_in_plain_contexts(lexicon, context):
    assert "黄叶" in lexicon.tokens(context)


def test_neighbouring_single_characters_become_pairs(lexicon):
    assert lexicon.tokens("叶背霉") == ["叶背", "背霉"]


@settings(deadline=None)
@given(st.text(st.sampled_from("小粒种咖啡叶锈病x"), max_size=12))
def test_the_longest_word_is_found_at_each_place_from_the_left(nested, text):
    expected, position = [], 0
    while position < len(text):
        longest = max((w for w in NESTED if text.startswith(w, position)), key=len, default="")
        if longest:
            expected.append((position, longest))
        position += len(longest) or 1
    assert [(m.start, text[m.start : m.end]) for m in nested.find(text)] == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("ecology", []), ("ec", ["EC"]), ("20%EC乳油", ["EC"]), ("5EC", []), ("EC2", []), ("用EC。", ["EC"]),
])
def test_a_latin_term_is_not_found_inside_a_word_or_number(units, text, expected):
    assert terms(Lexicon({"EC": "product"}, {}, units), text) == expected


# aliases

def test_an_alias_becomes_the_standard_term(lexicon):
    assert lexicon.canonical("洋芋晚疫病") == "马铃薯晚疫病"
    assert terms(lexicon, "洋芋") == ["马铃薯"]
    assert lexicon.entities("洋芋")[0].surface == "洋芋"
    assert lexicon.tokens("苞谷") == lexicon.tokens("玉米")


def test_an_alias_inside_a_longer_term_is_not_replaced(lexicon):
    assert lexicon.canonical("叶锈病") == "叶锈病"  # 锈病 is an alias of 叶锈病
    assert lexicon.canonical("防锈病") == "防叶锈病"


def test_an_ambiguous_alias_stays_in_the_text_and_gives_all_its_readings(lexicon):
    assert lexicon.canonical("土蚕咬苗") == "土蚕咬苗"
    assert terms(lexicon, "土蚕咬苗") == ["天牛", "蚜虫"]
    assert lexicon.tokens("土蚕")[0] == "土蚕"


def test_an_ambiguous_alias_inside_a_term_is_found_by_its_own_name(units):
    lexicon = Lexicon({"天牛": "pest", "蚜虫": "pest", "土蚕诱饵": "product"}, {"土蚕": ("天牛", "蚜虫")}, units)
    assert set(lexicon.tokens("土蚕")) <= set(lexicon.tokens("土蚕诱饵"))
    assert "天牛" not in lexicon.tokens("土蚕诱饵")


def test_each_entity_is_named_once_in_order(lexicon):
    assert terms(lexicon, "玉米和苞谷的蚜虫，玉米") == ["玉米", "蚜虫"]
    assert [e.kind for e in lexicon.entities("玉米的蚜虫")] == ["crop", "pest"]


def test_a_term_is_also_found_by_the_terms_inside_it(units):
    lexicon = Lexicon({"咖啡叶锈病": "disease", "叶锈病": "disease", "咖啡": "crop"}, {}, units)
    assert {"咖啡叶锈病", "叶锈病", "咖啡"} <= set(lexicon.tokens("咖啡叶锈病"))


# what search sees

@pytest.mark.parametrize(("text", "canonical"), [
    ("３０克", "30g"), ("30 公斤", "30kg"), ("Ｂｔ－７８１", "bt-781"), ("２，４－滴", "2,4-滴"), ("㎏", "kg"),
    ("30㎏", "30kg"), ("25℃", "25℃"), ("", ""),
])
def test_canonical_text_has_one_width_and_one_symbol_for_each_unit(lexicon, text, canonical):
    assert lexicon.canonical(text) == canonical


def test_a_term_that_begins_like_a_unit_keeps_its_name(units):
    lexicon = Lexicon({"克百威": "product", "天牛": "pest"}, {}, units)
    assert lexicon.canonical("3%和3克百威") == "3%和3克百威"
    assert lexicon.canonical("30克克百威") == "30g克百威"


@settings(deadline=None)
@given(st.text(max_size=40))
def test_canonical_text_stays_as_it_is(lexicon, text):
    form = lexicon.canonical(text)
    assert lexicon.canonical(form) == form


@settings(deadline=None)
@given(st.text(max_size=40))
def test_tokens_hold_words_and_no_line_end(lexicon, text):
    for token in lexicon.tokens(text):
        assert token
        assert "\n" not in token


def test_width_and_script_do_not_change_the_tokens(lexicon):
    assert lexicon.tokens("每畝噴３０克") == lexicon.tokens("每亩喷30克") == lexicon.tokens("每亩喷 30 g")


@pytest.mark.parametrize("text", ["？？", " ", "", "的", "的了", "🌽", "——", "\n"])
def test_a_question_of_no_words_has_no_tokens(lexicon, text):
    assert lexicon.tokens(text) == []


def test_repeated_words_are_counted(lexicon):
    assert lexicon.tokens("尿素，尿素").count("尿素") == 2


def test_sixteen_threads_make_the_first_cut_at_once(units):
    lexicon = Lexicon({"咖啡": "crop", "叶锈病": "disease"}, {"锈病": ("叶锈病",)}, units)
    text = "咖啡锈病发生时叶背有橙黄色粉末，每亩喷30公斤"
    barrier, results = threading.Barrier(16), []

    def cut():
        barrier.wait()
        results.append(tuple(lexicon.tokens(text)))

    threads = [threading.Thread(target=cut) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [tuple(lexicon.tokens(text))] * 16
    assert {"咖啡", "叶锈病", "30kg"} <= set(results[0])


# files

def test_broken_lines_are_logged_with_their_number_and_the_rest_works(tmp_path, caplog):
    folder = write_domain(
        tmp_path,
        lexicon="term\ttype\n咖啡\tcrop\n只有一列\n\n\t空名\n叶锈病\tdisease\t备注\r\n",
        aliases="alias\tterm\n锈病\t叶锈病\n老锈\t没有的病\n咖啡\t叶锈病\n孤零零\n锈病\t叶锈病\n",
    )
    with caplog.at_level(logging.WARNING):
        lexicon = Lexicon.load(folder)
    assert terms(lexicon, "咖啡锈病") == ["咖啡", "叶锈病"]
    assert terms(lexicon, "老锈和只有一列") == []
    messages = [record.getMessage() for record in caplog.records]
    assert [(m.split()[0], m.split("第 ")[1].split(" 行")[0]) for m in messages] == [
        ("lexicon.tsv", "3"), ("lexicon.tsv", "5"), *(("aliases.tsv", str(line)) for line in (3, 4, 5, 6)),
    ]


def test_a_file_saved_with_a_mark_and_windows_line_ends_is_read(tmp_path):
    folder = write_domain(tmp_path)
    (folder / "lexicon.tsv").write_bytes("\ufeffterm\ttype\r\n“咖啡\"豆\tproduct\r\n叶锈病\tdisease\r\n".encode())
    assert terms(Lexicon.load(folder), "叶锈病") == ["叶锈病"]


@pytest.mark.parametrize("name", ["lexicon.tsv", "aliases.tsv", "stopwords.txt", "units.toml"])
def test_a_missing_file_is_named(tmp_path, name):
    (write_domain(tmp_path) / name).unlink()
    with pytest.raises(SettingsError, match=name):
        Lexicon.load(tmp_path)


def test_a_file_in_another_encoding_is_named(tmp_path):
    (write_domain(tmp_path) / "lexicon.tsv").write_bytes("term\ttype\n咖啡\tcrop\n".encode("gbk"))
    with pytest.raises(SettingsError, match=r"lexicon\.tsv"):
        Lexicon.load(tmp_path)


def problems(folder) -> list[str]:
    return list(Lexicon.load(folder).problems)


def test_aliases_of_aliases_lead_to_the_standard_term_and_circles_are_named(tmp_path):
    folder = write_domain(tmp_path, lexicon="term\ttype\n玉米\tcrop\n甘薯\tcrop\n",
                          aliases="alias\tterm\n苞谷\t玉米\n包谷\t苞谷\n棒子\t包谷\n甲\t乙\n乙\t甲\n丙\t丙\n丁\t甲\n")
    lexicon = Lexicon.load(folder)
    assert lexicon.names_of("棒子") == ("玉米",)
    assert [(p.split("“")[1].split("”")[0], "绕了一圈" in p) for p in lexicon.problems] == [
        ("甲", True), ("乙", True), ("丙", True), ("丁", False)]
    assert [p.split("，")[0] for p in lexicon.problems] == [
        "aliases.tsv 第 5 行“甲”指向的“乙”绕了一圈又回到它自己", "aliases.tsv 第 6 行“乙”指向的“甲”绕了一圈又回到它自己",
        "aliases.tsv 第 7 行“丙”指向的“丙”绕了一圈又回到它自己", "aliases.tsv 第 8 行“丁”指向的“甲”不是标准名"]


def test_a_way_out_of_a_circle_is_taken(tmp_path):
    folder = write_domain(tmp_path, lexicon="term\ttype\n玉米\tcrop\n", aliases="alias\tterm\n甲\t乙\n乙\t甲\n乙\t玉米\n")
    lexicon = Lexicon.load(folder)
    assert (lexicon.names_of("甲"), lexicon.names_of("乙")) == (("玉米",), ("玉米",))
    assert lexicon.problems == ()


def test_an_alias_of_an_ambiguous_alias_has_all_its_readings(tmp_path):
    folder = write_domain(tmp_path, lexicon="term\ttype\n玉米\tcrop\n甘薯\tcrop\n",
                          aliases="alias\tterm\n棒子\t玉米\n棒子\t甘薯\n大棒\t棒子\n")
    assert Lexicon.load(folder).names_of("大棒") == ("玉米", "甘薯")


def test_doubles_in_any_script_and_unknown_kinds_are_named(tmp_path):
    folder = write_domain(tmp_path, lexicon="term\ttype\n玉米\tcrop\n玉米\tpest\nＢｔ\tproduct\nbt\tproduct\n麦\tcrp\n",
                          aliases="alias\tterm\n穀子\t玉米\n谷子\t玉米\n")
    assert [p.split("，")[0] for p in problems(folder)] == [
        "lexicon.tsv 第 3 行“玉米”与第 2 行重复", "lexicon.tsv 第 5 行“bt”与第 4 行重复",
        "lexicon.tsv 第 6 行“麦”的类别“crp”不认识", "aliases.tsv 第 3 行“谷子”与第 2 行重复"]
    assert [e.kind for e in Lexicon.load(folder).entities("玉米")] == ["crop"]


def test_one_line_in_another_encoding_is_named_and_the_rest_works(tmp_path):
    folder = write_domain(tmp_path)
    (folder / "lexicon.tsv").write_bytes("\ufeff咖啡\tcrop\n".encode() + "水稻\tcrop\r\n".encode("gbk") + "茶\tcrop".encode())
    lexicon = Lexicon.load(folder)
    assert lexicon.problems == ("lexicon.tsv 第 2 行不是 UTF-8 编码，已略过：请重新输入这一行",)
    assert set(lexicon.standard_names()) == {"咖啡", "茶"}  # a table without a header loses no line


CELL = st.sampled_from(["甲", "乙", "丙", "丁", "玉米", "麦", "crop", "pest", "", " ", "term", "2,4-滴", "？", "长" * 90])
TABLE = st.lists(st.lists(CELL, max_size=4).map("\t".join) | st.text(max_size=8), max_size=12).map("\n".join)


@settings(deadline=None, max_examples=200)
@given(terms_table=TABLE, aliases_table=TABLE, ends=st.sampled_from(["\n", "\r\n", "\r"]), mark=st.booleans())
def test_whatever_stands_in_the_tables_is_used_or_named(tmp_path_factory, terms_table, aliases_table, ends, mark):
    folder = tmp_path_factory.mktemp("words")
    for name, text in (("lexicon.tsv", terms_table), ("aliases.tsv", aliases_table)):
        text = text.replace("\0", "").replace("\n", ends)
        (folder / name).write_bytes(("\ufeff" * mark + text).encode("utf-8", "ignore"))
    tables = read_tables(folder)
    named = {(p.split()[0], int(p.split("第 ")[1].split(" 行")[0])) for p in tables.problems}
    assert len(named) == len(tables.problems)
    for alias, terms in tables.aliases.items():
        assert terms
        assert set(terms) <= set(tables.kinds)
        assert search_form(alias) not in {search_form(term) for term in tables.kinds}
    for name, words in (("lexicon.tsv", tables.kinds), ("aliases.tsv", tables.aliases)):
        for number, line in enumerate((folder / name).read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
            first = line.decode("utf-8").split("\t")[0].strip()
            is_header = number == 1 and first.lower() in ("term", "alias")
            known = {search_form(word) for word in words}
            assert not line.decode("utf-8").strip() or is_header or (name, number) in named or search_form(first) in known


# what was understood

def test_names_read_as_other_names_are_told_as_written(lexicon):
    assert lexicon.readings("苞穀和洋芋的锈病，土蚕，玉米，打洋芋") == (
        Reading("苞穀", "玉米"), Reading("洋芋", "马铃薯"), Reading("锈病", "叶锈病"))
    assert lexicon.readings("馬鈴薯用Ｂｔ－７８１") == ()


def test_a_name_with_a_part_left_out_and_a_word_for_work_are_no_news(units):
    lexicon = Lexicon({"小粒种咖啡": "crop", "景谷": "place", "喷药": "practice"},
                      {"小粒咖啡": ("小粒种咖啡",), "景谷县": ("景谷",), "打药": ("喷药",)}, units)
    assert lexicon.readings("景谷县的小粒咖啡打药") == ()
    own = lexicon.with_own([OwnWord("杀虫", "喷药")])
    assert own.readings("景谷县杀虫") == (Reading("杀虫", "喷药"),)


def test_a_word_to_be_read_as_written_stays_whole_under_no_term(lexicon):
    plain = lexicon.without(["洋芋", "土蚕", "玉米", "没有的词"])
    assert plain.canonical("洋芋和玉米") == "洋芋和玉米"
    assert [e.term for e in plain.entities("洋芋、土蚕、玉米")] == ["玉米"]
    assert plain.tokens("洋芋")[0] == "洋芋"
    assert plain.readings("洋芋和苞谷") == (Reading("苞谷", "玉米"),)
    assert lexicon.canonical("洋芋") == "马铃薯"
    assert lexicon.without([]) is lexicon


def test_leaving_words_as_written_costs_under_five_milliseconds(domain):
    start = time.perf_counter()
    for _ in range(20):
        domain.without(["洋芋"])
    assert (time.perf_counter() - start) / 20 < 0.005


@settings(deadline=None)
@given(st.lists(st.sampled_from(["洋芋", "苞穀", "锈病", "阿拉比卡", "土蚕", "玉米", "，", "㎏", "晚疫病", "x"]), max_size=8))
def test_a_reading_is_told_as_the_reader_wrote_it(lexicon, pieces):
    text = "".join(pieces)
    for reading in lexicon.readings(text):
        assert reading.surface in text
        assert lexicon.names_of(reading.surface) == (reading.term,)
        assert reading not in lexicon.without([reading.surface]).readings(text)


def test_the_aliases_that_a_passage_writes_are_the_tokens_of_a_question_that_wants_them(lexicon):
    assert lexicon.written_aliases("洋芋晚疫病，土蚕，玉米，洋芋") == ["洋芋", "洋芋"]
    assert lexicon.written_aliases("洋芋")[0] in lexicon.without(["洋芋"]).tokens("洋芋怎么种")


# the shipped domain

def test_the_shipped_domain_loads_without_a_complaint(caplog):
    with caplog.at_level(logging.WARNING):
        Lexicon.load(ROOT / "assets" / "domain")
    assert not [r for r in caplog.records if r.name.startswith("nongda")]


def test_every_shipped_word_leads_to_a_term(domain, domain_words):
    assert [word for word in domain_words if not domain.entities(word)] == []


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_shipped_words_joined_in_any_order_are_canonical_after_one_pass(domain, domain_words, data):
    word = st.sampled_from(domain_words)
    quantity = st.builds("{}{}".format, st.integers(0, 99), st.sampled_from(["公斤", "千克", "毫升", "亩", "克", "倍液"]))
    text = "".join(data.draw(st.lists(word | quantity, max_size=5)))
    form = domain.canonical(text)
    assert domain.canonical(form) == form


@pytest.mark.parametrize("text", [  # joined words that form a longer alias once the first ones are replaced
    "地下水位艺妓咖啡枝小蠹", "日灼病病虫测报条形柄锈菌", "二星叶蝉gesha咖琲", "蜒蚰螺敌枯双", "cifc7960加保扶花腐病", "5千克/ha",
])
def test_words_that_form_new_ones_together_come_to_rest(domain, text):
    form = domain.canonical(text)
    assert domain.canonical(form) == form


def test_the_shipped_domain_keeps_awkward_product_names_whole(domain):
    assert {"2,4-滴", "bt-781"} <= set(domain.tokens("喷2,4-滴和Bt-781"))
    assert domain.tokens("洋芋的疫病")[0] == domain.tokens("马铃薯")[0]


def test_a_crop_that_only_seems_to_be_there_is_not_read(units):
    words = Lexicon({"花生": "crop", "咖啡": "crop"}, {}, units)
    assert [e.term for e in words.entities("咖啡开花生长期间")] == ["咖啡"]
    assert [e.term for e in words.entities("花生开花")] == ["花生"]
    assert [e.term for e in words.entities("咖啡豆怎么晒")] == ["咖啡"]


def test_a_question_with_an_ambiguous_name_is_searched_with_all_its_readings(lexicon):
    assert lexicon.question_tokens("土蚕") == [*lexicon.tokens("土蚕"), "天牛", "蚜虫"]
    assert lexicon.question_tokens("苞谷") == lexicon.tokens("玉米")
