"""What a document says of itself without a front matter: its date, who issued it, where and how long it holds.

A wrong date is worse than none, so only fixed places and forms count: labels at the head (发布日期：), the signature (an
authority's line above a date's), a document number, and at last the year in the title or the file name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from nongda.documents.dates import DATE, SPAN, compact_date, iso_date, last_day, last_day_of
from nongda.intake import ParsedDocument
from nongda.records import DocumentMeta

_HEAD, _TAIL = 15, 6  # lines in which labels and a lone date are looked for
_MAX_LINE = 60  # characters of a line that is a signature or a label
_BODY = (
    "(?:局|厅|总?站|中心|委员会|研究所|研究院|科学院|农科院|公司|合作社|联合社|大学|学院|农业部|农村部|人民政府|政府办公室|办公室|"
    "协会|学会|联盟|服务队|农场|集团|指挥部|领导小组|专家组|创新团队|技术体系)"
)
_AUTHORITY = re.compile(rf"[\u4e00-\u9fff（）()·]{{2,28}}{_BODY}")
_NO_NAME = re.compile(r"的|在|为|是|于|和各|请|须|应|把|将|了|到|向|与|等|各|有关|本")
_SIGNED = re.compile(rf"(?P<who>.*?)[\s　,，]*(?P<date>{DATE})\s*(?:印发|发布)?")
_DATE_LABEL = re.compile(
    rf"(?:(?:发布|成文|发文|印发|公布|制定|编制|签发|更新)(?:日期|时间)|^日期)\s*[:：]\s*(?P<date>{DATE})")
_WHO_LABEL = re.compile(
    r"(?:来源|(?:发布|发文|编制|制定|起草|主办|印发|编写|签发)(?:单位|机构|机关|部门))\s*[:：]\s*"
    rf"(?P<who>{_AUTHORITY.pattern})(?=$|[\s，,；;。|丨])")
_NUMBER = re.compile(r"[\u4e00-\u9fff]{1,10}[〔\[［(（](?P<year>(?:19|20)\d{2})[〕\]］)）]\s*\d{1,4}\s*号")
_TITLE_DATE = re.compile(rf"(?<![\d\-–—~～至到])(?P<date>{DATE})(?!\s*(?:[-–—~～至到]|以来|以后|之后|以前|之前|[代来后前]))")
_RANGE = re.compile(r"(?:19|20)\d{2}\s*年?\s*(?:[-–—~～至到]|——)\s*(?:(?:19|20)\d{2}|\d{2}\s*年)")
_PAPER = ("(?:办法|规定|通知|方案|意见|规程|规范|标准|细则|预案|文件|公告|通告|政策|制度|措施|目录|名录|指南|指引|要点|决定|计划|要求)")
_VALID = (
    re.compile(rf"本{_PAPER}[^。；]{{0,60}}?(?:有效期|试行期|执行期|施行期)限?[^。；，\d]{{0,6}}?(?:至|到)\s*(?P<end>{DATE})"),
    re.compile(rf"本{_PAPER}[^。；]{{0,20}}?自\s*(?P<start>{DATE})\s*(?:起)?(?:施行|实施|执行|生效)?[，,]?\s*至\s*(?P<end>{DATE})"),
    re.compile(rf"本{_PAPER}[^。；]{{0,20}}?自\s*(?P<start>{DATE})\s*(?:起|开始)[^。；]{{0,20}}?"
               rf"(?:有效期|试行期?|执行期|施行期)限?(?:为|是)?\s*(?P<span>{SPAN})"),
    re.compile(rf"本{_PAPER}[^。；]{{0,20}}?自(?:印发|发布|公布|发文)之日起(?:施行|实施|执行|生效|试行)[^。；\d]{{0,12}}?"
               rf"(?:有效期|试行期?|执行期|施行期)限?(?:为|是)?\s*(?P<span>{SPAN})"),
)
_REPLACED = re.compile(r"《([^《》]{4,60})》(?:[（(][^（）()]{0,40}[）)])?同时废止")
_PLACE = re.compile(
    r"(?:中国)?((?:[\u4e00-\u9fff]{2,3}省|[\u4e00-\u9fff]{2,8}?自治区|(?:北京|天津|上海|重庆)市)?"
    r"(?:[\u4e00-\u9fff]{2,10}?(?:自治州|地区|盟|[市州]))?(?:[\u4e00-\u9fff]{1,10}?(?:自治县|[县区旗市]))?(?:[\u4e00-\u9fff]{2,5}?[镇乡])?)"
)
_NO_PLACE = re.compile(r"^[全我本各某该外出城都超]|示范|重点|产业|试点|大县|产区|保护区|城市|市场|开发区")


def described(document: ParsedDocument, name: str, places: Collection[str] = ()) -> DocumentMeta:
    """Return the document's data with what it says of itself where they are empty; `places` are known names of places."""
    meta = document.meta
    lines = list(_lines(document))
    signed_by, signed_on = _signature(lines)
    authority = meta.authority or signed_by or _labelled_authority(lines) or _headed(meta.title, lines)
    date = meta.date or _labelled_date(lines) or signed_on or _numbered(lines) or _named_date(meta.title, name)
    return replace(
        meta, authority=authority, date=date,
        region=meta.region or _region(authority, meta.title, places),
        valid_until=meta.valid_until or _valid_until(lines, date),
        replaces=meta.replaces or _replaces(lines),
    )


