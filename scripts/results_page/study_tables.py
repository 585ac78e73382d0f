"""Markdown tables of docs/answers-per-megabyte.md."""
from dataclasses import dataclass

from markdown_table import table
from study import ATTNV, CANDIDATES, DKV, behind, geometric_mean, is_sure, points_of, ratio

ROW_TITLES = ["rows", "policy", "M", "MiB", "KL ± SE", "behind the best ± SE", "of VaSE-AttnV f16", "same top token, %"]


@dataclass(frozen=True)
class Aim:
    """What was set before it was measured: a ratio of a candidate's KL to that of a row in f16."""

    at: str  # beginning of the names of the runs with the rows
    over: object  # a Kind
    most: float


AIMS = (
    Aim("mb-coder-r16-m64-", ATTNV, 0.05),
    Aim("mb-coder-r16-m64-", DKV, 0.08),
    Aim("mb-smollm2-r32-m128-", ATTNV, 0.27),
)


def thousandths(value, error):
    return f"{1000 * value:.2f} ± {'?' if error is None else f'{1000 * error:.2f}'}"


def share_text(value, error):
    return f"{value:.3f} ± {'?' if error is None else f'{error:.3f}'}"


def texts_table(runs):
    return table(["texts", "how many", "tokens of the prompt", "recorded behind it"], [texts_cells(run) for run in runs])


def texts_cells(run):
    items = [item for group in run["groups"] for item in run.of(group, "items")]
    ranges = [f"{min(counts)} to {max(counts)}" for counts in ([item[i] for item in items] for i in (1, 2))]
    return [f"`{run.name}`", len(items), *ranges]


def points_table(runs):
    """Of one point all there is; of several their divergences side by side, and the rest folded away."""
    points = points_of(runs)
    if len(points) == 1:
        return f"{heading(points[0])}\n\n{point_text(points[0])}"
    folded = [f"<details><summary>{heading(point)}</summary>\n\n{point_text(point)}\n\n</details>" for point in points]
    return "\n\n".join([side_by_side(points), *folded])


def heading(point):
    return f"{point.model}, {point.megabytes:g} MiB"


def side_by_side(points):
    fullest = max(points, key=lambda point: len(point.rows))
    kinds = list(dict.fromkeys(row.kind for point in (fullest, *points) for row in point.rows))
    cells = [[kind.kv_type, kind.name, *(divergence_at(point, kind) for point in points)] for kind in kinds]
    return table(["rows", "policy", *(f"{point.megabytes:g} MiB" for point in points)], cells)


def divergence_at(point, kind):
    row = point.row(kind)
    return divergence(point, row) + ("" if told_apart(point, row) else " (=)") if row else "-"


def divergence(point, row):
    return thousandths(row.mean, row.error) + (" (*)" if row.mean <= point.floor else "")


def told_apart(point, row):
    """The best itself needs no mark."""
    return row is point.rows[0] or behind(row, point.rows[0], point.floor).told_apart


def point_text(point):
    return table(ROW_TITLES, [row_cells(point, row) for row in point.rows]) + "\n\n" + below(point)


def row_cells(point, row):
    best, attnv = point.rows[0], point.row(ATTNV)
    lost = behind(row, best, point.floor)
    return [
        row.kind.kv_type,
        row.kind.name,
        row.budget,
        f"{row.bytes / 2**20:.2f}",
        divergence(point, row),
        "-" if row is best else thousandths(lost.mean, lost.error) + ("" if told_apart(point, row) else " (=)"),
        share_text(*ratio(row, attnv)) if attnv and row is not attnv else "-",
        f"{100 * sum(row.same_top.values()) / point.texts:.1f}",
    ]


def below(point):
    equals = [row.kind for row in point.rows if not told_apart(point, row)]
    named = ", ".join(map(titled, equals)) or "none"
    count = "1 text" if point.texts == 1 else f"{point.texts} texts"
    refused = "".join(f" Not bought by so few: {titled(kind)} ({why})." for kind, why in point.refused)
    return f"{count}. Noise floor: {1000 * point.floor:.2f}. Not told apart from the best: {named}.{refused}"


def aims_table(runs):
    """Each candidate against each aim."""
    cells = []
    for aim in AIMS:
        point = point_at(runs, aim.at)
        over = point and point.row(aim.over)
        if not over:
            continue
        for row in filter(None, map(point.row, CANDIDATES)):
            cells.append([heading(point), titled(row.kind), titled(aim.over), *aim_cells(aim, *ratio(row, over), point.texts)])
    return table(["where", "candidate", "over", "ratio ± SE", "aim: at most", ""], cells) if cells else "None of the runs has the rows."


def titled(kind):
    return f"{kind.kv_type} {kind.name}"


def aim_cells(aim, value, error, texts):
    return [share_text(value, error), f"{aim.most:g}", verdict(value, error, aim.most, texts)]


def point_at(runs, beginning):
    chosen = [run for run in runs if run.name.startswith(beginning)]
    return points_of(chosen)[0] if chosen else None


def verdict(value, error, most, texts):
    if not is_sure(value - most, error, texts):
        return "not told apart from the aim"
    return "met" if value < most else "missed"


def types_table(runs):
    """Divergence of each type of rows, a column for each model."""
    points = [points_of([run])[0] for run in runs]
    kinds = dict.fromkeys(row.kind for point in points for row in point.rows)
    cells = [[kind.kv_type, *(divergence(point, point.row(kind)) for point in points)] for kind in kinds]
    cells.append(["noise floor", *(f"{1000 * point.floor:.2f}" for point in points)])
    return table(["rows: keys, values", *(point.model for point in points)], cells)


def choice_table(runs):
    """Each candidate over all points that have all of them: a table for each model, and for texts that choose and those held out."""
    points = [point for group in settings_of(runs) for point in points_of(group)]
    groups = {}
    for point in points:
        groups.setdefault((point.model, is_held(point.runs[0])), []).append(point)
    return "\n\n".join(filter(None, (choice_of(*key, group) for key, group in groups.items()))) or "No point has all candidates."


def choice_of(model, held, points):
    kinds = [kind for kind in CANDIDATES if any(point.row(kind) for point in points)]
    points = [point for point in points if point.row(ATTNV) and all(map(point.row, kinds))]
    if not (points and kinds):
        return ""
    cells = sorted((choice_cells(points, kind) for kind in kinds), key=lambda cell: cell[1])
    title = f"{model}, {'held out' if held else 'texts that choose'}"
    return table([title, "KL over that of VaSE-AttnV f16", "at worst", "points where it is told apart from the best"], cells)


def choice_cells(points, kind):
    ratios = [ratio(point.row(kind), point.row(ATTNV))[0] for point in points]
    lost = sum(point.row(kind) is not point.rows[0] and told_apart(point, point.row(kind)) for point in points)
    return [titled(kind), f"{geometric_mean(ratios):.4f}", f"{max(ratios):.4f}", f"{lost} of {len(points)}"]


def setting_of(name):
    """mb-coder-r16-m64-quick -> mb-coder-r16: runs on the same texts."""
    return name.rpartition("-m")[0]


def is_held(name):
    return name.startswith("mb-held-")


def settings_of(runs):
    groups = {}
    for run in runs:
        groups.setdefault(setting_of(run.name), []).append(run)
    return list(groups.values())
