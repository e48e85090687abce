"""Records to HTML: what is shown, what is marked, and that nothing a document says can act."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

from fake_desk import RUST, RUST_QUOTE, candidate, quoting, stored
from hypothesis import given
from hypothesis import strategies as st

from nongda.records import Answer, Citation, Note, Reading
from nongda.ui import prose, render
from nongda.ui.render import Exchange
from nongda.ui.texts import EN, STARTERS, STATUS_ZH, TEXTS, ZH, language_of

DOCUMENT = stored("1a2b3c4d", "咖啡叶锈病防治", "叶锈病.md")
FOUND = candidate(DOCUMENT, 3, RUST)
OTHER = candidate(stored("5e6f7a8b", "遮荫与间作", "遮荫.pdf", sample=False), 2, "荫蔽度以 30% 左右为宜。")
EVIL = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"


def words(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


def finished(text: str, **values: object) -> Exchange:
    answer = Answer(question="问", standalone="问", text=text, refused=False, citations=(quoting(FOUND, RUST_QUOTE),),
                    evidence=(OTHER, FOUND))
    answer = replace(answer, **values)  # type: ignore[arg-type]
    return Exchange(number=1, question="问", text=text, candidates=answer.evidence, answer=answer)


def test_a_citation_becomes_a_link_to_the_card_of_its_passage():
    html = render.answer_text("病斑在叶背。[1a2b3c4d#3]", 2, (FOUND,))
    assert '<a class="cite" href="#card-2-1a2b3c4d-3" title="咖啡叶锈病防治">[1a2b3c4d#3]</a>' in html
    assert 'id="card-2-1a2b3c4d-3"' in render.card(FOUND, 2, 1, (), ZH)


def test_a_citation_without_a_card_is_text_and_not_a_dead_link():
    assert "<a" not in render.answer_text("病斑在叶背。[ffffffff#9]", 1, (FOUND,))


def test_several_citations_in_one_bracket_each_get_their_link():
    html = render.answer_text("参考资料：[1a2b3c4d#3，5e6f7a8b#2]", 1, (FOUND, OTHER))
    assert re.findall(r'href="#([^"]*)"', html) == ["card-1-1a2b3c4d-3", "card-1-5e6f7a8b-2"]


def test_citations_are_stripped_for_the_history():
    assert prose.strip_citations("病斑在叶背。[1a2b3c4d#3][5e6f7a8b#2]剪枝。[1a2b3c4d#4]") == "病斑在叶背。剪枝。"
    assert prose.strip_citations("可以剪枝。\n\n参考资料：[1a2b3c4d#3，5e6f7a8b#2]") == "可以剪枝。"
    assert prose.strip_citations("见表 [3] 和 [abc#1]。") == "见表 [3] 和 [abc#1]。"


def test_the_quoted_sentence_is_marked_in_the_passage():
    assert render.marked(RUST, [RUST_QUOTE]).startswith(f"<mark>{RUST_QUOTE}</mark>发病初期")


def test_overlapping_quotes_give_one_mark():
    assert render.marked("一二三四五六", ["二三四", "三四五"]) == "一<mark>二三四五</mark>六"


def test_a_quote_that_is_not_in_the_passage_marks_nothing():
    assert render.marked("一二三", ["四", ""]) == "一二三"


@given(st.text(), st.lists(st.text(max_size=6), max_size=5), st.integers(0, 20), st.integers(0, 20))
def test_marking_never_changes_what_the_passage_says(text: str, quotes: list[str], start: int, end: int):
    html = render.marked(text, [*quotes, text[start:end]])
    pieces = re.sub(r"</?mark>", "", html)
    assert unescape(pieces) == text
    assert html.count("<mark>") == html.count("</mark>")
    assert "<" not in pieces


def test_a_card_says_where_the_passage_stands_and_that_it_is_a_sample():
    html = words(render.card(FOUND, 1, 4, [quoting(FOUND, RUST_QUOTE)], ZH))
    for part in ("4", "咖啡叶锈病防治", "病害 › 叶锈病", "第 3 页", "云南普洱", "2024-03-01", "病虫害防治",
                 "示例农技站", "叶锈病.md", "[1a2b3c4d#3]", "示例资料", "已引用", RUST):
        assert part in html
    plain = words(render.card(OTHER, 1, 1, (), ZH))
    assert "示例资料" not in plain and "已引用" not in plain


def test_cited_cards_come_first_and_the_others_are_folded_once_the_answer_is_there():
    html = render.evidence([finished("病斑在叶背。[1a2b3c4d#3]")], ZH)
    assert html.index("card-1-1a2b3c4d-3") < html.index("查到但回答没有引用 (1)") < html.index("card-1-5e6f7a8b-2")


def test_the_passages_of_a_stopped_answer_stay_open():
    html = render.evidence([finished("", stopped=True, citations=())], ZH)
    assert "没有引用" not in html and 'id="card-1-1a2b3c4d-3"' in html


def test_before_the_answer_the_cards_stand_in_the_order_of_the_ranking():
    html = render.evidence([Exchange(1, "问", candidates=(OTHER, FOUND))], ZH)
    assert html.index("card-1-5e6f7a8b-2") < html.index("card-1-1a2b3c4d-3")
    assert "没有引用" not in html


def test_the_passages_of_an_earlier_question_stay_reachable():
    html = render.evidence([finished("旧。[1a2b3c4d#3]"), Exchange(2, "新问题")], ZH)
    assert 'id="card-1-1a2b3c4d-3"' in html and "前面的问题：问" in html


def test_an_answer_shows_its_warnings_before_its_text():
    html = render.transcript([finished("剪除病枝。", warnings=("剂量没有依据",))], ZH)
    assert html.index("剂量没有依据") < html.index("剪除病枝。")


def test_a_refusal_and_a_stopped_answer_say_so_in_words():
    assert "未找到：资料中没有依据" in words(render.transcript([finished("未找到", refused=True)], ZH))
    assert "已停止，回答不完整" in words(render.transcript([finished("半", stopped=True)], ZH))
    assert "Not found: not in the documents" in words(render.transcript([finished("未找到", refused=True)], EN))


def test_a_running_question_says_what_is_being_done():
    assert "正在准备" in render.transcript([Exchange(1, "问")], ZH)
    assert "正在写回答" in render.transcript([Exchange(1, "问", stage="rerank")], ZH)
    assert "正在" not in render.transcript([Exchange(1, "问", error="坏了")], ZH)


def test_the_question_as_it_was_understood_is_shown_only_when_it_differs():
    assert "咖啡怎么治" in render.transcript([finished("答", standalone="咖啡怎么治")], ZH)
    assert "按这个意思查找" not in render.transcript([finished("答")], ZH)


def test_markup_from_documents_readers_and_the_model_stays_text():
    document = replace(DOCUMENT, source=EVIL, meta=replace(DOCUMENT.meta, title=EVIL, region=EVIL, authority=EVIL))
    chunk = replace(FOUND.chunk, text=EVIL, heading=(EVIL,))
    evil = replace(FOUND, chunk=chunk, document=document)
    exchange = replace(finished(f"{EVIL}[1a2b3c4d#3]", warnings=(EVIL,), standalone=EVIL, evidence=(evil,)),
                       question=EVIL)
    for html in (render.transcript([exchange], ZH), render.evidence([exchange], ZH), render.notice(EVIL, "error"),
                 render.transcript([Exchange(1, EVIL, error=EVIL)], ZH)):
        assert "<script" not in html and "<img" not in html
        assert EVIL in words(html)


def test_a_pasted_page_as_question_is_shown_shortened():
    html = render.transcript([Exchange(1, "长" * 20_000, error="问题太长")], ZH)
    assert html.count("长") == 299 + 1  # the error's own character


def test_bold_of_the_model_is_shown_as_bold():
    assert "<strong>注意</strong>" in render.answer_text("**注意**通风", 1, ())


ELSEWHERE = Citation("ffffffff#9", "禁限用名录", "名录.md", None, ("禁用农药",), "克百威自2024年起禁止使用。", remark="资料日期 2010。")


def test_every_kind_of_answer_is_said_in_words_and_by_a_sign():
    for kind, said in (("quoted", "摘录原文"), ("checked", "已核对"), ("computed", "按公式计算"), ("refused", "未找到"),
                       ("question", "请先说明")):
        html = render.transcript([finished("答", kind=kind)], ZH)
        assert f"{render.SIGNS[kind]} {said}" in words(html)
    assert "摘录原文" not in render.transcript([finished("未找到", refused=True)], ZH)  # whatever the kind says
    assert 'class="label kind' not in render.transcript([finished("", stopped=True)], ZH)


def test_law_and_then_trust_stand_before_the_text_with_a_sign_and_every_other_note_after_it():
    notes = tuple(Note(kind, f"说明{kind}") for kind in ("interval", "trust", "law", "contradiction", "checked", "registered",
                                                       "arithmetic"))
    html = render.transcript([finished("回答的话", notes=notes)], ZH)
    after = [html.index(f"说明{n.kind}") for n in notes if n.kind not in ("law", "trust")]
    assert html.index("说明law") < html.index("说明trust") < html.index("回答的话") < min(after)
    for heading in ("⚠ 农药法规", "⚠ 资料适用范围", "安全间隔期", "登记情况", "⚠ 资料说法不一", "计算过程", "核对情况"):
        assert heading in words(html)


def understood(*readings: Reading, question: str = "打玉米虫用什么药？", **values: object) -> Exchange:
    return replace(finished("答", readings=readings), question=question, **values)


BORER, CORN = Reading("打玉米虫", "玉米螟"), Reading("玉米虫", "玉米螟")


def test_what_was_understood_stands_above_the_text_with_a_button_that_undoes_it():
    html = render.transcript([understood(BORER)], ZH)
    assert "已按“玉米螟”理解“打玉米虫”" in words(html) and ">按原字查找</button>" in html
    assert html.index("已按“玉米螟”") < html.index("按原字查找") < html.index("答</p>")
    assert 'data-reading="1/0/as-written" aria-label="已按“玉米螟”理解“打玉米虫”: 按原字查找"' in html
    assert "Understood “打玉米虫” as “玉米螟”" in words(render.transcript([understood(BORER)], EN))


def test_a_word_searched_for_as_written_says_so_with_a_way_back_also_while_the_answer_runs():
    for exchange in (understood(written=(CORN, BORER)), Exchange(1, "打玉米虫用什么药？", written=(CORN, BORER))):
        html = render.transcript([exchange], ZH)
        assert "按原字“打玉米虫”查找" in words(html) and "已按" not in words(html)
        assert re.findall(r'data-reading="([^"]*)"[^>]*>([^<]*)<', html) == [
            ("1/0/understood", "改回按“玉米螟”理解"), ("1/1/understood", "改回按“玉米螟”理解")]


def test_a_word_as_written_is_not_spoken_of_where_the_question_does_not_hold_it_in_any_script():
    assert "按原字" not in render.transcript([understood(written=(BORER,), question="水稻怎么施肥？")], ZH)
    assert "按原字“洋芋”" in render.transcript([understood(written=(Reading("洋芋", "马铃薯"),), question="洋芋咋種")], ZH)
    assert "按原字“ZhouSi”" in render.transcript([understood(written=(Reading("ZhouSi", "皱丝病"),), question="ZHOUSI 怎么办")], ZH)
    followed = finished("答", standalone="打玉米虫每亩用多少")
    assert "按原字“打玉米虫”" in render.transcript([replace(followed, question="那每亩呢", written=(BORER,))], ZH)


def test_at_most_four_readings_are_shown_and_the_rest_is_folded():
    many = tuple(Reading(f"俗名{n}", f"标准名{n}") for n in range(6))
    html = render.transcript([understood(*many)], ZH)
    shown, folded = html.split('<details class="more">')
    assert shown.count('class="reread"') == 4 and folded.count('class="reread"') == 2
    assert "<summary>还有 2 处</summary>" in folded
    assert "details" not in render.transcript([understood(*many[:4])], ZH)


def test_a_note_s_citation_leads_to_its_card_and_marks_it_even_when_the_text_does_not_cite_it():
    note = Note("interval", "采收前14天停药。", (quoting(OTHER, "荫蔽度以 30% 左右为宜。"),))
    exchange = finished("答[1a2b3c4d#3]", notes=(note,))
    assert 'href="#card-1-5e6f7a8b-2"' in render.transcript([exchange], ZH)
    html = render.evidence([exchange], ZH)
    assert "<mark>荫蔽度以 30% 左右为宜。</mark>" in html and "没有引用" not in html


def test_a_note_that_cites_in_its_text_gets_no_second_link():
    note = Note("contradiction", "一说[1a2b3c4d#3]，一说[5e6f7a8b#2]", (quoting(FOUND, RUST_QUOTE), quoting(OTHER, "荫蔽度")))
    assert render.transcript([finished("答", notes=(note,))], ZH).count('class="cite"') == 2


def test_a_note_s_citation_without_a_card_shows_its_source_and_words_in_place():
    html = words(render.transcript([finished("答", notes=(Note("law", "克百威禁用。", (ELSEWHERE,)),))], ZH))
    for part in ("克百威自2024年起禁止使用。", "禁限用名录 › 禁用农药", "[ffffffff#9]", "请留意：资料日期 2010。"):
        assert part in html


def test_a_remark_stands_on_the_card_with_a_sign_and_words_in_place_of_the_tag():
    remarked = replace(quoting(FOUND, RUST_QUOTE), remark="您问的是海南，这里讲的是云南；示例资料，未经植保专家审核。")
    html = words(render.evidence([finished("答[1a2b3c4d#3]", citations=(remarked, remarked), evidence=(FOUND,))], ZH))
    assert html.count("⚠ 请留意：您问的是海南，这里讲的是云南；示例资料，未经植保专家审核。") == 1
    assert html.count("未经植保专家审核") == 1


def test_choices_are_buttons_with_the_whole_question():
    html = render.transcript([finished("问的是哪一种？", kind="question", choices=("小地老虎怎么治", "蛴螬怎么治<b>"))], ZH)
    assert re.findall(r'<button type="button" class="choice">(.*?)</button>', html) == ["小地老虎怎么治", "蛴螬怎么治&lt;b&gt;"]


def test_rows_of_bars_become_a_table_with_citations_in_its_cells():
    html = render.answer_text("先看：\n| 项目 | 甲 | 乙 |\n|---|---|---|\n| 天数 | 14天[1a2b3c4d#3] | 28天 |[5e6f7a8b#2]\n| 备注 |",
                              1, (FOUND, OTHER))
    assert '<thead><tr><th scope="col">项目</th><th scope="col">甲</th><th scope="col">乙</th></tr></thead>' in html
    assert re.findall(r"<td>(.*?)</td>", re.sub(r"</?a[^>]*>", "", html)) == [
        "天数", "14天[1a2b3c4d#3]", "28天[5e6f7a8b#2]", "备注", "", ""]
    assert html.startswith('<div class="text"><p>先看：</p><div class="wide" tabindex="0"><table class="compare columns-3">')


def test_a_cell_for_which_the_documents_have_nothing_is_told_apart():
    html = render.answer_text("| 药剂 | 间隔 |\n|---|---|\n| 甲 | 资料中没有写 |", 1, ())
    assert '<td>甲</td><td class="missing">资料中没有写</td>' in html


def test_a_table_wider_than_any_answer_keeps_all_its_columns():
    row = "|" + "格|" * 9
    assert render.answer_text(f"{row}\n|{'---|' * 9}\n{row}", 1, ()).count("<td>格</td>") == 9


def test_numbered_lines_become_an_ordered_list_that_keeps_its_numbers():
    html = render.answer_text("做法：\n1. 挖塘[1a2b3c4d#3]\n2、施肥\n10．浇水\n完。\n2.5克\n15、16号", 1, ())
    assert re.findall(r'<li value="(\d+)">', html) == ["1", "2", "10"]
    assert html.endswith("</ol><p>完。\n2.5克\n15、16号</p></div>")


def test_one_row_alone_and_other_markup_stay_text():
    text = "| 一 | 二 |\n# 标题\n- 项\n> 引\n[链接](http://a.example)\n![图](x.png)\n`码`"
    assert render.answer_text(text, 1, ()) == f'<div class="text"><p>{text.replace("> 引", "&gt; 引").split(chr(10))[0]}</p><p>' + (
        text.replace("> 引", "&gt; 引").split("\n", 1)[1] + "</p></div>")


class Tags(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[tuple[str, str]] = set()
        self.open = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {(tag, name) for name, _ in attrs} | {(tag, "")}
        self.open += 1
        assert all(value.startswith("#card-") for name, value in attrs if name == "href" and value)

    def handle_endtag(self, tag: str) -> None:
        self.open -= 1


HARMLESS = {
    "div": {"class", "role", "aria-live", "tabindex"}, "p": {"class"}, "span": {"class", "aria-hidden"}, "b": {"class"}, "i": set(),
    "a": {"class", "href", "title"}, "strong": set(), "ol": set(), "li": {"value"}, "ul": {"class"}, "table": {"class"},
    "thead": set(), "tbody": set(), "tr": set(), "th": {"scope"}, "td": {"class"}, "details": {"class", "id", "open"},
    "summary": set(), "mark": set(), "code": set(), "blockquote": set(), "footer": set(), "h2": set(),
    "button": {"type", "class", "data-reading", "data-open", "aria-label"},
}
nasty = st.lists(st.sampled_from([
    EVIL, "<", ">", '"', "'", "&", "&lt;", "**", "|", "\n", "|---|\n", "1. ", "2、", "[1a2b3c4d#3]", "[ffffffff#9]", "`", "](javascript:x)",
    "<b onclick=x>", "</div>", "字", " ", "\\|", "javascript:"]), max_size=14).map("".join)


@given(nasty, nasty, nasty, nasty)
def test_nothing_a_document_or_a_model_wrote_adds_an_element_or_attribute(text: str, said: str, named: str, quote: str):
    document = replace(DOCUMENT, source=named, meta=replace(DOCUMENT.meta, title=named, authority=said))
    found = replace(FOUND, document=document, chunk=replace(FOUND.chunk, text=text + quote, heading=(named,)))
    cited = Citation(found.chunk.id, named, said, None, (said,), quote, remark=said)
    note = Note("contradiction", said, (cited, replace(cited, id="ffffffff#9")))
    exchange = finished(text, evidence=(found,), citations=(cited,), notes=(note, replace(note, kind="law")),
                        choices=(said, text), kind="question", warnings=(said,), standalone=named,
                        readings=(Reading(said, named), Reading(named, text)))
    exchange = replace(exchange, question=text + quote, written=(Reading(quote, said), Reading(text, named)))
    for html in (render.transcript([exchange], ZH), render.evidence([exchange], ZH)):
        tags = Tags()
        tags.feed(html)
        tags.close()
        assert tags.open == 0
        assert all(name == "" or name in HARMLESS[tag] for tag, name in tags.seen)


def test_both_languages_have_the_same_words_and_placeholders():
    assert ZH.keys() == EN.keys()
    for key, text in ZH.items():
        assert sorted(re.findall(r"{\w+}", text)) == sorted(re.findall(r"{\w+}", EN[key])), key
    assert all(key in ZH for key in STARTERS) and set(TEXTS) == {"zh", "en"}
    assert all(name and value for name, value in STATUS_ZH.items())


def test_the_language_follows_the_browser_and_is_chinese_where_it_says_nothing():
    for header in ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh", "ZH-tw", "*"):
        assert language_of(header) == "zh"
    for header in ("en-US,en;q=0.9", "fr-FR", "zha-CN"):
        assert language_of(header) == "en"
