"""The recorded runs: what there is, and rows whose missing fields are errors that a person understands."""
import json

from files import PageError
from recorded import Results, known_runs, read_object, recorded_files


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


def measure_again(name):
    return f"measure it again: scripts/performance measure --again {name}"


def read_run(path):
    """The object that `scripts/performance measure` has written."""
    again = measure_again(path.stem)
    run = read_object(path, {"command": str, "incomplete": bool, "rows": list}, again)
    if run["incomplete"]:
        raise PageError(f"{path}: the run was interrupted; {again}")
    if not run["rows"] or not all(isinstance(row, dict) for row in run["rows"]):
        raise PageError(f"{path}: there are no rows; {again}")
    return run


def load(folder, warn):
    """Reads every recorded run of the folder. warn(line) is called for files that are left out."""
    results = Results(known_runs(folder), {}, {})
    for path in recorded_files(folder, results.known, warn):
        run = read_run(path)
        results.rows[path.stem] = [Row(path, fields) for fields in run["rows"]]
        results.commands[path.stem] = run["command"]
    if not results.rows:
        raise PageError(f"{folder} holds no results; make them: scripts/performance measure")
    return results
