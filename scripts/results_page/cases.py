"""The recorded runs seen as what the page compares."""
from dataclasses import dataclass

from results import read_authors
from spread import Z, wilson

PARITY, DEFAULT, GREEDY = "gsm8k-64-parity", "gsm8k-64-default", "gsm8k-64-greedy"
FULL, RANDOM, PEER = "full", "random", "libllama"


@dataclass(frozen=True)
class Share:
    """A share of right texts with its 95 % interval, and its difference to the full cache; from 0 to 1."""

    value: float
    low: float
    high: float
    error: float
    against_full: object  # (difference, low, high), or None


@dataclass(frozen=True)
class Beside:
    """A figure of the authors' code beside ours; None where the run is not there."""

    what: str
    group: str
    authors: Share
    parity: Share
    default: Share


def share_of(run, row):
    value, error = run.number(row, "pass_at_1"), run.number(row, "pass_at_1_error")
    return Share(value, value - Z * error, value + Z * error, error, against_full(run, row))


def against_full(run, row):
    """(difference, low, high), from 0 to 1, low and high None where all problems differ by as much; None of the full cache itself."""
    against = run.of(row, "against_full")
    if not against:
        return None
    known = run.of(against, "low") is not None
    ends = [run.number(against, end) for end in ("low", "high")] if known else [None, None]
    return run.number(against, "difference"), *ends


def find_share(runs, prefix, policy):
    """Of the first run whose name begins so and that has the policy; "greedy" is the full cache of the greedy run."""
    if policy == "greedy":
        prefix, policy = GREEDY, FULL
    for run in runs:
        row = run.row(policy) if run.name.startswith(prefix) else None
        if row:
            return share_of(run, row)
    return None


def beside_authors(runs):
    problems = max(run.number(row, "problems") for run in runs for row in run["rows"])
    cases = []
    for one in read_authors(runs[0].path.parent):
        share = one.percent / 100
        authors = Share(share, *wilson(round(share * problems), problems), 0, None)
        cases.append(Beside(one.what, one.group, authors, find_share(runs, PARITY, one.parity), find_share(runs, DEFAULT, one.default)))
    return cases


def evicting_rows(run):
    return [row for row in run["rows"] if run.of(row, "policy") != FULL]


def against_random(run, row):
    """The shares by problem of the row and of `random` at the same budget, the second empty where there is no such row; None for the full
    cache and for `random`."""
    policy, budget = run.of(row, "policy"), run.of(row, "budget")
    if policy in (FULL, RANDOM):
        return None
    return run.right_by_problem(policy, budget), run.right_by_problem(RANDOM, budget)


def noise_floor(run):
    return max(run.number(row, "kl_mean") for row in run["noise_floors"])


def measured(run, row):
    """Whether any position came after an eviction."""
    return run.number(row, "positions") > 0


def budgets_of(run):
    return sorted({run.of(row, "budget") for row in run["rows"]})


def policies_of(run):
    return list(dict.fromkeys(run.of(row, "policy") for row in run["rows"]))
