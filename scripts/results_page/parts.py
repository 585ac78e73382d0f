"""Runs that are made in parts: what is finished stays in the folder of the run, so that an interrupt loses one part."""
import json

from files import PageError, write_whole
from workplace import run


def require_same(folder, made_of):
    """A folder holds the parts of one run by one program."""
    path = folder / "config.json"
    if not path.exists():
        write_whole(path, json.dumps(made_of, indent=1).encode())
    elif json.loads(path.read_text()) != made_of:
        raise PageError(f"{folder} holds parts of another run, or of another program; move it away and measure again")


def kept_json(path, command):
    """The object that a command prints; `path` keeps it, and then the command is not run again."""
    if not path.exists():
        partial = path.with_name("summary.partial")
        with open(partial, "w", encoding="utf-8") as out:
            run(command, stdout=out)
        partial.rename(path)
    return json.loads(path.read_text())


def newest(folder):
    """When the last part was finished, in seconds."""
    return max(path.stat().st_mtime for path in folder.glob("part-*.json"))
