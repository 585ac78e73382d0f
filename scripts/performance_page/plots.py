"""The pictures of the page. Needs matplotlib."""
import math

from matplotlib.ticker import FuncFormatter

from cases import (
    FULL,
    PEERS,
    batches_of,
    crossing,
    gain_over_full,
    generation,
    grouped,
    lines_over,
    model_of,
    models,
    models_at_depths,
    pairs_of_products,
    policy_of,
    ratio_of_repeats,
)
from drawing import INK, SETTINGS, count_text, finished, listed, log_axis, name_lines, panels, pyplot
from style import colours, draw_line, machine
from tables import NOTICEABLE, about, limit_cases, measured_kv, predicted, taking_turns

MIB_PER_GIB = 1024


def places_of(lines):
    return sorted({point.x for line in lines for point in line.points})


def draw_lines(ax, lines):
    """Draws the lines; returns the ends to be named once the axes are final."""
    shades = colours([line.label for line in lines])
    for line in lines:
        draw_line(ax, line, shades[line.label])
    return [(line.label, shades[line.label], line.points[-1].x, line.points[-1].median) for line in lines]


def height_at(points, x):
    """The line's height at x as it is drawn, straight on log-log axes."""
    for left, right in zip(points, points[1:]):
        if left.x <= x <= right.x:
            share = (math.log(x) - math.log(left.x)) / (math.log(right.x) - math.log(left.x))
            return math.exp((1 - share) * math.log(left.median) + share * math.log(right.median))
    return points[0].median


def mark_crossings(ax, lines):
    """Where the budgets of the first policy are noticeably faster than the full cache."""
    full = next((line.points for line in lines if line.label == FULL), [])
    evicting = [line for line in lines if line.label not in PEERS.values() and line.label != FULL]
    first = evicting[0].label.rpartition(" ")[0] if evicting else ""
    shades = colours([line.label for line in lines])
    marks = []
    for line in evicting:
        gains = gain_over_full(line.points, full)
        if line.label.rpartition(" ")[0] != first or not gains:
            continue
        x = crossing(gains, NOTICEABLE)
        if x is not None and x > gains[0][0]:
            marks.append((x, height_at(line.points, x), shades[line.label]))
    # Each text begins above its mark, those further right lower, so that no leader crosses a text.
    for place, (x, y, colour) in enumerate(sorted(marks)):
        ax.annotate(
            f" 5 % over the full cache from about {about(x)}",
            xy=(x, y),
            xytext=(x, 0.97 - 0.06 * place),
            textcoords=ax.get_xaxis_transform(),
            va="center",
            fontsize=8.5,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 1, "shrinkB": 5, "relpos": (0, 0.5)},
        )
        ax.plot([x], [y], "o", markersize=9, markerfacecolor="white", markeredgecolor=colour, zorder=3)


def depth(rows):
    rows = generation(rows)
    lines = lines_over(rows, "depth")
    figure, (ax,) = panels(1)
    ends = draw_lines(ax, lines)
    log_axis(ax.xaxis, places_of(lines))
    log_axis(ax.yaxis)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * 1.5)
    ax.set(xlabel="tokens seen", ylabel="tokens/s", title=f"{model_of(rows[0])}: speed of generation, one sequence")
    mark_crossings(ax, lines)
    name_lines(ax, ends)
    return figure


def flat(rows):
    groups = models(generation(rows))
    figure, axes = panels(len(groups), width=4.2 * len(groups) + 1)
    for ax, (model, of_model) in zip(axes, groups.items()):
        lines = lines_over(of_model, "depth", peers=False)
        ends = draw_lines(ax, lines)
        log_axis(ax.xaxis, places_of(lines))
        ax.set_ylim(0, 1.25 * max(point.high for line in lines for point in line.points))
        ax.set(xlabel="tokens seen", ylabel="tokens/s", title=model)
        name_lines(ax, ends)
    figure.subplots_adjust(wspace=0.75)
    return figure


def gib_by_formula(row, slots):
    """GiB of a cache with so many slots per layer and KV head (docs/layouts.md)."""
    terms = row["memory"]
    per_slot = terms["layers"] * terms["kv_heads"] * (terms["key_row_bytes"] + terms["value_row_bytes"] + terms["metadata_bytes"])
    return (per_slot * slots * terms["sequences"] + terms["summary_bytes"] + terms["scratch_bytes"]) / 2**30


