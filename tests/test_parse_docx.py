import copy
import io
import random
import zipfile

import docx
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from PIL import Image
from table_world import TABLES, cells_recovered, spans_of

from nongda.documents import parse_docx as module
from nongda.documents.parse import parse_bytes
from nongda.documents.parse_docx import parse_docx
from nongda.errors import DocumentError


@pytest.fixture
def word():
    document = docx.Document()
    document.core_properties.title = ""
    return document


def saved(document):
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def blocks(document):
    return [(b.kind, b.text) for b in parse_docx(saved(document), "手册.docx").blocks]


def add_xml(document, xml):
    document.element.body.insert(0, parse_xml(xml.replace("<w:p>", f"<w:p {nsdecls('w')}>", 1)))


def test_headings_by_style_are_the_path_and_the_title_style_is_the_title(word):
    word.add_paragraph("咖啡手册", style="Title")
    word.add_heading("防治", 1)
    word.add_heading("药剂", 2)
    word.add_paragraph("喷药。")
    word.add_heading("采收", 1)
    word.add_paragraph("采红果。")
    document = parse_docx(saved(word), "手册.docx")
    assert document.meta.title == "咖啡手册"
    assert [(b.text, b.heading) for b in document.blocks] == [("喷药。", ("防治", "药剂")), ("采红果。", ("采收",))]


def test_the_title_comes_from_the_properties_then_a_heading_then_the_file(word):
    word.add_paragraph("文。")
    assert parse_docx(saved(word), "手册.docx").meta.title == "手册"
    word.add_heading("防治", 1)
    word.add_paragraph("文。")
    assert parse_docx(saved(word), "手册.docx").meta.title == "防治"
    word.core_properties.title = "咖啡 手册"
    assert parse_docx(saved(word), "手册.docx").meta.title == "咖啡 手册"


def test_numbered_lines_are_headings_where_no_style_is(word):
    for text in ("一、症状", "叶背有黄粉。", "（一）初期", "有小斑。"):
        word.add_paragraph(text)
    document = parse_docx(saved(word), "手册.docx")
    assert [b.heading for b in document.blocks] == [("一、症状",), ("一、症状", "（一）初期")]


def test_lists_and_tables_stand_in_document_order(word):
    word.add_paragraph("步骤：")
    word.add_paragraph("清园", style="List Bullet")
    word.add_paragraph("喷药", style="List Bullet")
    table = word.add_table(2, 2)
    for cell, text in zip((c for row in table.rows for c in row.cells), ("药剂", "用量", "波尔多液", "1%"), strict=True):
        cell.text = text
    word.add_paragraph("先清园", style="List Number")
    word.add_paragraph("再喷药", style="List Number")
    word.add_paragraph("完。")
    assert blocks(word) == [
        ("paragraph", "步骤："), ("list", "- 清园\n- 喷药"),
        ("table", "| 药剂 | 用量 |\n|---|---|\n| 波尔多液 | 1% |"),
        ("list", "1. 先清园\n2. 再喷药"), ("paragraph", "完。")]


def test_chinese_item_numbers_are_counted_as_word_shows_them(word):
    numbering = word.part.numbering_part.element
    numbering.insert(0, parse_xml(
        f'<w:abstractNum {nsdecls("w")} w:abstractNumId="90"><w:lvl w:ilvl="0"><w:start w:val="9"/>'
        '<w:numFmt w:val="chineseCountingThousand"/><w:lvlText w:val="（%1）"/></w:lvl></w:abstractNum>'))
    numbering.append(parse_xml(
        f'<w:num {nsdecls("w")} w:numId="90"><w:abstractNumId w:val="90"/></w:num>'))
    for text in ("甲", "乙", "丙", "丁"):
        properties = word.add_paragraph(text)._p.get_or_add_pPr()
        properties.append(parse_xml(
            f'<w:numPr {nsdecls("w")}><w:ilvl w:val="0"/><w:numId w:val="90"/></w:numPr>'))
    assert blocks(word) == [("list", "（九） 甲\n（十） 乙\n（十一） 丙\n（十二） 丁")]


