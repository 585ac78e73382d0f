"""How the plots of all pages look: lines named where they end, and a note of where they come from below."""
import io

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: E402

# Okabe and Ito's palette, which colour-blind people tell apart.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, FAINT = "#222222", "#888888"

SETTINGS = {
    "svg.hashsalt": "vase",  # the same rows give the same file
    "svg.fonttype": "path",  # looks alike everywhere
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.minor.size": 3.5,
    "ytick.minor.size": 3.5,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.facecolor": "white",
}


def panels(count, width=8.0, height=4.6):
    figure, axes = pyplot.subplots(1, count, figsize=(width, height), squeeze=False)
    return figure, list(axes[0])


def count_text(value, _=None):
    """512, 4K, 128K."""
    if value >= 1024 and value % 1024 == 0:
        return f"{value / 1024:.0f}K"
    return f"{value:g}"


def log_axis(axis, places=None):
    """A log scale with plain numbers, at `places` alone when they are given."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_formatter(FuncFormatter(count_text))
    if places is not None:
        axis.set_ticks(places)
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_minor_formatter(FuncFormatter(minor_text))


def minor_text(value, _):
    """Of the places between powers of ten, 2 and 5."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def listed(cases, label, width=8.0):
    """Axes with a line of text for each case, the first on top; returns figure, axes and the heights of the cases."""
    figure, (ax,) = panels(1, width=width, height=0.27 * len(cases) + 1.5)
    heights = list(range(len(cases)))[::-1]
    ax.set_yticks(heights, [label(case) for case in cases], fontsize=8.5)
    ax.set_ylim(-0.7, len(cases) - 0.3)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure, ax, heights


def noise_band(ax, floor):
    """Shades what lies below the noise floor, where a line is as good as the full cache. Fixes the limits of the y axis, a log one."""
    low, high = ax.get_ylim()
    if floor > 0:
        low = min(low, floor / 2)
        ax.axhspan(low, floor, color="#EDEDED", zorder=0)
        ax.text(0.01, floor, "full cache", transform=ax.get_yaxis_transform(), va="top", fontsize=9, color=INK)
    ax.set_ylim(low, high)


def spread(heights, gap):
    """Heights moved apart to `gap`, in their order, each pair that is too close by the same way up and down."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed = list(heights)
    for _ in range(200):
        for below, above in zip(order, order[1:]):
            excess = max(0, gap - (placed[above] - placed[below])) / 2
            placed[below] -= excess
            placed[above] += excess
    return placed


def name_lines(ax, ends):
    """Writes labels right of the axes, each tied to the end of its line.

    ends: (label, colour, x, y). The limits and scales of the axes must be final.
    """
    to_axes = ax.transData + ax.transAxes.inverted()
    places = [to_axes.transform((x, y)) for _, _, x, y in ends]
    height = ax.get_window_extent().height
    heights = spread([y for _, y in places], 17 / height)
    for (label, colour, _, _), (x, y), label_y in zip(ends, places, heights):
        ax.plot([x, 1.0, 1.03], [y, label_y, label_y], color=colour, linewidth=0.8, alpha=0.7, transform=ax.transAxes, clip_on=False)
        ax.text(1.04, label_y, label, transform=ax.transAxes, va="center", fontsize=9)


def span(values):
    values = sorted(values)
    return values[0] if values[0] == values[-1] else f"{values[0]} to {values[-1]}"


def finished(figure, note):
    """The SVG as bytes, with the note in small letters below."""
    below = figure.get_tightbbox()  # inches
    width, height = figure.get_size_inches()
    figure.text(below.x0 / width, (below.y0 - 0.12) / height, note, va="top", fontsize=8, color="#666666")
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None}, bbox_inches="tight", pad_inches=0.15)
    pyplot.close(figure)
    return out.getvalue()
