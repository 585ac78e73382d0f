"""How the plots of the performance page look: colours of budgets and peers, and the machine below."""
from cases import FULL, PEERS
from drawing import INK, PALETTE, span

# Of a policy: from its smallest budget to its largest.
PEER_COLOURS = dict(zip(PEERS.values(), ("#CC79A7", "#009E73")))
POLICY_COLOURS = {"vase-attnv": ("#56B4E9", "#0072B2"), "vase-dkv": ("#E69F00", "#D55E00")}
DASHED = "vase-dkv"  # often as fast as vase-attnv, and drawn over it


def colours(labels):
    """A colour for each label; the budgets of a policy are shades of one hue."""
    budgets = {}
    for label in labels:
        policy, _, budget = label.rpartition(" ")
        if policy in POLICY_COLOURS:
            budgets.setdefault(policy, []).append(int(budget))
    chosen, others = {}, iter(PALETTE * len(labels))
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


def draw_line(ax, line, colour):
    """The medians, with bars from the lowest to the highest repeat."""
    x = [point.x for point in line.points]
    style = "o--" if line.label.startswith(DASHED) else "o-"
    ax.plot(x, [point.median for point in line.points], style, color=colour, markersize=4.5, linewidth=1.8)
    ax.vlines(x, [point.low for point in line.points], [point.high for point in line.points], color=colour, linewidth=3.5, alpha=0.3)


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
