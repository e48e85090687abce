import email.message
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.parse import parse_bytes
from nongda.documents.parse_html import parse_html
from nongda.errors import DocumentError

BODY = "玉米大喇叭口期追施尿素，每亩 15 公斤，结合浇水施入。"


def page(body, head=""):
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode()


def texts(body, head=""):
    return [block.text for block in parse_html(page(body, head), "a.html").blocks]


def test_headings_paragraphs_and_lists_carry_their_heading_path():
    document = parse_html(page(
        "<h1>玉米施肥</h1><h2>底肥</h2><p>整地时施入。</p><h3>用量</h3><ul><li>尿素 10 公斤</li><li>钾肥 5 公斤</li></ul>"
        "<h2>追肥</h2><ol start='3'><li>拔节期</li><li><p>大喇叭口期</p><p>结合浇水</p></li></ol>"), "a.html")
    assert document.meta.title == "玉米施肥"
    assert [(b.kind, b.text, b.heading) for b in document.blocks] == [
        ("paragraph", "整地时施入。", ("底肥",)),
        ("list", "- 尿素 10 公斤\n- 钾肥 5 公斤", ("底肥", "用量")),
        ("list", "3. 拔节期\n4. 大喇叭口期\n结合浇水", ("追肥",)),
    ]


def test_what_stands_around_the_text_is_left_out():
    document = parse_html(page(
        "<header><a href=1>首页</a><a href=2>政务公开</a></header><nav>栏目一 栏目二</nav>"
        "<div class='top-nav'>机构职能</div><div>当前位置：<a href=1>首页</a> &gt; <a href=2>农技推广</a></div>"
        f"<h1>玉米施肥</h1><p>{BODY}</p><p>详见<a href=3>施肥手册</a>第三章。</p><script>var a='脚本'</script><style>p{{}}</style>"
        "<form><input value='搜索'>请输入<button>检索</button></form>"
        "<ul><li><a href=4>水稻育秧要点</a></li><li><a href=5>小麦冬灌要点</a></li></ul>"
        "<div style='display:none'>隐藏</div><div id='footer'>主办单位 备案号</div><footer>版权</footer>"), "a.html")
    assert [b.text for b in document.blocks] == [BODY, "详见施肥手册第三章。"]


def test_a_page_that_stands_in_one_form_or_in_a_footer_is_kept():
    assert texts(f"<form id='aspnetForm'><h1>题</h1><p>{BODY}</p></form>") == [BODY]
    assert texts(f"<div class='footer'><p>{BODY}</p></div>") == [BODY]


def test_nested_tables_that_lay_out_the_page_are_read_in_order():
    inner = "<table border=1><tr><td>药剂</td><td>每亩用量</td></tr><tr><td>甲药</td><td>30 克</td></tr></table>"
    document = parse_html(page(
        "<table><tr><td><table><tr><td><a href=1>首页</a></td><td><a href=2>农业</a></td></tr></table></td></tr>"
        f"<tr><td><font size=4><center>用药说明</center></font><p>{BODY}</p>{inner}<p>注意轮换。</p></td></tr></table>"), "a.html")
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("paragraph", "用药说明"), ("paragraph", BODY),
        ("table", "| 药剂 | 每亩用量 |\n|---|---|\n| 甲药 | 30 克 |"), ("paragraph", "注意轮换。")]


def test_merged_cells_are_filled_in():
    body = ("<table><caption>表1 用药</caption><thead><tr><th rowspan=2>作物</th><th colspan=2>用量</th></tr>"
            "<tr><th>每亩</th><th>倍数</th></tr></thead><tfoot><tr><td>水稻</td><td>40 克</td><td>800</td></tr></tfoot>"
            "<tbody><tr><td rowspan=2>玉米</td><td>20 克</td><td>1500</td></tr><tr><td>30 克</td><td>1000</td></tr></tbody></table>")
    assert texts(body) == ["表1 用药", "| 作物 | 用量 每亩 | 用量 倍数 |\n|---|---|---|\n"
                           "| 玉米 | 20 克 | 1500 |\n| 玉米 | 30 克 | 1000 |\n| 水稻 | 40 克 | 800 |"]


def test_line_breaks_make_paragraphs_and_line_ends_of_the_file_do_not():
    assert texts("<p>第一段的\n  第一句。<br>　　第二段。<br/><br/>第三段 ab\ncd。</p>") == [
        "第一段的第一句。", "第二段。", "第三段 ab cd。"]
    assert texts("<pre>第一行。\n第二行。</pre>") == ["第一行。", "第二行。"]


def test_raised_numbers_stay_powers():
    assert texts("<p>10<sup>8</sup> 孢子，每 m<sup>2</sup> 用 P<sub>2</sub>O<sub>5</sub>，10<sup>-3</sup>，据<sup>[1]</sup>。</p>") == [
        "10⁸ 孢子，每 m² 用 P2O5，10⁻³，据[1]。"]


def test_numbered_lines_are_headings_where_the_page_has_no_others():
    document = parse_html(page("<h1>题目</h1><p>一、选地</p><p>坡度要小。</p><p>二、定植</p><p>雨季定植。</p>"), "a.html")
    assert [b.heading for b in document.blocks] == [("一、选地",), ("二、定植",)]


