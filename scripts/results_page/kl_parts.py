"""`vase eval kl` over many policies, a few at a time, so that an interrupt loses minutes and not hours."""
import json

from files import PageError, write_whole
from workplace import run

POLICIES = 6  # of a part; each part reads the texts anew with the full cache


def split(words):
    """(policies, other arguments)."""
    policies, others = [], []
    rest = iter(words)
    for word in rest:
        if word == "--policy":
            policies.append(next(rest))
        else:
            others.append(word)
    return policies, others


def parts_of(policies):
    return [policies[i : i + POLICIES] for i in range(0, len(policies), POLICIES)]


def require_same(folder, made_of):
    """A folder holds the parts of one run by one program."""
    path = folder / "config.json"
    if not path.exists():
        write_whole(path, json.dumps(made_of, indent=1).encode())
    elif json.loads(path.read_text()) != made_of:
        raise PageError(f"{folder} holds parts of another run, or of another program; move it away and measure again")


def measure_part(place, folder, number, arguments):
    summary, lines = folder / f"part-{number:03}.json", folder / f"part-{number:03}.jsonl"
    if summary.exists():
        return summary, lines
    partial = folder / "summary.partial"
    with open(partial, "w", encoding="utf-8") as out:
        run([place.program, "eval", "kl", *arguments, "--json", "--out", str(lines)], stdout=out)
    partial.rename(summary)
    return summary, lines


def measure(place, name, words):
    """The object of `eval kl --json` over all policies, and the lines of --out."""
    arguments = place.arguments(words)
    policies, others = split(arguments)
    folder = place.folder(name)
    folder.mkdir(parents=True, exist_ok=True)
    require_same(folder, {"arguments": [*words, *policies], "program": place.version()})
    whole, lines = None, []
    parts = parts_of(policies)
    for number, part in enumerate(parts):
        chosen = [word for policy in part for word in ("--policy", policy)]
        summary_path, lines_path = measure_part(place, folder, number, [*others, *chosen])
        summary = json.loads(summary_path.read_text())
        lines += [json.loads(line) for line in lines_path.read_text().splitlines()]
        if whole is None:
            whole = summary
        else:
            whole["rows"] += summary["rows"]
    return whole, lines
