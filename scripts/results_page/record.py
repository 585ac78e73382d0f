"""What the repository keeps of a run: its summary and one short entry per text, without the texts."""
import datetime
import json
import re
import statistics

from files import PageError

# Of each text of `vase eval run`.
ITEM = ("id", "right", "finish", "label", "generated_tokens", "kv_bytes")
GROUP = ("task", "policy", "budget", "run", "sample")
# Of each text of `vase eval kl`; the rest is in the summary.
KL_ITEM = ("text", "positions", "kl_mean", "same_top")
KL_GROUP = ("policy", "budget", "evict_seed")
# Of a row of `vase tune`, and of each text of it; of each text that was written for others to read.
TUNE_ROW = ("policy", "kv_type", "budget", "kv_bytes", "seeds")
TUNE_ITEM = ("text", "positions", "kl_mean", "same_top")
TEXT_ITEM = ("text", "prompt_tokens", "tokens")


def grouped(lines, group, item):
    """Lines as one object per group, whose items are lists in the order of the fields of `item`."""
    groups = {}
    for line in lines:
        groups.setdefault(tuple(line[field] for field in group), []).append([short(line[field]) for field in item])
    return [dict(zip(group, key)) | {"items": items} for key, items in groups.items()]


def short(value):
    """Booleans as 0 and 1, numbers with five digits that matter."""
    if isinstance(value, bool):
        return int(value)
    return float(f"{value:.5g}") if isinstance(value, float) else value


def date_of(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d")


def processor():
    """Name of the CPU: last bits of logits depend on its instructions, and texts with them."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else "unknown"


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def in_order(lines):
    """By id, numbers in it as numbers: the folder has them as they were finished."""
    return sorted(lines, key=lambda line: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", line["id"])])


def of_run(run, shown, lines):
    """shown: what `vase eval show --json` prints, for the folder of the run and perhaps others. lines: of results.jsonl."""
    folder = shown["folders"][0]
    if not folder["complete"]:
        raise PageError(f"{run.name} holds {folder['texts']} of {folder['expected']} texts; the run has not ended well")
    rows = [row | {"folder": run.name} for row in shown["rows"] if row["folder"] == folder["folder"]]
    end = max(line["timing"]["start"] + line["timing"]["seconds"] for line in lines)
    return {
        "kind": run.kind,
        "command": run.command,
        "date": date_of(end),
        "cpu": processor(),
        "build": folder["config"]["build"],
        "model": folder["config"]["model_name"],
        "config": folder["config"] | {"hash": folder["hash"]},
        "rows": rows,
        "fields": ITEM,
        "groups": grouped(in_order(lines), GROUP, ITEM),
    }


def of_kl(run, model, summary, lines, seconds):
    return {
        "kind": run.kind,
        "command": run.command,
        "date": date_of(seconds),
        "cpu": processor(),
        "build": summary["build"],
        "model": model,
        "rows": summary["rows"],
        "noise_floors": summary["noise_floors"],
        "fields": KL_ITEM,
        "groups": grouped([line for line in lines if line["budget"] > 0], KL_GROUP, KL_ITEM),
    }


def of_tune(run, model, parts, seconds):
    """parts: (text, object of `vase tune --json`) of every text and call. Positions are those of one seed."""
    rows, floors, refused = {}, {}, {}
    for text, summary in parts:
        for row in summary["measured"]:
            key = row["policy"], row["kv_type"]
            entry = rows.setdefault(key, {field: row[field] for field in TUNE_ROW} | {"items": []})
            if any(entry[field] != row[field] for field in TUNE_ROW):
                raise PageError(f"{run.name}: the megabytes buy other budgets of {' '.join(key)} with other texts; those cannot stand in a row")
            entry["items"].append([text, row["positions"] // row["seeds"], short(row["kl_mean"]), short(row["same_top"])])
        for floor in summary["noise_floors"]:
            floors.setdefault(floor["policy"], {})[text] = floor["kl_mean"]
        for one in summary["not_measured"]:
            refused[one["policy"], one["kv_type"]] = one["why"]
    return {
        "kind": run.kind,
        "command": run.command,
        "date": date_of(seconds),
        "cpu": processor(),
        "build": parts[0][1]["build"],
        "model": model,
        "megabytes": parts[0][1]["budget_mb"],
        "not_measured": [{"policy": policy, "kv_type": kv_type, "why": why} for (policy, kv_type), why in refused.items()],
        "rows": [{field: row[field] for field in TUNE_ROW} for row in rows.values()],
        "noise_floors": [{"policy": name, "kl_mean": statistics.fmean(texts.values())} for name, texts in floors.items()],
        "fields": TUNE_ITEM,
        "groups": [{"policy": row["policy"], "kv_type": row["kv_type"], "items": row["items"]} for row in rows.values()],
    }


def of_texts(run, model, build, cpu, date, texts):
    """What texts there are, without a word of them."""
    return {
        "kind": run.kind,
        "command": run.command,
        "date": date,
        "cpu": cpu,
        "build": build,
        "model": model,
        "rows": [],
        "fields": TEXT_ITEM,
        "groups": [{"items": [[text["id"], text["prompt_tokens"], len(text["tokens"])] for text in texts]}],
    }


def text_of(recorded):
    """JSON with a line per row and group, so that a change of one shows as one."""
    lists = ("rows", "noise_floors", "groups")
    head = json.dumps({field: value for field, value in recorded.items() if field not in lists}, ensure_ascii=False)
    parts = [head[:-1]]
    for field in lists:
        if field in recorded:
            lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in recorded[field])
            parts.append(f'"{field}": [\n{lines}\n]')
    return ", ".join(parts) + "}\n"
