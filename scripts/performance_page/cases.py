"""Rows seen as cases: what they are called, and lines of them over depth or batch."""
import re
import statistics
from dataclasses import dataclass, field

PEERS = {"peer_flash_tokens_per_s": "libllama flash", "peer_plain_tokens_per_s": "libllama plain"}
FULL = "full cache"


def model_of(row):
    """The model's name up to its size: "qwen3-4b", "Qwen2.5 Coder 1.5B"."""
    name = row.text("model")
    size = re.match(r".*?\d+(\.\d+)?[mb]\b", name, re.IGNORECASE)
    return size.group(0) if size else name


def policy_of(row):
    """The policy with its budget: "vase-attnv 4096"."""
    name = row.text("policy_name")
    return FULL if name == "full" else f"{name} {row.number('budget')}"


def is_generation(row):
    return row.text("test").startswith("tg") and row.number("batch") > 0


def generation(rows):
    return [row for row in rows if is_generation(row)]


def grouped(rows, key):
    """The rows of each key, in order of appearance."""
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def models(rows):
    """The rows of each model, in order of appearance."""
    return grouped(rows, model_of)


def models_at_depths(rows):
    """The rows of each (model, tokens seen), depths that more batches were timed at first."""
    groups = grouped(rows, lambda row: (model_of(row), row.number("depth")))
    return dict(sorted(groups.items(), key=lambda group: -len(batches_of(group[1]))))


def batches_of(rows):
    return {row.number("batch") for row in rows}


@dataclass
class Point:
    x: float
    median: float
    low: float
    high: float
    row: object  # that it comes from


@dataclass
class Line:
    label: str
    points: list = field(default_factory=list)


def point(row, x, measure):
    return Point(x, row.number(measure), row.number(f"{measure}_low"), row.number(f"{measure}_high"), row)


def lines_over(rows, axis, measure="tokens_per_s", peers=True):
    """A line for each mode of libllama that was timed, then for each policy and budget, over the field `axis`.

    Rows that were timed in turns repeat the same libllama; one point of it is kept per place.
    """
    ours, theirs = {}, {}
    for row in rows:
        x = row.number(axis)
        ours.setdefault(policy_of(row), {}).setdefault(x, point(row, x, measure))
        for peer, label in PEERS.items():
            if peers and row.has(peer):
                theirs.setdefault(label, {}).setdefault(x, point(row, x, peer))
    ordered = {label: theirs[label] for label in PEERS.values() if label in theirs} | ours
    return [Line(label, [points[x] for x in sorted(points)]) for label, points in ordered.items()]


def ratio_of_repeats(row, other):
    """Median of the ratios of one repeat; the two rows were timed in turns."""
    pairs = zip(row.numbers("tokens_per_s_repeats"), other.numbers("tokens_per_s_repeats"))
    return statistics.median(a / b for a, b in pairs)


def timed_in_turns(row, other):
    """Whether they differ in policy, budget and matrix products alone, and come from one run."""
    same = ("test", "depth", "batch", "threads", "key_type", "value_type")
    return row.path == other.path and all(row[field] == other[field] for field in same)


def gain_over_full(points, full):
    """(depth, ratio) for those points that the full cache was timed in turns with."""
    return [
        (one.x, ratio_of_repeats(one.row, other.row))
        for one in points
        for other in full
        if timed_in_turns(one.row, other.row)
    ]


def pairs_of_products(rows):
    """(ours, ggml's) for the rows that were timed with both kinds of matrix products, in turns."""
    ggml = [row for row in rows if row.text("products") == "ggml"]
    return [
        (row, other)
        for row in rows
        for other in ggml
        if row.text("products") == "own" and policy_of(row) == policy_of(other) and timed_in_turns(row, other)
    ]


def crossing(points, threshold):
    """Where a ratio passes the threshold for good, straight between depths: the time of a step grows with the depth.

    points: (depth, ratio) by rising depth. Returns the first depth when the ratio is above it everywhere, None when it is not at
    the last depth.
    """
    below = [i for i, (_, ratio) in enumerate(points) if ratio < threshold]
    if not below:
        return points[0][0]
    if below[-1] == len(points) - 1:
        return None
    (x0, y0), (x1, y1) = points[below[-1]], points[below[-1] + 1]
    return x0 + (x1 - x0) * (threshold - y0) / (y1 - y0)