def _lines(document: ParsedDocument) -> Iterator[str]:
    for block in document.blocks:
        if block.kind != "table":
            yield from (line for part in block.text.split("\n") if (line := " ".join(part.split())))


def _signature(lines: Sequence[str]) -> tuple[str, str]:
    """Return who signed and when: a date alone on its line below an authority, or behind it on the same line."""
    for place, line in enumerate(lines):
        match = _SIGNED.fullmatch(line) if len(line) <= _MAX_LINE else None
        if match is None or not (date := iso_date(match["date"])):
            continue
        if who := _authority(match["who"]):
            return who, date
        if not match["who"] and (who := _signers(lines[max(0, place - 4):place])):
            return who, date
    for line in reversed(lines[-_TAIL:]):
        match = _SIGNED.fullmatch(line)
        if match and not match["who"]:
            return "", iso_date(match["date"])
    return "", ""


def _signers(above: Sequence[str]) -> str:
    """Return the authorities on the lines right above a date, the first one first."""
    signers: list[str] = []
    for line in reversed(above):
        who = _authority(line)
        if not who:
            break
        signers.insert(0, who)
    return "、".join(signers)


def _authority(line: str) -> str:
    """Return the authority where the line is nothing but its name, "" where it is anything else."""
    name = re.sub(r"[（(](?:盖章|章|公章)[）)]", "", line).replace(" ", "").strip("：:")
    parts = [part for part in re.split("[、，,]", name) if part]
    are_names = all(_AUTHORITY.fullmatch(part) and not _NO_NAME.search(part) for part in parts)
    return name if parts and are_names else ""


def _labelled_date(lines: Sequence[str]) -> str:
    for line in [*lines[:_HEAD], *lines[max(_HEAD, len(lines) - _TAIL):]]:
        match = _DATE_LABEL.search(line)
        if match and (date := iso_date(match["date"])):
            return date
    return ""


def _labelled_authority(lines: Sequence[str]) -> str:
    for line in [*lines[:_HEAD], *lines[max(_HEAD, len(lines) - _TAIL):]]:
        match = _WHO_LABEL.search(line)
        if match and (who := _authority(match["who"])):
            return who
    return ""


def _headed(title: str, lines: Sequence[str]) -> str:
    """Return who issued the paper by its letterhead (某某局文件) or its title (某某局关于……)."""
    for line in lines[:5]:
        bare = line.replace(" ", "")
        if bare.endswith("文件") and (who := _authority(bare.removesuffix("文件"))):
            return who
    before, about, _ = title.partition("关于")
    return _authority(before) if about else ""


def _numbered(lines: Sequence[str]) -> str:
    """Return the year of the paper's own number, which stands alone on a line of its head."""
    for line in lines[:_HEAD]:
        match = _NUMBER.fullmatch(line.replace(" ", ""))
        if match:
            return match["year"]
    return ""


def _named_date(title: str, name: str) -> str:
    """Return the one date in the title, else in the file's name; none where there is a range or more than one."""
    for text in (title, PurePath(name).stem):
        if _RANGE.search(text):
            continue
        found = {date for match in _TITLE_DATE.finditer(text) if (date := iso_date(match["date"]))}
        if len(found) == 1:
            return found.pop()
        if not found and (date := compact_date(text)):
            return date
    return ""


def _region(authority: str, title: str, places: Collection[str]) -> str:
    """Return the place with which the authority's name, else the title, begins."""
    first = re.split("[、，,]", authority)[0]
    match = _PLACE.match(first)
    if first and match and match[1] and not _NO_PLACE.search(match[1]):
        return match[1]
    known = max((place for place in places if len(place) > 1 and first.startswith(place)), key=len, default="")
    if known:
        return known
    bare = re.sub(rf"^(?:{DATE}|[《“「\s])+", "", title)
    match = re.match(r"[\u4e00-\u9fff]{2,3}省|[\u4e00-\u9fff]{2,8}?自治[区州县]", bare)
    if match and not _NO_PLACE.search(match[0]):
        return match[0]
    known = max((place for place in places if len(place) > 1 and bare.startswith(place)), key=len, default="")
    after = bare[len(known):len(known) + 1]
    return known + after if known and after and after in "省市县区州镇乡" else known


def _valid_until(lines: Sequence[str], date: str) -> str:
    """Return the last day on which the paper itself holds, "" unless it says so in a plain sentence."""
    for line in lines:
        for pattern in _VALID:
            match = pattern.search(line)
            if match is None:
                continue
            said = match.groupdict()
            if end := said.get("end"):
                return last_day_of(iso_date(end)) if iso_date(end) else ""
            return last_day(iso_date(said["start"]) if said.get("start") else date, said["span"])
    return ""


def _replaces(lines: Sequence[str]) -> str:
    """Return the title of the one paper that this one takes the place of."""
    found = {match[1] for line in lines for match in _REPLACED.finditer(line)}
    return found.pop() if len(found) == 1 else ""
