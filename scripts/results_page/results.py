"""The recorded runs of docs/results.md."""
import copy
import json
from dataclasses import dataclass

from files import PageError
from recorded import Results, known_runs, list_lines, read_object, recorded_files
from runs import AGAIN

AUTHORS_FILE = "authors.txt"
FIELDS = {"kind": str, "command": str, "date": str, "cpu": str, "build": str, "model": str, "rows": list, "fields": list, "groups": list}


class Recorded:
    """A run of the list: the rows of its summary, and its texts in groups."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.fields = read_object(path, FIELDS, f"{AGAIN} {path.stem}")

    def __getitem__(self, field):
        return self.of(self.fields, field)

    def of(self, entry, field):
        """A field of a row or a group."""
        if not isinstance(entry, dict) or field not in entry:
            raise PageError(f"{self.path}: an entry has no field '{field}'; {AGAIN} {self.name}")
        return entry[field]

    def number(self, row, field):
        value = self.of(row, field)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise PageError(f"{self.path}: field '{field}' is {json.dumps(value)}, not a number; {AGAIN} {self.name}")
        return value

    def row(self, policy, budget=None):
        """The row of a policy, at the given budget or at any; None when there is none."""
        for row in self["rows"]:
            if self.of(row, "policy") == policy and budget in (None, self.of(row, "budget")):
                return row
        return None

    def right_by_problem(self, policy, budget):
        """Problem -> its share of right texts."""
        shares = {}
        place = {field: i for i, field in enumerate(self["fields"])}
        for group in self["groups"]:
            if (self.of(group, "policy"), self.of(group, "budget")) != (policy, budget):
                continue
            for item in self.of(group, "items"):
                shares.setdefault((self.of(group, "task"), item[place["id"]]), []).append(bool(item[place["right"]]))
        return {problem: sum(rights) / len(rights) for problem, rights in shares.items()}


def joined(runs):
    """Runs of the same model on the same problems or texts as one: of what two hold alike, the first one's."""
    whole = copy.copy(runs[0])
    whole.fields = dict(runs[0].fields)
    for field in ("rows", "groups"):
        cells = {}
        for run in runs:
            own = [(cell_of(run, entry), entry) for entry in run[field]]
            known = set(cells)
            for cell, entry in own:
                if cell not in known:
                    cells.setdefault(cell, []).append(entry)
        whole.fields[field] = [entry for entries in cells.values() for entry in entries]
    return whole


def cell_of(run, entry):
    return run.of(entry, "policy"), run.of(entry, "budget")


@dataclass(frozen=True)
class Authors:
    """A figure of the authors' code: a line of AUTHORS_FILE."""

    percent: float
    group: str  # of policies that the authors' figures tell apart from the others
    what: str
    parity: str  # its policy in the runs that do as the authors do
    default: str  # and in those that do as vase does


def read_authors(folder):
    path = folder / AUTHORS_FILE
    figures = []
    for line in list_lines(path):
        cells = [cell.strip() for cell in line.split("|")]
        try:
            percent, group, what, parity, default = cells
            figures.append(Authors(float(percent), group, what, parity, default))
        except ValueError as error:
            raise PageError(f"{path}: not PERCENT | GROUP | WHAT | POLICY | POLICY: {line}") from error
    return figures


def load(folder, warn):
    """Reads every recorded run of the folder. warn(line) is called for files that are left out."""
    results = Results(known_runs(folder), {}, {})
    for path in recorded_files(folder, results.known, warn):
        run = Recorded(path)
        results.rows[path.stem] = [run]
        results.commands[path.stem] = run["command"]
    if not results.rows:
        raise PageError(f"{folder} holds no results; make them: scripts/results measure")
    return results
