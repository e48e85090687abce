"""What is one work in several editions, and what is nearly the same text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nongda.index.editions import Known, Standing, edition_date, likeness, signature_of, standing, title_key
from nongda.records import DocumentMeta

PLAN = "水稻病虫害防治技术方案"


@pytest.mark.parametrize("title", [
    "2023年水稻病虫害防治技术方案", "水稻病虫害防治技术方案（2024年）", "2025年度水稻病虫害防治技术方案（修订版）",
    "水稻病虫害防治技术方案 第二版", "水稻病虫害防治技术方案(2024年3月)", "水稻病虫害防治技术方案【试行】"])
def test_editions_of_one_work_have_one_key(title):
    assert title_key(title) == PLAN


@pytest.mark.parametrize("title", ["2023年", "通知", "第3版", ""])
def test_a_title_that_tells_too_little_has_no_key(title):
    assert title_key(title) == ""


def test_another_crop_is_another_work():
    assert title_key("小麦病虫害防治技术方案") != title_key(PLAN)


@pytest.mark.parametrize(("meta", "expected"), [
    (DocumentMeta("甲", date="2024-03-05"), (2024, 3, 5)), (DocumentMeta("甲", date="2024年3月"), (2024, 3)),
    (DocumentMeta("2023年方案"), (2023,)), (DocumentMeta("2023年方案", date="2024"), (2024,)), (DocumentMeta("方案"), ()),
    (DocumentMeta("方案", date="1234567"), ()),
])
def test_the_date_of_an_edition_is_its_own_else_the_year_in_its_title(meta, expected):
    assert edition_date(meta) == expected


def meta(year: str, **more) -> DocumentMeta:
    return DocumentMeta(f"{year}年{PLAN}" if year else PLAN, **more)


def known(doc_id: str, **more) -> Known:
    return Known(doc_id, meta(**more), b"")


@pytest.mark.parametrize(("new", "old", "expected"), [
    (meta("2024"), known("a", year="2023"), Standing(supersedes=("a",))),
    (meta("2023"), known("a", year="2024"), Standing(superseded_by="a")),
    (meta("2023"), known("a", year="2023"), Standing()),
    (meta(""), known("a", year="2023"), Standing()),
    (meta("2024", authority="甲县农技站"), known("a", year="2023", authority="乙县农技站"), Standing()),
    (meta("2024", region="云南"), known("a", year="2023", region="贵州"), Standing()),
    (meta("2024", authority="甲县农技站"), known("a", year="2023"), Standing(supersedes=("a",))),
    (meta("", date="2024-05"), known("a", year="", date="2024-03-01"), Standing(supersedes=("a",))),
    (meta("", date="2024"), known("a", year="", date="2024-03-01"), Standing()),  # the year alone does not tell
    (DocumentMeta("另一份资料的标题", replaces=PLAN), known("a", year="2023"), Standing(supersedes=("a",))),
])
def test_a_newer_edition_takes_the_place_of_an_older_one_of_the_same_authority(new, old, expected):
    assert standing(new, b"", [old]) == expected


def test_a_file_that_changed_replaces_what_it_was_whatever_the_dates_say():
    assert standing(meta("2022"), b"", [known("a", year="2023")], replaces="a") == Standing(supersedes=("a",))


def test_nearly_the_same_text_is_told_with_its_likeness():
    text = "".join(f"第{n}条 每亩用水{n + 20}公斤，均匀喷雾，间隔七天再喷一次，雨后补喷。" for n in range(40))
    one, other = signature_of(text), signature_of(text.replace("第3条", "第三条"))
    found = standing(DocumentMeta("甲资料标题"), other, [Known("a", DocumentMeta("乙资料标题"), one)])
    assert [doc_id for doc_id, _ in found.similar] == ["a"]
    assert found.similar[0][1] == likeness(one, [other])[0] > 0.9


def test_white_space_width_and_punctuation_do_not_count():
    assert likeness(signature_of("每亩 用水３０公斤，喷雾。"), [signature_of("每亩用水30公斤、喷雾")]) == [1.0]


@given(st.text(alphabet="稻麦病虫药水肥田苗穗0123456789", min_size=60, max_size=300),
       st.text(alphabet="咖啡果树枝叶根茎花蜜糖盐油茶酒", min_size=60, max_size=300))
def test_a_text_is_like_itself_and_unlike_one_of_other_characters(one, other):
    same, different = likeness(signature_of(one), [signature_of(one), signature_of(other)])
    assert same == 1.0 and different < 0.1


def test_no_signature_is_like_nothing():
    assert likeness(b"", [b"", b""]) == likeness(signature_of("甲"), [b"", b"x"]) == [0.0, 0.0] and likeness(b"", []) == []
