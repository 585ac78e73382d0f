"""The list of runs: what each is called, what kind it is, and its arguments."""
import fnmatch
import shlex
from dataclasses import dataclass

from files import PageError
from recorded import RUNS_FILE, list_lines

# How each kind is begun by hand.
PROGRAMS = {
    "run": "vase eval run",
    "kl": "vase eval kl",
    "peer": "peer_answers",
    "tune": "vase tune",
    "write": "vase run --policy full --json",
    "join": None,  # nothing but the script itself does it
}
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
        program = PROGRAMS[self.kind]
        return " ".join([program] + [shown(word) for word in self.words]) if program else f"scripts/results measure {self.name}"


def shown(word):
    if word.startswith("@"):
        return f'"$(scripts/fetch-model {word[1:]})"'
    return shlex.quote(word)


def read_runs(folder):
    """All runs of the list, in its order."""
    return [parse(line, folder / RUNS_FILE) for line in list_lines(folder / RUNS_FILE)]


def parse(line, path):
    try:
        name, minutes, kind, *words = shlex.split(line)
        run = Run(name, int(minutes), kind, tuple(words))
    except ValueError as error:
        raise PageError(f"{path}: not NAME MINUTES KIND ARGUMENTS ({error}): {line}") from error
    if kind not in PROGRAMS:
        raise PageError(f"{path}: the kind of {name} is '{kind}'; allowed: {', '.join(PROGRAMS)}")
    return run


def choose(runs, patterns):
    """The runs that fit one of the patterns, in the order of the list; all without a pattern."""
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(run.name, pattern) for run in runs):
            raise PageError(f"no run is named '{pattern}'; scripts/results lists them")
    return [run for run in runs if not patterns or any(fnmatch.fnmatchcase(run.name, one) for one in patterns)]
