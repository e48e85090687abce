import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.documents.dates import compact_date, iso_date, last_day, last_day_of
from nongda.documents.describe import described
from nongda.intake import Block, ParsedDocument
from nongda.records import DocumentMeta

BODY = "雨季前清园一次，剪除病枝，集中深埋。"


def document(*lines, title="咖啡园管理要点", **meta):
    return ParsedDocument(DocumentMeta(title=title, **meta), tuple(Block(line) for line in lines))


def test_what_the_front_matter_says_is_kept():
    said = {"date": "2020", "authority": "甲站", "region": "乙县", "valid_until": "2030"}
    told = described(document(BODY, "某县农业技术推广站", "2024年3月5日", **said), "a.md")
    assert (told.date, told.authority, told.region, told.valid_until) == ("2020", "甲站", "乙县", "2030")


@pytest.mark.parametrize(("ending", "authority", "date"), [
    (("云南省植保植检站", "2024年3月5日"), "云南省植保植检站", "2024-03-05"),
    (("云南省植保植检站 2024年3月5日",), "云南省植保植检站", "2024-03-05"),
    (("云南省植保植检站2024年3月5日",), "云南省植保植检站", "2024-03-05"),  # as joined lines are
    (("普洱市农业农村局", "二〇二四年三月"), "普洱市农业农村局", "2024-03"),
    (("普洱市农业农村局", "二○二三年十二月二十一日"), "普洱市农业农村局", "2023-12-21"),
    (("普洱市农业农村局（盖章）", "2024 年 10 月 8 日"), "普洱市农业农村局", "2024-10-08"),
    (("保山市农业农村局", "保山市植保站", "2022年6月1日"), "保山市农业农村局、保山市植保站", "2022-06-01"),
    (("某某县农技中心", "2024年3月5日", "附件：1.用药表", "表中所列为参考用量。", *[BODY] * 8), "某某县农技中心", "2024-03-05"),
    (("某县人民政府办公室 2021年2月3日印发",), "某县人民政府办公室", "2021-02-03"),
    (("2024.3.5",), "", "2024-03-05"),
    (("2024-03-05",), "", "2024-03-05"),
    (("二〇二四年元月",), "", "2024-01"),
])
def test_the_signature_gives_authority_and_date(ending, authority, date):
    told = described(document(BODY, *ending), "要点.docx")
    assert (told.authority, told.date) == (authority, date)


@pytest.mark.parametrize("ending", [
    ("据2019年3月5日调查，病株率为 12%。",), ("调查时间", "2024年13月5日"), ("试验于2018年3月", "在核心区开展。"), ("2024年3月35日",),
    ("地点：叶片基部", "20240"), ("3月5日",), ("药剂有效期至2026年3月5日",)])
def test_a_date_in_the_text_is_not_the_documents(ending):
    assert described(document(BODY, *ending), "要点.docx").date == ""


def test_a_lone_date_counts_at_the_end_alone():
    assert described(document("2018年3月5日", *[BODY] * 9), "要点.docx").date == ""


@pytest.mark.parametrize(("line", "date", "authority"), [
    ("发布日期：2023-04-05 10:20  来源：保山市农业农村局  浏览次数：12", "2023-04-05", "保山市农业农村局"),
    ("发布时间: 2023/4/5", "2023-04-05", ""),
    ("成文日期：2023年4月5日", "2023-04-05", ""),
    ("日期：2023年4月", "2023-04", ""),
    ("来源：本站原创", "", ""),
    ("编制单位：云南省农业科学院热带亚热带经济作物研究所", "", "云南省农业科学院热带亚热带经济作物研究所"),
    ("云农科〔2023〕15号", "2023", ""),
    ("根据云农科〔2019〕15号的要求执行。", "", ""),
])
def test_the_head_of_a_paper_gives_them_by_labels_and_number(line, date, authority):
    told = described(document(line, *[BODY] * 9), "要点.docx")
    assert (told.date, told.authority) == (date, authority)


@pytest.mark.parametrize(("title", "name", "date"), [
    ("2023年咖啡锈病防控方案", "a.docx", "2023"),
    ("2023年3月咖啡园农事建议", "a.docx", "2023-03"),
    ("2021-2025年咖啡发展规划", "a.docx", ""),
    ("2021年至2025年咖啡发展规划", "a.docx", ""),
    ("2010年以来锈病发生回顾", "a.docx", ""),
    ("咖啡园管理要点", "20230315 咖啡园管理要点.docx", "2023-03-15"),
    ("咖啡园管理要点", "咖啡园管理要点（2023年3月15日）.docx", "2023-03-15"),
    ("咖啡园管理要点", "2022-2023 咖啡.docx", ""),
    ("咖啡园管理要点", "13800138000 20231345.docx", ""),
    ("NY/T 1276-2007 农药安全使用规范", "a.pdf", ""),
    ("《2019年方案》与2023年方案的比较", "a.pdf", ""),
])
def test_a_title_or_a_file_name_gives_its_one_date(title, name, date):
    assert described(document(BODY, title=title), name).date == date


def test_the_signature_is_exacter_than_the_title():
    assert described(document(BODY, "某县农技站", "2023年2月1日", title="2023年春耕方案"), "a.docx").date == "2023-02-01"


