"""Recorded runs of `vase tune` joined to what docs/answers-per-megabyte.md compares: rows at equal megabytes, text by text."""
import math
import statistics
from dataclasses import dataclass

from files import PageError
from runs import AGAIN
from spread import standard_error, t_quantile

F16 = "f16"
# Short names of policies that have none of their own.
COMPOSITION = "protect=sinks:4,value:25% score=attention:form={} select=sample:floor=0.1,weights=on"
NICKNAMES = {COMPOSITION.format("rms,smooth=off"): "rms-weighted"}


@dataclass(frozen=True)
class Kind:
    """What is compared: a policy with a type of rows."""

    policy: str
    kv_type: str

    @property
    def name(self):
        return NICKNAMES.get(self.policy, self.policy)


ATTNV, DKV, RANDOM = (Kind(policy, F16) for policy in ("vase-attnv", "vase-dkv", "random-sinks"))
# What the study compares with one another: the default, and what could be in its place.
CANDIDATES = tuple(Kind(policy, "q4_0") for policy in ("vase", "vase-values", "vase-attnv-weighted", "vase-dkv-weighted"))


@dataclass(frozen=True)
class Row:
    """A kind at some megabytes. kl: text -> nats, mean over the positions that all rows of the point count."""

    kind: Kind
    budget: int
    bytes: int
    kl: dict
    same_top: dict  # text -> share of these positions

    @property
    def mean(self):
        return statistics.fmean(self.kl.values())

    @property
    def error(self):
        return error_of(list(self.kl.values()))


@dataclass(frozen=True)
class Point:
    """All rows at the same megabytes on the same texts, the least divergence first."""

    model: str
    megabytes: float
    floor: float
    rows: list
    runs: list  # names
    refused: list  # (kind, why) of what the megabytes do not buy

    def row(self, kind):
        return next((row for row in self.rows if row.kind == kind), None)

    @property
    def texts(self):
        return len(self.rows[0].kl)


@dataclass(frozen=True)
class Behind:
    mean: float  # nats, over texts
    error: float  # None: one text
    told_apart: bool


def error_of(values):
    """Standard error of a mean; None where there is one value."""
    return standard_error(values) if len(values) > 1 else None


def is_sure(difference, error, texts):
    """Whether a mean over texts lies further from 0 than chance alone brings it in 19 of 20 cases; one text is never sure."""
    return texts > 1 and abs(difference) > t_quantile(texts - 1) * error


def behind(row, best, floor):
    """How far a row is behind the best one, text by text; told apart by the rule of `vase tune`."""
    differences = [kl - best.kl[text] for text, kl in row.kl.items()]
    mean, error = statistics.fmean(differences), error_of(differences)
    return Behind(mean, error, mean > floor and is_sure(mean, error, len(differences)))


def ratio(row, other):
    """(mean KL of a row over that of another, its standard error over texts to first order; None with one text)."""
    value = row.mean / other.mean
    residuals = [kl - value * other.kl[text] for text, kl in row.kl.items()]
    error = error_of(residuals)
    return value, None if error is None else error / other.mean


def points_of(runs):
    """The points of runs on the same texts, by growing megabytes."""
    groups = {}
    for run in runs:
        groups.setdefault(run["megabytes"], []).append(run)
    return [point_of(groups[megabytes]) for megabytes in sorted(groups)]


def point_of(runs):
    entries = [entry for run in runs for entry in entries_of(run)]
    texts = set(entries[0].items)
    if any(set(entry.items) != texts for entry in entries):
        raise PageError(f"{', '.join(run.name for run in runs)} have other texts each; {AGAIN} {' '.join(run.name for run in runs)}")
    positions = {text: max(entry.items[text][0] for entry in entries) for text in texts}
    rows = sorted((entry.row(positions) for entry in entries), key=lambda row: row.mean)
    floor = max(run.number(one, "kl_mean") for run in runs for one in run["noise_floors"])
    refused = [(kind_of(run, one), run.of(one, "why")) for run in runs for one in run["not_measured"]]
    return Point(runs[0]["model"], runs[0]["megabytes"], floor, rows, [run.name for run in runs], refused)


@dataclass(frozen=True)
class Entry:
    """A row as it was recorded. items: text -> (positions, KL, share of the same top token), of its own positions."""

    kind: Kind
    budget: int
    bytes: int
    items: dict

    def row(self, positions):
        """Over the positions of the row that differs first from the full cache: before its own ones this one is the full cache."""
        kl, same = {}, {}
        for text, (own, mean, same_top) in self.items.items():
            share = own / positions[text]
            kl[text], same[text] = mean * share, 1 - (1 - same_top) * share
        return Row(self.kind, self.budget, self.bytes, kl, same)


def kind_of(run, entry):
    return Kind(run.of(entry, "policy"), run.of(entry, "kv_type"))


def entries_of(run):
    items = {kind_of(run, group): {text: tuple(rest) for text, *rest in run.of(group, "items")} for group in run["groups"]}
    for row in run["rows"]:
        kind = kind_of(run, row)
        yield Entry(kind, run.number(row, "budget"), run.number(row, "kv_bytes"), items[kind])


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))
