"""The pictures of docs/answers-per-megabyte.md. Needs matplotlib."""
from drawing import FAINT, INK, PALETTE, log_axis, name_lines, noise_band, panels
from study import ATTNV, CANDIDATES, DKV, F16, RANDOM, Kind, points_of

# What has a strong line and a name; the others are faint, and the tables have all.
NAMED = (
    RANDOM,
    ATTNV,
    DKV,
    Kind("snapkv", F16),
    Kind("value-slots", F16),
    Kind("snapkv", "q4_0"),
    Kind("vase-dkv", "q4_0"),
    *CANDIDATES,
    *(Kind(kind.policy, "q8_0") for kind in CANDIDATES),
)
COLOURS = {F16: PALETTE[0], "q8_0": PALETTE[4], "q4_0": PALETTE[1]}
MIXED = PALETTE[2]  # keys of another type than values
ALWAYS = {RANDOM: FAINT, ATTNV: INK}


def curves(runs):
    points = points_of(runs)
    figure, (ax,) = panels(1, height=6.0)
    others = dict.fromkeys(row.kind for point in points for row in point.rows if row.kind not in NAMED)
    for kind in others:
        draw(ax, kind, points, alpha=0.25)
    ends = [end for kind in NAMED if (end := draw(ax, kind, points))]
    log_axis(ax.xaxis, [point.megabytes for point in points])
    log_axis(ax.yaxis)
    noise_band(ax, max(point.floor for point in points))
    ax.set(xlabel="MiB of one sequence, everything counted", ylabel="mean KL to the full cache, nats", title=points[0].model)
    name_lines(ax, ends)
    return figure


def draw(ax, kind, points, alpha=1):
    """Its line with a bar of one standard error at each point; returns what names it, or None."""
    measured = [(point.megabytes, row) for point in points if (row := point.row(kind))]
    if not measured:
        return None
    colour = ALWAYS.get(kind, COLOURS.get(kind.kv_type, MIXED))
    x, y = [megabytes for megabytes, _ in measured], [row.mean for _, row in measured]
    ax.plot(x, y, "o-", color=colour, markersize=4.5, linewidth=2.4 if kind in ALWAYS else 1.4, alpha=alpha)
    for megabytes, row in measured:
        error = row.error or 0
        ax.vlines(megabytes, max(row.mean - error, row.mean / 10), row.mean + error, color=colour, linewidth=3.5, alpha=0.3 * alpha)
    return f"{kind.kv_type} {kind.name}", colour, x[-1], y[-1]
