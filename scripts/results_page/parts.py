"""Runs that are made in parts: what is finished stays in the folder of the run, so that an interrupt loses one part."""
import hashlib
import json
import pathlib

from files import PageError, write_whole
from workplace import run


def require_same(folder, made_of):
    """A folder holds the parts of one run by one program, on the same texts. What an older folder does not say is not the same."""
    path = folder / "config.json"
    if not path.exists():
        return write_whole(path, json.dumps(made_of, indent=1).encode())
    kept = json.loads(path.read_text())
    changed = [name for name in made_of | kept if name not in kept or kept[name] != made_of.get(name)]
    if changed:
        raise PageError(f"{folder} holds parts of another run (not the same: {', '.join(changed)}); remove that folder and measure again")


def hash_of(path):
    """Of the content, so that parts stay with the texts that they were measured on."""
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


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