def test_a_page_saved_from_wechat_is_its_article_alone():
    body = ("<h1 id='activity-name'>\n 雨季防病要点 \n</h1><span id='js_name'>某县农技</span>"
            "<div id='js_content' style='visibility: hidden;'><section><section><span>一、</span><span>选药</span></section>"
            "<section><p><span>选用对路药剂，</span><span>交替使用。</span></p><p><img data-src='1'></p></section></section></div>"
            "<div>预览时标签不可点</div>")
    document = parse_html(page(body, "<meta property='og:title' content='别的'>"), "a.html")
    assert document.meta.title == "雨季防病要点"
    assert [(b.text, b.heading) for b in document.blocks] == [("选用对路药剂，交替使用。", ("一、选药",))]


@pytest.mark.parametrize(("head", "title"), [
    ("<title>马铃薯晚疫病防治意见_某省农业农村厅</title>", "马铃薯晚疫病防治意见"),
    ("<title>马铃薯晚疫病防治意见-某县人民政府网</title>", "马铃薯晚疫病防治意见"),
    ("<title>马铃薯晚疫病防治意见 - 通知公告 - 某厅</title>", "马铃薯晚疫病防治意见"),
    ("<title>2,4-滴的安全使用</title>", "2,4-滴的安全使用"),
    ("<title>某厅</title><meta name='ArticleTitle' content='马铃薯晚疫病防治意见'>", "马铃薯晚疫病防治意见"),
    ("", "a"),
])
def test_the_title_is_that_of_the_article_without_the_site(head, title):
    assert parse_html(page(f"<p>{BODY}</p>", head), "a.html").meta.title == title


def test_the_date_is_what_the_page_declares_for_the_article():
    head = "<meta name='PubDate' content='2023-04-05 10:00'>"
    assert parse_html(page(f"<p>{BODY}</p>", head), "a.html").meta.date == "2023-04-05"
    assert parse_html(page(f"<p>{BODY}</p>", head.replace("04-05", "14-45")), "a.html").meta.date == ""


@pytest.mark.parametrize("encoding", ["gb2312", "gbk", "gb18030", "utf-8", "utf-8-sig", "utf-16", "big5"])
def test_pages_are_read_in_their_encoding(encoding):
    text = f"<html><head><meta http-equiv=Content-Type content='text/html; charset={encoding}'></head><body><p>{BODY}</p></body></html>"
    if encoding == "big5":
        text = text.replace(BODY, "馬鈴薯晚疫病應及時噴藥防治。")
    assert ("馬鈴薯" if encoding == "big5" else BODY) in parse_html(text.encode(encoding), "a.html").blocks[0].text


def test_entities_are_not_expanded_and_no_file_is_read(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("不可外泄")
    data = (f'<!DOCTYPE html [<!ENTITY a "哈哈哈哈"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "{secret.as_uri()}">]>'
            f"<html><body><p>{BODY}&b;&x;</p></body></html>").encode()
    said = " ".join(b.text for b in parse_html(data, "a.html").blocks)
    assert BODY in said and "不可外泄" not in said and "哈哈" not in said.split(BODY)[1]


@pytest.mark.parametrize("depth", [300, 1500])
def test_elements_left_open_by_hundreds_lose_no_text(depth):
    assert texts("<font><div>" * (depth // 2) + BODY) == [BODY]


def saved_page(body, charset="gb2312", encoding="quoted-printable"):
    message = email.message.MIMEPart()
    message.set_content("<html><body><p>短</p></body></html>", subtype="html")
    main = email.message.MIMEPart()
    main.set_content(f"<html><body>{body}</body></html>".encode(charset), "text", "html", cte=encoding)
    main.set_param("charset", charset)
    whole = email.message.EmailMessage()
    whole["MIME-Version"] = "1.0"
    whole.set_content("x", subtype="related")
    boundary = "----=_Next"
    parts = "".join(f"--{boundary}\r\n{part.as_string()}\r\n" for part in (message, main))
    return (f"From: <Saved by Browser>\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n"
            f"\tboundary=\"{boundary}\"\r\n\r\n{parts}--{boundary}--\r\n").encode()


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64"])
@pytest.mark.parametrize("charset", ["gb2312", "utf-8"])
def test_a_page_saved_as_one_file_is_its_longest_page(charset, encoding):
    data = saved_page(f"<h1>题</h1><p>{BODY}</p>", charset, encoding)
    assert [b.text for b in parse_bytes(data, "网页.mht").blocks] == [BODY]
    assert parse_bytes(data, "网页.mht").warnings == ()


def test_a_page_without_words_is_refused():
    with pytest.raises(DocumentError, match="a.html.*没有文字"):
        parse_bytes(page("<img src=1><script>x</script>"), "a.html")


def test_pictures_that_carry_the_text_are_a_warning():
    document = parse_html(page("<h1>题</h1><p>请看图。</p>" + "<img src=1>" * 3), "a.html")
    assert len(document.warnings) == 1 and "3 张图片" in document.warnings[0]


@given(st.text(alphabet="<>/=\"' pdivtableruhl1&;玉米\n", max_size=200))
def test_any_markup_is_read_or_refused_in_one_sentence(text):
    try:
        parse_bytes(f"<html><body>{text}".encode(), "a.html")
    except DocumentError as error:
        assert "损坏" not in str(error)


def test_cells_merged_over_thousands_of_columns_are_bounded():
    began = time.process_time()
    spans = "<td colspan=1000 rowspan=9999>玉米</td>" * 60
    document = parse_html(page(f"<table border=1><tr>{spans}</tr>{'<tr><td>甲</td></tr>' * 3000}</table>"), "a.html")
    assert "玉米" in document.blocks[0].text and time.process_time() - began < 10
