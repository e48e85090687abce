"""Figures of a report as SVG text; the same data gives the same bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nongda.evaluation.stats import Floats, Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY = "#2b6ca3", "#d9822b", "#8a8a8a"
_WIDTH = 7.0  # inches
_ROW = 0.3  # inches for a bar
_BINS = 40
_REFERENCE = "full"


def _figure(height: float) -> tuple[Figure, Axes]:
    import matplotlib  # takes a second to import; only reports need it

    matplotlib.use("agg")
    matplotlib.rcParams.update({"svg.hashsalt": "nongda", "font.size": 9})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(_WIDTH, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Figure) -> str:
    from matplotlib import pyplot

    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return re.sub(r"^.*?(?=<svg )", "", buffer.getvalue(), count=1, flags=re.DOTALL)


def bars(values: Mapping[str, Interval], label: str, reference: str = _REFERENCE) -> str:
    """Horizontal bars with 95 % intervals, in the given order; the reference stands out, and its value is a line."""
    figure, axes = _figure(0.8 + _ROW * len(values))
    names = list(values)[::-1]
    centres = [values[name].value for name in names]
    errors = [[values[n].value - values[n].low for n in names], [values[n].high - values[n].value for n in names]]
    colours = [_BLUE if name == reference else _GREY for name in names]
    axes.barh(names, centres, xerr=np.maximum(np.nan_to_num(errors), 0), color=colours, height=0.65, capsize=2)
    if reference in values:
        axes.axvline(values[reference].value, color=_BLUE, linewidth=0.8, linestyle="--")
    axes.set_xlabel(label)
    axes.set_xlim(0, 1)
    return _svg(figure)


def histograms(values: Mapping[str, Floats], label: str) -> str:
    """Bootstrap distributions of a few systems over each other."""
    figure, axes = _figure(2.8)
    for (name, found), colour in zip(values.items(), (_BLUE, _ORANGE, _GREY), strict=False):
        axes.hist(found[~np.isnan(found)], bins=_BINS, alpha=0.6, label=name, color=colour)
    axes.set_xlabel(label)
    axes.set_ylabel("resamples")
    axes.legend(frameon=False)
    return _svg(figure)


def shares(values: Mapping[str, float], label: str) -> str:
    """Shares of one whole as bars with their numbers."""
    figure, axes = _figure(0.8 + _ROW * len(values))
    names = list(values)[::-1]
    drawn = axes.barh(names, [values[name] for name in names], color=_BLUE, height=0.65)
    axes.bar_label(drawn, [f"{values[name]:.1%}" for name in names], padding=3)
    axes.set_xlabel(label)
    axes.set_xlim(0, max([*values.values(), 0.01]) * 1.15)
    return _svg(figure)


def distribution(seconds: Sequence[float], marks: Mapping[str, float]) -> str:
    """A histogram of answer times with lines at the percentiles."""
    figure, axes = _figure(2.8)
    axes.hist(seconds, bins=_BINS, color=_GREY)
    for (name, value), style in zip(marks.items(), ("-", "--", ":", "-."), strict=False):
        axes.axvline(value, color=_ORANGE, linestyle=style, label=f"{name}: {value:.2f} s")
    axes.set_xlabel("seconds a question")
    axes.set_ylabel("questions")
    axes.legend(frameon=False)
    return _svg(figure)


def curve(points: Mapping[str, Mapping[int, Interval]], label: str) -> str:
    """Lines of metrics over K with their intervals."""
    figure, axes = _figure(3.0)
    for (name, values), colour in zip(points.items(), (_BLUE, _ORANGE, _GREY), strict=False):
        ks = sorted(values)
        centre = [values[k].value for k in ks]
        axes.plot(ks, centre, marker="o", color=colour, label=name)
        axes.fill_between(ks, [values[k].low for k in ks], [values[k].high for k in ks], color=colour, alpha=0.15)
    axes.set_xticks(sorted({k for values in points.values() for k in values}))
    axes.set_xlabel(label)
    axes.set_ylim(0, 1)
    axes.legend(frameon=False)
    return _svg(figure)


def lines(places: Floats, values: Mapping[str, Floats], label: str, mark: float) -> str:
    """Lines over one axis, all between 0 and 1, with a vertical mark at the value that was chosen."""
    figure, axes = _figure(3.0)
    for (name, found), colour in zip(values.items(), (_BLUE, _ORANGE, _GREY), strict=False):
        axes.plot(places, found, color=colour, label=name)
    axes.axvline(mark, color=_GREY, linewidth=0.8, linestyle="--")
    axes.set_xlabel(label)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.legend(frameon=False)
    return _svg(figure)
