"""Markdown tables of docs/results.md."""
import itertools
import statistics

from cases import (
    DEFAULT,
    FULL,
    PEER,
    against_full,
    against_random,
    beside_authors,
    budgets_of,
    evicting_rows,
    find_share,
    measured,
    noise_floor,
    policies_of,
)
from markdown_table import table
from results import joined
from spread import paired, rank_correlation


def percent(share):
    return f"{100 * share:.1f}"


def points(difference):
    """A difference in points with its interval."""
    if difference is None:
        return "-"
    mean, low, high = difference
    if low is None:
        return f"{100 * mean:+.1f} [?]"
    return f"{100 * mean:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def with_error(share):
    return f"{percent(share.value)} ± {percent(share.error)}" if share else "-"


def inside(case):
    if case.parity is None:
        return "-"
    return "yes" if case.authors.low <= case.parity.value <= case.authors.high else "no"


def authors_table(runs):
    cases = beside_authors(runs)
    cells = [
        [
            case.what,
            f"{percent(case.authors.value)} [{percent(case.authors.low)}, {percent(case.authors.high)}]",
            with_error(case.parity),
            inside(case),
            points(case.parity and case.parity.against_full),
            with_error(case.default),
            points(case.default and case.default.against_full),
        ]
        for case in cases
    ]
    titles = ["", "authors' code, % [95 %]", "parity, % ± SE", "in that interval", "parity against full", "default, % ± SE", "default against full"]
    return table(titles, cells) + "\n\n" + agreement([case for case in cases if case.parity])


def agreement(cases):
    """How the two columns go together, in a sentence."""
    if len(cases) < 2:
        return "Too few rows for a rank correlation."
    correlation = rank_correlation([case.authors.value for case in cases], [case.parity.value for case in cases])
    widest = max(cases, key=lambda case: abs(case.parity.value - case.authors.value))
    outside = [case.what for case in cases if inside(case) == "no"]
    return (
        f"Rank correlation of the authors' code and parity over {len(cases)} rows: {number(correlation)}. Furthest apart: {widest.what}, "
        f"{100 * (widest.parity.value - widest.authors.value):+.1f} points. Outside of the authors' interval: {', '.join(outside) or 'none'}. "
        + groups(cases)
    )


def groups(cases):
    """Means of what belongs together, in the authors' order, and whether parity has the same one."""
    members = {}
    for case in cases:
        members.setdefault(case.group, []).append(case.parity.value)
    means = [statistics.fmean(values) for values in members.values()]  # of the rows that are measured
    kept = all(above > below for above, below in zip(means, means[1:]))
    named = ", ".join(f"{group} {percent(mean)}" for group, mean in zip(members, means))
    return f"Groups, in the authors' order: {named}; parity {'has the same order' if kept else 'has another order'}."


def number(correlation):
    return "-" if correlation is None else f"{correlation:.2f}"


def peer_table(runs):
    """The same problems with everything kept, by this program and by libllama: every two of the runs beside each other."""
    if len(runs) < 2:
        return "One run alone has nothing to stand beside."
    pairs = itertools.combinations(sorted(runs, key=lambda run: run["kind"] == "peer"), 2)
    return table(PEER_TITLES, [peer_cells(first, second) for first, second in pairs])


PEER_TITLES = ["first", "second", "problems", "right, first", "second", "both", "first alone", "second alone", "texts that are the same to the last token"]


def peer_cells(first, second):
    left, right = (run.right_by_problem(PEER if run["kind"] == "peer" else FULL, 0) for run in (first, second))
    both = sum(left[one] == 1 and right.get(one) == 1 for one in left)
    same = second["same_texts"] if second["kind"] == "peer" and second["reference"] == first.name else "-"
    return [who(first), who(second), len(left), counted(left), counted(right), both, counted(left) - both, counted(right) - both, same]


def who(run):
    if run["kind"] == "peer":
        return PEER
    return "here, products of ggml" if run["config"].get("products") == "ggml" else "here"


def counted(shares):
    return sum(share == 1 for share in shares.values())


