"""How the plots look: colours that colour-blind people tell apart, lines named where they end, the machine below."""
import io

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: E402

from cases import FULL, PEERS  # noqa: E402

# Okabe and Ito's palette. Of a policy: from its smallest budget to its largest.
PEER_COLOURS = dict(zip(PEERS.values(), ("#CC79A7", "#009E73")))
POLICY_COLOURS = {"vase-attnv": ("#56B4E9", "#0072B2"), "vase-dkv": ("#E69F00", "#D55E00")}
DASHED = "vase-dkv"  # often as fast as vase-attnv, and drawn over it
OTHER_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
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


def colours(labels):
    """A colour for each label; the budgets of a policy are shades of one hue."""
    budgets = {}
    for label in labels:
        policy, _, budget = label.rpartition(" ")
        if policy in POLICY_COLOURS:
            budgets.setdefault(policy, []).append(int(budget))
    chosen, others = {}, iter(OTHER_COLOURS * len(labels))
    for label in labels:
        policy, _, budget = label.rpartition(" ")
        if label == FULL:
            chosen[label] = INK
        elif label in PEER_COLOURS:
            chosen[label] = PEER_COLOURS[label]
        elif policy in POLICY_COLOURS:
            largest = int(budget) == max(budgets[policy])
            chosen[label] = POLICY_COLOURS[policy][1 if largest else 0]
        else:
            chosen[label] = next(others)
    return chosen


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


def draw_line(ax, line, colour):
    """The medians, with bars from the lowest to the highest repeat."""
    x = [point.x for point in line.points]
    style = "o--" if line.label.startswith(DASHED) else "o-"
    ax.plot(x, [point.median for point in line.points], style, color=colour, markersize=4.5, linewidth=1.8)
    ax.vlines(x, [point.low for point in line.points], [point.high for point in line.points], color=colour, linewidth=3.5, alpha=0.3)


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


def machine(rows):
    """Where, with what and when: below every plot."""
    rows = [row for row in rows if row.number("batch") > 0] or rows
    facts = [
        f"{span({row.text('cpu') for row in rows})}, {span({row.number('threads') for row in rows})} threads",
        f"vase {span({row.text('build') for row in rows})}",
        span({row.text("date")[:10] for row in rows}),
    ]
    reads = [row.number("read_gb_per_s") for row in rows if row.has("read_gb_per_s")]
    if reads:
        speeds = sorted({round(min(reads)), round(max(reads))})
        facts.append(f"memory read at {' to '.join(map(str, speeds))} GB/s")
    return " · ".join(facts)


def finished(figure, rows):
    """The SVG as bytes."""
    below = figure.get_tightbbox()  # inches
    width, height = figure.get_size_inches()
    figure.text(below.x0 / width, (below.y0 - 0.12) / height, machine(rows), va="top", fontsize=8, color="#666666")
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None}, bbox_inches="tight", pad_inches=0.15)
    pyplot.close(figure)
    return out.getvalue()
