"""Which sentences need the one before them."""

import pytest

from nongda.documents.bonds import concludes, is_heading_like, is_item_title, is_later_step, needs


@pytest.mark.parametrize(("previous", "text"), [
    ("连续阴雨十天。", "因此叶背很快出现黄粉。"),
    ("叶背出现黄粉。", "这是因为夜里结露太久。"),
    ("夜里结露太久。", "导致孢子大量萌发。"),
    ("夜里结露太久；", "结果，孢子大量萌发。"),
    ("若叶背有黄粉；", "则先剪除病叶。"),
    ("如果夜温低于10℃；", "应推迟播种。"),
    ("病叶率达到5%以上时。", "可喷药一次。"),
    ("在通风良好的条件下；", "可以不喷。"),
    ("一旦见到病株；", "立即拔除。"),
    ("石硫合剂可以清园。", "每亩用药液60公斤。"),
    ("石硫合剂可以清园。", "用45%的结晶稀释300倍液喷雾。"),
    ("石硫合剂可以清园。", "500倍液喷雾。"),
    ("石硫合剂可以清园。", "间隔10天再喷。"),
    ("石硫合剂可以清园。", "隔7～10天喷一次。"),
    ("石硫合剂可以清园。", "连续喷两次。"),
    ("石硫合剂可以清园。", "７天后再看。"),
    ("石硫合剂可以清园。", "30毫升兑水15公斤。"),
    ("石硫合剂可以清园。", "一般在3月进行。"),
    ("整地按下面的做法：", "先挖沟。"),
    ("整地的步骤如下。", "先挖沟。"),
    ("整地有以下几步。", "先挖沟。"),
    ("叶片先黄后枯，", "果实变小。"),
    ("先挖沟。", "其次施底肥。"),
    ("先挖沟。", "然后回填。"),
    ("一是选地。", "二是整地。"),
])
def test_a_sentence_needs_the_one_before_it(previous, text):
    assert needs(previous, text)


@pytest.mark.parametrize(("previous", "text"), [
    ("连续阴雨十天。", "叶锈病的孢子随风传播。"),
    ("叶背出现黄粉。", "可溶性粉剂先化开。"),  # nothing conditional before it
    ("叶背出现黄粉。", "其他药剂不行。"),
    ("石硫合剂可以清园。", "10月下旬播种。"),
    ("石硫合剂可以清园。", "3月上旬修剪。"),
    ("石硫合剂可以清园。", "45%的石硫合剂结晶要现配现用。"),
    ("如下图，先挖沟。", "故障的水泵要修。"),
    ("叶背出现黄粉。", "用水要干净。"),
    ("夜里气温降到5℃以下。", "孢子不再萌发。"),
])
def test_a_sentence_stands_alone(previous, text):
    assert not needs(previous, text)


def test_a_clause_that_concludes_belongs_to_what_it_follows_from():
    assert concludes("则喷药。") and concludes("因此推迟播种，") and concludes("应及时排水。")
    assert not concludes("叶背有黄粉，")


def test_steps_after_the_first_go_on_with_the_row():
    assert all(is_later_step(text) for text in ("2. 定植。", "3、覆土。", "（4）浇水", "(12) 追肥", "2．整地", "（二）选种"))
    assert not any(is_later_step(text) for text in ("1. 整地。", "（一）选地", "2.5公斤的肥料", "- 清园", "20克药", "二等品"))


def test_a_title_that_opens_an_item_is_told_from_a_sentence():
    assert is_item_title("3. 断砧。") and is_item_title("- **清园**：") and is_item_title("（2）拌种。")
    assert not is_item_title("3. 剪去砧枝的顶部，留7厘米。") and not is_item_title("断砧。")
    assert not is_item_title("4. 剪去砧木顶部留下七到十厘米的桩。")


def test_a_line_that_is_no_sentence_reads_like_a_heading():
    assert is_heading_like("三、病害的识别") and is_heading_like("整地")
    assert not is_heading_like("先整地。") and not is_heading_like("长" * 31)