def test_a_cell_merged_downwards_is_repeated_and_a_title_row_stands_above(word):
    table = word.add_table(4, 3)
    rows = (("表1 用量", "", ""), ("药剂", "时期", "用量"), ("波尔多液", "雨季前", "1%"), ("", "雨季中", "0.5%"))
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    table.cell(0, 0).merge(table.cell(0, 2))
    table.cell(2, 0).merge(table.cell(3, 0))
    assert blocks(word) == [
        ("paragraph", "表1 用量"),
        ("table", "| 药剂 | 时期 | 用量 |\n|---|---|---|\n| 波尔多液 | 雨季前 | 1% |\n| 波尔多液 | 雨季中 | 0.5% |")]


def test_a_name_across_header_columns_is_repeated_and_a_value_across_is_not(word):
    table = word.add_table(2, 3)
    for cell, text in zip((c for row in table.rows for c in row.cells), ("药剂", "用量", "", "停用", "", "丙"), strict=True):
        cell.text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(1, 1))
    assert blocks(word) == [("table", "| 药剂 | 用量 | 用量 |\n|---|---|---|\n| 停用 |  | 丙 |")]


def test_a_table_of_one_column_is_a_frame_around_text(word):
    table = word.add_table(2, 1)
    table.cell(0, 0).text, table.cell(1, 0).text = "提示。", "注意。"
    assert blocks(word) == [("paragraph", "提示。"), ("paragraph", "注意。")]


def test_insertions_count_and_deletions_do_not(word):
    add_xml(word, "<w:p><w:r><w:t>用</w:t></w:r><w:ins><w:r><w:t>30</w:t></w:r></w:ins>"
                  "<w:del><w:r><w:delText>50</w:delText></w:r></w:del><w:r><w:t>克。</w:t></w:r></w:p>")
    assert blocks(word) == [("paragraph", "用30克。")]


def test_a_line_break_parts_paragraphs(word):
    word.add_paragraph("单位：某站\n电话：123")
    assert blocks(word) == [("paragraph", "单位：某站"), ("paragraph", "电话：123")]


def test_the_words_of_a_text_box_are_read_once(word):
    box = "<w:txbxContent><w:p><w:r><w:t>框内。</w:t></w:r></w:p></w:txbxContent>"
    space = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    add_xml(word, f"<w:p><w:r><w:t>框外。</w:t></w:r><w:r><mc:AlternateContent {space}><mc:Choice>{box}</mc:Choice>"
                  f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>")
    assert blocks(word) == [("paragraph", "框外。"), ("paragraph", "框内。")]


def test_a_text_box_in_a_text_box_and_one_in_a_cell_are_read_once(word):
    def box(words, inside=""):
        return f"<w:r><w:pict><w:txbxContent><w:p><w:r><w:t>{words}</w:t></w:r>{inside}</w:p></w:txbxContent></w:pict></w:r>"

    add_xml(word, f"<w:p><w:r><w:t>框外。</w:t></w:r>{box('外框。', box('内框。'))}</w:p>")
    table = put(word, (("药剂", "用量"), ("甲", "20")))
    table.cell(1, 1).paragraphs[0]._p.append(parse_xml(box("框中。").replace("<w:r>", f"<w:r {nsdecls('w')}>", 1)))
    assert [text for kind, text in blocks(word)] == [
        "框外。", "外框。", "内框。", "| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |", "框中。"]


def test_an_encrypted_file_or_an_old_doc_is_one_sentence():
    with pytest.raises(DocumentError, match="手册.docx.*密码"):
        parse_docx(bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 100, "手册.docx")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(word, monkeypatch):
    buffer = io.BytesIO(saved(word))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/bomb.xml", b"\0" * (21 * 2**20))
    monkeypatch.setattr(module, "_opened", lambda _: pytest.fail("was opened"))
    with pytest.raises(DocumentError, match="手册.docx.*大得异常"):
        parse_bytes(buffer.getvalue(), "手册.docx")


def put(document, layout):
    table = document.add_table(len(layout), len(layout[0]))
    for text, r, c, rows, columns in spans_of(layout):
        cell = table.cell(r, c)
        cell.text = text
        cell.merge(table.cell(r + rows - 1, c + columns - 1))
    return table


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.name)
def test_merged_headers_and_labels_are_found_cell_by_cell(word, case):
    word.add_paragraph(case.caption)
    put(word, case.layout)
    (_, caption), (kind, text) = blocks(word)
    assert (caption, kind) == (case.caption, "table")
    assert cells_recovered(case.rows, text) == (sum(map(len, case.rows)),) * 2