def memory(rows):
    rows = generation(rows)
    figure, (ax,) = panels(1)
    groups = grouped(rows, policy_of)
    shades, ends = colours(list(groups)), []
    longest = max(row.number("tokens_seen") for row in rows)
    for label, of_policy in groups.items():
        last = of_policy[-1]
        lengths = (0, longest)
        slots = lengths if label == FULL else (last.number("capacity"),) * 2
        heights = [gib_by_formula(last, count) for count in slots]
        ax.plot(lengths, heights, "--", color=shades[label], linewidth=1.4)
        held = [(row.number("tokens_seen"), measured_kv(row, rows)) for row in of_policy]
        dots = [(x, max(y, 0) / MIB_PER_GIB) for x, y in held if y is not None]
        ax.plot([x for x, _ in dots], [y for _, y in dots], "o", color=shades[label], markersize=6)
        ends.append((label, shades[label], longest, heights[-1]))
    title = f"{model_of(rows[0])}: KV memory, held (dots) and by the formula (dashed)"
    ax.set(xlabel="tokens seen", ylabel="GiB", title=title, ylim=(0, None), xlim=(0, longest * 1.02))
    ax.set_xticks(sorted({row.number("depth") for row in rows}))
    ax.xaxis.set_major_formatter(FuncFormatter(count_text))
    name_lines(ax, ends)
    return figure


def batch(rows):
    groups = {place: group for place, group in models_at_depths(generation(rows)).items() if len(batches_of(group)) > 1}
    figure, axes = panels(max(len(groups), 1), width=4.2 * max(len(groups), 1) + 1)
    for ax, ((model, depth), group) in zip(axes, groups.items()):
        lines = lines_over(group, "batch")
        ends = draw_lines(ax, lines)
        log_axis(ax.xaxis, places_of(lines))
        log_axis(ax.yaxis)
        title = f"{model}, {count_text(depth)} tokens seen"
        ax.set(xlabel="sequences", ylabel="tokens/s, all together", title=title)
        name_lines(ax, ends)
    figure.subplots_adjust(wspace=0.75)
    return figure


def chunks(rows):
    groups = models(rows)
    figure, axes = panels(len(groups), width=4.2 * len(groups) + 1)
    for ax, (model, of_model) in zip(axes, groups.items()):
        lines = lines_over(of_model, "chunk", peers=False)
        ends = draw_lines(ax, lines)
        log_axis(ax.xaxis, places_of(lines))
        ax.set(xlabel="prompt tokens in a step", ylabel="tokens/s", title=model, ylim=(0, None))
        name_lines(ax, ends)
    figure.subplots_adjust(wspace=0.75)
    return figure


def shade_models(ax, cases, heights):
    """A faint ground behind every second model."""
    names = list(dict.fromkeys(model_of(case) for case in cases))
    for case, y in zip(cases, heights):
        if names.index(model_of(case)) % 2:
            ax.axhspan(y - 0.5, y + 0.5, color="#F4F6F8", zorder=0)


def ranges(ax, cases, heights, measure):
    """A dot at the median, a line from the lowest to the highest repeat, coloured by policy and budget."""
    shades = colours(list(dict.fromkeys(policy_of(case) for case in cases)))
    for case, y in zip(cases, heights):
        colour = shades[policy_of(case)]
        ax.plot([case.number(f"{measure}_low"), case.number(f"{measure}_high")], [y, y], color=colour, linewidth=2.5, alpha=0.5)
        ax.plot([case.number(measure)], [y], "o", color=colour, markersize=6)


def sequences(row):
    return "1 sequence" if row.number("batch") == 1 else f"{row.number('batch')} sequences"


def limit(rows):
    cases = limit_cases(rows)
    label = lambda row: f"{model_of(row)}, {sequences(row)}, {count_text(row.number('depth'))} seen, {policy_of(row)}"
    figure, ax, heights = listed(cases, label)
    shade_models(ax, cases, heights)
    ranges(ax, cases, heights, "limit_fraction")
    ax.axvline(1, color=INK, linewidth=1.2)
    ax.set(xlim=(0, max(1.1, 1.05 * max(case.number("limit_fraction_high") for case in cases))))
    ax.set_xlabel("share of the measured read bandwidth (line: all of it)")
    ax.set_title("How near to the memory's limit")
    return figure


def short(rows):
    cases = [row for row in rows if row.has("ratio_vs_peer")]
    label = lambda row: f"{model_of(row)}, {row.text('test')}, {sequences(row)}, {policy_of(row)}"
    figure, ax, heights = listed(cases, label)
    shade_models(ax, cases, heights)
    ranges(ax, cases, heights, "ratio_vs_peer")
    ax.axvline(1, color=INK, linewidth=1.2)
    ax.set(xlim=(0, 1.05 * max([1] + [case.number("ratio_vs_peer_high") for case in cases])))
    ax.set_xlabel("times the faster mode of libllama (line: as fast)")
    ax.set_title("Short context, nothing evicted (pp: prompts, tg: generation)")
    return figure


