"""Chinese numerals as numbers."""

from __future__ import annotations

DIGITS = {"〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10000}


def chinese_number(numeral: str) -> float | None:
    """Read a Chinese numeral up to 9999万: 三十五 is 35, 一百二 is 120, 十三半 is 13.5, 零点五 is 0.5; None when none."""
    whole, point, decimals = numeral.partition("点")
    if point:
        before = chinese_number(whole)
        is_decimal = before is not None and decimals and all(c in DIGITS for c in decimals)
        return float(f"{before:.0f}.{''.join(str(DIGITS[c]) for c in decimals)}") if is_decimal else None
    half = 0.5 if numeral.endswith("半") else 0.0
    numeral = numeral.removesuffix("半")
    if not numeral:
        return half or None
    if all(c in DIGITS for c in numeral):
        return int("".join(str(DIGITS[c]) for c in numeral)) + half
    total, section, digit, scale = 0, 0, None, 1
    for character in numeral:
        if character in DIGITS:
            digit = DIGITS[character]
            scale = 1 if digit == 0 else scale
            continue
        unit = SCALES.get(character)
        if unit is None:
            return None
        if unit == 10000:
            total += (section + (digit or 0) or 1) * unit  # 万亩 is 10000 亩
            section = 0
        else:
            section += (1 if digit is None else digit) * unit
        digit, scale = None, unit
    tail = (digit or 0) * (scale // 10 if scale > 10 else 1)  # 一百二: the last digit counts tens
    return total + section + tail + half