def test_header_rows_that_word_repeats_on_each_page_are_the_header(word):
    table = put(word, (("药剂", "苗期", "穗期"), ("名称", "用量", "用量"), ("甲", "停用", "少用")))
    for row in table.rows[:2]:
        row._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {nsdecls('w')}/>"))
    assert blocks(word)[0][1].split("\n")[0] == "| 药剂 名称 | 苗期 用量 | 穗期 用量 |"


def test_the_unit_between_caption_and_table_stays_with_the_table(word):
    word.add_paragraph("表1 水稻用药")
    word.add_paragraph("单位：克/亩")
    put(word, (("药剂", "用量"), ("甲", "20")))
    word.add_paragraph("单位：公斤/亩")
    put(word, (("肥料", "用量"), ("尿素", "10")))
    assert [text for kind, text in blocks(word) if kind == "paragraph"] == ["表1 水稻用药 单位：克/亩", "表 单位：公斤/亩"]


def test_a_table_inside_a_cell_is_a_table_named_by_its_row(word):
    table = put(word, (("病害", "用药"), ("稻瘟病", "见内表")))
    inner = table.cell(1, 1).add_table(2, 2)
    for cell, text in zip((c for row in inner.rows for c in row.cells), ("药剂", "用量", "甲", "20"), strict=True):
        cell.text = text
    assert blocks(word) == [
        ("table", "| 病害 | 用药 |\n|---|---|\n| 稻瘟病 | 见内表 |"), ("paragraph", "表 稻瘟病"),
        ("table", "| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |")]


def test_a_frame_around_a_table_and_a_heading_is_only_a_frame(word):
    frame = word.add_table(1, 1).cell(0, 0)
    frame.paragraphs[0].text = "用药"
    frame.paragraphs[0].style = "Heading 1"
    inner = frame.add_table(2, 2)
    for cell, text in zip((c for row in inner.rows for c in row.cells), ("药剂", "用量", "甲", "20"), strict=True):
        cell.text = text
    block, = parse_docx(saved(word), "手册.docx").blocks
    assert block.kind == "table" and "| 甲 | 20 |" in block.text


def test_a_row_deleted_with_changes_tracked_is_gone(word):
    table = put(word, (("药剂", "用量"), ("甲", "20"), ("乙", "30")))
    table.rows[1]._tr.get_or_add_trPr().append(parse_xml(f"<w:del {nsdecls('w')}/>"))
    assert blocks(word) == [("table", "| 药剂 | 用量 |\n|---|---|\n| 乙 | 30 |")]


def test_rows_inside_a_content_control_are_read(word):
    table = put(word, (("药剂", "用量"), ("甲", "20")))
    control = parse_xml(f"<w:sdt {nsdecls('w')}><w:sdtContent/></w:sdt>")
    row = table.rows[1]._tr
    row.addprevious(control)
    control[0].append(row)
    assert "| 甲 | 20 |" in blocks(word)[0][1]


def test_columns_merged_in_the_old_way_are_one_cell(word):
    table = put(word, (("品种", "产量", ""), ("", "头季", "二季"), ("甲", "500", "300")))
    for number, value in ((1, "restart"), (2, "continue")):
        properties = table.rows[0]._tr.findall(qn("w:tc"))[number].get_or_add_tcPr()
        properties.append(parse_xml(f"<w:hMerge {nsdecls('w')} w:val='{value}'/>"))
    assert blocks(word)[0][1].split("\n")[0] == "| 品种 | 产量 头季 | 产量 二季 |"


def test_lines_of_a_cell_are_parted_and_those_of_a_header_are_one_name(word):
    put(word, (("药剂", "安全间\n隔期"), ("三环唑\n稻瘟灵", "21")))
    assert blocks(word)[0][1] == "| 药剂 | 安全间隔期 |\n|---|---|\n| 三环唑 稻瘟灵 | 21 |"


def test_hidden_words_and_field_codes_are_not_read_but_results_are(word):
    add_xml(word, "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>密</w:t></w:r><w:r><w:fldChar w:fldCharType='begin'/></w:r>"
                  "<w:r><w:instrText>= 2*10</w:instrText></w:r><w:r><w:fldChar w:fldCharType='separate'/></w:r>"
                  "<w:r><w:t>20</w:t></w:r><w:r><w:fldChar w:fldCharType='end'/></w:r><w:r><w:t>克。</w:t></w:r></w:p>")
    assert blocks(word) == [("paragraph", "20克。")]


