"""Texts for divergences that no evaluation has written: recorded token ids joined to their problems, and answers to questions."""
import json
import pathlib
import re

from files import PageError, write_whole
from parts import kept_json, require_same
from record import in_order, read_lines
from recorded import list_lines

INSTRUCTION = " Put your final answer within \\boxed{}."  # behind the problem when the ids were recorded


def chosen(generations, first, last):
    """Of each length of prompt those from the first to the last by number, counted from 1."""
    by_length = {}
    for one in in_order(generations):
        by_length.setdefault(one["P"], []).append(one)
    return [one for length in sorted(by_length) for one in by_length[length][first - 1 : last]]


def range_of(word):
    match = re.fullmatch(r"(\d+)-(\d+)", word)
    if not match:
        raise PageError(f"'{word}' is no range such as 1-5")
    return int(match[1]), int(match[2])


def join(place, run):
    """PROBLEMS GENERATIONS FIRST-LAST: recorded token ids with the prompts that they answer."""
    problems, generations, which = place.arguments(run.words)
    problem = {one["id"]: one["problem"] for one in read_lines(pathlib.Path(problems))}
    texts = []
    for one in chosen(read_lines(pathlib.Path(generations)), *range_of(which)):
        if one["id"] not in problem:
            raise PageError(f"{problems} has no problem {one['id']}")
        texts.append({"id": one["id"], "prompt_tokens": one["P"], "prompt": problem[one["id"]] + INSTRUCTION, "tokens": one["tokens"]})
    return keep(place, run, texts)


def write(place, run):
    """Arguments of `vase run`, then a file of the tree with a question in each line: what the model answers to them."""
    *arguments, file = place.arguments(run.words)
    questions = list_lines(place.root / file)
    folder = place.folder(run.name)
    require_same(folder, {"arguments": list(run.words), "questions": questions, "program": place.version()})
    texts = []
    for number, question in enumerate(questions, 1):
        command = [place.program, "run", *arguments, "--policy", "full", "--json", question]
        answer = kept_json(folder / f"part-{number:03}.json", command)
        texts.append({field: answer[field] for field in ("prompt_ids", "prompt_tokens", "tokens")} | {"id": f"question-{number}"})
    return keep(place, run, texts)


def keep(place, run, texts):
    """Writes the texts where RUN/NAME/texts.jsonl finds them; returns them."""
    lines = "".join(json.dumps(text, ensure_ascii=False) + "\n" for text in texts)
    write_whole(place.folder(run.name) / "texts.jsonl", lines.encode())
    return texts