def accuracy_table(runs):
    run = joined(runs)
    return table(ACCURACY_TITLES, [accuracy_cells(run, row) for row in run["rows"]])


ACCURACY_TITLES = ["cache", "M", "right, % ± SE", "against full", "p", "against random", "strict, %", "cut off, %", "loop, %", "tokens", "M / length", "KV MiB"]


def accuracy_cells(run, row):
    against, beside_random = run.of(row, "against_full"), against_random(run, row)
    budget = run.number(row, "budget")
    return [
        run.of(row, "policy"),
        budget or "-",
        f"{percent(run.number(row, 'pass_at_1'))} ± {percent(run.number(row, 'pass_at_1_error'))}",
        points(against_full(run, row)),
        f"{run.number(against, 'sign_test_p'):.2g}" if against else "-",
        points(beside_random and paired(*beside_random)),
        percent(run.number(row, "strict")),
        percent(run.number(row, "truncated")),
        percent(run.number(row, "loop")),
        f"{run.number(row, 'generated_tokens_mean'):.0f}",
        f"{run.number(against, 'budget_to_length'):.2f}" if against and budget else "-",
        f"{run.number(row, 'kv_bytes') / 2**20:.2f}",
    ]


def divergence(run, row):
    """Mean KL with its error, in thousandths of a nat."""
    if not row or not measured(run, row):
        return "-"
    mark = " (*)" if run.number(row, "kl_mean") <= noise_floor(run) else ""
    error = run.of(row, "kl_error")
    return f"{1000 * run.number(row, 'kl_mean'):.1f} ± {'?' if error is None else f'{1000 * error:.1f}'}{mark}"


def kl_table(runs):
    """A row per policy, the least divergence at the largest budget first."""
    run = joined(runs)
    budgets = budgets_of(run)
    last = lambda policy: run.number(run.row(policy, budgets[-1]), "kl_mean")
    ordered = sorted(policies_of(run), key=last)
    cells = [[policy] + [divergence(run, run.row(policy, budget)) for budget in budgets] for policy in ordered]
    return table([run["model"]] + [f"M = {budget}" for budget in budgets], cells) + f"\n\n{floor_text(run)} {len(texts_of(run))} texts."


def floor_text(run):
    return f"Noise floor: {1000 * noise_floor(run):.1f}; what lies below it is marked (*)."


def texts_of(run):
    """Names of the texts that were read."""
    place = run["fields"].index("text")
    return {item[place] for group in run["groups"] for item in run.of(group, "items")}


def correlation_table(runs):
    """Accuracy of the policies of the 64 problems, and their divergence at the same budget."""
    kl = next((run for run in runs if run["kind"] == "kl"), None)
    accuracy = [run for run in runs if run.name.startswith(DEFAULT)]
    if not (kl and accuracy):
        return "Some of the runs are missing."
    cells, pairs = [], []
    for run in accuracy:
        for row in evicting_rows(run):
            policy, budget = run.of(row, "policy"), run.of(row, "budget")
            beside = kl.row(policy, budget)
            if not beside:
                continue
            pairs.append((kl.number(beside, "kl_mean"), run.number(row, "pass_at_1")))
            cells.append([policy, divergence(kl, beside), with_error(find_share([run], DEFAULT, policy))])
    cells = [cell for _, cell in sorted(zip(pairs, cells), key=lambda one: one[0])]
    correlation = rank_correlation([x for x, _ in pairs], [y for _, y in pairs]) if len(pairs) > 1 else None
    return table(["policy", "KL, thousandths of a nat", "right, %"], cells) + f"\n\nRank correlation: {number(correlation)}. {floor_text(kl)}"


def runs_table(results, belongs):
    """Of the recorded runs that belong to the page."""
    cells = []
    for name in results.known:
        for run in filter(belongs, results.rows.get(name, [])):
            command = results.commands[name].replace("|", "\\|")
            cells.append([f"[{name}](../eval/results/{name}.json)", run["date"], run["cpu"], run["build"], f"`{command}`"])
    return table(["run", "date", "CPU", "build", "command"], cells)