def test_raised_numbers_are_powers_and_large_pictures_are_counted(word):
    paragraph = word.add_paragraph("每克10")
    paragraph.add_run("8").font.superscript = True
    paragraph.add_run("个。")
    picture = io.BytesIO()
    Image.frombytes("RGB", (200, 200), random.Random(6).randbytes(120_000)).save(picture, "PNG")
    word.add_picture(picture)
    document = parse_docx(saved(word), "手册.docx")
    assert [b.text for b in document.blocks] == ["每克10⁸个。"]
    assert document.warnings == ("文件“手册.docx”里有 1 张图片，图片里的文字没有读取：需要的话请把图片另存后单独添加",)


def test_headers_and_footers_are_not_read(word):
    word.sections[0].header.paragraphs[0].text = "某站内部"
    word.sections[0].footer.paragraphs[0].text = "第1页"
    word.add_paragraph("文。")
    assert blocks(word) == [("paragraph", "文。")]


def with_footnote(word, text):
    part = Part(PackURI("/word/footnotes.xml"), "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml",
                f"<w:footnotes {nsdecls('w')}><w:footnote w:id='2'><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:footnote>"
                "</w:footnotes>".encode(), word.part.package)
    word.part.relate_to(part, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes")
    return parse_xml(f"<w:r {nsdecls('w')}><w:footnoteReference w:id='2'/></w:r>")


def test_a_footnote_follows_its_paragraph_or_table(word):
    mark = with_footnote(word, "每季最多两次。")
    word.add_paragraph("喷药。")._p.append(mark)
    put(word, (("药剂", "用量"), ("甲", "20"))).cell(1, 1).paragraphs[0]._p.append(copy.deepcopy(mark))
    assert [text for _, text in blocks(word)] == [
        "喷药。", "注：每季最多两次。", "| 药剂 | 用量 |\n|---|---|\n| 甲 | 20 |", "注：每季最多两次。"]


def test_a_document_with_macros_is_read_and_they_are_not_run(word):
    word.add_paragraph("文。")
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(word))) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "[Content_Types].xml":
                data = data.replace(b"openxmlformats-officedocument.wordprocessingml.document.main",
                                    b"ms-word.document.macroEnabled.main").replace(
                    b"</Types>", b'<Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/></Types>')
            if name == "word/_rels/document.xml.rels":
                data = data.replace(b"</Relationships>", b'<Relationship Id="rIdM" Type="http://schemas.microsoft.com/office/2006/'
                                    b'relationships/vbaProject" Target="vbaProject.bin"/></Relationships>')
            new.writestr(name, data)
        new.writestr("word/vbaProject.bin", b"\0" * 10)
    document = parse_bytes(buffer.getvalue(), "通知.docm")
    assert [b.text for b in document.blocks] == ["文。"]
    assert document.warnings == ("文件“通知.docm”带有宏：宏没有运行，只读取了文字",)


@pytest.mark.parametrize("data", [b"PK\x03\x04broken", b"no zip\0at all"])
def test_a_broken_file_is_one_sentence(data):
    with pytest.raises(DocumentError, match="手册.docx.*损坏"):
        parse_bytes(data, "手册.docx")


def test_a_zip_that_is_no_word_file_is_one_sentence():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "甲")
    with pytest.raises(DocumentError, match="手册.docx.*解压"):
        parse_bytes(buffer.getvalue(), "手册.docx")


def test_item_numbers_typed_by_hand_make_a_list():
    document = docx.Document()
    document.add_heading("防治", 1)
    for line in ("防治措施如下：", "（1）冬季剪除病枝，集中烧毁。", "（2）雨季前喷药保护，间隔七天再喷一次。"):
        document.add_paragraph(line)
    buffer = io.BytesIO()
    document.save(buffer)
    kinds = [(b.kind, b.text) for b in parse_docx(buffer.getvalue(), "方案.docx").blocks]
    assert kinds == [("paragraph", "防治措施如下："), ("list", "（1）冬季剪除病枝，集中烧毁。\n（2）雨季前喷药保护，间隔七天再喷一次。")]
