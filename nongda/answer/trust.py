"""How far a source fits the question: who wrote it, for where, when and for which growth stage."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from nongda.answer.place_and_stage import Circumstances, Fitting, doubt, levels_of, place_fit, stage_fit
from nongda.language.lexicon import Lexicon
from nongda.records import SURELY_READ, Candidate, Citation, Query

_OLD_YEARS = 8
_ISO_DATE = re.compile(r"\d{4}(?:-\d{2}){0,2}")
_DATE = re.compile(r"^\D*(\d{4})(?:\D+(\d{1,2}))?(?:\D+(\d{1,2}))?")


def trusted(citation: Citation, query: Query, candidate: Candidate, today: date, lexicon: Lexicon,
            fitting: Fitting) -> Citation:
    """Return the citation with its source's authority, region, date and stage, and a remark where it may not fit.

    The remark is one Chinese sentence, empty where nothing is wrong.
    """
    meta = candidate.document.meta
    levels = levels_of(citation.quote, candidate)
    asked = Circumstances.of(query, lexicon, fitting)
    doubts = [_doubt(asked.places, place_fit(asked.places, (*levels, meta.region), lexicon, fitting)),
              _doubt(asked.stages, stage_fit(asked.stages, (*levels, meta.stage), lexicon, fitting)), _date_doubt(meta.date, today),
              _validity_doubt(meta.valid_until, today), _reading_doubt(candidate.chunk.confidence),
              "" if meta.authority else "资料没有写明来源单位", "示例资料，未经植保专家审核" if meta.sample else ""]
    remark = "；".join(said for said in doubts if said)
    return replace(citation, authority=meta.authority, region=meta.region, date=meta.date, stage=meta.stage,
                   remark=remark + "。" if remark else "")


def _doubt(asked: Sequence[str], found: tuple[float, tuple[str, ...]]) -> str:
    value, named = found
    return doubt(asked, named) if value < 0 else ""


def _date_doubt(written: str, today: date) -> str:
    found = _DATE.match(written)
    if not found:
        return ""
    parts = tuple(int(part) for part in found.groups() if part)
    if parts > (today.year, today.month, today.day)[: len(parts)]:
        return f"资料日期 {written} 晚于今天"
    if (parts[0] + _OLD_YEARS, *parts[1:]) < (today.year, today.month, today.day)[: len(parts)]:
        return f"资料日期 {written}，已超过 {_OLD_YEARS} 年"
    return ""


def _validity_doubt(written: str, today: date) -> str:
    """A day, month or year is over when all of it is."""
    parts = tuple(int(part) for part in written.split("-")) if _ISO_DATE.fullmatch(written) else ()
    over = bool(parts) and parts < (today.year, today.month, today.day)[: len(parts)]
    return f"资料有效期至 {written}，已经过期" if over else ""


def _reading_doubt(confidence: float) -> str:
    said = f"这一段由图片识别而来，其中最没把握的一处只有 {confidence:.0%}，请对照原图核对数字"
    return said if confidence < SURELY_READ else ""