@pytest.mark.parametrize(("title", "lines", "authority"), [
    ("保山市农业农村局关于做好冬季清园的通知", (BODY,), "保山市农业农村局"),
    ("关于做好冬季清园的通知", ("普洱市农业农村局文件", BODY), "普洱市农业农村局"),
    ("农户关于建立合作社的问答", (BODY,), ""),
    ("清园要点", ("请各村到乡镇农技站", "2024年3月5日前领取。"), ""),
    ("清园要点", ("防治工作领导小组和各技术服务中心",), ""),
])
def test_letterhead_and_title_give_the_authority(title, lines, authority):
    assert described(document(*lines, *[BODY] * 9, title=title), "a.docx").authority == authority


@pytest.mark.parametrize(("authority", "title", "region"), [
    ("云南省植保植检站", "要点", "云南省"),
    ("普洱市思茅区农业技术推广中心", "要点", "普洱市思茅区"),
    ("云南省德宏州芒市农业农村局", "要点", "云南省德宏州芒市"),
    ("新疆维吾尔自治区植物保护站", "要点", "新疆维吾尔自治区"),
    ("中国热带农业科学院", "要点", ""),
    ("城市绿化中心", "要点", ""),
    ("", "云南省2024年春耕方案", "云南省"),
    ("", "2024年云南省春耕方案", "云南省"),
    ("", "示范县建设方案", ""),
    ("", "全省春耕方案", ""),
    ("", "保山市小粒咖啡种植技术", "保山市"),
    ("", "城市近郊蔬菜种植", ""),
])
def test_the_region_is_the_place_with_which_authority_or_title_begins(authority, title, region):
    told = described(document(BODY, title=title, authority=authority), "a.docx", places=("保山", "云南", "普洱"))
    assert told.region == region


@pytest.mark.parametrize(("line", "until"), [
    ("本办法自2023年5月1日起施行，有效期2年。", "2025-04-30"),
    ("本办法自2023年5月1日起施行，有效期为五年。", "2028-04-30"),
    ("本通知有效期至2025年12月31日。", "2025-12-31"),
    ("本方案自印发之日起施行，有效期三年。", "2027-03-04"),
    ("本意见自发布之日起试行，试行期半年。", "2024-09-04"),
    ("本政策自2023年1月1日起至2025年12月31日止执行。", "2025-12-31"),
    ("本规定有效期至2025年。", "2025-12-31"),
    ("该产品登记证有效期至2026年3月5日。", ""),
    ("药剂有效期2年，不得使用过期药剂。", ""),
    ("本产品有效期两年。", ""),
    ("本办法自2023年5月1日起施行。", ""),
    ("本办法自发布之日起30日后施行，有效期三年。", ""),
])
def test_how_long_a_paper_holds_is_what_it_says_of_itself(line, until):
    assert described(document(BODY, line, "某县农技站", "2024年3月5日"), "a.docx").valid_until == until


def test_a_paper_without_a_day_gives_no_end_counted_from_it():
    told = described(document(BODY, "本方案自印发之日起施行，有效期三年。", title="2023年方案"), "a.docx")
    assert (told.date, told.valid_until) == ("2023", "")


def test_the_paper_it_takes_the_place_of_is_named():
    told = described(document("本办法自印发之日起施行，原《咖啡园管理办法（试行）》（云农〔2019〕3号）同时废止。"), "a.docx")
    assert told.replaces == "咖啡园管理办法（试行）"
    assert described(document("《咖啡园管理办法》《肥料管理办法》继续有效。"), "a.docx").replaces == ""


@pytest.mark.parametrize(("text", "iso"), [
    ("2024年3月5日", "2024-03-05"), ("二〇二四年三月", "2024-03"), ("二零二四年十月二十日", "2024-10-20"),
    ("一九九八年十二月卅一日", "1998-12-31"),
    ("2024年", "2024"), ("2024/3/5", "2024-03-05"), ("2024年2月30日", ""), ("1066年", ""), ("2024.2", "2024-02")])
def test_dates_of_all_forms_are_one(text, iso):
    assert iso_date(text) == iso


@given(st.dates(datetime.date(1949, 1, 1), datetime.date(2099, 12, 31)))
def test_every_day_is_read_from_every_form(day):
    digits = "〇一二三四五六七八九"

    def number(n):
        return ("" if n < 20 else digits[n // 10]) + ("十" if n >= 10 else "") + (digits[n % 10] if n % 10 else "")

    words = "".join(digits[int(c)] for c in str(day.year)) + f"年{number(day.month)}月{number(day.day)}日"
    assert iso_date(words) == iso_date(f"{day.year}年{day.month}月{day.day}日") == iso_date(day.isoformat()) == day.isoformat()
    assert compact_date(f"a{day:%Y%m%d}b") == day.isoformat()


def test_the_last_day_is_the_one_before_the_same_day():
    assert last_day("2023-05-01", "2年") == "2025-04-30"
    assert last_day("2024-02-29", "一年") == "2025-02-28"
    assert last_day("2023-08-31", "半年") == "2024-02-29"
    assert last_day("2023-05", "2年") == ""
    assert (last_day_of("2024"), last_day_of("2024-02"), last_day_of("2024-02-03")) == ("2024-12-31", "2024-02-29", "2024-02-03")
