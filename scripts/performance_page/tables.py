"""Markdown tables of the page, each out of the rows of its runs."""
import statistics

from cases import (
    FULL,
    PEERS,
    crossing,
    gain_over_full,
    generation,
    lines_over,
    model_of,
    models,
    models_at_depths,
    pairs_of_products,
    policy_of,
    ratio_of_repeats,
)
from markdown_table import table

# A gain that is called one: more than the noise of the medians.
NOTICEABLE = 1.05


def digits(value):
    """Three digits that matter."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def with_range(row, field, unit=""):
    if not row.has(field):
        return "-"
    low, high = row.number(f"{field}_low"), row.number(f"{field}_high")
    return f"{digits(row.number(field))}{unit} ({digits(low)} - {digits(high)})"


def optional(row, field):
    return digits(row.number(field)) if row.has(field) else "-"


def tokens(count):
    return f"{count:,}"


def grid(lines, axis_title, cell, number=tokens):
    """One row per place, one column per line; "-" where a line has no point."""
    places = sorted({point.x for line in lines for point in line.points})
    at = [{point.x: point for point in line.points} for line in lines]
    rows = [[number(x)] + [cell(line, points[x]) if x in points else "-" for line, points in zip(lines, at)] for x in places]
    return table([axis_title] + [line.label for line in lines], rows)


def speed_and_ratio(line, point):
    """Speed; of ours also how many times the faster libllama it is."""
    speed = digits(point.median)
    if line.label in PEERS.values() or not point.row.has("ratio_vs_peer"):
        return speed
    return f"{speed} ({digits(point.row.number('ratio_vs_peer'))}x)"


def about(depth):
    """Two digits that matter: between depths a crossing is interpolated."""
    return f"{float(f'{depth:.2g}'):,.0f}"


def passes(points, threshold):
    if not points:
        return "-"
    depth = crossing(points, threshold)
    if depth is None:
        return "not within the depths measured"
    return "every depth measured" if depth == points[0][0] else f"about {about(depth)} tokens"


def crossings(lines):
    """From which depth on each evicting line is faster than its own full cache, and than libllama."""
    full = next((line.points for line in lines if line.label == FULL), [])
    rows = []
    for line in lines:
        if line.label in PEERS.values() or line.label == FULL:
            continue
        beside_peer = [(one.x, one.row.number("ratio_vs_peer")) for one in line.points if one.row.has("ratio_vs_peer")]
        rows.append([line.label, passes(gain_over_full(line.points, full), NOTICEABLE), passes(beside_peer, 1)])
    return table(["cache", "5 % faster than the full cache from", "faster than both modes of libllama from"], rows)


def depth_table(rows):
    lines = lines_over(generation(rows), "depth")
    return grid(lines, "tokens seen", speed_and_ratio) + "\n\n" + crossings(lines)


def flat_table(rows):
    parts = []
    for model, of_model in models(generation(rows)).items():
        lines = lines_over(of_model, "depth", peers=False)
        speeds = grid(lines, f"{model}, tokens seen", lambda _, point: with_range(point.row, "tokens_per_s"))
        shares = grid(
            lines_over(of_model, "depth", "limit_fraction", peers=False),
            "share of the read limit, tokens seen",
            lambda _, point: digits(point.median),
        )
        parts += [speeds, shares]
    return "\n\n".join(parts)


def batch_table(rows):
    parts = []
    for (model, depth), group in models_at_depths(generation(rows)).items():
        lines = lines_over(group, "batch")
        parts.append(grid(lines, f"{model}, {tokens(depth)} seen, sequences", speed_and_ratio))
    return "\n\n".join(parts)


def chunks_table(rows):
    parts = []
    for model, of_model in models(rows).items():
        lines = lines_over(of_model, "chunk", peers=False)
        title = f"{model}, {of_model[0].text('test')} after {tokens(of_model[0].number('depth'))}, tokens in a step"
        parts.append(grid(lines, title, lambda _, point: with_range(point.row, "tokens_per_s")))
    return "\n\n".join(parts)


def measured_kv(row, rows):
    """MiB that the process held above what it holds with an all but empty cache; None without a run that tells."""
    same = [one for one in rows if one["fingerprint"] == row["fingerprint"] and policy_of(one) == FULL]
    if not same:
        return None
    empty = min(same, key=lambda one: one.number("kv_mib"))
    return row.number("peak_resident_mib") - (empty.number("peak_resident_mib") - empty.number("kv_mib"))


def memory_table(rows):
    cells = []
    for row in generation(rows):
        held = measured_kv(row, rows)
        cells.append(
            [
                policy_of(row),
                tokens(row.number("tokens_seen")),
                digits(row.number("kv_mib")),
                "-" if held is None else digits(max(held, 0)),
                digits(row.number("weights_mib")),
            ]
        )
    return table(["cache", "tokens seen", "KV MiB by the formula", "KV MiB held", "weights MiB"], cells)


def limit_table(rows):
    cells = [
        [
            model_of(row),
            row.number("batch"),
            tokens(row.number("depth")),
            policy_of(row),
            with_range(row, "limit_fraction"),
            digits(row.number("read_gb_per_s")),
        ]
        for row in limit_cases(rows)
    ]
    return table(["model", "sequences", "tokens seen", "cache", "of the read limit", "read GB/s"], cells)


def limit_cases(rows):
    """The deepest rows of each model, batch, policy and budget: enough to see what limits."""
    deepest = {}
    for row in generation(rows):
        key = (model_of(row), row.number("batch"), policy_of(row))
        if key not in deepest or row.number("depth") > deepest[key].number("depth"):
            deepest[key] = row
    return [deepest[key] for key in sorted(deepest)]


def predicted(rows):
    return [row for row in generation(rows) if row.has("predicted_tokens_per_s")]


def prediction_table(rows):
    cells = [
        [
            model_of(row),
            row.number("batch"),
            tokens(row.number("depth")),
            policy_of(row),
            digits(row.number("predicted_tokens_per_s")),
            digits(row.number("tokens_per_s")),
            f"{row.number('prediction_error_percent'):+.0f} %",
        ]
        for row in predicted(rows)
    ]
    if not cells:
        return "The runs hold no prediction."
    typical = statistics.median(abs(row.number("prediction_error_percent")) for row in predicted(rows))
    titles = ["model", "sequences", "tokens seen", "cache", "predicted tokens/s", "measured", "error"]
    return table(titles, cells) + f"\n\nMedian of the errors without their signs: {typical:.0f} %."


def taking_turns(row):
    return "in turns" if row["staggered"] else "together"


def stall_table(rows):
    cells = [
        [
            model_of(row),
            tokens(row.number("depth")),
            policy_of(row),
            taking_turns(row),
            digits(row.number("token_ms_p50")),
            digits(row.number("token_ms_p90")),
            digits(row.number("token_ms_p99")),
            digits(row.number("token_ms_max")),
            digits(row.number("worst_over_median")),
            optional(row, "evicting_over_other"),
            optional(row, "eviction_percent"),
        ]
        for row in generation(rows)
    ]
    titles = ["model", "tokens seen", "cache", "layers evict", "median ms", "p90", "p99", "slowest", "slowest / median", "evicting / other", "eviction %"]
    return table(titles, cells)


def sweep_table(rows):
    cells = []
    for row in rows:
        fits = row.number("batch") > 0
        used = row.number("weights_mib") + row.number("kv_mib") + row.number("compute_mib")
        cells.append(
            [
                model_of(row),
                tokens(row.number("depth")),
                policy_of(row),
                row.number("batch") if fits else "none fits",
                with_range(row, "tokens_per_s"),
                f"{used:,.0f} of {row.number('memory_limit_mib'):,.0f}" if fits else "-",
            ]
        )
    return table(["model", "tokens seen", "cache", "sequences", "tokens/s, all together", "MiB"], cells)


def short_table(rows):
    cells = [
        [
            model_of(row),
            row.text("test"),
            row.number("batch"),
            policy_of(row),
            digits(row.number("tokens_per_s")),
            optional(row, "peer_flash_tokens_per_s"),
            optional(row, "peer_plain_tokens_per_s"),
            with_range(row, "ratio_vs_peer", "x"),
        ]
        for row in rows
    ]
    titles = ["model", "test", "sequences", "cache", "tokens/s", "libllama flash", "libllama plain", "times the faster"]
    return table(titles, cells)


def products_table(rows):
    cells = [
        [
            model_of(ours),
            ours.text("test"),
            ours.number("batch"),
            digits(ours.number("tokens_per_s")),
            digits(ggml.number("tokens_per_s")),
            f"{digits(ratio_of_repeats(ours, ggml))}x",
            digits(ours.number("weights_mib")),
            digits(ggml.number("weights_mib")),
        ]
        for ours, ggml in pairs_of_products(rows)
    ]
    titles = ["model", "test", "sequences", "tokens/s, our products", "ggml's", "times ggml's", "weights MiB", "ggml's"]
    return table(titles, cells)


def row_types(row):
    """Of keys and values, as the flag names them."""
    key, value = row.text("key_type"), row.text("value_type")
    return key if key == value else f"{key},{value}"


def kv_types_table(rows):
    """Each type of rows beside f16 of the same run, which was timed in turns with it."""
    cells = []
    for row in rows:
        f16 = next(one for one in rows if one.path == row.path and row_types(one) == "f16")
        cells.append(
            [
                model_of(row),
                row_types(row),
                tokens(row.number("budget")),
                digits(row.number("kv_mib")),
                with_range(row, "tokens_per_s"),
                "-" if row is f16 else f"{digits(ratio_of_repeats(row, f16))}x",
            ]
        )
    return table(["model", "rows", "slots M", "KV MiB", "tokens/s", "times f16"], cells)


def runs_table(results):
    cells = []
    for name in results.known:
        for row in results.rows.get(name, [])[:1]:
            machine = f"{row.text('cpu')}, {row.number('threads')} threads, {row.text('simd')}"
            build = f"{row.text('build')}, {row.text('compiler')}"
            command = results.commands[name].replace("|", "\\|")
            cells.append([f"[{name}](../bench/results/{name}.json)", row.text("date")[:10], machine, build, f"`{command}`"])
    return table(["run", "date", "machine", "build", "command"], cells)
