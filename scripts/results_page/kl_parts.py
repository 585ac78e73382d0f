"""`vase eval kl` over many policies, a few at a time, so that an interrupt loses minutes and not hours."""
import json

from parts import hash_of, kept_json, require_same

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


def measure_part(place, folder, number, arguments):
    lines = folder / f"part-{number:03}.jsonl"
    summary = kept_json(folder / f"part-{number:03}.json", [place.program, "eval", "kl", *arguments, "--json", "--out", str(lines)])
    return summary, [json.loads(line) for line in lines.read_text().splitlines()]


def measure(place, name, words):
    """The object of `eval kl --json` over all policies, and the lines of --out."""
    arguments = place.arguments(words)
    policies, others = split(arguments)
    folder = place.folder(name)
    texts = [hash_of(path) for flag, path in zip(others, others[1:]) if flag == "--text"]
    require_same(folder, {"arguments": [*words, *policies], "texts": texts, "program": place.version()})
    whole, lines = None, []
    parts = parts_of(policies)
    for number, part in enumerate(parts):
        chosen = [word for policy in part for word in ("--policy", policy)]
        summary, lines_of_part = measure_part(place, folder, number, [*others, *chosen])
        lines += lines_of_part
        if whole is None:
            whole = summary
        else:
            whole["rows"] += summary["rows"]
    return whole, lines
