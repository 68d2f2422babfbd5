#!/usr/bin/env python3
"""Draws the panels of `vernier reproduce`: draw_figures.py FOLDER DATA.json ... makes FOLDER/NAME[-i].svg and .png."""
import json
import math
import os
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

# Okabe and Ito's palette, told apart by all common kinds of colour vision; its yellow is too light for lines on white.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#000000", "#56B4E9", "#999999"]
MARKERS = ["o", "s", "^", "D", "v", "x", "P", "*"]
HATCHES = ["", "//", "..", "xx", "\\\\", "--", "++", "oo"]

plt.rcParams.update({
    "figure.figsize": (5.6, 3.7),
    "font.size": 10,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.markersize": 4.5,
    "lines.linewidth": 1.5,
    "savefig.bbox": "tight",
    "svg.hashsalt": "vernier",
    "svg.fonttype": "none",  # letters stay letters: a third of the size
    "mathtext.default": "regular",
})


def points(series):
    pairs = [(x, y) for x, y in zip(series["x"], series["y"]) if x is not None and y is not None]
    return [x for x, _ in pairs], [y for _, y in pairs]


def colour_of(series, place):
    return COLOURS[series.get("colour", place) % len(COLOURS)]


def draw_lines(ax, panel):
    for i, series in enumerate(panel["series"]):
        x, y = points(series)
        mark = series["mark"]
        marker = MARKERS[i % len(MARKERS)] if "points" in mark else None
        style = "none" if mark == "points" else "--" if mark == "dashed" else "-"
        ax.plot(x, y, marker=marker, linestyle=style, color=colour_of(series, i), label=series["label"],
                markerfacecolor="none" if mark == "points" else None)


def draw_bars(ax, panel):
    bars = [s for s in panel["series"] if s["mark"] == "bars"]
    width = 0.8 if panel["stacked"] else 0.8 / len(bars)
    base = {}
    for i, series in enumerate(bars):
        x, y = points(series)
        if panel["stacked"]:
            at, bottom = x, [base.get(p, 0) for p in x]
            base.update({p: b + v for p, b, v in zip(x, bottom, y)})
        else:
            at, bottom = [p + (i + 0.5) * width - 0.4 for p in x], None
        ax.bar(at, y, width, bottom=bottom, color=colour_of(series, i), hatch=HATCHES[i % len(HATCHES)],
               edgecolor="white", linewidth=0.4, label=series["label"])
    names = panel["x"]["categories"]
    ax.set_xticks(range(len(names)), names)
    ax.grid(False, axis="x")


def power_of_two(value, _):
    exponent = round(math.log2(value)) if value > 0 else 0
    return f"{value:g}" if value < 1024 else f"$2^{{{exponent}}}$" if 2 ** exponent == value else f"{value:g}"


def scale(axis, which, panel):
    if which["scale"] == "linear":
        return
    is_x = axis is panel["ax"].xaxis
    base = 2 if which["scale"] == "log2" else 10
    (panel["ax"].set_xscale if is_x else panel["ax"].set_yscale)("log", base=base)
    if base == 2:
        axis.set_major_locator(LogLocator(base=2, numticks=12))
        axis.set_major_formatter(FuncFormatter(power_of_two))
    axis.set_minor_formatter(NullFormatter())
    least, most = axis.get_view_interval()
    powers_in_view = math.floor(math.log10(most)) - math.ceil(math.log10(least)) + 1
    if base == 10 and powers_in_view < 2:  # else nothing, or a single number, would say what the axis means
        axis.set_minor_locator(LogLocator(base=10, subs=(1.5, 2, 3, 5, 7)))
        axis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def draw(panel, path):
    figure, ax = plt.subplots()
    if panel["x"].get("categories"):
        draw_bars(ax, panel)
    draw_lines(ax, {**panel, "series": [s if s["mark"] != "bars" else {**s, "x": [], "y": [], "label": None}
                                        for s in panel["series"]]})
    panel = {**panel, "ax": ax}
    scale(ax.xaxis, panel["x"], panel)
    scale(ax.yaxis, panel["y"], panel)
    ax.set_xlabel(panel["x"]["label"])
    ax.set_ylabel(panel["y"]["label"])
    if panel["title"]:
        ax.set_title(panel["title"], fontsize=10)
    handles, labels = ax.get_legend_handles_labels()
    if len(handles) > 1:
        rows = max(len(text) for text in labels) > 34
        deep = any("\n" in name for name in panel["x"].get("categories", []))
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.45, -0.24 if deep else -0.17),
                  ncol=1 if rows else 2, frameon=False, fontsize=9, handlelength=2.6)
    figure.savefig(path + ".svg", metadata={"Date": None})
    figure.savefig(path + ".png", dpi=150)
    plt.close(figure)
    shorten(path + ".svg")


def shorten(path):
    """Two decimals are enough for coordinates on paper; matplotlib writes six."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r' d="[^"]*"', lambda d: re.sub(r"-?\d+\.\d+", lambda x: f"{float(x[0]):.2f}".rstrip("0").rstrip("."), d[0]), text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    folder, files = sys.argv[1], sys.argv[2:]
    for file in files:
        with open(file, encoding="utf-8") as opened:
            record = json.load(opened)
        panels = record["result"]["panels"]
        for i, panel in enumerate(panels, 1):
            draw(panel, os.path.join(folder, record["name"] + (f"-{i}" if len(panels) > 1 else "")))


if __name__ == "__main__":
    main()
