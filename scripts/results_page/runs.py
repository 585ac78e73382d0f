"""The list of runs: what each is called, what kind it is, and its arguments."""
import fnmatch
import shlex
from dataclasses import dataclass

from files import PageError
from recorded import RUNS_FILE, list_lines

KINDS = ("run", "kl", "peer")
AGAIN = "measure it again: scripts/results measure --again"


@dataclass(frozen=True)
class Run:
    name: str
    minutes: int
    kind: str
    words: tuple  # arguments as they stand in the list

    @property
    def command(self):
        """For people: what to type, models fetched and data sets in the folder DATA."""
        program = "peer_answers" if self.kind == "peer" else f"vase eval {self.kind}"
        return " ".join([program] + [shown(word) for word in self.words])


def shown(word):
    if word.startswith("@"):
        return f'"$(scripts/fetch-model {word[1:]})"'
    return shlex.quote(word)


def read_runs(folder):
    """All runs of the list, in its order."""
    return [parse(line, folder / RUNS_FILE) for line in list_lines(folder)]


def parse(line, path):
    try:
        name, minutes, kind, *words = shlex.split(line)
        run = Run(name, int(minutes), kind, tuple(words))
    except ValueError as error:
        raise PageError(f"{path}: not NAME MINUTES KIND ARGUMENTS ({error}): {line}") from error
    if kind not in KINDS:
        raise PageError(f"{path}: the kind of {name} is '{kind}'; allowed: {', '.join(KINDS)}")
    return run


def choose(runs, patterns):
    """The runs that fit one of the patterns, in the order of the list; all without a pattern."""
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(run.name, pattern) for run in runs):
            raise PageError(f"no run is named '{pattern}'; scripts/results lists them")
    return [run for run in runs if not patterns or any(fnmatch.fnmatchcase(run.name, one) for one in patterns)]
