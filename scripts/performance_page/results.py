"""The recorded runs: what there is, and rows whose missing fields are errors that a person understands."""
import fnmatch
import json
from dataclasses import dataclass

from files import PageError

RUNS_FILE = "runs.txt"


class Row:
    """One row of `vase bench` (docs/bench.md, 2, has its fields)."""

    def __init__(self, path, fields):
        self.path = path
        self.fields = fields

    def __getitem__(self, field):
        if field not in self.fields:
            raise self.error(f"a row has no field '{field}'")
        return self.fields[field]

    def number(self, field):
        value = self[field]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(f"field '{field}' is {json.dumps(value)}, not a number")
        return value

    def text(self, field):
        value = self[field]
        if not isinstance(value, str):
            raise self.error(f"field '{field}' is {json.dumps(value)}, not a text")
        return value

    def numbers(self, field):
        values = self[field]
        if not isinstance(values, list) or not all(isinstance(one, (int, float)) for one in values):
            raise self.error(f"field '{field}' is not a list of numbers")
        return values

    def has(self, field):
        return self[field] is not None

    def error(self, what):
        return PageError(f"{self.path}: {what}; {measure_again(self.path.stem)}")


@dataclass
class Results:
    known: list  # names of all runs, in the order of the list
    rows: dict  # name of a recorded run -> its rows
    commands: dict  # name of a recorded run -> the command that made it

    def matching(self, patterns):
        """Names of all runs, recorded or not, that fit one of the patterns."""
        return [name for name in self.known if any(fnmatch.fnmatch(name, one) for one in patterns)]

    def rows_of(self, patterns):
        return [row for name in self.matching(patterns) for row in self.rows.get(name, [])]

    def missing(self, patterns):
        return [name for name in self.matching(patterns) if name not in self.rows]


def measure_again(name):
    return f"measure it again: scripts/performance measure --again {name}"


def known_runs(folder):
    """Names of the runs of the list, in its order."""
    path = folder / RUNS_FILE
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise PageError(f"cannot read {path}: {error.strerror}") from error
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def read_run(path):
    """The object that `scripts/performance measure` has written."""
    again = measure_again(path.stem)
    try:
        run = json.loads(path.read_text())
    except OSError as error:
        raise PageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise PageError(f"{path} is not JSON ({error}); {again}") from error
    if not isinstance(run, dict):
        raise PageError(f"{path}: no object of `vase bench --json`; {again}")
    for field, kind in (("command", str), ("incomplete", bool), ("rows", list)):
        if not isinstance(run.get(field), kind):
            raise PageError(f"{path}: field '{field}' is missing or of another kind; {again}")
    if run["incomplete"]:
        raise PageError(f"{path}: the run was interrupted; {again}")
    if not run["rows"] or not all(isinstance(row, dict) for row in run["rows"]):
        raise PageError(f"{path}: there are no rows; {again}")
    return run


def load(folder, warn):
    """Reads every recorded run of the folder. warn(line) is called for files that are left out."""
    results = Results(known_runs(folder), {}, {})
    for path in sorted(folder.glob("*.json")):
        if path.stem not in results.known:
            warn(f"{path} is left out: no run of {RUNS_FILE} has this name")
            continue
        run = read_run(path)
        results.rows[path.stem] = [Row(path, fields) for fields in run["rows"]]
        results.commands[path.stem] = run["command"]
    if not results.rows:
        raise PageError(f"{folder} holds no results; make them: scripts/performance measure")
    return results
