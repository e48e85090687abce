"""Markdown and HTML pieces of a report."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from markdown_it import MarkdownIt

from nongda.evaluation.stats import Interval

SIGNIFICANT = 0.05


def as_html(text: str, figures: Mapping[str, str]) -> str:
    """Return one HTML page with the figures inside."""
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    body = re.sub(r'<img src="plots/([^"]+)\.svg"[^>]*>', lambda match: figures.get(match[1], match[0]), body)
    title = html.escape(text.splitlines()[0].lstrip("# "))
    return _PAGE.format(title=title, body=body)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
body {{ font: 15px/1.6 system-ui, "Noto Sans CJK SC", "Microsoft YaHei", sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; display: block; overflow-x: auto }}
th, td {{ border: 1px solid #ccc; padding: .25rem .6rem; text-align: left }}
svg {{ max-width: 100%; height: auto }}
</style></head><body>
{body}
</body></html>
"""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


def listed(records: Iterable[Mapping[str, Any]]) -> str:
    """Return questions as a list, each with what was cited and what proves it."""
    return "\n".join(_items(records))


def _items(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for record in records:
        question = escaped(" ".join(record["question"].split()))
        cited = "、".join(record["cited"]) or "–"
        proof = "；".join("/".join(piece) for piece in record["evidence"]) or "–"
        yield f"- `{record['id']}` {question} (cited {cited}; evidence {proof})"


def escaped(text: str) -> str:
    """Return a line's text so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


def bracketed(found: Interval) -> str:
    """Return a value with its interval."""
    return f"{number(found.value)} [{number(found.low)}, {number(found.high)}]"


def number(value: float) -> str:
    """Return three decimals, a dash where there is no value."""
    return "–" if np.isnan(value) else f"{value:.3f}"


def p_value(value: float) -> str:
    """Return a p value, starred below 0.05."""
    return f"{value:.4f}" + (" *" if value < SIGNIFICANT else "")
