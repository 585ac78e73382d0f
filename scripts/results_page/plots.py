"""The pictures of docs/results.md and docs/answers-per-megabyte.md. Needs matplotlib."""
from cases import against_full, beside_authors, budgets_of, evicting_rows, measured, noise_floor
from drawing import FAINT, INK, PALETTE, SETTINGS, finished, listed, log_axis, name_lines, noise_band, panels, pyplot, span
from results import joined
from study_plots import curves

# Drawn in each figure of divergences, when they are there; the tables have all.
KL_POLICIES = ("vase", "vase-attnv", "vase-dkv", "snapkv", "r-kv", "random-sinks")
BUDGET_COLOURS = PALETTE[:2]


def authors(runs):
    cases = beside_authors(runs)
    figure, ax, heights = listed(cases, lambda case: case.what)
    series = (("authors' code", "authors", "s", FAINT, 0.22), ("parity", "parity", "o", PALETTE[0], 0.0), ("default", "default", "D", PALETTE[1], -0.22))
    for name, field, marker, colour, offset in series:
        shares = [(getattr(case, field), y + offset) for case, y in zip(cases, heights) if getattr(case, field)]
        for share, y in shares:
            ax.plot([100 * share.low, 100 * share.high], [y, y], color=colour, linewidth=1.8, alpha=0.5)
        ax.plot([100 * share.value for share, _ in shares], [y for _, y in shares], marker, color=colour, markersize=5, label=name)
    ax.legend(loc="lower right", frameon=False, fontsize=8.5)
    ax.set(xlim=(0, 100), xlabel="right, % (lines: 95 % intervals)")
    ax.set_title("64 problems of GSM8K, T = 0.6, M = 128, R = 16")
    return figure


def differences(runs):
    """Against the full cache, problem by problem: a dot, and a line over its 95 % interval."""
    run = joined(runs)
    rows = evicting_rows(run)
    budgets = budgets_of(run)
    label = lambda row: f"{run.of(row, 'policy')}, M = {run.of(row, 'budget')}"
    figure, ax, heights = listed(rows, label)
    for row, y in zip(rows, heights):
        middle, low, high = against_full(run, row)
        colour = BUDGET_COLOURS[budgets.index(run.of(row, "budget")) % len(BUDGET_COLOURS)]
        if low is not None:
            ax.plot([100 * low, 100 * high], [y, y], color=colour, linewidth=2.5, alpha=0.5)
        ax.plot([100 * middle], [y], "o", color=colour, markersize=6)
    ax.axvline(0, color=INK, linewidth=1.2)
    ax.set_xlabel("points against the full cache (line: as many right; bars: 95 % intervals)")
    ax.set_title(f"{run['model']}, {run.of(rows[0], 'problems')} problems of {run.of(rows[0], 'task')}, greedy")
    return figure


def kl(runs):
    run = joined(runs)
    budgets = budgets_of(run)
    figure, (ax,) = panels(1)
    ends = []
    for policy, colour in zip(KL_POLICIES, PALETTE):
        rows = [row for row in (run.row(policy, budget) for budget in budgets) if row and measured(run, row)]
        if not rows:
            continue
        x, y = [run.of(row, "budget") for row in rows], [run.number(row, "kl_mean") for row in rows]
        errors = [run.of(row, "kl_error") or 0 for row in rows]
        ax.plot(x, y, "o-", color=colour, markersize=4.5, linewidth=1.8)
        low = [max(mean - error, mean / 10) for mean, error in zip(y, errors)]
        ax.vlines(x, low, [mean + error for mean, error in zip(y, errors)], color=colour, linewidth=3.5, alpha=0.3)
        ends.append((policy, colour, x[-1], y[-1]))
    log_axis(ax.xaxis, budgets)
    log_axis(ax.yaxis)
    noise_band(ax, noise_floor(run))
    ax.set(xlabel="M, tokens kept", ylabel="mean KL to the full cache, nats", title=run["model"])
    name_lines(ax, ends)
    return figure


DRAWN = {
    "authors": authors,
    "gsm8k": differences,
    "math500": differences,
    "kl-coder-1.5b": kl,
    "kl-coder-0.5b": kl,
    "kl-smollm2": kl,
    "mb-coder-r16": curves,
    "mb-coder-r64": curves,
    "mb-smollm2-r32": curves,
}


def note(runs):
    """Where, with what and when."""
    facts = [span({run["cpu"] for run in runs}), f"vase {span({run['build'] for run in runs})}", span({run["date"] for run in runs})]
    return " · ".join(facts)


def svg(name, runs):
    """The picture of a figure, as the bytes of an SVG file: always the same for the same runs."""
    with pyplot.style.context(["default", SETTINGS]):  # whatever the user's own settings are
        return finished(DRAWN[name](runs), note(runs))
