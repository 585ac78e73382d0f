"""Runs that are listed in a folder's runs.txt, and those of them that were recorded in files beside it."""
import fnmatch
import json
import shlex
from dataclasses import dataclass

from files import PageError

RUNS_FILE = "runs.txt"


@dataclass
class Results:
    known: list  # names of all runs, in the order of the list
    rows: dict  # name of a recorded run -> what it holds, a list
    commands: dict  # name of a recorded run -> the command that made it

    def matching(self, patterns):
        """Names of all runs, recorded or not, that fit one of the patterns."""
        return [name for name in self.known if any(fnmatch.fnmatch(name, one) for one in patterns)]

    def rows_of(self, patterns):
        return [row for name in self.matching(patterns) for row in self.rows.get(name, [])]

    def missing(self, patterns):
        """What to measure: names, or a quoted pattern where all of its runs are missing."""
        wanted = []
        for pattern in patterns:
            names = self.matching([pattern])
            lacking = [name for name in names if name not in self.rows]
            wanted += [shlex.quote(pattern)] if lacking == names and len(names) > 1 else lacking
        return list(dict.fromkeys(wanted))


def list_lines(path):
    """The lines of a list that are no comments."""
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise PageError(f"cannot read {path}: {error.strerror}") from error
    return [line for line in lines if line.strip() and not line.startswith("#")]


def known_runs(folder):
    """Names of the runs of the folder's list, in its order."""
    return [line.split()[0] for line in list_lines(folder / RUNS_FILE)]


def recorded_files(folder, known, warn):
    """The recorded runs of the folder. warn(line) is called for files that are left out."""
    files = []
    for path in sorted(folder.glob("*.json")):
        if path.stem in known:
            files.append(path)
        else:
            warn(f"{path} is left out: no run of {RUNS_FILE} has this name")
    return files


def read_object(path, fields, again):
    """The JSON object of a recorded run. fields: name -> type that must be there. again: what to do when it is not."""
    try:
        run = json.loads(path.read_text())
    except OSError as error:
        raise PageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise PageError(f"{path} is not JSON ({error}); {again}") from error
    if not isinstance(run, dict):
        raise PageError(f"{path}: no object of a recorded run; {again}")
    for field, kind in fields.items():
        if not isinstance(run.get(field), kind):
            raise PageError(f"{path}: field '{field}' is missing or of another kind; {again}")
    return run
