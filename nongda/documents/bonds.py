"""Which sentences need the one before them: by their first words, and by how that one ends. Grammar alone."""

from __future__ import annotations

import re

_NUMERAL = r"[\d０-９一二两三四五六七八九十百千半几]"
_AMOUNT = rf"{_NUMERAL}+(?:[.．]\d+)?(?:\s*[~～—–\-至到]+\s*{_NUMERAL}+(?:[.．]\d+)?)?\s*"
# Points back, contrasts, concludes, explains, or goes on in a row of steps.
_CONNECTOR = re.compile(
    r"(?:其(?![他它余])|该|上述|以上|但|不过|然而|否则|此时|此后|因此|因而|所以|于是|这[些种样是一类]|这时|此[种类法]|"
    r"它|同时|而且|并且|前者|后者|反之|"
    r"故(?!障)|从而|由此|据此|为此|致使|使得|导致|造成|引起|结果[，,是]|这就|"
    r"(?:其|主要|根本)?原因(?:是|在于|有|主要)|(?:主要)?是(?:因为|由于)|之所以|"
    r"其次|再次|然后|接着|接下来|随后|之后|最后[，,]|另一方面|第[二三四五六七八九十]步?[，,、是]|[二三四五六七八九十]是)"
)
# A sentence that begins with an amount, a dose or an interval speaks of what the sentence before it names.
_ELLIPTIC = re.compile(
    rf"每(?=[^，,。；;：:]{{0,8}}?{_NUMERAL})|"
    rf"(?:相?间?隔|连续?|共|再|约|大约|一般|通常|用量|浓度|剂量|稀释|兑水?|加水|以|按|用)(?=[^，,。；;：:、]{{0,6}}?{_NUMERAL})|"
    rf"{_AMOUNT}(?:[天日周次遍倍克斤升吨]|小时|分钟|个月|毫升|毫克|公斤|千克|[kK][gG]|[mM][lL]|[gL])(?![a-zA-Z历])"
)
_CONDITION = re.compile(
    r"(?:^|[，,；;])(?:若|倘若|如果|如(?![下上图表此何])|假如|一旦|遇|凡|只有|只要|当.*时)|在.{1,30}(?:条件|情况)下|"
    r"(?:时|的话|以[上下内]的?|条件下|情况下|之[前后])[，,。；;：:]?$"
)
_CONSEQUENCE = re.compile(
    r"则|就|才|便|即(?![使便])|可|应|须|需|宜|要|必须|必然|一律|立即|及时|尽快|马上|不[可宜得能要必应]|方[可能]|都[要应可]"
)
_LEAD_IN = re.compile(r"(?:[：:]|如下。?|(?<![\d℃度%倍米克斤升亩天日月年级])(?:以下|下列)[^，,。]{1,8}。?)$")
_UNFINISHED = re.compile(r"[，,、]$")
_MARKER = r"\s*(?:[（(]\s*(?:\d{1,2}|[一二三四五六七八九十]+)\s*[）)]|\d{1,2}\s*[.．、）)](?!\d)|[一二三四五六七八九十]+、|[-*•·]\s)\s*"
_STEP = re.compile(r"\s*(?:[（(]\s*)?(?P<number>\d{1,2}|(?<=[（(])[一二三四五六七八九十]+)\s*(?:[）)]|[.．、](?!\d))")
# The words that open a list item and say only what it is about.
_ITEM_TITLE = re.compile(rf"{_MARKER}\**[^，,。；;：:]{{1,12}}[。.：:]?\**$")


def needs(previous: str, text: str) -> bool:
    """Tell whether a sentence cannot be understood without the one before it."""
    if _LEAD_IN.search(previous) or _UNFINISHED.search(previous):
        return True
    if _CONNECTOR.match(text) or _ELLIPTIC.match(text):
        return True
    return _CONSEQUENCE.match(text) is not None and _CONDITION.search(previous) is not None


def is_item_title(sentence: str) -> bool:
    """Tell whether a sentence only names what the list item that it opens is about."""
    return _ITEM_TITLE.match(sentence) is not None


def is_later_step(text: str) -> bool:
    """Tell whether a line goes on with numbered steps: it begins with a number over 1."""
    step = _STEP.match(text)
    return step is not None and step["number"] not in ("0", "1", "一")


def concludes(clause: str) -> bool:
    """Tell whether a clause says what follows from the clause before it."""
    return (_CONSEQUENCE.match(clause) or _CONNECTOR.match(clause)) is not None


def is_heading_like(line: str, most: int = 30) -> bool:
    """Tell whether a line of its own reads like a heading: short, and no sentence."""
    return len(line) <= most and not line.endswith(tuple("。！？!?；;…，,、.|"))
