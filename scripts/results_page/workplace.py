"""Where runs are made: the program, the data sets, and a folder for each run that outlives an interrupt."""
import json
import os
import pathlib
import subprocess
from dataclasses import dataclass

from files import PageError

DATA, RUN = "DATA/", "RUN/"


@dataclass(frozen=True)
class Workplace:
    root: pathlib.Path  # of the tree
    data: str  # folder of the data sets; "": not given
    work: pathlib.Path
    program: str

    def folder(self, name):
        return self.work / name

    def arguments(self, words):
        """The words of the list as the program needs them."""
        filled = []
        for word in words:
            if word == "PRESETS":
                filled += [part for preset in self.presets() for part in ("--policy", preset)]
            else:
                filled.append(self.argument(word))
        return filled

    def argument(self, word):
        if word.startswith("@"):
            return output_of([str(self.root / "scripts" / "fetch-model"), word[1:]]).strip()
        task, is_given, file = word.rpartition("=")  # "gsm8k=DATA/gsm8k.jsonl", or the file alone
        if file.startswith(DATA):
            return f"{task}{is_given}{self.data_file(file.removeprefix(DATA))}"
        if word.startswith(RUN):
            return str(self.run_file(word.removeprefix(RUN)))
        return word

    def data_file(self, name):
        if not self.data:
            raise PageError("the data sets are no part of vase; give their folder: --data FOLDER, or VASE_DATA")
        path = os.path.join(self.data, name)
        if not os.path.exists(path):
            raise PageError(f"{path} is missing; --data names the folder with {name}")
        return path

    def run_file(self, name):
        path = self.work / name
        if not path.exists():
            run = name.partition("/")[0]
            raise PageError(f"{path} is missing; first: scripts/results measure --again {run}")
        return path

    def presets(self):
        """Every preset that evicts or reads and needs no file, but for the default, which has runs of its own."""
        listed = json.loads(output_of([self.program, "policies", "--json"]))["presets"]
        return [preset["name"] for preset in listed if preset["name"] not in ("full", "vase")]

    def version(self):
        return output_of([self.program, "--version"]).split(maxsplit=1)[1].strip()


def output_of(command):
    """What a command prints. Its errors are its own; PageError says that there were some."""
    return run(command, stdout=subprocess.PIPE).stdout


def run(command, **options):
    try:
        return subprocess.run(command, check=True, text=True, **options)
    except OSError as error:
        raise PageError(f"cannot run {command[0]}: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        raise PageError(f"{os.path.basename(command[0])} ended with {error.returncode}; its message is above") from error
