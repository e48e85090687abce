"""Records to HTML: what is shown, what is marked, and that nothing a document says can act."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

from fake_desk import RUST, RUST_QUOTE, candidate, quoting, stored
from hypothesis import given
from hypothesis import strategies as st

from nongda.records import Answer
from nongda.ui import render
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
    assert render.strip_citations("病斑在叶背。[1a2b3c4d#3][5e6f7a8b#2]剪枝。[1a2b3c4d#4]") == "病斑在叶背。剪枝。"
    assert render.strip_citations("可以剪枝。\n\n参考资料：[1a2b3c4d#3，5e6f7a8b#2]") == "可以剪枝。"
    assert render.strip_citations("见表 [3] 和 [abc#1]。") == "见表 [3] 和 [abc#1]。"


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
    html = words(render.card(FOUND, 1, 4, [RUST_QUOTE], ZH))
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
    assert "资料中没有依据" in words(render.transcript([finished("未找到", refused=True)], ZH))
    assert "已停止，回答不完整" in words(render.transcript([finished("半", stopped=True)], ZH))
    assert "Not in the documents" in words(render.transcript([finished("未找到", refused=True)], EN))


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
