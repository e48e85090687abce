"""Which names are kinds of one another: 小粒种咖啡 is 咖啡, 棉蚜 is one of 蚜虫, 番茄 belongs to 茄果类."""

from __future__ import annotations

import re
from collections.abc import Mapping

PROBLEM_KINDS = frozenset({"disease", "pest"})  # of the lexicon: what a crop suffers from

# Chinese puts the head last, so a longer name that ends with a shorter one is a kind of it, but for these.
_OTHER_THINGS = frozenset({"胡萝卜", "肥田萝卜", "平托花生", "水芹", "番木瓜", "番石榴", "豆瓣菜"})
_SAME_CROPS: Mapping[str, str] = {
    "橡胶": "橡胶树", "大叶种茶": "茶树", "普洱茶树": "茶树", "苦丁茶": "苦丁茶", "樱桃番茄": "番茄", "陆地棉": "棉花",
    "甜椒": "辣椒", "砂糖橘": "柑橘", "橙子": "柑橘", "柚子": "柑橘", "桑椹": "桑树",
}
_SALT = re.compile(r"(?:盐酸盐|锰盐|异丙胺盐|铵盐|钠盐|乙醇胺盐|苯甲酸盐|醋酸盐|钠)$")
# A word for a whole family is served by every member of it.
_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "蚜虫": ("蚜",), "天牛": ("天牛",), "介壳虫": ("蚧",), "粉蚧": ("粉蚧",), "蓟马": ("蓟马",),
    "红蜘蛛": ("叶螨", "全爪螨", "蜘蛛", "小爪螨"), "叶螨": ("叶螨", "全爪螨", "红蜘蛛", "小爪螨"),
    "地老虎": ("地老虎",), "夜蛾": ("夜蛾",), "叶蝉": ("叶蝉",), "白粉虱": ("粉虱",), "金龟子": ("金龟", "蛴螬"),
    "蛴螬": ("金龟子",), "小蠹": ("小蠹",), "稻飞虱": ("飞虱",), "盲蝽": ("盲蝽",), "线虫": ("线虫",), "蝗虫": ("蝗",),
    "潜叶蝇": ("潜叶蝇", "斑潜蝇"), "蜗牛": ("蜗牛",), "吸浆虫": ("吸浆虫",), "跳甲": ("跳甲",), "蝼蛄": ("蝼蛄",),
    "金针虫": ("金针虫",), "麦蚜": ("蚜",), "麦蜘蛛": ("蜘蛛",), "棉叶螨": ("叶螨", "红蜘蛛"), "根结线虫": ("根结线虫",),
    "螟虫": ("螟",), "蝽象": ("蝽",), "螨虫": ("螨",),
    "瓢虫": ("瓢虫",), "粘虫": ("黏虫",), "棉盲蝽": ("盲蝽",), "菜青虫": ("菜粉蝶",), "菜粉蝶": ("菜青虫",),
    "稻瘟病": ("苗瘟", "叶瘟", "穗颈瘟", "节瘟", "谷粒瘟"), "病毒病": ("病毒病", "花叶病", "卷叶病"),
}
GROUPS: Mapping[str, frozenset[str]] = {
    "茄果类": frozenset({"番茄", "樱桃番茄", "茄子", "辣椒", "甜椒"}),
    "瓜类": frozenset({"黄瓜", "南瓜", "西葫芦", "冬瓜", "丝瓜", "苦瓜", "瓠瓜", "佛手瓜", "西瓜", "甜瓜"}),
    "十字花科": frozenset({"白菜", "大白菜", "小白菜", "甘蓝", "结球甘蓝", "紫甘蓝", "花椰菜", "西兰花", "菜心", "芥菜",
                     "芥蓝", "乌塌菜", "萝卜", "芜菁", "油菜"}),
    "豆类": frozenset({"大豆", "绿豆", "红小豆", "蚕豆", "豌豆", "鹰嘴豆", "豇豆", "菜豆", "扁豆", "花生"}),
    "绿肥": frozenset({"光叶紫花苕", "紫云英", "箭筈豌豆", "猪屎豆", "田菁", "肥田萝卜", "柱花草", "平托花生"}),
    "绿叶菜": frozenset({"菠菜", "生菜", "油麦菜", "芹菜", "香菜", "茼蒿", "空心菜", "苋菜", "小白菜"}),
    "葱蒜类": frozenset({"韭菜", "大葱", "洋葱", "大蒜", "生姜"}),
    "薯类": frozenset({"马铃薯", "甘薯", "木薯"}),
    "柑橘类": frozenset({"柑橘", "橙子", "柚子", "柠檬"}),
    "食用菌": frozenset({"香菇", "平菇", "木耳", "金针菇", "杏鲍菇", "羊肚菌", "双孢蘑菇"}),
}


def is_same_crop(one: str, other: str) -> bool:
    """Tell whether two crops are the same or one is a kind of the other."""
    one, other = _SAME_CROPS.get(one, one), _SAME_CROPS.get(other, other)
    return one == other or _kind_of(one, other) or _kind_of(other, one)


def is_same_problem(named: str, asked: str) -> bool:
    """Tell whether a disease, pest or product that is named serves one that is asked: the same, or a kind of it."""
    if _SALT.sub("", named) == _SALT.sub("", asked) or _kind_of(named, asked) or asked.removeprefix("细菌性") == named:
        return True
    endings = _FAMILIES.get(asked, ())
    if any(named.endswith(ending) for ending in endings):
        return True
    return any(named == family and any(asked.endswith(e) for e in ends) for family, ends in _FAMILIES.items())


def groups_of(crop: str) -> list[str]:
    """Return the names of the groups a crop belongs to."""
    return [name for name, members in GROUPS.items() if crop in members]


def _kind_of(longer: str, shorter: str) -> bool:
    return len(longer) > len(shorter) and longer.endswith(shorter) and longer not in _OTHER_THINGS