def products(rows):
    pairs = pairs_of_products(rows)
    cases = [ours for ours, _ in pairs]
    label = lambda row: f"{model_of(row)}, {row.text('test')}, {sequences(row)}"
    figure, ax, heights = listed(cases, label)
    shade_models(ax, cases, heights)
    for (ours, ggml), y in zip(pairs, heights):
        ratio = ratio_of_repeats(ours, ggml)
        ax.plot([1, ratio], [y, y], color="#0072B2", linewidth=2.5, alpha=0.5)
        ax.plot([ratio], [y], "o", color="#0072B2", markersize=6)
    ax.axvline(1, color=INK, linewidth=1.2)
    ax.set_xlim(left=0)
    ax.set_xlabel("tokens/s with our products over those with ggml's (line: as fast)")
    ax.set_title("Matrix products (pp: prompts, tg: generation)")
    return figure


def prediction(rows):
    cases = predicted(rows)
    figure, (ax,) = panels(1, width=6.2, height=5.2)
    ends = []
    shades = colours(list(models(cases)))
    for model, of_model in models(cases).items():
        measured = [row.number("tokens_per_s") for row in of_model]
        expected = [row.number("predicted_tokens_per_s") for row in of_model]
        ax.plot(measured, expected, "o", color=shades[model], markersize=6, alpha=0.8)
        at = max(range(len(measured)), key=lambda i: measured[i])
        ends.append((model, shades[model], measured[at], expected[at]))
    speeds = [row.number(name) for row in cases for name in ("tokens_per_s", "predicted_tokens_per_s")]
    around = [0.8 * min(speeds), 1.25 * max(speeds)] if speeds else [1, 10]
    ax.fill_between(around, [0.9 * x for x in around], [1.1 * x for x in around], color="#EDEDED", zorder=0)
    ax.plot(around, around, color=INK, linewidth=1)
    for axis in (ax.xaxis, ax.yaxis):
        log_axis(axis)
    ax.set(xlim=around, ylim=around, xlabel="measured tokens/s", ylabel="predicted tokens/s")
    ax.set_title("The cost model (line: as measured; grey: within 10 %)")
    name_lines(ax, ends)
    return figure


def stall(rows):
    cases = generation(rows)
    label = lambda row: f"{model_of(row)}, {count_text(row.number('depth'))} seen, {policy_of(row)}, layers {taking_turns(row)}"
    figure, ax, heights = listed(cases, label)
    shown = (("median", "token_ms_p50", "o", INK), ("p99", "token_ms_p99", "D", "#0072B2"), ("slowest", "token_ms_max", "s", "#D55E00"))
    for case, y in zip(cases, heights):
        middle = case.number("token_ms_p50")
        ax.plot([1, case.number("token_ms_max") / middle], [y, y], color="#CCCCCC", linewidth=2, zorder=1)
        for name, measure, marker, colour in shown:
            x = case.number(measure) / middle
            ax.plot([x], [y], marker, color=colour, markersize=6)
            if y == heights[0]:
                offset = -15 if name == "p99" else 8  # p99 may be next to the slowest
                ax.annotate(name, (x, y), xytext=(0, offset), textcoords="offset points", ha="center", fontsize=8.5, color=colour)
    ax.set_ylim(-0.7, len(cases) + 0.1)
    ax.set_xlabel("time from token to token, over its median")
    ax.set_title("From token to token while heads evict", pad=12)
    return figure


def largest_batch(rows):
    groups = models(rows)
    figure, axes = panels(len(groups), width=3.4 * len(groups) + 1.2, height=0.3 * max(map(len, groups.values())) + 1.3)
    for ax, (model, of_model) in zip(axes, groups.items()):
        shades = colours(list(dict.fromkeys(policy_of(row) for row in of_model)))
        labels = [f"{count_text(row.number('depth'))} seen, {policy_of(row)}" for row in of_model]
        heights = list(range(len(of_model)))[::-1]
        speeds = [row.number("tokens_per_s") if row.has("tokens_per_s") else 0 for row in of_model]
        ax.barh(heights, speeds, color=[shades[policy_of(row)] for row in of_model], height=0.65)
        for row, y, speed in zip(of_model, heights, speeds):
            ax.text(speed, y, f" {row.number('batch')}" if row.number("batch") else " none fits", va="center", fontsize=8)
        ax.set_yticks(heights, labels, fontsize=8.5)
        ax.set(xlabel="tokens/s (number: sequences)", title=model, xlim=(0, 1.2 * max(speeds + [1])))
        ax.grid(False, axis="y")
    figure.subplots_adjust(wspace=0.85)
    return figure


DRAWN = {
    "depth-4b": depth,
    "depth-0.6b": depth,
    "flat": flat,
    "memory": memory,
    "batch": batch,
    "chunks": chunks,
    "short": short,
    "limit": limit,
    "products": products,
    "prediction": prediction,
    "stall": stall,
    "largest-batch": largest_batch,
}


def svg(name, rows):
    """The picture of a figure, as the bytes of an SVG file: always the same for the same rows."""
    with pyplot.style.context(["default", SETTINGS]):  # whatever the user's own settings are
        return finished(DRAWN[name](rows), machine(rows))
