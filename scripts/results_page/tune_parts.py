"""`vase tune` at given megabytes, one text and one list of rows at a time.

Each text by itself, because the summary of several has no numbers of single texts, and rows of several runs can only be compared
text by text. Several lists of rows, because not every one is wanted at all megabytes.
"""
import json
import pathlib
import shlex

from files import PageError, write_whole
from parts import hash_of, kept_json, require_same
from recorded import list_lines

ROWS_FILE = "rows.txt"
ROWS = "ROWS/"  # ROWS/quick stands for all lines of ROWS_FILE that are called quick


def read_rows(folder):
    """Name -> arguments of each call."""
    path = folder / ROWS_FILE
    rows = {}
    for line in list_lines(path):
        try:
            name, *words = shlex.split(line)
        except ValueError as error:
            raise PageError(f"{path}: {error}: {line}") from error
        rows.setdefault(name, []).append(words)
    return rows


def calls_of(words, rows):
    """(arguments that all calls share, lists of arguments of each)."""
    names = [word.removeprefix(ROWS) for word in words if word.startswith(ROWS)]
    for name in names:
        if name not in rows:
            raise PageError(f"{ROWS_FILE} has no rows '{name}'; it has {', '.join(rows)}")
    if not names:
        raise PageError(f"a run of vase tune needs rows: {ROWS}NAME with a name of {ROWS_FILE}")
    return [word for word in words if not word.startswith(ROWS)], [call for name in names for call in rows[name]]


def value_of(words, flag):
    if flag not in words[:-1]:
        raise PageError(f"a run of vase tune needs {flag}")
    return words[words.index(flag) + 1]


def without(words, flag):
    """Words less a flag and its value."""
    place = words.index(flag)
    return words[:place] + words[place + 2 :]


def single_texts(folder, path):
    """A file for each record of `path`, in its order."""
    texts = []
    for number, line in enumerate(list_lines(path)):
        text = folder / f"text-{number:03}.jsonl"
        write_whole(text, line.encode() + b"\n")
        texts.append(text)
    return texts


def measure(place, name, words, rows):
    """(text, object of `vase tune --json`) of each text and call, in the order of the texts."""
    shared, calls = calls_of(place.arguments(words), rows)
    path = pathlib.Path(value_of(shared, "--text"))
    folder = place.folder(name)
    made_of = {"arguments": list(words), "rows": calls, "texts": hash_of(path), "program": place.version()}
    require_same(folder, made_of)
    shared = without(shared, "--text")
    parts = []
    for number, text in enumerate(single_texts(folder, path)):
        title = json.loads(text.read_text()).get("id", text.stem)
        for i, call in enumerate(calls):
            command = [place.program, "tune", *shared, "--text", str(text), *call, "--json"]
            parts.append((title, kept_json(folder / f"part-{number:03}-{i}.json", command)))
    return parts
